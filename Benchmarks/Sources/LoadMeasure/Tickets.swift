// How many requests are still to be sent, shared by whoever sends them.

internal import Synchronization

/// A number of tickets that any thread may take from.
public final class Tickets: Sendable {
  private let left: Atomic<Int>

  /// Creates that many.
  public init(_ count: Int) {
    left = Atomic(count)
  }

  /// Takes one; false if there was none left.
  public func take() -> Bool {
    left.subtract(1, ordering: .relaxed).newValue >= 0
  }
}
