// JSONList: the unkeyed container of an array.

struct JSONList: UnkeyedDecodingContainer {
  private let path: JSONPath
  // The index in the tape of the next element, and of the first word after the array.
  private var next: Int
  private let end: Int
  private let elements: Int
  private(set) var currentIndex = 0

  init(array: Int, path: JSONPath) {
    self.path = path
    let word = path.decoder.reader[array]
    next = array + 1
    end = word.position
    elements = word.length
  }

  @inline(__always)
  private var decoder: JSONValueDecoder { path.decoder }

  @inline(__always)
  private var reader: JSONReader { path.decoder.reader }

  var codingPath: [any CodingKey] { JSONLocation(path: path).keys }

  var count: Int? { elements }

  var isAtEnd: Bool { currentIndex >= elements }

  mutating func decodeNil() throws -> Bool {
    guard reader[try require(Never.self)].kind == .null else { return false }
    advance()
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try element(type) { try $0.reader.bool($1, $2()) } }
  mutating func decode(_ type: String.Type) throws -> String { try element(type) { try $0.reader.string($1, $2()) } }
  mutating func decode(_ type: Double.Type) throws -> Double { try element(type) { try $0.reader.double($1, $2()) } }
  mutating func decode(_ type: Float.Type) throws -> Float { try element(type) { try $0.reader.float($1, $2()) } }
  mutating func decode(_ type: Int.Type) throws -> Int { try integer() }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try integer() }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try element(type) { try $0.unwrap($1, as: type, $2()) }
  }

  mutating func decodeIfPresent(_ type: Bool.Type) throws -> Bool? {
    try elementIfPresent { try $0.reader.bool($1, $2()) }
  }

  mutating func decodeIfPresent(_ type: String.Type) throws -> String? {
    try elementIfPresent { try $0.reader.string($1, $2()) }
  }

  mutating func decodeIfPresent(_ type: Double.Type) throws -> Double? {
    try elementIfPresent { try $0.reader.double($1, $2()) }
  }

  mutating func decodeIfPresent(_ type: Float.Type) throws -> Float? {
    try elementIfPresent { try $0.reader.float($1, $2()) }
  }

  mutating func decodeIfPresent(_ type: Int.Type) throws -> Int? { try integerIfPresent() }
  mutating func decodeIfPresent(_ type: Int8.Type) throws -> Int8? { try integerIfPresent() }
  mutating func decodeIfPresent(_ type: Int16.Type) throws -> Int16? { try integerIfPresent() }
  mutating func decodeIfPresent(_ type: Int32.Type) throws -> Int32? { try integerIfPresent() }
  mutating func decodeIfPresent(_ type: Int64.Type) throws -> Int64? { try integerIfPresent() }
  mutating func decodeIfPresent(_ type: UInt.Type) throws -> UInt? { try integerIfPresent() }
  mutating func decodeIfPresent(_ type: UInt8.Type) throws -> UInt8? { try integerIfPresent() }
  mutating func decodeIfPresent(_ type: UInt16.Type) throws -> UInt16? { try integerIfPresent() }
  mutating func decodeIfPresent(_ type: UInt32.Type) throws -> UInt32? { try integerIfPresent() }
  mutating func decodeIfPresent(_ type: UInt64.Type) throws -> UInt64? { try integerIfPresent() }

  mutating func decodeIfPresent<T: Decodable>(_ type: T.Type) throws -> T? {
    try elementIfPresent { try $0.unwrap($1, as: type, $2()) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try element(KeyedDecodingContainer<NestedKey>.self) { try $0.keyedContainer(at: $1, location: $2()) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try element((any UnkeyedDecodingContainer).self) { try $0.list(at: $1, location: $2()) }
  }

  mutating func superDecoder() throws -> any Decoder {
    try element((any Decoder).self) { JSONValueDecoder($0.document, at: $1, location: $2()) }
  }

  @inline(__always)
  private mutating func integer<Value: FixedWidthInteger>() throws -> Value {
    try element(Value.self) { try $0.reader.integer($1, $2()) }
  }

  @inline(__always)
  private mutating func integerIfPresent<Value: FixedWidthInteger>() throws -> Value? {
    try elementIfPresent { try $0.reader.integer($1, $2()) }
  }

  // Decodes the next element, and moves to the one after it if that succeeds.
  @inline(__always)
  private mutating func element<Value>(
    _ type: Any.Type, _ decode: (JSONValueDecoder, Int, () -> JSONLocation) throws -> Value
  ) throws -> Value {
    let index = try require(type)
    let (path, element) = (path, currentIndex)
    let value = try decode(decoder, index) { JSONLocation(path: path, element: element) }
    advance()
    return value
  }

  // Beyond the end, the result is nil, and the index grows, as in Foundation.
  @inline(__always)
  private mutating func elementIfPresent<Value>(
    _ decode: (JSONValueDecoder, Int, () -> JSONLocation) throws -> Value
  ) throws -> Value? {
    guard next < end, reader[next].kind != .null else {
      advance()
      return nil
    }
    let (path, element) = (path, currentIndex)
    let value = try decode(decoder, next) { JSONLocation(path: path, element: element) }
    advance()
    return value
  }

  @inline(__always)
  private mutating func advance() {
    if next < end { next = reader.index(after: next) }
    currentIndex += 1
  }

  @inline(__always)
  private func require(_ type: Any.Type) throws -> Int {
    guard next < end else { throw atEnd(type) }
    return next
  }

  @inline(never)
  private func atEnd(_ type: Any.Type) -> DecodingError {
    .valueNotFound(
      type,
      .init(
        codingPath: codingPath + [JSONKey(index: currentIndex)],
        debugDescription: type == (any Decoder).self
          ? "Cannot get superDecoder() -- unkeyed container is at end." : "Unkeyed container is at end."))
  }
}
