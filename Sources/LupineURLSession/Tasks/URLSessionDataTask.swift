// URLSessionDataTask and URLSessionUploadTask: tasks that deliver the response's body in parts.

import Foundation
import Synchronization

// Unchecked for the same reason as its superclass. All state is protected by a Mutex.
/// A task that delivers the response's body to the session's delegate while the body is being received.
///
/// Create one with `dataTask(with:)` of ``URLSession``. The task calls the methods of ``URLSessionDataDelegate``.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {
  /// The bytes of the body that were received so far. If the cache can't store the response, the task uses these bytes for the
  /// `CachedURLResponse` that it proposes to its delegate. Empty if the body is streamed, if the task has an owner, or if its
  /// delegate doesn't decide about caching. Nil if the body has more than `proposedBytesMax` bytes.
  private let body = Mutex<[UInt8]?>([])
  private let cachingDecision = Mutex(CachingDecision.notNeeded)

  /// The state of the delegate's decision about storing the response in the cache. After the decision, the task completes.
  private enum CachingDecision {
    case notNeeded
    /// The task waits for the delegate. `isExplicit` is false if the delegate has left the decision to the session.
    case awaited(isExplicit: Bool)
    /// The delegate has decided, or the task was canceled and no longer waits for the decision.
    case made
  }

  /// The maximum length, in bytes, of a body that the task keeps in order to propose its response to the delegate: 4 MiB, the
  /// memory capacity of the shared cache. If a body is longer and the cache can't store it, the delegate isn't asked.
  private static let proposedBytesMax = 4 << 20

  override init(_ session: URLSession, _ request: URLRequest?, identifier: Int) {
    super.init(session, request, identifier: identifier)
  }

  /// Creates a task without a session, for a subclass that replaces a real task in a test. The task never sends a request.
  public override init() { super.init() }

  /// Cancels the task, which completes with `URLError.cancelled`. Has no effect if the task has already completed.
  open override func cancel() {
    super.cancel()
    completeAfterCachingDecision(URLError(.cancelled))
  }

  override var decidesOnResponse: Bool {
    if let collector { return collector.decidesOnResponse }
    guard let delegates else { return false }
    return delegates.selective?.needsResponse(of: self) ?? (delegates.data != nil)
  }

  override func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) {
    if let collector { return answer(collector.accepts(response, to: currentRequest)) }
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

  /// Whether this task can become a download task. If false, the delegate's decision `becomeDownload` is treated like `allow`.
  var canBecomeDownload: Bool { true }

  /// Creates a download task, which receives the response in place of this task. Has no effect if this task is canceled or has
  /// already become a download task.
  private func becomeDownload(
    _ session: URLSession, _ delegate: any URLSessionDataDelegate, _ response: URLResponse,
    answer: @escaping @Sendable (Bool) -> Void
  ) {
    // It replaces this task, and writes its file on the queue on which this task receives the body, the delegate queue.
    let download = URLSessionDownloadTask(session, firstRequest, identifier: number)
    guard handOver(to: download, in: session) else { return }
    session.delivery.perform(.immediate) {
      delegate.urlSession(session, dataTask: self, didBecome: download)
      download.transfer(didReceive: response, answer: answer)
    }
  }

  override func receive(_ data: Data) {
    if let collector {
      if !collector.receive(data, from: currentRequest) { cancel() }
      return
    }
    guard let (session, delegates) = notified, let delegate = delegates.data else {
      return extendWindow(by: data.count)
    }
    let mayKeep = windowBytes == nil && mutableState.withLock { $0.owner == nil }
    if mayKeep, delegates.selective?.needsCachingDecision(for: self) ?? true { keep(data) }
    delegate.urlSession(session, dataTask: self, didReceive: data)
  }

  /// Keeps a part of the body for the response that is proposed to the delegate. If the body becomes too long, keeps none of it.
  private func keep(_ data: Data) {
    body.withLock { body in
      guard let count = body?.count else { return }
      if data.count > Self.proposedBytesMax - count { body = nil } else { body?.append(contentsOf: data) }
    }
  }

  override var cacheScope: TaskCache.Scope { .requests }

  override var delegateDecidesOnCaching: Bool {
    guard collector == nil, let delegates else { return false }
    return delegates.selective?.needsCachingDecision(for: self) ?? (delegates.data != nil)
  }

  override func transferDidEnd(_ error: URLError?) {
    let isCollected = collector != nil
    guard !isCollected, let (session, delegates) = notified, delegates.data != nil else {
      let storable = transfer?.takeStorable()
      if error == nil || !isCollected { storable?.store(storable?.proposed) }
      return complete(error)
    }
    let storable = session.client.cache == nil ? nil : transfer?.takeStorable()
    if windowBytes != nil, let selective = delegates.selective {
      return selective.urlSession(drain: self) { self.decideOnCaching(storable, error, session, delegates) }
    }
    decideOnCaching(storable, error, session, delegates)
  }

  /// Asks the delegate whether to store the complete response in the cache, and then completes the task.
  private func decideOnCaching(
    _ storable: StorableResponse?, _ error: URLError?, _ session: URLSession, _ delegates: URLSession.Delegates
  ) {
    guard error == nil, storable != nil || windowBytes == nil,
      delegates.selective?.needsCachingDecision(for: self) ?? true
    else {
      if error == nil { storable?.store(storable?.proposed) }
      return complete(error, delegates.task, in: session)
    }
    guard let delegate = delegates.data, let proposed = storable?.proposed ?? unstorable(delegates) else {
      return complete(nil, delegates.task, in: session)
    }
    cachingDecision.withLock { $0 = .awaited(isExplicit: true) }
    delegate.urlSession(session, dataTask: self, willCacheResponse: proposed) { chosen in
      // A decision has no effect after the task was canceled.
      if case .awaited(let isExplicit) = self.cachingDecision.withLock({ $0 }) {
        if let storable {
          storable.store(chosen, isDecided: isExplicit)
        } else if isExplicit, let chosen {
          self.transfer?.undecided(proposed.data)?.store(chosen, proposedAs: proposed)
        }
      }
      self.completeAfterCachingDecision(nil)
    }
    if state == .canceling { completeAfterCachingDecision(URLError(.cancelled)) }
  }

  /// Completes the decision about storing `proposed`, for a delegate that leaves the decision to the session: the response is
  /// stored only if the cache could serve it to a request with the same cache policy.
  package func leaveCachingDecision(
    on proposed: CachedURLResponse, _ completionHandler: (CachedURLResponse?) -> Void
  ) {
    cachingDecision.withLock { if case .awaited = $0 { $0 = .awaited(isExplicit: false) } }
    completionHandler(proposed)
  }

  /// Returns the response that the task proposes to its delegate although the cache can't store it, or nil if there is none. Like
  /// Foundation, the task asks the delegate about each response from the server with a 2xx status code and without `no-store`.
  private func unstorable(_ delegates: URLSession.Delegates) -> CachedURLResponse? {
    guard let httpResponse, httpResponse.isStorable, transfer?.isServed == false else { return nil }
    guard owner == nil else {
      return CachedURLResponse(response: httpResponse, data: delegates.selective?.keptBody(of: self) ?? Data())
    }
    return body.withLock { $0 }.map { CachedURLResponse(response: httpResponse, data: Data($0)) }
  }

  /// Completes the task if it is waiting for the delegate's decision about caching. Has no effect after the first decision or a
  /// cancellation.
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
/// A data task that sends data, a file or a stream in place of its request's body.
///
/// Create one with ``URLSession/uploadTask(with:from:)``, ``URLSession/uploadTask(with:fromFile:)`` or
/// ``URLSession/uploadTask(withStreamedRequest:)``. The task sends the body again from its start after a redirect that keeps the
/// method, after an authentication challenge, and if a reused connection turns out to be closed. If the method is GET, the body
/// must be empty, or the task fails with `URLError.dataLengthExceedsMaximum`.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
  private let ownContent: UploadContent?

  init(_ session: URLSession, _ request: URLRequest, _ content: UploadContent, identifier: Int) {
    ownContent = content
    super.init(session, request, identifier: identifier)
  }

  /// Creates a task without a session, for a subclass that replaces a real task in a test. The task never sends a request.
  public override init() {
    ownContent = nil
    super.init()
  }

  override var content: UploadContent? { ownContent }

  override var cacheScope: TaskCache.Scope { .invalidation }
}

/// The body that an upload task sends: data, a file or a stream.
enum UploadContent: Sendable {
  case data(Data)
  /// The content of a file. The body's length is the file's length when the task starts.
  case file(URL)
  /// A stream that the delegate provides.
  case stream
}
