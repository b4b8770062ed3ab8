// PrintableText: escapes the characters of foreign text that could control a terminal, falsify a log or be read as markup.

extension String {
  /// The text as one line that can't control a terminal. Characters that could do so are escaped, as in `\u{1b}`. Tabs are kept.
  package var printable: String { escaped(keepingLines: false) }

  /// The text with its line ends (LF and CRLF), but without other characters that could control a terminal. They are escaped as in
  /// `printable`.
  package var printableLines: String { escaped(keepingLines: true) }

  /// The text with the characters escaped that have a meaning in XML and HTML.
  package var xmlEscaped: String {
    // Not the characters, because a combining mark would be a part of the character before it.
    unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }

  private func escaped(keepingLines: Bool) -> String {
    // Most texts need no escapes.
    if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    var output = ""
    var rest = unicodeScalars[...]
    while let scalar = rest.popFirst() {
      let isLineEnd = scalar == "\n" || (scalar == "\r" && rest.first == "\n")
      if scalar.controlsTerminal, !(keepingLines && isLineEnd) {
        output += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        output.unicodeScalars.append(scalar)
      }
    }
    return output
  }
}

extension Unicode.Scalar {
  /// Whether a terminal may interpret the character, or show the text around it differently: a control character other than tab
  /// (C0, DEL and C1), a line or paragraph separator, or a bidirectional control.
  package var controlsTerminal: Bool {
    switch properties.generalCategory {
    case .control: self != "\t"
    case .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }
}
