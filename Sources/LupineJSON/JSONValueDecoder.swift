// JSONValueDecoder: the `Decoder` for a document. It moves from value to value, as Foundation's does, instead of being created for
// each.

/// A decoder and single-value container at one value of a document.
final class JSONValueDecoder: Decoder {
  let document: JSONDocument
  let reader: JSONReader
  // The index of the value in the tape, and its location. Only `with` changes them. One thread at a time uses a decoder, and no access
  // to these variables calls other code, so that accesses don't overlap.
  @exclusivity(unchecked) private(set) var value: Int
  @exclusivity(unchecked) private(set) var location: JSONLocation

  init(_ document: JSONDocument, at value: Int, location: JSONLocation) {
    self.document = document
    reader = document.reader
    self.value = value
    self.location = location
  }

  var codingPath: [any CodingKey] { location.keys }

  var userInfo: [CodingUserInfoKey: Any] { document.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try keyedContainer(at: value, location: location)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try list(at: value, location: location) }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  /// Moves the decoder to a value while the closure runs.
  ///
  /// A path retains its decoder, so the decoder refers to a path only while the closure runs. Otherwise neither would be freed.
  @inline(__always)
  func with<Result>(_ index: Int, at location: JSONLocation, _ body: () throws -> Result) rethrows -> Result {
    let (oldValue, oldLocation) = (value, self.location)
    (value, self.location) = (index, location)
    defer { (value, self.location) = (oldValue, oldLocation) }
    return try body()
  }

  func keyedContainer<Key: CodingKey>(at index: Int, location: JSONLocation) throws -> KeyedDecodingContainer<Key> {
    let word = reader[index]
    switch word.kind {
    case .object, .indexedObject, .irregularObject:
      // Foundation, too, calls a custom conversion when a container is created.
      let table = reader.convertsKeys && !reader.isSnakeCase ? reader.table(of: index, location) : nil
      guard let path = location.path, path.decoder === self else {
        return document.containers.container(of: index, path: JSONPath(self, to: location), table: table)
      }
      return document.containers.container(of: index, path: path, element: location.element, table: table)
    case .null:
      throw DecodingError.valueNotFound(
        [String: Any].self,
        .init(
          codingPath: location.keys, debugDescription: "Cannot get keyed decoding container -- found null value instead"
        ))
    default: throw reader.mismatch([String: Any].self, word, location)
    }
  }

  // A container finds the decoder in its path.
  @inline(__always)
  func ownPath(_ location: JSONLocation) -> JSONPath {
    guard let path = location.path, path.decoder === self, location.element == JSONLocation.noElement else {
      return JSONPath(self, to: location)
    }
    return path
  }

  func list(at index: Int, location: JSONLocation) throws -> JSONList {
    let word = reader[index]
    switch word.kind {
    case .array: return JSONList(array: index, path: ownPath(location))
    case .null:
      throw DecodingError.valueNotFound(
        [Any].self,
        .init(
          codingPath: location.keys,
          debugDescription: "Cannot get unkeyed decoding container -- found null value instead"))
    default: throw reader.mismatch([Any].self, word, location)
    }
  }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { reader[value].kind == .null }
  func decode(_ type: Bool.Type) throws -> Bool { try reader.bool(value, location) }
  func decode(_ type: String.Type) throws -> String { try reader.string(value, location) }
  func decode(_ type: Double.Type) throws -> Double { try reader.double(value, location) }
  func decode(_ type: Float.Type) throws -> Float { try reader.float(value, location) }
  func decode(_ type: Int.Type) throws -> Int { try reader.integer(value, location) }
  func decode(_ type: Int8.Type) throws -> Int8 { try reader.integer(value, location) }
  func decode(_ type: Int16.Type) throws -> Int16 { try reader.integer(value, location) }
  func decode(_ type: Int32.Type) throws -> Int32 { try reader.integer(value, location) }
  func decode(_ type: Int64.Type) throws -> Int64 { try reader.integer(value, location) }
  func decode(_ type: Int128.Type) throws -> Int128 { try reader.integer(value, location) }
  func decode(_ type: UInt.Type) throws -> UInt { try reader.integer(value, location) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try reader.integer(value, location) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try reader.integer(value, location) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try reader.integer(value, location) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try reader.integer(value, location) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try reader.integer(value, location) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try unwrap(value, as: type, location) }
}
