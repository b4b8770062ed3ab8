// Writing what a peer sends to a file.

internal import Glibc

/// A regular file open for writing at offsets. The caller says where, so nothing here depends on a position.
package struct WritableFile: ~Copyable, Sendable {
  /// Where it was opened.
  package let path: String
  private let descriptor: FileDescriptor
  /// The process's limit (RLIMIT_FSIZE). The kernel would raise SIGXFSZ beyond it, which ends the process.
  private let byteCountMax: UInt64

  /// Takes over an open descriptor. More than `byteCountMax` bytes are EFBIG.
  package init(owning descriptor: consuming FileDescriptor, path: String, byteCountMax: UInt64 = .max) {
    self.path = path
    self.descriptor = descriptor
    self.byteCountMax = byteCountMax
  }

  /// Makes a file that only its owner can read and write; what exists already, even as a broken link, is EEXIST.
  package init(creating path: String) throws(SystemError) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    let number = try SystemCall.run("open") { open(path, flags, 0o600) }
    self.init(owning: FileDescriptor(owning: number), path: path, byteCountMax: try Self.sizeLimit())
  }

  /// Opens an existing file to go on with it.
  ///
  /// It has to be one that this user made and nobody else has a name for: a link is ELOOP, another user's file or one
  /// with several names EPERM, and what isn't a regular file EINVAL. A directory for temporary files is everybody's.
  package init(reopening path: String) throws(SystemError) {
    // Without O_NONBLOCK, opening a FIFO waits for a reader.
    let number = try SystemCall.run("open") { open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) }
    let descriptor = FileDescriptor(owning: number)
    let status = try Self.status(of: descriptor)
    guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(call: "open", code: EINVAL) }
    guard status.st_uid == geteuid(), status.st_nlink == 1 else { throw SystemError(call: "open", code: EPERM) }
    self.init(owning: descriptor, path: path, byteCountMax: try Self.sizeLimit())
  }

  /// How many bytes the file has.
  package func byteCount() throws(SystemError) -> UInt64 {
    UInt64(clamping: try Self.status(of: descriptor).st_size)
  }

  /// Writes all of `bytes` at `offset`, or throws; then any number of them may have been written.
  package func write(_ bytes: borrowing Span<UInt8>, at offset: UInt64) throws(SystemError) {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
    guard !overflow, end <= byteCountMax, off_t(exactly: end) != nil else {
      throw SystemError(call: "write", code: EFBIG)
    }
    let number = descriptor.number
    try Self.writeAll(bytes.count) { done throws(SystemError) in
      // SAFETY: `done` is below the count, so what is written lies within the span.
      try SystemCall.transfer("write") {
        bytes.withUnsafeBytes { raw in
          pwrite(number, raw.baseAddress.map { $0 + done }, raw.count - done, off_t(offset) + off_t(done))
        }
      }
    }
  }

  /// Calls `step` with how many bytes are done, until all are; it answers how many more it wrote.
  static func writeAll(_ count: Int, step: (_ done: Int) throws(SystemError) -> Int?) throws(SystemError) {
    var done = 0
    while done < count {
      // A regular file never blocks, and never takes nothing of something.
      guard let more = try step(done), more > 0 else { throw SystemError(call: "write", code: EIO) }
      done += more
    }
  }

  /// Cuts the file off, or fills it up with zeros, so that it has that many bytes.
  package func truncate(to byteCount: UInt64) throws(SystemError) {
    _ = try SystemCall.run("ftruncate") { ftruncate(descriptor.number, off_t(clamping: byteCount)) }
  }

  /// Closes the file; bytes that the kernel had put off may fail only now.
  package consuming func close() throws(SystemError) {
    try descriptor.close()
  }

  private static func status(of descriptor: borrowing FileDescriptor) throws(SystemError) -> stat {
    let number = descriptor.number
    var status = stat()
    _ = try SystemCall.run("fstat") { fstat(number, &status) }
    return status
  }

  private static func sizeLimit() throws(SystemError) -> UInt64 {
    var limit = rlimit()
    _ = try SystemCall.run("getrlimit") { getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) }
    return UInt64(limit.rlim_cur)
  }
}
