// epoll: which descriptors can be read or written.

internal import CLupineLinux
internal import Glibc

/// Watches descriptors, level-triggered.
///
/// Each is registered with a token of the caller's choice that comes back with its events. A token that is never used
/// twice lets events drop that were fetched before their descriptor was closed.
package struct Poller: ~Copyable, Sendable {
  /// What to wait for. Errors and hang-ups are always reported.
  package struct Interest: OptionSet, Sendable {
    /// The bits, epoll's.
    package let rawValue: UInt32
    /// Creates a set from its bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Bytes, or the end, can be read.
    package static let readable = Interest(rawValue: EPOLLIN.rawValue)
    /// Bytes can be written, or connecting has ended.
    package static let writable = Interest(rawValue: EPOLLOUT.rawValue)
  }

  /// What happened to one descriptor.
  package struct Event: Sendable {
    /// The token it was registered with.
    package let token: UInt64
    /// Bytes, the end or an error can be read.
    package let isReadable: Bool
    /// Bytes can be written, or connecting has ended, well or not.
    package let isWritable: Bool
  }

  private let descriptor: FileDescriptor
  private var buffer: [epoll_event]

  /// Creates an epoll instance with room for `batchMax` events at first.
  package init(batchMax: Int = 256) throws(SystemError) {
    descriptor = FileDescriptor(
      owning: try SystemCall.run("epoll_create1") { epoll_create1(CInt(EPOLL_CLOEXEC)) })
    buffer = Array(repeating: epoll_event(), count: batchMax)
  }

  /// Starts to watch a descriptor; closing it ends that.
  package func add(_ number: CInt, _ interest: Interest, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_ADD, number, interest, token)
  }

  /// Changes what is waited for.
  package func modify(_ number: CInt, _ interest: Interest, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_MOD, number, interest, token)
  }

  /// Stops watching a descriptor: then not even its errors are reported.
  package func remove(_ number: CInt) throws(SystemError) {
    try control(EPOLL_CTL_DEL, number, [], 0)
  }

  private func control(
    _ operation: CInt, _ number: CInt, _ interest: Interest, _ token: UInt64
  ) throws(SystemError) {
    var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: token))
    _ = try SystemCall.run("epoll_ctl") { epoll_ctl(descriptor.number, operation, number, &event) }
  }

  /// Waits for events, at most until `deadline` (nil: for ever), and appends one for each descriptor that is ready by then.
  package mutating func wait(until deadline: Instant?, now: Instant, into events: inout [Event]) throws(SystemError) {
    var count = epoll_wait(descriptor.number, &buffer, CInt(buffer.count), Self.milliseconds(deadline, now))
    // A signal ends the wait, and so does going on behind a stop. What has come by then is fetched all the same: the time
    // of somebody whose answer lies there may have passed. For the same reason all of them are fetched at once.
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
          isWritable: event.events & (EPOLLOUT.rawValue | bad) != 0))
    }
  }

  /// Rounded up, so that a deadline has passed when the wait ends.
  private static func milliseconds(_ deadline: Instant?, _ now: Instant) -> CInt {
    guard let deadline else { return -1 }
    guard deadline > now else { return 0 }
    let (whole, part) = (deadline.nanoseconds - now.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000)
    return CInt(clamping: part > 0 ? whole + 1 : whole)
  }
}
