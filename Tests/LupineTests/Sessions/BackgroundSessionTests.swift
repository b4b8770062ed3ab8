// Alamofire's sessions with a background configuration.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct BackgroundSessionTests {
  /// A SessionDelegate that records the content of downloads, even of tasks from an earlier process.
  private final class Keeper: SessionDelegate, @unchecked Sendable {
    let contents = Mutex<[String]>([])

    override func urlSession(
      _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
      let content = (try? String(contentsOf: location, encoding: .utf8)) ?? "unreadable"
      contents.withLock { $0.append(content) }
      super.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
    }
  }

  /// Returns the configuration of a background session that writes the records of its tasks to `directory`.
  private func configuration(in directory: URL) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.background(withIdentifier: "test.session")
    configuration.lupineBackground.directory = directory
    configuration.connectionProxyDictionary = [:]
    return configuration
  }

  @Test("a background session downloads, sends data requests, and resumes the tasks of an earlier process")
  func session() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "lupine-background-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let configuration = self.configuration(in: directory)
    try await withServer {
      .text("content of \($0.path)")
    } _: { origin in
      let earlier = URLSession(configuration: configuration)
      defer { earlier.invalidateAndCancel() }
      let url = try #require(URL(string: origin.url + "/earlier"))
      earlier.downloadTask(with: URLRequest(url: url)).taskDescription = "earlier"
      // This simulates the end of the process that has created the session.
      earlier.background?.close()

      let keeper = Keeper()
      let session = Session(
        configuration: configuration, delegate: keeper,
        serverTrustManager: ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:]))
      let tasks = await session.session.allTasks
      #expect(tasks.map(\.taskDescription) == ["earlier"])
      tasks.first?.resume()
      #expect(await settles { keeper.contents.withLock { $0 } == ["content of /earlier"] })
      let response = await session.download(origin.url + "/new").serializingString().response
      #expect(response.value == "content of /new")
      #expect(await session.request(origin.url + "/data").serializingString().response.value == "content of /data")
    }
  }

  @Test("a background session sends even a small multipart form from a file, because it uploads only files")
  func multipart() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "lupine-background-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let configuration = self.configuration(in: directory)
    try await withServer {
      .text(String(decoding: $0.body, as: UTF8.self))
    } _: { origin in
      let session = Session(configuration: configuration)
      let request = session.upload(
        multipartFormData: { $0.append(Data("value".utf8), withName: "field") }, to: origin.url)
      let response = await request.serializingString().response
      #expect(response.value?.contains("name=\"field\"\r\n\r\nvalue\r\n") == true)
      withExtendedLifetime(session) {}
    }
  }
}
