// Where bytes go: standard output or a file for the response, standard error for everything else.

import Glibc
import LupineEngine
import Synchronization

/// The destination of a response. A file is created when the first response that is to be kept begins.
final class Output: Sendable {
  private struct State {
    /// Nil before the file is opened.
    var descriptor: CInt?
    var byteCount: UInt64 = 0
  }

  /// A file's path; nil is standard output.
  let path: String?
  private let state: Mutex<State>

  init(path: String?) {
    self.path = path
    state = Mutex(State(descriptor: path == nil ? STDOUT_FILENO : nil))
  }

  /// Creates the file, or empties it, unless that was done before.
  func open() throws(CommandError) {
    try state.withLock { state throws(CommandError) in
      guard let path, state.descriptor == nil else { return }
      let number = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
      guard number >= 0 else { throw failure("open") }
      state.descriptor = number
    }
  }

  /// Writes all of the bytes, and waits as long as that takes: the server is held back meanwhile.
  func write(_ bytes: borrowing Span<UInt8>) throws(CommandError) {
    try open()
    try state.withLock { state throws(CommandError) in
      guard let number = state.descriptor else { preconditionFailure("the output is open") }
      guard Descriptor.write(bytes, to: number) else { throw failure("write") }
      state.byteCount += UInt64(bytes.count)
    }
  }

  /// Writes a text.
  func write(_ text: String) throws(CommandError) {
    try write(Array(text.utf8).span)
  }

  /// Closes a file; some file systems say only then that there was no room.
  func close() throws(CommandError) {
    try state.withLock { state throws(CommandError) in
      guard path != nil, let number = state.descriptor else { return }
      state.descriptor = nil
      guard Glibc.close(number) == 0 else { throw failure("close") }
    }
  }

  /// What is left behind if the transfer fails, or nil.
  var remains: String? {
    state.withLock { state in
      guard let path, state.descriptor != nil else { return nil }
      return state.byteCount == 0 ? "\(path) is left empty." : "\(path) keeps the \(state.byteCount) bytes so far."
    }
  }

  private func failure(_ call: String) -> CommandError {
    let error = SystemError(call: call, code: errno)
    // Whoever read the pipe has what he wanted.
    if error.code == EPIPE, path == nil { return CommandError(.writeError, nil) }
    return CommandError(
      .writeError, "\(path ?? "standard output") can't be written (\(error)). Check the path and the disk.")
  }
}

/// Standard error; what it can't take is lost.
enum StandardError {
  static func write(_ text: String) {
    _ = Descriptor.write(Array(text.utf8).span, to: STDERR_FILENO)
  }
}

enum Descriptor {
  /// Occupies standard input, output and error if the command was started without them: a socket or file would get
  /// the number otherwise, and with it what is meant for people.
  static func occupyStandardOnes() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // The lowest free number is the one that was found. Writing to it fails, as it should.
      _ = open("/dev/null", O_RDONLY)
    }
  }

  /// Writes all of the bytes; false if that failed, with the reason in errno.
  static func write(_ bytes: borrowing Span<UInt8>, to number: CInt) -> Bool {
    var rest: [UInt8] = []
    rest.append(copying: bytes, 0..<bytes.count)
    while !rest.isEmpty {
      let count = Glibc.write(number, rest, rest.count)
      if count >= 0 {
        rest.removeFirst(count)
      } else if errno == EAGAIN {
        // A terminal or pipe that another program has set to non-blocking.
        var wanted = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wanted, 1, -1)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}
