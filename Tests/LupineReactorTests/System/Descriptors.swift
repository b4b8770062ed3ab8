// Descriptors and temporary files for the tests, which are closed and removed automatically.

import Glibc
import LupineLoopback
import Testing

@testable import LupineReactor

/// Two nonblocking stream sockets that are connected to each other.
final class SocketPair: Sendable {
  let first: CInt
  let second: CInt

  init() throws {
    var numbers: [CInt] = [-1, -1]
    // Close-on-exec, because a process started by another test would keep the sockets open.
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let result = socketpair(AF_UNIX, CInt(kind), 0, &numbers)
    try #require(result == 0)
    (first, second) = (numbers[0], numbers[1])
  }

  deinit {
    close(first)
    close(second)
  }

  /// Writes a byte to `second`, which makes `first` readable.
  func write(_ byte: UInt8 = 1) {
    var byte = byte
    let count = Glibc.write(second, &byte, 1)
    #expect(count == 1)
  }

  /// Reads and discards all bytes that `first` has received.
  func drain() {
    var room = [UInt8](repeating: 0, count: 65_536)
    while read(first, &room, room.count) > 0 {}
  }
}

/// A temporary folder for a Unix socket. Its deallocation deletes the folder with the socket.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/lupine-test-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    unlink("\(path)/socket")
    rmdir(path)
  }

  /// Returns the address of the Unix socket in this folder.
  func socketAddress() throws -> SocketAddress { try #require(SocketAddress(socketPath: "\(path)/socket")) }
}

extension Socket {
  /// Blocks until the socket is readable or writable, depending on `interest`.
  func wait(_ interest: Poller.Interest) throws {
    var poller = try Poller()
    try poller.add(number, interest, token: 1)
    var events: [Poller.Event] = []
    // A wait without events was interrupted by a signal.
    while events.isEmpty { try poller.wait(until: nil, now: .now, into: &events) }
  }

  /// Connects a socket to a listener of this process, and returns both ends of the connection.
  static func pair(
    to listener: Socket, options: SocketOptions = SocketOptions()
  ) throws -> (client: Socket, server: Socket) {
    let client = try Socket.connect(to: try #require(listener.localAddress), options: options)
    try client.wait(.writable)
    try client.finishConnecting()
    return (client, try listener.accept())
  }

  /// Returns a socket that listens on a numeric address, on a port that the kernel chooses.
  static func listen(onNumeric host: String) throws -> Socket {
    try Socket.listen(on: try #require(SocketAddress(numeric: host, port: 0)))
  }

  /// Reads until the peer has shut down its sending direction, and returns the bytes. The socket must be blocking.
  func receiveAll() throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while let count = try receive(into: &buffer), count > 0 { bytes += buffer[..<count] }
    return bytes
  }

  /// Returns the value of a socket option, as getsockopt(2) does.
  func option(_ level: CInt, _ name: CInt) -> CInt {
    var value: CInt = -1
    var length = socklen_t(MemoryLayout<CInt>.size)
    let result = getsockopt(number, level, name, &value, &length)
    #expect(result == 0)
    return value
  }
}

/// The loopback addresses of this machine: 127.0.0.1, and ::1 if the machine has IPv6.
let loopbacks = ["127.0.0.1", "::1"].filter { (try? Socket.listen(onNumeric: $0)) != nil }
