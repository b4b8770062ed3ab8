// ShortList: an array that usually has one element, such as the tasks of a request.

/// An array that doesn't allocate memory while it has at most one element.
///
/// The type is `@usableFromInline` because otherwise the compiler doesn't specialize a `package` type in other modules. The
/// unspecialized code doubled the cost of a request.
@usableFromInline package enum ShortList<Element>: RandomAccessCollection, ExpressibleByArrayLiteral {
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

  /// Calls `body` with each element, in order. Unlike a `for` loop, this doesn't copy the list.
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
      // Removes this list's reference to the array, so that appending an element doesn't copy the array (copy on write).
      self = .none
      elements.append(element)
      self = .more(elements)
    }
  }
}

extension ShortList {
  /// Removes and returns the last element, or returns nil if the list is empty.
  @inlinable package mutating func popLast() -> Element? {
    // Moves the elements out of the list instead of copying them.
    var list = ShortList.none
    swap(&list, &self)
    switch consume list {
    case .none: return nil
    case .one(let element): return element
    case .more(var elements):
      let last = elements.popLast()
      self = elements.isEmpty ? .none : .more(elements)
      return last
    }
  }

  /// Removes and returns the first element, or returns nil if the list is empty.
  @inlinable package mutating func popFirst() -> Element? {
    // Moves the usual single element out of the list instead of copying it.
    var list = ShortList.none
    swap(&list, &self)
    switch consume list {
    case .none: return nil
    case .one(let element): return element
    case .more(let elements):
      self = elements.count > 1 ? .more(Array(elements.dropFirst())) : .none
      return elements.first
    }
  }
}

extension ShortList: Sendable where Element: Sendable {}
