// DataURL: parses and decodes data: URLs (RFC 2397).

import Foundation
import LupineEngine

/// The decoded content of a `data:` URL, and its media type.
///
/// The size of the content isn't limited, because the content is never longer than the URL, which is already in memory.
struct DataURL: Equatable {
  /// The media type without parameters, in lowercase.
  let mediaType: String
  /// The `charset` parameter of the data URL's media type, in lowercase, or nil if the URL states none.
  let charset: String?
  let content: Data

  /// The media type of a `data:` URL that states none (RFC 2397 §2).
  private static let defaultMediaType = "text/plain"

  private typealias Bytes = ArraySlice<UInt8>

  // dataurl = "data:" [ mediatype ] [ ";base64" ] "," data
  /// Decodes a `data:` URL, ignoring its fragment.
  init(_ url: String) throws(DataURLError) {
    let bytes = Array(url.utf8).prefix { $0 != UInt8(ascii: "#") }
    guard Self.text(bytes.prefix(5)) == "data:" else { throw .otherScheme }
    guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else { throw .missingComma }
    var head = bytes[5..<comma]
    let isBase64 = Self.text(head.suffix(7)) == ";base64"
    if isBase64 { head = head.dropLast(7) }
    (mediaType, charset) = try Self.mediaType(try Self.percentDecoded(head)[...])
    let data = try Self.percentDecoded(bytes[(comma + 1)...])
    content = isBase64 ? try Self.base64Decoded(data) : Data(data)
  }

  /// Converts ASCII bytes to a lowercase string.
  private static func text(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self).lowercased()
  }

  // MARK: The media type

  // mediatype = [ type "/" subtype ] *( ";" parameter ); parameter = token "=" ( token / quoted-string )
  private static func mediaType(_ bytes: Bytes) throws(DataURLError) -> (String, String?) {
    if bytes.isEmpty { return (defaultMediaType, nil) }
    var rest = bytes
    var mediaType = defaultMediaType
    if rest.first != UInt8(ascii: ";") {
      let type = try takeToken(&rest)
      guard rest.popFirst() == UInt8(ascii: "/") else { throw .malformedMediaType }
      mediaType = "\(text(type))/\(text(try takeToken(&rest)))"
    }
    var charset: String?
    skipBlanks(&rest)
    while let separator = rest.popFirst() {
      guard separator == UInt8(ascii: ";") else { throw .malformedMediaType }
      skipBlanks(&rest)
      let name = try takeToken(&rest)
      guard rest.first == UInt8(ascii: "=") else {
        // A parameter without a value is ignored, as in Foundation.
        rest = rest.drop { $0 != UInt8(ascii: ";") }
        continue
      }
      rest.removeFirst()
      let value = rest.first == UInt8(ascii: "\"") ? try takeQuoted(&rest) : Array(try takeToken(&rest))
      if charset == nil, text(name) == "charset" { charset = text(value) }
      skipBlanks(&rest)
    }
    return (mediaType, charset)
  }

  private static func skipBlanks(_ rest: inout Bytes) {
    rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
  }

  private static func takeToken(_ rest: inout Bytes) throws(DataURLError) -> Bytes {
    let token = rest.prefix(while: \.isTokenCharacter)
    guard !token.isEmpty else { throw .malformedMediaType }
    rest = rest[token.endIndex...]
    return token
  }

  private static func takeQuoted(_ rest: inout Bytes) throws(DataURLError) -> [UInt8] {
    let (value, isClosed) = FieldList.takeQuoted(&rest)
    guard isClosed else { throw .malformedMediaType }
    return value
  }

  // MARK: The content

  // pct-encoded = "%" HEXDIG HEXDIG (RFC 3986 §2.1)
  private static func percentDecoded(_ bytes: Bytes) throws(DataURLError) -> [UInt8] {
    guard bytes.contains(UInt8(ascii: "%")) else { return Array(bytes) }
    if let decoded = PercentEncoding.decode(bytes) { return decoded }
    let malformed = bytes.indices.first { index in
      bytes[index] == UInt8(ascii: "%") && bytes[index...].dropFirst().prefix(2).count { Byte.hexValue($0) != nil } < 2
    }
    throw .malformedEscape(at: malformed ?? bytes.startIndex)
  }

  /// Decodes base64 (RFC 4648 §4). Skips white space, such as line breaks, and accepts missing padding, as browsers do (Infra
  /// standard, "forgiving-base64 decode").
  private static func base64Decoded(_ bytes: [UInt8]) throws(DataURLError) -> Data {
    let text = bytes.filter { byte in
      switch byte {
      case 0x09, 0x0A, 0x0C, 0x0D, 0x20: false
      default: true
      }
    }
    let digits = text.prefix { $0 != UInt8(ascii: "=") }
    let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
    let given = text[digits.endIndex...]
    // The padding is checked here, because Foundation would refuse missing padding, and decode "====" to a byte.
    guard padding.count < 3, given.isEmpty || given.elementsEqual(padding),
      let data = Data(base64Encoded: Data(digits + padding))
    else { throw .malformedBase64 }
    return data
  }
}

/// The reason why a `data:` URL can't be decoded.
enum DataURLError: Error, Equatable, CustomStringConvertible {
  /// The URL doesn't begin with `data:`.
  case otherScheme
  /// The comma between the media type and the content is missing.
  case missingComma
  /// The part before the comma isn't a media type with parameters.
  case malformedMediaType
  /// A "%" isn't followed by two hex digits. The associated value is the offset of the "%" in the URL, in bytes.
  case malformedEscape(at: Int)
  /// The base64 content has a character outside of the base64 alphabet, an incomplete last group, or padding that doesn't match.
  case malformedBase64

  var description: String {
    switch self {
    case .otherScheme: "The URL doesn't begin with \"data:\". Pass a data: URL."
    case .missingComma: "The data URL has no comma. Put one before the content (RFC 2397 §3)."
    case .malformedMediaType:
      "The data URL's media type is malformed. Use type/subtype;name=value, followed by ;base64 for base64 (RFC 2397 "
        + "§3)."
    case .malformedEscape(let offset):
      "The % at byte \(offset) of the data URL isn't followed by two hex digits. Write %25 for a percent sign."
    case .malformedBase64: "The data URL's content isn't base64 (RFC 4648 §4). Encode it again, or remove ;base64."
    }
  }
}
