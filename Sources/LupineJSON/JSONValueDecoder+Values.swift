// The conversion of a document's values to Swift's. Errors have the same case and text as those of Foundation's JSONDecoder,
// because a type's initializer may catch and inspect them.

extension JSONReader {
  @inline(__always)
  func bool(_ index: Int, _ location: @autoclosure () -> JSONLocation) throws -> Bool {
    let word = self[index]
    switch word.kind {
    case .isTrue: return true
    case .isFalse: return false
    default: throw mismatch(Bool.self, word, location())
    }
  }

  @inline(__always)
  func string(_ index: Int, _ location: @autoclosure () -> JSONLocation) throws -> String {
    let word = self[index]
    guard word.kind.isText else { throw wrongKind(String.self, word, location()) }
    return text(word)
  }

  @inline(__always)
  func integer<T: FixedWidthInteger>(_ index: Int, _ location: @autoclosure () -> JSONLocation) throws -> T {
    let word = self[index]
    if word.kind == .integer, let value = T(json: bytes(of: word)) { return value }
    return try unusualInteger(word, location())
  }

  // 1.0 and 1e2 are integers too.
  @inline(never)
  private func unusualInteger<T: FixedWidthInteger>(_ word: JSONWord, _ location: JSONLocation) throws -> T {
    guard word.kind == .integer || word.kind == .decimal else { throw wrongKind(T.self, word, location) }
    let number = JSONNumber(bytes(of: word))
    guard let double = number.nearestDouble(), let value = T(exactly: double) else {
      throw JSONError.numberIsNotRepresentableInSwift(parsed: number.bytes.text)
    }
    // Beyond 2^53, the double isn't exact any more, and Foundation converts the number to a Decimal.
    guard double.magnitude < 0x1p53 else { throw document.unreliable() }
    return value
  }

  @inline(__always)
  func double(_ index: Int, _ location: @autoclosure () -> JSONLocation) throws -> Double {
    let word = self[index]
    if word.kind == .integer || word.kind == .decimal, let value = JSONNumber(bytes(of: word)).double() {
      return value
    }
    return try unusual(word, location())
  }

  @inline(__always)
  func float(_ index: Int, _ location: @autoclosure () -> JSONLocation) throws -> Float {
    let word = self[index]
    if word.kind == .integer || word.kind == .decimal, let value = JSONNumber(bytes(of: word)).float() {
      return value
    }
    return try unusual(word, location())
  }

  // Infinite numbers and NaN as strings, and errors.
  @inline(never)
  private func unusual<T: BinaryFloatingPoint>(_ word: JSONWord, _ location: JSONLocation) throws -> T {
    switch word.kind {
    case .integer, .decimal:
      guard !JSONNumber(bytes(of: word)).isZeroWithExponent else { throw document.unreliable() }
      throw JSONError.numberIsNotRepresentableInSwift(parsed: bytes(of: word).text)
    case .asciiText, .unicodeText:
      // The strings are compared byte by byte.
      guard let texts = document.options.nonFinite else { throw mismatch(T.self, word, location) }
      let bytes = bytes(of: word).buffer
      if bytes.elementsEqual(texts.positiveInfinity.utf8) { return .infinity }
      if bytes.elementsEqual(texts.negativeInfinity.utf8) { return -.infinity }
      if bytes.elementsEqual(texts.nan.utf8) { return .nan }
      throw mismatch(T.self, word, location)
    default: throw wrongKind(T.self, word, location)
    }
  }

  // MARK: Errors

  @inline(never)
  func wrongKind(_ type: Any.Type, _ word: JSONWord, _ location: JSONLocation) -> DecodingError {
    guard word.kind == .null else { return mismatch(type, word, location) }
    return .valueNotFound(
      type,
      .init(codingPath: location.keys, debugDescription: "Cannot get value of type \(type) -- found null value instead")
    )
  }

  @inline(never)
  func mismatch(_ type: Any.Type, _ word: JSONWord, _ location: JSONLocation) -> DecodingError {
    .typeMismatch(
      type,
      .init(
        codingPath: location.keys, debugDescription: "Expected to decode \(type) but found \(word.kind.name) instead."))
  }
}

