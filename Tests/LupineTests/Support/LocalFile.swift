// A file for the tests of file: URLs.

import Foundation

/// Calls `body` with a file of this name and content, alone in its folder, and removes both then.
func withLocalFile<Value>(
  _ name: String, _ content: Data, _ body: (URL) async throws -> Value
) async throws -> Value {
  try await withDownloadFolder { folder in
    let file = folder.appending(path: name)
    try content.write(to: file)
    return try await body(file)
  }
}
