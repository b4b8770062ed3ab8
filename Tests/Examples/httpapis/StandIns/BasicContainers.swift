// BasicContainers: what the conformance uses of swift-collections' module of that name.

public import ContainersPreview

/// An array that can't be copied.
public struct UniqueArray<Element>: RangeReplaceableContainer, ~Copyable {
  /// Takes bytes from an array.
  public struct SubrangeConsumer: Drain, ~Copyable {
    var rest: [UInt8]

    /// Returns at most three bytes, so that a container has several pieces.
    public mutating func drainNext() -> Piece {
      let piece = Array(rest.prefix(3))
      rest.removeFirst(piece.count)
      return Piece(piece)
    }
  }

  /// The items.
  public var items: [Element]

  /// Creates an array.
  public init(_ items: [Element] = []) { self.items = items }

  /// The number of items.
  public var count: Int { items.count }

  /// Appends copies of the items.
  public mutating func append(copying span: Span<Element>) {
    for index in span.indices { items.append(span[index]) }
  }
}

extension UniqueArray.SubrangeConsumer {
  /// A byte.
  public typealias Element = UInt8
}

extension UniqueArray {
  /// Takes all items, which must be bytes.
  public mutating func consumeAll() -> SubrangeConsumer {
    defer { items = [] }
    return SubrangeConsumer(rest: items.compactMap { $0 as? UInt8 })
  }
}
