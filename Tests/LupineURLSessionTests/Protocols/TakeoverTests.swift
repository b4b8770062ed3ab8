// TakeoverTests: responses that pass to a download task or to a URLProtocol, and bodies of refused redirects.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

/// A session's delegate that converts data tasks to download tasks, follows no redirect, and records the calls of its methods.
private final class TakeoverDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
  let notes = Notes()
  let disposition: URLSession.ResponseDisposition
  let followsRedirects: Bool
  let became = Mutex<URLSessionDownloadTask?>(nil)
  /// The delegate accepts a response only when the first gate is open, and then opens the second one.
  let (mayAnswer, hasAnswered) = (Gate(), Gate())

  init(
    _ disposition: URLSession.ResponseDisposition = .becomeDownload, followsRedirects: Bool = false,
    answersAtOnce: Bool = true
  ) {
    (self.disposition, self.followsRedirects) = (disposition, followsRedirects)
    if answersAtOnce { mayAnswer.open() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    notes.add("redirect \(response.statusCode)")
    DispatchQueue.global().async { completionHandler(self.followsRedirects ? request : nil) }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    notes.add("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
    DispatchQueue.global().async {
      self.mayAnswer.waitBlocking()
      completionHandler(self.disposition)
      completionHandler(self.disposition)
      self.hasAnswered.open()
    }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
  ) {
    notes.add("became \(dataTask.taskIdentifier == downloadTask.taskIdentifier) \(dataTask.state == .completed)")
    became.withLock { $0 = downloadTask }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    notes.add("data \(data.count)")
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    let size = try? FileManager.default.attributesOfItem(atPath: location.path)[.size] as? Int
    notes.add("file \(size ?? -1) of \(downloadTask.countOfBytesExpectedToReceive)")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    notes.add("end \(task is URLSessionDownloadTask) \((error as? URLError).map { "\($0.code.rawValue)" } ?? "")")
  }
}

/// A URLProtocol that answers each request to a host ending with ".stub" with a text of the request's header fields.
private final class FieldStub: URLProtocol, @unchecked Sendable {
  class override func canInit(with request: URLRequest) -> Bool { request.url?.host?.hasSuffix(".stub") == true }

  override func startLoading() {
    guard let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
    else { return }
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    let names = ["Authorization", "Cookie", "X-Session", "X-Own"]
      .filter { request.value(forHTTPHeaderField: $0) != nil }
    let body = request.httpBody.map { " \(String(decoding: $0, as: UTF8.self))" } ?? ""
    client?.urlProtocol(self, didLoad: Data("\(request.httpMethod ?? "") \(url.path) \(names)\(body)".utf8))
    client?.urlProtocolDidFinishLoading(self)
  }
}

/// A URLProtocol that redirects requests for "/redirect" to "/there".
private final class RedirectStub: URLProtocol, @unchecked Sendable {
  class override func canInit(with request: URLRequest) -> Bool { request.url?.path == "/redirect" }

  override func startLoading() {
    guard let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 302, httpVersion: "HTTP/1.1", headerFields: nil)
    else { return }
    var next = request
    next.url = URL(string: "/there", relativeTo: url)?.absoluteURL
    client?.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
  }
}

/// A task that calls a function when it is cancelled.
private final class InterferingTask: URLSessionDataTask, @unchecked Sendable {
  private let willCancel = Mutex<(@Sendable () -> Void)?>(nil)

  func whenCancelled(_ body: @escaping @Sendable () -> Void) { willCancel.withLock { $0 = body } }

  override func cancel() {
    willCancel.withLock { $0.take() }?()
    super.cancel()
  }
}

/// A progress that calls a function when a task begins to follow it.
private final class InterferingProgress: Progress, @unchecked Sendable {
  let interfere = Mutex<(@Sendable () -> Void)?>(nil)

  override var cancellationHandler: (@Sendable () -> Void)? {
    didSet { interfere.withLock { $0.take() }?() }
  }
}

