// Lists from whose middle something can be taken in O(1), without an allocation for each element.

/// Any number of doubly linked lists of slots; a slot stands in at most one of them.
struct LinkedLists: Sendable {
  /// One list's ends.
  struct List: Sendable {
    fileprivate(set) var count = 0
    fileprivate var ends = Link()  // `next` is the first, `previous` the last, as in a ring

    var first: Int? { ends.next.slot }
    var last: Int? { ends.previous.slot }
    var isEmpty: Bool { count == 0 }
  }

  /// Half the size of two `Int?`; -1 stands for none.
  fileprivate struct Link: Sendable {
    var previous: Int32 = -1
    var next: Int32 = -1
  }

  private var links: [Link] = []

  /// Which slot follows in its list.
  func next(after slot: Int) -> Int? { links[slot].next.slot }

  /// Which slot precedes in its list.
  func previous(before slot: Int) -> Int? { links[slot].previous.slot }

  /// Puts a slot that stands in none of the lists at the end of one.
  mutating func append(_ slot: Int, to list: inout List) {
    while links.count <= slot { links.append(Link()) }
    let last = list.ends.previous
    links[slot] = Link(previous: last, next: -1)
    if last >= 0 { links[Int(last)].next = Int32(slot) } else { list.ends.next = Int32(slot) }
    list.ends.previous = Int32(slot)
    list.count += 1
  }

  /// Takes a slot out of the list that it stands in.
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
