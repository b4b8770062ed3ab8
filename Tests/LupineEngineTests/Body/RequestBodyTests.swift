// RequestBodyTests: bodies of bytes and files: their length, and reading them in pieces of any size.

import Glibc
import LupineReactor
import LupineTestSupport
import Testing

@testable import LupineEngine

@Suite("RequestBody")
struct RequestBodyTests {
  private let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  /// Reads the body in pieces of `size` bytes, and returns all of its bytes. Checks that only the last piece is shorter.
  private func pull(_ body: RequestBody, by size: Int) throws -> [UInt8] {
    var source = try BodySource(body, coding: nil, of: 1, inbox: Inbox {})
    var output: [UInt8] = []
    while !source.isExhausted {
      let before = output.count
      #expect(try source.pull(size, into: &output) == .more)
      try #require(output.count - before <= size)
      try #require(output.count - before == size || source.isExhausted)
    }
    let before = output.count
    _ = try source.pull(size, into: &output)
    #expect(output.count == before, "more bytes after the end")
    return output
  }

  @Test("a request body's length is the sum of its segments")
  func length() {
    #expect(RequestBody().byteCount == 0)
    #expect(RequestBody([1, 2]).byteCount == 2)
    #expect(RequestBody("é").byteCount == 2)
    var body = RequestBody("ab")
    body.append(.file(path: "/nonexistent", byteCount: 5_000_000_000))
    body.append(.bytes([1]))
    #expect(body.byteCount == 5_000_000_003)
    #expect(body.segments.count == 3)
  }

  @Test(
    "the client sends a request body's bytes, files and empty segments in order",
    arguments: [1, 2, 3, 7, 99, 100, 101, 1_000, 2_100, 5_000])
  func pieces(size: Int) throws {
    let (file, empty, other) = (try TemporaryFile(bytes), try TemporaryFile([]), try TemporaryFile(bytes.reversed()))
    var body = RequestBody(Array(bytes[..<100]))
    body.append(.bytes([]))
    body.append(.file(path: file.path, byteCount: 1_000))
    body.append(.file(path: other.path, byteCount: 1_000))
    body.append(.file(path: empty.path, byteCount: 0))
    body.append(.file(path: file.path, byteCount: 900))
    body.append(.bytes(Array(bytes[900...])))
    let expected = bytes[..<100] + bytes + bytes.reversed() + bytes[..<900] + bytes[900...]
    #expect(body.byteCount == UInt64(expected.count))
    #expect(try pull(body, by: size) == Array(expected))
    #expect(try pull(body, by: size) == Array(expected), "the body can't be sent again")
  }

  @Test("an empty request body produces no bytes", arguments: [1, 64])
  func nothing(size: Int) throws {
    let empty = try TemporaryFile([])
    var file = RequestBody()
    file.append(.file(path: empty.path, byteCount: 0))
    for body in [RequestBody(), RequestBody([]), RequestBody(""), file] {
      #expect(try pull(body, by: size) == [])
      #expect(body.byteCount == 0)
    }
    let source = try BodySource(RequestBody(), coding: nil, of: 1, inbox: Inbox {})
    let isExhausted = source.isExhausted
    #expect(isExhausted)
  }

  @Test("pulling bytes from a request body appends them to the output array, and pulling 0 bytes appends nothing")
  func appends() throws {
    var source = try BodySource(RequestBody([3, 4]), coding: nil, of: 1, inbox: Inbox {})
    var output: [UInt8] = [1, 2]
    _ = try source.pull(0, into: &output)
    #expect(output == [1, 2])
    _ = try source.pull(1, into: &output)
    _ = try source.pull(9, into: &output)
    #expect(output == [1, 2, 3, 4])
  }

  @Test("if a request body's file is longer than declared, the client sends only the declared number of bytes")
  func longerFile() throws {
    let file = try TemporaryFile(bytes)
    var body = RequestBody()
    body.append(.file(path: file.path, byteCount: 10))
    body.append(.bytes([1]))
    for size in [1, 3, 10, 64] { #expect(try pull(body, by: size) == bytes[..<10] + [1]) }
  }

  @Test(
    "if a request body's file is shorter than declared, the error contains the file's path",
    arguments: [1, 7, 1_000, 1_001, 5_000])
  func shorterFile(size: Int) throws {
    let file = try TemporaryFile(bytes)
    var body = RequestBody("x")
    body.append(.file(path: file.path, byteCount: 1_001))
    body.append(.bytes([1]))
    do {
      _ = try pull(body, by: size)
      Issue.record("No error was thrown.")
    } catch Failure.bodyUnreadable(let error) {
      #expect(error == .fileEnded(file.path))
    }
  }

  @Test(
    "if a request body's file is unreadable, the error contains the path, even if the declared length is 0",
    arguments: [0, 5])
  func unreadable(byteCount: UInt64) throws {
    var body = RequestBody()
    body.append(.file(path: "/nonexistent/x", byteCount: byteCount))
    do {
      _ = try pull(body, by: 64)
      Issue.record("No error was thrown.")
    } catch Failure.bodyUnreadable(let error) {
      #expect(error == SystemError(call: "open /nonexistent/x", code: ENOENT))
    }
  }

  @Test("a request body can't be a directory")
  func directory() throws {
    var body = RequestBody()
    body.append(.file(path: "/tmp", byteCount: 5))
    do {
      _ = try pull(body, by: 64)
      Issue.record("No error was thrown.")
    } catch Failure.bodyUnreadable(let error) {
      #expect(error == SystemError(call: "open /tmp", code: EISDIR))
    }
  }
}
