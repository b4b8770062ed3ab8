// Files that are sent: read whole, or described for the engine to read while it sends them.

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
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw unreadable(path, "fstat") }
    // The files of /proc call themselves regular and empty.
    guard status.st_mode & S_IFMT == S_IFREG, let count = UInt64(exactly: status.st_size), count > 0 else {
      return .bytes(try read(file.number, path))
    }
    return .file(path: path, byteCount: count)
  }

  private static func open(_ path: String) throws(CommandError) -> FileDescriptor {
    let number = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw unreadable(path, "open") }
    return FileDescriptor(owning: number)
  }

  private static func read(_ number: CInt, _ path: String) throws(CommandError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: readBytes)
    while true {
      let count = Glibc.read(number, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += buffer[..<count]
      } else if errno != EINTR {
        throw unreadable(path, "read")
      }
    }
  }

  private static func unreadable(_ path: String, _ call: String) -> CommandError {
    CommandError(.unreadableInput, "\(path) can't be sent (\(SystemError(call: call, code: errno))). Check the file.")
  }
}
