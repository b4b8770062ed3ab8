// Folder: a temporary folder for one test.

package import Foundation

/// Calls `body` with a new, empty folder, and then removes it.
package func withFolder<Value>(_ body: (URL) throws -> Value) throws -> Value {
  let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-tests-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}
