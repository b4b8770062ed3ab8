// Downloads that are stopped or cut, and gone on with.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine

@Suite(.timeLimit(.minutes(2))) struct DownloadResumeTests {
  private let resource = Resource()
  private let place = 70_000

  /// Cuts a download, and resumes it at a server that answers then by `script`; the requests are the resuming ones.
  private func resuming(
    _ resource: Resource = Resource(), _ script: @escaping @Sendable (ReceivedRequest, Peer) throws -> Void,
    before change: (ResumeData) throws -> Void = { _ in },
    check: (DownloadRequest, AFDownloadResponse<URL?>, Data) -> Void
  ) async throws -> [ReceivedRequest] {
    try await withScripts([{ [place] in try resource.answer($0, on: $1, .cut(at: place)) }, script]) {
      origin, requests in
      try await withSession { session in
        try await withDownloadFolder { folder in
          let data = try await resumeData(of: resource, cutAt: place, in: session, from: origin.url + "/r")
          defer { try? FileManager.default.removeItem(atPath: ResumeData(data).path) }
          try change(ResumeData(data))
          let request = session.download(resumingWith: data, to: into(folder))
          let response = await request.outcome()
          check(request, response, data)
          return await Array(requests.first(origin.requestCount).dropFirst())
        }
      }
    }
  }

  private func expectWhole(_ response: AFDownloadResponse<URL?>, _ data: Data, _ resource: Resource = Resource()) {
    let isIntact = response.error == nil && response.content == resource.bytes
    #expect(isIntact, "\(response)")
    #expect(response.resumeData == nil)
    let path = try? ResumeData(data).path
    #expect(path.map(FileManager.default.fileExists(atPath:)) == false)
  }

  // MARK: Cancelling

  @Test("cancel makes no resume data, and nothing is left", arguments: [true, false])
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

  @Test("cancelling with resume data gives it to the request, the response and the closure", arguments: [true, false])
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

  @Test("a closure that wants resume data is called once, whatever the request does")
  func closureAlways() async throws {
    try await withServer { _ in
      .text("short")
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        try await withDownloadFolder { folder in
          let given = Recorder<Data?>()
          // Not started; finished; cancelled before.
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

  @Test("the first cancellation says whether resume data is kept")
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

  // MARK: Cuts

  @Test("a cut connection gives resume data, in the error too", arguments: ["ETag", "Last-Modified"])
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

  @Test("what can't be gone on with leaves neither resume data nor a file", arguments: ["weak", "none", "gzip"])
  func cutForGood(kind: String) async throws {
    var resource = resource
    if kind == "weak" { resource.fields["ETag"] = "W/\"1\"" } else { resource.fields["ETag"] = nil }
    try await withScripts([
      { [resource, place] request, peer in
        guard kind == "gzip" else { return try resource.answer(request, on: peer, .cut(at: place)) }
        try peer.send(
          "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\nContent-Encoding: gzip\r\nContent-Length: 90\r\n\r\n"
        )
        // A stored block (RFC 1951 §3.2.4) of three bytes, and no more.
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

  // MARK: Going on

  @Test("the rest is asked for and appended; progress begins with what is there")
  func append() async throws {
    let requests = try await withScripts([
      { [resource, place] in try resource.answer($0, on: $1, .cut(at: place)) },
      { [resource] in try resource.answer($0, on: $1) },
    ]) { origin, requests in
      try await withSession { session in
        try await withDownloadFolder { folder in
          let data = try await resumeData(of: resource, cutAt: place, in: session, from: origin.url + "/r")
          let (counts, monitor) = (Recorder<(Int64, Int64)?>(), DownloadMonitor())
          let queue = DispatchQueue(label: "progress")
          let request = session.download(resumingWith: data, to: into(folder)).eventMonitor(monitor)
            .downloadProgress(queue: queue) { counts.record(($0.completedUnitCount, $0.totalUnitCount)) }
          let response = await request.outcome()
          request.response(queue: queue) { _ in counts.record(nil) }
          expectWhole(response, data)
          #expect(response.response?.statusCode == 206)
          var seen: [(Int64, Int64)] = []
          while let count = await counts.next() ?? nil { seen.append(count) }
          #expect(seen.first.map { $0.0 >= Int64(place) } == true)
          #expect(seen.map(\.0) == seen.map(\.0).sorted() && seen.allSatisfy { $0.1 == 200_000 })
          #expect(seen.last?.0 == 200_000 && request.downloadProgress.fractionCompleted == 1)
          #expect(monitor.events.contains("didResumeAtOffset 70000 of 200000"))
          #expect(request.requests.isEmpty && request.performedRequests.count == 1)
          return await requests.first(2)
        }
      }
    }
    #expect(requests[1].path == "/r" && requests[1].fields.first("range") == "bytes=70000-")
    #expect(requests[1].fields.first("if-range") == "\"v1\"")
    #expect(requests[1].fields.list("accept-encoding") == "identity")
  }

  @Test("a changed resource replaces what is there")
  func changed() async throws {
    var other = resource
    (other.fields["ETag"], other.shift, other.byteCount) = ("\"v2\"", 7, 50_000)
    let requests = try await resuming { [other] in
      try other.answer($0, on: $1)
    } check: { request, response, data in
      expectWhole(response, data, other)
      #expect(request.downloadProgress.completedUnitCount == 50_000 || request.downloadProgress.totalUnitCount == 0)
    }
    #expect(requests.count == 1)
  }

  @Test("a download of unknown length of which only the end was missing is completed")
  func onlyTheEnd() async throws {
    let small = Resource(byteCount: place)
    let requests = try await withScripts([
      { _, peer in
        try peer.beginChunked(fields: ["ETag": "\"v1\"", "Accept-Ranges": "bytes"])
        try peer.chunk(Array(small.bytes))
        peer.finishSending()
        _ = try peer.awaitClose()
      }, { try small.answer($0, on: $1) },
    ]) { origin, requests in
      try await withSession { session in
        try await withDownloadFolder { folder in
          let data = try #require(await session.download(origin.url).outcome().resumeData)
          expectWhole(await session.download(resumingWith: data, to: into(folder)).validate().outcome(), data, small)
          return await requests.first(2)
        }
      }
    }
    // The last byte again, since a server has no answer to a range of nothing but an error.
    #expect(requests[1].fields.first("range") == "bytes=69999-")
  }

  @Test(
    "a part of something else is dropped, and everything asked for",
    arguments: [
      "Content-Range: bytes 70001-199999/200000\r\nETag: \"v1\"", "Content-Range: bytes 70000-199999/200001",
      "Content-Range: bytes 70000-199999/200000\r\nETag: \"v2\"", "X-Nothing: 1",
    ])
  func askAgain(fields: String) async throws {
    let resource = resource
    let requests = try await resuming { request, peer in
      guard request.fields.contains("range") else { return try resource.answer(request, on: peer) }
      try peer.send("HTTP/1.1 206 \r\nContent-Length: 3\r\n\(fields)\r\n\r\nabc")
    } check: { request, response, data in
      expectWhole(response, data)
      #expect(response.response?.statusCode == 200 && request.tasks.count == 1)
      #expect(response.metrics?.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode } == [206, 200])
      #expect(response.metrics?.transactionMetrics.map { $0.request.headers["Range"] } == ["bytes=70000-", nil])
    }
    #expect(requests.map { $0.fields.first("range") } == ["bytes=70000-", nil])
    #expect(requests.last?.fields.contains("if-range") == false)
  }

  @Test("another answer is the response, and what is there can be gone on with later", arguments: [503, 401, 404])
  func unrelated(status: Int) async throws {
    _ = try await resuming { _, peer in
      try peer.respond(status: status, body: Array("later".utf8))
    } check: { _, response, data in
      #expect(response.error == nil && response.response?.statusCode == status)
      #expect(response.content == Data("later".utf8))
      let size = (try? ResumeData(data).path).flatMap { try? Data(contentsOf: URL(filePath: $0)).count }
      #expect(size == place)
    }
  }

  @Test("a download that is cut again, or can't be connected, can be gone on with again")
  func cutAgain() async throws {
    let (resource, place) = (resource, place)
    try await withScripts([
      { try resource.answer($0, on: $1, .cut(at: place)) }, { try resource.answer($0, on: $1, .cut(at: 90_000)) },
      { _, peer in peer.close() }, { try resource.answer($0, on: $1) },
    ]) { origin, requests in
      try await withSession { session in
        try await withDownloadFolder { folder in
          var data = try await resumeData(of: resource, cutAt: place, in: session, from: origin.url)
          for byteCount in [90_000, 90_000] as [UInt64] {
            let response = await session.download(resumingWith: data).outcome()
            #expect(response.error != nil && response.fileURL == nil)
            data = try #require(response.resumeData)
            #expect(try ResumeData(data).receivedByteCount == byteCount)
          }
          expectWhole(await session.download(resumingWith: data, to: into(folder)).outcome(), data)
          let ranges = await requests.first(origin.requestCount).map { $0.fields.first("range") }
          #expect(ranges.first == .some(nil) && ranges.last == "bytes=90000-")
        }
      }
    }
  }

  @Test("without its file a download begins at the start", arguments: [true, false])
  func fileGone(isShorter: Bool) async throws {
    let resource = resource
    let requests = try await resuming {
      try resource.answer($0, on: $1)
    } before: { data in
      if isShorter {
        try Data([1]).write(to: URL(filePath: data.path))
      } else {
        try FileManager.default.removeItem(atPath: data.path)
      }
    } check: { _, response, _ in
      let isIntact = response.error == nil && response.content == resource.bytes
      #expect(isIntact)
    }
    #expect(requests.map { $0.fields.first("range") } == [nil])
  }

  @Test("a download through a redirect is gone on with at its first URL")
  func redirected() async throws {
    let (resource, place) = (resource, place)
    try await withScripts([
      { request, peer in
        switch request.path {
        case "/first": try peer.respond(status: 302, fields: ["Location": "/then"])
        default:
          let isRest = request.fields.contains("range")
          try resource.answer(request, on: peer, isRest ? .whole : .cut(at: place))
        }
      }
    ]) { origin, requests in
      try await withSession { session in
        try await withDownloadFolder { folder in
          let data = try await resumeData(of: resource, cutAt: place, in: session, from: origin.url + "/first")
          expectWhole(await session.download(resumingWith: data, to: into(folder)).outcome(), data)
          #expect(await requests.first(4).map(\.path) == ["/first", "/then", "/first", "/then"])
        }
      }
    }
  }

  @Test("resume data that can't be read is an error, and nothing is sent")
  func unreadable() async throws {
    try await withSession { session in
      let request = session.download(resumingWith: Data("nonsense".utf8))
      let response = await request.outcome()
      #expect((response.error?.underlyingError as? URLError)?.code == .cannotOpenFile)
      #expect(response.fileURL == nil && response.resumeData == nil && response.request == nil)
      guard case .resumeData = request.downloadable else {
        Issue.record("another kind")
        return
      }
    }
  }

  @Test("a download that is gone on with and cancelled leaves nothing", arguments: [true, false])
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
