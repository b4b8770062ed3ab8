// KeyLog: writes the secrets of sessions for debugging, in NSS's key log format, which Wireshark reads.

import LupineLibc

/// A key log file, to which the secrets of TLS sessions are appended so that Wireshark can decrypt them. Several instances, even in
/// different processes, may write to the same file, because each line is appended by a single `write`.
final class KeyLog: Sendable {
  let descriptor: Int32

  /// Opens the key log file for appending, and creates the file if it doesn't exist. Throws `TLSError.Code.configuration` if that
  /// fails.
  init(path: String) throws(TLSError) {
    // Only the file's owner may read it, because its readers can decrypt the traffic.
    descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
    guard descriptor >= 0 else {
      throw .configuration(
        "The keyLogFile \(path) can't be opened: \(lastSystemError()). Check the path and its permissions.")
    }
  }

  deinit { close(descriptor) }

  /// Appends a line to the key log file. Ignores write errors, because a full disk must not end connections.
  func append(_ line: UnsafePointer<CChar>) {
    var bytes = Array(String(cString: line).utf8)
    bytes.append(UInt8(ascii: "\n"))
    var rest = bytes[...]
    while !rest.isEmpty {
      // SAFETY: `rest` is alive during the call, which reads `count` bytes of it.
      let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return }
      rest = rest.dropFirst(written)
    }
  }
}

/// Returns the C library's description of the current value of `errno`.
func lastSystemError() -> String {
  // SAFETY: the string belongs to the C library and is copied before this thread's next call.
  strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
}
