// `StreamOf`: the asynchronous sequences of a request's events.

import Foundation

/// A request's events as an asynchronous sequence, for `for await`.
///
/// Each iteration is independent and receives the events that occur after its start.
public struct StreamOf<Element>: AsyncSequence {
  /// The type of the sequence's iterators.
  public typealias AsyncIterator = Iterator
  /// The policy that determines which unread elements are kept. All other unread elements are dropped.
  public typealias BufferingPolicy = AsyncStream<Element>.Continuation.BufferingPolicy

  /// An element with the piece of the response body from which it was made, if there is one. The piece's bytes occupy the receive
  /// window until the element is read or dropped.
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

  /// Creates a sequence. `build` is called when an iteration begins, and `onTermination` when its iterator is released.
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
        // Empties the stream, because the source retains it. Otherwise, unread elements would retain pieces of the body, and the
        // server could never send more.
        Task { for await _ in items {} }
      }
      return Iterator(items: items.makeAsyncIterator(), end: end)
    }
  }

  /// Begins an iteration.
  public func makeAsyncIterator() -> Iterator { begin() }

  /// An iterator over the events that occur after its creation.
  public struct Iterator: AsyncIteratorProtocol {
    /// Calls a closure when the last copy of the iterator is released: after the last element, or when the loop is left.
    fileprivate final class End: Sendable {
      private let body: @Sendable () -> Void

      init(_ body: @escaping @Sendable () -> Void) { self.body = body }

      deinit { body() }
    }

    fileprivate var items: AsyncStream<Item>.AsyncIterator
    fileprivate let end: End

    /// Returns the next element. Suspends until there is one. Returns nil at the end of the sequence, and if the Swift task is
    /// cancelled.
    public mutating func next() async -> Element? { await items.next()?.element }

    /// Returns the next element. Suspends until there is one. Returns nil at the end of the sequence, and if the Swift task is
    /// cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await items.next(isolation: actor)?.element
    }
  }
}

extension StreamOf.Item: Sendable where Element: Sendable {}
extension StreamOf: Sendable where Element: Sendable {}

extension StreamOf.Continuation where Element: Sendable {
  /// Adds an element. The bytes of `piece` occupy the receive window until the element is read or dropped.
  func yield(_ element: Element, holding piece: StreamPiece? = nil) {
    items.yield(StreamOf.Item(element: element, hold: piece))
  }
}
