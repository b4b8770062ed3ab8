// The names of files: changed and removed in one step each.

internal import CLupineLinux
internal import Glibc

extension File {
  /// Removes a file's name; a directory is EISDIR.
  package static func remove(_ path: String) throws(SystemError) {
    _ = try SystemCall.run("unlink") { unlink(path) }
  }

  /// Whether something has that name, be it a link to nothing.
  package static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Gives a file another name in the same file system, EXDEV in another. A file that has that name is replaced, without
  /// a moment in which there is none; with `replaces` false it is EEXIST.
  package static func move(_ from: String, to: String, replaces: Bool) throws(SystemError) {
    guard !replaces else {
      _ = try SystemCall.run("rename") { rename(from, to) }
      return
    }
    do {
      _ = try SystemCall.run("rename") { lupine_rename_exclusively(from, to) }
    } catch  where error.isNotSupported {
      // Some file systems can't do both in one step. Between these two another process could make the file.
      guard !exists(to) else { throw SystemError(call: "rename", code: EEXIST) }
      _ = try SystemCall.run("rename") { rename(from, to) }
    }
  }
}
