// PathWaitList: decides when the requests that wait for a network path continue. It receives events with their times, and performs
// no I/O.

import LupineEngine

/// A list of waiters, each of which waits until the network has a path for it. The list determines the times at which the waiters
/// continue.
///
/// A waiter continues as soon as the network has a path for it. If many waiters could continue at once, the list spreads them over
/// up to two seconds. A waiter whose earlier attempts have failed, although there was a path, pauses first, longer after each
/// failure. Therefore, many waiters don't all connect at once, even if a link goes up and down repeatedly or the network has no
/// name servers. If the network had no default route when the pause began, the pause ends when a default route appears, because the
/// route may lead to the name servers that the earlier attempts couldn't reach.
struct PathWaitList {
  /// The delay between two waiters that continue after the same change of the network: 2 ms, so that 500 connections are
  /// opened per second. The delay is shorter if there are more than 1,000 waiters.
  static let spreadStep = Duration.milliseconds(2)
  /// The maximum total delay of the waiters that continue after the same change of the network, from the first to the last: 2 s.
  static let spreadMax = Duration.seconds(2)
  /// The pause before a waiter's second attempt to connect: 100 ms. The pause doubles with each further attempt, up to `pauseMax`.
  static let pauseMin = Duration.milliseconds(100)
  /// The maximum pause before a waiter's next attempt to connect: 10 s.
  static let pauseMax = Duration.seconds(10)

  typealias ID = UInt64
  /// A closure that returns whether the network has a path for a waiter. Its argument is nil if the network's state can't be read.
  typealias Condition = @Sendable (NetworkState?) -> Bool

  private struct Waiter {
    let condition: Condition
    /// The earliest time at which the waiter may continue, which is the end of its pause after failed attempts.
    let earliest: Instant
    /// The time at which the waiter times out. Nil if there is no time limit.
    let end: Instant?
    /// The time at which the waiter continues. Nil while the network has no path for it.
    var release: Instant?
    /// Whether the waiter's pause ends when a default route appears. True if the network has had a path for the waiter since the
    /// waiter was added, but no default route.
    var awaitsDefaultRoute = false
    let resume: @Sendable (PathWait.Outcome) -> Void

    /// The earliest time at which the waiter continues or times out. Nil if there is no such time.
    var nextTime: Instant? { PathWaitList.earlier(release, end) }
  }

  /// The latest report about the state of the network, or no report yet.
  private enum Network {
    case unreported
    case reported(NetworkState?)
  }

  private var waiters: [ID: Waiter] = [:]
  private var network = Network.unreported
  private var latest: ID = 0

  var isEmpty: Bool { waiters.isEmpty }
  var count: Int { waiters.count }

  /// The earliest time at which any waiter continues or times out. Nil if there is no such time.
  var nextTime: Instant? {
    waiters.values.reduce(nil as Instant?) { Self.earlier($0, $1.nextTime) }
  }

  /// Returns the earliest time at which one waiter continues or times out. Returns nil if there is no such time, or no such waiter.
  func nextTime(of id: ID) -> Instant? { waiters[id].flatMap(\.nextTime) }

  private static func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }

  /// Adds a waiter, and returns its identifier.
  ///
  /// - Parameters:
  ///   - condition: A closure that returns whether the network has a path for the waiter.
  ///   - attempts: The number of consecutive attempts to connect that the waiter has made after earlier waits, and that have
  ///     failed.
  ///   - limit: The maximum time to wait, or nil for no limit.
  ///   - now: The current time.
  ///   - resume: A closure that is called when the waiter continues or times out.
  mutating func add(
    until condition: @escaping Condition, attempts: Int, limit: Duration?, now: Instant,
    resume: @escaping @Sendable (PathWait.Outcome) -> Void
  ) -> ID {
    latest += 1
    var waiter = Waiter(
      condition: condition, earliest: now + Self.pause(after: attempts), end: limit.map { now + $0 }, resume: resume)
    if case .reported(let state) = network, condition(state) {
      waiter.release = waiter.earliest
      waiter.awaitsDefaultRoute = Self.lacksDefaultRoute(state)
    }
    waiters[latest] = waiter
    return latest
  }

  /// Removes a waiter from the list without resuming it.
  mutating func remove(_ id: ID) {
    waiters[id] = nil
    if waiters.isEmpty { network = .unreported }
  }

  /// Updates the times at which waiters continue, after the network's state has changed. `random` returns a number in 0..<1, with
  /// which the times are varied.
  mutating func networkChanged(_ state: NetworkState?, now: Instant, random: () -> Double) {
    let isFirstReport = if case .unreported = network { true } else { false }
    let lacksDefaultRoute = Self.lacksDefaultRoute(state)
    network = .reported(state)
    let ready = waiters.keys.sorted().filter { waiters[$0]?.condition(state) == true }
    let readySet = Set(ready)
    for id in waiters.keys where !readySet.contains(id) {
      waiters[id]?.release = nil
      waiters[id]?.awaitsDefaultRoute = false
    }
    let fresh = ready.filter { id in
      guard let waiter = waiters[id] else { return false }
      return waiter.release == nil || (waiter.awaitsDefaultRoute && !lacksDefaultRoute)
    }
    let step = min(Self.spreadStep, Self.spreadMax / max(fresh.count, 1))
    for (index, id) in fresh.enumerated() {
      guard var waiter = waiters[id] else { continue }
      // The first waiter continues immediately, so that a single waiter isn't delayed.
      let offset = index == 0 ? .zero : step * (Double(index) + random())
      if let release = waiter.release {
        // The pause ends, because a default route has appeared.
        waiter.release = min(release, now + offset)
        waiter.awaitsDefaultRoute = false
      } else {
        waiter.release = max(waiter.earliest, now + offset)
        waiter.awaitsDefaultRoute = isFirstReport && lacksDefaultRoute
      }
      waiters[id] = waiter
    }
  }

  /// Removes the waiters that continue or time out at `now` or earlier. Returns the closures that resume these waiters, in the
  /// order in which the waiters were added.
  mutating func takeDue(now: Instant) -> [@Sendable () -> Void] {
    var calls: [@Sendable () -> Void] = []
    for id in waiters.keys.sorted() {
      guard let waiter = waiters[id] else { continue }
      let outcome: PathWait.Outcome
      if let release = waiter.release, release <= now {
        outcome = .path
      } else if let end = waiter.end, end <= now {
        outcome = .timedOut
      } else {
        continue
      }
      waiters[id] = nil
      calls.append { waiter.resume(outcome) }
    }
    if waiters.isEmpty { network = .unreported }
    return calls
  }

  /// Returns whether the network certainly has no default route. False if the network's state can't be read.
  private static func lacksDefaultRoute(_ state: NetworkState?) -> Bool {
    state.map { $0.path(to: nil) == nil } ?? false
  }

  private static func pause(after attempts: Int) -> Duration {
    guard attempts > 0 else { return .zero }
    // With 2⁷ times the minimum pause, the maximum is already exceeded.
    return min(pauseMin * (1 << min(attempts - 1, 7)), pauseMax)
  }
}
