// Liveness: a flag that tells other threads whether the result of their work is still needed.

internal import Synchronization

/// A flag that any thread can read: whether something that requested work, such as a host lookup, still exists. After `end()`, it
/// never becomes true again.
package final class Liveness: Sendable {
  private let flag = Atomic(true)

  package init() {}

  package var isAlive: Bool { flag.load(ordering: .relaxed) }

  package func end() { flag.store(false, ordering: .relaxed) }
}
