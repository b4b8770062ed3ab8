// JSONKeyedWriter: the keyed container of an object.

struct JSONKeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  // The only property, so that a container can be moved to another object.
  let object: JSONWrittenObject

  @inline(__always)
  private var output: JSONOutput { object.output }

  var codingPath: [any CodingKey] { object.codingPath }

  // Writes the key of the next value, and returns the output for the value.
  @inline(__always) @discardableResult
  private func begin(_ key: some CodingKey) throws -> JSONOutput {
    try output.key(key, of: object)
    return output
  }

  func encodeNil(forKey key: Key) throws { try begin(key).buffer.null() }
  func encode(_ value: Bool, forKey key: Key) throws { try begin(key).buffer.bool(value) }
  func encode(_ value: String, forKey key: Key) throws { try begin(key).buffer.string(value) }
  func encode(_ value: Double, forKey key: Key) throws { try begin(key).write(value) }
  func encode(_ value: Float, forKey key: Key) throws { try begin(key).write(value) }
  func encode(_ value: Int, forKey key: Key) throws { try begin(key).buffer.integer(value) }
  func encode(_ value: Int8, forKey key: Key) throws { try encode(Int(value), forKey: key) }
  func encode(_ value: Int16, forKey key: Key) throws { try encode(Int(value), forKey: key) }
  func encode(_ value: Int32, forKey key: Key) throws { try encode(Int(value), forKey: key) }
  func encode(_ value: Int64, forKey key: Key) throws { try encode(Int(value), forKey: key) }
  func encode(_ value: Int128, forKey key: Key) throws { try plain(String(value), key) }
  func encode(_ value: UInt, forKey key: Key) throws { try begin(key).buffer.integer(value) }
  func encode(_ value: UInt8, forKey key: Key) throws { try encode(Int(value), forKey: key) }
  func encode(_ value: UInt16, forKey key: Key) throws { try encode(Int(value), forKey: key) }
  func encode(_ value: UInt32, forKey key: Key) throws { try encode(Int(value), forKey: key) }
  func encode(_ value: UInt64, forKey key: Key) throws { try encode(UInt(value), forKey: key) }
  func encode(_ value: UInt128, forKey key: Key) throws { try plain(String(value), key) }

  // Not inlined, because a program contains each copy.
  @inline(never)
  private func plain(_ text: String, _ key: Key) throws { try begin(key).buffer.plain(text) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try begin(key)
    try object.encoder.write(value, at: .key(key))
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    object.encoder.keyedContainer(container(.object, forKey: key), path(to: key))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    JSONListWriter(encoder: object.encoder, serial: container(.array, forKey: key), nested: path(to: key))
  }

  // Returns the number of a nested container, or one with which nothing can be written.
  private func container(_ kind: JSONOpenValue.Kind, forKey key: Key) -> Int {
    guard (try? begin(key)) != nil else { return 0 }
    let serial = output.push(.nested)
    output.open(kind)
    return serial
  }

  private func path(to key: Key) -> JSONNestedPath { JSONNestedPath(object.nested, .key(key)) }

  func superEncoder() -> any Encoder { superEncoder(JSONKey.super) }

  func superEncoder(forKey key: Key) -> any Encoder { superEncoder(key) }

  private func superEncoder(_ key: some CodingKey) -> any Encoder {
    guard (try? begin(key)) != nil else { return object.encoder.deadEncoder(at: .key(key)) }
    return object.encoder.superEncoder(at: .key(key), in: object.serial)
  }
}
