// Mailbox: ordered messages from any thread to an event loop.

public import Synchronization

/// A queue with several senders and one reader, which takes all messages at once.
///
/// The type is inlinable, and public with `@_spi(Loop)`, for the reason given at `DeadlineQueue`.
@_spi(Loop) public final class Mailbox<Message: Sendable>: Sendable {
  @usableFromInline let messages = Mutex<[Message]>([])

  /// Creates an empty mailbox.
  @inlinable public init() {}

  /// Appends a message. Returns whether the mailbox was empty, in which case the caller must wake the reader.
  @inlinable public func post(_ message: consuming Message) -> Bool {
    // The message is moved through a variable, because the lock's closure can't consume a parameter.
    var pending: Message? = message
    return messages.withLock {
      if let message = pending.take() { $0.append(message) }
      return $0.count == 1
    }
  }

  /// Replaces the contents of `array` with all messages and empties the mailbox. The mailbox takes over the array's storage, so
  /// that neither allocates again.
  @inlinable public func drain(into array: inout [Message]) {
    if !array.isEmpty { array.removeAll(keepingCapacity: true) }
    // The array is moved out and back, because the lock's closure can't capture an inout parameter.
    var empty = array
    array = []
    messages.withLock { swap(&$0, &empty) }
    array = empty
  }
}
