// Fields: header and trailer fields (RFC 9110 §5), stored as one byte buffer with ranges.

/// The field lines of a head or trailer section, in their order.
///
/// Names keep their spelling and are compared case-insensitively. Several lines may have the same name. The strings of names and
/// values are created on access.
public struct Fields: Sendable {
  /// A field line: a name and a value.
  public struct Field: Sendable, Hashable {
    /// The field name in the spelling in which it was received or appended.
    public let name: String
    /// The field value without surrounding white space. Bytes that aren't UTF-8 are replaced with U+FFFD.
    public let value: String
  }

  /// The ranges of a field line's name and value in `bytes`.
  struct Line: Sendable {
    let name: Range<UInt32>
    let value: Range<UInt32>

    var nameCount: UInt32 { name.upperBound - name.lowerBound }

    /// Returns the line with its ranges shifted by `new - old`. Call this when the bytes before the line have changed, so that they
    /// end at offset `new` instead of `old`.
    func moved(from old: UInt32, to new: UInt32) -> Line {
      func move(_ range: Range<UInt32>) -> Range<UInt32> {
        (range.lowerBound - old + new)..<(range.upperBound - old + new)
      }
      return Line(name: move(name), value: move(value))
    }
  }

  private(set) var bytes: [UInt8]
  private(set) var lines: [Line]

  /// Creates a collection without field lines.
  public init() {
    bytes = []
    lines = []
  }

  /// Creates the fields of a parsed section. `bytes` is the entire section as received, and `lines` contains the ranges of its
  /// field lines in `bytes`.
  init(bytes: [UInt8], lines: [Line]) {
    self.bytes = bytes
    self.lines = lines
  }

  /// Appends a field line. The name and the value are validated later, when the head is serialized.
  public mutating func append(name: String, value: String) {
    append(name.utf8, value.utf8)
  }

  /// Appends a field line whose value is given as bytes, which may be in any charset.
  package mutating func append(name: String, valueBytes: [UInt8]) {
    append(name.utf8, valueBytes)
  }

  /// Appends a field line in the form in which it is sent, so that the serializer copies the line as a whole.
  private mutating func append(_ name: some Collection<UInt8>, _ value: some Collection<UInt8>) {
    let nameStart = UInt32(bytes.count)
    bytes.append(contentsOf: name)
    let nameEnd = UInt32(bytes.count)
    bytes.append(Byte.colon)
    bytes.append(Byte.space)
    let valueStart = UInt32(bytes.count)
    bytes.append(contentsOf: value)
    let valueEnd = UInt32(bytes.count)
    bytes.append(Byte.carriageReturn)
    bytes.append(Byte.lineFeed)
    lines.append(Line(name: nameStart..<nameEnd, value: valueStart..<valueEnd))
  }

  /// Replaces the value of the first field line with this name, and its name with the spelling in `name`. If there is no such line,
  /// appends one.
  package mutating func set(name: String, value: String) {
    guard let index = firstPosition(of: name) else { return append(name: name, value: value) }
    let old = lines[index]
    let (start, end) = (old.name.lowerBound, old.value.upperBound)
    let nameEnd = start + UInt32(name.utf8.count)
    let valueStart = nameEnd + 2
    let newEnd = valueStart + UInt32(value.utf8.count)
    bytes.replaceSubrange(Int(start)..<Int(end), with: Array("\(name): \(value)".utf8))
    lines[index] = Line(name: start..<nameEnd, value: valueStart..<newEnd)
    // The bytes of all later lines move too, because lines are in the order of their bytes.
    for later in lines.indices[(index + 1)...] { lines[later] = lines[later].moved(from: end, to: newEnd) }
  }

  /// Appends each field line of `defaults` whose name this collection doesn't contain yet.
  package mutating func appendMissing(_ defaults: Fields) {
    guard !lines.isEmpty else {
      self = defaults
      return
    }
    for line in defaults.lines {
      let name = defaults.content(line.name)
      guard !lines.contains(where: { hasName($0, name) }) else { continue }
      append(name, defaults.content(line.value))
    }
  }

  /// Removes all field lines with this name.
  public mutating func remove(_ name: String) {
    // Most calls remove nothing, so that the lines needn't be copied.
    guard contains(name) else { return }
    lines = lines.filter { !matches($0.name, name) }
  }

  /// Returns the value of the first field line with this name, or nil if there is none.
  public func first(_ name: String) -> String? {
    firstPosition(of: name).map { string(lines[$0].value) }
  }

  /// Returns the values of all field lines with this name, in order.
  public func all(_ name: String) -> [String] {
    lines.filter { matches($0.name, name) }.map { string($0.value) }
  }

