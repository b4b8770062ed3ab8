// DownloadTests: the destinations of downloads, their progress and their continuation.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct DownloadTests {
  private let server: OriginServer
  private let folder: Folder
  private let manager = makeManager()

  init() throws {
    server = try demoServer()
    folder = try Folder()
  }

  @Test(
    "a download is moved to its destination; options permit the creation of directories and the replacement of a file")
  func destination() async throws {
    let target = folder.url.appendingPathComponent("new/file")
    func download(_ options: DownloadRequest.DownloadOptions) async -> DefaultDownloadResponse {
      await manager.download("\(server.url)/json", to: { _, _ in (target, options) }).finished()
    }
    let unmoved = await download([])
    #expect((unmoved.error as? CocoaError)?.code == .fileNoSuchFile)
    #expect(unmoved.destinationURL == target && unmoved.temporaryURL != nil && unmoved.resumeData == nil)
    let response = await download(.createIntermediateDirectories)
    #expect(response.error == nil && response.destinationURL == target && response.temporaryURL != nil)
    #expect(try Data(contentsOf: target).isEmpty == false)
    #expect((await download([]).error as? CocoaError)?.code == .fileWriteFileExists)
    #expect(await download([.removePreviousFile, .createIntermediateDirectories]).error == nil)
  }

  @Test("a download without a destination stays at its temporary URL, and its response can be serialized")
  func temporary() async throws {
    let download = manager.download("\(server.url)/json")
    let response = await download.serialized(DownloadRequest.stringResponseSerializer())
    let file = try #require(response.temporaryURL)
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(response.value?.contains("lupine") == true && response.destinationURL == nil)
    #expect(FileManager.default.fileExists(atPath: file.path))
    #expect(await download.serialized(DownloadRequest.dataResponseSerializer()).value?.isEmpty == false)
    let name = await firstValue { (completion: @escaping @Sendable (String?) -> Void) in
      download.responseJSON(queue: .global()) { response in
        completion((response.value as? [String: Any])?["name"] as? String)
      }
    }
    #expect(name == "lupine")
  }

  @Test("serializing a downloaded file that has been deleted fails")
  func vanished() async throws {
    let target = folder.url.appendingPathComponent("file")
    let response = await manager.download("\(server.url)/json", to: { _, _ in (target, []) })
      .validate { _, _, _, destination in
        if let destination { try? FileManager.default.removeItem(at: destination) }
        return .success
      }
      .serialized(DownloadRequest.dataResponseSerializer())
    guard case .responseSerializationFailed(.inputFileReadFailed(let url))? = response.error as? AFError else {
      return #expect(Bool(false), "\(response)")
    }
    #expect(url == target)
    let failed = await manager.download("").serialized(DownloadRequest.dataResponseSerializer())
    #expect((failed.error as? AFError)?.isInvalidURLError == true)
  }

  @Test("the suggested destination has the file name that the response suggests")
  func suggestion() throws {
    let url = try #require(URL(string: "http://localhost/a/picture.png"))
    let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
    let suggest = DownloadRequest.suggestedDownloadDestination(for: .cachesDirectory)
    let (target, options) = suggest(URL(fileURLWithPath: "/tmp/x"), response)
    #expect(target.lastPathComponent == "picture.png" && options.isSubset(of: .createIntermediateDirectories))
    #expect(target.deletingLastPathComponent().path != "/tmp")
  }

  @Test("the suggested destination creates its folder in an empty home")
  func emptyHome() async throws {
    // The home that Foundation uses is that of a whole process; it ignores HOME.
    await #expect(processExitsWith: .success) { [path = folder.url.path as String] in
      setenv("CFFIXED_USER_HOME", path, 1)
      let server = try demoServer()
      let manager = makeManager()
      let response = await manager.download("\(server.url)/json", to: DownloadRequest.suggestedDownloadDestination())
        .finished()
      #expect(response.error == nil && response.destinationURL?.path == "\(path)/Documents/json")
      withExtendedLifetime(manager) {}
    }
    #expect(FileManager.default.fileExists(atPath: folder.url.appendingPathComponent("Documents/json").path))
  }

  @Test("a download's progress ends at the length of the file")
  func progress() async throws {
    let last = Shared<Int64>(0)
    let queue = DispatchQueue(label: "progress")
    let target = folder.url.appendingPathComponent("big")
    manager.startRequestsImmediately = false
    let download = manager.download("\(server.url)/big?bytes=200000", to: { _, _ in (target, []) })
      .downloadProgress(queue: queue) { progress in
        let count = progress.completedUnitCount
        last.update { $0 = count }
      }
    download.resume()
    _ = await download.finished()
    queue.sync {}
    #expect(last.value == 200_000 && download.progress.totalUnitCount == 200_000)
    #expect(try Data(contentsOf: target).count == 200_000)
  }

  @Test("a cancelled download returns resume data, from which another download continues")
  func resuming() async throws {
    let content = Pattern.bytes(0..<2_000_000)
    let first = Gate()
    let release = Gate()
    let ranges = Shared<[String?]>([])
    let server = try OriginServer { peer in
      while let request = try peer.readRequest() {
        let range = request.fields.first("range")
        ranges.update { $0.append(range) }
        guard let range, let start = Int(range.dropFirst("bytes=".count).dropLast()) else {
          try peer.send(
            "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\nContent-Length: \(content.count)\r\n\r\n")
          try peer.send(Array(content[..<1_000_000]))
          first.open()
          try peer.wait(for: release)
          return
        }
        try peer.send(
          "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Range: bytes \(start)-\(content.count - 1)/\(content.count)\r\n"
            + "Content-Length: \(content.count - start)\r\n\r\n")
        try peer.send(Array(content[start...]))
      }
    }
    defer { release.open() }
    let target = folder.url.appendingPathComponent("resumed")
    let hasBytes = Gate()
    manager.startRequestsImmediately = false
    let download = manager.download(server.url).downloadProgress(queue: .global()) { progress in
      if progress.completedUnitCount > 0 { hasBytes.open() }
    }
    download.resume()
    await first.wait()
    await hasBytes.wait()
    download.cancel()
    let cancelled = await download.finished()
    #expect((cancelled.error as? URLError)?.code == .cancelled)
    let data = try #require(cancelled.resumeData)
    #expect(download.resumeData == data)
    release.open()
    let rest = manager.download(resumingWith: data, to: { _, _ in (target, []) })
    rest.resume()
    let response = await rest.finished()
    #expect(response.error == nil)
    #expect(try Data(contentsOf: target) == Data(content))
    #expect(ranges.value.last??.hasPrefix("bytes=") == true)
  }

  @Test("cancel(createResumeData: false) produces no resume data")
  func discarding() async {
    let download = manager.download("\(server.url)/slow")
    download.cancel(createResumeData: false)
    let response = await download.finished()
    #expect((response.error as? URLError)?.code == .cancelled && response.resumeData == nil)
  }
}
