// FileName: a file name that a server has suggested, restricted to one harmless path component (RFC 6266 §4.3).

/// A file name that is a single path component, so that it can't refer to another directory.
struct FileName {
  let string: String

  /// Creates a file name from the last path component of the name that a server has suggested. Removes control characters. Returns
  /// nil if the result, such as `..`, can't be the name of a file.
  init?(suggested: String) {
    // The path is split at Unicode scalars. "/" with a combining mark is a Character that differs from "/", but the system still
    // sees a separator.
    let component =
      suggested.unicodeScalars
      .split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
      .last ?? Substring.UnicodeScalarView()
    var visible = String.UnicodeScalarView()
    visible.append(contentsOf: component.filter { $0.properties.generalCategory != .control })
    // The name is trimmed again, because shortening it may leave trailing blanks, or nothing but dots.
    let name = Self.shortened(String(visible).trimmingBlanks).trimmingBlanks
    guard !name.isEmpty, name != ".", name != ".." else { return nil }
    string = name
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
