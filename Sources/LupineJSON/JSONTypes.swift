// JSONTypes: the types whose values are decoded and encoded without their initializers and methods.

/// Remembers which types are dictionaries with strings as keys, because asking the runtime takes longer than decoding a number.
struct JSONTypes {
  // The addresses of types, with 1 added for dictionaries. A type has one place, and replaces another one there.
  private var places = InlineArray<16, UInt>(repeating: 0)

  @inline(__always)
  mutating func isDictionary(_ type: ObjectIdentifier, _ ask: () -> Bool) -> Bool {
    let address = UInt(bitPattern: type)
    let place = Int(truncatingIfNeeded: (address >> 4 ^ address >> 10) & 15)
    let known = places[place]
    if known & ~1 == address { return known & 1 != 0 }
    let answer = ask()
    places[place] = address | (answer ? 1 : 0)
    return answer
  }
}

/// Remembers which types decode themselves from the tape, for the same reason.
struct JSONCollectionTypes {
  private var places = InlineArray<16, (type: ObjectIdentifier, collection: (any JSONCollection.Type)?)?>(
    repeating: nil)

  @inline(__always)
  mutating func collection<T>(_ type: T.Type) -> (any JSONCollection.Type)? {
    let identifier = ObjectIdentifier(type)
    let address = UInt(bitPattern: identifier)
    let place = Int(truncatingIfNeeded: (address >> 4 ^ address >> 10) & 15)
    if let known = places[place], known.type == identifier { return known.collection }
    let collection = type as? any JSONCollection.Type
    places[place] = (identifier, collection)
    return collection
  }
}

/// The types that dictionaries read and write without an encoder or decoder for each value.
enum JSONScalar {
  case int, string, double, bool

  init?(_ type: Any.Type) {
    switch ObjectIdentifier(type) {
    case ObjectIdentifier(Int.self): self = .int
    case ObjectIdentifier(String.self): self = .string
    case ObjectIdentifier(Double.self): self = .double
    case ObjectIdentifier(Bool.self): self = .bool
    default: return nil
    }
  }
}
