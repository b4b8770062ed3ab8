// ConnectionRegistry: the state that a server's threads share: the open sockets, the running threads, and whether the server has
// stopped.

internal import LupineLoopback
internal import LupineReactor

/// The open sockets and the running threads of an `OriginServer`. Its method `stop` shuts the sockets down and waits for the
/// threads.
final class ConnectionRegistry: Sendable {
  private struct State: Sendable {
    var listener: Socket?
    var open: [Int: Socket] = [:]
    var isStopped = false
    var threads = 0
    var accepted = 0
    var requests = 0
  }

  /// A gate that opens when the server stops.
  let stopped = Gate()
  private let condition: Condition<State>

  init(listener: Socket) {
    condition = Condition(State(listener: listener))
  }

  var listener: Socket? { condition.state.listener }
  var isStopped: Bool { condition.state.isStopped }
  var connectionCount: Int { condition.state.accepted }
  var openConnectionCount: Int { condition.state.open.count }
  var requestCount: Int { condition.state.requests }

  func countRequest() {
    condition.update { $0.requests += 1 }
  }

  /// Starts a thread of the server that runs `body`. `awaitThreads` waits for this thread. `body` must release its sockets before
  /// it returns.
  func startThread(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    condition.update { $0.threads += 1 }
    do {
      try Thread.start(name: name) {
        body()
        self.condition.update { $0.threads -= 1 }
      }
    } catch {
      condition.update { $0.threads -= 1 }
      throw error
    }
  }

  /// Registers a connection that the server has accepted, and returns the connection's index. Returns nil if the server has
  /// stopped.
  func admit(_ socket: Socket) -> Int? {
    condition.update { state in
      guard !state.isStopped else { return nil }
      let index = state.accepted
      state.accepted += 1
      state.open[index] = socket
      return index
    }
  }

  /// Returns the socket of the connection with this index, or nil if the connection is closed.
  func socket(_ index: Int) -> Socket? { condition.state.open[index] }

  /// Removes a connection from the registry. Its socket is closed when the last reference to it is released.
  func remove(_ index: Int) {
    // The socket is moved out, so that it isn't closed while the lock is held.
    _ = condition.update { $0.open.removeValue(forKey: index) }
  }

  /// Blocks the thread for `duration`, and returns true. If the server stops earlier, returns false immediately.
  func pause(for duration: Duration) -> Bool {
    !condition.wait(until: .now + duration) { $0.isStopped }
  }

  /// Marks the server as stopped, and wakes all of its threads that are blocked in `accept`, in a read or write, at a gate or in a
  /// pause.
  func shutDown() {
    let (listener, open) = condition.update { state in
      state.isStopped = true
      return (state.listener.take(), Array(state.open.values))
    }
    listener?.shutdownBoth()
    for socket in open { socket.shutdownBoth() }
    stopped.open()
  }

  /// Blocks until all threads of the server have ended.
  func awaitThreads() {
    _ = condition.wait { $0.threads == 0 }
  }
}
