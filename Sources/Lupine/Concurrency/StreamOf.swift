// `StreamOf`: the asynchronous sequences of a request's events.

import Foundation

/// A request's events as an asynchronous sequence, for `for await`.
///
/// Each iteration is independent and receives the events that occur after its start.
public struct StreamOf<Element>: AsyncSequence {
  /// The type of the iterators over this sequence.
  public typealias AsyncIterator = Iterator
  /// The policy that determines which unread elements are buffered. All other unread elements are dropped.
  public typealias BufferingPolicy = AsyncStream<Element>.Continuation.BufferingPolicy

  /// A buffered element and the piece of the response body from which the element was created, if any. The bytes of the piece
  /// occupy the receive window until the element is read or dropped.
  fileprivate struct Item {
    let element: Element
    let hold: StreamPiece?
  }

  /// Passes elements from the code that produces them to one iteration of the sequence.
  struct Continuation: Sendable {
    fileprivate let items: AsyncStream<Item>.Continuation

    func finish() { items.finish() }
  }

  private let begin: @Sendable () -> Iterator

  /// Creates a sequence. Each time that an iteration begins, `build` is called. When the iterator of that iteration is released,
  /// `onTermination` is called.
  init(
    bufferingPolicy: BufferingPolicy, onTermination: (@Sendable () -> Void)? = nil,
    build: @escaping @Sendable (Continuation) -> Void
  ) where Element: Sendable {
    let policy: AsyncStream<Item>.Continuation.BufferingPolicy =
      switch bufferingPolicy {
      case .bufferingOldest(let count): .bufferingOldest(count)
      case .bufferingNewest(let count): .bufferingNewest(count)
      default: .unbounded
      }
    begin = {
      let (items, continuation) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: policy)
      build(Continuation(items: continuation))
      let end = Iterator.End {
        continuation.finish()
        onTermination?()
        // Empties the stream, because the source retains the stream. Otherwise, unread elements would retain pieces of the body,
        // and the server could never send more.
        Task { for await _ in items {} }
      }
      return Iterator(items: items.makeAsyncIterator(), end: end)
    }
  }

  /// Begins a new iteration over the request's events, and returns its iterator.
  public func makeAsyncIterator() -> Iterator { begin() }

  /// An iterator over a request's events that occur after the iterator's creation.
  public struct Iterator: AsyncIteratorProtocol {
    /// Calls a closure when the last copy of the iterator is released. This happens after the last element, or when the loop is
    /// left.
    fileprivate final class End: Sendable {
      private let body: @Sendable () -> Void

      init(_ body: @escaping @Sendable () -> Void) { self.body = body }

      deinit { body() }
    }

    fileprivate var items: AsyncStream<Item>.AsyncIterator
    fileprivate let end: End

    /// Returns the next element, and suspends the caller until there is one. Returns nil at the end of the sequence, or if the
    /// calling Swift task is cancelled.
    public mutating func next() async -> Element? { await items.next()?.element }

    /// Returns the next element, and suspends the caller until there is one. Returns nil at the end of the sequence, or if the
    /// calling Swift task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await items.next(isolation: actor)?.element
    }
  }
}

extension StreamOf.Item: Sendable where Element: Sendable {}
extension StreamOf: Sendable where Element: Sendable {}

extension StreamOf.Continuation where Element: Sendable {
  /// Appends `element` to the sequence. The bytes of `piece` occupy the receive window until the element is read or dropped.
  func yield(_ element: Element, holding piece: StreamPiece? = nil) {
    items.yield(StreamOf.Item(element: element, hold: piece))
  }
}
