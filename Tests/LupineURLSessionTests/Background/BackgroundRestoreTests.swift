// Tasks that an earlier process has left, in each state of their records.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import LupineTransferStore
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct BackgroundRestoreTests {
  private let content = SequenceBytes.bytes(from: 0, count: 10_000)
  private static let running = TransferProgress(stage: .running, startedAt: Int64(Date().timeIntervalSince1970 * 1000))

  /// Calls `body` with a server whose resource has the entity tag `tag`, and with a function that returns the received requests.
  /// The server answers with a 206 if If-Range contains the entity tag.
  private func withResource(
    tag: String = "\"1\"", _ body: (OriginServer, @Sendable () -> [ReceivedRequest]) async throws -> Void
  ) async throws {
    let requests = Mutex<[ReceivedRequest]>([])
    try await withServer { [content] request in
      requests.withLock { $0.append(request) }
      let isRest = request.fields.first("If-Range") == tag
      let start = request.fields.first("Range").flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
      guard isRest else {
        return Reply(fields: ["ETag": tag, "Accept-Ranges": "bytes"], .bytes(content))
      }
      return Reply(
        status: 206, fields: ["ETag": tag, "Content-Range": "bytes \(start)-9999/10000"],
        .bytes(Array(content[start...])))
    } _: { origin in
      try await body(origin) { requests.withLock { $0 } }
    }
  }

  @Test("a restored background task has its number, description and request, and the end of events is reported once")
  func properties() async throws {
    let folder = SessionFolder()
    try await withServer { _ in
      .hold
    } _: { origin in
      try folder.leave(id: 5, .download(origin), Self.running)
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      let tasks = await session.allTasks
      #expect(tasks.map(\.taskIdentifier) == [5] && tasks.map(\.taskDescription) == ["kept"])
      #expect(tasks.first?.originalRequest?.url?.absoluteString == origin.url + "/r")
      let new = session.downloadTask(with: origin.request())
      #expect(new.taskIdentifier == 6 && recorder.events.finishedEventsCount == 0)
      tasks.first?.cancel()
      #expect(await settles { recorder.events.finishedEventsCount == 1 })
      session.invalidateAndCancel()
      #expect(await settles { recorder.events.invalidity == [nil] })
      #expect(recorder.events.finishedEventsCount == 1 && recorder.events.completions.map(\.identifier) == [5, 6])
    }
  }

  @Test("a restored background task keeps its request's options, even if only the rest of a file is downloaded")
  func options() async throws {
    let folder = SessionFolder()
    try await withResource { origin, requests in
      var request = origin.request("/r")
      request.allowsCellularAccess = false
      request.allowsConstrainedNetworkAccess = true
      request.networkServiceType = .background
      request.lupine.bodyBytesMax = 3_000
      request.lupine.timeouts = Timeouts(everyPhase: .milliseconds(20_500), total: nil)
      request.lupine.priority = 0.25
      let description = try #require(TransferDescription(.download, request, isSecret: nil))
      #expect(description.request == request)
      try folder.leave(
        description, Self.running, answer: TransferAnswer(origin, byteCount: 10_000),
        body: Array(content.prefix(4_000)))
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      defer { session.invalidateAndCancel() }
      #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
      #expect(recorder.events.completions.first?.error?.code == .dataLengthExceedsMaximum)
      #expect(requests().map { $0.fields.first("Range") } == ["bytes=4000-"])
    }
  }

  @Test("if sessionSendsLaunchEvents is false, urlSessionDidFinishEvents isn't called for restored background tasks")
  func noLaunchEvents() async throws {
    let folder = SessionFolder()
    try await withResource { origin, _ in
      try folder.leave(.download(origin), Self.running)
      let recorder = EventRecorder()
      let session = folder.session(recorder) { $0.sessionSendsLaunchEvents = false }
      #expect(await settles { recorder.events.files.count == 1 })
      session.finishTasksAndInvalidate()
      #expect(await settles { recorder.events.invalidity == [nil] })
      #expect(recorder.events.finishedEventsCount == 0)
    }
  }

  @Test("a background task that was never resumed is restored as suspended, and starts when it is resumed")
  func neverResumed() async throws {
    let folder = SessionFolder()
    try await withResource { origin, requests in
      try folder.leave(.download(origin), TransferProgress())
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      defer { session.invalidateAndCancel() }
      let tasks = await session.allTasks
      #expect(tasks.map(\.state) == [.suspended] && requests().isEmpty)
      tasks.first?.resume()
      #expect(await settles { recorder.events.files == [content] && folder.names.isEmpty })
    }
  }

  @Test("a restored background download requests only the missing part, with If-Range, and appends that part")
  func rest() async throws {
    let folder = SessionFolder()
    try await withResource { origin, requests in
      try folder.leave(
        .download(origin), Self.running, answer: TransferAnswer(origin, byteCount: 10_000),
        body: Array(content.prefix(4_000)))
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      defer { session.invalidateAndCancel() }
      #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
      #expect(recorder.events.files == [content] && recorder.events.offsets == [4_000])
      #expect(requests().map { $0.fields.first("Range") } == ["bytes=4000-"])
      #expect(await settles { recorder.events.finishedEventsCount == 1 })
    }
  }

  @Test("a restored download starts over if the resource has changed, or if its bytes or its response head are missing")
  func startOver() async throws {
    for answer in [false, true] {
      let folder = SessionFolder()
      try await withResource(tag: "\"2\"") { origin, requests in
        try folder.leave(
          .download(origin), Self.running, answer: answer ? TransferAnswer(origin, byteCount: 10_000) : nil,
          body: [UInt8](repeating: 1, count: 4_000))
        let recorder = EventRecorder()
        let session = folder.session(recorder)
        defer { session.invalidateAndCancel() }
        #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
        #expect(recorder.events.files == [content])
        #expect(requests().map { $0.fields.contains("Range") } == [answer])
      }
    }
  }

  @Test("a resumed download discards a 206 of another representation, and requests the entire resource")
  func otherPart() async throws {
    let folder = SessionFolder()
    try await withServer { [content] request in
      guard request.fields.contains("Range") else { return Reply(fields: ["ETag": "\"2\""], .bytes(content)) }
      return Reply(
        status: 206, fields: ["ETag": "\"2\"", "Content-Range": "bytes 4000-9999/10000"],
        .bytes(Array(content[4_000...])))
    } _: { origin in
      try folder.leave(
        .download(origin), Self.running, answer: TransferAnswer(origin, byteCount: 10_000),
        body: [UInt8](repeating: 1, count: 4_000))
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      defer { session.invalidateAndCancel() }
      #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
      #expect(recorder.events.files == [content] && origin.requestCount == 2)
    }
  }

  @Test(
    "a finished download of an earlier process is delivered without a request, or loaded again if its file is incomplete"
  )
  func finished() async throws {
    for isComplete in [true, false] {
      let folder = SessionFolder()
      try await withResource { origin, requests in
        try folder.leave(
          .download(origin), TransferProgress(stage: .finished, status: 200, byteCount: 10_000, startedAt: 1),
          answer: TransferAnswer(origin, tag: "\"0\"", byteCount: 10_000),
          body: Array(content.prefix(isComplete ? 10_000 : 9_999)))
        let recorder = EventRecorder()
        let session = folder.session(recorder) { $0.timeoutIntervalForResource = 0 }
        defer { session.invalidateAndCancel() }
        #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
        #expect(recorder.events.files == [content] && recorder.events.completions.first?.status == 200)
        #expect(requests().count == (isComplete ? 0 : 1))
      }
    }
  }

  @Test("if the delegate has already moved a background download's file, the restored task completes without a request")
  func moved() async throws {
    let folder = SessionFolder()
    try await withResource { origin, requests in
      try folder.leave(
        .download(origin), TransferProgress(stage: .delivering, byteCount: 10_000, startedAt: 1),
        answer: TransferAnswer(origin, byteCount: 10_000))
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      defer { session.invalidateAndCancel() }
      #expect(await settles { recorder.events.finishedEventsCount == 1 && folder.names.isEmpty })
      #expect(recorder.events.files.isEmpty && requests().isEmpty)
      #expect(recorder.events.completions.map { $0.error == nil } == [true])
    }
  }

  @Test(
    "a restored background upload is sent again unless a response had begun; then it delivers the response or an error")
  func uploads() async throws {
    let answered = TransferProgress(stage: .answered, status: 201, startedAt: 1)
    let finished = TransferProgress(stage: .finished, status: 201, byteCount: 3, startedAt: 1)
    for progress in [Self.running, answered, finished] {
      let folder = SessionFolder()
      try await withServer { request in
        Reply(status: 200, .bytes(request.body))
      } _: { origin in
        try FileManager.default.createDirectory(at: folder.directory, withIntermediateDirectories: true)
        let file = folder.directory.appending(path: "upload")
        try Data([4, 5, 6]).write(to: file)
        let description = TransferDescription(
          kind: .upload(path: file.path), url: origin.url, method: "PUT", fields: [])
        try folder.leave(
          description, progress, answer: TransferAnswer(origin, status: 201, byteCount: 3),
          body: progress == Self.running ? nil : progress == finished ? [7, 8, 9] : [7])
        let recorder = EventRecorder()
        let session = folder.session(recorder) { $0.timeoutIntervalForResource = 0 }
        defer { session.invalidateAndCancel() }
        #expect(await settles { recorder.events.finishedEventsCount == 1 && folder.names.isEmpty })
        let completion = recorder.events.completions.first
        switch progress.stage {
        case .running:
          #expect(recorder.events.data == Data([4, 5, 6]) && completion?.status == 200 && origin.requestCount == 1)
        case .finished:
          #expect(recorder.events.data == Data([7, 8, 9]) && completion?.status == 201 && origin.requestCount == 0)
        default:
          #expect(completion?.error?.localizedDescription.contains("before you send the file again") == true)
          #expect(origin.requestCount == 0)
        }
      }
    }
  }

  @Test("a background session deletes a damaged record, and its delegate receives an error for the record's task")
  func damaged() async throws {
    let folder = SessionFolder()
    try await withResource { origin, requests in
      try folder.leave(id: 3, .download(origin), Self.running)
      let path = "\(folder.path)/\(TransferFileName.record(3).text)"
      try Data([1, 2, 3]).write(to: URL(filePath: path))
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      defer { session.invalidateAndCancel() }
      #expect(await settles { recorder.events.finishedEventsCount == 1 && folder.names.isEmpty })
      #expect(recorder.events.completions.map(\.identifier) == [3] && requests().isEmpty)
      #expect(recorder.events.completions.first?.error?.localizedDescription.contains("damaged") == true)
      #expect(session.downloadTask(with: origin.request()).taskIdentifier == 4)
    }
  }

  @Test(
    "a background session doesn't write credentials to disk unless permitted, and the delegate can provide them later")
  func credentials() async throws {
    for records in [false, true] {
      let folder = SessionFolder()
      let received = Mutex<[[String?]]>([])
      try await withServer { request in
        received.withLock { $0.append([request.fields.first("Authorization"), request.fields.first("X-Key")]) }
        return .text("content")
      } _: { origin in
        let configure: (URLSessionConfiguration) -> Void = {
          $0.redirectRule.secretFields = ["X-Key"]
          $0.lupineBackground.recordsCredentials = records
        }
        let first = EventRecorder()
        let earlier = folder.session(first, configure)
        defer { earlier.invalidateAndCancel() }
        var request = origin.request("/r")
        request.setValue("Bearer s3cret", forHTTPHeaderField: "Authorization")
        request.setValue("s3cret", forHTTPHeaderField: "X-Key")
        _ = earlier.downloadTask(with: request)
        let record = try Data(
          contentsOf: URL(filePath: "\(folder.path)/\(TransferFileName.record(1).text)"))
        #expect((record.range(of: Data("s3cret".utf8)) != nil) == records)
        // This simulates the end of the process that has created the session.
        earlier.background?.close()

        let later = EventRecorder()
        later.state.withLock { $0.authorization = records ? nil : "Bearer new" }
        let session = folder.session(later, configure)
        defer { session.invalidateAndCancel() }
        await session.allTasks.first?.resume()
        #expect(await settles { later.events.completions.count == 1 && folder.names.isEmpty })
        #expect(later.events.asked == (records ? [] : [nil]))
        #expect(
          received.withLock { $0 } == (records ? [["Bearer s3cret", "s3cret"]] : [["Bearer new", nil]]))
      }
    }
  }

  @Test("a background task's record contains the user information of the request's URLs only if that is permitted")
  func userInformation() throws {
    var request = URLRequest(url: try #require(URL(string: "http://user:s3cret@a.test/r")))
    request.mainDocumentURL = URL(string: "http://user:s3cret@b.test/")
    let recorded = try #require(TransferDescription(.download, request, isSecret: { _ in false }))
    #expect(recorded.url == "http://a.test/r" && recorded.mainDocument == "http://b.test/")
    #expect(recorded.omittedNames == ["Authorization"])
    let complete = try #require(TransferDescription(.download, request, isSecret: nil))
    #expect(complete.url == request.url?.absoluteString && complete.omittedNames.isEmpty)
    #expect(complete.mainDocument == request.mainDocumentURL?.absoluteString)
  }

  @Test("a background session writes a response's cookies and credentials to disk only if the configuration permits it")
  func responseSecrets() async throws {
    let url = try #require(URL(string: "http://user:s3cret@a.test/r"))
    let names = ["Set-Cookie", "set-cookie2", "WWW-Authenticate", "Authentication-Info", "Proxy-Authentication-Info"]
    var fields = ["ETag": "\"1\""]
    for name in names { fields[name] = "s3cret" }
    let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
    let recorded = TransferAnswer(response, recordsCredentials: false)
    #expect(recorded.url == "http://a.test/r" && recorded.fields.map(\.name) == ["ETag"])
    let complete = TransferAnswer(response, recordsCredentials: true)
    #expect(complete.url == url.absoluteString && complete.fields.count == names.count + 1)

    for records in [false, true] {
      let folder = SessionFolder()
      let origin = try OriginServer { peer in
        while try peer.readRequest() != nil {
          try peer.send("HTTP/1.1 200 OK\r\nSet-Cookie: a=s3cret\r\nContent-Length: 5\r\n\r\nab")
          _ = try peer.receive()
        }
      }
      defer { origin.stop() }
      let session = folder.session(EventRecorder()) { $0.lupineBackground.recordsCredentials = records }
      defer { session.invalidateAndCancel() }
      session.downloadTask(with: origin.request()).resume()
      let file = URL(filePath: "\(folder.path)/\(TransferFileName.answer(1).text)")
      #expect(await settles { FileManager.default.fileExists(atPath: file.path) })
      let bytes = try Data(contentsOf: file)
      #expect((bytes.range(of: Data("s3cret".utf8)) != nil) == records)
    }
  }

  @Test(
    "if a process is killed repeatedly, its background transfers complete, and answered uploads aren't sent again")
  func killed() async throws {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "LupineBackgroundSoak").path
    let (status, output) = try await ChildProcess.run([program, "1", "20"])
    #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
  }

  @Test(
    "after a failure of any system call, each background transfer completes or fails once, and a later session has no tasks"
  )
  func failedCalls() async throws {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "LupineBackgroundFaults").path
    let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-background-faults-\(UUID().uuidString)")
    // Not every n is tested, because a run takes some milliseconds.
    let (status, output) = try await ChildProcess.run([program, folder.path, "\(200 * testsDivisor)"])
    #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
  }
}
