// MediaTypeTable: media types by file extension, from the system's table and a built-in one.

import Foundation

/// A table that maps file extensions, such as `html`, to media types, such as `text/html`.
package struct MediaTypeTable: Sendable {
  /// The media types in `/etc/mime.types`, which is read on first use, and in the built-in table. If `/etc/mime.types` can't be
  /// read, only the built-in table is used.
  package static let system = MediaTypeTable(
    mimeTypes: (try? String(contentsOfFile: "/etc/mime.types", encoding: .utf8)) ?? "")

  /// The media type of files whose extension is unknown (RFC 2046 §4.5.1).
  package static let unknownType = "application/octet-stream"

  let types: [String: String]

  /// Creates a table from text in the format of `/etc/mime.types`: each line has a media type, followed by its file extensions. `#`
  /// starts a comment. If an extension has several types, the first one is used.
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

  /// Returns the media type for a file extension without its dot, such as `html`. The case of the extension is ignored.
  package func type(forExtension fileExtension: String) -> String {
    let key = fileExtension.lowercased()
    return types[key] ?? Self.builtIn.types[key] ?? Self.unknownType
  }
}
