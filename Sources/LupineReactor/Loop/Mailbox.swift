// Mailbox: ordered messages from any thread to an event loop.

public import Synchronization

/// A queue with several senders and one reader, which takes all messages at once.
///
/// The type is inlinable, and public with `@_spi(Loop)`, for the reason given at `RankedQueue`.
@_spi(Loop) public final class Mailbox<Message: Sendable>: Sendable {
  @usableFromInline let messages = Mutex<[Message]>([])
  /// Whether there are messages. The reader, which asks for messages several times in each iteration, takes the lock only if so.
  @usableFromInline let hasMessages = Atomic(false)

  /// Creates an empty mailbox.
  @inlinable public init() {}

  /// Appends a message. Returns whether the mailbox was empty, in which case the caller must wake the reader.
  @inlinable public func post(_ message: consuming Message) -> Bool {
    // The message is moved through a variable, because the lock's closure can't consume a parameter.
    var pending: Message? = message
    return messages.withLock {
      if let message = pending.take() { $0.append(message) }
      // Sequentially consistent, like its reader: a sender that then finds that the reader has closed can rely on either of the two
      // to find the message.
      if $0.count == 1 { hasMessages.store(true, ordering: .sequentiallyConsistent) }
      return $0.count == 1
    }
  }

  /// Replaces the contents of `array` with all messages and empties the mailbox. The mailbox takes over the array's storage, so
  /// that neither allocates again.
  @inlinable public func drain(into array: inout [Message]) {
    if !array.isEmpty { array.removeAll(keepingCapacity: true) }
    guard hasMessages.load(ordering: .sequentiallyConsistent) else { return }
    // The array is moved out and back, because the lock's closure can't capture an inout parameter.
    var empty = array
    array = []
    messages.withLock {
      swap(&$0, &empty)
      hasMessages.store(false, ordering: .relaxed)
    }
    array = empty
  }
}
