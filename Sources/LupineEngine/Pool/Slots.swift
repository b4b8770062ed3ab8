// Room for values that come and go, addressed by small numbers that stay the same while they are there.

/// An array whose free places are used again. Its user has to know which places are taken.
struct Slots<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var free: [Int] = []

  /// How many places are taken.
  var count: Int { elements.count - free.count }
  /// Every place is below it.
  var upperBound: Int { elements.count }

  // Accessors that yield, so that an element is read and changed where it stands, and what it refers to isn't copied.
  subscript(slot: Int) -> Element {
    _read { yield elements[slot] }
    _modify { yield &elements[slot] }
  }

  /// Puts a value into a free place.
  mutating func insert(_ element: Element) -> Int {
    guard let slot = free.popLast() else {
      elements.append(element)
      return elements.count - 1
    }
    elements[slot] = element
    return slot
  }

  /// Frees a place, and leaves `blank` there.
  mutating func remove(_ slot: Int, leaving blank: Element) {
    elements[slot] = blank
    free.append(slot)
  }
}
