// FieldEdit: the values of --header, in curl's notation.

/// A change to the default header fields of a request, as given with the option --header.
enum FieldEdit: Equatable {
  /// Adds a field, which replaces the default field with the same name.
  case add(name: String, value: String)
  /// Removes the default field with this name.
  case remove(name: String)

  var name: String {
    switch self {
    case .add(let name, _), .remove(let name): name
    }
  }

  /// Returns the text up to the first space or "=". The rest might be a credential, which error messages must not quote.
  private static func start(of text: String) -> Substring { text.prefix { $0 != " " && $0 != "=" } }

  /// Parses the value of --header: "Name: value", "Name;" for an empty value, or "Name:" to remove a default field.
  init(_ text: String) throws(CommandError) {
    let separator = text.unicodeScalars.firstIndex(of: ":")
    let name = String(text[..<(separator ?? text.endIndex)])
    if let separator {
      let value = text[separator...].unicodeScalars.dropFirst().drop { $0 == " " || $0 == "\t" }
      self = value.isEmpty ? .remove(name: name) : .add(name: name, value: String(value))
    } else if name.hasSuffix(";") {
      self = .add(name: String(name.dropLast()), value: "")
    } else {
      throw .usage("the field \"\(Self.start(of: text))\" has neither a colon nor a semicolon at its end")
    }
    switch self.name.lowercased() {
    case "": throw .usage("a field has a value but no name")
    case "content-length", "transfer-encoding":
      throw .usage("\(self.name) is derived from the body and can't be set by --header")
    case "host" where self == .remove(name: self.name):
      throw .usage("Host can't be omitted (RFC 9112 §3.2)")
    default: break
    }
  }
}
