// ConnectionTable: a table of values by connection ID.

/// A table of values by connection ID. It stores each value at the index of the connection's slot, so a lookup needs no search.
struct ConnectionTable<Element> {
  private var places: [(id: ConnectionID, element: Element)?] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var values: [Element] { places.compactMap { $0?.element } }

  /// The value for this connection ID. Nil if there is none, or if the ID is stale because another connection uses its slot.
  /// Setting nil removes the value.
  subscript(id: ConnectionID) -> Element? {
    get {
      guard id.slot < places.count, let place = places[id.slot], place.id == id else { return nil }
      return place.element
    }
    set {
      let isThere = self[id] != nil
      if let newValue {
        while places.count <= id.slot { places.append(nil) }
        precondition(isThere || places[id.slot] == nil, "the slot is already taken")
        places[id.slot] = (id, newValue)
        if !isThere { count += 1 }
      } else if isThere {
        places[id.slot] = nil
        count -= 1
      }
    }
  }

  mutating func removeAll() {
    places = []
    count = 0
  }
}
