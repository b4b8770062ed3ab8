// Deadline: a closure that runs after a time limit, unless the limit is no longer needed.

// Dispatch doesn't declare its sources as Sendable, but documents that they may be used on any thread.
@preconcurrency import Dispatch

/// Calls a closure after a time limit, on a global queue. If this object is released before, the closure isn't called, and no timer
/// is left behind.
final class Deadline: Sendable {
  private let timer: any DispatchSourceTimer

  init(after limit: DispatchTimeInterval, _ passed: @escaping @Sendable () -> Void) {
    timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + limit)
    timer.setEventHandler(handler: passed)
    timer.activate()
  }

  deinit { timer.cancel() }
}
