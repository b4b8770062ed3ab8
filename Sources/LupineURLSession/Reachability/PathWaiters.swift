// PathWaiters: resumes waiters for a network, with one watch of the kernel's links for all of them.

import Dispatch
package import LupineEngine
import Synchronization

/// The source of reports about a network: the kernel, or a test.
package struct NetworkSource: Sendable {
  package typealias Handler = @Sendable (NetworkState?) -> Void

  /// The machine's network, as the kernel reports it by netlink.
  package static let system = NetworkSource(
    current: { try? NetworkState.current() },
    watch: { handler in try? NetworkWatch { handler(try? $0.get()) } })

  /// Returns the network's current state, or nil if it can't be read.
  package let current: @Sendable () -> NetworkState?
  /// Starts to report the network's state, soon after the call and after each change. Returns an object whose release ends the
  /// reports, or nil if changes can't be observed.
  package let watch: @Sendable (_ handler: @escaping Handler) -> (any AnyObject & Sendable)?

  package init(
    current: @escaping @Sendable () -> NetworkState?,
    watch: @escaping @Sendable (_ handler: @escaping Handler) -> (any AnyObject & Sendable)?
  ) {
    (self.current, self.watch) = (current, watch)
  }

  /// Returns whether the network is known to have no default route. The name servers are then out of reach, unless they are in
  /// a network of the machine's own links.
  func isOffline() -> Bool { current().map { $0.path(to: nil) == nil } ?? false }
}

/// A wait for a network. Releasing the object ends the wait without calling the `resume` closure.
package final class PathWait: Sendable {
  package enum Outcome: Sendable {
    /// The network has a path.
    case path
    /// The maximum time to wait has passed.
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

/// Resumes waiters when the network has a path. The network is watched only while there are waiters.
package final class PathWaiters: Sendable {
  /// The waiters of all sessions and retriers, for the machine's network.
  package static let shared = PathWaiters(source: .system)

  private struct State {
    var list = PathWaitList()
    var watch: (any AnyObject & Sendable)?
    /// The number of watches so far, by which a late report of an earlier watch is recognized.
    var watchCount = 0
    /// The time for which the timer is set, or nil if it isn't set.
    var timer: Instant?
  }

  package let source: NetworkSource
  private let queue = DispatchQueue(label: "lupine.network.waiters")
  private let state = Mutex(State())

  package init(source: NetworkSource) { self.source = source }

  /// Calls `resume` on an internal queue when the network has a path, or when `limit` has passed. Release the result to end
  /// the wait.
  ///
  /// - Parameters:
  ///   - attempts: The number of attempts that have failed after earlier waits.
  ///   - limit: The maximum time to wait, or nil for no limit.
  ///   - condition: Returns whether a network has a path. Its argument is nil if the network's state can't be read.
  ///   - resume: Called at most once, with the outcome of the wait.
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
    schedule()
    return PathWait(self, id)
  }

  private func startWatching(_ count: Int) {
    let watch = source.watch { [weak self] network in self?.networkChanged(network, count) }
    guard let watch else { return networkChanged(nil, count) }
    // If all waiters have left in the meantime, the watch is released, outside the lock.
    _ = state.withLock { state -> (any AnyObject & Sendable)? in
      guard state.watchCount == count, !state.list.isEmpty else { return watch }
      state.watch = watch
      return nil
    }
  }

  fileprivate func remove(_ id: PathWaitList.ID) {
    release(
      state.withLock { state in
        state.list.remove(id)
        return Self.takeUnneededWatch(&state)
      })
  }

  private func networkChanged(_ network: NetworkState?, _ count: Int) {
    state.withLock { state in
      guard state.watchCount == count else { return }
      state.list.networkChanged(network, now: .now) { .random(in: 0..<1) }
    }
    schedule()
  }

  /// The minimum time between two calls of the timer: 10 ms, so that even thousands of waiters cost at most a hundred calls per
  /// second.
  private static let timerPause = Duration.milliseconds(10)

  /// Sets the timer for the next waiter, unless it is already set for that time or an earlier one. `earliest` is the earliest
  /// time for which it may be set.
  private func schedule(earliest: Instant = Instant(nanoseconds: 0)) {
    let time = state.withLock { state -> Instant? in
      guard let next = state.list.nextTime.map({ max($0, earliest) }), next < state.timer ?? Instant(nanoseconds: .max)
      else { return nil }
      state.timer = next
      return next
    }
    guard let time else { return }
    let (seconds, attoseconds) = (time - .now).components
    let delay = DispatchTimeInterval.nanoseconds(Int(clamping: seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.fire(time) }
  }

  private func fire(_ time: Instant) {
    let (calls, watch) = state.withLock { state in
      if state.timer == time { state.timer = nil }
      let calls = state.list.takeDue(now: .now)
      return (calls, Self.takeUnneededWatch(&state))
    }
    release(watch)
    for call in calls { call() }
    schedule(earliest: .now + Self.timerPause)
  }

  private static func takeUnneededWatch(_ state: inout State) -> (any AnyObject & Sendable)? {
    state.list.isEmpty ? state.watch.take() : nil
  }

  /// Releases a watch. Called outside the lock.
  private func release(_ watch: (any AnyObject & Sendable)?) { _ = watch }
}
