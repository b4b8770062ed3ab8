// Quoting: quotes foreign text in error messages, shortened and without characters that affect a terminal or a log.

/// The maximum number of Unicode scalars that are quoted from a text: 64, enough to recognize a value and short enough for a log.
private let quotedScalarsMax = 64

/// Returns the text in quotation marks, shortened to `quotedScalarsMax` scalars. U+FFFD replaces control characters, formatting
/// characters (such as bidirectional overrides), line and paragraph separators, and private-use and unassigned characters.
func quoted(_ text: String) -> String {
  let shown = text.unicodeScalars.prefix(quotedScalarsMax).map { scalar -> Character in
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: "\u{FFFD}"
    default: Character(scalar)
    }
  }
  return "\"" + String(shown) + (text.unicodeScalars.count > quotedScalarsMax ? "…\"" : "\"")
}