  /// Returns the values of all field lines with this name, joined with ", " (RFC 9110 §5.3), or nil if there is no such line.
  public func list(_ name: String) -> String? {
    guard let first = firstPosition(of: name) else { return nil }
    return lines[(first + 1)...].reduce(string(lines[first].value)) { list, line in
      matches(line.name, name) ? "\(list), \(string(line.value))" : list
    }
  }

  /// Returns whether a list-based field contains `element`, which must be in lowercase. Case is ignored, and whitespace may surround
  /// elements (RFC 9110 §5.6.1).
  package func hasElement(_ element: String, in name: String) -> Bool {
    guard let list = list(name) else { return false }
    return list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains { $0 == element }
  }

  /// Returns the bytes of the value of the field line at `position`, as received.
  ///
  /// A value may contain obs-text: bytes above 0x7F in any charset (RFC 9110 §5.5). A string can't represent bytes that aren't
  /// UTF-8.
  public func valueBytes(at position: Int) -> [UInt8] {
    Array(content(lines[position].value))
  }

  /// Returns the bytes of the value of the first field line with this name, or nil if there is none.
  public func valueBytes(_ name: String) -> [UInt8]? {
    firstPosition(of: name).map { Array(content(lines[$0].value)) }
  }

  /// Returns the bytes of the value of the field line at `position`, as received, without copying them.
  package func valueSlice(at position: Int) -> ArraySlice<UInt8> { content(lines[position].value) }

  /// Returns the bytes of the value of the first field line with this name, without copying them, or nil if there is none. `name` must
  /// be lowercase ASCII.
  package func valueSlice(_ name: StaticString) -> ArraySlice<UInt8>? {
    lines.first { matches($0.name, name) }.map { content($0.value) }
  }

  /// Returns the field lines at the positions for which `isKept` returns true. The result doesn't retain the bytes of other lines.
  package func filtered(_ isKept: (Int) -> Bool) -> Fields {
    guard lines.indices.contains(where: { !isKept($0) }) else { return self }
    var kept = Fields()
    kept.bytes.reserveCapacity(bytes.count)
    kept.lines.reserveCapacity(lines.count)
    for position in lines.indices where isKept(position) {
      kept.append(content(lines[position].name), content(lines[position].value))
    }
    return kept
  }

  /// Returns the positions of all field lines with this name, in order.
  package func positions(of name: String) -> [Int] {
    lines.indices.filter { matches(lines[$0].name, name) }
  }

  /// Returns whether there is a field line with this name.
  public func contains(_ name: String) -> Bool {
    firstPosition(of: name) != nil
  }

  /// Returns whether the field line at `position` has this name, which must be lowercase ASCII.
  package func isNamed(_ name: StaticString, at position: Int) -> Bool {
    matches(lines[position].name, name)
  }

  /// Returns whether the name of `line` equals `name`, ignoring case.
  private func hasName(_ line: Line, _ name: ArraySlice<UInt8>) -> Bool {
    content(line.name).elementsEqual(name) { Byte.lowercased($0) == Byte.lowercased($1) }
  }

  /// Returns the position of the first field line with this name, or nil if there is none.
  private func firstPosition(of name: String) -> Int? {
    // Compares the lengths first, because they differ for most lines.
    let count = name.utf8.count
    return lines.firstIndex { Int($0.nameCount) == count && matches($0.name, name) }
  }

  // Not inlined, because the loop over the lines in `firstPosition` would otherwise prepare a comparison that rarely takes place.
  @inline(never)
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

  /// Returns whether the bytes in this range equal `name`, ignoring case. `name` must be lowercase ASCII.
  @inline(__always)
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
  /// The position of the first field line: 0.
  public var startIndex: Int { 0 }
  /// The number of field lines.
  public var endIndex: Int { lines.count }
  /// The field line at `position`.
  public subscript(position: Int) -> Field {
    Field(name: string(lines[position].name), value: string(lines[position].value))
  }
}

extension Fields: Hashable {
  /// Returns whether both collections have equal lines in the same order. Names are compared case-insensitively, values byte by
  /// byte.
  public static func == (left: Fields, right: Fields) -> Bool {
    left.lines.elementsEqual(right.lines) {
      left.content($0.value) == right.content($1.value)
        && left.hasName($0, right.content($1.name))
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    for line in lines {
      for byte in content(line.name) { hasher.combine(Byte.lowercased(byte)) }
      hasher.combine(content(line.value))
    }
  }
}

extension Fields: ExpressibleByDictionaryLiteral {
  /// Creates field lines in the order of the literal.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init()
    for (name, value) in elements { append(name: name, value: value) }
  }
}
