// FileTests: reading files in pieces and past the end, and files that can't be read.

import Glibc
import LupineReactor
import LupineTestSupport
import Testing

@Suite("File")
struct FileTests {
  private let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  @Test("a file can be read in parts of any size", arguments: [1, 7, 999, 1_000, 4_096])
  func pieces(size: Int) throws {
    let temporary = try TemporaryFile(bytes)
    let file = try File(reading: temporary.path)
    var output: [UInt8] = []
    while try file.read(size, at: UInt64(output.count), into: &output) > 0 {}
    #expect(output == bytes)
  }

  @Test("reading a file appends the file's bytes to the output buffer")
  func appends() throws {
    let temporary = try TemporaryFile(bytes)
    let file = try File(reading: temporary.path)
    var output: [UInt8] = [1, 2, 3]
    let count = try file.read(10, at: 5, into: &output)
    #expect(count == 10)
    #expect(output == [1, 2, 3] + bytes[5..<15])
  }

  @Test("reading at or after the end of a file returns no bytes", arguments: [1_000, 1_001, 1 << 40])
  func pastTheEnd(offset: UInt64) throws {
    let temporary = try TemporaryFile(bytes)
    let file = try File(reading: temporary.path)
    var output: [UInt8] = [1]
    let count = try file.read(100, at: offset, into: &output)
    #expect(count == 0)
    #expect(output == [1])
  }

  @Test("the last part read from a file may be shorter than the others")
  func shortRead() throws {
    let temporary = try TemporaryFile(bytes)
    let file = try File(reading: temporary.path)
    var output: [UInt8] = []
    let count = try file.read(100, at: 990, into: &output)
    #expect(count == 10)
    #expect(output == Array(bytes[990...]))
  }

  @Test("opening a missing file fails")
  func missing() {
    #expect(throws: SystemError(call: "open", code: ENOENT)) {
      _ = try File(reading: "/nonexistent/lupine")
    }
  }

  @Test("opening anything but a regular file fails, and doesn't block on a FIFO without a writer")
  func irregular() throws {
    let temporary = try TemporaryFile([])
    let fifo = temporary.path + ".fifo"
    #expect(mkfifo(fifo, 0o600) == 0)
    defer { unlink(fifo) }
    #expect(throws: SystemError(call: "open", code: EISDIR)) { _ = try File(reading: "/tmp") }
    for path in ["/dev/zero", fifo] {
      #expect(throws: SystemError(call: "open", code: EINVAL)) { _ = try File(reading: path) }
    }
  }
}
