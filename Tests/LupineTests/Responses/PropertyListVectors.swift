// PropertyListVectors: hostile property lists, each with the error of the check, or nil if the check passes it because
// Foundation reads or refuses it without harm.

import Foundation

@testable import Lupine
@testable import LupineURLSession

enum PropertyListVectors {
  /// Returns a binary property list: a header, the objects, the table of their offsets, and the trailer. Each parameter with
  /// a default value can make one part malformed.
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

  /// Returns a binary property list of arrays that are nested `levels` deep.
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
      "a branch that nests too deep only by its last reference",
      binary(
        (0..<300).map { [0xA2] + number($0 + 1, length: 2) + number($0 < 1 ? 301 : 600, length: 2) }
          + (300..<600).map { [0xA1] + number($0 + 1, length: 2) } + [[0x09]], offsetBytes: 2, referenceBytes: 2), deep
    ),
    ("an array that contains itself", binary([[0xA1, 0]]), .cyclic(object: 0)),
    ("a dictionary that contains itself", binary([[0xD1, 1, 0], [0x51, 0x61]]), .cyclic(object: 0)),
    ("a long cycle", binary([[0xA1, 1], [0xA1, 2], [0xA1, 1]]), .cyclic(object: 1)),
    (
      "each array contains the next one twice, 2^40 values in total",
      binary((0..<40).map { [0xA2, $0 + 1, $0 + 1] } + [[0x09]]), .expandsTooFar(bytesMax: 16 << 20)
    ),
    (
      "300 references to a string of 64 KiB",
      binary(
        [[0xAF, 0x11, 1, 44] + [UInt8](repeating: 1, count: 300)]
          + [[0x5F, 0x12, 0, 1, 0, 0] + [UInt8](repeating: 0x61, count: 65536)],
        offsetBytes: 2), .expandsTooFar(bytesMax: 16 << 20)
    ),
    ("two references to one value", binary([[0xA2, 1, 1], [0xA1, 2], [0x09]]), nil),
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
    (
      "a string that extends past the table", binary([[0x5F, 0x10, 200, 0x61]]), .malformed(part: "length", offset: 10)
    ),
    (
      "a UTF-16 string that extends past the table", binary([[0x62, 0, 0x61, 0]]), .malformed(part: "length", offset: 8)
    ),
    ("a length that isn't an integer", binary([[0x5F, 0x51, 0x61]]), .malformed(part: "length", offset: 9)),
    ("a truncated length", binary([[0x5F]]), .malformed(part: "length", offset: 9)),
    ("a length that extends past the table", binary([[0x5F, 0x11, 0]]), .malformed(part: "length", offset: 9)),
    (
      "an array that extends past the table", binary([[0x09], [0xA2, 0]], top: 1), .malformed(part: "count", offset: 9)
    ),
    (
      "an integer of 32 bytes", binary([[0x15] + [UInt8](repeating: 1, count: 32)]),
      .malformed(part: "marker", offset: 8)
    ),
    ("a set", binary([[0xC1, 1], [0x09]]), .malformed(part: "marker", offset: 8)),
    ("a number as a key", binary([[0xD1, 1, 1], [0x10, 0x61]]), .malformed(part: "key", offset: 11)),
    ("an array as a key", binary([[0xD1, 1, 1], [0xA0]]), .malformed(part: "key", offset: 11)),
    ("a date that is NaN", binary([[0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]]), .malformed(part: "date", offset: 8)),
    ("an infinite date", binary([[0x33, 0xFF, 0xF0, 0, 0, 0, 0, 0, 0]]), .malformed(part: "date", offset: 8)),
    ("a keyed archive's UID", binary([[0xA1, 1], [0x80, 7]]), nil),
    (
      "offsets of 0 bytes", binary([[0x09]], offsetBytes: 0),
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
    (
      "a root object that doesn't exist", binary([[0x09]], top: 1),
      .malformed(part: "trailer's root object", offset: 26)
    ),
    (
      "a table beyond the end", binary([[0x09]], table: .max),
      .malformed(part: "trailer's offset table position", offset: 34)
    ),
    ("no trailer", text("bplist00"), .malformed(part: "trailer", offset: 8)),
    ("another version of the binary format", text("bplist15" + String(repeating: " ", count: 40)), .unknownFormat),
  ]

  static let texts: [(name: String, data: Data, error: PropertyListError?)] = [
    ("512 levels", xml(512), nil),
    ("513 levels", xml(513), deep),
    ("100,000 levels", xml(100_000), deep),
    ("100,000 levels of dictionaries", xml(100_000, open: "<dict><key>a</key>", close: "</dict>"), deep),
    ("100,000 levels that aren't closed", xml(100_000, close: ""), deep),
    ("600 levels within a comment", text("<plist><!--\(String(repeating: "<a>", count: 600))--><true/></plist>"), nil),
    (
      "600 levels within CDATA",
      text("<plist><string><![CDATA[\(String(repeating: "<a>", count: 600))]]></string></plist>"),
      nil
    ),
    (
      "a comment that some parsers end at its start, <!--->", text("<!---> --><plist/>"),
      .malformed(part: "comment", offset: 0)
    ),
    (
      "a comment that some parsers end at its start, <!-->", text("<!--> --><plist/>"),
      .malformed(part: "comment", offset: 0)
    ),
    ("two hyphens in a comment", text("<!-- -- --><plist/>"), .malformed(part: "comment", offset: 0)),
    ("a comment without an end", text("<plist><!-- "), .malformed(part: "comment", offset: 7)),
    ("CDATA without an end", text("<plist><![CDATA[]]"), .malformed(part: "CDATA section", offset: 7)),
    ("an instruction without an end", text("<?xml "), .malformed(part: "instruction", offset: 0)),
    (
      "an instruction that some parsers end at its start, <?>", text("<?> ?><plist/>"),
      .malformed(part: "instruction", offset: 0)
    ),
    ("a tag within a tag", text("<plist <array>></plist>"), .malformed(part: "tag", offset: 0)),
    ("a tag's end in quotes", text("<plist a='>'></plist>"), .malformed(part: "tag", offset: 0)),
    ("an empty tag", text("<>"), .malformed(part: "tag", offset: 0)),
    ("data in the OpenStep format", text("<0fbd77>"), .malformed(part: "tag", offset: 0)),
    ("a closing tag without an opening one", text("<plist></plist></a>"), .malformed(part: "closing tag", offset: 15)),
    (
      "a tag that isn't closed", text("<plist><array>"), .malformed(part: "end, where a tag is still open,", offset: 14)
    ),
    ("a document type with entities", text("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist/>"), .declaresDocumentType),
    ("an entity without a document type", text("<!ENTITY a \"b\"><plist/>"), .declaresDocumentType),
    (
      "Apple's document type", text("<!DOCTYPE plist PUBLIC \"-//A//B\" \"http://c/d.dtd\"><plist><true/></plist>"), nil
    ),
    ("a document type with an open quote", text("<!DOCTYPE plist \">"), .malformed(part: "document type", offset: 1)),
    ("UTF-8 declared by name", text("<?xml version=\"1.0\" encoding='utf-8'?><plist><true/></plist>"), nil),
    ("a byte order mark", Data([0xEF, 0xBB, 0xBF]) + text("<plist><true/></plist>"), nil),
    ("UTF-7, in which tags have other bytes", text("<?xml encoding=\"UTF-7\"?><plist/>"), .unsupportedEncoding),
    ("two declared encodings", text("<?xml encoding=\"UTF-8\" encoding=\"UTF-7\"?><plist/>"), .unsupportedEncoding),
    ("UTF-16", Data([0xFF, 0xFE]) + text("<plist/>"), .unsupportedEncoding),
    ("UTF-16 without a byte order mark", text("\0<\0p\0l\0i\0s\0t\0/\0>"), .unsupportedEncoding),
    ("a list in the OpenStep format", text("{ a = (b, c); }"), .unknownFormat),
    (
      "a list in the OpenStep format, 100,000 levels deep", text(String(repeating: "(", count: 100_000)), .unknownFormat
    ),
    ("an empty list", Data(), .unknownFormat),
    ("spaces", text(" \n"), .unknownFormat),
    ("something else", text("hello <plist>"), .unknownFormat),
  ]
}
