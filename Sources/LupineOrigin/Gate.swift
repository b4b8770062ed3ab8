// Gate: a latch with which a test and its server's threads wait for each other without sleeping.

internal import LupineLoopback
internal import LupineReactor
internal import Synchronization

/// A latch that starts closed and can be opened once. Threads and tasks can wait until it is open.
package final class Gate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var waiters: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  /// Creates a closed gate.
  package init() {}

  /// Whether `open` has been called.
  package var isOpen: Bool { state.withLock { $0.isOpen } }

  /// Opens the gate, so that all threads and tasks that wait for it continue, now and later. Further calls have no effect.
  package func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      return exchange(&state.waiters, with: [])
    }
    for waiter in waiters { waiter() }
  }

  /// Blocks the thread until the gate is open. A server's handlers must use `Peer.wait(for:)` instead, which also returns when the
  /// server stops.
  package func waitBlocking() {
    Gate.waitBlocking(forAnyOf: [self])
  }

  /// Waits until the gate is open or the task is cancelled.
  package func wait() async {
    let passed = Gate()
    whenOpen { passed.open() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in passed.whenOpen { continuation.resume() } }
    } onCancel: {
      passed.open()
    }
  }

  /// Blocks the thread until at least one of the gates is open.
  static func waitBlocking(forAnyOf gates: [Gate]) {
    let isPassed = Condition(false)
    for gate in gates { gate.whenOpen { isPassed.update { $0 = true } } }
    _ = isPassed.wait { $0 }
  }

  /// Calls `body` once: immediately if the gate is open, and otherwise on the thread that opens the gate.
  private func whenOpen(_ body: @escaping @Sendable () -> Void) {
    let isOpen = state.withLock { state in
      if !state.isOpen { state.waiters.append(body) }
      return state.isOpen
    }
    if isOpen { body() }
  }
}
