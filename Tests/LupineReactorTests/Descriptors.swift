// Descriptors and files for the tests, closed and removed when the test is done with them.

import Glibc
import Testing

/// Two connected stream sockets that don't block.
final class SocketPair: Sendable {
  let first: CInt
  let second: CInt

  init() throws {
    var numbers: [CInt] = [-1, -1]
    let result = socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &numbers)
    try #require(result == 0)
    (first, second) = (numbers[0], numbers[1])
  }

  deinit {
    close(first)
    close(second)
  }

  /// Makes `first` readable.
  func write(_ byte: UInt8 = 1) {
    var byte = byte
    let count = Glibc.write(second, &byte, 1)
    #expect(count == 1)
  }

  /// Takes everything that `first` holds.
  func drain() {
    var room = [UInt8](repeating: 0, count: 65_536)
    while read(first, &room, room.count) > 0 {}
  }
}

/// A file with given bytes, removed at the end.
final class TemporaryFile: Sendable {
  let path: String

  init(_ bytes: [UInt8]) throws {
    var template = Array("/tmp/lupine-test-XXXXXX".utf8CString)
    let number = mkstemp(&template)
    try #require(number >= 0)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let count = write(number, bytes, bytes.count)
    close(number)
    try #require(count == bytes.count)
  }

  deinit { unlink(path) }
}
