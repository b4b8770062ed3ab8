// Messages for a loop, from any thread, in order.

public import Synchronization

/// A queue with many senders and one reader that takes everything at once.
///
/// Inlinable and public by `@_spi(Loop)` for the reason that `DeadlineQueue` gives.
@_spi(Loop) public final class Mailbox<Message: Sendable>: Sendable {
  @usableFromInline let messages = Mutex<[Message]>([])

  /// Creates an empty mailbox.
  @inlinable public init() {}

  /// Appends a message; returns whether the mailbox was empty, and its reader has to be woken.
  @inlinable public func post(_ message: Message) -> Bool {
    messages.withLock {
      $0.append(message)
      return $0.count == 1
    }
  }

  /// Exchanges the messages for an empty array, which keeps both arrays' memory in use.
  @inlinable public func take(into array: inout [Message]) {
    if !array.isEmpty { array.removeAll(keepingCapacity: true) }
    // Moved out and in again, since a lock's closure can't hold on to an inout array of the caller's.
    var empty = array
    array = []
    messages.withLock { swap(&$0, &empty) }
    array = empty
  }
}
