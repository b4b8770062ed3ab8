// Requests, downloads, streams and tasks for file: URLs: their content, response, events and metrics.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct FileURLTests {
  /// Calls `body` with the file: URL of a new file with this name and content, and with an Alamofire session.
  private func withFile(
    _ name: String, _ content: Data, _ configure: (URLSessionConfiguration) -> Void = { _ in },
    _ body: (URL, Session) async throws -> Void
  ) async throws {
    try await withLocalFile(name, content) { file in
      try await withSession(configure) { session in try await body(file, session) }
    }
  }

  /// Calls `body` with the URL of a new file, and with a URLSession whose delegate records its calls on `queue`.
  private func withFile(
    _ name: String, _ content: Data, queue: OperationQueue? = nil,
    _ body: (URL, URLSession, TaskDelegate) async throws -> Void
  ) async throws {
    try await withLocalFile(name, content) { file in
      let delegate = TaskDelegate()
      let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: queue)
      defer { session.invalidateAndCancel() }
      try await body(file, session, delegate)
    }
  }

  @Test("a request for a file: URL returns the file's content, and passes validation without an HTTPURLResponse")
  func request() async throws {
    try await withFile("a.json", Data("{\"a\":1}".utf8)) { file, session in
      let request = session.request(file).validate().onHTTPResponse { _ in Issue.record("an HTTP response") }
      let response = await request.serializingDecodable([String: Int].self).response
      #expect(response.value == ["a": 1] && response.response == nil && response.error == nil)
      #expect(request.downloadProgress.fractionCompleted == 1)
      let task = try #require(request.task)
      let plain = try #require(task.response)
      #expect(!(plain is HTTPURLResponse) && plain.url == file)
      #expect(plain.mimeType == "application/json" && plain.textEncodingName == nil)
      #expect(plain.expectedContentLength == 7 && plain.suggestedFilename == "a.json")
      #expect(task.countOfBytesReceived == 7 && task.countOfBytesExpectedToReceive == 7)
      #expect(task.countOfBytesSent == 0 && task.countOfBytesExpectedToSend == 0 && task.state == .completed)
    }
  }

  @Test(
    "a file: URL can be requested in each form that names an absolute path on this machine",
    arguments: [
      ("file://%@", "a.txt"), ("file://localhost%@", "a.txt"), ("FILE://LOCALHOST%@", "a.txt"), ("file:%@", "a.txt"),
      ("file://%@?query=1#fragment", "a.txt"), ("file://%@", "a b%c?#é.txt"), ("file://%@", "../%@/a.txt"),
    ])
  func forms(form: String, name: String) async throws {
    try await withFolder { folder in
      let file = folder.appending(path: name.replacing("%@", with: folder.lastPathComponent))
      try Data("content".utf8).write(to: file)
      let path = file.absoluteString.dropFirst("file://".count)
      try await withSession { session in
        let response = await session.request(form.replacing("%@", with: path)).serializingString().response
        #expect(response.value == "content" && response.error == nil)
      }
    }
  }

  @Test(
    "a file: URL with an unknown extension has the type application/octet-stream, and an empty file has nil as data")
  func content() async throws {
    try await withFolder { folder in
      let unknown = folder.appending(path: "x.lupine-unknown")
      let empty = folder.appending(path: "empty.txt")
      try Data("12345".utf8).write(to: unknown)
      try Data().write(to: empty)
      try await withSession { session in
        let request = session.request(unknown)
        #expect(await request.outcome().data == Data("12345".utf8))
        #expect(request.task?.response?.mimeType == "application/octet-stream")

        let nothing = session.request(empty)
        let response = await nothing.outcome()
        #expect(response.data == nil && response.error == nil)
        #expect(nothing.task?.response?.expectedContentLength == 0)

        let head = session.request(unknown, method: .head)
        #expect(await head.outcome().data == nil)
        #expect(head.task?.response?.expectedContentLength == 5 && head.error == nil)

        // procfs reports a size of 0 for this file.
        let kernel = session.request("file:///proc/self/status")
        #expect(await kernel.serializingString().response.value?.contains("Threads:") == true)
        #expect(kernel.task?.response?.expectedContentLength == NSURLSessionTransferSizeUnknown)
      }
    }
  }

  @Test("a download of a file: URL uses the default destination, because the destination closure requires a response")
  func download() async throws {
    try await withFile("file.bin", Pattern.data(600_000)) { file, session in
      let folder = file.deletingLastPathComponent()
      let asked = Atomic(false)
      let request = session.download(
        file,
        to: { _, _ in
          asked.store(true, ordering: .relaxed)
          return (folder.appending(path: "unused"), [])
        })
      let response = await request.validate().outcome()
      let copy = try #require(response.fileURL)
      defer { try? FileManager.default.removeItem(at: copy) }
      #expect(response.error == nil && response.response == nil && response.resumeData == nil)
      let isWhole = response.content == Pattern.data(600_000)
      #expect(isWhole && !asked.load(ordering: .relaxed))
      #expect(copy.lastPathComponent.hasPrefix("Alamofire_"))
      #expect(names(in: folder) == ["file.bin"])
      #expect(
        request.downloadProgress.completedUnitCount == 600_000 && request.downloadProgress.fractionCompleted == 1)
    }
  }

  @Test("cancelling the download of a file: URL leaves neither a copy nor resume data, and keeps the source")
  func cancelledDownload() async throws {
    try await withFile("file.bin", Pattern.data(600_000)) { file, session, delegate in
      let folder = file.deletingLastPathComponent()
      let data = Recorder<Data?>()
      let task = session.downloadTask(with: URLRequest(url: file))
      session.fileTransfers.queue.perform {
        task.resume()
        // The four steps open the file, deliver the response, read a part and write the part.
        session.fileTransfers.queue.perform(afterSteps: 4) { task.cancel { data.record($0) } }
      }
      #expect(await data.next() == .some(nil))
      let error = try #require(await delegate.ended.next() ?? nil) as? URLError
      #expect(error?.code == .cancelled && error?.userInfo[NSURLSessionDownloadTaskResumeData] == nil)
      #expect(task.countOfBytesReceived == 256 * 1024 && delegate.events.entries == ["metrics 1", "complete"])
      #expect(names(in: folder) == ["file.bin"])
    }
  }

  @Test("a stream request for a file: URL delivers the file in order, and reads it only as fast as the stream handler")
  func stream() async throws {
    try await withFile("file.bin", Pattern.data(2_000_000)) {
      $0.engine.windowBytes = 100_000
    } _: { file, session in
      let request = session.streamRequest(file).validate()
      var body = Data()
      var pieces = request.streamTask().streamingData().makeAsyncIterator()
      body += try #require(await pieces.next()?.value)
      // The task has received at most the first part, which the caller has consumed, and one receive window.
      #expect((request.task?.countOfBytesReceived ?? .max) <= 200_000)
      while let stream = await pieces.next() { body += stream.value ?? Data() }
      let isWhole = body == Pattern.data(2_000_000)
      #expect(isWhole && request.error == nil && request.response == nil)
    }
  }

  @Test("a suspended task for a file URL stops delivering the file's data until the task is resumed")
  func suspend() async throws {
    let queue = DispatchQueue(label: "delegate")
    try await withFile("file.bin", Pattern.data(1_000_000), queue: OperationQueue(serial: queue)) {
      file, session, delegate in
      let task = session.dataTask(with: URLRequest(url: file))
      let isSuspended = Recorder<Void>()
      delegate.onData.withLock {
        $0 = { count in
          guard count == 1 else { return }
          task.suspend()
          isSuspended.record(())
        }
      }
      task.resume()
      _ = await isSuspended.next()
      for _ in 0..<5 {
        await session.fileTransfers.queue.turn()
        await queue.drain()
      }
      #expect(task.state == .suspended && task.countOfBytesReceived < 1_000_000)
      #expect(delegate.pieces.entries.count == 1)
      task.resume()
      let end = try #require(await delegate.ended.next())
      #expect(end == nil)
      let isWhole = delegate.pieces.entries.reduce(Data(), +) == Pattern.data(1_000_000)
      #expect(isWhole && task.state == .completed)
    }
  }

  @Test(
    "a data task for a file: URL calls its delegate with the response, the data, the metrics and the completion, in order"
  )
  func delegate() async throws {
    try await withFile("a.txt", Data("text".utf8)) { file, session, delegate in
      session.dataTask(with: URLRequest(url: file)).resume()
      let end = try #require(await delegate.ended.next())
      #expect(end == nil)
      #expect(delegate.events.entries == ["response text/plain 4", "data text", "metrics 1", "complete"])
    }
  }

  @Test("a request for a file: URL causes the same events as an HTTP request, except for the caching decision")
  func events() async throws {
    try await withLocalFile("a.txt", Data("text".utf8)) { file in
      let recorder = EventRecorder()
      try await withMonitoredSession([recorder]) { session in
        let overHTTP: [EventName] = [.requestDidResume] + EventPart.built + EventPart.run
        await recorder.expect(session.request(file), overHTTP.filter { $0 != .dataTaskWillCacheResponse })
      }
    }
  }

  @Test("the metrics of a request for a file: URL have one transaction of unknown fetch type, without a connection")
  func metrics() async throws {
    try await withFile("a.txt", Data("text".utf8)) { file, session in
      let metrics = try #require(await session.request(file).outcome().metrics)
      let transaction = try #require(metrics.transactionMetrics.first)
      #expect(metrics.transactionMetrics.count == 1 && metrics.redirectCount == 0)
      #expect(transaction.resourceFetchType == .unknown && transaction.response?.mimeType == "text/plain")
      #expect(transaction.networkProtocolName == nil && transaction.remoteAddress == nil)
      #expect(transaction.countOfResponseBodyBytesReceived == 4)
      let dates = [transaction.fetchStartDate, transaction.responseStartDate, transaction.responseEndDate]
      #expect(dates.allSatisfy { $0 != nil } && dates.compactMap(\.self) == dates.compactMap(\.self).sorted())
      #expect(metrics.taskInterval.start == transaction.fetchStartDate)
    }
  }
}

