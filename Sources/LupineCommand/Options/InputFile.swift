// InputFile: reads files to send: entirely, as file segments that the engine reads while sending, or as streams.

import LupineEngine
import LupineLibc

enum InputFile {
  /// The maximum number of bytes that one read of a file returns: 64 KiB.
  private static let readBytes = 64 * 1024

  /// Reads the file at `path` to its end, or until at least `countMax` bytes are read. The path "-" means standard input.
  static func contents(of path: String, atMost countMax: Int = .max) throws(CommandError) -> [UInt8] {
    if path == "-" { return try read(STDIN_FILENO, path, countMax) }
    let file = try open(path)
    return try read(file.number, path, countMax)
  }

  /// Returns whether the file at `path` exists and can be read. True for "-", which means standard input.
  static func canBeOpened(_ path: String) -> Bool { path == "-" || access(path, R_OK) == 0 }

  /// Returns the file at `path` as a segment of a request body. A regular file is read while it is sent. Any other file, such as a
  /// pipe, is read immediately, because its length isn't known in advance.
  static func segment(_ path: String) throws(CommandError) -> RequestBody.Segment {
    if path == "-" { return .bytes(try read(STDIN_FILENO, path)) }
    let file = try open(path)
    let status = try status(of: file.number, path)
    // The files of /proc are regular files with a size of 0.
    guard status.st_mode & S_IFMT == S_IFREG, let count = UInt64(exactly: status.st_size), count > 0 else {
      return .bytes(try read(file.number, path))
    }
    return .file(path: path, byteCount: count)
  }

  /// Returns a request body that uploads the file at `path`. A regular file is read while it is sent. Standard input ("-"), a pipe
  /// or a device is streamed, and can't be sent again after a part of it has been read. `upload` stores such an input.
  static func body(_ path: String, of upload: Upload) throws(CommandError) -> RequestBody {
    if path == "-" { return upload.begin(standardInput()) }
    let file = try open(path)
    guard [S_IFIFO, S_IFCHR].contains(try status(of: file.number, path).st_mode & S_IFMT) else {
      var body = RequestBody()
      body.append(try segment(path))
      return body
    }
    return upload.begin(InputStream(file, path))
  }

  /// Returns standard input as a stream. No other code reads standard input, so it may be closed afterward.
  static func standardInput() -> InputStream { InputStream(FileDescriptor(owning: STDIN_FILENO), "-") }

  private static func open(_ path: String) throws(CommandError) -> FileDescriptor {
    let number = LupineLibc.open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw unreadable(path, "open") }
    return FileDescriptor(owning: number)
  }

  private static func status(of number: CInt, _ path: String) throws(CommandError) -> stat {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw unreadable(path, "fstat") }
    return status
  }

  private static func read(
    _ number: CInt, _ path: String, _ countMax: Int = .max
  ) throws(CommandError) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < countMax, case let some = try readSome(number, path), !some.isEmpty { bytes += some }
    return bytes
  }

  /// Reads the available bytes of the file with this descriptor, and waits for bytes if there are none. Returns an empty array at
  /// the end of the file.
  fileprivate static func readSome(_ number: CInt, _ path: String) throws(CommandError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: readBytes)
    while true {
      let count = LupineLibc.read(number, &buffer, buffer.count)
      if count >= 0 { return Array(buffer[..<count]) }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // The descriptor is a terminal or pipe that another program has set to non-blocking mode.
        var wanted = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        _ = poll(&wanted, 1, -1)
      default: throw unreadable(path, "read")
      }
    }
  }

  private static func unreadable(_ path: String, _ call: String) -> CommandError {
    let error = SystemError(call: call, code: errno)
    let name = path == "-" ? "standard input" : path
    return CommandError(.unreadableInput, "\(name) can't be read (\(error)). Check the file.")
  }
}

/// An input whose reads may block, such as a pipe or a terminal.
final class InputStream: Sendable {
  private let file: FileDescriptor
  private let path: String

  fileprivate init(_ file: consuming FileDescriptor, _ path: String) {
    self.file = file
    self.path = path
  }

  /// Reads the next bytes. Returns an empty array at the end of the input. Each read blocks a dedicated thread, because the
  /// concurrency runtime may have a single thread, which must remain available to end the command.
  func read() async throws -> [UInt8] {
    try await withCheckedThrowingContinuation { continuation in
      do throws(SystemError) {
        try Thread.start(name: "lupine-input") { [self] in
          continuation.resume(
            with: Result { () throws(CommandError) in try InputFile.readSome(file.number, path) }.mapError { $0 })
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }
}
