// URLSessionTask+Delay: starts a task at its earliest begin date.

import Foundation
import Synchronization

extension URLSessionTask {
  /// The earliest begin date that the caller has set. Nil if there is none.
  var earliestStart: Date? { option { $0.earliestBeginDate } }

  /// Starts the task immediately or, if it has an earliest begin date, at that date. The timer retains neither the task nor the
  /// session.
  func startWhenDue(in session: URLSession) {
    guard let date = earliestStart else { return start(in: session) }
    let delay = max(0, date.timeIntervalSinceNow)
    // An infinite or very long delay would overflow the clock.
    let deadline = DispatchTime.now() + min(delay, Self.delaySecondsMax)
    DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in
      guard let self, self.isListed, let session = self.session else { return }
      session.delivery.perform { self.beginDelayed(in: session) }
    }
  }

  /// The maximum delay of a task in seconds: 100 years, which the clock can represent.
  private static let delaySecondsMax: TimeInterval = 100 * 365 * 24 * 60 * 60

  private func beginDelayed(in session: URLSession) {
    guard let request = firstRequest, let delegate = delegates?.task else { return start(in: session) }
    delegate.urlSession(session, task: self, willBeginDelayedRequest: request) { disposition, new in
      switch disposition {
      case .continueLoading: self.start(in: session)
      case .useNewRequest: self.start(with: new ?? request, in: session)
      case .cancel: self.cancel()
      }
    }
  }
}
