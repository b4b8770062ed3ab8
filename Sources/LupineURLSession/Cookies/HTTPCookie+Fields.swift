// Cookies in header fields: read from a response's, written as a request's.

public import Foundation

extension HTTPCookie {
  /// The cookies in a response's fields. Those of another domain are among them; a storage refuses those.
  ///
  /// - Parameters:
  ///   - headerFields: a response's fields, each name once. Set-Cookie fields that were joined with commas are taken
  ///     apart where a comma can't belong to a value or a date; a session takes the lines as they came instead.
  ///   - url: where the response came from. With a URL that isn't http or https there are no cookies.
  /// - Returns: the cookies in their order, expired ones included, which remove their like from a storage.
  public static func cookies(
    withResponseHeaderFields headerFields: [String: String], for url: URL
  ) -> [HTTPCookie] {
    guard let source = CookieSource(url) else { return [] }
    let now = Date()
    let values = headerFields.filter { $0.key.isSameFieldName(as: "Set-Cookie") }
    return values.sorted { $0.key < $1.key }.flatMap { JoinedSetCookie.lines(of: Array($0.value.utf8)) }
      .compactMap { line in (try? SetCookie(line)).map { HTTPCookie(Cookie(parsed: $0, from: source, now: now)) } }
  }

  /// The Cookie field for those cookies, in their order; no field if there are none.
  public static func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
    if cookies.isEmpty { return [:] }
    return ["Cookie": cookies.map { String(decoding: $0.cookie.pair, as: UTF8.self) }.joined(separator: "; ")]
  }
}

/// Set-Cookie lines that somebody has joined with commas, against RFC 9110 §5.3.
enum JoinedSetCookie {
  /// The lines. A comma ends one if a name and an equals sign follow, before anything else; in a date, a day follows.
  static func lines(of joined: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    for (index, byte) in joined.enumerated() where byte == UInt8(ascii: ",") && beginsPair(joined[(index + 1)...]) {
      lines.append(joined[start..<index])
      start = index + 1
    }
    lines.append(joined[start...])
    return lines
  }

  // OWS token BWS "="
  private static func beginsPair(_ rest: ArraySlice<UInt8>) -> Bool {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let text = rest.drop(while: isSpace)
    let name = text.prefix(while: isTokenCharacter)
    return !name.isEmpty && text[name.endIndex...].drop(while: isSpace).first == UInt8(ascii: "=")
  }

  // tchar (RFC 9110 §5.6.2)
  static func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
