// BackgroundManagerTests: session managers that continue the tasks of an earlier process.

import Foundation
import LupineOrigin
import LupineTransferStore
import Testing

@testable import Alamofire4

/// A SessionDelegate that signals a semaphore when the session passes a downloaded file to it.
private final class Probe: SessionDelegate, @unchecked Sendable {
  let isCalled = DispatchSemaphore(value: 0)

  override func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    isCalled.signal()
    super.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
  }
}

@Suite(.timeLimit(.minutes(5))) struct BackgroundManagerTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  private func configuration() -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.background(withIdentifier: "test.manager")
    configuration.lupineBackground.directory = folder.url
    configuration.connectionProxyDictionary = [:]
    return configuration
  }

  /// Writes the record of a background download, as if an earlier process had started it. If `body` isn't nil, the download is
  /// complete.
  private func leave(_ server: OriginServer, id: UInt64, body: String?) throws {
    let store = try TransferStore(folder: folder.url.appendingPathComponent("test.manager").path)
    defer { store.close() }
    var description = TransferDescription(kind: .download, url: "\(server.url)/json", method: "GET", fields: [])
    description.taskDescription = "job \(id)"
    let now = Int64(Date().timeIntervalSince1970 * 1000)
    let progress =
      body.map {
        LupineTransferStore.TransferProgress(
          stage: .finished, status: 200, byteCount: UInt64($0.utf8.count), startedAt: now)
      }
      ?? LupineTransferStore.TransferProgress(stage: .running, startedAt: now)
    let record = try store.create(id: id, description, progress)
    guard let body else { return }
    try record.setAnswer(
      TransferAnswer(url: "\(server.url)/json", status: 200, fields: [], isDecoded: false))
    try Data(body.utf8).write(to: URL(fileURLWithPath: record.bodyPath))
  }

  /// Creates a SessionManager on the main queue, as programs do, and immediately calls `setUp` with the manager there.
  private func manager(
    _ delegate: SessionDelegate, _ setUp: @escaping @Sendable (SessionManager) -> Void
  ) async -> SessionManager {
    let settings = configuration()
    return await withCheckedContinuation { (continuation: CheckedContinuation<SessionManager, Never>) in
      DispatchQueue.main.async {
        let manager = SessionManager(configuration: settings, delegate: delegate)
        setUp(manager)
        continuation.resume(returning: manager)
      }
    }
  }

  @Test("SessionDelegate's closures and backgroundCompletionHandler are called for the tasks of an earlier process")
  func restored() async throws {
    let server = try demoServer()
    try leave(server, id: 3, body: "finished before")
    try leave(server, id: 5, body: nil)
    let (files, ends) = (Shared<[String: String]>([:]), Shared<[String]>([]))
    let delegate = SessionDelegate()
    delegate.downloadTaskDidFinishDownloadingToURL = { _, task, url in
      let text = (try? String(contentsOf: url, encoding: .utf8)) ?? "unreadable"
      files.update { $0[task.taskDescription ?? "unnamed"] = text }
    }
    delegate.taskDidComplete = { _, task, error in
      let line = "\(task.taskIdentifier) \(error == nil)"
      ends.update { $0.append(line) }
    }
    let isOver = Gate()
    let manager = await self.manager(delegate) { $0.backgroundCompletionHandler = { isOver.open() } }
    await isOver.wait()
    #expect(files.value["job 3"] == "finished before" && files.value["job 5"]?.contains("{") == true)
    #expect(ends.value.sorted() == ["3 true", "5 true"] && server.requestCount == 1)
    // A new task's number follows the numbers of the earlier process's tasks.
    let request = manager.download("\(server.url)/json")
    #expect(request.task?.taskIdentifier == 6)
    request.cancel()
    withExtendedLifetime(manager) {}
  }

  @Test("closures set on the main queue right after SessionManager's initializer receive a file of an earlier process")
  func lateClosures() async throws {
    let server = try demoServer()
    try leave(server, id: 1, body: "finished before")
    let (files, isEarly) = (Shared<[String]>([]), Shared(false))
    let isOver = Gate()
    let probe = Probe()
    let manager = await self.manager(probe) { manager in
      // While the main queue is busy, the file isn't delivered. An absence can only be observed for a limited time.
      let isCalled = probe.isCalled.wait(timeout: .now() + .milliseconds(100)) == .success
      isEarly.update { $0 = isCalled }
      manager.delegate.downloadTaskDidFinishDownloadingToURL = { _, _, url in
        let text = (try? String(contentsOf: url, encoding: .utf8)) ?? "unreadable"
        files.update { $0.append(text) }
      }
      manager.backgroundCompletionHandler = { isOver.open() }
    }
    await isOver.wait()
    #expect(files.value == ["finished before"] && !isEarly.value)
    withExtendedLifetime(manager) {}
  }
}
