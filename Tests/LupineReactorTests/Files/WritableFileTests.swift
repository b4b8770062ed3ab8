// WritableFileTests: writing files, write errors, and atomic renames.

import Glibc
import LupineTestSupport
import Testing

@testable import LupineReactor

@Suite("WritableFile")
struct WritableFileTests {
  private let bytes = SequenceBytes.bytes(from: 0, count: 200_000)

  private func path(_ name: String = "file") throws -> (folder: Folder, path: String) {
    let folder = try Folder()
    return (folder, "\(folder.path)/\(name)")
  }

  private func content(_ path: String) throws -> [UInt8] {
    let file = try File(reading: path)
    var output: [UInt8] = []
    while try file.read(65_536, at: UInt64(output.count), into: &output) > 0 {}
    return output
  }

  private func status(_ path: String) throws -> stat {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return status
  }

  @Test(
    "a file that is written in parts contains all bytes, and only its owner can read the file",
    arguments: [1_000, 65_536, 200_000])
  func pieces(size: Int) throws {
    let (folder, path) = try path()
    defer { folder.remove() }
    let file = try WritableFile(creating: path)
    for start in stride(from: 0, to: bytes.count, by: size) {
      let piece = Array(bytes[start..<min(start + size, bytes.count)])
      try file.write(piece.span, at: UInt64(start))
    }
    try file.close()
    let isIntact = try content(path) == bytes
    #expect(isIntact)
    #expect(try status(path).st_mode & 0o777 == 0o600)
  }

  @Test("creating a file fails if its path exists, even if the path is a dangling symbolic link")
  func exclusive() throws {
    let (folder, path) = try path()
    defer { folder.remove() }
    try WritableFile(creating: path).close()
    let link = "\(folder.path)/link"
    try #require(symlink("\(folder.path)/target", link) == 0)
    for taken in [path, link] {
      #expect(throws: SystemError(call: "open", code: EEXIST)) { _ = try WritableFile(creating: taken) }
    }
    #expect(access("\(folder.path)/target", F_OK) != 0)
  }

  @Test("a file that was written can be reopened, truncated and written further")
  func reopened() throws {
    let (folder, path) = try path()
    defer { folder.remove() }
    let first = try WritableFile(creating: path)
    try first.write([1, 2, 3, 4, 5].span, at: 0)
    try first.close()
    let second = try WritableFile(reopening: path)
    #expect(try second.byteCount() == 5)
    try second.truncate(to: 3)
    try second.write([9].span, at: 3)
    try second.close()
    #expect(try content(path) == [1, 2, 3, 9])
  }

  @Test("reopening a symbolic link, a folder, a FIFO or a file with several hard links for writing fails")
  func foreign() throws {
    let (folder, path) = try path()
    defer { folder.remove() }
    try WritableFile(creating: path).close()
    let (link, fifo, second) = ("\(folder.path)/link", "\(folder.path)/fifo", "\(folder.path)/second")
    try #require(symlink(path, link) == 0 && mkfifo(fifo, 0o600) == 0)
    #expect(throws: SystemError(call: "open", code: ELOOP)) { _ = try WritableFile(reopening: link) }
    #expect(throws: SystemError(call: "open", code: ENXIO)) { _ = try WritableFile(reopening: fifo) }
    #expect(throws: SystemError(call: "open", code: EISDIR)) { _ = try WritableFile(reopening: folder.path) }
    #expect(throws: SystemError(call: "open", code: EINVAL)) { _ = try WritableFile(reopening: "/dev/null") }
    #expect(throws: SystemError(call: "open", code: ENOENT)) { _ = try WritableFile(reopening: path + "x") }
    try #require(Glibc.link(path, second) == 0)
    #expect(throws: SystemError(call: "open", code: EPERM)) { _ = try WritableFile(reopening: path) }
  }

  @Test("reopening another user's file for writing fails", .enabled(if: geteuid() == 0))
  func anotherUsers() throws {
    let (folder, path) = try path()
    defer { folder.remove() }
    try WritableFile(creating: path).close()
    try #require(chown(path, 1, 1) == 0)
    #expect(throws: SystemError(call: "open", code: EPERM)) { _ = try WritableFile(reopening: path) }
  }

