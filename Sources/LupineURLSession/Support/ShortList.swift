// ShortList: a list for items that usually exist once, such as a request's tasks, metrics and handlers.

/// An array that allocates nothing as long as it has one element.
package enum ShortList<Element>: RandomAccessCollection, ExpressibleByArrayLiteral {
  case none
  case one(Element)
  case more([Element])

  @inlinable package init(arrayLiteral elements: Element...) {
    self = elements.isEmpty ? .none : .more(elements)
  }

  @inlinable package var startIndex: Int { 0 }

  @inlinable package var endIndex: Int {
    switch self {
    case .none: 0
    case .one: 1
    case .more(let elements): elements.count
    }
  }

  @inlinable package subscript(index: Int) -> Element {
    switch self {
    case .one(let element) where index == 0: element
    case .more(let elements): elements[index]
    case .none, .one: preconditionFailure("no element \(index) in a list of \(count)")
    }
  }

  /// Calls `body` with each element; as a loop does, but without a copy of the list.
  @inlinable package func forEach(_ body: (Element) -> Void) {
    switch self {
    case .none: break
    case .one(let element): body(element)
    case .more(let elements): elements.forEach(body)
    }
  }

  @inlinable package mutating func append(_ element: consuming Element) {
    switch self {
    case .none: self = .one(element)
    case .one(let first): self = .more([first, element])
    case .more(var elements):
      // Releases the other reference, so that the array isn't copied.
      self = .none
      elements.append(element)
      self = .more(elements)
    }
  }
}

extension ShortList {
  /// Removes the first element and returns it; nil if there is none.
  @inlinable package mutating func popFirst() -> Element? {
    guard let first else { return nil }
    self = count == 1 ? .none : .more(Array(dropFirst()))
    return first
  }
}

extension ShortList: Sendable where Element: Sendable {}
