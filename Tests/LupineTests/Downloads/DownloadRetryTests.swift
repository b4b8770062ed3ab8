// Retried downloads, and downloads in async code.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct DownloadRetryTests {
  /// A retrier that retries a failed request up to `limit` times.
  private struct Again: RequestInterceptor {
    let limit: Int

    func retry(
      _ request: Request, for session: Session, dueTo error: any Error,
      completion: @escaping @Sendable (RetryResult) -> Void
    ) { completion(request.retryCount < limit ? .retry : .doNotRetry) }
  }

  private struct Item: Decodable, Equatable, Sendable { let name: String }

  // MARK: Retries

  @Test("a retried download's file replaces the file of the failed attempt")
  func retryOverFile() async throws {
    try await withScripts([
      { try $1.respond(status: 503, body: Array("later, and longer".utf8), to: $0) },
      { try $1.respond(body: Array("now".utf8), to: $0) },
    ]) { origin, _ in
      try await withSession { session in
        try await withFolder { folder in
          let request = session.download(
            origin.url, interceptor: Again(limit: 2), to: { _, _ in (folder.appending(path: "file"), []) })
          let progress = request.downloadProgress
          let response = await request.validate().outcome()
          #expect(response.error == nil && response.content == Data("now".utf8) && request.retryCount == 1)
          #expect(names(in: folder) == ["file"] && progress.completedUnitCount == 3 && progress.isFinished)
          #expect(request.tasks.count == 2 && request.allMetrics.count == 2)
        }
      }
    }
  }

  @Test("after a lost connection, a retry deletes the partial file and downloads the entire resource again")
  func retryAfterCut() async throws {
    let resource = Resource()
    try await withScripts([
      { try resource.answer($0, on: $1, .cut(at: 70_000)) }, { try resource.answer($0, on: $1) },
    ]) { origin, requests in
      try await withSession { session in
        try await withFolder { folder in
          let left = Recorder<String?>()
          let looking = Retrier { request, _, error, completion in
            left.record((request as? DownloadRequest)?.resumeData.flatMap { try? ResumeData($0).path })
            completion(.retry)
          }
          let response = await session.download(
            origin.url, interceptor: Interceptor(retriers: [looking]), to: into(folder)
          ).outcome()
          let isIntact = response.error == nil && response.content == resource.bytes
          #expect(isIntact && response.resumeData == nil)
          let path = try #require(await left.next() ?? nil)
          #expect(!FileManager.default.fileExists(atPath: path))
          #expect(await requests.first(2).map { $0.fields.contains("range") } == [false, false])
        }
      }
    }
  }

  @Test("a retried download starts without the failed attempt's file, resume data, progress and error")
  func reset() async throws {
    try await withScripts([{ try $1.respond(status: 503, body: [1, 2], to: $0) }]) { origin, _ in
      try await withSession(startRequestsImmediately: false) { session in
        try await withFolder { folder in
          let request = Mutex<DownloadRequest?>(nil)
          let seen = Recorder<(URL?, Data?, Int64, AFError?)>()
          let made = session.download(
            origin.url, interceptor: Again(limit: 1),
            requestModifier: { _ in
              guard let made = request.withLock({ $0 }) else { return }
              seen.record((made.fileURL, made.resumeData, made.downloadProgress.completedUnitCount, made.error))
            }, to: into(folder))
          made.validate().downloadProgress(queue: .global()) { _ in }
          request.withLock { $0 = made }
          // The request is resumed last, because handlers added to a running request may miss its first attempt.
          made.resume()
          let response = await made.outcome()
          #expect(response.error?.responseCode == 503 && response.content == Data([1, 2]) && made.retryCount == 1)
          let rounds = await seen.first(2)
          #expect(rounds.allSatisfy { $0.0 == nil && $0.1 == nil && $0.2 == 0 && $0.3 == nil })
          #expect(made.tasks.count == 2 && made.requests.count == 4 && made.allMetrics.count == 2)
          request.withLock { $0 = nil }
        }
      }
    }
  }

  @Test("a retry of a resumed download requests only the bytes that haven't been received yet")
  func retryResumed() async throws {
    let resource = Resource()
    try await withScripts([
      { try resource.answer($0, on: $1, .cut(at: 70_000)) }, { try resource.answer($0, on: $1, .cut(at: 90_000)) },
      { try resource.answer($0, on: $1) },
    ]) { origin, requests in
      try await withSession { session in
        try await withFolder { folder in
          let data = try await resumeData(of: resource, cutAt: 70_000, in: session, from: origin.url)
          let request = session.download(resumingWith: data, interceptor: Again(limit: 1), to: into(folder))
          let response = await request.outcome()
          let isIntact = response.error == nil && response.content == resource.bytes
          #expect(isIntact)
          #expect(
            await requests.first(3).map { $0.fields.first("range") } == [nil, "bytes=70000-", "bytes=90000-"])
        }
      }
    }
  }

  /// The resume data that a caller requests when it cancels a download.
  enum Wish: CaseIterable, Sendable { case none, inResponse, inClosure }

  @Test(
    "a download that is cancelled during a retry delay keeps the partial file only if resume data is requested",
    arguments: Wish.allCases)
  func cancelledInDelay(wish: Wish) async throws {
    let resource = Resource()
    try await withScripts([{ try resource.answer($0, on: $1, .cut(at: 70_000)) }]) { origin, requests in
      try await withSession { session in
        let left = Recorder<String?>()
        let request = session.download(origin.url).retry(
          using: Retrier { request, _, _, completion in
            completion(.retryWithDelay(.infinity))
            left.record((request as? DownloadRequest)?.resumeData.flatMap { try? ResumeData($0).path })
          })
        request.resume()
        let path = try #require(await left.next() ?? nil)
        #expect(FileManager.default.fileExists(atPath: path))
        // The retrier's decision was enqueued on this queue before the path was recorded.
        await session.rootQueue.drain()
        let given = Recorder<Data?>()
        switch wish {
        case .none: request.cancel()
        case .inResponse: request.cancel(producingResumeData: true)
        case .inClosure: request.cancel { given.record($0) }
        }
        let response = await request.outcome()
        // A cancellation doesn't replace an earlier error.
        #expect((response.error?.underlyingError as? URLError)?.code == .networkConnectionLost && request.isCancelled)
        #expect(request.retryCount == 0 && request.tasks.count == 1 && response.fileURL == nil)
        #expect((response.leftPath == path) == (wish != .none) && response.resumeData == request.resumeData)
        #expect(FileManager.default.fileExists(atPath: path) == (wish != .none))
        if wish == .inClosure { #expect(await given.next() == .some(response.resumeData)) }
        if wish != .none { try FileManager.default.removeItem(atPath: path) }
        #expect(await requests.first(1).count == 1 && origin.requestCount == 1)
      }
    }
  }

  @Test("a download whose serializer fails can be retried, and each response handler is called once")
  func retryAfterSerializer() async throws {
    try await withScripts([
      { try $1.respond(body: Array("{}".utf8), to: $0) },
      { try $1.respond(body: Array("{\"name\":\"n\"}".utf8), to: $0) },
    ]) { origin, _ in
      try await withSession(startRequestsImmediately: false) { session in
        try await withFolder { folder in
          let request = session.download(
            origin.url, interceptor: Again(limit: 1), to: { _, _ in (folder.appending(path: "file"), []) })
          let heard = Recorder<String>()
          request.responseString(queue: request.underlyingQueue) { heard.record($0.value ?? "-") }
          let decoded = request.serializingDecodable(Item.self)
          // The request is resumed after both handlers are added; otherwise the first could be called before the
          // second is added.
          request.resume()
          let response = await decoded.response
          #expect(response.value == Item(name: "n"))
          request.response(queue: request.underlyingQueue) { _ in heard.record("end") }
          #expect(await heard.first(2) == ["{\"name\":\"n\"}", "end"])
        }
      }
    }
  }

  // MARK: Async code

  @Test(
    "if automaticallyCancelling is true, cancelling the task that awaits a download cancels the download",
    arguments: [true, false])
  func automaticCancel(isAutomatic: Bool) async throws {
    let (resource, mayEnd) = (Resource(), Gate())
    try await withScripts([
      { request, peer in
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n")
        try peer.send(Array(resource.bytes.prefix(1000)))
        try peer.wait(for: mayEnd)
        try peer.send(Array(resource.bytes.dropFirst(1000)))
      }
    ]) { origin, _ in
      try await withSession(startRequestsImmediately: false) { session in
        try await withFolder { folder in
          let request = session.download(origin.url, to: into(folder))
          let download = request.serializingDownloadedFileURL(automaticallyCancelling: isAutomatic)
          await request.receives(1000)
          let awaiting = Task { await download.response }
          awaiting.cancel()
          if !isAutomatic { mayEnd.open() }
          let response = await awaiting.value
          #expect(request.isCancelled == isAutomatic)
          #expect((response.error?.isExplicitlyCancelledError == true) == isAutomatic)
          #expect(response.resumeData == nil && (response.fileURL == nil) == isAutomatic)
          mayEnd.open()
        }
      }
    }
  }

  @Test("a DownloadRequest and its DownloadTask can suspend, resume and cancel the download")
  func control() async throws {
    let (resource, mayAnswer) = (Resource(), Gate())
    try await withOrigin { peer in
      try peer.serve { _ in
        try peer.wait(for: mayAnswer)
        return Reply(.pattern(byteCount: UInt64(resource.byteCount)))
      }
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        try await withFolder { folder in
          let request = session.download(origin.url, to: into(folder))
          let download = request.serializingData()
          download.resume()
          download.suspend()
          #expect(request.isSuspended)
          mayAnswer.open()
          download.resume()
          let isIntact = try await download.value == resource.bytes
          #expect(isIntact)
          let cancelled = session.download(origin.url).serializingString()
          cancelled.cancel()
          #expect(await cancelled.result.failure?.isExplicitlyCancelledError == true)
        }
      }
    }
  }
}

extension Peer {
  /// Sends a response with the status code and the body to the client, and keeps the connection open.
  fileprivate func respond(status: Int = 200, body: [UInt8], to request: ReceivedRequest) throws {
    try send(Reply(status: status, .bytes(body)), to: request)
  }
}
