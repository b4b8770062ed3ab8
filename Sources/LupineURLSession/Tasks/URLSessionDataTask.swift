// Tasks whose body is handed over as it comes, with or without a body of their own to send.

import Foundation
import Synchronization

// Unchecked for the same reason as its superclass: all state is in the Mutex.
/// A task whose response's body is handed over as it comes.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {
  /// The body as it would be stored; kept only if nobody else keeps it.
  private let body = Mutex(Data())
  private let conclusion = Mutex<Conclusion?>(nil)

  /// Completes the task once the delegate has said what is to be stored, or nobody waits for that any more.
  private struct Conclusion {
    let finish: @Sendable ((any Error)?) -> Void
  }

  /// Ends the task; it completes with `URLError.cancelled`.
  open override func cancel() {
    super.cancel()
    settle(URLError(.cancelled))
  }

  override var decidesOnResponse: Bool {
    guard let delegates = session?.delegates else { return false }
    return delegates.selective?.needsResponse(of: self) ?? (delegates.data != nil)
  }

  override func receive(_ response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) {
    guard let session, let delegate = session.delegates?.data else { return answer(true) }
    delegate.urlSession(session, dataTask: self, didReceive: response) { answer($0 == .allow) }
  }

  override func receive(_ data: Data) {
    guard let session, let delegate = session.delegates?.data else { return grant(data.count) }
    if windowBytes == nil, owner == nil { body.withLock { $0.append(data) } }
    delegate.urlSession(session, dataTask: self, didReceive: data)
  }

  override func conclude(_ error: URLError?, finish: @escaping @Sendable ((any Error)?) -> Void) {
    guard let session, let delegates = session.delegates, let delegate = delegates.data else { return finish(error) }
    if windowBytes != nil {
      guard let selective = delegates.selective else { return finish(error) }
      return selective.urlSession(drain: self) { finish(error) }
    }
    guard error == nil, let httpResponse, delegates.selective?.needsCachingDecision(for: self) ?? true else {
      return finish(error)
    }
    // Only now, since it looks at the fields.
    guard httpResponse.isStorable else { return finish(nil) }
    let data = owner == nil ? body.withLock { $0 } : delegates.selective?.keptBody(of: self) ?? Data()
    let proposed = CachedURLResponse(response: httpResponse, data: data)
    conclusion.withLock { $0 = Conclusion(finish: finish) }
    // There is no cache to store it in; the task completes once the delegate has made up its mind.
    delegate.urlSession(session, dataTask: self, willCacheResponse: proposed) { _ in self.settle(nil) }
    if state == .canceling { settle(URLError(.cancelled)) }
  }

  private func settle(_ error: URLError?) {
    session?.delivery.perform(.atOnce) { self.conclusion.withLock { $0.take() }?.finish(error) }
  }
}
