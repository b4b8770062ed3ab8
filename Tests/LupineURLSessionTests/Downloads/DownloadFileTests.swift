// `DownloadFile`: the file that a download writes, its lifetime, and the error when it can't be written.

import Foundation
import Glibc
import LupineEngine
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite struct DownloadFileTests {
  private static let source = URL(string: "https://h/large")
  private let bytes = Data(SequenceBytes.bytes(from: 0, count: 100_000))

  private func names(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
  }

  /// Returns a DownloadFile for a file in the folder, whose descriptor is open on `path` instead, such as /dev/full. So writes
  /// fail as they do at `path`, but removal deletes the file in the folder.
  private func file(in folder: URL, writingTo path: String, total: UInt64?, holding count: UInt64 = 0) throws
    -> DownloadFile
  {
    let own = folder.appending(path: DownloadFileName.random())
    try Data(count: Int(count)).write(to: own)
    let descriptor = FileDescriptor(owning: open(path, O_WRONLY | O_CLOEXEC))
    return DownloadFile(
      WritableFile(owning: descriptor, path: own.path), holding: count, from: Self.source, total: total)
  }

  private func resumeData(_ path: String, received: UInt64, total: UInt64? = nil) throws -> ResumeData {
    ResumeData(
      url: try #require(Self.source), fields: [:], timeoutInterval: nil, handlesCookies: true, mainDocumentURL: nil,
      validator: .entityTag("\"1\""), path: path, receivedByteCount: received, totalByteCount: total)
  }

  @Test("a finished download file is complete, has a random name, and is readable only by its owner")
  func finished() throws {
    let file = try DownloadFile.create(from: Self.source)
    defer { try? FileManager.default.removeItem(at: file.url) }
    for start in stride(from: 0, to: bytes.count, by: 30_000) {
      try file.write(bytes[start..<min(start + 30_000, bytes.count)])
    }
    #expect(file.byteCount == 100_000)
    let url = try file.finish()
    #expect(url == file.url && url.deletingLastPathComponent().path == FileManager.default.temporaryDirectory.path)
    #expect(DownloadFileName.matches(url.lastPathComponent))
    let isIntact = try Data(contentsOf: url) == bytes
    #expect(isIntact)
    let permissions = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber
    #expect(permissions == 0o600)
    let other = try DownloadFile.create(from: Self.source)
    #expect(other.url != url)
  }

  @Test("abandoning a download deletes the partial file, and later writes to the file have no effect")
  func abandoned() throws {
    try withFolder { folder in
      let file = try DownloadFile.create(in: folder, from: nil)
      try file.write(bytes)
      #expect(try names(in: folder).count == 1)
      file.abandon()
      #expect(try names(in: folder).isEmpty)
      try file.write(bytes)
      try file.startAfresh(total: 5)
      file.abandon()
      #expect(file.byteCount == 100_000)
      #expect(throws: URLError(.cancelled)) { try file.finish() }
      #expect(throws: URLError(.cancelled)) { try file.keep() }
      #expect(try names(in: folder).isEmpty)
    }
  }

  @Test("releasing a DownloadFile object deletes an unfinished file, but not a finished file")
  func released() throws {
    try withFolder { folder in
      var file: DownloadFile? = try DownloadFile.create(in: folder, from: nil)
      try file?.write(bytes)
      file = nil
      #expect(try names(in: folder).isEmpty)
      file = try DownloadFile.create(in: folder, from: nil)
      let url = try file?.finish()
      file = nil
      #expect(try names(in: folder) == [url?.lastPathComponent])
    }
  }

  @Test("resuming a download truncates the partial file to the byte count in the resume data, and appends to it")
  func resumed() throws {
    try withFolder { folder in
      let first = try DownloadFile.create(in: folder, from: nil)
      try first.write(bytes[..<60_000])
      try first.keep()
      let resumeData = try resumeData(first.url.path, received: 50_000)
      let second = try #require(try DownloadFile.reopen(resumeData))
      #expect(second.url == first.url && second.byteCount == 50_000)
      #expect(try Data(contentsOf: second.url).count == 50_000)
      try second.write(bytes[50_000...])
      let isIntact = try Data(contentsOf: second.finish()) == bytes
      #expect(isIntact)
    }
  }

  @Test(
    "a download can't be resumed, and changes nothing, if the partial file is missing, too short, a link or a folder")
  func notResumed() throws {
    try withFolder { folder in
      let path = folder.appending(path: DownloadFileName.random()).path
      #expect(try DownloadFile.reopen(resumeData(path, received: 5)) == nil)
      #expect(try DownloadFile.reopen(resumeData(path + "/x", received: 5)) == nil)
      try Data([1, 2, 3, 4]).write(to: URL(filePath: path))
      #expect(try DownloadFile.reopen(resumeData(path, received: 5)) == nil)
      #expect(try Data(contentsOf: URL(filePath: path)) == Data([1, 2, 3, 4]))
      #expect(try DownloadFile.reopen(resumeData(folder.path, received: 5)) == nil)
      let link = folder.appending(path: DownloadFileName.random()).path
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
      #expect(try DownloadFile.reopen(resumeData(link, received: 2)) == nil)
      #expect(try Data(contentsOf: URL(filePath: path)).count == 4)
    }
  }

  @Test("a partial file that another download continues is neither opened nor truncated nor deleted")
  func inUse() throws {
    try withFolder { folder in
      let first = try DownloadFile.create(in: folder, from: nil)
      try first.write(bytes[..<60_000])
      try first.keep()
      let resumeData = try resumeData(first.url.path, received: 50_000)
      let second = try #require(try DownloadFile.reopen(resumeData))
      try second.write(bytes[50_000...])
      #expect(try DownloadFile.reopen(resumeData) == nil)
      URLSessionDownloadTask.removeFile(ofResumeData: try #require(resumeData.serialized))
      #expect(try Data(contentsOf: second.url).count == bytes.count)
      try second.keep()
      #expect(try DownloadFile.reopen(resumeData) != nil)
    }
  }

  @Test("startAfresh deletes the previous content of a download's file")
  func afresh() throws {
    try withFolder { folder in
      let file = try DownloadFile.create(in: folder, from: nil, total: 7)
      try file.write(bytes)
      try file.startAfresh(total: 3)
      #expect(file.byteCount == 0)
      try file.write(Data([1, 2, 3]))
      #expect(try Data(contentsOf: file.finish()) == Data([1, 2, 3]))
    }
  }

  @Test("a download to a full disk fails with the path, the byte count, the cause and a remedy, and deletes its file")
  func noSpace() throws {
    try withFolder { folder in
      let file = try file(in: folder, writingTo: "/dev/full", total: 5_000_000, holding: 1_048_576)
      let error = try #require(throws: URLError.self) { try file.write(bytes) }
      #expect(error.code == .cannotWriteToFile)
      #expect(error.failingURL == Self.source)
      #expect((error.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOSPC)
      #expect(
        error.localizedDescription == """
          \(file.url.path) can't be written after 1,048,576 of 5,000,000 bytes: No space left on device. Free space \
          there, or choose another temporary directory (TMPDIR).
          """)
      #expect(try names(in: folder).isEmpty)
      // After the error, writes have no effect, and `finish` and `keep` throw the same error.
      try file.write(bytes)
      #expect(throws: error) { try file.finish() }
      #expect(throws: error) { try file.keep() }
    }
  }

  @Test("if closing the downloaded file fails, the download fails and the file is deleted")
  func notClosed() throws {
    try withFolder { folder in
      for end in [{ _ = try $0.finish() }, { try $0.keep() }] as [(DownloadFile) throws -> Void] {
        let own = folder.appending(path: DownloadFileName.random())
        try Data([1]).write(to: own)
        // This descriptor isn't open, because its number is above every limit for descriptors.
        let file = DownloadFile(
          WritableFile(owning: FileDescriptor(owning: .max), path: own.path), holding: 1, from: Self.source)
        let error = try #require(throws: URLError.self) { try end(file) }
        #expect(error.code == .cannotCloseFile)
        #expect((error.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EBADF)
        #expect(try names(in: folder).isEmpty)
        #expect(throws: error) { try file.finish() }
      }
    }
  }

  @Test(
    "finishing a download fails if the file has the wrong size, and the file is deleted",
    arguments: [2, 4] as [UInt64])
  func incomplete(due: UInt64) throws {
    try withFolder { folder in
      let file = try DownloadFile.create(in: folder, from: Self.source)
      try file.write(Data([1, 2, 3]))
      let error = try #require(throws: URLError.self) { _ = try file.finish(byteCountDue: due) }
      #expect(error.code == .badServerResponse && error.failingURL == Self.source)
      #expect(
        error.localizedDescription == """
          https://h/large: The file has 3 bytes, but the server announced \(due). Download it from the start.
          """)
      #expect(try names(in: folder).isEmpty)
      let complete = try DownloadFile.create(in: folder, from: Self.source)
      try complete.write(Data([1, 2, 3]))
      #expect(try complete.finish(byteCountDue: 3) == complete.url)
    }
  }

  @Test("if a partial file can't be opened, resuming the download fails with cannotOpenFile and the path")
  func notOpened() throws {
    let path = "/\(String(repeating: "x", count: 256))/\(DownloadFileName.random())"
    let error = try #require(throws: URLError.self) { _ = try DownloadFile.reopen(resumeData(path, received: 5)) }
    #expect(error.code == .cannotOpenFile && error.failingURL == Self.source)
    #expect(error.localizedDescription.hasPrefix("\(path) can't be opened: File name too long. "))
  }

  @Test(
    "if a download's file can't be created, the error contains the path and a remedy",
    arguments: ["missing", "file/below"])
  func notCreated(name: String) throws {
    try withFolder { folder in
      try Data().write(to: folder.appending(path: "file"))
      let error = try #require(throws: URLError.self) {
        _ = try DownloadFile.create(in: folder.appending(path: name), from: Self.source)
      }
      #expect(error.code == .cannotCreateFile)
      #expect(error.localizedDescription.hasPrefix(folder.appending(path: name).path))
      #expect(error.localizedDescription.hasSuffix("Choose a writable temporary directory (TMPDIR)."))
      #expect(try names(in: folder) == ["file"])
    }
  }

  @Test(
    "the error for a file that can't be written contains the byte count, the cause and a remedy for each system error")
  func texts() {
    func text(_ code: CInt, _ received: (UInt64, UInt64?)?) -> String {
      var failure = DownloadFileFailure(
        action: .written, path: "/t/f", error: SystemError(call: "write", code: code))
      failure.received = received.map { (count: $0.0, total: $0.1) }
      return failure.description
    }
    #expect(text(EIO, (0, nil)).hasPrefix("/t/f can't be written after 0 bytes: Input/output error. "))
    #expect(text(EDQUOT, (999, 1_000)).contains("after 999 of 1,000 bytes: Disk quota exceeded. Free space"))
    #expect(text(EFBIG, (12_345_678, nil)).contains("after 12,345,678 bytes: File too large. Raise the file size"))
    #expect(text(EROFS, nil).hasPrefix("/t/f can't be written: Read-only file system. Choose a writable temporary"))
    #expect(text(EACCES, nil).contains("Permission denied. Choose a writable temporary directory"))
    #expect(text(EMFILE, nil).contains("(ulimit -n)"))
    #expect(text(EIO, nil).contains("dmesg"))
  }
}
