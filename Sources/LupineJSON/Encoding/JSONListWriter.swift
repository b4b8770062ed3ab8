// JSONListWriter: the unkeyed container of an array.

struct JSONListWriter: UnkeyedEncodingContainer {
  let encoder: JSONValueEncoder
  // The number of the array in the output.
  let serial: Int
  let nested: JSONNestedPath?

  @inline(__always)
  private var output: JSONOutput { encoder.output }

  var codingPath: [any CodingKey] { encoder.codingPath + nested.keys }

  var count: Int { output.count(of: serial) }

  func encodeNil() throws { try output.element(of: serial).buffer.null() }
  func encode(_ value: Bool) throws { try output.element(of: serial).buffer.bool(value) }
  func encode(_ value: String) throws { try output.element(of: serial).buffer.string(value) }
  func encode(_ value: Double) throws { try output.element(of: serial).write(value) }
  func encode(_ value: Float) throws { try output.element(of: serial).write(value) }
  func encode(_ value: Int) throws { try integer(value) }
  func encode(_ value: Int8) throws { try integer(Int(value)) }
  func encode(_ value: Int16) throws { try integer(Int(value)) }
  func encode(_ value: Int32) throws { try integer(Int(value)) }
  func encode(_ value: Int64) throws { try integer(Int(value)) }
  func encode(_ value: Int128) throws { try integer(value) }
  func encode(_ value: UInt) throws { try integer(value) }
  func encode(_ value: UInt8) throws { try integer(Int(value)) }
  func encode(_ value: UInt16) throws { try integer(Int(value)) }
  func encode(_ value: UInt32) throws { try integer(Int(value)) }
  func encode(_ value: UInt64) throws { try integer(UInt(value)) }
  func encode(_ value: UInt128) throws { try integer(value) }

  // Few types, and not inlined, because a program contains each copy.
  @inline(never)
  private func integer(_ value: some FixedWidthInteger) throws {
    try output.element(of: serial).buffer.integer(value)
  }

  func encode<T: Encodable>(_ value: T) throws {
    try output.element(of: serial)
    try encoder.write(value, at: .index(latest))
  }

  // The index of the element that has just begun.
  @inline(__always)
  private var latest: Int { output.top.pointee.count &- 1 }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    let (serial, path) = container(.object)
    return encoder.keyedContainer(serial, path)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    let (serial, path) = container(.array)
    return JSONListWriter(encoder: encoder, serial: serial, nested: path)
  }

  // Returns the number of a nested container, or one with which nothing can be written, and its path.
  private func container(_ kind: JSONOpenValue.Kind) -> (Int, JSONNestedPath?) {
    guard (try? output.element(of: serial)) != nil else { return (0, nested) }
    let path = JSONNestedPath(nested, .index(latest))
    let serial = output.push(.nested)
    output.open(kind)
    return (serial, path)
  }

  func superEncoder() -> any Encoder {
    guard (try? output.element(of: serial)) != nil else { return encoder.deadEncoder(at: .same) }
    return encoder.superEncoder(at: .index(latest), in: serial)
  }
}
