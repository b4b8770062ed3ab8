// SetCookie: parses a Set-Cookie field line (RFC 6265bis §5.6), and splits lines that were joined.

import Foundation
import LupineWire

/// A parsed Set-Cookie field line. `Cookie` checks later whether the server may set this cookie.
struct SetCookie: Sendable, Equatable {
  /// The cookie's name as received. It may be empty.
  var name: [UInt8]
  /// The cookie's value as received, including quotation marks.
  var value: [UInt8]
  /// The cookie's lifetime in seconds, at most `CookieLimits.ageSecondsMax`, or nil if there is no valid Max-Age attribute. 0 means
  /// that the server removes the cookie.
  var maxAge: Int64?
  /// The date in the cookie's Expires attribute, or nil if there is no valid Expires attribute.
  var expires: Date?
  /// The value of the cookie's Domain attribute in lowercase and without a leading dot. Nil if the attribute is missing or empty.
  var domain: String?
  /// The value of the cookie's Path attribute as received, or nil if the attribute is missing. If the value doesn't begin with a
  /// slash, the cookie gets the default path.
  var path: String?
  var isSecure = false
  var isHTTPOnly = false
  /// The value of the cookie's SameSite attribute, or nil if the attribute is missing or has an unknown value.
  var sameSite: HTTPCookieStringPolicy?
  /// The value of the cookie's Comment attribute (RFC 2965), or nil if the attribute is missing. Applications can read it from
  /// `HTTPCookie`.
  var comment: String?
  var commentURL: String?

  /// Parses the value of one Set-Cookie field line. Throws a `CookieRefusal` if no server may set such a cookie: `.lineTooLong`,
  /// `.controlCharacter`, or a case that `check(name:value:)` throws.
  init(_ line: some Collection<UInt8>) throws(CookieRefusal) {
    guard line.count <= CookieLimits.lineBytesMax else { throw .lineTooLong }
    guard !line.contains(where: Self.isForbidden) else { throw .controlCharacter }
    let parts = Array(line).split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)

    // Without "=", the text is the value of a cookie without a name.
    let pair = parts[0]
    if let equals = pair.firstIndex(of: UInt8(ascii: "=")) {
      name = Array(FieldList.trimmed(pair[..<equals]))
      value = Array(FieldList.trimmed(pair[equals...].dropFirst()))
    } else {
      name = []
      value = Array(FieldList.trimmed(pair))
    }
    try Self.check(name: name, value: value)
    for attribute in parts.dropFirst() { take(attribute) }
  }

  /// Throws `CookieRefusal.empty`, `.pairTooLong`, `.controlCharacter`, `.prefix` or `.ambiguous` if no server may set a cookie with
  /// this name and value (RFC 6265bis §5.7, steps 2 to 4 and 22).
  static func check(name: [UInt8], value: [UInt8]) throws(CookieRefusal) {
    guard !name.isEmpty || !value.isEmpty else { throw .empty }
    guard name.count + value.count <= CookieLimits.pairBytesMax else { throw .pairTooLong }
    guard !name.contains(where: isForbidden), !value.contains(where: isForbidden) else { throw .controlCharacter }
    // A cookie without a name is sent as its value alone, which a server would read as a name.
    guard name.isEmpty else { return }
    if CookiePrefix(of: value) != nil { throw .prefix }
    // For the same reason, `=a=b` could shadow a Secure cookie `a`. Chromium refuses such cookies since version 148, although RFC
    // 6265bis accepts them.
    if value.contains(UInt8(ascii: "=")) { throw .ambiguous }
  }

  /// Returns whether cookies must not contain this byte: a control character other than tab (%x00-08 / %x0A-1F / %x7F).
  static func isForbidden(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != 0x09) || byte == 0x7F }

  /// Parses one attribute of a Set-Cookie line (RFC 6265bis §5.6.1 to §5.6.7). If several attributes have the same name, the last
  /// one is used.
  private mutating func take(_ attribute: ArraySlice<UInt8>) {
    let equals = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.endIndex
    let value = FieldList.trimmed(attribute[equals...].dropFirst())
    guard value.count <= CookieLimits.attributeBytesMax else { return }
    switch FieldList.lowercased(FieldList.trimmed(attribute[..<equals])) {
    case "expires": expires = CookieDate.parse(value) ?? expires
    case "max-age": maxAge = Self.seconds(value) ?? maxAge
    case "domain":
      let name = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
      domain = name.isEmpty ? nil : FieldList.lowercased(name)
    case "path": path = String(decoding: value, as: UTF8.self)
    case "secure": isSecure = true
    case "httponly": isHTTPOnly = true
    case "samesite": sameSite = HTTPCookieStringPolicy(known: String(decoding: value, as: UTF8.self))
    case "comment": comment = value.isEmpty ? nil : Self.unquoted(value)
    case "commenturl": commentURL = Self.unquoted(value)
    default: break
    }
  }

  /// Returns the value of a cookie's attribute as text, without the quotation marks around it.
  private static func unquoted(_ value: ArraySlice<UInt8>) -> String {
    let quote = UInt8(ascii: "\"")
    let isQuoted = value.count >= 2 && value.first == quote && value.last == quote
    return String(decoding: isQuoted ? value.dropFirst().dropLast() : value, as: UTF8.self)
  }

  // [ "-" ] 1*DIGIT; any number of digits
  private static func seconds(_ text: ArraySlice<UInt8>) -> Int64? {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative ? text.dropFirst() : text
    return Digits.value(of: digits, atMost: isNegative ? 0 : CookieLimits.ageSecondsMax)
  }
}

