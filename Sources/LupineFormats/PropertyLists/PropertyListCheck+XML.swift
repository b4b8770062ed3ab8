// XMLPropertyListCheck: checks the tags of an XML property list, and rejects constructs that parsers could interpret differently.

import Foundation

struct XMLPropertyListCheck {
  private let bytes: [UInt8]
  private var position = 0
  private var depth = 0

  /// Throws `PropertyListError.unsupportedEncoding` unless `bytes` are UTF-8 text, and `.unknownFormat` unless the text begins
  /// with "<". A byte order mark and white space may precede the "<".
  init(_ bytes: [UInt8]) throws(PropertyListError) {
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    self.bytes = bytes
    guard let first = bytes[start...].first(where: { !Self.isSpace($0) }) else { throw .unknownFormat }
    // Without a byte order mark, zero bytes identify UTF-16 and UTF-32.
    guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else { throw .unsupportedEncoding }
    guard first == UInt8(ascii: "<") else { throw .unknownFormat }
    position = start
  }

  /// Checks all tags, comments, processing instructions and CDATA sections of the property list.
  mutating func check() throws(PropertyListError) {
    while let tag = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
      position = tag
      if starts(with: "<?") {
        try skipInstruction()
      } else if starts(with: "<!--") {
        try skipComment()
      } else if starts(with: "<![CDATA[") {
        try skip(past: "]]>", from: tag + 9, part: "CDATA section")
      } else if starts(with: "<!") {
        try skipDocumentType()
      } else {
        try readTag()
      }
    }
    guard depth == 0 else { throw .malformed(part: "end, where a tag is still open,", offset: bytes.count) }
  }

  /// Reads an element's tag up to the first ">". Throws `PropertyListError.malformed` if this ">" is in quotation marks, because
  /// parsers differ on whether such a ">" ends the tag.
  private mutating func readTag() throws(PropertyListError) {
    let start = position
    let contents = try contents(from: start + 1, part: "tag")
    position = contents.endIndex + 1
    guard let first = contents.first, let last = contents.last else { throw .malformed(part: "tag", offset: start) }
    if first == UInt8(ascii: "/") {
      depth -= 1
      guard depth >= 0 else { throw .malformed(part: "closing tag", offset: start) }
    } else {
      guard Self.isLetter(first) else { throw .malformed(part: "tag", offset: start) }
      depth += last == UInt8(ascii: "/") ? 0 : 1
      guard depth <= PropertyListLimits.nestingMax + 2 else {  // <plist>, and a value within
        throw .nestsTooDeep(levelsMax: PropertyListLimits.nestingMax)
      }
    }
  }

  /// Returns the text from `start` up to the next ">". Throws `PropertyListError.malformed` if the text contains "<" or unpaired
  /// quotation marks.
  private func contents(from start: Int, part: String) throws(PropertyListError) -> ArraySlice<UInt8> {
    guard let end = bytes[start...].firstIndex(of: UInt8(ascii: ">")) else {
      throw .malformed(part: part, offset: start - 1)
    }
    let contents = bytes[start..<end]
    var quote: UInt8?
    for byte in contents {
      if byte == UInt8(ascii: "<") { throw .malformed(part: part, offset: start - 1) }
      guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else { continue }
      if quote == byte { quote = nil } else if quote == nil { quote = byte }
    }
    guard quote == nil else { throw .malformed(part: part, offset: start - 1) }
    return contents
  }

  /// Skips a document type declaration that refers to an external document type, such as Apple's. Throws
  /// `PropertyListError.declaresDocumentType` if the declaration itself contains declarations.
  private mutating func skipDocumentType() throws(PropertyListError) {
    let bracketOrEnd = bytes[position...].first { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: ">") }
    guard starts(with: "<!DOCTYPE"), bracketOrEnd != UInt8(ascii: "[") else { throw .declaresDocumentType }
    let contents = try contents(from: position + 2, part: "document type")
    position = contents.endIndex + 1
  }

  /// Skips a comment. Throws `PropertyListError.malformed` if the comment contains "--" (XML 1.0 §2.5), or if its start overlaps
  /// its end, as in "<!-->".
  private mutating func skipComment() throws(PropertyListError) {
    let start = position
    try skip(past: "--", from: start + 4, part: "comment")
    guard position < bytes.count, bytes[position] == UInt8(ascii: ">"),
      !starts(with: ">", at: start + 4), !starts(with: "->", at: start + 4)
    else { throw .malformed(part: "comment", offset: start) }
    position += 1
  }

  /// Skips a processing instruction or the XML declaration, `<?xml … ?>`. Throws `PropertyListError.unsupportedEncoding` if an XML
  /// declaration names an encoding other than UTF-8 and ASCII, which is a subset of UTF-8.
  private mutating func skipInstruction() throws(PropertyListError) {
    let start = position
    try skip(past: "?>", from: start + 2, part: "instruction")
    let text = String(decoding: bytes[start + 2..<position - 2], as: UTF8.self).lowercased()
    guard !text.hasPrefix(">") else { throw .malformed(part: "instruction", offset: start) }
    let parts = text.split(separator: "encoding", omittingEmptySubsequences: false)
    let allowed = ["utf-8", "us-ascii"].flatMap { ["=\"\($0)\"", "='\($0)'"] }
    guard parts.count == 1 || parts.count == 2 && allowed.contains(where: parts[1].hasPrefix) else {
      throw .unsupportedEncoding
    }
  }

  private mutating func skip(past end: String, from start: Int, part: String) throws(PropertyListError) {
    let end = Array(end.utf8)
    var next = start
    while next + end.count <= bytes.count {
      if bytes[next] == end[0], bytes[next..<next + end.count].elementsEqual(end) {
        position = next + end.count
        return
      }
      next += 1
    }
    throw .malformed(part: part, offset: position)
  }

  private func starts(with text: String, at start: Int? = nil) -> Bool {
    bytes[(start ?? position)...].starts(with: text.utf8)
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || 0x09...0x0D ~= byte
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }
}
