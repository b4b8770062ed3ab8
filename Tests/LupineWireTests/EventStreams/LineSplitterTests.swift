// LineSplitterTests: the lines of a body in any split, with each kind of line ending.

import Testing

@testable import LupineWire

@Suite struct LineSplitterTests {
  private static func lines(
    _ pieces: [ArraySlice<UInt8>], _ ending: LineSplitter.Ending, bytesMax: Int = 1000
  ) throws -> [String] {
    var splitter = LineSplitter(ending, lineBytesMax: bytesMax)
    var lines: [String] = []
    // The line feed ends the last line.
    for piece in pieces + [[UInt8(ascii: "\n")]] {
      let bytes = Array(piece)
      var index = 0
      reading: while true {
        switch try splitter.next(in: bytes.span, from: &index) {
        case .needMoreBytes: break reading
        case .inPiece(let range): lines.append(String(decoding: bytes[range], as: UTF8.self))
        case .joined(let line): lines.append(String(decoding: line, as: UTF8.self))
        }
      }
      #expect(index == bytes.count)
    }
    return lines
  }

  private static let text =
    "a\n\r\nbc\rd\r\r\ne\u{B}f\u{C}g\u{85}h\u{2028}i\u{2029}j\r\u{2028}ÿ\u{A8}\u{E028}¨©\u{7F}\t\n\nk"

  @Test("a body has the same lines in one piece, byte by byte, and split at every byte")
  func endings() throws {
    let (pair, one): (Set<UInt32>, Set<UInt32>) = ([0x0D, 0x0A], [0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029])
    for (ending, ends) in [(LineSplitter.Ending.lineFeed, Set([0x0A])), (.eventStream, pair), (.text, one)] {
      let expected = Self.naiveLines(of: Self.text, ends, keepsCarriageReturn: ending == .lineFeed)
      for pieces in EventStreamParserTests.splits(of: Array(Self.text.utf8)) {
        #expect(try Self.lines(pieces, ending) == expected, "\(ending)")
      }
    }
  }

  /// Splits `text` at the scalars `ends`, scalar by scalar.
  private static func naiveLines(of text: String, _ ends: Set<UInt32>, keepsCarriageReturn: Bool) -> [String] {
    var lines = [""]
    var previous: UInt32 = 0
    for scalar in text.unicodeScalars {
      defer { previous = scalar.value }
      if !keepsCarriageReturn, previous == 0x0D, scalar.value == 0x0A { continue }
      if ends.contains(scalar.value) {
        if keepsCarriageReturn, previous == 0x0D { lines[lines.count - 1].unicodeScalars.removeLast() }
        lines.append("")
      } else {
        lines[lines.count - 1].unicodeScalars.append(scalar)
      }
    }
    return lines
  }

  @Test("a JSON string may contain all line separators except for the line feed")
  func jsonLines() throws {
    let document = "{\"a\":\"\u{2028}\u{2029}\u{85}\"}"
    for pieces in EventStreamParserTests.splits(of: Array("\(document)\r\n\(document)\n[1,\r2]".utf8)) {
      #expect(try Self.lines(pieces, .lineFeed) == [document, document, "[1,\r2]"])
    }
  }

  @Test("a line of the maximum length is read, and a longer one is refused, with each ending and at every split")
  func limit() throws {
    for (ending, end) in [
      (LineSplitter.Ending.lineFeed, "\r\n"), (.lineFeed, "\n"), (.eventStream, "\r\n"), (.text, "\u{2029}"),
      (.text, "\u{85}"),
      (.text, ""),
    ] {
      for pieces in EventStreamParserTests.splits(of: Array("12345678\(end)".utf8)) {
        #expect(try Self.lines(pieces, ending, bytesMax: 8).first == "12345678")
        #expect(throws: EventStreamError.lineTooLong(bytesMax: 7)) { try Self.lines(pieces, ending, bytesMax: 7) }
      }
    }
  }

  @Test("lines of text have no empty lines, and replace invalid UTF-8")
  func textLines() throws {
    var lines = TextLines(lineBytesMax: 100)
    var index = 0
    let bytes: [UInt8] = Array("\n\r\n\u{2028}a".utf8) + [0xFF, 0x0D, 0x0D, 0x0A, 0x62]
    #expect(try lines.next(in: bytes.span, from: &index) == "a\u{FFFD}")
    #expect(try lines.next(in: bytes.span, from: &index) == nil)
    #expect(try lines.last() == "b")
    #expect(try lines.last() == nil)
  }
}
