// Downloads to a file system that is full.

import Foundation
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite(.enabled(if: SmallDisk.isAvailable), .timeLimit(.minutes(10))) struct FullDiskTests {
  private let piece = Data(count: 10_000)

  private func names(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
  }

  @Test("a download's write to a full disk fails with the number of bytes written, and the file's space is freed")
  func writing() throws {
    let disk = try SmallDisk()
    let file = try DownloadFile.create(in: disk.folder, from: URL(string: "https://h/large"), total: 100_000)
    let error = try #require(throws: URLError.self) {
      for _ in 0..<10 { try file.write(piece) }
    }
    #expect(error.code == .cannotWriteToFile)
    #expect((error.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOSPC)
    #expect(
      error.localizedDescription.contains(" can't be written after 60,000 of 100,000 bytes: No space left on device."))
    #expect(try names(in: disk.folder).isEmpty)
    // The failed download's file was deleted, so the disk has space again.
    let other = try DownloadFile.create(in: disk.folder, from: nil)
    for _ in 0..<6 { try other.write(piece) }
    #expect(try Data(contentsOf: other.finish()).count == 60_000)
  }

  @Test("a failed move to a full disk keeps the source and the existing file, and leaves no other file")
  func moving() throws {
    let disk = try SmallDisk()
    try withFolder { folder in
      let source = folder.appending(path: "source")
      try Data(count: 100_000).write(to: source)
      let url = disk.folder.appending(path: "file")
      try Data([1]).write(to: url)
      let destination = DownloadDestination(url: url, removesPreviousFile: true)
      let error = try #require(throws: CocoaError.self) { try destination.move(from: source) }
      #expect(error.code == .fileWriteOutOfSpace)
      #expect(error.localizedDescription.hasSuffix("Free space there, or choose another destination."))
      #expect(try Data(contentsOf: url) == Data([1]))
      #expect(try Data(contentsOf: source).count == 100_000)
      #expect(try names(in: disk.folder) == ["file"])

      // If the destination exists, the move fails before it copies any data.
      let occupied = try #require(throws: CocoaError.self) { try DownloadDestination(url: url).move(from: source) }
      #expect(occupied.code == .fileWriteFileExists)
    }
  }
}
