// Hostile property lists, and what each is refused for; nil if Foundation reads it without harm, or refuses it itself.

import Foundation

@testable import Lupine
@testable import LupineURLSession

enum PropertyListVectors {
  /// Objects one behind the other, their offsets, and a trailer, of which each part can be made wrong.
  static func binary(
    _ objects: [[UInt8]], offsetBytes: Int = 1, referenceBytes: Int = 1, top: UInt64 = 0, count: UInt64? = nil,
    offsets: [Int]? = nil, table: UInt64? = nil
  ) -> Data {
    var bytes = Array("bplist00".utf8)
    var starts: [Int] = []
    for object in objects {
      starts.append(bytes.count)
      bytes += object
    }
    let end = UInt64(bytes.count)
    for start in offsets ?? starts { bytes += number(UInt64(start), length: offsetBytes) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetBytes), UInt8(referenceBytes)]
    for value in [count ?? UInt64(objects.count), top, table ?? end] { bytes += number(value, length: 8) }
    return Data(bytes)
  }

  private static func number(_ number: UInt64, length: Int) -> [UInt8] {
    (0..<length).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
  }

  /// Arrays within each other.
  static func chain(_ levels: Int) -> Data {
    let arrays = (0..<levels).map { [0xA1] + number(UInt64($0 + 1), length: 3) }
    return binary(arrays + [[0x09]], offsetBytes: 4, referenceBytes: 3)
  }

  static func xml(_ levels: Int, open: String = "<array>", close: String = "</array>") -> Data {
    Data(
      ("<plist>" + String(repeating: open, count: levels) + "<string>x</string>"
        + String(repeating: close, count: levels) + "</plist>").utf8)
  }

  private static func text(_ text: String) -> Data { Data(text.utf8) }

  private static let deep = PropertyListError.nestsTooDeep(levelsMax: 512)

  static let binaries: [(name: String, data: Data, error: PropertyListError?)] = [
    ("512 levels", chain(512), nil),
    ("513 levels", chain(513), deep),
    ("100,000 levels", chain(100_000), deep),
    (
      "a branch that is deep only from where it is referred to last",
      binary(
        (0..<300).map { [0xA2] + number($0 + 1, length: 2) + number($0 < 1 ? 301 : 600, length: 2) }
          + (300..<600).map { [0xA1] + number($0 + 1, length: 2) } + [[0x09]], offsetBytes: 2, referenceBytes: 2), deep
    ),
    ("an array within itself", binary([[0xA1, 0]]), .cyclic(object: 0)),
    ("a dictionary within itself", binary([[0xD1, 1, 0], [0x51, 0x61]]), .cyclic(object: 0)),
    ("a long cycle", binary([[0xA1, 1], [0xA1, 2], [0xA1, 1]]), .cyclic(object: 1)),
    (
      "each array holds the next twice, 2^40 values in all",
      binary((0..<40).map { [0xA2, $0 + 1, $0 + 1] } + [[0x09]]), .expandsTooFar(bytesMax: 16 << 20)
    ),
    (
      "a text of 64 KiB, 300 times",
      binary(
        [[0xAF, 0x11, 1, 44] + [UInt8](repeating: 1, count: 300)]
          + [[0x5F, 0x12, 0, 1, 0, 0] + [UInt8](repeating: 0x61, count: 65536)],
        offsetBytes: 2), .expandsTooFar(bytesMax: 16 << 20)
    ),
    ("a value twice", binary([[0xA2, 1, 1], [0xA1, 2], [0x09]]), nil),
    (
      "an offset beyond the end", binary([[0xA1, 1], [9]], offsets: [8, 250]), .malformed(part: "offset", offset: 12)
    ),
    ("an offset in the header", binary([[0xA1, 1], [9]], offsets: [8, 0]), .malformed(part: "offset", offset: 12)),
    ("a reference to no object", binary([[0xA1, 77]]), .malformed(part: "reference", offset: 9)),
    (
      "2^63 - 1 values", binary([[0xAF, 0x13, 0x7F] + [UInt8](repeating: 0xFF, count: 7)]),
      .malformed(part: "count", offset: 8)
    ),
    (
      "a count below 0", binary([[0xAF, 0x13] + [UInt8](repeating: 0xFF, count: 8)]),
      .malformed(part: "length", offset: 9)
    ),
    ("a text past the table", binary([[0x5F, 0x10, 200, 0x61]]), .malformed(part: "length", offset: 10)),
    ("UTF-16 past the table", binary([[0x62, 0, 0x61, 0]]), .malformed(part: "length", offset: 8)),
    ("a length that is no integer", binary([[0x5F, 0x51, 0x61]]), .malformed(part: "length", offset: 9)),
    ("a length that is cut off", binary([[0x5F]]), .malformed(part: "length", offset: 9)),
    (
      "an integer of 32 bytes", binary([[0x15] + [UInt8](repeating: 1, count: 32)]),
      .malformed(part: "marker", offset: 8)
    ),
    ("a set", binary([[0xC1, 1], [0x09]]), .malformed(part: "marker", offset: 8)),
    ("a number as a key", binary([[0xD1, 1, 1], [0x10, 0x61]]), .malformed(part: "key", offset: 11)),
    ("an array as a key", binary([[0xD1, 1, 1], [0xA0]]), .malformed(part: "key", offset: 11)),
    ("a date that is no number", binary([[0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]]), .malformed(part: "date", offset: 8)),
    ("an infinite date", binary([[0x33, 0xFF, 0xF0, 0, 0, 0, 0, 0, 0]]), .malformed(part: "date", offset: 8)),
    ("an archive's reference", binary([[0xA1, 1], [0x80, 7]]), nil),
    (
      "offsets of no bytes", binary([[0x09]], offsetBytes: 0),
      .malformed(part: "trailer's size of offsets or references", offset: 15)
    ),
    (
      "references of 9 bytes", binary([[0x09]], referenceBytes: 9),
      .malformed(part: "trailer's size of offsets or references", offset: 16)
    ),
    (
      "2^63 objects", binary([[0x09]], count: 1 << 63),
      .malformed(part: "trailer's number of objects", offset: 18)
    ),
    ("no objects", binary([[0x09]], count: 0), .malformed(part: "trailer's number of objects", offset: 18)),
    ("a topmost object that isn't", binary([[0x09]], top: 1), .malformed(part: "trailer's topmost object", offset: 26)),
    (
      "a table beyond the end", binary([[0x09]], table: .max),
      .malformed(part: "trailer's place of the table", offset: 34)
    ),
    ("no trailer", text("bplist00"), .malformed(part: "trailer", offset: 8)),
    ("another version", text("bplist15" + String(repeating: " ", count: 40)), .unknownFormat),
  ]

  static let texts: [(name: String, data: Data, error: PropertyListError?)] = [
    ("512 levels", xml(512), nil),
    ("514 levels", xml(514), deep),
    ("100,000 levels", xml(100_000), deep),
    ("100,000 levels of dictionaries", xml(100_000, open: "<dict><key>a</key>", close: "</dict>"), deep),
    ("100,000 open levels", xml(100_000, close: ""), deep),
    ("deep within a comment", text("<plist><!--\(String(repeating: "<a>", count: 600))--><true/></plist>"), nil),
    (
      "deep within CDATA", text("<plist><string><![CDATA[\(String(repeating: "<a>", count: 600))]]></string></plist>"),
      nil
    ),
    ("a comment that may end at once", text("<!---> --><plist/>"), .malformed(part: "comment", offset: 0)),
    ("another such comment", text("<!--> --><plist/>"), .malformed(part: "comment", offset: 0)),
    ("two hyphens in a comment", text("<!-- -- --><plist/>"), .malformed(part: "comment", offset: 0)),
    ("a comment without an end", text("<plist><!-- "), .malformed(part: "comment", offset: 7)),
    ("CDATA without an end", text("<plist><![CDATA[]]"), .malformed(part: "CDATA section", offset: 7)),
    ("an instruction without an end", text("<?xml "), .malformed(part: "instruction", offset: 0)),
    ("an instruction that may end at once", text("<?> ?><plist/>"), .malformed(part: "instruction", offset: 0)),
    ("a tag within a tag", text("<plist <array>></plist>"), .malformed(part: "tag", offset: 0)),
    ("a tag's end in quotes", text("<plist a='>'></plist>"), .malformed(part: "tag", offset: 0)),
    ("an empty tag", text("<>"), .malformed(part: "tag", offset: 0)),
    ("data of the old format", text("<0fbd77>"), .malformed(part: "tag", offset: 0)),
    ("a tag that nothing opened", text("<plist></plist></a>"), .malformed(part: "closing tag", offset: 15)),
    ("an open tag", text("<plist><array>"), .malformed(part: "end, where a tag is still open,", offset: 14)),
    ("entities of its own", text("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist/>"), .declaresDocumentType),
    ("an entity by itself", text("<!ENTITY a \"b\"><plist/>"), .declaresDocumentType),
    (
      "Apple's document type", text("<!DOCTYPE plist PUBLIC \"-//A//B\" \"http://c/d.dtd\"><plist><true/></plist>"), nil
    ),
    ("a document type in quotes", text("<!DOCTYPE plist \">"), .malformed(part: "document type", offset: 1)),
    ("UTF-8 by name", text("<?xml version=\"1.0\" encoding='utf-8'?><plist><true/></plist>"), nil),
    ("a byte order mark", Data([0xEF, 0xBB, 0xBF]) + text("<plist><true/></plist>"), nil),
    ("UTF-7, in which tags look otherwise", text("<?xml encoding=\"UTF-7\"?><plist/>"), .unsupportedEncoding),
    ("two encodings", text("<?xml encoding=\"UTF-8\" encoding=\"UTF-7\"?><plist/>"), .unsupportedEncoding),
    ("UTF-16", Data([0xFF, 0xFE]) + text("<plist/>"), .unsupportedEncoding),
    ("zeros", text("\0<\0p\0l\0i\0s\0t\0/\0>"), .unsupportedEncoding),
    ("the old format", text("{ a = (b, c); }"), .unknownFormat),
    ("the old format, 100,000 levels deep", text(String(repeating: "(", count: 100_000)), .unknownFormat),
    ("nothing", Data(), .unknownFormat),
    ("spaces", text(" \n"), .unknownFormat),
    ("something else", text("hello <plist>"), .unknownFormat),
  ]
}
