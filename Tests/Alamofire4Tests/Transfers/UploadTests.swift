// UploadTests: uploads of data, files and streams, and their progress.

import Foundation
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct UploadTests {
  private let server: OriginServer
  private let folder: Folder
  private let manager = makeManager()

  init() throws {
    server = try demoServer()
    folder = try Folder()
  }

  @Test("uploads of data, files and streams use POST by default")
  func bodies() async throws {
    let file = folder.url.appendingPathComponent("body")
    try Data("from a file".utf8).write(to: file)
    let url = "\(server.url)/echo"
    let data = await manager.upload(Data("from memory".utf8), to: url).object()
    #expect(data["body"] == "from memory" && data["method"] == "POST")
    #expect(await manager.upload(file, to: url).object()["body"] == "from a file")
    let stream = InputStream(data: Data("from a stream".utf8))
    #expect(await manager.upload(stream, to: url).object()["body"] == "from a stream")
  }

  @Test("an upload created with a URLRequest has that request's method and header fields")
  func requests() async throws {
    let file = folder.url.appendingPathComponent("body")
    try Data("file".utf8).write(to: file)
    let request = try URLRequest(url: "\(server.url)/echo", method: .put, headers: ["X-Test": "1"])
    #expect(await manager.upload(file, with: request).object()["method"] == "PUT")
    #expect(await manager.upload(Data("x".utf8), with: request).object()["body"] == "x")
    #expect(await manager.upload(InputStream(data: Data("y".utf8)), with: request).object()["body"] == "y")
  }

  @Test("an upload's uploadProgress ends at the length of the request's body")
  func progress() async {
    let last = Shared<Int64>(0)
    let queue = DispatchQueue(label: "progress")
    manager.startRequestsImmediately = false
    let upload = manager.upload(Data(repeating: 1, count: 400_000), to: "\(server.url)/status/200")
      .uploadProgress(queue: queue) { progress in
        let count = progress.completedUnitCount
        last.update { $0 = count }
      }
    upload.resume()
    _ = await upload.finished()
    queue.sync {}
    #expect(last.value == 400_000)
    #expect(upload.uploadProgress.totalUnitCount == 400_000)
  }

  @Test("an upload fails if its URL is invalid or its file is missing")
  func failures() async {
    #expect((await manager.upload(Data(), to: "").finished().error as? AFError)?.isInvalidURLError == true)
    let missing = folder.url.appendingPathComponent("missing")
    #expect(await manager.upload(missing, to: "\(server.url)/echo").finished().error is URLError)
  }
}
