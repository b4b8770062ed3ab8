// Whether a request that has failed is sent again: retriers are asked, waited for or not, and another round begins.

import Foundation
import LupineURLSession
import Synchronization

// All of it on the underlying queue, but for the retry decisions about responses, which come from the serialization queue.
extension Request {
  func retryOrFinish() {
    let isAsked = error.map { error in
      askRetriers(dueTo: error) { result in
        switch result {
        case .doNotRetry: self.finish()
        case .doNotRetryWithError(let error): self.finish(error: error.asAFError(or: .sessionTaskFailed(error: error)))
        case .retry, .retryWithDelay: self.retry(after: result.delay)
        }
      }
    }
    if isAsked != true { finish() }
  }

  /// Asks the retriers about a failure; returns whether there was somebody to ask.
  ///
  /// `proceed` is called once, on the underlying queue: with what they say, or with `.doNotRetry` if the request is
  /// cancelled or its session goes first.
  func askRetriers(dueTo error: AFError, then proceed: @escaping @Sendable (RetryResult) -> Void) -> Bool {
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

  /// Goes on without whoever was asked or waited for, now that the request is to end; on the underlying queue.
  func stopWaiting() {
    if let pendingRetry = mutableState.withLock({ $0.pendingRetry.take() }) {
      pendingRetry.proceed(.doNotRetry)
    } else {
      finish()
    }
  }

  /// Waits until `delay` has passed, then begins another round.
  func retry(after delay: TimeInterval?) {
    enum Next { case another, finish, nothing }
    let next = mutableState.withLock { state -> Next in
      // Anybody may ask a session for another round, at any time.
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
    // A hundred years keep far away from the clock's end.
    underlyingQueue.asyncAfter(deadline: .now() + min(delay, 100 * 365 * 86_400)) { [weak self] in
      // Kept by its session while it waits, so that it goes at once if it is cancelled.
      self?.beginAnotherRound()
    }
  }

  private func beginAnotherRound() {
    let isWanted = mutableState.withLock { state in
      guard case .waiting = state.stage else { return false }
      state.stage = .building
      state.retryCount += 1
      // In the same step, lest it take away the error of somebody who cancels the new round.
      state.error = nil
      return true
    }
    guard isWanted else { return }
    reset()
    monitors?.requestIsRetrying(self)
    build(in: session)
  }

  /// Retriers have said what is to become of a request whose response couldn't be serialised.
  func proceed(after response: SerializedResponse, _ result: RetryResult) {
    if result.retryRequired, dropResponses() { return retry(after: result.delay) }
    let replacement = result.error.map { $0.asAFError(or: .sessionTaskFailed(error: $0)) }
    mutableState.withLock { $0.responses.add { response.deliver(replacement) } }
    // Not called from here: retriers that answer at once would pile up calls.
    serializationQueue.async { self.serializeRemaining() }
  }

  /// Forgets what this round has serialised, unless the request was cancelled; returns whether another one may follow.
  private func dropResponses() -> Bool {
    let dropped = mutableState.withLock { state -> ShortList<@Sendable () -> Void>? in
      guard state.state != .cancelled else { return nil }
      state.stage = .completing(pendingRetry: nil)
      return state.responses.restart()
    }
    return dropped != nil
  }
}