/// Splits Set-Cookie lines that were joined with commas, as in a dictionary of fields, although RFC 9110 §5.3 forbids joining these
/// lines.
enum JoinedSetCookie {
  /// Returns the separate Set-Cookie lines. A comma ends a line only if a cookie name and an equals sign follow it. The comma in a
  /// date doesn't end the line, because the day of the month follows it.
  static func lines(of joined: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    for (index, byte) in joined.enumerated() where byte == UInt8(ascii: ",") && beginsPair(joined[(index + 1)...]) {
      lines.append(joined[start..<index])
      // Programs that join lines may add a line break after the comma.
      start = joined[(index + 1)...].firstIndex { !isLineBreak($0) } ?? joined.endIndex
    }
    lines.append(joined[start...])
    return lines
  }

  private static func isLineBreak(_ byte: UInt8) -> Bool { byte == 0x0D || byte == 0x0A }

  // [ line break ] OWS token BWS "="
  private static func beginsPair(_ rest: ArraySlice<UInt8>) -> Bool {
    let text = rest.drop(while: isLineBreak).drop(while: FieldList.isBlank)
    let name = text.prefix(while: \.isTokenCharacter)
    return !name.isEmpty && text[name.endIndex...].drop(while: FieldList.isBlank).first == UInt8(ascii: "=")
  }
}

/// The prefixes of cookie names, such as `__Secure-`, that require a cookie to have certain attributes (RFC 6265bis §4.1.3).
/// Prefixes are compared without regard to case (§5.4).
enum CookiePrefix {
  /// `__Secure-`: the cookie must be set over https, and must have the Secure attribute, so that it is sent only over https.
  case secure
  /// `__Host-`: in addition to the requirements of `__Secure-`, the cookie must be sent only to the host that set it, and for all
  /// paths.
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

/// The reason why the storage refuses a cookie.
enum CookieRefusal: Error, Sendable, Hashable {
  /// The Set-Cookie line is longer than `CookieLimits.lineBytesMax`.
  case lineTooLong
  /// The cookie's name and value together are longer than `CookieLimits.pairBytesMax`.
  case pairTooLong
  /// The Set-Cookie line contains a control character other than a tab.
  case controlCharacter
  /// The cookie has neither a name nor a value.
  case empty
  /// The cookie has no name, and a server would read the part of its value before "=" as the name.
  case ambiguous
  /// The cookie's name has a prefix, such as `__Secure-`, whose requirements the cookie doesn't meet.
  case prefix
  /// The cookie's domain is neither the server's host nor one of its parent domains.
  case otherDomain
  /// The cookie's domain is a public suffix, which unrelated parties share.
  case publicSuffix
  /// The cookie has the Secure attribute but was received without https.
  case notSecure
  /// The cookie was received without https, and would shadow a stored Secure cookie with the same name.
  case coversSecure
}
