// The media types of file name extensions: the system's table, and a built-in one for what that doesn't know.

import Foundation

/// Which media type a file has, by the extension of its name.
package struct MediaTypeTable: Sendable {
  /// The table of this system, read when it is first asked for.
  package static let system = MediaTypeTable(
    mimeTypes: (try? String(contentsOfFile: "/etc/mime.types", encoding: .utf8)) ?? "")

  /// What nothing more is known of (RFC 2046 §4.5.1).
  package static let unknownType = "application/octet-stream"

  private let types: [String: String]

  /// Reads a table in the format of `/etc/mime.types`: a media type on each line, and behind it the extensions that
  /// files of this type have. `#` starts a comment. Of several types for an extension the first one counts.
  package init(mimeTypes text: String) {
    var types: [String: String] = [:]
    for line in text.split(whereSeparator: \.isNewline) {
      let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
      guard let type = words.first else { continue }
      for fileExtension in words.dropFirst() where types[fileExtension.lowercased()] == nil {
        types[fileExtension.lowercased()] = String(type)
      }
    }
    self.types = types
  }

  /// The media type of files whose names have the extension, in any case and without its dot.
  package func type(forExtension fileExtension: String) -> String {
    let key = fileExtension.lowercased()
    return types[key] ?? Self.builtIn[key] ?? Self.unknownType
  }
}
