// FileName: a file name that a server has suggested, restricted to one harmless path component (RFC 6266 §4.3).

/// A file name that is a single path component, so that it can't refer to another directory.
struct FileName {
  let string: String

  /// Creates a file name from the last path component of the name that a server has suggested, without control characters. Returns
  /// nil if the result can't be a file's name, such as `..`.
  init?(suggested: String) {
    // The text is split by scalars: "/" with a combining mark is a Character other
    // than "/", but the system still sees a separator.
    let component =
      suggested.unicodeScalars
      .split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
      .last ?? Substring.UnicodeScalarView()
    var visible = String.UnicodeScalarView()
    visible.append(contentsOf: component.filter { $0.properties.generalCategory != .control })
    // The name is trimmed again, because shortening may leave trailing blanks, or only dots.
    let name = Self.shortened(String(visible).trimmingBlanks).trimmingBlanks
    guard !name.isEmpty, name != ".", name != ".." else { return nil }
    string = name
  }

  /// The maximum length of a file name in bytes: Linux's NAME_MAX, which all common file systems share.
  private static let bytesMax = 255

  /// The maximum length, in bytes including the dot, of a file name's extension that is kept when the name is shortened: 32. No
  /// extension in IANA's media type registry is longer.
  private static let extensionBytesMax = 32

  /// Returns the name, shortened to at most `bytesMax` bytes. A file name's extension of at most `extensionBytesMax` bytes is kept,
  /// because programs use it to recognize the file's type.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > bytesMax else { return name }
    var suffix = name.lastIndex(of: ".").map { name[$0...] } ?? ""
    if suffix.utf8.count > extensionBytesMax { suffix = "" }
    var stem = ""
    var room = bytesMax - suffix.utf8.count
    // The name is cut by scalars, because a single Character can exceed the limit.
    for scalar in name.unicodeScalars {
      room -= UTF8.width(scalar)
      if room < 0 { break }
      stem.unicodeScalars.append(scalar)
    }
    return stem + suffix
  }
}

extension StringProtocol {
  /// The string without leading and trailing blanks and tabs (OWS, RFC 9110 §5.6.3).
  package var trimmingBlanks: String {
    // Scalars are compared, because a blank with a combining mark is a Character other than a blank.
    let isBlank: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" }
    let scalars = unicodeScalars
    guard let first = scalars.firstIndex(where: { !isBlank($0) }), let last = scalars.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(self[first..<scalars.index(after: last)])
  }
}
