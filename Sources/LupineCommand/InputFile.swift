// Files that are sent: read whole, described for the engine to read while it sends them, or streamed.

import Glibc
import LupineEngine

enum InputFile {
  /// How much is read at once, in bytes.
  private static let readBytes = 64 * 1024

  /// Reads a file to its end; "-" is standard input.
  static func contents(of path: String) throws(CommandError) -> [UInt8] {
    if path == "-" { return try read(STDIN_FILENO, path) }
    let file = try open(path)
    return try read(file.number, path)
  }

  /// A file's content as a part of a body. A regular file is left on the disk until it is sent; the length of
  /// anything else, a pipe for instance, is known only when it has been read.
  static func segment(_ path: String) throws(CommandError) -> RequestBody.Segment {
    if path == "-" { return .bytes(try read(STDIN_FILENO, path)) }
    let file = try open(path)
    let status = try status(of: file.number, path)
    // The files of /proc call themselves regular and empty.
    guard status.st_mode & S_IFMT == S_IFREG, let count = UInt64(exactly: status.st_size), count > 0 else {
      return .bytes(try read(file.number, path))
    }
    return .file(path: path, byteCount: count)
  }

  /// The body of an upload. A regular file is left on the disk until it is sent; standard input, for which "-" stands,
  /// a pipe or a device is sent as it comes, however long it is, and can't be sent again.
  static func body(_ path: String) throws(CommandError) -> RequestBody {
    // Nobody else reads standard input, so that it may be closed behind the body.
    if path == "-" { return stream(InputStream(FileDescriptor(owning: STDIN_FILENO), path)) }
    let file = try open(path)
    guard [S_IFIFO, S_IFCHR].contains(try status(of: file.number, path).st_mode & S_IFMT) else {
      var body = RequestBody()
      body.append(try segment(path))
      return body
    }
    return stream(InputStream(file, path))
  }

  private static func stream(_ input: InputStream) -> RequestBody {
    RequestBody { writer in
      while case let bytes = try await input.read(), !bytes.isEmpty { try await writer.write(bytes) }
    }
  }

  private static func open(_ path: String) throws(CommandError) -> FileDescriptor {
    let number = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw unreadable(path, "open") }
    return FileDescriptor(owning: number)
  }

  private static func status(of number: CInt, _ path: String) throws(CommandError) -> stat {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw unreadable(path, "fstat") }
    return status
  }

  private static func read(_ number: CInt, _ path: String) throws(CommandError) -> [UInt8] {
    var bytes: [UInt8] = []
    while case let some = try readSome(number, path), !some.isEmpty { bytes += some }
    return bytes
  }

  /// Reads what there is, and waits for it; nothing at the end.
  fileprivate static func readSome(_ number: CInt, _ path: String) throws(CommandError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: readBytes)
    while true {
      let count = Glibc.read(number, &buffer, buffer.count)
      if count >= 0 { return Array(buffer[..<count]) }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // A terminal or pipe that another program has set to non-blocking.
        var wanted = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        _ = poll(&wanted, 1, -1)
      default: throw unreadable(path, "read")
      }
    }
  }

  private static func unreadable(_ path: String, _ call: String) -> CommandError {
    let error = SystemError(call: call, code: errno)
    let name = path == "-" ? "standard input" : path
    return CommandError(.unreadableInput, "\(name) can't be sent (\(error)). Check the file.")
  }
}

/// Something to read that may keep its reader waiting, such as a pipe or a terminal.
private final class InputStream: Sendable {
  private let file: FileDescriptor
  private let path: String

  init(_ file: consuming FileDescriptor, _ path: String) {
    self.file = file
    self.path = path
  }

  /// Reads what comes next; nothing at the end. Each read waits on a thread of its own, since there may be as few as one
  /// for everything that is concurrent, which is needed to end the command.
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
