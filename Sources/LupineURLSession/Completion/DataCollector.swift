// DataCollector: calls a task's completion handler with the whole body.

import Foundation
import Synchronization

/// The collector of a task with a completion handler. It collects the response's body, and calls the handler when the task has
/// completed.
final class DataCollector: TaskCollector {
  typealias Handler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

  private struct State: ~Copyable {
    var body = CollectedBody()
    var handler: Handler?
    /// The error for a body that exceeds the maximum size, after which the task is canceled. The completion handler is called with
    /// this error. Nil if the body doesn't exceed the maximum.
    var excess: URLError?
  }

  private let limit: CollectedBodyLimit?
  private let state: Mutex<State>

  init(limit: CollectedBodyLimit?, _ handler: @escaping Handler) {
    self.limit = limit
    state = Mutex(State(handler: handler))
  }

  var decidesOnResponse: Bool { limit != nil }

  /// Refuses a response whose declared length exceeds the maximum, before the body arrives.
  func accepts(_ response: URLResponse, to request: @autoclosure () -> URLRequest?) -> Bool {
    guard let error = limit?.refusal(of: response, to: request()) else { return true }
    state.withLock { $0.excess = error }
    return false
  }

  func receive(_ data: Data, from request: @autoclosure () -> URLRequest?) -> Bool {
    state.withLock { state in
      guard let excess = state.body.append(data, within: limit) else { return true }
      state.excess = excess.excess(at: request()?.url)
      return false
    }
  }

  func complete(_ response: URLResponse?, _ error: (any Error)?) {
    let (handler, body, excess) = state.withLock { state in
      (state.handler.take(), exchange(&state.body, with: CollectedBody()).data, state.excess)
    }
    let error = excess ?? error
    handler?(error == nil ? body : nil, response, error)
  }
}
