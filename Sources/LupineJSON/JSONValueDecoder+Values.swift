// The conversion of a document's values to Swift's. Errors have the same case and text as those of Foundation's JSONDecoder,
// because a type's initializer may catch and inspect them.

extension JSONValueDecoder {
  @inline(__always)
  func bool(_ index: Int, _ path: @autoclosure () -> JSONPath?) throws -> Bool {
    let word = reader[index]
    switch word.kind {
    case .isTrue: return true
    case .isFalse: return false
    default: throw mismatch(Bool.self, word, path())
    }
  }

  @inline(__always)
  func string(_ index: Int, _ path: @autoclosure () -> JSONPath?) throws -> String {
    let word = reader[index]
    guard word.kind.isText else { throw wrongKind(String.self, word, path()) }
    return reader.text(word)
  }

  @inline(__always)
  func integer<T: FixedWidthInteger>(_ index: Int, _ path: @autoclosure () -> JSONPath?) throws -> T {
    let word = reader[index]
    if word.kind == .integer, let value = T(json: reader.bytes(of: word)) { return value }
    return try unusualInteger(word, path())
  }

  // 1.0 and 1e2 are integers too.
  @inline(never)
  private func unusualInteger<T: FixedWidthInteger>(_ word: JSONWord, _ path: JSONPath?) throws -> T {
    guard word.kind == .integer || word.kind == .decimal else { throw wrongKind(T.self, word, path) }
    let number = JSONNumber(reader.bytes(of: word))
    guard let double = number.nearestDouble(), let value = T(exactly: double) else {
      throw JSONError.numberIsNotRepresentableInSwift(parsed: number.bytes.text)
    }
    // Beyond 2^53, the double isn't exact any more, and Foundation converts the number to a Decimal.
    guard double.magnitude < 0x1p53 else { throw document.unreliable() }
    return value
  }

  @inline(__always)
  func double(_ index: Int, _ path: @autoclosure () -> JSONPath?) throws -> Double {
    let word = reader[index]
    if word.kind == .integer || word.kind == .decimal, let value = JSONNumber(reader.bytes(of: word)).double() {
      return value
    }
    return try unusual(word, path())
  }

  @inline(__always)
  func float(_ index: Int, _ path: @autoclosure () -> JSONPath?) throws -> Float {
    let word = reader[index]
    if word.kind == .integer || word.kind == .decimal, let value = JSONNumber(reader.bytes(of: word)).float() {
      return value
    }
    return try unusual(word, path())
  }

  // Infinite numbers and NaN as strings, and errors.
  @inline(never)
  private func unusual<T: BinaryFloatingPoint>(_ word: JSONWord, _ path: JSONPath?) throws -> T {
    switch word.kind {
    case .integer, .decimal:
      guard !JSONNumber(reader.bytes(of: word)).isZeroWithExponent else { throw document.unreliable() }
      throw JSONError.numberIsNotRepresentableInSwift(parsed: reader.bytes(of: word).text)
    case .asciiText, .unicodeText:
      // The strings are compared byte by byte.
      guard let texts = document.options.nonFinite else { throw mismatch(T.self, word, path) }
      let bytes = reader.bytes(of: word).buffer
      if bytes.elementsEqual(texts.positiveInfinity.utf8) { return .infinity }
      if bytes.elementsEqual(texts.negativeInfinity.utf8) { return -.infinity }
      if bytes.elementsEqual(texts.nan.utf8) { return .nan }
      throw mismatch(T.self, word, path)
    default: throw wrongKind(T.self, word, path)
    }
  }

  /// Decodes a value of any type.
  @inline(__always)
  func unwrap<T: Decodable>(_ index: Int, as type: T.Type, _ path: @autoclosure () -> JSONPath?) throws -> T {
    let identifier = ObjectIdentifier(type)
    if reader.isSpecial(identifier), let special = document.options.special {
      return try special.decode(type, from: JSONElement(decoder: self, index: index, path: path()))
    }
    if reader[index].kind == .array, JSONReader.isPlainList(identifier) {
      return try list(index, as: type, identifier, path())
    }
    // Without a conversion of keys, the type's initializer decodes other values, such as null, and throws its own errors.
    let decodesEntries = reader.convertsKeys || reader[index].kind.isContainer && reader[index].kind != .array
    if decodesEntries, reader.isDictionary(type), let dictionary = type as? any JSONStringDictionary.Type {
      return try entries(index, path(), of: dictionary, as: type)
    }
    return try with(index, at: path()) { try T(from: self) }
  }

