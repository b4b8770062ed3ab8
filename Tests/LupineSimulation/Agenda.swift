// Agenda: the virtual clock of a simulated run, and the actions scheduled by it.

@_spi(Loop) @testable import LupineReactor

/// The virtual clock of a simulation, with a queue of actions that are scheduled for a later time. The clock advances only when the
/// simulation advances it.
final class Agenda {
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private var times = DeadlineQueue<UInt64>()
  private var actions: [UInt64: () -> Void] = [:]
  private var lastKey: UInt64 = 0

  /// The time of the next scheduled action, or nil if no action is scheduled.
  var earliest: Instant? { times.earliest }

  func after(_ duration: Duration, _ action: @escaping () -> Void) {
    lastKey += 1
    times.set(lastKey, to: now + duration)
    actions[lastKey] = action
  }

  /// Advances the clock to `time`. Does nothing if `time` is in the past.
  func advance(to time: Instant) { now = max(now, time) }

  /// Performs every scheduled action that is due, including those that become due through other actions.
  func runDue() {
    while let key = times.popExpired(now: now) { actions.removeValue(forKey: key)?() }
  }
}
