// NetworkWatch: reports the state of the network whenever the kernel changes it, without polling.

internal import CLupineLinux
internal import LupineLibc

/// Watches links, addresses and routes on a dedicated thread, until the watch is released or its notifications fail.
package final class NetworkWatch: Sendable {
  /// Called on the watch's thread with the current state of the network, or with the error that prevented reading it.
  package typealias Handler = @Sendable (Result<NetworkState, SystemError>) -> Void

  /// The pause after each call of the handler: 100 ms, so that a burst of changes, as when a link comes up, makes the watch read
  /// the state a few times instead of dozens of times.
  private static let pauseMilliseconds: CInt = 100

  private let stopSignal: StopSignal

  /// Starts to watch the network. Calls `handler` soon with the current state, and again after each change.
  ///
  /// Throws a `SystemError` if the process isn't permitted to use netlink, or has no descriptors or threads left.
  package init(_ handler: @escaping Handler) throws(SystemError) {
    let stopSignal = try StopSignal()
    // Notifications are enabled before the state is first read, so that no change between the two steps is missed.
    let notifications = Notifications(try NetlinkSocket(isNotified: true))
    try Thread.start(name: "lupine-network") {
      Self.run(notifications, until: stopSignal, handler)
    }
    self.stopSignal = stopSignal
  }

  deinit { stopSignal.send() }

  private static func run(_ notifications: Notifications, until stopSignal: StopSignal, _ handler: Handler) {
    while true {
      handler(Result { () throws(SystemError) in try NetworkState.current() })
      if stopSignal.arrives(withinMilliseconds: pauseMilliseconds) { return }
      do {
        guard try notifications.arrive(unless: stopSignal) else { return }
      } catch {
        return handler(.failure(error))
      }
    }
  }

  /// A class that contains the netlink socket, because a thread's closure can't own a noncopyable value.
  private final class Notifications: Sendable {
    private let socket: NetlinkSocket

    init(_ socket: consuming NetlinkSocket) { self.socket = socket }

    /// Blocks until the kernel notifies the socket of changes. Returns false if the watch was stopped instead.
    func arrive(unless stopSignal: StopSignal) throws(SystemError) -> Bool {
      var descriptors = [
        pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0),
        pollfd(fd: stopSignal.number, events: Int16(POLLIN), revents: 0),
      ]
      _ = try SystemCall.run("poll") { poll(&descriptors, 2, -1) }
      if descriptors[1].revents != 0 { return false }
      try socket.discardNotifications()
      return true
    }
  }

  /// An eventfd(2) through which the watch tells its thread to stop.
  private final class StopSignal: Sendable {
    private let descriptor: FileDescriptor

    var number: CInt { descriptor.number }

    init() throws(SystemError) {
      descriptor = FileDescriptor(owning: try SystemCall.run("eventfd") { eventfd(0, CInt(EFD_CLOEXEC)) })
    }

    func send() { eventfd_write(number, 1) }

    func arrives(withinMilliseconds time: CInt) -> Bool {
      var descriptors = [pollfd(fd: number, events: Int16(POLLIN), revents: 0)]
      return poll(&descriptors, 1, time) == 1
    }
  }
}
