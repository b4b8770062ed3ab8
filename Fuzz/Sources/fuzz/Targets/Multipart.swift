// Multipart forms, encoded and then parsed by an independent implementation of RFC 2046.

import Foundation
@testable import Lupine
@testable import LupineURLSession

extension FuzzTarget {
  /// Fuzzes the encoder of multipart forms. The input consists of a number that selects the boundary, and of parts. Each part has
  /// options, a name, a file name, a type and a body.
  static let multipart = FuzzTarget(
    name: "multipart", summary: "a reference parser reads the appended parts; the lengths are right"
  ) { bytes in
    var input = Input(bytes)
    let boundary = input.flag() ? nil : "b\(input.byte())"
    let form = MultipartFormData(boundary: boundary)
    var expected: [Part] = []
    while !input.isAtEnd, expected.count < 12 { append(&input, to: form, &expected) }
    // The caller must choose a boundary that occurs in no part.
    let delimiter = Array("--\(form.boundary)".utf8)
    guard !expected.contains(where: { contains($0.body, delimiter) }) else { return }
    guard let encoded = try? form.encode() else { return hold(false, "a form of data and streams failed") }
    hold(form.contentLength == expected.reduce(0) { $0 + UInt64($1.body.count) }, "\(form.contentLength) bytes")
    let parts = read([UInt8](encoded), delimiter)
    hold(parts == expected, "read as \(parts.map(String.init(describing:))), not \(expected): \(shown(encoded))")
    hold(form.contentType == "multipart/form-data; boundary=\(form.boundary)", form.contentType)
  }

  private struct Part: Equatable {
    var fields: [String]
    var body: [UInt8]
  }

  private static func append(_ input: inout Input, to form: MultipartFormData, _ expected: inout [Part]) {
    let choices = input.byte()
    let name = input.text()
    let fileName = choices & 1 != 0 ? input.text() : nil
    // A line break in a media type is an error.
    let type = choices & 2 != 0 ? plain(input.text()) : nil
    let body = input.bytes()
    var fields = ["Content-Disposition: form-data; name=\"\(escaped(name))\""]
    if choices & 4 != 0 {
      let stream = InputStream(data: Data(body))
      form.append(
        stream, withLength: UInt64(body.count), name: name, fileName: fileName ?? "f", mimeType: type ?? "t/u")
      fields[0] += "; filename=\"\(escaped(fileName ?? "f"))\""
      fields.append("Content-Type: \(type ?? "t/u")")
    } else {
      form.append(Data(body), withName: name, fileName: fileName, mimeType: type)
      if let fileName { fields[0] += "; filename=\"\(escaped(fileName))\"" }
      if let type { fields.append("Content-Type: \(type)") }
    }
    expected.append(Part(fields: fields, body: body))
  }

  private static func escaped(_ text: String) -> String {
    let escapes: [UInt8: String] = [10: "%0A", 13: "%0D", 34: "%22"]
    let bytes = text.utf8.flatMap { escapes[$0].map { Array($0.utf8) } ?? [$0] }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func plain(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0 != "\"" && $0.value != 0x7F }))
  }

  private static func contains(_ bytes: [UInt8], _ sought: [UInt8]) -> Bool {
    guard bytes.count >= sought.count else { return false }
    return (0...(bytes.count - sought.count)).contains { bytes[$0...].starts(with: sought) }
  }

  // multipart-body := dash-boundary CRLF body-part *(CRLF dash-boundary CRLF body-part) CRLF dash-boundary "--" CRLF
  private static func read(_ bytes: [UInt8], _ delimiter: [UInt8]) -> [Part] {
    let lineEnd: [UInt8] = [13, 10]
    guard !bytes.isEmpty else { return [] }
    hold(bytes.starts(with: delimiter + lineEnd), "it doesn't begin with the boundary")
    var parts: [Part] = []
    var rest = bytes[...].dropFirst(delimiter.count + 2)
    while true {
      var part = Part(fields: [], body: [])
      while !rest.starts(with: lineEnd) {
        let line = rest.prefix { $0 != 13 }
        part.fields.append(String(decoding: line, as: UTF8.self))
        rest = rest.dropFirst(line.count)
        guard rest.starts(with: lineEnd) else { return parts }
        rest = rest.dropFirst(2)
      }
      rest = rest.dropFirst(2)
      let end = lineEnd + delimiter
      while !rest.starts(with: end) {
        guard let byte = rest.popFirst() else { return parts }
        part.body.append(byte)
      }
      rest = rest.dropFirst(end.count)
      parts.append(part)
      if rest.elementsEqual("--\r\n".utf8) { return parts }
      guard rest.starts(with: lineEnd) else { return parts }
      rest = rest.dropFirst(2)
    }
  }
}
