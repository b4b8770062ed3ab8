// Agenda: the virtual clock of a simulated run, and the actions scheduled by it.

@_spi(Loop) @testable import LupineReactor

/// A clock that advances only when the simulation says so, with a queue of scheduled actions.
final class Agenda {
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private var times = DeadlineQueue<UInt64>()
  private var actions: [UInt64: () -> Void] = [:]
  private var lastKey: UInt64 = 0

  /// The time of the next action, or nil if none is scheduled.
  var earliest: Instant? { times.earliest }

  func after(_ duration: Duration, _ action: @escaping () -> Void) {
    lastKey += 1
    times.set(lastKey, to: now + duration)
    actions[lastKey] = action
  }

  /// Advances the clock to `time`; does nothing if that is in the past.
  func advance(to time: Instant) { now = max(now, time) }

  /// Runs every action that is due, including those that become due by running others.
  func runDue() {
    while let key = times.popExpired(now: now) { actions.removeValue(forKey: key)?() }
  }
}