  // An array of plain values, decoded in one loop. If an element is unusual, the type's initializer decodes the array.
  @inline(never)
  private func list<T: Decodable>(
    _ index: Int, as type: T.Type, _ identifier: ObjectIdentifier, _ path: @autoclosure () -> JSONPath?
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
    return try with(index, at: path()) { try T(from: self) }
  }

  // The keys of dictionaries aren't converted.
  @inline(never)
  private func entries<T>(
    _ index: Int, _ path: JSONPath?, of dictionary: any JSONStringDictionary.Type, as type: T.Type
  ) throws -> T {
    let word = reader[index]
    switch word.kind {
    case .object, .indexedObject, .irregularObject: break
    default: throw wrongKind([String: Any].self, word, path)
    }
    let entries = try dictionary.entries(index, self, path)
    guard let result = entries as? T else { throw document.unreliable() }
    return result
  }

  // MARK: Errors

  @inline(never)
  func wrongKind(_ type: Any.Type, _ word: JSONWord, _ path: JSONPath?) -> DecodingError {
    guard word.kind == .null else { return mismatch(type, word, path) }
    return .valueNotFound(
      type,
      .init(codingPath: path.keys, debugDescription: "Cannot get value of type \(type) -- found null value instead"))
  }

  @inline(never)
  func mismatch(_ type: Any.Type, _ word: JSONWord, _ path: JSONPath?) -> DecodingError {
    .typeMismatch(
      type,
      .init(
        codingPath: path.keys, debugDescription: "Expected to decode \(type) but found \(word.kind.name) instead."))
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

/// A dictionary with strings as keys.
protocol JSONStringDictionary {
  /// Decodes the entries of the object at `index`.
  static func entries(_ index: Int, _ decoder: JSONValueDecoder, _ path: JSONPath?) throws -> Self
}

extension Dictionary: JSONStringDictionary where Key == String, Value: Decodable {
  static func entries(_ index: Int, _ decoder: JSONValueDecoder, _ path: JSONPath?) throws -> [String: Value] {
    // SAFETY: the values have the scalar's type.
    switch JSONScalar(Value.self) {
    case .int?:
      try entries(index, decoder, path) { unsafeBitCast(try decoder.integer($0, $1()) as Int, to: Value.self) }
    case .string?: try entries(index, decoder, path) { unsafeBitCast(try decoder.string($0, $1()), to: Value.self) }
    case .double?: try entries(index, decoder, path) { unsafeBitCast(try decoder.double($0, $1()), to: Value.self) }
    case .bool?: try entries(index, decoder, path) { unsafeBitCast(try decoder.bool($0, $1()), to: Value.self) }
    case nil: try entries(index, decoder, path) { try decoder.unwrap($0, as: Value.self, $1()) }
    }
  }

  @inline(__always)
  private static func entries(
    _ index: Int, _ decoder: JSONValueDecoder, _ path: JSONPath?, _ decode: (Int, () -> JSONPath) throws -> Value
  ) throws -> [String: Value] {
    let reader = decoder.reader
    let word = reader[index]
    var entries: [String: Value] = [:]
    entries.reserveCapacity(word.length)
    var key = index + 2
    while word.length > 0, key < word.position {
      let name = reader.text(reader[key])
      let value = try decode(key + 1) {
        // Foundation decodes a dictionary itself if keys are converted, and the standard library otherwise.
        JSONPath(decoder, path, reader.convertsKeys ? JSONKey(stringValue: name) : JSONKey(entry: name))
      }
      // The first of equal keys counts.
      if let first = entries.updateValue(value, forKey: name) { entries[name] = first }
      key = reader.index(after: key + 1)
    }
    return entries
  }
}

extension JSONReader {
  static let integers = ObjectIdentifier([Int].self)
  static let doubles = ObjectIdentifier([Double].self)
  static let strings = ObjectIdentifier([String].self)

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
