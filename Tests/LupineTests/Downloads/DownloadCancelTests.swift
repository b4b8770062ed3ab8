// Downloads that are cancelled or cut short: their resume data, and the files that remain.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct DownloadCancelTests {
  private let resource = Resource()
  private let place = 70_000

  // MARK: Canceling

  @Test(
    "cancelling a download without producing resume data leaves neither resume data nor a file",
    arguments: [true, false])
  func cancel(isExplicit: Bool) async throws {
    try await withScripts([{ [resource, place] in try resource.answer($0, on: $1, .hold(at: place)) }]) { origin, _ in
      try await withSession { session in
        let request = session.download(origin.url)
        await request.receives(place)
        if isExplicit { request.cancel(producingResumeData: false) } else { request.cancel() }
        let response = await request.outcome()
        #expect(response.error?.isExplicitlyCancelledError == true && request.isCancelled)
        #expect(response.resumeData == nil && request.resumeData == nil && response.fileURL == nil)
      }
    }
  }

  @Test(
    "cancelling a download with resume data passes the data to the request, the response and the closure",
    arguments: [true, false])
  func cancelProducing(byClosure: Bool) async throws {
    try await withScripts([{ [resource, place] in try resource.answer($0, on: $1, .hold(at: place)) }]) { origin, _ in
      try await withSession { session in
        let request = session.download(origin.url)
        await request.receives(place)
        let given = Recorder<Data?>()
        if byClosure {
          request.cancel { data in
            given.record(data)
            #expect(request.resumeData == data && !request.isFinished)
          }
        } else {
          request.cancel(producingResumeData: true)
        }
        let response = await request.outcome()
        #expect(response.error?.isExplicitlyCancelledError == true && request.isCancelled)
        let data = try #require(response.resumeData)
        if byClosure { #expect(await given.next() == data) }
        #expect(request.resumeData == data && response.fileURL == nil)
        #expect(response.metrics != nil && request.tasks.first?.state == .completed)
        let path = try #require(response.leftPath)
        let isIntact = try Data(contentsOf: URL(filePath: path)) == resource.bytes.prefix(place)
        #expect(isIntact)
        try FileManager.default.removeItem(atPath: path)
      }
    }
  }

  // As in the article Downloads.
  @Test("a download that is cancelled at its first progress leaves resume data")
  func cancelAtProgress() async throws {
    try await withScripts([{ [resource, place] in try resource.answer($0, on: $1, .hold(at: place)) }]) { origin, _ in
      // The handler is set before the start, so that it is called even if the bytes arrive at once.
      try await withSession(startRequestsImmediately: false) { session in
        let request = session.download(origin.url)
        request.downloadProgress { [weak request] progress in
          if progress.completedUnitCount > 0 { request?.cancel(producingResumeData: true) }
        }
        request.resume()
        let stopped = await request.serializingDownloadedFileURL().response
        #expect(stopped.resumeData != nil && stopped.error?.isExplicitlyCancelledError == true)
        try FileManager.default.removeItem(atPath: #require(stopped.leftPath))
      }
    }
  }

  @Test("cancelling an unstarted, finished or already cancelled download calls the resume data closure once")
  func closureAlways() async throws {
    try await withServer { _ in
      .text("short")
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        try await withFolder { folder in
          let given = Recorder<Data?>()
          // The three downloads are cancelled before the start, after the end, and for a second time.
          session.download(origin.url).cancel { given.record($0) }
          #expect(await given.next() == .some(nil))
          let finished = session.download(origin.url, to: into(folder))
          finished.resume()
          #expect(await finished.outcome().error == nil)
          finished.cancel { given.record($0) }
          #expect(await given.next() == .some(nil) && finished.isFinished)
          let cancelled = session.download(origin.url)
          cancelled.cancel()
          cancelled.cancel { given.record($0) }
          #expect(await given.next() == .some(nil))
          #expect(await cancelled.outcome().resumeData == nil)
        }
      }
    }
  }

  @Test("if a download is cancelled twice, the first call determines whether resume data is produced")
  func firstCounts() async throws {
    try await withScripts([{ [resource, place] in try resource.answer($0, on: $1, .hold(at: place)) }]) { origin, _ in
      try await withSession { session in
        for keeps in [true, false] {
          let request = session.download(origin.url)
          await request.receives(place)
          let given = Recorder<Data?>()
          request.cancel(producingResumeData: keeps).cancel(producingResumeData: !keeps).cancel()
          request.cancel { given.record($0) }
          let response = await request.outcome()
          #expect((response.resumeData != nil) == keeps)
          if let path = response.leftPath { try FileManager.default.removeItem(atPath: path) }
          #expect(await given.next() == .some(response.resumeData))
        }
      }
    }
  }

  /// The methods that cancel a download.
  enum Method: CaseIterable, Sendable { case cancel, cancelProducingResumeData, cancelWithClosure }

  @Test(
    "if a running download is cancelled repeatedly, monitors are notified of one cancellation of the request and its task",
    arguments: Method.allCases)
  func events(method: Method) async throws {
    try await withScripts([{ [resource, place] in try resource.answer($0, on: $1, .hold(at: place)) }]) { origin, _ in
      let recorder = EventRecorder()
      try await withMonitoredSession([recorder]) { session in
        let request = session.download(origin.url)
        await request.receives(place)
        for _ in 0..<10 {
          switch method {
          case .cancel: request.cancel()
          case .cancelProducingResumeData: request.cancel(producingResumeData: true)
          case .cancelWithClosure: request.cancel { _ in }
          }
        }
        let response = await request.outcome()
        #expect((response.resumeData == nil) == (method == .cancel))
        if let path = response.leftPath { try FileManager.default.removeItem(atPath: path) }
        // Monitors aren't notified if the request is cancelled after its end, either.
        request.cancel()
        let names = await recorder.names(about: request)
        let ending: [EventName] = [
          .requestDidCancel, .requestDidCancelTask, .requestDidGatherMetrics, .requestDidCompleteTaskWithError,
          .requestDidFinish,
        ]
        #expect(names.filter(ending.contains) == ending)
      }
    }
  }

  // MARK: Lost connections

  @Test(
    "after a download has lost its connection, the request, the response and the error contain resume data",
    arguments: ["ETag", "Last-Modified"])
  func cut(validator: String) async throws {
    var resource = resource
    resource.fields = [
      "Accept-Ranges": "bytes", validator: validator == "ETag" ? "\"1\"" : "Wed, 21 Oct 2015 07:28:00 GMT",
    ]
    try await withScripts([{ [resource, place] in try resource.answer($0, on: $1, .cut(at: place)) }]) { origin, _ in
      try await withSession { session in
        let request = session.download(origin.url)
        let response = await request.outcome()
        guard case .sessionTaskFailed(let error as URLError) = response.error else {
          Issue.record("\(response)")
          return
        }
        #expect(error.code == .networkConnectionLost)
        let data = try #require(response.resumeData)
        #expect(error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data == data)
        #expect(response.error?.downloadResumeData == data && request.resumeData == data)
        #expect(response.fileURL == nil && error.failingURL != nil && !error.localizedDescription.isEmpty)
        try FileManager.default.removeItem(atPath: #require(response.leftPath))
      }
    }
  }

  @Test(
    "a failed download that can't be resumed leaves neither resume data nor a file",
    arguments: ["weak", "none", "gzip"])
  func cutForGood(kind: String) async throws {
    var resource = resource
    if kind == "weak" { resource.fields["ETag"] = "W/\"1\"" } else { resource.fields["ETag"] = nil }
    try await withScripts([
      { [resource, place] request, peer in
        guard kind == "gzip" else { return try resource.answer(request, on: peer, .cut(at: place)) }
        try peer.send(
          "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\nContent-Encoding: gzip\r\nContent-Length: 90\r\n\r\n"
        )
        // A stored block of 3 bytes (RFC 1951 §3.2.4) without the rest of the stream.
        try peer.send([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0, 3, 0, 0xFC, 0xFF, 1, 2, 3])
        peer.finishSending()
        _ = try peer.awaitClose()
      }
    ]) { origin, _ in
      try await withSession { session in
        let request = session.download(origin.url)
        let response = await request.outcome()
        #expect((response.error?.underlyingError as? URLError)?.code == .networkConnectionLost)
        #expect(response.resumeData == nil && response.fileURL == nil)
        #expect(request.task?.countOfBytesReceived == (kind == "gzip" ? 3 : Int64(place)))
      }
    }
  }

  @Test(
    "cancelling a resumed download without producing resume data leaves neither resume data nor a file",
    arguments: [true, false])
  func cancelResumed(isUnderWay: Bool) async throws {
    let (resource, place) = (resource, place)
    try await withScripts([
      { try resource.answer($0, on: $1, .cut(at: place)) },
      { request, peer in
        guard isUnderWay else { return _ = try peer.awaitClose() }
        try resource.answer(request, on: peer, .hold(at: 100_000))
      },
    ]) { origin, requests in
      try await withSession { session in
        let data = try await resumeData(of: resource, cutAt: place, in: session, from: origin.url)
        let request = session.download(resumingWith: data)
        if isUnderWay { await request.receives(100_000) } else { request.resume() }
        _ = await requests.first(2)
        request.cancel()
        let response = await request.outcome()
        #expect(response.error?.isExplicitlyCancelledError == true && response.resumeData == nil)
        #expect(try !FileManager.default.fileExists(atPath: ResumeData(data).path))
      }
    }
  }
}
