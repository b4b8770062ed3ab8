// MultipartForm: serializes multipart/form-data (RFC 7578). Names are escaped as in browsers (WHATWG HTML, "multipart
// form data").

import LupineEngine

/// A multipart form with its boundary and its body.
struct MultipartForm {
  let boundary: String
  private(set) var body = RequestBody()

  /// Returns a random boundary of 128 bits. It is practically impossible that the form's content contains it.
  static func randomBoundary() -> String {
    let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max) | 1 << 63, radix: 16) }
    return "lupine-" + digits.joined()
  }

  /// Creates a multipart form. Regular files are read while they are sent. Throws a `CommandError` with the code
  /// `.unreadableInput` if a file can't be read.
  init(_ fields: [FormField], boundary: String) throws(CommandError) {
    self.boundary = boundary
    for field in fields {
      append(Self.head(of: field, boundary))
      switch field.content {
      case .text(let text): append(text)
      case .file(let path), .textFile(let path): body.append(try InputFile.segment(path))
      }
      append("\r\n")
    }
    append("--\(boundary)--\r\n")
  }

  private mutating func append(_ text: String) {
    body.append(.bytes(Array(text.utf8)))
  }

  private static func head(of field: FormField, _ boundary: String) -> String {
    var disposition = "form-data; name=\"\(escape(field.name))\""
    var type = field.type
    if case .file(let path) = field.content {
      let fileName = field.fileName ?? String(lastComponent(of: path))
      disposition += "; filename=\"\(escape(fileName))\""
      type = type ?? mediaType(of: fileName)
    }
    let typeLine = type.map { "Content-Type: \($0)\r\n" } ?? ""
    return "--\(boundary)\r\nContent-Disposition: \(disposition)\r\n\(typeLine)\r\n"
  }

  // Escapes only the characters that could end the quoted text or the line.
  private static func escape(_ name: String) -> String {
    var escaped = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"": escaped += "%22"
      case "\r": escaped += "%0D"
      case "\n": escaped += "%0A"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private static func lastComponent(of path: String) -> Substring {
    path.split(separator: "/").last ?? ""
  }

  // The media types are those of curl.
  private static func mediaType(of fileName: String) -> String {
    switch fileName.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last?.lowercased() {
    case "gif": "image/gif"
    case "jpg", "jpeg": "image/jpeg"
    case "png": "image/png"
    case "svg": "image/svg+xml"
    case "txt": "text/plain"
    case "htm", "html": "text/html"
    case "pdf": "application/pdf"
    case "xml": "application/xml"
    default: "application/octet-stream"
    }
  }
}
