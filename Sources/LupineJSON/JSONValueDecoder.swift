// JSONValueDecoder: the `Decoder` for a document. It moves from value to value, as Foundation's does, instead of being created for
// each.

/// A decoder and single-value container at one value of a document.
final class JSONValueDecoder: Decoder {
  let document: JSONDocument
  let reader: JSONReader
  // The index of the value in the tape, and its path. Only `with` changes them. One thread at a time uses a decoder, and no access
  // to these variables calls other code, so that accesses don't overlap.
  @exclusivity(unchecked) private(set) var value: Int
  @exclusivity(unchecked) private(set) var path: JSONPath?

  init(_ document: JSONDocument, at value: Int, path: JSONPath?) {
    self.document = document
    reader = document.reader
    self.value = value
    self.path = path
  }

  var codingPath: [any CodingKey] { path.keys }

  var userInfo: [CodingUserInfoKey: Any] { document.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try keyedContainer(at: value, path: path)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try list(at: value, path: path) }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  /// Moves the decoder to a value while the closure runs.
  ///
  /// Paths refer to the decoder, so it refers to its own only meanwhile.
  @inline(__always)
  func with<Result>(_ index: Int, at path: JSONPath?, _ body: () throws -> Result) rethrows -> Result {
    let (oldValue, oldPath) = (value, self.path)
    (value, self.path) = (index, path)
    defer { (value, self.path) = (oldValue, oldPath) }
    return try body()
  }

  func keyedContainer<Key: CodingKey>(at index: Int, path: JSONPath?) throws -> KeyedDecodingContainer<Key> {
    let word = reader[index]
    switch word.kind {
    case .object, .indexedObject, .irregularObject:
      return KeyedDecodingContainer(JSONKeyedValues<Key>(object: index, path: own(path)))
    case .null:
      throw DecodingError.valueNotFound(
        [String: Any].self,
        .init(
          codingPath: path.keys, debugDescription: "Cannot get keyed decoding container -- found null value instead"))
    default: throw mismatch([String: Any].self, word, path)
    }
  }

  // A container finds the decoder in its path.
  @inline(__always)
  private func own(_ path: JSONPath?) -> JSONPath {
    if let path, path.decoder === self { return path }
    return JSONPath(self, sameAs: path)
  }

  func list(at index: Int, path: JSONPath?) throws -> JSONList {
    let word = reader[index]
    switch word.kind {
    case .array: return JSONList(array: index, path: own(path))
    case .null:
      throw DecodingError.valueNotFound(
        [Any].self,
        .init(
          codingPath: path.keys, debugDescription: "Cannot get unkeyed decoding container -- found null value instead"))
    default: throw mismatch([Any].self, word, path)
    }
  }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { reader[value].kind == .null }
  func decode(_ type: Bool.Type) throws -> Bool { try bool(value, path) }
  func decode(_ type: String.Type) throws -> String { try string(value, path) }
  func decode(_ type: Double.Type) throws -> Double { try double(value, path) }
  func decode(_ type: Float.Type) throws -> Float { try float(value, path) }
  func decode(_ type: Int.Type) throws -> Int { try integer(value, path) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(value, path) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(value, path) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(value, path) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(value, path) }
  func decode(_ type: Int128.Type) throws -> Int128 { try integer(value, path) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(value, path) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(value, path) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(value, path) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(value, path) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(value, path) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(value, path) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try unwrap(value, as: type, path) }
}
