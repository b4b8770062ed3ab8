// Folder: creates and lists folders, and reads and sets the times and locks of their files.

internal import CLupineLinux
internal import Glibc

/// Functions for folders and the files in them.
package enum Folder {
  /// Creates a folder that only its owner can use, and its missing parents. If the folder exists already, it stays unchanged.
  ///
  /// Fails with EPERM for an existing folder that other users own or can change, because they could replace its files. Fails with
  /// ENOTDIR for a symbolic link, because the link's owner could later point it to another folder.
  package static func create(_ path: String) throws(SystemError) {
    do {
      _ = try SystemCall.run("mkdir") { mkdir(path, 0o700) }
    } catch  where error.code == ENOENT {
      guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { throw error }
      try create(String(path[..<slash]))
      _ = try SystemCall.run("mkdir") { mkdir(path, 0o700) }
    } catch  where error.code == EEXIST {
      try requireOwnership(of: path)
    }
  }

  private static func requireOwnership(of path: String) throws(SystemError) {
    var status = stat()
    _ = try SystemCall.run("lstat") { lstat(path, &status) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(call: "open \(path)", code: ENOTDIR) }
    guard status.st_uid == geteuid(), status.st_mode & othersWriteMask == 0 else {
      throw SystemError(call: "open \(path)", code: EPERM)
    }
  }

  /// The mode bits that permit the group or other users to write.
  private static let othersWriteMask: mode_t = 0o022

  /// Returns the names of the entries of a folder in any order, without "." and "..". Omits names that aren't UTF-8.
  package static func names(in path: String) throws(SystemError) -> [String] {
    guard let stream = opendir(path) else { throw SystemError(call: "opendir", code: errno) }
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
}

extension File {
  /// Returns the time of the file's last modification, in nanoseconds since 1970.
  package static func modificationTime(_ path: String) throws(SystemError) -> Int64 {
    var status = stat()
    _ = try SystemCall.run("lstat") { lstat(path, &status) }
    return Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
  }

  /// Sets the time of the file's last modification to now.
  package static func touch(_ path: String) throws(SystemError) {
    _ = try SystemCall.run("utimensat") { utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) }
  }

  /// Takes the file's exclusive lock (flock(2)), which a writer holds as long as it has the file open. Fails with EWOULDBLOCK if a
  /// writer holds the lock.
  package func lock() throws(SystemError) {
    let number = number
    _ = try SystemCall.run("flock") { flock(number, LOCK_EX | LOCK_NB) }
  }
}

extension WritableFile {
  /// Releases the file's lock at once. Closing the file isn't enough while a child process is between fork(2) and exec(2), because
  /// the child has a copy of the descriptor.
  package func unlock() { _ = flock(number, LOCK_UN) }

  /// Locks the file until it is closed or the process ends (flock(2)). Fails with EWOULDBLOCK if the file is already locked.
  package func lock() throws(SystemError) {
    let number = number
    _ = try SystemCall.run("flock") { flock(number, LOCK_EX | LOCK_NB) }
  }
}
