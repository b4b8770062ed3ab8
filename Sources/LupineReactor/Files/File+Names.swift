// File+Names: renames and removes files, each in one atomic step where the file system allows it.

internal import CLupineLinux
internal import Glibc

extension File {
  /// Removes a file's name. Fails with EISDIR for a directory.
  package static func remove(_ path: String) throws(SystemError) {
    _ = try SystemCall.run("unlink") { unlink(path) }
  }

  /// Returns whether the name exists, even as a broken link.
  package static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Renames a file within its file system. Fails with EXDEV if `to` is on a different file system.
  ///
  /// If `to` exists, it is replaced atomically, or the call fails with EEXIST if `replaces` is false.
  package static func move(_ from: String, to: String, replaces: Bool) throws(SystemError) {
    guard !replaces else {
      _ = try SystemCall.run("rename") { rename(from, to) }
      return
    }
    do {
      _ = try SystemCall.run("rename") { lupine_rename_exclusively(from, to) }
    } catch  where error.isNotSupported {
      // Some file systems lack an exclusive rename, so this check precedes the rename. Another process could create the file
      // between these two steps.
      guard !exists(to) else { throw SystemError(call: "rename", code: EEXIST) }
      _ = try SystemCall.run("rename") { rename(from, to) }
    }
  }
}
