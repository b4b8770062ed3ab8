// KeyConversions: converted keys of a document, because the objects of a list usually have the same keys.

struct KeyConversions: ~Copyable {
  /// The number of keys that are remembered is at most 2^7. A key has one place, which depends on its hash. A remembered key stays,
  /// because its conversion may be in use.
  private static let placeBits: UInt64 = 7
  /// The largest length of a remembered key and of its conversion, in bytes.
  private static let bytesMax = 64

  // A place has a key, followed by its conversion. Both lengths of an unused place are 0.
  private var places: UnsafeMutablePointer<UInt8>?
  private var lengths: [(key: UInt8, converted: UInt8)] = []

  deinit { places?.deallocate() }

  /// Returns the conversion of a key, by `convert` if it isn't remembered. A remembered one stays valid.
  @inline(__always)
  mutating func converted(_ key: JSONBytes, _ convert: () -> JSONBytes) -> JSONBytes {
    guard key.count > 0, key.count <= Self.bytesMax else { return convert() }
    let place = Int(truncatingIfNeeded: key.weakHash >> (64 - Self.placeBits))
    if let places {
      // SAFETY: there are as many places as hashes, each with room for a key and a conversion.
      let start = UnsafePointer(places + place * 2 * Self.bytesMax)
      let length = lengths[place]
      if JSONBytes(start: start, count: Int(length.key)).equals(key) {
        return JSONBytes(start: start + Self.bytesMax, count: Int(length.converted))
      }
      if length.key != 0 { return convert() }
    }
    return remember(key, convert(), at: place)
  }

  private mutating func remember(_ key: JSONBytes, _ converted: JSONBytes, at place: Int) -> JSONBytes {
    guard converted.count <= Self.bytesMax else { return converted }
    if places == nil {
      places = .allocate(capacity: 2 * Self.bytesMax << Int(Self.placeBits))
      lengths = Array(repeating: (0, 0), count: 1 << Int(Self.placeBits))
    }
    guard let places else { return converted }
    let start = places + place * 2 * Self.bytesMax
    // SAFETY: the place is unused, and both lengths are at most those of its parts.
    start.update(from: key.start, count: key.count)
    (start + Self.bytesMax).update(from: converted.start, count: converted.count)
    lengths[place] = (UInt8(key.count), UInt8(converted.count))
    return JSONBytes(start: start + Self.bytesMax, count: converted.count)
  }
}