@Suite(.timeLimit(.minutes(10))) struct TakeoverTests {
  @Test(
    "a data task can become a download task with the same identifier and the whole body in its file",
    arguments: [0, 5, 3_000_000])
  func becomeDownload(byteCount: Int) async throws {
    let delegate = TakeoverDelegate()
    try await withServer { _ in
      .text(String(repeating: "x", count: byteCount))
    } _: { origin in
      try await withSession(delegate: delegate) { session in
        let task = session.dataTask(with: origin.request())
        task.taskDescription = "described"
        task.resume()
        #expect(await settles { delegate.notes.all.last == "end true " })
        let expected = ["response 200", "became true true", "file \(byteCount) of \(byteCount)", "end true "]
        #expect(delegate.notes.all == expected)
        let download = try #require(delegate.became.withLock { $0 })
        #expect(download.taskDescription == "described" && download.originalRequest == task.originalRequest)
        #expect(download.countOfBytesReceived == byteCount && download.state == .completed && download.error == nil)
        session.finishTasksAndInvalidate()
        #expect(await settles { session.delegate == nil })
      }
    }
  }

  @Test("a data task that a URLProtocol has redirected to a server can become a download task")
  func becomeDownloadAfterRedirect() async throws {
    let delegate = TakeoverDelegate(followsRedirects: true)
    try await withServer { _ in
      .text("there")
    } _: { origin in
      try await withSession(delegate: delegate) {
        $0.protocolClasses = [RedirectStub.self]
      } _: { session in
        session.dataTask(with: origin.request("/redirect")).resume()
        #expect(await settles { delegate.notes.all.last == "end true " })
        #expect(delegate.notes.all == ["redirect 302", "response 200", "became true true", "file 5 of 5", "end true "])
        #expect(delegate.became.withLock { $0 }?.countOfBytesReceived == 5)
        session.finishTasksAndInvalidate()
        #expect(await settles { session.delegate == nil })
      }
    }
  }

  @Test("a download task that was converted from a data task can be cancelled, and its session can then end")
  func cancelDownload() async throws {
    let delegate = TakeoverDelegate()
    let (sent, go) = (Gate(), Gate())
    let origin = try OriginServer { peer in
      while try peer.readRequest() != nil {
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        sent.open()
        try peer.wait(for: go)
      }
    }
    defer {
      go.open()
      origin.stop()
    }
    try await withSession(delegate: delegate) { session in
      let task = session.dataTask(with: origin.request())
      task.resume()
      #expect(await settles { delegate.became.withLock { $0?.countOfBytesReceived == 4 } })
      task.cancel()
      #expect(task.state == .completed && task.error == nil)
      delegate.became.withLock { $0 }?.cancel()
      #expect(await settles { delegate.notes.all.last == "end true -999" })
      session.finishTasksAndInvalidate()
      #expect(await settles { session.delegate == nil })
    }
  }

  /// Calls `body` with a server that never sends more than a part of a response's body.
  private func withSilentServer(_ body: (OriginServer) async throws -> Void) async throws {
    let origin = try OriginServer { peer in
      while try peer.readRequest() != nil {
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        _ = try peer.awaitClose()
      }
    }
    defer { origin.stop() }
    try await body(origin)
  }

  @Test("a data task that becomes a download task while its session cancels its tasks is cancelled")
  func becomeDownloadDuringInvalidation() async throws {
    let delegate = TakeoverDelegate(answersAtOnce: false)
    try await withSilentServer { origin in
      try await withSession(delegate: delegate) { session in
        // The session cancels this task first.
        let first = session.add(
          InterferingTask(session, origin.request(), identifier: session.nextTaskIdentifier()))
        session.dataTask(with: origin.request()).resume()
        #expect(await settles { delegate.notes.all == ["response 200"] })
        first.whenCancelled {
          delegate.mayAnswer.open()
          delegate.hasAnswered.waitBlocking()
        }
        session.invalidateAndCancel()
        #expect(await settles { session.delegate == nil })
        #expect(delegate.notes.all.contains("end true -999"))
      }
    }
  }

  @Test("a download task that is cancelled while a data task becomes it completes, and its session can then end")
  func cancelDuringHandover() async throws {
    let delegate = TakeoverDelegate(answersAtOnce: false)
    let (isCancelled, go) = (Gate(), Gate())
    defer { go.open() }
    try await withSilentServer { origin in
      try await withSession(delegate: delegate) { session in
        let task = session.dataTask(with: origin.request())
        let progress = InterferingProgress(totalUnitCount: -1)
        task.changeOptions { $0.progress = progress }
        task.control(progress)
        task.resume()
        #expect(await settles { delegate.notes.all == ["response 200"] })
        let transfer = try #require(task.transfer as? Transfer)
        progress.interfere.withLock {
          $0 = { [weak progress] in
            progress?.cancellationHandler?()
            isCancelled.open()
            go.waitBlocking()
          }
        }
        delegate.mayAnswer.open()
        await isCancelled.wait()
        #expect(await settles { transfer.guarded.withLock { $0.observer == nil } })
        go.open()
        session.finishTasksAndInvalidate()
        #expect(await settles { session.delegate == nil })
        #expect(delegate.notes.all.contains("end true -999"))
      }
    }
  }

  @Test(
    "a redirect that the session's delegate refuses is delivered as the response with its body",
    arguments: [0, 7, 200_000])
  func refusedRedirect(byteCount: Int) async throws {
    let delegate = TakeoverDelegate(.allow)
    try await withServer { _ in
      Reply(
        status: 302, fields: ["Location": "/there"], .bytes([UInt8](repeating: 120, count: byteCount)))
    } _: { origin in
      try await withSession(delegate: delegate) { session in
        let (data, response) = try await session.data(for: origin.request())
        #expect(data.count == byteCount && (response as? HTTPURLResponse)?.statusCode == 302)
        #expect(delegate.notes.all.first == "redirect 302")
        let task = session.dataTask(with: origin.request())
        task.resume()
        #expect(await settles { delegate.notes.all.last == "end false " })
        #expect(task.countOfBytesReceived == byteCount)
        let (file, _) = try await session.download(for: origin.request())
        #expect(try Data(contentsOf: file).count == byteCount)
        try FileManager.default.removeItem(at: file)
      }
    }
  }

  @Test("after a redirect, a URLProtocol can answer the request, and receives no secrets of the first origin")
  func protocolAfterRedirect() async throws {
    let delegate = TakeoverDelegate(.allow, followsRedirects: true)
    try await withServer { request in
      Reply(status: request.path == "/303" ? 303 : 307, fields: ["Location": "http://a.stub/there"], .bytes([1, 2]))
    } _: { origin in
      try await withSession(delegate: delegate) {
        $0.protocolClasses = [FieldStub.self]
        $0.httpAdditionalHeaders = ["X-Session": "s", "Authorization": "Bearer session"]
      } _: { session in
        var request = origin.request("/307")
        request.setValue("own", forHTTPHeaderField: "X-Own")
        request.setValue("c=1", forHTTPHeaderField: "Cookie")
        let (data, response) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == #"GET /there ["X-Session", "X-Own"]"#)
        #expect(response.url?.host == "a.stub")
        let (kept, _) = try await session.upload(for: origin.request("/307", "PUT"), from: Data("body".utf8))
        #expect(String(decoding: kept, as: UTF8.self) == #"PUT /there ["X-Session"] body"#)
        let task = session.uploadTask(with: origin.request("/303", "POST"), from: Data("body".utf8))
        task.resume()
        #expect(await settles { delegate.notes.all.last == "end false " })
        let byteCount = #"GET /there ["X-Session"]"#.utf8.count
        #expect(delegate.notes.all.suffix(3) == ["response 200", "data \(byteCount)", "end false "])
        #expect(task.currentRequest?.url?.host == "a.stub")
        let metrics = task.metrics
        #expect(metrics.transactionMetrics.count == 2 && metrics.redirectCount == 1)
      }
    }
  }
}
