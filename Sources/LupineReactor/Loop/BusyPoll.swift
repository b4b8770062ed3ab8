// BusyPoll: the rule that decides whether a loop polls for a while before it sleeps.

/// Decides for how long an event loop polls its sockets before it sleeps. Polling pays off because sleeping and waking up take
/// longer than many replies take to arrive.
///
/// The loop polls only if the previous wait was short, because the next wait is then likely to be short too. Without traffic, the
/// loop sleeps.
struct BusyPoll {
  /// The maximum time for which the loop polls before it sleeps. If zero, the loop sleeps at once.
  let limit: Duration
  private var wasShort = false

  init(limit: Duration) { self.limit = limit }

  /// Whether polling before sleeping is enabled. If true, the loop must measure each wait and report its duration with `waited`.
  var isEnabled: Bool { limit > .zero }

  /// Returns the time until which the loop polls in a wait that begins at `start`, or nil if the loop sleeps at once.
  func end(from start: Instant) -> Instant? { isEnabled && wasShort ? start + limit : nil }

  /// Records the duration of a wait that has ended. If the loop slept without polling, a wait of up to twice `limit` counts as
  /// short, because waking up takes about as long as `limit`.
  mutating func waited(_ duration: Duration, hasPolled: Bool) {
    wasShort = duration <= (hasPolled ? limit : limit * 2)
  }
}
