// The secrets of sessions for debuggers, in the format that NSS introduced and Wireshark reads.

import Glibc

/// A file that lines are appended to. Several may stand for one file, also in several processes: each line is one write
/// at the file's end.
final class KeyLog: Sendable {
  private let descriptor: Int32

  /// Throws `TLSError.Code.configuration` if the file can't be opened or made.
  init(path: String) throws(TLSError) {
    // Who reads the file can decrypt the traffic, hence only its owner.
    descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
    guard descriptor >= 0 else {
      throw .configuration("The keyLogFile \(path) can't be opened: \(lastSystemError()). Check the path and its mode.")
    }
  }

  deinit { close(descriptor) }

  /// Appends a line. A full disk must not end connections, so that what can't be written is lost.
  func append(_ line: UnsafePointer<CChar>) {
    var bytes = Array(String(cString: line).utf8)
    bytes.append(UInt8(ascii: "\n"))
    var rest = bytes[...]
    while !rest.isEmpty {
      // SAFETY: `rest` lives during the call, which reads `count` bytes of it.
      let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return }
      rest = rest.dropFirst(written)
    }
  }
}

/// What errno says.
func lastSystemError() -> String {
  // SAFETY: the string belongs to the C library, and is copied before this thread's next call.
  strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
}
