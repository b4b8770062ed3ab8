// A table by the names that the pool gives to connections.

/// What stands for the pool's connections, in the slots that it has numbered: to find it takes no search.
struct ConnectionTable<Element> {
  private var places: [(id: ConnectionID, element: Element)?] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var values: [Element] { places.compactMap { $0?.element } }

  /// What has that name, which may be an old one whose slot was given to another; nil removes it.
  subscript(id: ConnectionID) -> Element? {
    get {
      guard id.slot < places.count, let place = places[id.slot], place.id == id else { return nil }
      return place.element
    }
    set {
      let isThere = self[id] != nil
      if let newValue {
        while places.count <= id.slot { places.append(nil) }
        precondition(isThere || places[id.slot] == nil, "a slot is given away that is taken")
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
