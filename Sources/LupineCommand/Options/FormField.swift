// FormField: the values of --form, in curl's notation.

/// A field of a multipart form, which an option --form describes.
struct FormField: Equatable {
  enum Content: Equatable {
    case text(String)
    /// The content of the file at this path, sent with a file name and a media type.
    case file(path: String)
    /// The content of the file at this path, sent as text without a file name, like a value in the command line.
    case textFile(path: String)
  }

  let name: String
  let content: Content
  private(set) var type: String?
  private(set) var fileName: String?

  /// Parses the value of --form: "name=content", "name=@file" or "name=<file". ";type=T" and ";filename=N" may follow a file's
  /// path.
  init(_ text: String) throws(CommandError) {
    let equals = text.unicodeScalars.firstIndex(of: "=") ?? text.endIndex
    name = String(text[..<equals])
    guard equals < text.endIndex, !name.isEmpty else {
      throw .usage("the form field \"\(text)\" doesn't have the form NAME=CONTENT")
    }
    let value = text.unicodeScalars[equals...].dropFirst()
    guard let mark = value.first, mark == "@" || mark == "<" else {
      content = .text(String(value))
      return
    }
    var parts = try Self.split(value.dropFirst())[...]
    let path = parts.removeFirst()
    guard !path.isEmpty else { throw .usage("the form field \"\(text)\" names no file") }
    content = mark == "@" ? .file(path: path) : .textFile(path: path)
    while let part = parts.popFirst() {
      if let type = Self.value(of: "type=", in: part) {
        self.type = type
      } else if let name = Self.value(of: "filename=", in: part), mark == "@" {
        fileName = name
      } else if let type, fileName == nil {
        self.type = type + ";" + part  // a parameter of the media type, such as charset=utf-8
      } else {
        throw .usage("\"\(part)\" in the form field \(name) isn't type= or filename=")
      }
    }
    if type?.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) == true {
      throw .usage("the type of the form field \(name) contains a control character")
    }
  }

  private static func value(of key: String, in part: String) -> String? {
    let part = part.drop { $0 == " " }
    return part.hasPrefix(key) ? String(part.dropFirst(key.count)) : nil
  }

  // Splits at each ";" outside a quoted name. In a quoted name, a backslash escapes a quotation mark or a backslash.
  private static func split(_ text: Substring.UnicodeScalarView) throws(CommandError) -> [String] {
    var parts = [""]
    var isQuoted = false
    var rest = text
    while let scalar = rest.popFirst() {
      let part = parts[parts.count - 1]
      switch scalar {
      case "\"" where isQuoted: isQuoted = false
      case "\"" where part.isEmpty || part == "filename=": isQuoted = true
      case ";" where !isQuoted: parts.append("")
      case "\\" where isQuoted && (rest.first == "\"" || rest.first == "\\"):
        if let escaped = rest.popFirst() { parts[parts.count - 1].unicodeScalars.append(escaped) }
      default: parts[parts.count - 1].unicodeScalars.append(scalar)
      }
    }
    if isQuoted { throw .usage("the form field has an unterminated quoted string: \(String(text))") }
    return parts
  }
}
