// `UploadRequest`: its overloads, events, progress and redirects.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct UploadRequestTests {
  // MARK: Overloads

  @Test("data, files and streams are uploaded to a URL by POST, or with the caller's URLRequest")
  func overloads() async throws {
    try await withServer { request in
      .text("\(request.bodyReport) \(request.fields.first("X-Own") ?? "") \(request.fields.first("X-Late") ?? "")")
    } _: { origin in
      try await withFolder { folder in
        let (data, file) = (Pattern.data(1000), try folder.patternFile(1000))
        var own = try URLRequest(url: origin.url, method: .put, headers: ["X-Own": "1"])
        own.headers["X-Late"] = "2"
        let late: Session.RequestModifier = { $0.headers["X-Late"] = "2" }
        try await withSession { session in
          let posted = [
            session.upload(data, to: origin.url, headers: ["X-Own": "1"], requestModifier: late),
            session.upload(file, to: origin.url, headers: ["X-Own": "1"], requestModifier: late),
            session.upload(InputStream(data: data), to: origin.url, headers: ["X-Own": "1"], requestModifier: late),
          ]
          let put = [
            session.upload(data, with: own), session.upload(file, with: own),
            session.upload(InputStream(data: data), with: own),
          ]
          for (method, requests) in [("POST", posted), ("PUT", put)] {
            for (request, framing) in zip(requests, ["1000", "1000", "chunked"]) {
              let report = try await request.text()
              #expect(report == "\(method) \(framing) 1000 true 1 2")
            }
          }
        }
      }
    }
  }

  @Test(
    "an upload uses the interceptor and method that the caller passes, and isn't sent if shouldAutomaticallyResume is false"
  )
  func options() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withSession { session in
        let adapter = Adapter { request, _, completion in
          var request = request
          request.headers["Content-Length"] = "7"
          completion(.success(request))
        }
        let request = session.upload(
          Pattern.data(7), to: origin.url, method: .patch, interceptor: Interceptor(adapters: [adapter]),
          shouldAutomaticallyResume: false)
        let report = request.serializingString()
        #expect(request.isInitialized && request.uploadable == nil)
        request.resume()
        let text = try await report.value
        #expect(text == "PATCH 7 7 true")
        guard case .data(let data)? = request.uploadable else { throw Mishap("\(request)") }
        #expect(data == Pattern.data(7))
      }
    }
  }

  @Test("httpbin and nginx accept uploads of data, files and streams")
  func realServers() async throws {
    let (httpbin, nginx) = (try await TestServers.httpbin, try await TestServers.nginx)
    try await withFolder { folder in
      let file = try folder.patternFile(2_000_000)
      try await withSession { session in
        let text = "Lupine sends " + String(repeating: "x", count: 5000)
        let sent = try await session.upload(
          Data(text.utf8), to: httpbin + "/anything", headers: ["Content-Type": "text/plain"]
        )
        .serializingDecodable(Anything.self).value
        #expect(sent.method == "POST" && sent.data == text)
        let stored = "\(nginx)/uploads/upload-\(UUID())"
        for (request, status) in [
          (session.upload(file, to: stored, method: .put), 201),
          (session.upload(try #require(InputStream(url: file)), to: stored, method: .put), 204),
        ] {
          let response = await request.outcome()
          #expect(response.response?.statusCode == status && request.uploadProgress.completedUnitCount == 2_000_000)
          let isIntact = await session.request(stored).outcome().data == Pattern.data(2_000_000)
          #expect(isIntact)
        }
        #expect(await session.request(stored, method: .delete).outcome().response?.statusCode == 204)
      }
    }
  }

  // MARK: Events

  @Test(
    "an upload's monitors receive the adapted request, the Uploadable, the final request and the body stream, in order")
  func events() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      let monitor = UploadMonitor()
      try await withSession(eventMonitors: [monitor]) { session in
        let stream = InputStream(data: Pattern.data(10))
        let request = session.upload(stream, to: origin.url).adapt(using: Adapter { $2(.success($0)) })
        request.response(queue: monitor.queue) { _ in monitor.note("response") }
        #expect(
          await monitor.until("response") == [
            "initial", "adapted", "uploadable stream true", "final", "task", "stream true", "sent 10 of -1", "finished",
            "response",
          ])
        _ = stream
      }
    }
  }

  @Test("each attempt of an upload creates its Uploadable on the request queue, after the adapters have run")
  func rounds() async throws {
    try await withServer { request in
      .text(request.bodyReport, status: request.body.count < 3 ? 500 : 200)
    } _: { origin in
      let key = DispatchSpecificKey<Bool>()
      let queue = DispatchQueue(label: "requests")
      queue.setSpecific(key: key, value: true)
      let seen = Mutex<[String]>([])
      let session = Session(
        configuration: .ephemeral, requestQueue: queue,
        interceptor: Interceptor(
          adapters: [
            Adapter { request, _, completion in
              seen.withLock { $0.append("adapted") }
              completion(.success(request))
            }
          ], retriers: [Retrier { $3($0.retryCount < 2 ? .retry : .doNotRetry) }]))
      let counted = Counter()
      let convertible = MadeUploadable {
        seen.withLock { $0.append("made \(DispatchQueue.getSpecific(key: key) == true)") }
        return .stream(InputStream(data: Pattern.data(counted.next())))
      }
      let request = session.made(
        UploadRequest(
          try URLRequest(url: origin.url, method: .post), convertible, session, nil, .default))
      let report = try await request.validate().text()
      #expect(report == "POST chunked 3 true")
      #expect(seen.withLock { $0 } == ["adapted", "made true", "adapted", "made true", "adapted", "made true"])
      #expect(request.retryCount == 2)
    }
  }

  @Test(
    "an upload whose Uploadable can't be created fails with createUploadableFailed unless a retrier retries the upload")
  func failedUploadable() async throws {
    try await withSession { session in
      let convertible = MadeUploadable { throw Mishap("nothing to send") }
      let monitor = UploadMonitor()
      let retries = Counter()
      let request = UploadRequest(
        try URLRequest(url: "http://127.0.0.1:1", method: .post), convertible, session, nil, .default)
      request.eventMonitor(monitor).retry(
        using: Retrier { _, _, _, completion in completion(retries.next() == 1 ? .retry : .doNotRetry) })
      request.response(queue: monitor.queue) { _ in monitor.note("response") }
      #expect(
        await monitor.until("response") == [
          "initial", "adapted", "no uploadable", "initial", "adapted", "no uploadable", "finished", "response",
        ])
      guard case .createUploadableFailed(let error)? = request.error else { throw Mishap("\(request)") }
      #expect(error as? Mishap == Mishap("nothing to send"))
      #expect(request.tasks.isEmpty && request.isFinished)
    }
  }

  @Test("a monitor that is notified that an Uploadable couldn't be created can read the request's error")
  func errorBeforeNotification() async throws {
    try await withSession { session in
      let (isMade, isHeard) = (Gate(), Gate())
      let errors = Recorder<AFError?>()
      let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
      monitor.requestDidFailToCreateUploadableWithError = { request, _ in
        errors.record(request.error)
        isHeard.open()
      }
      let convertible = MadeUploadable {
        isMade.open()
        throw Mishap("nothing to send")
      }
      let request = UploadRequest(
        try URLRequest(url: "http://127.0.0.1:1", method: .post), convertible, session, nil, .default)
      request.eventMonitor(monitor).eventMonitor(SlowMonitor(after: isMade, until: isHeard))
      #expect(await request.outcome().error?.isCreateUploadableError == true)
      #expect(await errors.next()??.isCreateUploadableError == true)
    }
  }

  // MARK: Progress

  enum Kind: CaseIterable { case data, file, stream, multipart, multipartFile }

  private func upload(_ kind: Kind, _ byteCount: Int, in folder: URL, to url: String, _ session: Session) throws
    -> UploadRequest
  {
    switch kind {
    case .data: return session.upload(Pattern.data(byteCount), to: url)
    case .file: return session.upload(try folder.patternFile(byteCount), to: url)
    case .stream:
      return session.upload(
        PatternStream(byteCount, canReopen: true), to: url, headers: ["Content-Length": "\(byteCount)"])
    case .multipart, .multipartFile:
      return session.upload(
        multipartFormData: { $0.append(Pattern.data(byteCount), withName: "a") }, to: url,
        usingThreshold: kind == .multipart ? .max : 0)
    }
  }

  @Test(
    "upload progress never decreases, and ends at exactly 1, even after a redirect and a challenge",
    arguments: Kind.allCases, ["/", "/307", "/401"])
  func progress(kind: Kind, path: String) async throws {
    try await withServer { request in
      let reply = request.uploadReply
      return reply.status == 200 ? Reply(.pattern(byteCount: 500_000)) : reply
    } _: { origin in
      try await withFolder { folder in
        try await withSession { session in
          let queue = DispatchQueue(label: "progress")
          let up = Mutex<[(Double, Int64)]>([])
          let down = Mutex<[Double]>([])
          let request = try upload(kind, 3_000_000, in: folder, to: origin.url + path, session)
            .authenticate(username: "u", password: "p")
            .uploadProgress(queue: queue) { progress in
              up.withLock { $0.append((progress.fractionCompleted, progress.completedUnitCount)) }
            }
            .downloadProgress(queue: queue) { progress in down.withLock { $0.append(progress.fractionCompleted) } }
          let response = await request.validate().serializingData().response
          #expect(response.error == nil && response.value?.count == 500_000)
          // This waits for the progress updates that are queued so far.
          queue.sync {}
          let (sent, received) = (up.withLock { $0 }, down.withLock { $0 })
          #expect(sent.map(\.0) == sent.map(\.0).sorted() && sent.map(\.1) == sent.map(\.1).sorted())
          #expect(sent.last?.0 == 1 && received == received.sorted() && received.last == 1)
          #expect(request.uploadProgress.isFinished)
          #expect(request.uploadProgress.completedUnitCount == request.task?.countOfBytesExpectedToSend)
        }
      }
    }
  }

  @Test("uploadProgress is complete even if it is first read after the end of the request")
  func lateProgress() async throws {
    try await withServer { _ in
      .text("arrived")
    } _: { origin in
      try await withSession { session in
        let request = session.upload(Pattern.data(1000), to: origin.url)
        _ = await request.outcome()
        #expect(request.uploadProgress.fractionCompleted == 1 && request.uploadProgress.completedUnitCount == 1000)
        #expect(request.downloadProgress.fractionCompleted == 1 && request.downloadProgress.completedUnitCount == 7)
      }
    }
  }

  // MARK: Redirects

  @Test("redirects with 307 and 308 keep the method and the body of an upload", arguments: [307, 308], Kind.allCases)
  func redirects(status: Int, kind: Kind) async throws {
    let base = try await TestServers.httpbin
    try await withFolder { folder in
      try await withSession { session in
        let url = "\(base)/redirect-to?url=/anything&status_code=\(status)"
        let request = try upload(kind, 700, in: folder, to: url, session)
        let response = await request.serializingDecodable(Anything.self).response
        let sent = try response.result.get()
        #expect(sent.method == "POST" && response.response?.url?.path == "/anything")
        switch kind {
        case .multipart, .multipartFile: #expect(sent.form["a"]?.isEmpty == false)
        case .data, .file, .stream: #expect(sent.headers["Content-Length"] == "700" && !sent.data.isEmpty)
        }
        #expect(request.tasks.count == 1 && request.performedRequests.last?.method == .post)
      }
    }
  }

  @Test("if a redirect handler changes an upload's method to GET, the redirected request has no body")
  func redirectHandler() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withSession { session in
        let request = session.upload(Pattern.data(5), to: origin.url + "/307").redirect(
          using: Redirector(
            behavior: .modify { _, request, _ in
              var request = request
              request.httpMethod = "GET"
              return request
            }))
        let report = try await request.text()
        #expect(report == "GET none 0 true")
      }
    }
  }
}

