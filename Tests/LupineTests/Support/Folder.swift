// Temporary folders and files for one test.

import Foundation

/// Calls `body` with a new, empty folder, and then removes it.
func withFolder<Value>(_ body: (URL) throws -> Value) throws -> Value {
  let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-tests-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}

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
