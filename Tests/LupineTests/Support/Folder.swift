// Temporary folders and files for one test.

import Foundation

/// Calls `body` with a new, empty folder, and then removes the folder with its content.
func withFolder<Value>(_ body: (URL) throws -> Value) throws -> Value {
  let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-tests-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}

/// Calls `body` with a new file of this name and content in a new folder, and then removes the folder.
func withLocalFile<Value>(
  _ name: String, _ content: Data, _ body: (URL) async throws -> Value
) async throws -> Value {
  try await withDownloadFolder { folder in
    let file = folder.appending(path: name)
    try content.write(to: file)
    return try await body(file)
  }
}
