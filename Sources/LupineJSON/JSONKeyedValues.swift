// JSONKeyedValues: the keyed container of an object.

struct JSONKeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
  // The only property, so that copying a container is cheap.
  let object: JSONObject

  @inline(__always)
  private var decoder: JSONValueDecoder { object.path.decoder }

  @inline(__always)
  private var reader: JSONReader { object.reader }

  var codingPath: [any CodingKey] { object.location.keys }

  var allKeys: [Key] { reader.names(of: object).compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { find(key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { reader[try require(key)].kind == .null }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try reader.bool(require(key), under(key)) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try reader.string(require(key), under(key)) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try reader.double(require(key), under(key)) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try reader.float(require(key), under(key)) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try reader.integer(require(key), under(key)) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try rare(key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try rare(key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try rare(key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try reader.integer(require(key), under(key)) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try rare(key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try rare(key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try rare(key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try rare(key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try rare(key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try rare(key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try rare(key) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try decoder.unwrap(require(key), as: type, under(key))
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(key).map { try reader.bool($0, under(key)) }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key).map { try reader.string($0, under(key)) }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key).map { try reader.double($0, under(key)) }
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try present(key).map { try reader.float($0, under(key)) }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try present(key).map { try reader.integer($0, under(key)) }
  }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try rareIfPresent(key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try rareIfPresent(key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try rareIfPresent(key) }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try present(key).map { try reader.integer($0, under(key)) }
  }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try rareIfPresent(key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try rareIfPresent(key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try rareIfPresent(key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try rareIfPresent(key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try rareIfPresent(key) }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try present(key).map { try decoder.unwrap($0, as: type, under(key)) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decoder.keyedContainer(at: require(key), location: under(key))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder.list(at: require(key), location: under(key))
  }

  func superDecoder() -> any Decoder { superDecoder(JSONKey.super) }

  func superDecoder(forKey key: Key) -> any Decoder { superDecoder(key) }

  // A missing value counts as null.
  private func superDecoder(_ key: some CodingKey) -> any Decoder {
    JSONValueDecoder(decoder.document, at: find(key) ?? JSONScanner.missing, location: under(key))
  }

  @inline(__always)
  private func find(_ key: some CodingKey) -> Int? { reader.value(of: key.stringValue, in: object) }

  // Integers of the types that few programs decode. The search for the key isn't inlined, because a program contains each copy.

  private func rare<Value: FixedWidthInteger>(_ key: Key) throws -> Value {
    try reader.integer(requiredPosition(of: key), under(key))
  }

  private func rareIfPresent<Value: FixedWidthInteger>(_ key: Key) throws -> Value? {
    guard let index = presentPosition(of: key) else { return nil }
    return try reader.integer(index, under(key))
  }

  @inline(never)
  private func requiredPosition(of key: Key) throws -> Int { try require(key) }

  @inline(never)
  private func presentPosition(of key: Key) -> Int? { present(key) }

  // The location of a key's value.
  private func under(_ key: some CodingKey) -> JSONLocation {
    JSONLocation(path: JSONPath(decoder, object.location, key))
  }

  @inline(__always)
  private func require(_ key: Key) throws -> Int {
    guard let index = find(key) else { throw missing(key) }
    return index
  }

  @inline(__always)
  private func present(_ key: Key) -> Int? {
    guard let index = find(key), reader[index].kind != .null else { return nil }
    return index
  }

  @inline(never)
  private func missing(_ key: Key) -> DecodingError {
    .keyNotFound(
      key,
      .init(
        codingPath: codingPath,
        debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
  }
}
