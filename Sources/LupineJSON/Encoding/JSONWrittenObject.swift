// JSONWrittenObject: the object that a keyed container writes.

class JSONWrittenObject: JSONContained {
  final let output: JSONOutput
  // These variables change only while nothing else refers to the container.
  /// The number of the object in the output.
  @exclusivity(unchecked) final private(set) var serial: Int
  @exclusivity(unchecked) final private(set) var nested: JSONNestedPath?
  // Nil while the container waits for its next object, because an encoder is used again only if nothing else refers to it.
  @exclusivity(unchecked) final private var owner: JSONValueEncoder?

  init(_ encoder: JSONValueEncoder, _ serial: Int, _ nested: JSONNestedPath?, _ keys: ObjectIdentifier) {
    output = encoder.output
    owner = encoder
    self.serial = serial
    self.nested = nested
    super.init(keys)
  }

  /// The encoder of the object, or of the value around a nested object.
  final var encoder: JSONValueEncoder {
    guard let owner else { preconditionFailure("a container that nothing refers to is used") }
    return owner
  }

  final var codingPath: [any CodingKey] { encoder.codingPath + nested.keys }

  /// Moves the container to another object.
  @inline(__always)
  fileprivate final func move(to encoder: JSONValueEncoder, _ serial: Int, _ nested: JSONNestedPath?) {
    owner = encoder
    self.serial = serial
    if self.nested != nil || nested != nil { self.nested = nested }
  }

  /// Ends the reference to the encoder. Returns false, without effect, if the container is in use.
  @inline(__always)
  fileprivate final func release(_ encoder: JSONValueEncoder) -> Bool {
    guard owner === encoder else { return true }
    guard isFree else { return false }
    owner = nil
    return true
  }
}

/// An object with a container of the type `Container`.
private final class JSONContainedWrittenObject<Container>: JSONWrittenObject {
  /// Returns the container, which is kept.
  // Not inlined: here the object's metadata includes the container's type; an inlined copy would have to ask the runtime for it.
  @inline(never)
  func keptContainer() -> Container { kept() }
}

extension JSONContainers where Object == JSONWrittenObject {
  /// Returns a container for the encoder's object with the number, and adds the place that refers to the encoder to `places`.
  @inline(__always)
  mutating func container<Key: CodingKey>(
    of encoder: JSONValueEncoder, _ serial: Int, _ nested: JSONNestedPath?, _ places: inout UInt8
  ) -> KeyedEncodingContainer<Key> {
    let keys = ObjectIdentifier(Key.self)
    let place = Self.place(of: keys)
    places |= 1 << UInt8(place)
    guard let object = free(keys, at: place) else { return newContainer(encoder, serial, nested, keys, at: place) }
    object.move(to: encoder, serial, nested)
    // SAFETY: a kept object with these keys has a container of this type.
    return unsafeDowncast(object, to: JSONContainedWrittenObject<KeyedEncodingContainer<Key>>.self).keptContainer()
  }

  // An object whose container is used again takes more time to create, so one is created only if a second object is likely.
  @inline(never)
  private mutating func newContainer<Key: CodingKey>(
    _ encoder: JSONValueEncoder, _ serial: Int, _ nested: JSONNestedPath?, _ keys: ObjectIdentifier, at place: Int
  ) -> KeyedEncodingContainer<Key> {
    guard accepts(keys, at: place), encoder.isElement || noteUse(of: keys) else {
      return KeyedEncodingContainer(JSONKeyedWriter<Key>(object: JSONWrittenObject(encoder, serial, nested, keys)))
    }
    let object = JSONContainedWrittenObject<KeyedEncodingContainer<Key>>(encoder, serial, nested, keys)
    let container = KeyedEncodingContainer(JSONKeyedWriter<Key>(object: object))
    keep(object, container, at: place)
    return container
  }

  /// Ends the references to an encoder from the containers at the places. Forgets those that the program still uses.
  @inline(__always)
  mutating func release(_ encoder: JSONValueEncoder, _ places: UInt8) {
    var rest = places
    while rest != 0 {
      let place = rest.trailingZeroBitCount
      if let object = self[place], !object.release(encoder) { forget(at: place) }
      rest &= rest &- 1
    }
  }
}
