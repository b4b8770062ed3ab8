// JSONValueEncoder: the `Encoder` for a document.

/// The place of a value in the value of the encoder that has begun it.
enum JSONPlace {
  /// The same place.
  case same
  case key(any CodingKey)
  case index(Int)

  var key: (any CodingKey)? {
    switch self {
    case .same: nil
    case .key(let key): key
    case .index(let index): JSONKey(index: index)
    }
  }
}

/// The keys of nested containers. As in Foundation, they are part of a container's `codingPath`, but not of the `codingPath` of
/// encoders for its values.
final class JSONNestedPath {
  private let parent: JSONNestedPath?
  private let place: JSONPlace

  init(_ parent: JSONNestedPath?, _ place: JSONPlace) {
    self.parent = parent
    self.place = place
  }

  fileprivate static func keys(to path: JSONNestedPath?) -> [any CodingKey] {
    var keys: [any CodingKey] = []
    var next = path
    while let path = next {
      if let key = path.place.key { keys.append(key) }
      next = path.parent
    }
    return keys.reversed()
  }
}

extension Optional where Wrapped == JSONNestedPath {
  var keys: [any CodingKey] { JSONNestedPath.keys(to: self) }
}

/// An encoder and single-value container at one value of a document.
final class JSONValueEncoder: Encoder {
  let output: JSONOutput
  private let memory: JSONOutputMemory
  // The encoder that has begun the value. One thread at a time uses an encoder, and no access to these variables calls other code.
  @exclusivity(unchecked) private var owner: JSONValueEncoder?
  @exclusivity(unchecked) private var place: JSONPlace
  /// The number of the value in the output.
  @exclusivity(unchecked) var serial = 0
  // For an encoder from `superEncoder`, the number of the object or array to which it adds its value. Otherwise 0.
  @exclusivity(unchecked) private var outer = 0
  // The bits of the places in the output's containers that may refer to this encoder.
  @exclusivity(unchecked) private var places: UInt8 = 0

  init(_ memory: JSONOutputMemory, owner: JSONValueEncoder?, at place: JSONPlace) {
    output = memory.output
    self.memory = memory
    self.owner = owner
    self.place = place
  }

  deinit {
    if outer != 0 { output.release(superEncoder: serial, in: outer) }
  }

  var userInfo: [CodingUserInfoKey: Any] { output.userInfo }

  // Foundation's path ends at the first encoder without a key.
  var codingPath: [any CodingKey] {
    var keys: [any CodingKey] = []
    if let key = place.key { keys.append(key) }
    var encoder = self
    while let owner = encoder.owner, let key = owner.place.key {
      keys.append(key)
      encoder = owner
    }
    return keys.reversed()
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    keyedContainer(container(.object), nil)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    JSONListWriter(encoder: self, serial: container(.array), nested: nil)
  }

  /// Returns a container for the object with the number.
  @inline(__always)
  func keyedContainer<Key: CodingKey>(_ serial: Int, _ nested: JSONNestedPath?) -> KeyedEncodingContainer<Key> {
    // A kept container would retain its encoder, but the release of an encoder for a superclass ends that encoder's value.
    guard outer == 0 else {
      let keys = ObjectIdentifier(Key.self)
      return KeyedEncodingContainer(JSONKeyedWriter<Key>(object: JSONWrittenObject(self, serial, nested, keys)))
    }
    return output.state.pointee.containers.container(of: self, serial, nested, &places)
  }

  /// Whether the value is an element of an array.
  var isElement: Bool { if case .index = place { true } else { false } }

