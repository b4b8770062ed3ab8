// The parsers of fields that describe content: media types, file names, ranges and content codings.

import Foundation
@testable import Lupine
@testable import LupineURLSession
@testable import LupineCoding
@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the parsers of fields that describe content. The input is the value of a field.
  static let contentFields = FuzzTarget(
    name: "content-fields",
    summary: "file names stay in their folder; types, ranges and codings are parsed as written"
  ) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    checkResponse(text)
    checkParameters(text)
    if let range = ContentRange(text) { check(range) }
    if let codings = try? ContentCoding.list(text) {
      hold(codings.count <= CodingLimits().layersMax, "\(codings)")
      let written = codings.map(\.name).joined(separator: ", ")
      hold((try? ContentCoding.list(written)) == codings, "\(codings)")
      hold((try? ContentCoding.decodable(text, limits: CodingLimits())) == codings, "\(codings)")
    } else if let codings = try? ContentCoding.decodable(text, limits: CodingLimits()) {
      hold(codings.isEmpty, "\(codings) would be undone, and others beside them not")
    }
    if let encoding = String.Encoding(charsetName: text) { _ = String(data: Data(bytes), encoding: encoding) }
    if let name = FileName(suggested: text) { check(name.string) }
  }

  private static func checkResponse(_ text: String) {
    let names = ["Content-Type", "Content-Disposition", "Content-Length", "Content-Encoding"]
    var fields = Fields()
    for name in names { fields.append(name: name, value: text) }
    guard let url = URL(string: "http://a.test/%2e%2e%2fpasswd") else { return }
    let response = HTTPURLResponse(url: url, statusCode: 200, fields: fields)
    check(response.suggestedFilename ?? "")
    hold(response.expectedContentLength >= -1, "\(response.expectedContentLength) bytes")
    if let type = response.mimeType {
      // Compares bytes, because the Greek question mark (U+037E) equals a semicolon as a Swift Character, but not in HTTP.
      hold(type == type.lowercased() && !type.isEmpty && !type.utf8.contains(UInt8(ascii: ";")), type)
    }
    _ = response.textEncodingName
  }

  private static func check(_ name: String) {
    hold(!name.isEmpty && name != "." && name != "..", name.debugDescription)
    hold(name.utf8.count <= 255, "\(name.utf8.count) bytes")
    hold(name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x2F && $0 != 0x5C }, name.debugDescription)
    hold(FileName(suggested: name)?.string == name, "\(name.debugDescription) is changed once more")
  }

  /// Checks that text is parsed unchanged from a quoted parameter, and from a percent-encoded parameter.
  private static func checkParameters(_ text: String) {
    _ = ParameterizedValue(text).parameter("charset")
    _ = ParameterizedValue(text).extendedParameter("filename")
    let quoted = text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
    let encoded = PercentEncoding.encode(text.utf8, keeping: .unreserved)
    let value = ParameterizedValue("attachment; a=\"\(quoted)\"; FileName*=utf-8'en'\(encoded); b=c")
    hold(value.item == "attachment" && value.parameter("B") == "c", "the text includes the next parameter: \(quoted)")
    // Compares bytes, because a quotation mark and a combining mark after it are a single Character.
    hold(value.parameter("a").map { Array($0.utf8) } == Array(text.utf8), "\(text.debugDescription) quoted")
    hold(value.extendedParameter("filename").map { Array($0.utf8) } == Array(text.utf8), "\(text.debugDescription)")
  }

  private static func check(_ range: ContentRange) {
    let written: String
    switch range {
    case .bytes(let first, let last, let length):
      hold(first <= last && length.map { last < $0 } ?? true, "\(range)")
      written = "bytes \(first)-\(last)/\(length.map { "\($0)" } ?? "*")"
    case .unsatisfied(let length): written = "bytes */\(length)"
    }
    hold(ContentRange(written) == range, "\(range) written as \(written)")
  }
}
