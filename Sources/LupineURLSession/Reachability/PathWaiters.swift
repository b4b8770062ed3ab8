// PathWaiters: resumes waiters for a network, with one watch of the kernel's links for all of them.

import Dispatch
package import LupineEngine
import Synchronization

/// The source of reports about a network's state: the kernel or, in tests, a simulation.
package struct NetworkSource: Sendable {
  package typealias Handler = @Sendable (NetworkState?) -> Void

  /// The network of this machine, whose state the kernel reports through netlink.
  package static let system = NetworkSource(
    current: { try? NetworkState.current() },
    watch: { handler in try? NetworkWatch { handler(try? $0.get()) } })

  /// A closure that returns the network's current state, or nil if it can't be read.
  package let current: @Sendable () -> NetworkState?
  /// A closure that starts to report the network's state to `handler`, soon after the call and then after each change. Releasing
  /// the returned object ends the reports. Returns nil if changes can't be observed.
  package let watch: @Sendable (_ handler: @escaping Handler) -> (any AnyObject & Sendable)?

  package init(
    current: @escaping @Sendable () -> NetworkState?,
    watch: @escaping @Sendable (_ handler: @escaping Handler) -> (any AnyObject & Sendable)?
  ) {
    (self.current, self.watch) = (current, watch)
  }

  /// Returns whether the network certainly has no default route. In this case, the machine can reach only name servers in the
  /// networks to which it is directly connected.
  func isOffline() -> Bool { current().map { $0.path(to: nil) == nil } ?? false }
}

/// A wait until the network has a path. Releasing this object ends the wait without calling the `resume` closure.
package final class PathWait: Sendable {
  package enum Outcome: Sendable {
    /// The wait has ended because the network has a path for the waiter.
    case path
    /// The wait has ended because the maximum time to wait has passed.
    case timedOut
  }

  private let waiters: PathWaiters
  private let id: PathWaitList.ID

  fileprivate init(_ waiters: PathWaiters, _ id: PathWaitList.ID) {
    self.waiters = waiters
    self.id = id
  }

  deinit { waiters.remove(id) }
}

/// Resumes waiters as soon as the network has a path for them. Watches the network only while there are waiters.
package final class PathWaiters: Sendable {
  /// The waiters for this machine's network. All sessions and retriers share this object.
  package static let shared = PathWaiters(source: .system)

  private struct State: ~Copyable {
    var list = PathWaitList()
    var watch: (any AnyObject & Sendable)?
    /// The number of times that the network has been watched, which is also the number of the latest watch. Late reports of earlier
    /// watches have lower numbers and are ignored.
    var watchCount = 0
    /// The time at which the timer will fire. Nil if the timer isn't set.
    var timer: Instant?
  }

  package let source: NetworkSource
  private let queue = DispatchQueue(label: "lupine.network.waiters")
  private let state = Mutex(State())

  package init(source: NetworkSource) { self.source = source }

  /// Calls `resume` on an internal queue when the network has a path, or when `limit` has passed. The caller must retain the
  /// returned object, because releasing it ends the wait.
  ///
  /// - Parameters:
  ///   - attempts: The number of consecutive attempts to connect that the caller has made after earlier waits, and that have
  ///     failed.
  ///   - limit: The maximum time to wait, or nil for no limit.
  ///   - condition: A closure that returns whether the network has a path for the waiter. Its argument is nil if the network's
  ///     state can't be read.
  ///   - resume: A closure that is called at most once, with the outcome of the wait.
  package func wait(
    attempts: Int, limit: Duration?, until condition: @escaping @Sendable (NetworkState?) -> Bool,
    resume: @escaping @Sendable (PathWait.Outcome) -> Void
  ) -> PathWait {
    let (id, watchCount) = state.withLock { state -> (PathWaitList.ID, Int?) in
      let isFirst = state.list.isEmpty
      let id = state.list.add(until: condition, attempts: attempts, limit: limit, now: .now, resume: resume)
      if isFirst { state.watchCount += 1 }
      return (id, isFirst ? state.watchCount : nil)
    }
    if let watchCount { startWatching(watchCount) }
    // The time of every other waiter has been scheduled already, so reading all of them again isn't necessary.
    schedule(only: id)
    return PathWait(self, id)
  }

  private func startWatching(_ count: Int) {
    let watch = source.watch { [weak self] network in self?.networkChanged(network, count) }
    guard let watch else { return networkChanged(nil, count) }
    // If there are no waiters left, the new watch of the network is released, outside the lock.
    let unneeded = state.withLock { state -> (any AnyObject & Sendable)? in
      guard state.watchCount == count, !state.list.isEmpty else { return watch }
      state.watch = watch
      return nil
    }
    withExtendedLifetime(unneeded) {}
  }

  fileprivate func remove(_ id: PathWaitList.ID) {
    // The watch is released outside the lock.
    let unneeded = state.withLock { state in
      state.list.remove(id)
      return Self.takeUnneededWatch(&state)
    }
    withExtendedLifetime(unneeded) {}
  }

  private func networkChanged(_ network: NetworkState?, _ count: Int) {
    state.withLock { state in
      // Without waiters, the watch is ending, and its reports are too old for the next waiter.
      guard state.watchCount == count, !state.list.isEmpty else { return }
      state.list.networkChanged(network, now: .now) { .random(in: 0..<1) }
    }
    schedule()
  }

  /// The minimum time between two firings of the timer: 10 ms. Even with thousands of waiters, the timer fires at most a hundred
  /// times per second.
  private static let timerPause = Duration.milliseconds(10)

  /// Sets the timer for the next time at which a waiter, or only the waiter `id`, continues or times out, but not earlier than
  /// `earliest`. Has no effect if the timer will already fire at that time or earlier.
  private func schedule(only id: PathWaitList.ID? = nil, earliest: Instant = Instant(nanoseconds: 0)) {
    let time = state.withLock { state -> Instant? in
      let first = if let id { state.list.nextTime(of: id) } else { state.list.nextTime }
      guard let next = first.map({ max($0, earliest) }), next < state.timer ?? Instant(nanoseconds: .max)
      else { return nil }
      state.timer = next
      return next
    }
    guard let time else { return }
    queue.asyncAfter(deadline: .after((time - .now) / .seconds(1))) { [weak self] in self?.fire(time) }
  }

  private func fire(_ time: Instant) {
    // The watch is released outside the lock.
    let (calls, _) = state.withLock { state in
      if state.timer == time { state.timer = nil }
      let calls = state.list.takeDue(now: .now)
      return (calls, Self.takeUnneededWatch(&state))
    }
    for call in calls { call() }
    schedule(earliest: .now + Self.timerPause)
  }

  private static func takeUnneededWatch(_ state: inout State) -> (any AnyObject & Sendable)? {
    state.list.isEmpty ? state.watch.take() : nil
  }
}
