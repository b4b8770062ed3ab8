// AcceptQuery: parses the field with which a server lists the formats of queries that it accepts (RFC 10008 §3).

/// The media ranges of an Accept-Query field: the formats in which a resource accepts the content of QUERY requests.
///
/// The field is a List of Structured Fields (RFC 9651), whose members are Tokens or Strings with parameters. A server may send it in any
/// response, such as one to OPTIONS or a 415.
public struct AcceptQuery: Sendable, Hashable {
  /// A format that the resource accepts, such as `application/sql;charset="UTF-8"`, or a range of formats, such as `text/*`.
  public struct MediaRange: Sendable, Hashable {
    /// The media type in lowercase, such as "application/sql", "text/*" or "*/*".
    public let type: String
    /// The parameters in their order. The names are in lowercase.
    public let parameters: [Challenge.Parameter]

    /// Returns whether the range contains a media type without parameters, such as "text/plain". Ignores case.
    public func contains(_ mediaType: String) -> Bool {
      let other = mediaType.lowercased()
      guard type != "*/*" else { return true }
      guard type.hasSuffix("/*") else { return type == other }
      return other.hasPrefix(type.dropLast(1))
    }
  }

  /// The media ranges in their order, at most `mediaRangesMax`. The order has no meaning.
  public let mediaRanges: [MediaRange]

  /// The maximum number of media ranges: 100. Servers list a few; the limit bounds the memory for a hostile field.
  public static let mediaRangesMax = 100

  /// Parses the value of an Accept-Query field. The lines of several fields must be joined with commas, as `Fields.list` returns them.
  ///
  /// Returns nil if the syntax is invalid, because the whole field must then be ignored (RFC 9651 §4.2), or if there are more than
  /// `mediaRangesMax` ranges.
  public init?(_ value: String) {
    var reader = ListReader(Array(value.utf8))
    guard let ranges = reader.mediaRanges() else { return nil }
    mediaRanges = ranges
  }

  /// Returns whether a query may have this media type, such as "application/sql". Ignores case and parameters.
  public func accepts(_ mediaType: String) -> Bool {
    let type = mediaType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
    return mediaRanges.contains { $0.contains(String(type)) }
  }
}

extension Fields {
  /// The formats in which the resource accepts the content of QUERY requests. Nil if there is no Accept-Query field, or if its syntax is
  /// invalid.
  public var acceptQuery: AcceptQuery? { list("Accept-Query").flatMap { AcceptQuery($0) } }
}

/// Parses a List of Structured Fields whose members are Tokens or Strings (RFC 9651 §4.2.1), from left to right.
private struct ListReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  // sf-list = list-member *( OWS "," OWS list-member )
  mutating func mediaRanges() -> [AcceptQuery.MediaRange]? {
    var ranges: [AcceptQuery.MediaRange] = []
    skip { $0 == Byte.space }
    while position < bytes.count {
      guard ranges.count < AcceptQuery.mediaRangesMax, let range = mediaRange() else { return nil }
      ranges.append(range)
      skip(FieldList.isBlank)
      guard position < bytes.count else { break }
      guard skipOne(Byte.comma) else { return nil }
      skip(FieldList.isBlank)
      // A list must not end with a comma.
      guard position < bytes.count else { return nil }
    }
    return ranges
  }

  private mutating func mediaRange() -> AcceptQuery.MediaRange? {
    guard let type = bareItem()?.lowercased() else { return nil }
    let parts = type.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isTokenCharacter) }),
      !type.hasPrefix("*/") || type == "*/*"
    else { return nil }
    var parameters: [Challenge.Parameter] = []
    // parameters = *( ";" *SP key [ "=" bare-item ] )
    while skipOne(Byte.semicolon) {
      skip { $0 == Byte.space }
      guard let name = key() else { return nil }
      var value = ""
      if skipOne(Byte.equals) {
        guard let item = bareItem() else { return nil }
        value = item
      }
      parameters.append(Challenge.Parameter(name: name, value: value))
    }
    return AcceptQuery.MediaRange(type: type, parameters: parameters)
  }

  // key = ( lcalpha / "*" ) *( lcalpha / DIGIT / "_" / "-" / "." / "*" )
  private mutating func key() -> String? {
    let start = position
    guard position < bytes.count, Self.isLowercase(bytes[position]) || bytes[position] == Self.asterisk else {
      return nil
    }
    skip {
      Self.isLowercase($0) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
        || [Self.asterisk, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains($0)
    }
    return text(start..<position)
  }

  private static let asterisk = UInt8(ascii: "*")

  private static func isLowercase(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }

  // bare-item = sf-string / sf-token, and for parameters also numbers and other types, whose characters are those of a token
  private mutating func bareItem() -> String? {
    if skipOne(Byte.doubleQuote) { return quotedString() }
    let start = position
    // sf-token = ( ALPHA / "*" ) *( tchar / ":" / "/" )
    skip { $0.isTokenCharacter || $0 == Byte.colon || $0 == UInt8(ascii: "/") }
    return position > start ? text(start..<position) : nil
  }

  // sf-string = DQUOTE *( unescaped / "%" / bs-escaped ) DQUOTE
  private mutating func quotedString() -> String? {
    var content: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case Byte.doubleQuote: return String(decoding: content, as: UTF8.self)
      case Byte.backslash:
        guard position < bytes.count, [Byte.doubleQuote, Byte.backslash].contains(bytes[position]) else { return nil }
        content.append(bytes[position])
        position += 1
      case Byte.space..<0x7F: content.append(byte)
      default: return nil
      }
    }
    return nil
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
    while position < bytes.count, isSkipped(bytes[position]) { position += 1 }
  }

  private mutating func skipOne(_ byte: UInt8) -> Bool {
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }
}
