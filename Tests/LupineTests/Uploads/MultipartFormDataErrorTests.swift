// MultipartFormData: the errors of appending, reading and writing, and that a failed form leaves no file.

import Foundation
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct MultipartFormDataErrorTests {
  private typealias Reason = AFError.MultipartEncodingFailureReason

  /// Returns the reason in the AFError.multipartEncodingFailed that `body` throws.
  private func reason(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) -> Reason? {
    let error = #expect(throws: AFError.self, sourceLocation: sourceLocation) { try body() }
    guard case .multipartEncodingFailed(let reason) = error else {
      Issue.record("unexpected error: \(String(describing: error))", sourceLocation: sourceLocation)
      return nil
    }
    return reason
  }

  /// Returns the reason for which a form fails to encode after `build` has appended its parts. Checks that the reason is the same
  /// for encoding in memory and to a file, and that no file is created.
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

  @Test("a multipart form with CR or LF in a media type or a part's header field is refused, and isn't written")
  func lineBreaks() throws {
    let text = Data("1".utf8)
    for lineBreak in ["\r", "\n", "\r\n"] {
      let broken = "text/plain\(lineBreak)X-Injected: 1"
      let builds: [(field: String, build: (MultipartFormData) throws -> Void)] = [
        ("Content-Type", { $0.append(text, withName: "n", mimeType: broken) }),
        ("Content-Type", { $0.append(URL(filePath: "/etc/passwd"), withName: "n", fileName: "f", mimeType: broken) }),
        (
          "Content-Type",
          { $0.append(InputStream(data: text), withLength: 1, name: "n", fileName: "f", mimeType: broken) }
        ),
        ("X-A", { $0.append(InputStream(data: text), withLength: 1, headers: ["X-A": broken]) }),
        (broken, { $0.append(InputStream(data: text), withLength: 1, headers: [broken: "1"]) }),
      ]
      for (field, build) in builds {
        guard case .outputStreamWriteFailed(let error as AFError.ForbiddenPartHeader) = try appendReason(build) else {
          Issue.record("\(field) was accepted")
          continue
        }
        #expect(error.name == field)
        #expect([error.name, error.value].contains(broken))
        #expect(!error.localizedDescription.contains { $0.isNewline })
      }
    }
  }

  @Test("appending a URL other than a file URL to a form is refused")
  func remoteURL() throws {
    let url = try #require(URL(string: "https://example.org/image.jpeg"))
    for build in [
      { $0.append(url, withName: "n") }, { $0.append(url, withName: "n", fileName: "f", mimeType: "t") },
    ] as [(MultipartFormData) -> Void] {
      guard case .bodyPartURLInvalid(url) = try appendReason(build) else {
        Issue.record("the URL was accepted")
        return
      }
    }
  }

  @Test(
    "appending a file without an extension is refused, because its media type can't be derived",
    arguments: ["/etc/passwd", "/etc/.profile", "/etc/x."])
  func noExtension(path: String) throws {
    let url = URL(fileURLWithPath: path)
    let reason = try appendReason { $0.append(url, withName: "n") }
    guard case .bodyPartFilenameInvalid(url) = reason else {
      Issue.record("unexpected reason: \(reason as Any)")
      return
    }
  }

  @Test("appending a missing file to a form is refused with the system's error")
  func missingFile() throws {
    try withFolder { folder in
      let url = folder.appending(path: "missing.txt")
      let reason = try appendReason { $0.append(url, withName: "n") }
      guard case .bodyPartFileNotReachableWithError(url, let error) = reason else {
        Issue.record("unexpected reason: \(reason as Any)")
        return
      }
      #expect((error as? CocoaError)?.code == .fileReadNoSuchFile)
    }
  }

  @Test("appending a directory to a form is refused")
  func directory() throws {
    try withFolder { folder in
      let url = folder.appending(path: "folder.txt", directoryHint: .notDirectory)
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      let reason = try appendReason { $0.append(url, withName: "n") }
      guard case .bodyPartFileIsDirectory(url) = reason else {
        Issue.record("unexpected reason: \(reason as Any)")
        return
      }
    }
  }

  @Test("appending a device file to a form is refused, because it has no size", .timeLimit(.minutes(10)))
  func device() throws {
    let url = URL(fileURLWithPath: "/dev/zero")
    let reason = try appendReason { $0.append(url, withName: "n", fileName: "f", mimeType: "t") }
    guard case .bodyPartFileSizeNotAvailable(url) = reason else {
      Issue.record("unexpected reason: \(reason as Any)")
      return
    }
  }

  @Test("a form asks its file manager for the size of an appended file, and whether the file is readable")
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
      Issue.record("unexpected reason: \(forbidden as Any)")
      return
    }
    let failed = try appendReason(fileManager: Failing(), append)
    guard case .bodyPartFileSizeQueryFailedWithError(url, let error) = failed else {
      Issue.record("unexpected reason: \(failed as Any)")
      return
    }
    #expect((error as? CocoaError)?.code == .fileReadNoPermission)
  }

  @Test("if several parts couldn't be appended to a form, encoding the form throws the first error")
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

  @Test("encoding a form fails if an appended file was deleted", arguments: [true, false])
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
        Issue.record("unexpected reason: \(reason as Any)")
        return
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  @Test("encoding a form fails if a stream is shorter than its declared length", arguments: [true, false])
  func shortStream(inMemory: Bool) throws {
    try withFolder { folder throws in
      let form = MultipartFormData()
      form.append(InputStream(data: Data("abc".utf8)), withLength: 4, headers: [:])
      let reason = reason {
        if inMemory { _ = try form.encode() } else { try form.writeEncodedData(to: folder.appending(path: "form")) }
      }
      guard case .inputStreamReadFailed(let error as AFError.UnexpectedInputStreamLength) = reason else {
        Issue.record("unexpected reason: \(reason as Any)")
        return
      }
      #expect(error.bytesExpected == 4)
      #expect(error.bytesRead == 3)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  @Test(
    "if a stream exceeds its declared length, encoding the form fails, but writing it to a file truncates the stream")
  func longStream() throws {
    let inMemory = MultipartFormData(boundary: "B")
    inMemory.append(InputStream(data: Data("abcdef".utf8)), withLength: 4, headers: [:])
    let reason = reason { _ = try inMemory.encode() }
    guard case .inputStreamReadFailed(let error as AFError.UnexpectedInputStreamLength) = reason else {
      Issue.record("unexpected reason: \(reason as Any)")
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

  @Test(
    "encoding a form with an endless stream in memory fails instead of exhausting the memory", .timeLimit(.minutes(10)))
  func endlessStream() throws {
    let form = MultipartFormData()
    let stream = try #require(InputStream(fileAtPath: "/dev/zero"))
    form.append(stream, withLength: 100_000, headers: [:])
    let reason = reason { _ = try form.encode() }
    #expect((reason?.underlyingError as? AFError.UnexpectedInputStreamLength)?.bytesExpected == 100_000)
    #expect(stream.streamStatus == .closed)
  }

  @Test("encoding a form fails if a part's stream was already read, instead of writing an empty part")
  func readStream() throws {
    let form = MultipartFormData()
    form.append(InputStream(data: Data("abc".utf8)), withLength: 3, headers: [:])
    _ = try form.encode()
    let reason = reason { _ = try form.encode() }
    if case .inputStreamReadFailed = reason {} else { Issue.record("unexpected reason: \(reason as Any)") }
  }

  @Test("if a form's stream fails, its error is thrown, or CocoaError.fileReadUnknown if it has none")
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

  @Test("writing a form doesn't overwrite an existing file")
  func existingTarget() throws {
    try withFolder { folder in
      let url = folder.appending(path: "form")
      try Data("precious".utf8).write(to: url)
      let reason = reason { try MultipartFormData().writeEncodedData(to: url) }
      if case .outputStreamFileAlreadyExists(url) = reason {
      } else {
        Issue.record("unexpected reason: \(reason as Any)")
      }
      #expect(try Data(contentsOf: url) == Data("precious".utf8))
    }
  }

  @Test("writing a form fails if a dangling symbolic link exists at the destination")
  func danglingLink() throws {
    try withFolder { folder in
      let url = folder.appending(path: "form")
      try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: "elsewhere")
      let reason = reason { try MultipartFormData().writeEncodedData(to: url) }
      if case .outputStreamFileAlreadyExists(url) = reason {
      } else {
        Issue.record("unexpected reason: \(reason as Any)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["form"])
    }
  }

  @Test("writing a form to a URL other than a file URL fails, whether or not a file exists at its path")
  func remoteTarget() throws {
    let free = try #require(URL(string: "https://example.org/no/such/path"))
    let taken = try #require(URL(string: "https://example.org/etc"))
    let freeReason = reason { try MultipartFormData().writeEncodedData(to: free) }
    let takenReason = reason { try MultipartFormData().writeEncodedData(to: taken) }
    if case .outputStreamURLInvalid(free) = freeReason {
    } else {
      Issue.record("unexpected reason: \(freeReason as Any)")
    }
    if case .outputStreamFileAlreadyExists(taken) = takenReason {
    } else {
      Issue.record("unexpected reason: \(takenReason as Any)")
    }
  }

  @Test("writing a form to a missing directory fails with outputStreamCreationFailed")
  func missingDirectory() throws {
    try withFolder { folder in
      let url = folder.appending(path: "missing/form")
      let reason = reason { try MultipartFormData().writeEncodedData(to: url) }
      if case .outputStreamCreationFailed(url) = reason {} else { Issue.record("unexpected reason: \(reason as Any)") }
    }
  }

  @Test("writing a form to a full disk fails with outputStreamWriteFailed")
  func fullDisk() throws {
    let form = MultipartFormData()
    form.append(Data("1".utf8), withName: "n")
    let file = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let reason = reason { try form.write(to: file) }
    guard case .outputStreamWriteFailed(let error) = reason else {
      Issue.record("unexpected reason: \(reason as Any)")
      return
    }
    #expect((error as? CocoaError)?.code == .fileWriteOutOfSpace)
  }
}

extension AFError.MultipartEncodingFailureReason {
  fileprivate var underlyingError: (any Error)? { AFError.multipartEncodingFailed(reason: self).underlyingError }
}
