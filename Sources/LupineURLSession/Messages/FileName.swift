// A file name that a server suggests, made harmless (RFC 6266 §4.3).

/// A single path component that no server can use to leave the directory it is put in.
struct FileName {
  let string: String

  /// The last component of the suggestion without control characters, or nil if nothing is left to name a file.
  init?(suggested: String) {
    // By scalar, as "/" with a combining mark is one Character that is not "/", but still a separator to the system.
    let component =
      suggested.unicodeScalars
      .split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
      .last ?? Substring.UnicodeScalarView()
    var visible = String.UnicodeScalarView()
    visible.append(contentsOf: component.filter { $0.properties.generalCategory != .control })
    // Once more behind the cut, which may leave a blank at the end, or nothing but dots in front of one.
    let name = Self.shortened(String(visible).trimmingBlanks).trimmingBlanks
    guard !name.isEmpty, name != ".", name != ".." else { return nil }
    string = name
  }

  /// Bytes in a file name at most: Linux's NAME_MAX, which every common file system shares.
  private static let bytesMax = 255

  /// Bytes of an extension, its dot included, that shortening keeps; longer than any in IANA's media type registry.
  private static let extensionBytesMax = 32

  /// The name cut to what a file system takes, with its extension kept, since programs choose by it.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > bytesMax else { return name }
    var suffix = name.lastIndex(of: ".").map { name[$0...] } ?? ""
    if suffix.utf8.count > extensionBytesMax { suffix = "" }
    var stem = ""
    var room = bytesMax - suffix.utf8.count
    // By scalar, as a single character can be longer than any name may be.
    for scalar in name.unicodeScalars {
      room -= UTF8.width(scalar)
      if room < 0 { break }
      stem.unicodeScalars.append(scalar)
    }
    return stem + suffix
  }
}

extension StringProtocol {
  /// The string without blanks and tabs at its ends, which is what HTTP calls OWS (RFC 9110 §5.6.3).
  package var trimmingBlanks: String {
    // By scalar, as a blank with a combining mark is one Character that is not a blank.
    let isBlank: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" }
    let scalars = unicodeScalars
    guard let first = scalars.firstIndex(where: { !isBlank($0) }), let last = scalars.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(self[first..<scalars.index(after: last)])
  }
}
