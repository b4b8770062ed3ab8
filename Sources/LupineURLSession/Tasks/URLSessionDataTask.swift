// URLSessionDataTask and URLSessionUploadTask: tasks that deliver the response's body in parts.

import Foundation
import Synchronization

// Unchecked for the same reason as its superclass. All state is protected by a Mutex.
/// A task that delivers the response's body to the session's delegate as it is received.
///
/// Create one with `dataTask(with:)` of ``URLSession``. The delegate's methods are those of ``URLSessionDataDelegate``.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {
  /// The bytes of the body received so far, from which the task creates the `CachedURLResponse` that it proposes to its delegate.
  /// Empty if the cache or the task's owner stores the body.
  private let body = Mutex(Data())
  private let cachingDecision = Mutex(CachingDecision.notNeeded)

  /// The state of the delegate's decision whether to store the response. The task completes after the decision.
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
    delegate.urlSession(session, dataTask: self, didReceive: response) { disposition in
      switch disposition {
      case .allow: answer(true)
      case .cancel: answer(false)
      case .becomeDownload where !self.canBecomeDownload: answer(true)
      case .becomeDownload: self.becomeDownload(session, delegate, response, answer: answer)
      }
    }
  }

  /// Whether a download task can take over the response. If false, the decision `becomeDownload` is treated as `allow`.
  var canBecomeDownload: Bool { true }

  /// Lets a download task take over the response. Does nothing if the task is cancelled or has already become a download.
  private func becomeDownload(
    _ session: URLSession, _ delegate: any URLSessionDataDelegate, _ response: URLResponse,
    answer: @escaping @Sendable (Bool) -> Void
  ) {
    let download = URLSessionDownloadTask(session, continuing: self)
    guard handOver(to: download, in: session) else { return }
    session.delivery.perform(.immediate) {
      delegate.urlSession(session, dataTask: self, didBecome: download)
      download.receive(response, answer: answer)
    }
  }

  override func receive(_ data: Data) {
    guard let (session, delegates) = notified, let delegate = delegates.data else {
      return extendWindow(by: data.count)
    }
    if windowBytes == nil, owner == nil, delegates.selective?.needsCachingDecision(for: self) ?? true {
      body.withLock { $0.append(data) }
    }
    delegate.urlSession(session, dataTask: self, didReceive: data)
  }

  /// Data tasks use the session's cache to answer their requests.
  override var cacheScope: TaskCache.Scope { .requests }

  override func transferDidEnd(_ error: URLError?) {
    let storable = transfer?.takeStorable()
    guard let (session, delegates) = notified, let delegate = delegates.data else {
      storable?.store(storable?.proposed)
      return complete(error)
    }
    if windowBytes != nil, let selective = delegates.selective {
      return selective.urlSession(drain: self) { self.decideOnCaching(storable, error, session, delegates, delegate) }
    }
    decideOnCaching(storable, error, session, delegates, delegate)
  }

  /// Asks the delegate whether to store a complete response, then completes the task.
  private func decideOnCaching(
    _ storable: StorableResponse?, _ error: URLError?, _ session: URLSession, _ delegates: URLSession.Delegates,
    _ delegate: any URLSessionDataDelegate
  ) {
    guard error == nil, storable != nil || windowBytes == nil,
      delegates.selective?.needsCachingDecision(for: self) ?? true
    else {
      if error == nil { storable?.store(storable?.proposed) }
      return complete(error)
    }
    guard let proposed = storable?.proposed ?? unstorable(delegates) else { return complete(nil) }
    cachingDecision.withLock { $0 = .awaited }
    delegate.urlSession(session, dataTask: self, willCacheResponse: proposed) { chosen in
      // A decision after the task was cancelled has no effect.
      if case .awaited = self.cachingDecision.withLock({ $0 }) { storable?.store(chosen) }
      self.completeAfterCachingDecision(nil)
    }
    if state == .canceling { completeAfterCachingDecision(URLError(.cancelled)) }
  }

  /// Returns the response that is proposed to the delegate although it won't be stored. As in Foundation, the delegate decides
  /// about each response from the server that has a status code of 2xx and no `no-store`.
  private func unstorable(_ delegates: URLSession.Delegates) -> CachedURLResponse? {
    guard let httpResponse, httpResponse.isStorable, transfer?.isServed == false else { return nil }
    let data = owner == nil ? body.withLock { $0 } : delegates.selective?.keptBody(of: self) ?? Data()
    return CachedURLResponse(response: httpResponse, data: data)
  }

  /// Completes the task if it awaits the caching decision. Only the first decision or cancellation has an effect.
  private func completeAfterCachingDecision(_ error: URLError?) {
    session?.delivery.perform(.immediate) {
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

  override var cacheScope: TaskCache.Scope { .invalidation }
}

/// The body of an upload task.
enum UploadContent: Sendable {
  case data(Data)
  /// A file, whose length is determined when the task starts.
  case file(URL)
  /// A stream, which the delegate provides.
  case stream
}