extension JSONValueDecoder {
  /// Decodes a value of any type.
  @inline(__always)
  func unwrap<T: Decodable>(_ index: Int, as type: T.Type, _ location: @autoclosure () -> JSONLocation) throws -> T {
    let identifier = ObjectIdentifier(type)
    if reader.isSpecial(identifier), let special = document.options.special {
      return try special.decode(type, from: JSONElement(decoder: self, index: index, location: location()))
    }
    if reader[index].kind == .array, JSONReader.isPlainList(identifier) {
      return try list(index, as: type, identifier, location())
    }
    // Without a conversion of keys, the type's initializer decodes other values, such as null, and throws its own errors.
    if reader.convertsKeys || reader[index].kind.isContainer, let collection = reader.collection(type),
      collection.decodes(reader[index], reader)
    {
      return try decode(collection, index, location(), as: type)
    }
    return try with(index, at: location()) { try T(from: self) }
  }

  // An array of plain values, decoded in one loop. If an element is unusual, the type's initializer decodes the array.
  @inline(never)
  private func list<T: Decodable>(
    _ index: Int, as type: T.Type, _ identifier: ObjectIdentifier, _ location: @autoclosure () -> JSONLocation
  ) throws -> T {
    // SAFETY: the identifier is that of the type, so T is the type of the array.
    switch identifier {
    case JSONReader.integers:
      if let list = reader.integers(of: index) { return unsafeBitCast(list, to: type) }
    case JSONReader.doubles:
      if let list = reader.doubles(of: index) { return unsafeBitCast(list, to: type) }
    default:
      if let list = reader.strings(of: index) { return unsafeBitCast(list, to: type) }
    }
    return try with(index, at: location()) { try T(from: self) }
  }

  @inline(never)
  private func decode<Collection: JSONCollection, T>(
    _ collection: Collection.Type, _ index: Int, _ location: JSONLocation, as type: T.Type
  ) throws -> T {
    // SAFETY: the collection is the type.
    unsafeBitCast(try collection.decode(index, self, location), to: type)
  }
}

extension JSONWord.Kind {
  fileprivate var name: String {
    switch self {
    case .null: "null"
    case .isFalse, .isTrue: "bool"
    case .integer, .decimal: "number"
    case .asciiText, .unicodeText, .escapedText: "a string"
    case .array: "an array"
    case .object, .indexedObject, .irregularObject: "a dictionary"
    }
  }
}

/// A type that is decoded from an array or object without its initializer, because that takes less time.
protocol JSONCollection {
  /// Whether `decode` decodes such a value.
  static func decodes(_ value: JSONWord, _ reader: JSONReader) -> Bool

  /// Decodes the array or object at `index`.
  static func decode(_ index: Int, _ decoder: JSONValueDecoder, _ location: JSONLocation) throws -> Self
}

extension Array: JSONCollection where Element: Decodable {
  static func decodes(_ value: JSONWord, _ reader: JSONReader) -> Bool {
    value.kind == .array && value.length <= JSONReader.reservedBytesMax / MemoryLayout<Element>.stride
  }

  static func decode(_ index: Int, _ decoder: JSONValueDecoder, _ location: JSONLocation) throws -> [Element] {
    try decoder.with(index, at: location) {
      let reader = decoder.reader
      let word = reader[index]
      let path = decoder.ownPath(location)
      // SAFETY: the closure counts each element that it initializes, and there are as many as the array's length.
      return try Array(unsafeUninitializedCapacity: word.length) { buffer, count in
        guard let start = buffer.baseAddress else { return }
        var next = index &+ 1
        while next < word.position {
          let location = JSONLocation(path: path, element: count)
          (start + count).initialize(to: try decoder.unwrap(next, as: Element.self, location))
          count &+= 1
          next = reader.index(after: next)
        }
      }
    }
  }
}

extension Dictionary: JSONCollection where Key == String, Value: Decodable {
  static func decodes(_ value: JSONWord, _ reader: JSONReader) -> Bool { value.kind != .array || reader.convertsKeys }

