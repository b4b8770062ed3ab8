// Folder: an open folder, whose descriptor names the folder in all calls on its files.

internal import CLupineLinux
internal import LupineLibc

/// An open folder that only its owner can change. All methods find files by the folder's descriptor, so that they stay in this
/// folder even if someone moves it, or replaces it by a link to another folder. File names must not contain "/".
package final class Folder: Sendable {
  /// The path at which the folder was opened, for messages.
  package let path: String
  private let descriptor: FileDescriptor

  /// Opens a folder. Creates it and its missing parents, with access for this user only. Several threads and processes may create
  /// the same folders at the same time.
  ///
  /// Fails with EPERM for a folder that another user owns or can change, and for one below a folder in which anyone can replace
  /// entries, because they could replace its files. Fails with ENOTDIR for a symbolic link, because the link's owner could later
  /// point it to another folder.
  package init(creating path: String) throws(SystemError) {
    self.path = path
    descriptor = try Self.create(path)
    try Self.requireOwnership(of: descriptor, at: path)
    try Self.requireStickyParents(of: descriptor, at: path)
  }

  /// Opens the folders along the path one by one, and creates those that are missing.
  private static func create(_ path: String) throws(SystemError) -> FileDescriptor {
    let names = path.split(separator: "/").map(String.init)
    guard !names.isEmpty else { throw SystemError(call: "open \(path)", code: EINVAL) }
    var folder = try open(path.hasPrefix("/") ? "/" : ".", in: AT_FDCWD, lupine_o_path, for: path)
    for (index, name) in names.enumerated() {
      try requireSticky(folder, at: path)
      let flags = index == names.count - 1 ? O_RDONLY | O_NOFOLLOW : lupine_o_path
      let number = folder.number
      do throws(SystemError) {
        folder = try open(name, in: number, flags, for: path)
      } catch  where error.code == ENOENT {
        do throws(SystemError) {
          _ = try SystemCall.run("mkdir") { mkdirat(number, name, 0o700) }
        } catch  where error.code == EEXIST {
          // Another thread or process has created the folder in the meantime.
        }
        folder = try open(name, in: number, flags, for: path)
      }
    }
    return folder
  }

  /// Opens a folder on the way to `path`.
  private static func open(
    _ name: String, in folder: CInt, _ flags: CInt, for path: String
  ) throws(SystemError) -> FileDescriptor {
    do throws(SystemError) {
      let number = try SystemCall.run("open") { lupine_open_at(folder, name, flags | O_DIRECTORY | O_CLOEXEC, 0) }
      return FileDescriptor(owning: number)
    } catch {
      throw SystemError(call: "open \(path)", code: error.code)
    }
  }

  private static func requireOwnership(of folder: borrowing FileDescriptor, at path: String) throws(SystemError) {
    let status = try folder.status()
    guard status.st_uid == geteuid(), status.st_mode & othersWriteMask == 0 else {
      throw SystemError(call: "open \(path)", code: EPERM)
    }
  }

  /// The mode bits that permit the group or other users to write.
  private static let othersWriteMask: mode_t = 0o022

  /// Throws EPERM if anyone can replace the folder's entries: all users can write to it, and it has no sticky bit, which reserves
  /// that for the owners of entries. /tmp has this bit.
  private static func requireSticky(_ folder: borrowing FileDescriptor, at path: String) throws(SystemError) {
    let mode = try folder.status().st_mode
    guard mode & S_IWOTH == 0 || mode & S_ISVTX != 0 else { throw SystemError(call: "open \(path)", code: EPERM) }
  }

  /// Requires all parents to be safe. A symbolic link in the path may have led to a folder with other parents than those in the path.
  private static func requireStickyParents(of folder: borrowing FileDescriptor, at path: String) throws(SystemError) {
    var current = try open("..", in: folder.number, lupine_o_path, for: path)
    while true {
      try requireSticky(current, at: path)
      let parent = try open("..", in: current.number, lupine_o_path, for: path)
      let (status, above) = (try current.status(), try parent.status())
      // The root is its own parent.
      if (status.st_dev, status.st_ino) == (above.st_dev, above.st_ino) { return }
      current = parent
    }
  }

  // MARK: Files

  /// Returns the names of the folder's entries in any order, without "." and "..". Omits names that aren't UTF-8.
  package func names() throws(SystemError) -> [String] {
    // The folder is opened once more, because a descriptor has a position, which reading changes.
    let number = descriptor.number
    return try Self.names(readingFrom: number, ".")
  }

  /// Returns the names of the entries of any folder, like the method `names`. The folder may belong to another user.
  package static func names(at path: String) throws(SystemError) -> [String] {
    try names(readingFrom: AT_FDCWD, path)
  }

  private static func names(readingFrom number: CInt, _ path: String) throws(SystemError) -> [String] {
    let copy = try SystemCall.run("open") { lupine_open_at(number, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) }
    guard let stream = fdopendir(copy) else {
      let code = errno
      close(copy)
      throw SystemError(call: "opendir", code: code)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw SystemError(call: "readdir", code: errno) }
        return names
      }
      // SAFETY: d_name is a string with a final NUL, which is valid until the next readdir of this stream.
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
          String(validatingCString: $0)
        }
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
  }

  /// Opens the file with this name, and doesn't follow a symbolic link. `flags` and `mode` are those of open(2).
  func open(_ name: String, _ flags: CInt, mode: mode_t = 0) throws(SystemError) -> FileDescriptor {
    let number = descriptor.number
    return FileDescriptor(
      owning: try SystemCall.run("open") { lupine_open_at(number, name, flags | O_NOFOLLOW | O_CLOEXEC, mode) })
  }

  /// Deletes a file. Fails with EISDIR for a folder.
  package func remove(_ name: String) throws(SystemError) {
    let number = descriptor.number
    _ = try SystemCall.run("unlink") { unlinkat(number, name, 0) }
  }

  /// Returns whether there is a file with this name. True also for a symbolic link whose target doesn't exist.
  package func contains(_ name: String) -> Bool {
    var status = stat()
    return fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// Renames a file in one atomic step. If `new` exists, this call replaces it, or fails with EEXIST if `replaces` is false.
  package func move(_ name: String, to new: String, replaces: Bool) throws(SystemError) {
    let number = descriptor.number
    guard !replaces else {
      _ = try SystemCall.run("rename") { renameat(number, name, number, new) }
      return
    }
    do {
      _ = try SystemCall.run("rename") { lupine_rename_exclusively(number, name, new) }
    } catch  where error.isNotSupported {
      // Some file systems, such as NFS, lack an exclusive rename, but a new link is exclusive too.
      _ = try SystemCall.run("link") { linkat(number, name, number, new, 0) }
      try remove(name)
    }
  }

  /// Returns the time of a file's last modification, in nanoseconds since 1970.
  package func modificationTime(of name: String) throws(SystemError) -> Int64 {
    let number = descriptor.number
    var status = stat()
    _ = try SystemCall.run("lstat") { fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) }
    return Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
  }

  /// Sets the time of a file's last modification to now.
  package func touch(_ name: String) throws(SystemError) {
    let number = descriptor.number
    _ = try SystemCall.run("utimensat") { utimensat(number, name, nil, AT_SYMLINK_NOFOLLOW) }
  }
}

