// Output: writes the response to standard output or a file, and everything else to standard error.

import LupineEngine
import LupineLibc
import Synchronization

/// The destination of the response's body: standard output or a file. The file is created only when a response is about to be
/// written.
final class Output: Sendable {
  private struct State: ~Copyable {
    /// The descriptor of the file or of standard output. Nil before the file is opened and after it is closed.
    var descriptor: CInt?
    var byteCount: UInt64 = 0
  }

  /// The path of the output file, or nil for standard output.
  let path: String?
  private let state: Mutex<State>

  init(path: String?) {
    self.path = path
    state = Mutex(State(descriptor: path == nil ? STDOUT_FILENO : nil))
  }

  /// Creates the output file, or truncates it if it exists. Does nothing if the file is already open.
  func open() throws(CommandError) {
    try state.withLock { state throws(CommandError) in
      guard let path, state.descriptor == nil else { return }
      let number = LupineLibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
      guard number >= 0 else { throw failure("open") }
      state.descriptor = number
    }
  }

  /// Writes all bytes to the output. Blocks until the destination has accepted them, so that a slow destination slows the server
  /// down.
  func write(_ bytes: borrowing Span<UInt8>) throws(CommandError) {
    try open()
    try state.withLock { state throws(CommandError) in
      guard let number = state.descriptor else { preconditionFailure("the output is already closed") }
      guard Descriptor.write(bytes, to: number) else { throw failure("write") }
      state.byteCount += UInt64(bytes.count)
    }
  }

  /// Writes text to the output in UTF-8.
  func write(_ text: String) throws(CommandError) {
    try write(Array(text.utf8).span)
  }

  /// Closes the output file. Some file systems report only now that they are full. In that case, throws a `CommandError` with the
  /// code `.writeError`.
  func close() throws(CommandError) {
    try state.withLock { state throws(CommandError) in
      guard path != nil, let number = state.descriptor else { return }
      state.descriptor = nil
      guard LupineLibc.close(number) == 0 else { throw failure("close") }
    }
  }

  /// A sentence for the error message of a failed transfer, which names the incomplete output file. Nil if no file remains.
  var remains: String? {
    state.withLock { state in
      guard let path, state.descriptor != nil else { return nil }
      return state.byteCount == 0
        ? "\(path) remains empty." : "\(path) keeps the \(state.byteCount) bytes written so far."
    }
  }

  private func failure(_ call: String) -> CommandError {
    let error = SystemError(call: call, code: errno)
    // The reader closed the pipe, which needs no message.
    if error.code == EPIPE, path == nil { return CommandError(.writeError, nil) }
    return CommandError(
      .writeError, "\(path ?? "standard output") can't be written (\(error)). Check the path and the free disk space.")
  }
}

/// Writes to standard error. Ignores failures.
enum StandardError {
  static func write(_ text: String) {
    _ = Descriptor.write(Array(text.utf8).span, to: STDERR_FILENO)
  }
}

enum Descriptor {
  /// Opens /dev/null as standard input, output or error if the command was started without them. Otherwise, a socket or file could
  /// get the number of such a descriptor, and receive messages that are meant for the user.
  static func occupyStandardOnes() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // open returns the lowest free number, which is `number`. Writes to it fail, as intended.
      _ = open("/dev/null", O_RDONLY)
    }
  }

  /// Writes all bytes to the descriptor `number`. Returns false on failure, with the reason in errno.
  static func write(_ bytes: borrowing Span<UInt8>, to number: CInt) -> Bool {
    var rest: [UInt8] = []
    rest.append(copying: bytes, 0..<bytes.count)
    while !rest.isEmpty {
      let count = LupineLibc.write(number, rest, rest.count)
      if count >= 0 {
        rest.removeFirst(count)
      } else if errno == EAGAIN {
        // The descriptor is a terminal or pipe that another program has set to non-blocking mode.
        var wanted = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wanted, 1, -1)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}
