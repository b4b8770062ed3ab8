// ContainersPreview: what the conformance uses of swift-collections' module of that name.

/// The next items of a container, as an `InputSpan` in the original.
public struct Piece: ~Copyable {
  private let bytes: [UInt8]

  /// Creates a piece.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether there are no more items.
  public var isEmpty: Bool { bytes.isEmpty }

  /// The items.
  public var span: Span<UInt8> {
    @_lifetime(borrow self) get { bytes.span }
  }
}

/// Takes the items of a container piece by piece.
public protocol Drain<Element>: ~Copyable {
  associatedtype Element: ~Copyable

  mutating func drainNext() -> Piece
}

/// A container to which items can be added, and from which they can be taken.
public protocol RangeReplaceableContainer<Element>: ~Copyable, ~Escapable {
  associatedtype Element: ~Copyable
  associatedtype SubrangeConsumer: Drain<Element> & ~Copyable

  var count: Int { get }

  mutating func consumeAll() -> SubrangeConsumer
}