extension File {
  /// Opens a file in a folder for reading. Fails with ELOOP for a symbolic link, with EISDIR for a folder, and with EINVAL for
  /// anything else other than a regular file.
  package init(reading name: String, in folder: Folder) throws(SystemError) {
    try self.init(owning: try folder.open(name, O_RDONLY | O_NONBLOCK), path: "\(folder.path)/\(name)")
  }

  /// Takes the file's exclusive lock (flock(2)), which a writer holds as long as it has the file open. Fails with EWOULDBLOCK if a
  /// writer holds the lock.
  package func lock() throws(SystemError) { try descriptor.lock() }
}

extension WritableFile {
  /// Creates a file in a folder, like `init(creating:)`.
  package init(creating name: String, in folder: Folder) throws(SystemError) {
    let descriptor = try folder.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    self.init(owning: descriptor, path: "\(folder.path)/\(name)", byteCountMax: try Self.sizeLimit())
  }

  /// Opens an existing file in a folder to continue writing it, like `init(reopening:)`.
  package init(reopening name: String, in folder: Folder) throws(SystemError) {
    try self.init(
      checking: try folder.open(name, O_WRONLY | O_NONBLOCK), path: "\(folder.path)/\(name)")
  }

  /// Releases the file's lock at once. Closing the file isn't enough while a child process is between fork(2) and exec(2), because
  /// the child has a copy of the descriptor.
  package func unlock() { _ = flock(number, LOCK_UN) }

  /// Locks the file until it is closed or the process ends (flock(2)). Fails with EWOULDBLOCK if the file is already locked.
  package func lock() throws(SystemError) { try descriptor.lock() }
}
