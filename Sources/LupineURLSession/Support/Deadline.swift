// Deadline: a closure that runs after a time limit, unless the limit is no longer needed; and times and durations from any number
// of seconds.

// Dispatch doesn't declare its sources as Sendable, but documents that they may be used on any thread.
@preconcurrency package import Dispatch

/// Calls a closure after a time limit, on a global queue. If this object is released before, the closure isn't called, and no timer
/// is left behind.
final class Deadline: Sendable {
  private let timer: any DispatchSourceTimer

  init(after limit: Duration, _ passed: @escaping @Sendable () -> Void) {
    timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .after(limit / .seconds(1)))
    timer.setEventHandler(handler: passed)
    timer.activate()
  }

  deinit { timer.cancel() }
}

extension DispatchTime {
  /// Returns the time after a number of seconds, but at most 100 years from now, because a longer delay could overflow the clock.
  package static func after(_ seconds: Double) -> DispatchTime { .now() + min(seconds, secondsMax) }
}

extension Duration {
  /// Converts a timeout in seconds to a duration of at most 100 years. Returns nil, which means no limit, unless the timeout is
  /// finite and positive.
  init?(timeout seconds: Double) {
    guard seconds > 0, seconds.isFinite else { return nil }
    self = .seconds(min(seconds, secondsMax))
  }
}

/// 100 years, which is far below the maximum of the clocks.
private let secondsMax: Double = 100 * 365 * 24 * 60 * 60
