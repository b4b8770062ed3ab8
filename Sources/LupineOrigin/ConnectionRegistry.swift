// What a server's threads share: which sockets are open, how many threads run, and whether it is over.

internal import LupineReactor

/// The sockets and threads of one server, whose `stop` waits here for the threads.
final class ConnectionRegistry: Sendable {
  private struct State: Sendable {
    var listener: Socket?
    var open: [Int: Socket] = [:]
    var isStopped = false
    var threads = 0
    var accepted = 0
    var requests = 0
  }

  /// Opened by `stop`.
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

  /// Starts a thread that `awaitThreads` waits for. Its body must let go of sockets before it returns.
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

  /// Registers a connection and returns its index, or nil once the server has been stopped.
  func admit(_ socket: Socket) -> Int? {
    condition.update { state in
      guard !state.isStopped else { return nil }
      let index = state.accepted
      state.accepted += 1
      state.open[index] = socket
      return index
    }
  }

  /// The socket of an open connection.
  func socket(_ index: Int) -> Socket? { condition.state.open[index] }

  /// Forgets a connection, whose socket is closed if nobody else holds it.
  func remove(_ index: Int) {
    // Taken out, so that it isn't closed under the lock.
    _ = condition.update { $0.open.removeValue(forKey: index) }
  }

  /// Blocks for that long. Returns false, at once, if the server is stopped.
  func pause(for duration: Duration) -> Bool {
    !condition.wait(until: .now + duration) { $0.isStopped }
  }

  /// Ends what threads wait for: in `accept`, on a client, on a gate or in a pause.
  func shutDown() {
    let (listener, open) = condition.update { state in
      state.isStopped = true
      let listener = state.listener
      state.listener = nil
      return (listener, Array(state.open.values))
    }
    listener?.shutdownBoth()
    for socket in open { socket.shutdownBoth() }
    stopped.open()
  }

  /// Blocks until every thread has ended.
  func awaitThreads() {
    _ = condition.wait { $0.threads == 0 }
  }
}
