// TextLines: the lines of a body as text.

/// Splits a body into lines of text, as Foundation does: empty lines are skipped, and invalid UTF-8 is replaced with U+FFFD.
package struct TextLines: Sendable {
  private var splitter: LineSplitter

  /// Creates a splitter for lines of at most `lineBytesMax` bytes.
  package init(lineBytesMax: Int) {
    splitter = LineSplitter(.text, lineBytesMax: lineBytesMax)
  }

  /// Returns the next line in `bytes` at or after `index`, and moves `index` to the byte after the line ending. Returns nil if the rest
  /// of the piece doesn't end a line.
  package mutating func next(
    in bytes: borrowing Span<UInt8>, from index: inout Int
  ) throws(EventStreamError) -> String? {
    while true {
      switch try splitter.next(in: bytes, from: &index) {
      case .needMoreBytes: return nil
      case .inPiece(let range):
        if !range.isEmpty { return String(copying: bytes.extracting(range)) }
      case .joined(let line):
        if !line.isEmpty { return String(decoding: line, as: UTF8.self) }
      }
    }
  }

  /// Returns the last line of the body, if it has no ending. Called after the last piece.
  package mutating func last() throws(EventStreamError) -> String? {
    var index = 0
    return try next(in: [Byte.lineFeed].span, from: &index)
  }
}
