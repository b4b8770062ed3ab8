// URLSessionDataTask: a task that delivers the response's body in parts.

import Foundation
import Synchronization

// Unchecked for the same reason as its superclass: all state is in a Mutex.
/// A task that delivers the response's body to the session's delegate as it is received.
///
/// Create one with ``URLSession/dataTask(with:)``. The delegate's methods are those of ``URLSessionDataDelegate``.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {
  /// The body for the caching decision. Empty if the task's owner keeps the body.
  private let body = Mutex(Data())
  private let conclusion = Mutex<Conclusion?>(nil)

  /// The handler that completes the task, called when the delegate has made its caching decision or the task is
  /// cancelled.
  private struct Conclusion {
    let finish: @Sendable ((any Error)?) -> Void
  }

  override init(_ session: URLSession, _ request: URLRequest?, identifier: Int) {
    super.init(session, request, identifier: identifier)
  }

  /// Creates a task without a session, for a subclass that stands in for a real task in a test. It never sends anything.
  public override init() { super.init() }

  /// Cancels the task, which completes with `URLError.cancelled`. Does nothing if it has already completed.
  open override func cancel() {
    super.cancel()
    settle(URLError(.cancelled))
  }

  override var decidesOnResponse: Bool {
    guard let delegates else { return false }
    return delegates.selective?.needsResponse(of: self) ?? (delegates.data != nil)
  }

  override func receive(_ response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) {
    guard let session, let delegate = delegates?.data else { return answer(true) }
    delegate.urlSession(session, dataTask: self, didReceive: response) { answer($0 == .allow) }
  }

  override func receive(_ data: Data) {
    guard let session, let delegates, let delegate = delegates.data else { return grant(data.count) }
    if windowBytes == nil, owner == nil, delegates.selective?.needsCachingDecision(for: self) ?? true {
      body.withLock { $0.append(data) }
    }
    delegate.urlSession(session, dataTask: self, didReceive: data)
  }

  override func conclude(_ error: URLError?, finish: @escaping @Sendable ((any Error)?) -> Void) {
    guard let session, let delegates, let delegate = delegates.data else { return finish(error) }
    if windowBytes != nil {
      guard let selective = delegates.selective else { return finish(error) }
      return selective.urlSession(drain: self) { finish(error) }
    }
    guard error == nil, let httpResponse, delegates.selective?.needsCachingDecision(for: self) ?? true else {
      return finish(error)
    }
    // Checked last, because it parses fields.
    guard httpResponse.isStorable else { return finish(nil) }
    let data = owner == nil ? body.withLock { $0 } : delegates.selective?.keptBody(of: self) ?? Data()
    let proposed = CachedURLResponse(response: httpResponse, data: data)
    conclusion.withLock { $0 = Conclusion(finish: finish) }
    // There is no cache, so the decision is ignored. The task completes once the delegate has made it.
    delegate.urlSession(session, dataTask: self, willCacheResponse: proposed) { _ in self.settle(nil) }
    if state == .canceling { settle(URLError(.cancelled)) }
  }

  private func settle(_ error: URLError?) {
    session?.delivery.perform(.atOnce) { self.conclusion.withLock { $0.take() }?.finish(error) }
  }
}
