// The virtual clock, and what happens by it.

@_spi(Loop) @testable import LupineReactor

/// Time that passes only when the simulation says so, with the events that are to come.
final class Agenda {
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private var times = DeadlineQueue<UInt64>()
  private var actions: [UInt64: () -> Void] = [:]
  private var lastKey: UInt64 = 0

  /// When the next event comes, or nil.
  var earliest: Instant? { times.earliest }

  func after(_ duration: Duration, _ action: @escaping () -> Void) {
    lastKey += 1
    times.set(lastKey, to: now + duration)
    actions[lastKey] = action
  }

  /// Lets time pass; never backwards.
  func advance(to time: Instant) { now = max(now, time) }

  /// Does what is due, and what becomes due by that.
  func runDue() {
    while let key = times.popExpired(now: now) { actions.removeValue(forKey: key)?() }
  }
}
