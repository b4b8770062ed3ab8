// What an error quotes of foreign text: little of it, and nothing that a terminal or a log would act on.

/// How many Unicode scalars of a text a description quotes; 64: enough to recognise a value, and short in a log.
private let quotedScalarsMax = 64

/// The text in quotation marks, cut, with U+FFFD for control characters and for whatever could reorder a line.
func quoted(_ text: String) -> String {
  let shown = text.unicodeScalars.prefix(quotedScalarsMax).map { scalar -> Character in
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: "\u{FFFD}"
    default: Character(scalar)
    }
  }
  return "\"" + String(shown) + (text.unicodeScalars.count > quotedScalarsMax ? "…\"" : "\"")
}
