// The asynchronous sequences in which a request's events are handed out.

import Foundation

/// What happens to a request, element by element, for `for await`.
///
/// Each iteration is one of its own: it gets what happens from then on.
public struct StreamOf<Element>: AsyncSequence {
  /// Goes from element to element.
  public typealias AsyncIterator = Iterator
  /// What becomes of elements that nobody has taken yet; those that it doesn't keep are lost.
  public typealias BufferingPolicy = AsyncStream<Element>.Continuation.BufferingPolicy

  /// An element, with the piece of a body that the server has to wait for until the element is taken or lost.
  fileprivate struct Item {
    let element: Element
    let hold: StreamPiece?
  }

  /// Where the elements of one iteration come from.
  struct Continuation: Sendable {
    fileprivate let items: AsyncStream<Item>.Continuation

    func finish() { items.finish() }
  }

  private let begin: @Sendable () -> Iterator

  /// Makes a sequence. `build` is called when an iteration begins, `onTermination` when its iterator is let go of.
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
        // Whoever yields keeps the stream, and with it what waits in there, which would hold the server back for ever.
        Task { for await _ in items {} }
      }
      return Iterator(items: items.makeAsyncIterator(), end: end)
    }
  }

  /// Begins an iteration.
  public func makeAsyncIterator() -> Iterator { begin() }

  /// One iteration.
  public struct Iterator: AsyncIteratorProtocol {
    /// Tells when the last copy of the iterator is gone: behind the last element, or when the loop was left.
    fileprivate final class End: Sendable {
      private let body: @Sendable () -> Void

      init(_ body: @escaping @Sendable () -> Void) { self.body = body }

      deinit { body() }
    }

    fileprivate var items: AsyncStream<Item>.AsyncIterator
    fileprivate let end: End

    /// The next element, once there is one; nil at the end, and when the task is cancelled.
    public mutating func next() async -> Element? { await items.next()?.element }

    /// The next element, once there is one; nil at the end, and when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await items.next(isolation: actor)?.element
    }
  }
}

extension StreamOf.Item: Sendable where Element: Sendable {}
extension StreamOf: Sendable where Element: Sendable {}

extension StreamOf.Continuation where Element: Sendable {
  /// Adds an element. The server waits for `piece` until the element is taken or lost.
  func yield(_ element: Element, holding piece: StreamPiece? = nil) {
    items.yield(StreamOf.Item(element: element, hold: piece))
  }
}