  // Ends the references to this encoder from kept containers.
  @inline(__always)
  private func releaseContainers() {
    output.state.pointee.containers.release(self, places)
    places = 0
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  // Returns the number of the value if it is or becomes a container of this kind. Nothing can be written with another number.
  @inline(__always)
  private func container(_ kind: JSONOpenValue.Kind) -> Int {
    let top = output.top
    if top.pointee.serial == serial {
      if top.pointee.kind == .none {
        output.open(kind)
        return serial
      }
      if top.pointee.kind == kind { return serial }
    }
    return containerAgain(kind)
  }

  @inline(never)
  private func containerAgain(_ kind: JSONOpenValue.Kind) -> Int {
    do {
      try output.resume(serial)
      if output.top.pointee.kind == kind { return serial }
    } catch {}
    output.unusable()
    return 0
  }

  /// Returns an encoder that can't write.
  func deadEncoder(at place: JSONPlace) -> JSONValueEncoder { JSONValueEncoder(memory, owner: self, at: place) }

  /// Returns the encoder for `superEncoder` of the container with the number `outer`. The caller's release of it ends its value.
  func superEncoder(at place: JSONPlace, in outer: Int) -> JSONValueEncoder {
    let encoder = JSONValueEncoder(memory, owner: self, at: place)
    encoder.serial = output.push(.superclass)
    encoder.outer = outer
    return encoder
  }

  // MARK: Values of any type

  /// Writes a value for whose place the key or separator has been written.
  @inline(__always)
  func write<T: Encodable>(_ value: T, at place: @autoclosure () -> JSONPlace) throws {
    if try writeDirectly(value, ObjectIdentifier(T.self), at: place()) { return }
    try write(at: place()) { try value.encode(to: $0) }
  }

  /// Writes a value by a closure.
  @inline(__always)
  func write(at place: JSONPlace, _ encode: (JSONValueEncoder) throws -> Void) throws {
    let serial = output.push(.value)
    let index = output.topIndex
    var encoder: JSONValueEncoder
    if let spare = output.state.pointee.spares.popLast() {
      encoder = spare
      encoder.owner = self
      encoder.place = place
    } else {
      encoder = JSONValueEncoder(memory, owner: self, at: place)
    }
    encoder.serial = serial
    do {
      try encode(encoder)
    } catch {
      // The type could catch the error and go on. Foundation would have written nothing.
      output.unusable()
      throw error
    }
    output.end(index)
    encoder.releaseContainers()
    guard isKnownUniquelyReferenced(&encoder) else { return }
    encoder.owner = nil
    encoder.place = .same
    output.state.pointee.spares.append(encoder)
  }

  /// Writes the value of this encoder, which `JSONOutput.single` has begun. The value's type gets this encoder, as in Foundation.
  /// It may write nothing.
  func encodeHere<T: Encodable>(_ value: T) throws {
    if try writeDirectly(value, ObjectIdentifier(T.self), at: .same) { return }
    try encodeHere { try value.encode(to: $0) }
  }

  @inline(__always)
  func encodeHere(_ encode: (JSONValueEncoder) throws -> Void) throws {
    let index = output.topIndex
    output.top.pointee.kind = .none
    do {
      try encode(self)
      try output.resume(serial)
    } catch {
      // As in `write(at:)`: the type could catch the error and go on.
      output.unusable()
      throw error
    }
    guard output.topIndex == index else { throw output.unusable() }
    // The type may have kept a container, which can't add to the value any more.
    serial = output.renumber()
  }

  /// Writes a value by a closure. If it writes nothing, the value is an empty object.
  @inline(never)
  func write(special place: JSONPlace, _ encode: (JSONValueEncoder) throws -> Void) throws {
    guard case .same = place else { return try write(at: place, encode) }
    try encodeHere(encode)
    if output.top.pointee.kind == .none { output.writeEmptyObject() }
  }

  // Returns false for a type that encodes itself.
  @inline(__always)
  private func writeDirectly<T: Encodable>(
    _ value: T, _ type: ObjectIdentifier, at place: @autoclosure () -> JSONPlace
  ) throws -> Bool {
    if output.isSpecial(type), let special = output.state.pointee.options.special {
      try special.encode(value, to: JSONSlot(encoder: self, place: place()))
      return true
    }
    if JSONReader.isPlainList(type) { return try writeList(value, type) }
    if output.isDictionary(T.self), let dictionary = value as? any JSONKeyedDictionary {
      return try dictionary.write(to: self, at: place())
    }
    return false
  }

  // An array of plain values, written in one loop.
  @inline(never)
  private func writeList<T>(_ value: T, _ type: ObjectIdentifier) throws -> Bool {
    // SAFETY: the identifier is that of the type, so T is the type of the array.
    switch type {
    case JSONReader.integers: writeElements(unsafeBitCast(value, to: [Int].self)) { output.buffer.integer($0) }
    case JSONReader.strings: writeElements(unsafeBitCast(value, to: [String].self)) { output.buffer.string($0) }
    default:
      let list = unsafeBitCast(value, to: [Double].self)
      // In an array, Foundation writes the strategy's strings for infinite numbers and NaN without escapes.
      guard list.allSatisfy(\.isFinite) else { throw output.unusable() }
      writeElements(list) { output.buffer.double($0) }
    }
    return true
  }

  /// Writes an object whose keys and values the closure writes, and to which nothing else can be added.
  func writeObject(_ entries: () throws -> Void) throws {
    _ = output.push(.value)
    let index = output.topIndex
    output.open(.object)
    try entries()
    output.end(index)
  }

  @inline(__always)
  private func writeElements<Element>(_ list: [Element], _ write: (Element) -> Void) {
    _ = output.push(.value)
    let index = output.topIndex
    output.open(.array)
    for element in list {
      output.separate()
      write(element)
    }
    output.end(index)
  }
}

extension JSONValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try output.single(serial).buffer.null() }
  func encode(_ value: Bool) throws { try output.single(serial).buffer.bool(value) }
  func encode(_ value: String) throws { try output.single(serial).buffer.string(value) }
  func encode(_ value: Double) throws { try output.single(serial).write(value) }
  func encode(_ value: Float) throws { try output.single(serial).write(value) }
  func encode(_ value: Int) throws { try encode(integer: value) }
  func encode(_ value: Int8) throws { try encode(integer: Int(value)) }
  func encode(_ value: Int16) throws { try encode(integer: Int(value)) }
  func encode(_ value: Int32) throws { try encode(integer: Int(value)) }
  func encode(_ value: Int64) throws { try encode(integer: Int(value)) }
  func encode(_ value: Int128) throws { try encode(integer: value) }
  func encode(_ value: UInt) throws { try encode(integer: value) }
  func encode(_ value: UInt8) throws { try encode(integer: Int(value)) }
  func encode(_ value: UInt16) throws { try encode(integer: Int(value)) }
  func encode(_ value: UInt32) throws { try encode(integer: Int(value)) }
  func encode(_ value: UInt64) throws { try encode(integer: UInt(value)) }
  func encode(_ value: UInt128) throws { try encode(integer: value) }

  @inline(never)
  private func encode(integer value: some FixedWidthInteger) throws {
    try output.single(serial).buffer.integer(value)
  }

  func encode<T: Encodable>(_ value: T) throws {
    try output.single(serial)
    try encodeHere(value)
    if output.top.pointee.kind == .none { output.writeEmptyObject() }
  }
}