  @Test("a child process inherits no descriptor of a file or of a netlink socket")
  func inheritance() throws {
    let (folder, path) = try path()
    defer { folder.remove() }
    let created = try WritableFile(creating: path)
    let reopened = try WritableFile(reopening: path)
    let read = try File(reading: path)
    let netlink = try NetlinkSocket(isNotified: true)
    for number in [created.number, reopened.number, read.number, netlink.number] {
      #expect(fcntl(number, F_GETFD) & FD_CLOEXEC == FD_CLOEXEC)
    }
    // These uses keep the descriptors open until here.
    try netlink.discardNotifications()
    #expect(try read.byteCount() == 0)
    try reopened.close()
    try created.close()
  }

  @Test("writing a file to a full disk fails")
  func full() throws {
    let file = WritableFile(owning: FileDescriptor(owning: open("/dev/full", O_WRONLY | O_CLOEXEC)), path: "/dev/full")
    #expect(throws: SystemError(call: "write", code: ENOSPC)) { try file.write([1].span, at: 0) }
  }

  @Test("writing beyond the process's file size limit fails with EFBIG and raises no signal")
  func sizeLimit() throws {
    let (folder, path) = try path()
    defer { folder.remove() }
    let number = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let file = WritableFile(owning: FileDescriptor(owning: number), path: path, byteCountMax: 10)
    try file.write(Array(bytes[..<10]).span, at: 0)
    #expect(throws: SystemError(call: "write", code: EFBIG)) { try file.write([1].span, at: 10) }
    #expect(throws: SystemError(call: "write", code: EFBIG)) { try file.write([1].span, at: .max) }
    #expect(try file.byteCount() == 10)
  }

  @Test(
    "after a write that accepts only some bytes, the rest is written, and a write that accepts no bytes is an error")
  func shortWrites() throws {
    var starts: [Int] = []
    try WritableFile.writeAll(10) { done throws(SystemError) in
      starts.append(done)
      return min(4, 10 - done)
    }
    #expect(starts == [0, 4, 8])
    for answer in [nil, 0] as [Int?] {
      #expect(throws: SystemError(call: "write", code: EIO)) {
        try WritableFile.writeAll(10) { done throws(SystemError) in done == 0 ? 3 : answer }
      }
    }
    #expect(throws: SystemError(call: "write", code: ENOSPC)) {
      try WritableFile.writeAll(10) { done throws(SystemError) in
        guard done == 0 else { throw SystemError(call: "write", code: ENOSPC) }
        return 3
      }
    }
    try WritableFile.writeAll(0) { _ throws(SystemError) in nil }
  }

  @Test("if close returns an error for a written file, the error is thrown")
  func closing() {
    // This descriptor number is never in use, because it is above any limit of descriptors.
    #expect(throws: SystemError(call: "close", code: EBADF)) {
      let descriptor = FileDescriptor(owning: .max)
      try descriptor.close()
    }
  }

  @Test("moving a written file replaces an existing file only if the caller requests that")
  func moved() throws {
    let (folder, path) = try path()
    defer { folder.remove() }
    let other = "\(folder.path)/other"
    for name in [path, other] {
      let file = try WritableFile(creating: name)
      try file.write(Array(name.utf8).span, at: 0)
      try file.close()
    }
    #expect(throws: SystemError(call: "rename", code: EEXIST)) { try File.move(path, to: other, replaces: false) }
    #expect(try content(other) == Array(other.utf8))
    try File.move(path, to: other, replaces: true)
    #expect(try content(other) == Array(path.utf8))
    try File.move(other, to: path, replaces: false)
    #expect(try content(path) == Array(path.utf8) && access(other, F_OK) != 0)
    try File.remove(path)
    #expect(throws: SystemError(call: "unlink", code: ENOENT)) { try File.remove(path) }
  }
}

/// A temporary folder for a test's files. Its deallocation deletes the folder with the files.
private struct Folder {
  let path: String

  init() throws {
    var template = Array("/tmp/lupine-test-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func remove() {
    for name in ["file", "link", "fifo", "second", "other", "target"] { unlink("\(path)/\(name)") }
    rmdir(path)
  }
}
