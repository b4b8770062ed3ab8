// NetworkWatch: reports the state of the network whenever the kernel changes it, without polling.

internal import CLupineLinux
internal import Glibc

/// Watches links, addresses and routes on a dedicated thread, until it is stopped or released.
package final class NetworkWatch: Sendable {
  /// Receives the state, or the error that prevented reading it. Called on the watch's thread.
  package typealias Handler = @Sendable (Result<NetworkState, SystemError>) -> Void

  /// The pause after each report: 100 ms, so that a burst of changes, such as a link that comes up, costs a few dumps
  /// instead of dozens.
  private static let pauseMilliseconds: CInt = 100

  private let stopSignal: StopSignal

  /// Starts to watch. Soon afterward, `handler` is called with the current state, and then after each change.
  ///
  /// Throws an error if the process may not use netlink, or has no descriptors or threads left.
  package init(_ handler: @escaping Handler) throws(SystemError) {
    let stopSignal = try StopSignal()
    // Notifications are enabled before the first dump, so that no change between the two is missed.
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

  /// The socket, in a class because a thread's closure can't own a noncopyable value.
  private final class Notifications: Sendable {
    private let socket: NetlinkSocket

    init(_ socket: consuming NetlinkSocket) { self.socket = socket }

    /// Waits for changes. Returns false if the watch was stopped.
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

  /// An event descriptor whose signal stops the watch's thread.
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
