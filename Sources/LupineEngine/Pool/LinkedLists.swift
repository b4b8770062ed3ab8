// LinkedLists: doubly linked lists of slots. Removing any element takes O(1), and elements need no separate allocations.

/// Any number of doubly linked lists whose elements are slots: small numbers, such as indexes of an array. A slot is in at most one
/// of the lists.
struct LinkedLists: Sendable {
  /// A list: the slots of its first and last element, and the number of its elements.
  struct List: Sendable {
    fileprivate(set) var count = 0
    fileprivate var ends = Link()  // As in a ring, `next` is the list's first slot, and `previous` its last.

    var first: Int? { ends.next.slot }
    var last: Int? { ends.previous.slot }
    var isEmpty: Bool { count == 0 }
  }

  /// The slots before and after a slot in its list. -1 stands for none. This takes half the space of two `Int?`.
  fileprivate struct Link: Sendable {
    var previous: Int32 = -1
    var next: Int32 = -1
  }

  private var links: [Link] = []

  /// Returns the slot after `slot` in its list, or nil if `slot` is the last.
  func next(after slot: Int) -> Int? { links[slot].next.slot }

  /// Returns the slot before `slot` in its list, or nil if `slot` is the first.
  func previous(before slot: Int) -> Int? { links[slot].previous.slot }

  /// Appends a slot to a list. The slot must not be in any list.
  mutating func append(_ slot: Int, to list: inout List) {
    while links.count <= slot { links.append(Link()) }
    let last = list.ends.previous
    links[slot] = Link(previous: last, next: -1)
    if last >= 0 { links[Int(last)].next = Int32(slot) } else { list.ends.next = Int32(slot) }
    list.ends.previous = Int32(slot)
    list.count += 1
  }

  /// Inserts a slot after `predecessor`, which must be in the list, or at the start of the list if `predecessor` is nil. The slot
  /// must not be in any list.
  mutating func insert(_ slot: Int, after predecessor: Int?, in list: inout List) {
    let next = predecessor.map { links[$0].next } ?? list.ends.next
    guard next >= 0 else { return append(slot, to: &list) }
    while links.count <= slot { links.append(Link()) }
    links[slot] = Link(previous: predecessor.map { Int32($0) } ?? -1, next: next)
    links[Int(next)].previous = Int32(slot)
    if let predecessor { links[predecessor].next = Int32(slot) } else { list.ends.next = Int32(slot) }
    list.count += 1
  }

  /// Removes a slot from `list`, which must contain it.
  mutating func remove(_ slot: Int, from list: inout List) {
    let link = links[slot]
    if link.previous >= 0 { links[Int(link.previous)].next = link.next } else { list.ends.next = link.next }
    if link.next >= 0 { links[Int(link.next)].previous = link.previous } else { list.ends.previous = link.previous }
    links[slot] = Link()
    list.count -= 1
  }
}

extension Int32 {
  fileprivate var slot: Int? { self < 0 ? nil : Int(self) }
}
