// JSONObject: the object that a keyed container reads.

class JSONObject: JSONContained {
  final let reader: JSONReader
  // These variables change only while nothing else refers to the container.
  @exclusivity(unchecked) final private(set) var index: Int
  @exclusivity(unchecked) final private(set) var path: JSONPath
  @exclusivity(unchecked) final private var element: Int
  /// The indexes of the object's values by converted key, if its keys are compared as strings and one was asked for.
  @exclusivity(unchecked) final var table: [String: Int]?

  init(
    _ index: Int, _ path: JSONPath, _ element: Int, _ table: [String: Int]?, _ keys: ObjectIdentifier
  ) {
    reader = path.decoder.reader
    self.index = index
    self.path = path
    self.element = element
    self.table = table
    super.init(keys)
  }

  final var location: JSONLocation { JSONLocation(path: path, element: element) }

  /// Moves the container to another object.
  @inline(__always)
  fileprivate final func move(to index: Int, _ path: JSONPath, _ element: Int, _ table: [String: Int]?) {
    self.index = index
    if self.path !== path { self.path = path }
    self.element = element
    if self.table != nil || table != nil { self.table = table }
  }
}

/// An object with a container of the type `Container`.
private final class JSONContainedObject<Container>: JSONObject {
  /// Returns the container, which is kept.
  // Not inlined: here the object's metadata includes the container's type; an inlined copy would have to ask the runtime for it.
  @inline(never)
  func keptContainer() -> Container { kept() }
}

extension JSONContainers where Object == JSONObject {
  /// Returns a container for the object at `index`, with the table of its keys if there is one.
  @inline(__always)
  mutating func container<Key: CodingKey>(
    of index: Int, path: JSONPath, element: Int = JSONLocation.noElement, table: [String: Int]?
  ) -> KeyedDecodingContainer<Key> {
    let keys = ObjectIdentifier(Key.self)
    let place = Self.place(of: keys)
    guard let object = free(keys, at: place) else { return newContainer(index, path, element, table, keys, at: place) }
    object.move(to: index, path, element, table)
    // SAFETY: a kept object with these keys has a container of this type.
    return unsafeDowncast(object, to: JSONContainedObject<KeyedDecodingContainer<Key>>.self).keptContainer()
  }

  // An object whose container is used again takes more time to create, so one is created only if a second object is likely.
  @inline(never)
  private mutating func newContainer<Key: CodingKey>(
    _ index: Int, _ path: JSONPath, _ element: Int, _ table: [String: Int]?, _ keys: ObjectIdentifier, at place: Int
  ) -> KeyedDecodingContainer<Key> {
    guard accepts(keys, at: place), element != JSONLocation.noElement || noteUse(of: keys) else {
      return KeyedDecodingContainer(JSONKeyedValues<Key>(object: JSONObject(index, path, element, table, keys)))
    }
    let object = JSONContainedObject<KeyedDecodingContainer<Key>>(index, path, element, table, keys)
    let container = KeyedDecodingContainer(JSONKeyedValues<Key>(object: object))
    keep(object, container, at: place)
    return container
  }
}
