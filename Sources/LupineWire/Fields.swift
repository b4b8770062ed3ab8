// Header and trailer fields (RFC 9110 §5): ordered, names compared without case, one byte buffer with ranges.

/// The field lines of a head or a trailer section, in the order in which they stand.
///
/// Names keep their spelling and are compared without regard to case. Several lines may have one name.
/// Strings are made only when they are asked for.
public struct Fields: Sendable {
  /// One field line.
  public struct Field: Sendable, Hashable {
    /// The field's name as it was spelled.
    public let name: String
    /// The value without surrounding white space; bytes that aren't UTF-8 are replaced by U+FFFD.
    public let value: String
  }

  /// Where one line's name and value lie in `bytes`.
  struct Line: Sendable {
    let name: Range<UInt32>
    let value: Range<UInt32>

    var nameCount: UInt32 { name.upperBound - name.lowerBound }
  }

  private(set) var bytes: [UInt8]
  private(set) var lines: [Line]

  /// Creates an empty collection.
  public init() {
    bytes = []
    lines = []
  }

  /// A parsed section: `bytes` is the section as received, `lines` point into it.
  init(bytes: [UInt8], lines: [Line]) {
    self.bytes = bytes
    self.lines = lines
  }

  /// Appends a line. Names and values are checked when a head is serialised, not here.
  public mutating func append(name: String, value: String) {
    let start = UInt32(bytes.count)
    bytes.append(contentsOf: name.utf8)
    let middle = UInt32(bytes.count)
    bytes.append(contentsOf: value.utf8)
    lines.append(Line(name: start..<middle, value: middle..<UInt32(bytes.count)))
  }

  /// Appends a line whose value may be in any charset.
  package mutating func append(name: String, valueBytes: [UInt8]) {
    let start = UInt32(bytes.count)
    bytes.append(contentsOf: name.utf8)
    let middle = UInt32(bytes.count)
    bytes.append(contentsOf: valueBytes)
    lines.append(Line(name: start..<middle, value: middle..<UInt32(bytes.count)))
  }

  /// Removes every line of that name.
  public mutating func remove(_ name: String) {
    lines = lines.filter { !matches($0.name, name) }
  }

  /// The value of the first line of that name, or nil.
  public func first(_ name: String) -> String? {
    lines.first { matches($0.name, name) }.map { string($0.value) }
  }

  /// The values of all lines of that name, in order.
  public func all(_ name: String) -> [String] {
    lines.filter { matches($0.name, name) }.map { string($0.value) }
  }

  /// All lines of that name joined by ", " as one list (RFC 9110 §5.3), or nil if there is none.
  public func list(_ name: String) -> String? {
    guard let first = lines.firstIndex(where: { matches($0.name, name) }) else { return nil }
    return lines[(first + 1)...].reduce(string(lines[first].value)) { list, line in
      matches(line.name, name) ? "\(list), \(string(line.value))" : list
    }
  }

  /// The bytes of the value of the line at that position, as they came.
  ///
  /// A value may hold obs-text, bytes above 0x7F in any charset (RFC 9110 §5.5), which a string of it has lost where
  /// they aren't UTF-8.
  public func valueBytes(at position: Int) -> [UInt8] {
    Array(content(lines[position].value))
  }

  /// The bytes of the value of the first line of that name, or nil.
  public func valueBytes(_ name: String) -> [UInt8]? {
    lines.first { matches($0.name, name) }.map { Array(content($0.value)) }
  }

  /// Whether a line of that name exists.
  public func contains(_ name: String) -> Bool {
    lines.contains { matches($0.name, name) }
  }

  /// Whether the line at that position has that name, which must be in lower case and ASCII.
  package func isNamed(_ name: StaticString, at position: Int) -> Bool {
    matches(lines[position].name, name)
  }

  private func matches(_ range: Range<UInt32>, _ name: String) -> Bool {
    let name = name.utf8
    guard range.count == name.count else { return false }
    var index = Int(range.lowerBound)
    for byte in name {
      if Byte.lowercased(bytes[index]) != Byte.lowercased(byte) { return false }
      index += 1
    }
    return true
  }

  /// `name` must be in lower case and ASCII.
  func matches(_ range: Range<UInt32>, _ name: StaticString) -> Bool {
    ByteScan.matches(bytes.span.extracting(Int(range.lowerBound)..<Int(range.upperBound)), name)
  }

  func content(_ range: Range<UInt32>) -> ArraySlice<UInt8> {
    bytes[Int(range.lowerBound)..<Int(range.upperBound)]
  }

  func string(_ range: Range<UInt32>) -> String {
    String(decoding: content(range), as: UTF8.self)
  }
}

extension Fields: RandomAccessCollection {
  /// The position of the first line.
  public var startIndex: Int { 0 }
  /// The number of lines.
  public var endIndex: Int { lines.count }
  /// The line at that position.
  public subscript(position: Int) -> Field {
    Field(name: string(lines[position].name), value: string(lines[position].value))
  }
}

extension Fields: Equatable {
  /// Equal when names (without case) and values agree line by line and byte by byte.
  public static func == (left: Fields, right: Fields) -> Bool {
    left.lines.elementsEqual(right.lines) {
      left.content($0.value) == right.content($1.value)
        && left.content($0.name).elementsEqual(right.content($1.name)) { Byte.lowercased($0) == Byte.lowercased($1) }
    }
  }
}

extension Fields: ExpressibleByDictionaryLiteral {
  /// Creates fields in the order of the literal.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init()
    for (name, value) in elements { append(name: name, value: value) }
  }
}
