// JSONContainers: keyed containers that are used again for the next object with the same type of keys, because creating one takes
// longer than decoding or encoding several values: the runtime looks for the metadata of generic types, and allocates memory.

/// An object of a document, which a keyed container reads or writes.
class JSONContained {
  // The type of keys, and the container, while it may be used again. It refers to this object; `forgetContainer` ends the cycle.
  fileprivate final let keys: ObjectIdentifier
  @exclusivity(unchecked) private final var container: AnyObject?

  init(_ keys: ObjectIdentifier) { self.keys = keys }

  /// Whether nothing else refers to the container, so that it can be used for another object.
  @inline(__always)
  final var isFree: Bool { isKnownUniquelyReferenced(&container) }

  fileprivate final func keep<Container>(_ container: Container) {
    // SAFETY: a container of the standard library is a reference to an object, because it has the size of one and refers to a value
    // of any size.
    guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else { return }
    self.container = unsafeBitCast(container, to: AnyObject.self)
  }

  /// Returns the container, which is kept and has this type.
  @inline(__always)
  final func kept<Container>() -> Container {
    // SAFETY: `keep` has converted the container.
    unsafeBitCast(container, to: Container.self)
  }

  fileprivate final func forgetContainer() { container = nil }
}

/// A document's latest containers.
struct JSONContainers<Object: JSONContained>: ~Copyable {
  // A type of keys has one place. The first type keeps it, because types that replace each other would cost more than they save.
  private var places = InlineArray<8, Object?>(repeating: nil)
  // The bits of the types of keys for which `noteUse` was called.
  private var seen: UInt64 = 0
  private var isClosed = false

  @inline(__always)
  static func place(of keys: ObjectIdentifier) -> Int { Int(truncatingIfNeeded: hash(keys) & 7) }

  @inline(__always)
  private static func hash(_ keys: ObjectIdentifier) -> UInt {
    let address = UInt(bitPattern: keys)
    return address >> 4 ^ address >> 10
  }

  @inline(__always)
  subscript(place: Int) -> Object? { places[place] }

  /// Returns the object at a place if its container has this type of keys, and can be used for another object.
  @inline(__always)
  func free(_ keys: ObjectIdentifier, at place: Int) -> Object? {
    guard let object = places[place], object.keys == keys, object.isFree else { return nil }
    return object
  }

  /// Returns whether a container with this type of keys can be kept at the place.
  func accepts(_ keys: ObjectIdentifier, at place: Int) -> Bool { places[place].map { $0.keys == keys } ?? true }

  /// Notes that an object has this type of keys. Returns whether an earlier one had it. Wrong for few types, which have the bit of
  /// another one.
  mutating func noteUse(of keys: ObjectIdentifier) -> Bool {
    let bit: UInt64 = 1 << UInt64(Self.hash(keys) & 63)
    defer { seen |= bit }
    return seen & bit != 0
  }

  /// Remembers an object and its container, except after the end of the document.
  mutating func keep<Container>(_ object: Object, _ container: Container, at place: Int) {
    guard !isClosed else { return }
    object.keep(container)
    places[place]?.forgetContainer()
    places[place] = object
  }

  mutating func forget(at place: Int) {
    places[place]?.forgetContainer()
    places[place] = nil
  }

  /// Forgets the containers, and remembers no more of them.
  mutating func close() {
    guard !isClosed else { return }
    for place in places.indices { forget(at: place) }
    isClosed = true
  }
}
