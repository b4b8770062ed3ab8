// FileName: a file name that a server has suggested, restricted to one harmless path component (RFC 6266 §4.3).

/// A file name that is a single path component, so that it can't refer to another directory.
struct FileName {
  let string: String

  /// Creates a file name from the last path component of the name that a server has suggested. Removes invisible characters, and at
  /// the start everything that isn't part of a plain name: dots, tildes and a drive letter. Returns nil if nothing remains.
  init?(suggested: String) {
    // The path is split at Unicode scalars. "/" with a combining mark is a Character that differs from "/", but the system still
    // sees a separator.
    let component =
      suggested.unicodeScalars
      .split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
      .last ?? Substring.UnicodeScalarView()
    var visible = String.UnicodeScalarView()
    visible.append(contentsOf: component.filter { !Self.isInvisible($0) })
    // The name is trimmed again, because shortening it may leave trailing blanks.
    let name = Self.shortened(Self.withoutPrefix(visible).trimmingBlanks).trimmingBlanks
    guard !name.isEmpty else { return nil }
    string = name
  }

  /// Returns whether a character has no glyph, or moves others: control characters, bidirectional controls and other formatting
  /// characters, line and paragraph separators, and fillers. They let a name look different from what it is, such as a program that
  /// looks like a document.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  /// Returns `name` without its leading blanks and dots, which would hide the file, without leading tildes, which a shell replaces
  /// by a home folder, and without a drive letter such as `C:`.
  private static func withoutPrefix(_ name: String.UnicodeScalarView) -> String {
    var rest = name[...]
    while let first = rest.first {
      if " \t.~".unicodeScalars.contains(first) {
        rest.removeFirst()
      } else if first.isASCII, first.properties.isAlphabetic, rest.dropFirst().first == ":" {
        rest.removeFirst(2)
      } else {
        break
      }
    }
    return String(rest)
  }

  /// The maximum length of a file name in bytes: 255, which is NAME_MAX on Linux and the limit of all common file systems.
  private static let bytesMax = 255

  /// The maximum length, in bytes including the dot, of an extension that is preserved when a file name is shortened: 32. No
  /// extension in IANA's media type registry is longer.
  private static let extensionBytesMax = 32

  /// Shortens a file name to at most `bytesMax` bytes. Preserves its extension if that has at most `extensionBytesMax` bytes,
  /// because programs use the extension to recognize the file's type.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > bytesMax else { return name }
    var suffix = name.lastIndex(of: ".").map { name[$0...] } ?? ""
    if suffix.utf8.count > extensionBytesMax { suffix = "" }
    var stem = ""
    var room = bytesMax - suffix.utf8.count
    // The name is cut at Unicode scalars, because a single Character can exceed the limit.
    for scalar in name.unicodeScalars {
      room -= UTF8.width(scalar)
      if room < 0 { break }
      stem.unicodeScalars.append(scalar)
    }
    return stem + suffix
  }
}

extension StringProtocol {
  /// The string without leading and trailing spaces and tabs (OWS, RFC 9110 §5.6.3).
  package var trimmingBlanks: String {
    // Unicode scalars are compared, because a space with a combining mark is a Character that differs from a space.
    let isBlank: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" }
    let scalars = unicodeScalars
    guard let first = scalars.firstIndex(where: { !isBlank($0) }), let last = scalars.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(self[first..<scalars.index(after: last)])
  }
}
