// DataCollector: the task delegate that calls a completion handler with the whole body.

import Foundation
import Synchronization

/// The delegate of a task with a completion handler. It collects the response's body, and calls the handler on the delegate queue
/// when the task has completed. All other events go to the task's own delegate or, if there is none, to the session's.
final class DataCollector: NSObject, URLSessionDataDelegate, SelectiveDataDelegate, Sendable {
  typealias Handler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

  private struct State {
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

  func needsResponse(of task: URLSessionDataTask) -> Bool { limit != nil }

  func needsCachingDecision(for task: URLSessionDataTask) -> Bool { false }

  func keptBody(of task: URLSessionDataTask) -> Data? { nil }

  func urlSession(drain task: URLSessionDataTask, completion: @escaping @Sendable () -> Void) { completion() }

  /// Refuses a response whose declared length exceeds the maximum, before the body arrives.
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    guard let error = limit?.refusal(of: response, to: dataTask.currentRequest) else {
      return completionHandler(.allow)
    }
    state.withLock { $0.excess = error }
    completionHandler(.cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isTooLong = state.withLock { state in
      guard let excess = state.body.append(data, within: limit) else { return false }
      state.excess = excess.excess(at: dataTask.currentRequest?.url)
      return true
    }
    if isTooLong { dataTask.cancel() }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let (handler, body, excess) = state.withLock { state in
      defer { (state.handler, state.body) = (nil, CollectedBody()) }
      return (state.handler, state.body.data, state.excess)
    }
    let error = excess ?? error
    handler?(error == nil ? body : nil, task.response, error)
  }
}

extension URLSession {
  /// Makes the session call `handler` with the task's response and whole body. Returns `task`.
  func collect<Task: URLSessionTask>(_ task: Task, _ handler: @escaping DataCollector.Handler) -> Task {
    let collector = DataCollector(limit: collectedBodyLimit, handler)
    task.setCollector(collector, session: self)
    background?.refuseCompletionHandler(of: task)
    return task
  }

  /// The session's limit for bodies in memory, or nil if there is none.
  package var collectedBodyLimit: CollectedBodyLimit? {
    client.settings.bodyBytesMax.map { CollectedBodyLimit(bytesMax: $0) }
  }
}
