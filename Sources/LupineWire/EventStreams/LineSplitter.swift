// LineSplitter: finds the lines of a body that arrives in pieces.

/// Splits a body into lines. The body arrives in pieces of any length; a line that is complete in its piece isn't copied.
package struct LineSplitter: Sendable {
  /// The bytes that end a line.
  package enum Ending: Sendable {
    /// end-of-line = ( cr lf / cr / lf ) (WHATWG HTML, 9.2.5)
    case eventStream
    /// A line feed, with an optional carriage return before it. Other line separators may occur in JSON strings.
    case lineFeed
    /// Those of Foundation's `AsyncLineSequence`: line feed, carriage return, both, U+000B, U+000C, U+0085, U+2028 and U+2029.
    case text
  }

  /// The result of looking for the next line.
  package enum Line {
    /// The line consists of these bytes of the piece.
    case inPiece(Range<Int>)
    /// The line began in an earlier piece. These are all its bytes.
    case joined([UInt8])
    /// The rest of the piece doesn't end a line. The splitter has taken it.
    case needMoreBytes
  }

  private let ending: Ending
  private let lineBytesMax: Int
  /// The beginning of a line that isn't complete.
  private var beginning: [UInt8] = []
  /// Whether the last byte was a carriage return, so that a line feed at the next byte belongs to the same line ending.
  private var skipsLineFeed = false

  /// Creates a splitter for lines of at most `lineBytesMax` bytes.
  package init(_ ending: Ending, lineBytesMax: Int) {
    self.ending = ending
    self.lineBytesMax = lineBytesMax
  }

  /// Finds the next line in `bytes` at or after `index`, and moves `index` to the byte after the line ending.
  ///
  /// At the end of the body, its last line may lack an ending. A piece that consists of a line feed then ends it.
  package mutating func next(
    in bytes: borrowing Span<UInt8>, from index: inout Int
  ) throws(EventStreamError) -> Line {
    if skipsLineFeed, index < bytes.count {
      skipsLineFeed = false
      if bytes[index] == Byte.lineFeed { index += 1 }
    }
    let start = index
    guard let (last, endingCount) = nextEnding(in: bytes, from: start) else {
      try keep(bytes, start..<bytes.count)
      index = bytes.count
      return .needMoreBytes
    }
    index = last + 1
    if ending != .lineFeed, bytes[last] == Byte.carriageReturn {
      if index == bytes.count { skipsLineFeed = true } else if bytes[index] == Byte.lineFeed { index += 1 }
    }
    let count = beginning.count + last + 1 - start - endingCount
    guard count <= lineBytesMax else { throw .lineTooLong(bytesMax: lineBytesMax) }
    if beginning.isEmpty { return .inPiece(start..<start + count) }
    var line = exchange(&beginning, with: [])
    if count > line.count {
      line.append(copying: bytes, start..<start + count - line.count)
    } else {
      // Some bytes of the line ending were in an earlier piece.
      line.removeLast(line.count - count)
    }
    return .joined(line)
  }

  private mutating func keep(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) throws(EventStreamError) {
    // The last 2 bytes may belong to the line's ending.
    guard beginning.count + range.count - 2 <= lineBytesMax else {
      beginning = []
      throw .lineTooLong(bytesMax: lineBytesMax)
    }
    beginning.append(copying: bytes, range)
  }

  /// Returns the index of the last byte of the next line ending, except for the line feed after a carriage return, and the number of
  /// the ending's bytes up to that index. Returns nil if there is no line ending.
  private func nextEnding(in bytes: borrowing Span<UInt8>, from start: Int) -> (last: Int, count: Int)? {
    var index = start
    while true {
      switch ending {
      case .eventStream:
        index = ByteScan.firstControl(in: bytes, from: index)
        guard index < bytes.count else { return nil }
        if bytes[index] == Byte.lineFeed || bytes[index] == Byte.carriageReturn { return (index, 1) }
      case .lineFeed:
        index = ByteScan.firstControl(in: bytes, from: index)
        guard index < bytes.count else { return nil }
        if bytes[index] == Byte.lineFeed {
          return (index, byte(before: index, in: bytes, from: start, 1) == Byte.carriageReturn ? 2 : 1)
        }
      case .text:
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case 0x0A...0x0D: return (index, 1)
        // U+0085 is encoded as C2 85.
        case 0x85 where byte(before: index, in: bytes, from: start, 1) == 0xC2: return (index, 2)
        // U+2028 and U+2029 are encoded as E2 80 A8 and E2 80 A9.
        case 0xA8, 0xA9:
          let isSeparator =
            byte(before: index, in: bytes, from: start, 1) == 0x80
            && byte(before: index, in: bytes, from: start, 2) == 0xE2
          if isSeparator { return (index, 3) }
        default: break
        }
      }
      index += 1
    }
  }

  /// Returns the byte of the current line that is `distance` bytes before `index`, or nil if the line is shorter. The line begins with
  /// the bytes of earlier pieces, and continues in `bytes` at `start`.
  private func byte(
    before index: Int, in bytes: borrowing Span<UInt8>, from start: Int, _ distance: Int
  ) -> UInt8? {
    if index - distance >= start { return bytes[index - distance] }
    let position = beginning.count + index - distance - start
    return position >= 0 ? beginning[position] : nil
  }
}
