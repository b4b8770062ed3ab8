// State that threads block on until it changes. For blocking servers; a loop never waits like this.

internal import Glibc

/// A value under a lock, whose every change wakes the threads that wait for it.
package final class Condition<State: Sendable>: Sendable {
  // SAFETY: read and written only between locking and unlocking `mutex`.
  nonisolated(unsafe) private var value: State
  // SAFETY: neither pointer changes, and what they point to is made for several threads.
  nonisolated(unsafe) private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  nonisolated(unsafe) private let changed: UnsafeMutablePointer<pthread_cond_t>

  /// Creates it with the value to begin with.
  package init(_ value: State) {
    self.value = value
    // SAFETY: both must stay at one address while they are in use, so they live on the heap until deinit.
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // The clock of `Instant`.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    // SAFETY: a thread that waits holds a reference, so nobody waits any more.
    pthread_cond_destroy(changed)
    changed.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// A copy of the present value.
  package var state: State {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return value
  }

  /// Changes the value, and wakes whoever waits. `body` must not use this object.
  package func update<Result>(_ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    pthread_cond_broadcast(changed)
    return body(&value)
  }

  /// Blocks until the value is as wanted, at most until `deadline` (nil: for ever). Returns whether it is.
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