  // The keys of dictionaries aren't converted.
  static func decode(_ index: Int, _ decoder: JSONValueDecoder, _ location: JSONLocation) throws -> [String: Value] {
    let word = decoder.reader[index]
    switch word.kind {
    case .object, .indexedObject, .irregularObject: break
    default: throw decoder.reader.wrongKind([String: Any].self, word, location)
    }
    // Foundation decodes a dictionary itself if keys are converted. Otherwise the standard library does, with a decoder that is at the
    // dictionary.
    if decoder.reader.convertsKeys { return try entries(index, decoder, location) }
    return try decoder.with(index, at: location) { try entries(index, decoder, location) }
  }

  private static func entries(
    _ index: Int, _ decoder: JSONValueDecoder, _ location: JSONLocation
  ) throws -> [String: Value] {
    // SAFETY: the values have the scalar's type.
    switch JSONScalar(Value.self) {
    case .int?:
      try entries(index, decoder, location) {
        unsafeBitCast(try decoder.reader.integer($0, $1()) as Int, to: Value.self)
      }
    case .string?:
      try entries(index, decoder, location) { unsafeBitCast(try decoder.reader.string($0, $1()), to: Value.self) }
    case .double?:
      try entries(index, decoder, location) { unsafeBitCast(try decoder.reader.double($0, $1()), to: Value.self) }
    case .bool?:
      try entries(index, decoder, location) { unsafeBitCast(try decoder.reader.bool($0, $1()), to: Value.self) }
    case nil: try entries(index, decoder, location) { try decoder.unwrap($0, as: Value.self, $1()) }
    }
  }

  @inline(__always)
  private static func entries(
    _ index: Int, _ decoder: JSONValueDecoder, _ location: JSONLocation,
    _ decode: (Int, () -> JSONLocation) throws -> Value
  ) throws -> [String: Value] {
    let reader = decoder.reader
    let word = reader[index]
    var entries: [String: Value] = [:]
    entries.reserveCapacity(Swift.min(word.length, JSONReader.reservedBytesMax / MemoryLayout<(String, Value)>.stride))
    var key = index + 2
    while word.length > 0, key < word.position {
      let name = reader.text(reader[key])
      let value: Value
      do {
        value = try decode(key + 1) {
          let key = reader.convertsKeys ? JSONKey(stringValue: name) : JSONKey(entry: name)
          return JSONLocation(path: JSONPath(decoder, location, key))
        }
      } catch {
        // The standard library decodes only the first value of equal keys.
        guard reader.convertsKeys || entries[name] == nil else { throw reader.document.unreliable() }
        throw error
      }
      // The first of equal keys counts.
      if let first = entries.updateValue(value, forKey: name) { entries[name] = first }
      key = reader.index(after: key + 1)
    }
    return entries
  }
}

extension JSONReader {
  static var integers: ObjectIdentifier { ObjectIdentifier([Int].self) }
  static var doubles: ObjectIdentifier { ObjectIdentifier([Double].self) }
  static var strings: ObjectIdentifier { ObjectIdentifier([String].self) }

  /// The largest memory, in bytes, that is allocated for the elements of an array or dictionary before they are decoded. Of a type
  /// with large values, a short document could otherwise demand any amount.
  static let reservedBytesMax = 16 << 20

  /// Whether the functions below decode the type.
  @inline(__always)
  static func isPlainList(_ type: ObjectIdentifier) -> Bool { type == strings || type == integers || type == doubles }

  func integers(of array: Int) -> [Int]? {
    elements(of: array) { $0.kind == .integer ? Int(json: bytes(of: $0)) : nil }
  }

  func doubles(of array: Int) -> [Double]? {
    elements(of: array) { $0.kind == .integer || $0.kind == .decimal ? JSONNumber(bytes(of: $0)).double() : nil }
  }

  func strings(of array: Int) -> [String]? { elements(of: array) { $0.kind.isText ? text($0) : nil } }

  // Returns nil if `element` does so.
  @inline(__always)
  private func elements<Element>(of array: Int, _ element: (JSONWord) -> Element?) -> [Element]? {
    let word = self[array]
    var elements: [Element] = []
    elements.reserveCapacity(word.length)
    var next = array &+ 1
    while next < word.position {
      guard let value = element(self[next]) else { return nil }
      elements.append(value)
      next &+= 1
    }
    return elements
  }
}
