// URLSessionDataTask and URLSessionUploadTask: tasks that deliver the response's body in parts.

import Foundation
import Synchronization

// Unchecked for the same reason as its superclass. All state is protected by a Mutex.
/// A task that delivers the response's body to the session's delegate as it is received.
///
/// Create one with `dataTask(with:)` of ``URLSession``. The delegate's methods are those of ``URLSessionDataDelegate``.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {
  /// The body for the caching decision. Empty if the task's owner keeps the body.
  private let body = Mutex(Data())
  private let cachingDecision = Mutex(CachingDecision.notNeeded)

  /// The delegate's decision whether the response is stored. The task completes after the decision.
  private enum CachingDecision {
    case notNeeded
    case awaited
    /// The decision was made, or is no longer awaited because the task was cancelled.
    case made
  }

  override init(_ session: URLSession, _ request: URLRequest?, identifier: Int) {
    super.init(session, request, identifier: identifier)
  }

  /// Creates a task without a session, for a subclass that replaces a real task in a test. It never sends anything.
  public override init() { super.init() }

  /// Cancels the task, which completes with `URLError.cancelled`. Does nothing if it has already completed.
  open override func cancel() {
    super.cancel()
    completeAfterCachingDecision(URLError(.cancelled))
  }

  override var decidesOnResponse: Bool {
    guard let delegates else { return false }
    return delegates.selective?.needsResponse(of: self) ?? (delegates.data != nil)
  }

  override func receive(_ response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) {
    guard let (session, delegates) = notified, let delegate = delegates.data else { return answer(true) }
    delegate.urlSession(session, dataTask: self, didReceive: response) { answer($0 == .allow) }
  }

  override func receive(_ data: Data) {
    guard let (session, delegates) = notified, let delegate = delegates.data else { return grant(data.count) }
    if windowBytes == nil, owner == nil, delegates.selective?.needsCachingDecision(for: self) ?? true {
      body.withLock { $0.append(data) }
    }
    delegate.urlSession(session, dataTask: self, didReceive: data)
  }

  override func transferDidEnd(_ error: URLError?) {
    guard let (session, delegates) = notified, let delegate = delegates.data else { return complete(error) }
    if windowBytes != nil {
      guard let selective = delegates.selective else { return complete(error) }
      return selective.urlSession(drain: self) { self.complete(error) }
    }
    guard error == nil, let httpResponse, delegates.selective?.needsCachingDecision(for: self) ?? true else {
      return complete(error)
    }
    // Checked last, because this parses fields.
    guard httpResponse.isStorable else { return complete(nil) }
    let data = owner == nil ? body.withLock { $0 } : delegates.selective?.keptBody(of: self) ?? Data()
    let proposed = CachedURLResponse(response: httpResponse, data: data)
    cachingDecision.withLock { $0 = .awaited }
    // There is no cache, so the decision is ignored. The task completes once the delegate has made the decision.
    delegate.urlSession(session, dataTask: self, willCacheResponse: proposed) { _ in
      self.completeAfterCachingDecision(nil)
    }
    if state == .canceling { completeAfterCachingDecision(URLError(.cancelled)) }
  }

  /// Completes the task if it awaits the caching decision. Only the first decision or cancellation has an effect.
  private func completeAfterCachingDecision(_ error: URLError?) {
    session?.delivery.perform(.atOnce) {
      let isFirst = self.cachingDecision.withLock { decision in
        guard case .awaited = decision else { return false }
        decision = .made
        return true
      }
      if isFirst { self.complete(error) }
    }
  }
}

// Unchecked for the same reason as its superclass.
/// A data task that uploads data, a file or a stream instead of its request's body.
///
/// Create one with ``URLSession/uploadTask(with:from:)``, ``URLSession/uploadTask(with:fromFile:)`` or
/// ``URLSession/uploadTask(withStreamedRequest:)``. The body is sent again from its start after a redirect that keeps
/// the method, after a challenge, and if a reused connection turns out to be closed.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
  private let ownContent: UploadContent?

  init(_ session: URLSession, _ request: URLRequest, _ content: UploadContent, identifier: Int) {
    ownContent = content
    super.init(session, request, identifier: identifier)
  }

  /// Creates a task without a session, for a subclass that replaces a real task in a test. It never sends anything.
  public override init() {
    ownContent = nil
    super.init()
  }

  override var content: UploadContent? { ownContent }
}

/// The body of an upload task.
enum UploadContent: Sendable {
  case data(Data)
  /// A file, whose length is determined when the task starts.
  case file(URL)
  /// A stream, which the delegate provides.
  case stream
}
