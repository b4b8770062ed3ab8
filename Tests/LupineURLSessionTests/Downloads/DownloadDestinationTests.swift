// `DownloadDestination`: moving a downloaded file, completely or not at all.

import Foundation
import Glibc
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite struct DownloadDestinationTests {
  private static let memory = URL(filePath: "/dev/shm")
  /// Whether /dev/shm is a writable file system other than the temporary folder's.
  private static let hasSecondFileSystem: Bool = {
    var (here, there) = (stat(), stat())
    return stat(FileManager.default.temporaryDirectory.path, &here) == 0 && stat(memory.path, &there) == 0
      && here.st_dev != there.st_dev && access(memory.path, W_OK) == 0
  }()
  /// The arguments for `elsewhere` that can be tested on this machine: true requires a second file system.
  private static let fileSystems = hasSecondFileSystem ? [false, true] : [false]

  private let bytes = Data(SequenceBytes.bytes(from: 0, count: 300_000))

  /// Calls `body` with a source file that contains `bytes`, and with an empty folder for the destination. The folder is on
  /// another file system if `elsewhere` is true.
  private func withSource(elsewhere: Bool = false, _ body: (_ source: URL, _ folder: URL) throws -> Void) throws {
    try withFolder { folder in
      let source = folder.appending(path: "source")
      try bytes.write(to: source)
      let place = elsewhere ? Self.memory.appending(path: "lupine-tests-\(UUID())") : folder.appending(path: "place")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
      defer { try? FileManager.default.removeItem(at: place) }
      try body(source, place)
    }
  }

  private func content(_ url: URL) -> Data? { try? Data(contentsOf: url) }

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  private func failure(_ destination: DownloadDestination, from source: URL) throws -> CocoaError {
    try #require(throws: CocoaError.self) { try destination.move(from: source) }
  }

  @Test("moving a downloaded file leaves the file at the destination, and none at the source")
  func moved() throws {
    try withSource { source, folder in
      let url = folder.appending(path: "a b%20ä")
      try DownloadDestination(url: url).move(from: source)
      let isIntact = content(url) == bytes
      #expect(isIntact)
      #expect(content(source) == nil)
      #expect(try names(folder) == ["a b%20ä"])
    }
  }

  @Test(
    "a download keeps an existing file at the destination unless removesPreviousFile is set", arguments: fileSystems)
  func existing(elsewhere: Bool) throws {
    try withSource(elsewhere: elsewhere) { source, folder in
      let url = folder.appending(path: "file")
      try Data([1]).write(to: url)
      let error = try failure(DownloadDestination(url: url), from: source)
      #expect(error.code == .fileWriteFileExists)
      #expect((error.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EEXIST)
      #expect(error.localizedDescription.contains(url.path))
      #expect(error.localizedDescription.hasSuffix("Choose another destination, or pass .removePreviousFile."))
      #expect(content(url) == Data([1]) && content(source)?.count == bytes.count)
      #expect(try names(folder) == ["file"])

      try DownloadDestination(url: url, removesPreviousFile: true).move(from: source)
      let isIntact = content(url) == bytes
      #expect(isIntact)
      #expect(content(source) == nil)
      #expect(try names(folder) == ["file"])
    }
  }

  @Test("a download creates missing folders of its destination only if createsIntermediateDirectories is set")
  func folders() throws {
    try withSource { source, folder in
      let url = folder.appending(path: "a/b/c")
      #expect(try failure(DownloadDestination(url: url), from: source).code == .fileNoSuchFile)
      #expect(
        try failure(DownloadDestination(url: url, removesPreviousFile: true), from: source).code == .fileNoSuchFile)
      #expect(try names(folder).isEmpty)
      let destination = DownloadDestination(url: url, createsIntermediateDirectories: true)
      try destination.move(from: source)
      let isIntact = content(url) == bytes
      #expect(isIntact)
      // If the folders already exist, the move succeeds.
      try Data([2]).write(to: source)
      try DownloadDestination(url: url, createsIntermediateDirectories: true, removesPreviousFile: true)
        .move(from: source)
      #expect(content(url) == Data([2]))
    }
  }

  @Test("a download refuses a destination whose parent is a file, whether or not missing folders may be created")
  func belowFile() throws {
    try withSource { source, folder in
      try Data([1]).write(to: folder.appending(path: "file"))
      let url = folder.appending(path: "file/below")
      let error = try failure(DownloadDestination(url: url), from: source)
      #expect((error.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOTDIR)
      #expect(throws: (any Error).self) {
        try DownloadDestination(url: url, createsIntermediateDirectories: true).move(from: source)
      }
      #expect(content(source)?.count == bytes.count)
      #expect(content(folder.appending(path: "file")) == Data([1]))
    }
  }

  @Test("a folder at the destination is never replaced by the downloaded file", arguments: fileSystems)
  func folderInTheWay(elsewhere: Bool) throws {
    try withSource(elsewhere: elsewhere) { source, folder in
      let url = folder.appending(path: "documents")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      try Data([1]).write(to: url.appending(path: "letter"))
      let error = try failure(DownloadDestination(url: url, removesPreviousFile: true), from: source)
      #expect((error.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EISDIR)
      #expect(try failure(DownloadDestination(url: url), from: source).code == .fileWriteFileExists)
      #expect(content(url.appending(path: "letter")) == Data([1]))
      #expect(content(source)?.count == bytes.count)
      #expect(try names(folder) == ["documents"])
    }
  }

  @Test(
    "moving a downloaded file to another file system copies the file and deletes the source",
    .enabled(if: hasSecondFileSystem))
  func otherFileSystem() throws {
    try withSource(elsewhere: true) { source, folder in
      let url = folder.appending(path: "file")
      try DownloadDestination(url: url).move(from: source)
      let isIntact = content(url) == bytes
      #expect(isIntact)
      #expect(content(source) == nil)
      #expect(try names(folder) == ["file"])
      let permissions = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber
      #expect(permissions == 0o600)
    }
  }

  @Test("a downloaded file replaces a symbolic link at the destination, without following the link")
  func link() throws {
    try withSource { source, folder in
      let (url, target) = (folder.appending(path: "link"), folder.appending(path: "target"))
      try Data([1]).write(to: target)
      try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
      #expect(try failure(DownloadDestination(url: url), from: source).code == .fileWriteFileExists)
      try DownloadDestination(url: url, removesPreviousFile: true).move(from: source)
      #expect(content(target) == Data([1]) && content(url)?.count == bytes.count)
    }
  }

  @Test("a download refuses a destination that is the source file itself, even if removesPreviousFile is set")
  func samePlace() throws {
    try withSource { source, folder in
      let detour = folder.appending(path: "../source")
      let link = folder.appending(path: "link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: source.deletingLastPathComponent())
      for url in [source, detour, link.appending(path: "source")] {
        for removesPreviousFile in [false, true] {
          let destination = DownloadDestination(url: url, removesPreviousFile: removesPreviousFile)
          #expect(try failure(destination, from: source).code == .fileWriteFileExists)
        }
      }
      #expect(content(source)?.count == bytes.count)
    }
  }

  @Test("moving a downloaded file fails for a missing source, an overlong file name, and a URL that isn't a file URL")
  func unusable() throws {
    try withSource { source, folder in
      let missing = folder.appending(path: "missing")
      #expect(
        try failure(DownloadDestination(url: folder.appending(path: "x")), from: missing).code == .fileNoSuchFile)
      let long = folder.appending(path: String(repeating: "x", count: 256))
      #expect(try failure(DownloadDestination(url: long), from: source).code == .fileWriteInvalidFileName)
      let remote = DownloadDestination(url: try #require(URL(string: "https://h/x")))
      #expect(try failure(remote, from: source).code == .fileWriteUnsupportedScheme)
      #expect(content(source)?.count == bytes.count)
    }
  }
}
