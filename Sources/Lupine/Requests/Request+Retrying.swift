// Request+Retrying: retries a failed request: calls the retriers, waits for the delay, and starts another attempt.

import Foundation
import LupineURLSession
import Synchronization

// These methods run on the underlying queue, except that retriers are called on the serialization queue if a response couldn't
// be serialized.
extension Request {
  func retryOrFinish() {
    queues.assertOnRoot()
    guard let error else { return finish() }
    let isAsked = askRetriers(dueTo: error) { result in
      switch result {
      case .doNotRetry: self.finish()
      case .doNotRetryWithError(let error): self.finish(error: error.asAFError(or: .sessionTaskFailed(error: error)))
      case .retry, .retryWithDelay: self.retry(after: result.delay)
      }
    }
    if !isAsked { finish() }
  }

  /// The implementation of `askRetriers` for requests that leave the decision to retriers.
  func callRetriers(dueTo error: AFError, then proceed: @escaping @Sendable (RetryResult) -> Void) -> Bool {
    guard let session, session.hasRetrier(for: self) else { return false }
    let pendingRetry = PendingRetry(proceed: proceed)
    let isAsked = mutableState.withLock { state in
      guard state.state != .cancelled else { return false }
      state.pendingRetry = pendingRetry
      return true
    }
    guard isAsked else { return false }
    session.askRetriers(about: self, dueTo: error) { [weak self] result in
      guard let self else { return }
      root.perform { self.proceed(from: pendingRetry, with: result) }
    }
    return true
  }

  private func proceed(from pendingRetry: PendingRetry, with result: RetryResult) {
    let (isOpen, isCancelled) = mutableState.withLock { state in
      guard state.pendingRetry === pendingRetry else { return (false, false) }
      state.pendingRetry = nil
      return (true, state.state == .cancelled)
    }
    if isOpen { pendingRetry.proceed(isCancelled ? .doNotRetry : result) }
  }

  /// Stops waiting for the retriers' decision or for the end of the retry delay, because the request is ending. Called on the
  /// underlying queue.
  func stopWaiting() {
    queues.assertOnRoot()
    if let pendingRetry = mutableState.withLock({ $0.pendingRetry.take() }) {
      pendingRetry.proceed(.doNotRetry)
    } else {
      finish()
    }
  }

  /// Starts another attempt of the request after `delay` seconds, or immediately if `delay` is nil.
  func retry(after delay: TimeInterval?) {
    enum Next { case another, finish, nothing }
    let next = mutableState.withLock { state -> Next in
      // The program may call the session's `retryRequest` at any time, so the request may be in any stage.
      guard case .completing = state.stage else { return .nothing }
      guard state.state != .cancelled else { return .finish }
      state.stage = .waiting
      return .another
    }
    switch next {
    case .nothing: return
    case .finish: return finish()
    case .another: break
    }
    guard let delay, delay > 0 else { return beginAnotherRound() }
    // Caps the delay at 100 years, so that the deadline doesn't overflow.
    underlyingQueue.asyncAfter(deadline: .now() + min(delay, 100 * 365 * 86_400)) { [weak self] in
      // The session retains the waiting request. A cancelled request isn't retained and is released immediately.
      self?.beginAnotherRound()
    }
  }

  private func beginAnotherRound() {
    let isWanted = mutableState.withLock { state in
      guard case .waiting = state.stage else { return false }
      state.stage = .building
      state.retryCount += 1
      // The error is cleared together with the change of the stage. Clearing it later could erase the error of a cancellation
      // during the new attempt.
      state.error = nil
      return true
    }
    guard isWanted else { return }
    reset()
    monitors?.requestIsRetrying(self)
    build(in: session)
  }

  /// Continues after the retriers have decided whether to retry a request whose response couldn't be serialized.
  func proceed(after response: SerializedResponse, _ result: RetryResult) {
    if result.retryRequired, dropResponses() { return retry(after: result.delay) }
    let replacement = result.error.map { $0.asAFError(or: .sessionTaskFailed(error: $0)) }
    mutableState.withLock { $0.responses.add(.replacing { response.deliver(replacement) }) }
    // Asynchronous, because the calls would recurse if the retriers decided immediately.
    serializationQueue.async { self.serializeRemaining() }
  }

  /// Discards the responses serialized in this attempt, so that another attempt can follow. If the request is cancelled, discards
  /// nothing and returns false.
  private func dropResponses() -> Bool {
    let dropped = mutableState.withLock { state -> ShortList<ResponseHandlers.Delivery>? in
      guard state.state != .cancelled else { return nil }
      state.stage = .completing(pendingRetry: nil)
      return state.responses.restart()
    }
    return dropped != nil
  }
}
