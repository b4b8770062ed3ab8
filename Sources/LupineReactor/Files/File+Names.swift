// File+Names: renames and removes files, each in one atomic step where the file system allows it.

internal import CLupineLinux
internal import LupineLibc

extension File {
  /// Deletes the file at `path` (unlink(2)). Fails with EISDIR for a directory.
  package static func remove(_ path: String) throws(SystemError) {
    _ = try SystemCall.run("unlink") { unlink(path) }
  }

  /// Returns whether there is a file at `path`. True also for a symbolic link whose target doesn't exist.
  package static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Renames the file `from` to `to`. Fails with EXDEV if `to` is on a different file system.
  ///
  /// If `to` exists, this call replaces it atomically, or fails with EEXIST if `replaces` is false.
  package static func move(_ from: String, to: String, replaces: Bool) throws(SystemError) {
    guard !replaces else {
      _ = try SystemCall.run("rename") { rename(from, to) }
      return
    }
    do {
      _ = try SystemCall.run("rename") { lupine_rename_exclusively(AT_FDCWD, from, to) }
    } catch  where error.isNotSupported {
      // Some file systems lack an exclusive rename, so this check precedes the rename. Another process could create the file
      // between these two steps.
      guard !exists(to) else { throw SystemError(call: "rename", code: EEXIST) }
      _ = try SystemCall.run("rename") { rename(from, to) }
    }
  }
}
