// HTTPCookie+Fields: parses cookies from a response's fields, and writes the Cookie field of a request.

import Foundation
import LupineWire

extension HTTPCookie {
  /// Parses the cookies in a response's Set-Cookie lines, which may be joined with commas.
  static func parsed(_ headerFields: [String: String], from url: URL) -> [HTTPCookie] {
    guard let source = CookieSource(url) else { return [] }
    let now = Date()
    let values = headerFields.filter { $0.key.isSameFieldName(as: "Set-Cookie") }
    return values.sorted { $0.key < $1.key }.flatMap { JoinedSetCookie.lines(of: Array($0.value.utf8)) }
      .compactMap { line in (try? SetCookie(line)).map { HTTPCookie(Cookie(parsed: $0, from: source, now: now)) } }
  }

  /// Returns a dictionary with the Cookie field that sends these cookies, or an empty dictionary if there are none.
  static func field(with cookies: [HTTPCookie]) -> [String: String] {
    if cookies.isEmpty { return [:] }
    return ["Cookie": cookies.map { String(decoding: $0.cookie.pair, as: UTF8.self) }.joined(separator: "; ")]
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
