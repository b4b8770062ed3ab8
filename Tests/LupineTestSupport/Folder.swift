// Folder: temporary folders and files for one test.

package import Foundation

/// Calls `body` with a new, empty folder, and then removes the folder with its content.
package func withFolder<Value>(_ body: (URL) throws -> Value) throws -> Value {
  let folder = try newFolder()
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}

/// Calls `body` with a new, empty folder, and then removes the folder with its content.
package func withFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
  let folder = try newFolder()
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder)
}

/// Calls `body` with a new file of this name and content, which is the only file in its folder, and then removes both.
package func withLocalFile<Value>(
  _ name: String, _ content: Data, _ body: (URL) async throws -> Value
) async throws -> Value {
  try await withFolder { folder in
    let file = folder.appending(path: name)
    try content.write(to: file)
    return try await body(file)
  }
}

/// Returns the sorted names of the files in the folder, or an empty array if the folder can't be read.
package func names(in folder: URL) -> [String] {
  ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
}

private func newFolder() throws -> URL {
  let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-tests-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  return folder
}
