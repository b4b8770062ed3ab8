// RecordBytes: the numbers and texts of records on disk. Numbers are little-endian. A text is its size (4) and its bytes.

/// Decodes numbers and texts from the start of a record's bytes. Each method removes the bytes that it decodes, and returns nil if
/// too few bytes are left.
package struct RecordBytes {
  private var rest: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  package var isAtEnd: Bool { rest.isEmpty }

  package mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  package mutating func byte() -> UInt8? { rest.popFirst() }

  package mutating func number32() -> UInt32? { take(4).map { $0.reversed().reduce(0) { $0 << 8 | UInt32($1) } } }

  package mutating func number64() -> UInt64? { take(8).map { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } } }

  package mutating func text() -> [UInt8]? { number32().flatMap { take(Int($0)) }.map { Array($0) } }

  package mutating func string() -> String? { text().flatMap { String(validating: $0, as: UTF8.self) } }

  /// Decodes a value that may be nil. The outer optional is nil if the bytes are malformed, and the inner one if the value was nil.
  package mutating func optional<Value>(_ value: (inout RecordBytes) -> Value?) -> Value?? {
    switch byte() {
    case 0: .some(nil)
    case 1: value(&self).map { .some($0) }
    default: nil
    }
  }

  /// Decodes a list of at most `countMax` elements, which `element` decodes. Returns nil if the bytes are malformed.
  package mutating func list<Element>(
    countMax: Int = .max, _ element: (inout RecordBytes) -> Element?
  ) -> [Element]? {
    guard let count = number32(), count <= countMax else { return nil }
    var elements: [Element] = []
    for _ in 0..<count {
      guard let element = element(&self) else { return nil }
      elements.append(element)
    }
    return elements
  }

  package static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// Encodes a text for a record: the number of its bytes as a 32-bit number, followed by the bytes.
  package static func bytes(of text: some Collection<UInt8>) -> [UInt8] { bytes(of: UInt32(text.count)) + text }

  /// Encodes a number of a record that may be nil.
  package static func bytes(ofOptional number: (some FixedWidthInteger)?) -> [UInt8] {
    number.map { [1] + bytes(of: $0) } ?? [0]
  }

  /// Encodes a text of a record that may be nil.
  package static func bytes(ofOptional text: (some Collection<UInt8>)?) -> [UInt8] {
    text.map { [1] + bytes(of: $0) } ?? [0]
  }
}
