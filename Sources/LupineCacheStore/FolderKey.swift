// FolderKey: the secret key of a cache folder, with which the names of files are computed from URIs.

internal import LupineReactor

/// The secret key of a cache folder. Files are found by a hash of their URI with this key, and removed by it without being read. With
/// a hash that anyone can compute, an origin could find a URL that has the hash of another origin's URL, and remove the responses of
/// that origin.
///
/// The key is in a file that only the user can read, like the records themselves. All processes that use the folder have the same
/// key.
package struct FolderKey: Sendable {
  /// The name of the file that contains the key.
  package static let fileName = "lupine-key"
  private static let byteCount = 16

  let hash: SipHash

  /// The maximum number of attempts to read or create the key: 4. Another attempt is necessary if another process creates the key at
  /// the same time.
  private static let attemptsMax = 4

  /// Reads the folder's key. Creates a random key if there is none, or if its file has the wrong size. `isNew` is true if this call
  /// has created the key.
  static func load(from folder: Folder) throws(SystemError) -> (key: FolderKey, isNew: Bool) {
    var failure = SystemError.fileEnded(fileName)
    for _ in 0..<attemptsMax {
      do throws(SystemError) {
        if let key = try read(from: folder) { return (key, false) }
        try create(in: folder)
        if let key = try read(from: folder) { return (key, true) }
      } catch {
        failure = error
        guard error.isExistingFile else { throw error }
      }
    }
    throw failure
  }

  /// Reads the key. Returns nil if there is none. Removes the key's file if it has the wrong size.
  private static func read(from folder: Folder) throws(SystemError) -> FolderKey? {
    guard folder.contains(fileName) else { return nil }
    var reader = RecordBytes(try File(reading: fileName, in: folder).read(upTo: byteCount + 1, at: 0)[...])
    if let first = reader.number64(), let second = reader.number64(), reader.isAtEnd {
      return FolderKey(hash: SipHash(first, second))
    }
    try folder.remove(fileName)
    return nil
  }

  /// Writes a random key to a temporary file, and gives the complete file its name. If several processes do that, the first key
  /// counts, and the others fail with EEXIST.
  private static func create(in folder: Folder) throws(SystemError) {
    var random = SystemRandomNumberGenerator()
    let bytes = (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    let temporary = try TemporaryFile(in: folder, random.next())
    let name = temporary.name
    defer { try? folder.remove(name) }
    let file = temporary.takeFile()
    try file.write(bytes.span, at: 0)
    try file.synchronize()
    try folder.move(name, to: fileName, replaces: false)
    try file.close()
  }
}
