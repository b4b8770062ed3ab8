// A Set-Cookie field line taken apart (RFC 6265bis §5.6). Pure: bytes in, a value or the reason why there is none out.

import Foundation

/// What a server wrote, before it is asked whether it may (see `Cookie`).
struct SetCookie: Sendable, Equatable {
  /// The name as it came; it may be empty.
  var name: [UInt8]
  /// The value as it came, quotes included.
  var value: [UInt8]
  /// Seconds until it expires, at most `CookieLimits.ageSecondsMax`; 0 if it is to be removed; nil without Max-Age.
  var maxAge: Int64?
  /// When it expires; nil without an Expires that can be read.
  var expires: Date?
  /// In lower case and without a dot in front; nil without Domain, or if it is empty.
  var domain: String?
  /// As it came; nil without Path. If it doesn't begin with a slash, the default path stands in for it.
  var path: String?
  var isSecure = false
  var isHTTPOnly = false
  /// Nil without SameSite, or with a value that isn't known.
  var sameSite: HTTPCookieStringPolicy?
  /// The comment and the URL of one, of RFC 2965, which Foundation shows.
  var comment: String?
  var commentURL: String?

  /// Takes the value of one Set-Cookie field line apart.
  init(_ line: some Collection<UInt8>) throws(CookieRefusal) {
    guard line.count <= CookieLimits.lineBytesMax else { throw .lineTooLong }
    guard !line.contains(where: Self.isForbidden) else { throw .controlCharacter }
    let parts = Array(line).split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)

    // Without "=" it is a value without a name.
    let pair = parts[0]
    if let equals = pair.firstIndex(of: UInt8(ascii: "=")) {
      name = Array(Self.trimmed(pair[..<equals]))
      value = Array(Self.trimmed(pair[equals...].dropFirst()))
    } else {
      name = []
      value = Array(Self.trimmed(pair))
    }
    try Self.check(name: name, value: value)
    for attribute in parts.dropFirst() { take(attribute) }
  }

  /// Refuses what no cookie can be (RFC 6265bis §5.7, steps 2 to 4 and 22).
  static func check(name: [UInt8], value: [UInt8]) throws(CookieRefusal) {
    guard !name.isEmpty || !value.isEmpty else { throw .empty }
    guard name.count + value.count <= CookieLimits.pairBytesMax else { throw .pairTooLong }
    guard !name.contains(where: isForbidden), !value.contains(where: isForbidden) else { throw .controlCharacter }
    // Without a name it would be sent as its value alone, and look like a cookie of that name.
    if name.isEmpty, CookiePrefix(of: value) != nil { throw .prefix }
  }

  /// %x00-08 / %x0A-1F / %x7F: control characters but for the tab.
  static func isForbidden(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != 0x09) || byte == 0x7F }

  /// One attribute (RFC 6265bis §5.6.1 to §5.6.7); of several with a name the last one counts.
  private mutating func take(_ attribute: ArraySlice<UInt8>) {
    let equals = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.endIndex
    let value = Self.trimmed(attribute[equals...].dropFirst())
    guard value.count <= CookieLimits.attributeBytesMax else { return }
    switch String(decoding: Self.trimmed(attribute[..<equals]).map(Self.lowercased), as: UTF8.self) {
    case "expires": expires = CookieDate.parse(value) ?? expires
    case "max-age": maxAge = Self.seconds(value) ?? maxAge
    case "domain":
      let name = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
      domain = name.isEmpty ? nil : String(decoding: name.map(Self.lowercased), as: UTF8.self)
    case "path": path = String(decoding: value, as: UTF8.self)
    case "secure": isSecure = true
    case "httponly": isHTTPOnly = true
    case "samesite": sameSite = HTTPCookieStringPolicy(known: String(decoding: value, as: UTF8.self))
    case "comment": comment = Self.unquoted(value)
    case "commenturl": commentURL = Self.unquoted(value)
    default: break
    }
  }

  /// The text of a value that may be in quotes.
  private static func unquoted(_ value: ArraySlice<UInt8>) -> String {
    let quote = UInt8(ascii: "\"")
    let isQuoted = value.count >= 2 && value.first == quote && value.last == quote
    return String(decoding: isQuoted ? value.dropFirst().dropLast() : value, as: UTF8.self)
  }

  // [ "-" ] 1*DIGIT; any number of digits
  private static func seconds(_ text: ArraySlice<UInt8>) -> Int64? {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative ? text.dropFirst() : text
    guard !text.isEmpty, digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
    if isNegative { return 0 }
    return digits.reduce(0) { min($0 * 10 + Int64($1 - UInt8(ascii: "0")), CookieLimits.ageSecondsMax) }
  }

  /// Without the white space, SP and HTAB, at both ends.
  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    var bytes = bytes.drop(while: isSpace)
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    return bytes
  }

  // Of ASCII alone: in Unicode, letters of other scripts become those of ASCII in lower case.
  private static func lowercased(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }
}

/// The beginnings of names that promise something of their cookie (RFC 6265bis §4.1.3); compared in any case (§5.4).
enum CookiePrefix {
  /// `__Secure-`: it was set over https and goes back over https alone.
  case secure
  /// `__Host-`: and by its host for that host alone, for all paths.
  case host

  init?(of name: [UInt8]) {
    let start = String(decoding: name.prefix(9), as: UTF8.self).lowercased()
    if start == "__secure-" {
      self = .secure
    } else if start.hasPrefix("__host-") {
      self = .host
    } else {
      return nil
    }
  }
}

/// Why a cookie isn't taken.
enum CookieRefusal: Error, Sendable, Hashable {
  /// The line is longer than `CookieLimits.lineBytesMax`.
  case lineTooLong
  /// Name and value are longer than `CookieLimits.pairBytesMax`.
  case pairTooLong
  /// There is a control character in it other than a tab.
  case controlCharacter
  /// It has neither a name nor a value.
  case empty
  /// Its name has a prefix whose promise it doesn't keep.
  case prefix
  /// Its domain isn't the server's, nor one above it.
  case otherDomain
  /// Its domain belongs to a registry, so that strangers share it.
  case publicSuffix
  /// It is Secure and didn't come over https.
  case notSecure
  /// It didn't come over https and would cover one that is Secure.
  case coversSecure
}
