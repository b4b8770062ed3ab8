// Slots: an array of values whose indexes never change. New values take the places of removed ones.

/// An array of values whose indexes never change. New values take the places of removed ones. The caller must know which places
/// are in use.
struct Slots<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var free: [Int] = []

  /// The number of places in use.
  var count: Int { elements.count - free.count }
  /// One more than the largest index that has ever been used.
  var upperBound: Int { elements.count }

  // Yielding accessors change an element in place, so that the element's storage isn't copied.
  subscript(slot: Int) -> Element {
    _read { yield elements[slot] }
    _modify { yield &elements[slot] }
  }

  /// Stores a value in a free place and returns its index.
  mutating func insert(_ element: Element) -> Int {
    guard let slot = free.popLast() else {
      elements.append(element)
      return elements.count - 1
    }
    elements[slot] = element
    return slot
  }

  /// Frees the place of a value, and overwrites the value with `blank`.
  mutating func remove(_ slot: Int, leaving blank: Element) {
    elements[slot] = blank
    free.append(slot)
  }
}
