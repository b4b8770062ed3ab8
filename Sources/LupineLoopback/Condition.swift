// Condition: a value whose changes threads can await. It is for blocking servers; event loops never block.

internal import LupineLibc
package import LupineReactor

/// A value that is protected by a lock. Threads can wait until the value meets a condition, and each change of the value wakes all
/// of them.
package final class Condition<State: Sendable>: Sendable {
  // SAFETY: accessed only while `mutex` is locked.
  nonisolated(unsafe) private var value: State
  // SAFETY: the pointers never change, and several threads may use the objects that they point to.
  nonisolated(unsafe) private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  nonisolated(unsafe) private let changed: UnsafeMutablePointer<pthread_cond_t>

  /// Creates the object with an initial value.
  package init(_ value: State) {
    self.value = value
    // SAFETY: both objects must keep their address while in use, so they are on the heap until deinit.
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // Uses the clock of `Instant`.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    // SAFETY: a waiting thread holds a reference, so no thread waits at this point.
    pthread_cond_destroy(changed)
    changed.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// A copy of the current value.
  package var state: State {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return value
  }

  /// Changes the value and wakes all waiting threads. `body` must not use this object.
  package func update<Result>(_ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    pthread_cond_broadcast(changed)
    return body(&value)
  }

  /// Blocks the thread until `isMet` returns true for the value, or until `deadline` has passed. If `deadline` is nil, there is no
  /// limit. Returns whether `isMet` returned true.
  package func wait(until deadline: Instant? = nil, _ isMet: (State) -> Bool) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !isMet(value) {
      guard let deadline else {
        pthread_cond_wait(changed, mutex)
        continue
      }
      var time = timespec(
        tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
      if pthread_cond_timedwait(changed, mutex, &time) == ETIMEDOUT { return isMet(value) }
    }
    return true
  }
}
