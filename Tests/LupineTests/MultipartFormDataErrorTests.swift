// What a multipart form refuses, when it says so, and what it leaves behind.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct MultipartFormDataErrorTests {
  private typealias Reason = AFError.MultipartEncodingFailureReason

  /// The reason for which `body` fails to encode a form.
  private func reason(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) -> Reason? {
    let error = #expect(throws: AFError.self, sourceLocation: sourceLocation) { try body() }
    guard case .multipartEncodingFailed(let reason) = error else {
      Issue.record("another error: \(String(describing: error))", sourceLocation: sourceLocation)
      return nil
    }
    return reason
  }

  /// The reason for which a form with what `build` appends fails to encode, in memory as in a file that isn't made.
  private func appendReason(
    fileManager: FileManager = .default, sourceLocation: SourceLocation = #_sourceLocation,
    _ build: (MultipartFormData) throws -> Void
  ) throws -> Reason? {
    try withFolder { folder in
      let form = MultipartFormData(fileManager: fileManager)
      try build(form)
      let target = folder.appending(path: "form")
      let inFile = reason({ try form.writeEncodedData(to: target) }, sourceLocation: sourceLocation)
      #expect(!FileManager.default.fileExists(atPath: target.path), sourceLocation: sourceLocation)
      let inMemory = reason({ _ = try form.encode() }, sourceLocation: sourceLocation)
      #expect("\(inFile as Any)" == "\(inMemory as Any)", sourceLocation: sourceLocation)
      return inMemory
    }
  }

  // MARK: Appending

  @Test("a URL of something else than a file is refused")
  func remoteURL() throws {
    let url = try #require(URL(string: "https://example.org/image.jpeg"))
    for build in [
      { $0.append(url, withName: "n") }, { $0.append(url, withName: "n", fileName: "f", mimeType: "t") },
    ] as [(MultipartFormData) -> Void] {
      guard case .bodyPartURLInvalid(url) = try appendReason(build) else {
        Issue.record("the URL was taken")
        return
      }
    }
  }

  @Test("without a name and an extension no type is made up", arguments: ["/etc/passwd", "/etc/.profile", "/etc/x."])
  func noExtension(path: String) throws {
    let url = URL(fileURLWithPath: path)
    let reason = try appendReason { $0.append(url, withName: "n") }
    guard case .bodyPartFilenameInvalid(url) = reason else {
      Issue.record("\(reason as Any)")
      return
    }
  }

  @Test("a file that isn't there is refused, with the system's error")
  func missingFile() throws {
    try withFolder { folder in
      let url = folder.appending(path: "missing.txt")
      let reason = try appendReason { $0.append(url, withName: "n") }
      guard case .bodyPartFileNotReachableWithError(url, let error) = reason else {
        Issue.record("\(reason as Any)")
        return
      }
      #expect((error as? CocoaError)?.code == .fileReadNoSuchFile)
    }
  }

  @Test("a directory is refused")
  func directory() throws {
    try withFolder { folder in
      let url = folder.appending(path: "folder.txt", directoryHint: .notDirectory)
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      let reason = try appendReason { $0.append(url, withName: "n") }
      guard case .bodyPartFileIsDirectory(url) = reason else {
        Issue.record("\(reason as Any)")
        return
      }
    }
  }

  @Test("what has no size beforehand is refused", .timeLimit(.minutes(10)))
  func device() throws {
    let url = URL(fileURLWithPath: "/dev/zero")
    let reason = try appendReason { $0.append(url, withName: "n", fileName: "f", mimeType: "t") }
    guard case .bodyPartFileSizeNotAvailable(url) = reason else {
      Issue.record("\(reason as Any)")
      return
    }
  }

  @Test("the file manager is asked whether a file may be read and how long it is")
  func fileManager() throws {
    final class Forbidding: FileManager, @unchecked Sendable {
      override func isReadableFile(atPath path: String) -> Bool { false }
    }
    final class Failing: FileManager, @unchecked Sendable {
      override func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        throw CocoaError(.fileReadNoPermission)
      }
    }

    let url = URL(fileURLWithPath: "/etc/passwd")
    let append = { (form: MultipartFormData) in form.append(url, withName: "n", fileName: "f", mimeType: "t") }
    let forbidden = try appendReason(fileManager: Forbidding(), append)
    guard case .bodyPartFileNotReachable(url) = forbidden else {
      Issue.record("\(forbidden as Any)")
      return
    }
    let failed = try appendReason(fileManager: Failing(), append)
    guard case .bodyPartFileSizeQueryFailedWithError(url, let error) = failed else {
      Issue.record("\(failed as Any)")
      return
    }
    #expect((error as? CocoaError)?.code == .fileReadNoPermission)
  }

  @Test("of the appends that fail the first is told, whatever comes after it")
  func firstError() throws {
    let first = URL(fileURLWithPath: "/missing/first.txt")
    let reason = try appendReason { form in
      form.append(Data("good".utf8), withName: "a")
      form.append(first, withName: "b")
      form.append(URL(fileURLWithPath: "/etc"), withName: "c", fileName: "f", mimeType: "t")
      form.append(Data("good".utf8), withName: "d")
    }
    #expect(reason?.url == first)
  }

  // MARK: Reading

  @Test("a file that has gone since it was appended is told", arguments: [true, false])
  func goneFile(inMemory: Bool) throws {
    try withFolder { folder in
      let url = folder.appending(path: "f.txt")
      try Data("1".utf8).write(to: url)
      let form = MultipartFormData()
      form.append(url, withName: "n")
      try FileManager.default.removeItem(at: url)
      let reason = reason {
        if inMemory { _ = try form.encode() } else { try form.writeEncodedData(to: folder.appending(path: "form")) }
      }
      guard case .bodyPartInputStreamCreationFailed(url) = reason else {
        Issue.record("\(reason as Any)")
        return
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  @Test("a stream that is shorter than announced is refused", arguments: [true, false])
  func shortStream(inMemory: Bool) throws {
    try withFolder { folder throws in
      let form = MultipartFormData()
      form.append(InputStream(data: Data("abc".utf8)), withLength: 4, headers: [:])
      let reason = reason {
        if inMemory { _ = try form.encode() } else { try form.writeEncodedData(to: folder.appending(path: "form")) }
      }
      guard case .inputStreamReadFailed(let error as AFError.UnexpectedInputStreamLength) = reason else {
        Issue.record("\(reason as Any)")
        return
      }
      #expect(error.bytesExpected == 4)
      #expect(error.bytesRead == 3)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  @Test("a stream that is longer than announced is refused in memory, and cut off in a file")
  func longStream() throws {
    let inMemory = MultipartFormData(boundary: "B")
    inMemory.append(InputStream(data: Data("abcdef".utf8)), withLength: 4, headers: [:])
    let reason = reason { _ = try inMemory.encode() }
    guard case .inputStreamReadFailed(let error as AFError.UnexpectedInputStreamLength) = reason else {
      Issue.record("\(reason as Any)")
      return
    }
    #expect(error.bytesExpected == 4)
    #expect(error.bytesRead == 6)
    #expect(error.localizedDescription.contains("at least 6"))

    try withFolder { folder in
      let inFile = MultipartFormData(boundary: "B")
      inFile.append(InputStream(data: Data("abcdef".utf8)), withLength: 4, headers: [:])
      let file = folder.appending(path: "form")
      try inFile.writeEncodedData(to: file)
      #expect(try Data(contentsOf: file) == Data("--B\r\n\r\nabcd\r\n--B--\r\n".utf8))
    }
  }

  @Test("an endless stream is given up in memory", .timeLimit(.minutes(10)))
  func endlessStream() throws {
    let form = MultipartFormData()
    let stream = try #require(InputStream(fileAtPath: "/dev/zero"))
    form.append(stream, withLength: 100_000, headers: [:])
    let reason = reason { _ = try form.encode() }
    #expect((reason?.underlyingError as? AFError.UnexpectedInputStreamLength)?.bytesExpected == 100_000)
    #expect(stream.streamStatus == .closed)
  }

  @Test("a stream that was read already is told, not taken as empty")
  func readStream() throws {
    let form = MultipartFormData()
    form.append(InputStream(data: Data("abc".utf8)), withLength: 3, headers: [:])
    _ = try form.encode()
    let reason = reason { _ = try form.encode() }
    if case .inputStreamReadFailed = reason {} else { Issue.record("\(reason as Any)") }
  }

  @Test("a stream's own error is passed on, and one without an error has a stand-in")
  func failingStream() throws {
    final class Mute: InputStream {
      override var streamStatus: Stream.Status { .open }
      override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int { -1 }
    }

    let missing = MultipartFormData()
    missing.append(
      try #require(InputStream(fileAtPath: "/missing/file")), withLength: 3, headers: [:])
    let missingReason = reason { _ = try missing.encode() }
    #expect((missingReason?.underlyingError as NSError?)?.code == Int(ENOENT))

    let mute = MultipartFormData()
    mute.append(Mute(data: Data()), withLength: 3, headers: [:])
    let muteReason = reason { _ = try mute.encode() }
    #expect((muteReason?.underlyingError as? CocoaError)?.code == .fileReadUnknown)
  }

  // MARK: Writing

  @Test("a file that is there already is left alone")
  func existingTarget() throws {
    try withFolder { folder in
      let url = folder.appending(path: "form")
      try Data("precious".utf8).write(to: url)
      let reason = reason { try MultipartFormData().writeEncodedData(to: url) }
      if case .outputStreamFileAlreadyExists(url) = reason {} else { Issue.record("\(reason as Any)") }
      #expect(try Data(contentsOf: url) == Data("precious".utf8))
    }
  }

  @Test("a link to nowhere counts as a file that is there")
  func danglingLink() throws {
    try withFolder { folder in
      let url = folder.appending(path: "form")
      try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: "elsewhere")
      let reason = reason { try MultipartFormData().writeEncodedData(to: url) }
      if case .outputStreamFileAlreadyExists(url) = reason {} else { Issue.record("\(reason as Any)") }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["form"])
    }
  }

  @Test("only a file's URL is written to, after it was looked whether its path is taken")
  func remoteTarget() throws {
    let free = try #require(URL(string: "https://example.org/no/such/path"))
    let taken = try #require(URL(string: "https://example.org/etc"))
    let freeReason = reason { try MultipartFormData().writeEncodedData(to: free) }
    let takenReason = reason { try MultipartFormData().writeEncodedData(to: taken) }
    if case .outputStreamURLInvalid(free) = freeReason {} else { Issue.record("\(freeReason as Any)") }
    if case .outputStreamFileAlreadyExists(taken) = takenReason {} else { Issue.record("\(takenReason as Any)") }
  }

  @Test("a target whose directory is missing can't be made")
  func missingDirectory() throws {
    try withFolder { folder in
      let url = folder.appending(path: "missing/form")
      let reason = reason { try MultipartFormData().writeEncodedData(to: url) }
      if case .outputStreamCreationFailed(url) = reason {} else { Issue.record("\(reason as Any)") }
    }
  }

  @Test("a disk without space is told")
  func fullDisk() throws {
    let form = MultipartFormData()
    form.append(Data("1".utf8), withName: "n")
    let file = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let reason = reason { try form.write(to: file) }
    guard case .outputStreamWriteFailed(let error) = reason else {
      Issue.record("\(reason as Any)")
      return
    }
    #expect((error as? CocoaError)?.code == .fileWriteOutOfSpace)
  }
}
