// JSONContainers: keyed containers that are used again for the next object with the same type of keys, because creating one takes
// longer than decoding several values: the runtime looks for the metadata of generic types, and allocates memory.

/// The object that a keyed container reads.
class JSONObject {
  final let reader: JSONReader
  // These variables change only while nothing else refers to the container.
  @exclusivity(unchecked) final private(set) var index: Int
  @exclusivity(unchecked) final private(set) var path: JSONPath
  @exclusivity(unchecked) final private var element: Int
  /// The indexes of the object's values by converted key, if its keys are compared as strings and one was asked for.
  @exclusivity(unchecked) final var table: [String: Int]?
  // The type of keys, and the `KeyedDecodingContainer`, while it may be used again. It refers to this object; `forgetContainer`
  // ends the cycle.
  fileprivate final let keys: ObjectIdentifier
  @exclusivity(unchecked) fileprivate final var container: AnyObject?

  fileprivate init(
    _ index: Int, _ path: JSONPath, _ element: Int, _ table: [String: Int]?, _ keys: ObjectIdentifier
  ) {
    reader = path.decoder.reader
    self.index = index
    self.path = path
    self.element = element
    self.table = table
    self.keys = keys
  }

  final var location: JSONLocation { JSONLocation(path: path, element: element) }

  /// Moves the container to another object, if nothing else refers to it.
  @inline(__always)
  fileprivate final func moveContainer(
    to index: Int, _ path: JSONPath, _ element: Int, _ table: [String: Int]?
  ) -> Bool {
    guard isKnownUniquelyReferenced(&container) else { return false }
    self.index = index
    if self.path !== path { self.path = path }
    self.element = element
    if self.table != nil || table != nil { self.table = table }
    return true
  }

  fileprivate final func forgetContainer() { container = nil }
}

/// An object with a container of the type `Container`.
private final class JSONContainedObject<Container>: JSONObject {
  func keep(_ container: Container) {
    // SAFETY: a `KeyedDecodingContainer` is a reference to an object, because it has the size of one and refers to a value of any
    // size.
    guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else { return }
    self.container = unsafeBitCast(container, to: AnyObject.self)
  }

  /// Returns the container, which is kept.
  // Not inlined, because it finds the container's metadata in the object, and its callers would look for it.
  @inline(never)
  func keptContainer() -> Container {
    // SAFETY: `keep` has converted the container.
    unsafeBitCast(container, to: Container.self)
  }
}

/// A document's latest containers.
struct JSONContainers {
  // A type of keys has one place, and replaces another one there.
  private var places = InlineArray<8, JSONObject?>(repeating: nil)
  private var isClosed = false

  /// Returns a container for the object at `index`, with the table of its keys if there is one.
  @inline(__always)
  mutating func container<Key: CodingKey>(
    of index: Int, path: JSONPath, element: Int = JSONLocation.noElement, table: [String: Int]?
  ) -> KeyedDecodingContainer<Key> {
    let keys = ObjectIdentifier(Key.self)
    let address = UInt(bitPattern: keys)
    let place = Int(truncatingIfNeeded: (address >> 4 ^ address >> 10) & 7)
    guard let object = places[place], object.keys == keys, object.moveContainer(to: index, path, element, table)
    else {
      return newContainer(index, path, element, table, keys, at: place)
    }
    // SAFETY: an object with these keys has a container of this type.
    return unsafeDowncast(object, to: JSONContainedObject<KeyedDecodingContainer<Key>>.self).keptContainer()
  }

  @inline(never)
  private mutating func newContainer<Key: CodingKey>(
    _ index: Int, _ path: JSONPath, _ element: Int, _ table: [String: Int]?, _ keys: ObjectIdentifier, at place: Int
  ) -> KeyedDecodingContainer<Key> {
    let object = JSONContainedObject<KeyedDecodingContainer<Key>>(index, path, element, table, keys)
    let container = KeyedDecodingContainer(JSONKeyedValues<Key>(object: object))
    guard !isClosed else { return container }
    object.keep(container)
    places[place]?.forgetContainer()
    places[place] = object
    return container
  }

  /// Forgets the containers, and remembers no more of them.
  mutating func close() {
    for place in places.indices {
      places[place]?.forgetContainer()
      places[place] = nil
    }
    isClosed = true
  }
}
