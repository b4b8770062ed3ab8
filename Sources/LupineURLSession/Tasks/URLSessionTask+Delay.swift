// URLSessionTask+Delay: starts a task at a later date.

public import Foundation
import Synchronization

extension URLSessionTask {
  /// The date before which the request isn't sent, even if the task is resumed. No delay if nil (the default).
  ///
  /// When the date has passed, the delegate's
  /// ``URLSessionTaskDelegate/urlSession(_:task:willBeginDelayedRequest:completionHandler:)`` may replace the request. Set this
  /// property before the task is resumed.
  public var earliestBeginDate: Date? {
    get { options?.state.withLock { $0.earliestBeginDate } }
    set { makeOptions().state.withLock { $0.earliestBeginDate = newValue } }
  }

  /// Starts the task, at its earliest date if it has one. The timer retains neither the task nor the session.
  func startWhenDue(in session: URLSession) {
    guard let date = earliestBeginDate else { return start(in: session) }
    let delay = max(0, date.timeIntervalSinceNow)
    // An infinite or extreme delay would overflow the clock.
    let deadline = DispatchTime.now() + min(delay, Self.delaySecondsMax)
    DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in
      guard let self, self.isListed, let session = self.session else { return }
      session.delivery.perform { self.beginDelayed(in: session) }
    }
  }

  /// The maximum delay of a task: 100 years, to stay far below the clock's maximum.
  private static let delaySecondsMax: TimeInterval = 100 * 365 * 24 * 60 * 60

  private func beginDelayed(in session: URLSession) {
    guard let request = originalRequest, let delegate = delegates?.task else { return start(in: session) }
    delegate.urlSession(session, task: self, willBeginDelayedRequest: request) { disposition, new in
      switch disposition {
      case .continueLoading: self.start(in: session)
      case .useNewRequest: self.start(with: new ?? request, in: session)
      case .cancel: self.cancel()
      }
    }
  }
}
