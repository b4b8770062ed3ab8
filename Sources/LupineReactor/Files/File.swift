// File: reads a file that is sent as a body.

internal import Glibc

/// A file open for reading.
package struct File: ~Copyable, Sendable {
  /// The path at which the file was opened.
  package let path: String
  private let descriptor: FileDescriptor

  var number: CInt { descriptor.number }

  /// Takes ownership of an open descriptor. Fails with EINVAL unless it is that of a regular file.
  init(owning descriptor: consuming FileDescriptor, path: String) throws(SystemError) {
    var status = stat()
    let number = descriptor.number
    _ = try SystemCall.run("fstat") { fstat(number, &status) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(call: "open", code: EINVAL) }
    self.path = path
    self.descriptor = descriptor
  }

  /// Opens a regular file for reading. Fails with EISDIR for a directory, and with EINVAL for any other kind of file, because
  /// reading it could block.
  package init(reading path: String) throws(SystemError) {
    // Without O_NONBLOCK, opening a FIFO waits for a writer.
    let number = try SystemCall.run("open") { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    let descriptor = FileDescriptor(owning: number)
    var status = stat()
    _ = try SystemCall.run("fstat") { fstat(number, &status) }
    let kind = status.st_mode & S_IFMT
    guard kind == S_IFREG else { throw SystemError(call: "open", code: kind == S_IFDIR ? EISDIR : EINVAL) }
    self.path = path
    self.descriptor = descriptor
  }

  /// Returns the file's current length in bytes.
  package func byteCount() throws(SystemError) -> UInt64 {
    var status = stat()
    let number = descriptor.number
    _ = try SystemCall.run("fstat") { fstat(number, &status) }
    return UInt64(clamping: status.st_size)
  }

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
}

extension SystemError {
  /// The error (ENODATA) for a file that is shorter than its announced length.
  package static func fileEnded(_ path: String) -> SystemError { SystemError(call: "read \(path)", code: ENODATA) }
}
