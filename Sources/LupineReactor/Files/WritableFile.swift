// WritableFile: writes received data to a file.

internal import LupineLibc

/// A regular file that is open for writing. Each write states its offset, so the file has no current position.
package struct WritableFile: ~Copyable, Sendable {
  /// The path at which the file was opened.
  package let path: String
  let descriptor: FileDescriptor
  /// The process's file size limit (RLIMIT_FSIZE). Beyond it, the kernel would raise SIGXFSZ, which ends the process.
  private let byteCountMax: UInt64

  var number: CInt { descriptor.number }

  /// Takes ownership of an open descriptor. Writes beyond `byteCountMax` bytes fail with EFBIG.
  package init(owning descriptor: consuming FileDescriptor, path: String, byteCountMax: UInt64 = .max) {
    self.path = path
    self.descriptor = descriptor
    self.byteCountMax = byteCountMax
  }

  /// Creates a file that only its owner can read and write. Fails with EEXIST if the path exists, even as a symbolic link whose
  /// target doesn't exist.
  package init(creating path: String) throws(SystemError) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    let number = try SystemCall.run("open") { open(path, flags, 0o600) }
    self.init(owning: FileDescriptor(owning: number), path: path, byteCountMax: try Self.sizeLimit())
  }

  /// Opens an existing file to continue writing it.
  ///
  /// Any user can create files in a directory for temporary files, so the file must belong to this user and have a single hard
  /// link. Fails with ELOOP for a symbolic link, with EPERM for another user's file or a file with several hard links, and with
  /// EINVAL for anything other than a regular file.
  package init(reopening path: String) throws(SystemError) {
    // Without O_NONBLOCK, opening a FIFO waits for a reader.
    let number = try SystemCall.run("open") { open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) }
    try self.init(checking: FileDescriptor(owning: number), path: path)
  }

  /// Takes ownership of the open descriptor of an existing file, with the checks of `init(reopening:)`.
  init(checking descriptor: consuming FileDescriptor, path: String) throws(SystemError) {
    let status = try descriptor.status()
    guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(call: "open", code: EINVAL) }
    guard status.isOwnFile else { throw SystemError(call: "open", code: EPERM) }
    self.init(owning: descriptor, path: path, byteCountMax: try Self.sizeLimit())
  }

  /// Returns the size of the file in bytes.
  package func byteCount() throws(SystemError) -> UInt64 { UInt64(clamping: try descriptor.status().st_size) }

  /// Writes all of `bytes` at `offset`. If the call throws, some of the bytes may have been written.
  package func write(_ bytes: borrowing Span<UInt8>, at offset: UInt64) throws(SystemError) {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
    guard !overflow, end <= byteCountMax, off_t(exactly: end) != nil else {
      throw SystemError(call: "write", code: EFBIG)
    }
    let number = descriptor.number
    try Self.writeAll(bytes.count) { done throws(SystemError) in
      // SAFETY: `done` is less than the count, so the written bytes are within the span.
      try SystemCall.transfer("write") {
        bytes.withUnsafeBytes { raw in
          pwrite(number, raw.baseAddress.map { $0 + done }, raw.count - done, off_t(offset) + off_t(done))
        }
      }
    }
  }

  /// Calls `step` repeatedly until all `count` bytes are written. `step` receives the number of bytes written so far, writes some
  /// of the remaining bytes, and returns their number.
  static func writeAll(_ count: Int, step: (_ done: Int) throws(SystemError) -> Int?) throws(SystemError) {
    var done = 0
    while done < count {
      // A regular file never blocks, and a write to it never accepts zero bytes.
      guard let more = try step(done), more > 0 else { throw SystemError(call: "write", code: EIO) }
      done += more
    }
  }

  /// Truncates the file to `byteCount` bytes, or extends it with zeros.
  package func truncate(to byteCount: UInt64) throws(SystemError) {
    _ = try SystemCall.run("ftruncate") { ftruncate(descriptor.number, off_t(clamping: byteCount)) }
  }

  /// Waits until the file's content is on the disk (fdatasync(2)).
  package func synchronize() throws(SystemError) {
    let number = number
    _ = try SystemCall.run("fdatasync") { fdatasync(number) }
  }

  /// Closes the file. Throws a `SystemError` if data that the kernel had buffered can't be stored.
  package consuming func close() throws(SystemError) {
    try descriptor.close()
  }

  static func sizeLimit() throws(SystemError) -> UInt64 {
    var limit = rlimit()
    _ = try SystemCall.run("getrlimit") { getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) }
    return UInt64(limit.rlim_cur)
  }
}
