// Poller: an epoll instance that reports readable and writable descriptors.

internal import CLupineLinux
internal import LupineLibc

/// Watches descriptors with epoll. A descriptor is reported as long as it is ready, unless its interest is edge-triggered.
///
/// The caller chooses a token for each descriptor, and the descriptor's events carry it. If tokens are never reused, the caller can
/// recognize and drop events fetched before their descriptor was closed.
package struct Poller: ~Copyable, Sendable {
  /// The events for which a descriptor is watched. Errors and hang-ups are always reported.
  package struct Interest: OptionSet, Sendable {
    /// The events as epoll's bits (EPOLLIN, EPOLLRDHUP, EPOLLOUT).
    package let rawValue: UInt32
    /// Creates a set of events from epoll's bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// The event that data, or the end of the data, can be read.
    package static let readable = Interest(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue)
    /// The event that data can be written, or that an attempt to connect has ended.
    package static let writable = Interest(rawValue: EPOLLOUT.rawValue)
    /// The event that something has been written since the previous event, even if it hasn't been read. It ends a wait, but isn't
    /// among the events if the buffer was too small for all of them.
    package static let edgeTriggered = Interest(rawValue: EPOLLIN.rawValue | EPOLLET.rawValue)
  }

  /// The state of a ready descriptor.
  package struct Event: Sendable {
    /// The token with which the descriptor was registered.
    package let token: UInt64
    /// Whether data, the end of the data or an error can be read from the descriptor.
    package let isReadable: Bool
    /// Whether data can be written, or an attempt to connect has succeeded or failed.
    package let isWritable: Bool
    /// Whether the peer has closed the connection in its direction, so that the data that can be read now is the last.
    package let hasPeerClosed: Bool

    package init(token: UInt64, isReadable: Bool, isWritable: Bool, hasPeerClosed: Bool = false) {
      self.token = token
      self.isReadable = isReadable
      self.isWritable = isWritable
      self.hasPeerClosed = hasPeerClosed
    }
  }

  private let descriptor: FileDescriptor
  private var buffer: [epoll_event]

  /// Creates an epoll instance with initial room for `batchMax` events.
  package init(batchMax: Int = 256) throws(SystemError) {
    descriptor = FileDescriptor(
      owning: try SystemCall.run("epoll_create1") { epoll_create1(CInt(EPOLL_CLOEXEC)) })
    buffer = Array(repeating: epoll_event(), count: batchMax)
  }

  /// Starts to watch a descriptor for the events in `interest`, which carry `token`. Closing the descriptor ends the watch.
  package func add(_ number: CInt, _ interest: Interest, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_ADD, number, interest, token)
  }

  /// Changes the events for which a descriptor is watched, and their token.
  package func modify(_ number: CInt, _ interest: Interest, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_MOD, number, interest, token)
  }

  /// Stops watching a descriptor for events, including errors.
  package func remove(_ number: CInt) throws(SystemError) {
    try control(EPOLL_CTL_DEL, number, [], 0)
  }

  private func control(
    _ operation: CInt, _ number: CInt, _ interest: Interest, _ token: UInt64
  ) throws(SystemError) {
    var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: token))
    _ = try SystemCall.run("epoll_ctl") { epoll_ctl(descriptor.number, operation, number, &event) }
  }

  /// Waits until a descriptor is ready or `deadline` has passed. If `deadline` is nil, waits without a limit. Appends one event
  /// for each ready descriptor.
  package mutating func wait(until deadline: Instant?, now: Instant, into events: inout [Event]) throws(SystemError) {
    var count = epoll_wait(descriptor.number, &buffer, CInt(buffer.count), Self.milliseconds(deadline, now))
    // A signal, or the resumption of a stopped process, may interrupt the wait. All available events are fetched even then, so
    // that a response that has already arrived is processed before its request's deadline.
    while count == buffer.count || (count < 0 && errno == EINTR) {
      if count > 0 { buffer += Array(repeating: epoll_event(), count: buffer.count) }
      count = epoll_wait(descriptor.number, &buffer, CInt(clamping: buffer.count), 0)
    }
    guard count >= 0 else { throw SystemError(call: "epoll_wait", code: errno) }
    let bad = EPOLLERR.rawValue | EPOLLHUP.rawValue
    for event in buffer.prefix(Int(count)) {
      events.append(
        Event(
          token: event.data.u64,
          isReadable: event.events & (EPOLLIN.rawValue | bad) != 0,
          isWritable: event.events & (EPOLLOUT.rawValue | bad) != 0,
          hasPeerClosed: event.events & EPOLLRDHUP.rawValue != 0))
    }
  }

  /// Returns the time from `now` to `deadline` in milliseconds, rounded up, so that the deadline has passed when the wait ends.
  /// Returns -1, which means no limit, if `deadline` is nil.
  private static func milliseconds(_ deadline: Instant?, _ now: Instant) -> CInt {
    guard let deadline else { return -1 }
    guard deadline > now else { return 0 }
    let (whole, part) = (deadline.nanoseconds - now.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000)
    return CInt(clamping: part > 0 ? whole + 1 : whole)
  }
}
