// Reading a file that is sent as a body.

internal import Glibc

/// A file open for reading.
package struct File: ~Copyable, Sendable {
  private let descriptor: FileDescriptor

  /// Opens a file.
  package init(reading path: String) throws(SystemError) {
    descriptor = FileDescriptor(owning: try SystemCall.run("open") { open(path, O_RDONLY | O_CLOEXEC) })
  }

  /// Reads up to `countMax` bytes at `offset` and appends them; 0 at the file's end.
  package func read(_ countMax: Int, at offset: UInt64, into output: inout [UInt8]) throws(SystemError) -> Int {
    let start = output.count
    output.append(contentsOf: repeatElement(0, count: countMax))
    var count = 0
    defer { output.removeLast(countMax - count) }
    count =
      try SystemCall.transfer("read") {
        // SAFETY: the room behind `start` is `countMax` bytes.
        output.withUnsafeMutableBytes {
          pread(descriptor.number, $0.baseAddress.map { $0 + start }, countMax, off_t(clamping: offset))
        }
      } ?? 0
    return count
  }

  /// The file's length in bytes.
  package var byteCount: UInt64 {
    get throws(SystemError) {
      var status = stat()
      _ = try SystemCall.run("fstat") { fstat(descriptor.number, &status) }
      return UInt64(clamping: status.st_size)
    }
  }
}

extension SystemError {
  /// A file was shorter than it had been said to be.
  package static func fileEnded(_ path: String) -> SystemError { SystemError(call: "read \(path)", code: ENODATA) }
}
