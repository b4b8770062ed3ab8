// A latch between a test and the threads of its server, so that neither ever has to sleep.

internal import LupineReactor
internal import Synchronization

/// Closed until it is opened, once and for all. Threads and tasks can wait for that.
package final class Gate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var waiters: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  /// Creates a closed gate.
  package init() {}

  /// Whether `open` was called.
  package var isOpen: Bool { state.withLock { $0.isOpen } }

  /// Lets everybody pass who waits or will wait. Opening it again does nothing.
  package func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      let waiters = state.waiters
      state.waiters = []
      return waiters
    }
    for waiter in waiters { waiter() }
  }

  /// Blocks the thread until the gate is open. In a handler use `Peer.wait(for:)`, which ends with the server, too.
  package func waitBlocking() {
    Gate.waitBlocking(forAnyOf: [self])
  }

  /// Waits until the gate is open, or the task is cancelled.
  package func wait() async {
    let passed = Gate()
    whenOpen { passed.open() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in passed.whenOpen { continuation.resume() } }
    } onCancel: {
      passed.open()
    }
  }

  /// Blocks the thread until one of the gates is open.
  static func waitBlocking(forAnyOf gates: [Gate]) {
    let isPassed = Condition(false)
    for gate in gates { gate.whenOpen { isPassed.update { $0 = true } } }
    _ = isPassed.wait { $0 }
  }

  /// Calls `body` once: when the gate is opened, on the thread that does it, or now if it is open.
  private func whenOpen(_ body: @escaping @Sendable () -> Void) {
    let isOpen = state.withLock { state in
      if !state.isOpen { state.waiters.append(body) }
      return state.isOpen
    }
    if isOpen { body() }
  }
}
