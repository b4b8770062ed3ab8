// SerialTable: a hash table with serial numbers as keys.

/// A hash table whose keys are serial numbers that the engine assigns.
///
/// Peers can't choose the keys, so the table avoids the cost of a dictionary's protection against chosen keys. The hash is the
/// upper bits of a product, and collisions use the next free place (linear probing).
struct SerialTable<Value> {
  private var places: [(serial: UInt64, value: Value)?]
  private(set) var count = 0

  /// The minimum number of places in the table: 16. At least a quarter of the places are always free, so a search ends soon.
  private static var placeCountMin: Int { 16 }
  /// The factor by which the hash function multiplies a serial number: 2⁶⁴ divided by the golden ratio, which spreads consecutive
  /// numbers widely.
  private static var multiplier: UInt64 { 0x9E37_79B9_7F4A_7C15 }

  init() {
    places = Array(repeating: nil, count: Self.placeCountMin)
  }

  var isEmpty: Bool { count == 0 }
  var values: [Value] { places.compactMap { $0?.value } }
  var serials: [UInt64] { places.compactMap { $0?.serial } }

  /// The value whose key is this serial number, or nil if there is none. Setting nil removes the value.
  subscript(serial: UInt64) -> Value? {
    get {
      guard let position = position(of: serial) else { return nil }
      return places[position]?.value
    }
    set {
      let position = position(of: serial)
      if let newValue {
        if let position { places[position] = (serial, newValue) } else { insert(newValue, serial) }
      } else if let position {
        remove(at: position)
      }
    }
  }

  mutating func removeAll() {
    self = SerialTable()
  }

  private func home(of serial: UInt64) -> Int {
    Int(truncatingIfNeeded: (serial &* Self.multiplier) >> UInt64(64 - places.count.trailingZeroBitCount))
  }

  private func position(of serial: UInt64) -> Int? {
    var position = home(of: serial)
    while let place = places[position] {
      if place.serial == serial { return position }
      position = (position + 1) & (places.count - 1)
    }
    return nil
  }

  private mutating func insert(_ value: consuming Value, _ serial: UInt64) {
    if (count + 1) * 4 > places.count * 3 { grow() }
    place(value, serial)
    count += 1
  }

  private mutating func place(_ value: consuming Value, _ serial: UInt64) {
    var position = home(of: serial)
    while places[position] != nil { position = (position + 1) & (places.count - 1) }
    places[position] = (serial, value)
  }

  private mutating func grow() {
    let before = places
    places = Array(repeating: nil, count: before.count * 2)
    for case let (serial, value)? in before { place(value, serial) }
  }

  // Removes the value and closes the gap: moves each following entry into the hole if a search for it would end there.
  private mutating func remove(at removed: Int) {
    let mask = places.count - 1
    var hole = removed
    var position = (hole + 1) & mask
    places[hole] = nil
    while let place = places[position] {
      let distance = (position - home(of: place.serial)) & mask
      if distance >= (position - hole) & mask {
        places[hole] = place
        places[position] = nil
        hole = position
      }
      position = (position + 1) & mask
    }
    count -= 1
  }
}
