// File: reads a file that is sent as a body.

internal import LupineLibc

/// A file open for reading.
package struct File: ~Copyable, Sendable {
  /// The path at which the file was opened.
  package let path: String
  let descriptor: FileDescriptor

  var number: CInt { descriptor.number }

  /// Takes ownership of the open descriptor of a regular file. Fails with EISDIR for a directory, with EINVAL for any other kind of
  /// file, and with EPERM if `accepts` returns false for the file.
  init(
    owning descriptor: consuming FileDescriptor, path: String, accepts: (stat) -> Bool = { _ in true }
  ) throws(SystemError) {
    let status = try descriptor.status()
    let kind = status.st_mode & S_IFMT
    guard kind == S_IFREG else { throw SystemError(call: "open", code: kind == S_IFDIR ? EISDIR : EINVAL) }
    guard accepts(status) else { throw SystemError(call: "open", code: EPERM) }
    self.path = path
    self.descriptor = descriptor
  }

  /// Opens a regular file for reading. Fails with EISDIR for a directory, and with EINVAL for any other kind of file, because
  /// reading it could block.
  package init(reading path: String) throws(SystemError) {
    try self.init(path, flags: 0)
  }

  /// Opens a file that this program has created for reading. Fails with ELOOP for a symbolic link, and with EPERM for another
  /// user's file or a file with several hard links, because they may lead to the content of a different file.
  package init(readingOwn path: String) throws(SystemError) {
    try self.init(path, flags: O_NOFOLLOW) { $0.isOwnFile }
  }

  private init(_ path: String, flags: CInt, accepts: (stat) -> Bool = { _ in true }) throws(SystemError) {
    // Without O_NONBLOCK, opening a FIFO waits for a writer.
    let number = try SystemCall.run("open") { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags) }
    try self.init(owning: FileDescriptor(owning: number), path: path, accepts: accepts)
  }

  /// Returns whether `path` names a file that `init(readingOwn:)` would read. False for a symbolic link, even to such a file.
  package static func isOwn(_ path: String) throws(SystemError) -> Bool {
    var status = stat()
    _ = try SystemCall.run("lstat") { lstat(path, &status) }
    return status.isOwnFile
  }

  /// Returns the file's current length in bytes.
  package func byteCount() throws(SystemError) -> UInt64 { UInt64(clamping: try descriptor.status().st_size) }

  /// Reads up to `countMax` bytes at `offset` and appends them to `output`. Returns the number of bytes read, which is 0 at the
  /// end of the file.
  package func read(_ countMax: Int, at offset: UInt64, into output: inout [UInt8]) throws(SystemError) -> Int {
    let start = output.count
    output += [UInt8](repeating: 0, count: countMax)
    var count = 0
    defer { output.removeLast(countMax - count) }
    count =
      try SystemCall.transfer("read") {
        // SAFETY: the buffer has room for `countMax` bytes from `start` on.
        output.withUnsafeMutableBytes {
          pread(descriptor.number, $0.baseAddress.map { $0 + start }, countMax, off_t(clamping: offset))
        }
      } ?? 0
    return count
  }

  /// Reads `countMax` bytes at `offset`, or those up to the end of the file if there are fewer.
  package func read(upTo countMax: Int, at offset: UInt64) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(countMax)
    while bytes.count < countMax {
      if try read(countMax - bytes.count, at: offset + UInt64(bytes.count), into: &bytes) == 0 { break }
    }
    return bytes
  }
}

extension stat {
  /// Whether the file is a regular file of this user with a single hard link.
  var isOwnFile: Bool { st_mode & S_IFMT == S_IFREG && st_uid == geteuid() && st_nlink == 1 }
}

extension SystemError {
  /// The error (ENODATA) for a file that is shorter than its announced length.
  package static func fileEnded(_ path: String) -> SystemError { SystemError(call: "read \(path)", code: ENODATA) }
}