extension SerialQueue {
  /// Performs work after the next `count` steps of a transfer. Each step queues the next one, so `work` is queued again after
  /// each step.
  fileprivate func perform(afterSteps count: Int, _ work: @escaping @Sendable () -> Void) {
    perform { if count == 1 { work() } else { self.perform(afterSteps: count - 1, work) } }
  }

  /// Waits until all work that has been added to the queue so far has run.
  fileprivate func turn() async {
    await withCheckedContinuation { continuation in perform { continuation.resume() } }
  }
}

/// A session's delegate that records the calls for the session's only task.
private final class TaskDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
  let events = Log<String>()
  let pieces = Log<Data>()
  let ended = Recorder<(any Error)?>()
  /// Called for each received part, with the number of parts so far. For a download, called with the number of bytes written.
  let onData = Mutex<@Sendable (Int) -> Void>({ _ in })

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    events.note("response \(response.mimeType ?? "none") \(response.expectedContentLength)")
    completionHandler(.allow)
  }
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    events.note("data \(String(decoding: data.prefix(10), as: UTF8.self))")
    let count = pieces.note(data)
    onData.withLock { $0 }(count)
  }
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) { onData.withLock { $0 }(Int(totalBytesWritten)) }
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    events.note("file")
  }
  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    events.note("metrics \(metrics.transactionMetrics.count)")
  }
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    events.note("complete")
    ended.record(error)
  }
}
