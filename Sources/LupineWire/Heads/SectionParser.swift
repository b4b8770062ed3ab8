// SectionParser: parses response heads, request heads and trailer sections, up to the empty line (RFC 9112 §2.1, §5).

/// Parses a head or a trailer section from pieces of any size.
///
/// Lines end with CRLF; a lone LF is accepted as well (RFC 9112 §2.2). The parser inspects each byte once. It copies a section
/// once, when it is complete, unless the section arrives in pieces.
package struct SectionParser: Sendable {
  package enum Kind: Sendable { case response, request, trailers }

  /// A complete head or trailer section. The buffer of `fields` contains all of the section's bytes, including the start line.
  package struct Section: Sendable {
    package let startLine: Range<UInt32>
    /// The parsed start line of a response's head, or nil for a section of another kind.
    let statusLine: StatusLine?
    package let fields: Fields
    /// The bytes as received if the section had line folds, or nil if it had none. In the buffer of `fields`, line folds are
    /// replaced with spaces.
    package let folded: [UInt8]?
    package let byteCount: Int
  }

  package enum Step: Sendable {
    case needMoreBytes
    case section(Section)
  }

  /// The number of field lines for which memory is reserved at a section's first field line. Most responses have fewer lines.
  private static let linesExpected = 16

  private let kind: Kind
  private let limits: Limits
  private let bytesMax: Int

  private var pending: [UInt8] = []  // the bytes of the section from earlier calls
  private var scanned = 0  // the number of bytes already searched for line ends
  private var lineStart = 0
  private var startLine: Range<UInt32>?
  private var statusLine: StatusLine?
  private var lines: [Fields.Line] = []
  private var folds: [Range<Int>] = []  // the line folds to replace with spaces

  package init(_ kind: Kind, limits: Limits) {
    self.kind = kind
    self.limits = limits
    // Lines are stored as 32-bit ranges.
    bytesMax = min(kind == .trailers ? limits.trailerBytesMax : limits.headBytesMax, Int(UInt32.max))
  }

  /// The number of bytes consumed so far of a section that isn't complete yet.
  package var pendingCount: Int { pending.count }

  /// Parses bytes from `cursor` on. Moves `cursor` to the first byte after the section or, if the section is incomplete, to the end
  /// of the bytes.
  package mutating func next(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(WireError) -> Step {
    guard let complete = try readSection(bytes, at: &cursor) else { return .needMoreBytes }
    return .section(makeSection(from: complete))
  }

  /// Parses bytes like `next`, with a parser of responses. Returns nil if the head is incomplete.
  ///
  /// The head is created here, because the parts of a section that `next` returns would be copied.
  mutating func nextHead(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(WireError) -> ResponseHead? {
    guard let complete = try readSection(bytes, at: &cursor) else { return nil }
    return ResponseHead(makeSection(from: complete))
  }

  /// Reads the section's lines from `cursor` on. Returns the bytes of the entire section, or nil if the section is incomplete.
  private mutating func readSection(
    _ bytes: borrowing Span<UInt8>, at cursor: inout Int
  ) throws(WireError) -> [UInt8]? {
    if pending.isEmpty {
      if let end = try scan(bytes.extracting(cursor..<bytes.count)) {
        let start = cursor
        cursor += end
        return [UInt8](copying: bytes, start..<cursor)
      }
      pending.append(copying: bytes, cursor..<bytes.count)
    } else {
      let before = pending.count
      var buffer = exchange(&pending, with: [])
      buffer.append(copying: bytes, cursor..<bytes.count)
      if let end = try scan(buffer.span) {
        buffer.removeLast(buffer.count - end)
        cursor += end - before
        return buffer
      }
      swap(&buffer, &pending)
    }
    cursor = bytes.count
    return nil
  }

  /// Reads the section's lines from offset `scanned` on. Returns the index after the section, or nil if the section is incomplete.
  private mutating func scan(_ bytes: borrowing Span<UInt8>) throws(WireError) -> Int? {
    if kind == .response, startLine == nil { try checkPrefix(bytes) }
    while true {
      var end = ByteScan.firstControl(in: bytes, from: scanned)
      while end < bytes.count, bytes[end] == Byte.tab { end = ByteScan.firstControl(in: bytes, from: end + 1) }
      var next = end + 1
      guard end < bytes.count else {
        guard end <= bytesMax else { throw tooLarge }
        scanned = end
        return nil
      }
      guard next <= bytesMax else { throw tooLarge }
      switch bytes[end] {
      case Byte.lineFeed: break
      case Byte.carriageReturn:
        guard next < bytes.count else {
          scanned = end
          return nil
        }
        guard bytes[next] == Byte.lineFeed else { throw .forbiddenByte(Byte.carriageReturn, offset: end) }
        next += 1
        guard next <= bytesMax else { throw tooLarge }
      case let byte: throw .forbiddenByte(byte, offset: end)
      }
      if try readLine(bytes, lineStart..<end, next: next) { return next }
      lineStart = next
      scanned = next
    }
  }

  /// Parses the line in the range `line`. Returns whether the line is the empty line that ends the section.
  private mutating func readLine(
    _ bytes: borrowing Span<UInt8>, _ line: Range<Int>, next: Int
  ) throws(WireError) -> Bool {
    if startLine == nil, kind != .trailers {
      if kind == .response { statusLine = try StatusLine(bytes, line) }
      startLine = place(of: line)
    } else if line.isEmpty {
      return true
    } else if bytes[line.lowerBound] == Byte.space || bytes[line.lowerBound] == Byte.tab {
      try continueLine(bytes, line)
    } else {
      guard lines.count < limits.fieldLinesMax else { throw .tooManyFields(limit: limits.fieldLinesMax) }
      if lines.isEmpty { lines.reserveCapacity(Self.linesExpected) }
      lines.append(try fieldLine(bytes, line))
    }
    return false
  }

  // field-line = field-name ":" OWS field-value OWS (9112 §5)
  @inline(__always)
  private func fieldLine(_ bytes: borrowing Span<UInt8>, _ line: Range<Int>) throws(WireError) -> Fields.Line {
    // The search stops at the line's end at the latest, because CR and LF aren't token characters.
    let colon = ByteScan.firstNonToken(in: bytes, from: line.lowerBound)
    guard colon < line.upperBound, bytes[colon] == Byte.colon, colon > line.lowerBound else {
      let isSpace = colon < line.upperBound && (bytes[colon] == Byte.space || bytes[colon] == Byte.tab)
      throw isSpace && colon > line.lowerBound
        ? .spaceBeforeColon(offset: colon) : .malformedFieldName(offset: colon)
    }
    let value = trim(bytes, colon + 1..<line.upperBound)
    return Fields.Line(name: place(of: line.lowerBound..<colon), value: place(of: value))
  }

  // obs-fold = OWS CRLF RWS: a user agent replaces it with spaces (RFC 9112 §5.2).
  private mutating func continueLine(_ bytes: borrowing Span<UInt8>, _ line: Range<Int>) throws(WireError) {
    guard let last = lines.popLast() else { throw .malformedFieldName(offset: line.lowerBound) }
    let rest = trim(bytes, line)
    if rest.isEmpty {
      lines.append(last)
    } else {
      if last.value.isEmpty {
        lines.append(Fields.Line(name: last.name, value: place(of: rest)))
      } else {
        folds.append(Int(last.value.upperBound)..<rest.lowerBound)
        lines.append(Fields.Line(name: last.name, value: last.value.lowerBound..<UInt32(rest.upperBound)))
      }
    }
  }

  // Converts to 32 bits without a check, because a section has at most `bytesMax` bytes.
  @inline(__always)
  private func place(of range: Range<Int>) -> Range<UInt32> {
    UInt32(truncatingIfNeeded: range.lowerBound)..<UInt32(truncatingIfNeeded: range.upperBound)
  }

  @inline(__always)
  private func trim(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high, bytes[low] == Byte.space || bytes[low] == Byte.tab { low += 1 }
    while low < high, bytes[high - 1] == Byte.space || bytes[high - 1] == Byte.tab { high -= 1 }
    return low..<high
  }

  // Inlined, so that the parts of the section are moved into a head.
  @inline(__always)
  private mutating func makeSection(from received: consuming [UInt8]) -> Section {
    // Resets the state for the next section.
    defer { (scanned, lineStart, startLine, statusLine, folds) = (0, 0, nil, nil, []) }
    let taken = exchange(&lines, with: [])
    let byteCount = received.count
    let folded: [UInt8]? = if folds.isEmpty { nil } else { copy received }
    var bytes = received
    for fold in folds { for index in fold { bytes[index] = Byte.space } }
    return Section(
      startLine: startLine ?? 0..<0, statusLine: statusLine, fields: Fields(bytes: bytes, lines: taken), folded: folded,
      byteCount: byteCount)
  }

  private var tooLarge: WireError {
    kind == .trailers ? .trailersTooLarge(limit: bytesMax) : .headTooLarge(limit: bytesMax)
  }

  /// Throws `WireError.notHTTP` as soon as the first bytes show that the peer doesn't speak HTTP, because such a peer may never
  /// send a line end.
  private func checkPrefix(_ bytes: borrowing Span<UInt8>) throws(WireError) {
    let expected: StaticString = "HTTP/"
    let agrees = expected.withUTF8Buffer { expected in
      for index in 0..<min(expected.count, bytes.count) where bytes[index] != expected[index] { return false }
      return true
    }
    if agrees { return }
    var prefix = ""
    for index in 0..<min(16, bytes.count) {
      guard bytes[index] != Byte.carriageReturn, bytes[index] != Byte.lineFeed else { break }
      let isPrintable = bytes[index] >= 0x20 && bytes[index] < 0x7F
      prefix.unicodeScalars.append(isPrintable ? Unicode.Scalar(bytes[index]) : "?")
    }
    throw .notHTTP(prefix: prefix)
  }
}