private final class Counter: Sendable {
  private let value = Atomic(0)

  func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}

/// An event monitor that blocks the request's underlying queue until the monitors before it have processed the event: the first
/// event after one gate is open blocks until another gate is open.
private struct SlowMonitor: EventMonitor {
  private let start: Gate
  private let end: Gate

  init(after start: Gate, until end: Gate) {
    self.start = start
    self.end = end
  }

  var queue: DispatchQueue {
    if start.isOpen { end.waitBlocking() }
    return .global()
  }
}

/// A mock UploadableConvertible whose Uploadable is the result of a closure.
struct MadeUploadable: UploadableConvertible {
  let make: @Sendable () throws -> UploadRequest.Uploadable

  init(_ make: @escaping @Sendable () throws -> UploadRequest.Uploadable) { self.make = make }

  func createUploadable() throws -> UploadRequest.Uploadable { try make() }
}

/// An event monitor that records an upload's events in order.
private final class UploadMonitor: EventMonitor {
  let queue = DispatchQueue(label: "monitor")
  private let events = Recorder<String>()

  func note(_ event: String) { events.record(event) }

  func until(_ last: String) async -> [String] {
    var all: [String] = []
    while all.last != last, let event = await events.next() { all.append(event) }
    return all
  }

  func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) { note("initial") }
  func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest) {
    note("adapted")
  }
  func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
    guard case .stream = uploadable else { return note("uploadable") }
    note("uploadable stream \(request.uploadable != nil)")
  }
  func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) { note("no uploadable") }
  func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) { note("final") }
  func request(_ request: Request, didCreateTask task: URLSessionTask) { note("task") }
  func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
    guard case .stream(let own)? = request.uploadable else { return note("stream") }
    note("stream \(own === stream)")
  }
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) { note("sent \(totalBytesSent) of \(totalBytesExpectedToSend)") }
  func requestDidFinish(_ request: Request) { note("finished") }
}
