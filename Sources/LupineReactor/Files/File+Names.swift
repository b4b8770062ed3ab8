// File+Names: renames and removes files, each in one atomic step where the file system allows it.

internal import CLupineLinux
internal import Glibc

extension File {
  /// Removes a file's name. A directory fails with EISDIR.
  package static func remove(_ path: String) throws(SystemError) {
    _ = try SystemCall.run("unlink") { unlink(path) }
  }

  /// Returns whether the name exists, even as a broken link.
  package static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Renames a file within its file system; a different file system fails with EXDEV.
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
      // Some file systems lack an exclusive rename. Between these two steps, another process could create the file.
      guard !exists(to) else { throw SystemError(call: "rename", code: EEXIST) }
      _ = try SystemCall.run("rename") { rename(from, to) }
    }
  }
}
