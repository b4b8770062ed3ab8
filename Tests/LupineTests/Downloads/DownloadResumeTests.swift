// Downloads resumed with resume data, and each response that the server may give.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct DownloadResumeTests {
  private let resource = Resource()
  private let place = 70_000

  /// Starts a download whose connection ends after 70,000 bytes, and then resumes the download. The server answers the
  /// requests of the resumed download with `script`. Returns these requests.
  private func resuming(
    _ resource: Resource = Resource(), _ script: @escaping @Sendable (ReceivedRequest, Peer) throws -> Void,
    before change: (ResumeData) throws -> Void = { _ in },
    check: (DownloadRequest, AFDownloadResponse<URL?>, Data) -> Void
  ) async throws -> [ReceivedRequest] {
    try await withScripts([{ [place] in try resource.answer($0, on: $1, .cut(at: place)) }, script]) {
      origin, requests in
      try await withSession { session in
        try await withFolder { folder in
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

  // MARK: Resuming

  @Test(
    "a resumed download requests and appends only the missing bytes, and its progress includes the earlier bytes"
  )
  func append() async throws {
    let requests = try await withScripts([
      { [resource, place] in try resource.answer($0, on: $1, .cut(at: place)) },
      { [resource] in try resource.answer($0, on: $1) },
    ]) { origin, requests in
      let monitor = DownloadMonitor()
      return try await withSession(eventMonitors: [monitor]) { session in
        try await withFolder { folder in
          let data = try await resumeData(of: resource, cutAt: place, in: session, from: origin.url + "/r")
          let counts = Recorder<(Int64, Int64)?>()
          let queue = DispatchQueue(label: "progress")
          let request = session.download(resumingWith: data, to: into(folder))
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

  @Test("if the resource has changed, a resumed download replaces the received bytes with the new content")
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

  @Test("a download of unknown length that lost its connection after the last byte can be resumed and completed")
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
        try await withFolder { folder in
          let data = try #require(await session.download(origin.url).outcome().resumeData)
          expectWhole(await session.download(resumingWith: data, to: into(folder)).validate().outcome(), data, small)
          return await requests.first(2)
        }
      }
    }
    // The last byte is requested again, because a server answers an empty range only with an error.
    #expect(requests[1].fields.first("range") == "bytes=69999-")
  }

  @Test(
    "a resumed download requests the entire resource if a 206 has another range or is of another representation",
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

  @Test(
    "a resumed download never joins the bytes of two representations, even if a 206 has the requested range",
    arguments: [
      "Content-Range: bytes 70000-199999/200000\r\nETag: \"v2\"", "Content-Range: bytes 70000-199999/200000",
      "Content-Range: bytes 70000-199999/200000\r\nETag: W/\"v1\"",
      "Content-Range: bytes 70000-199999/300000\r\nETag: \"v1\"",
      "Content-Range: bytes 60000-189999/200000\r\nETag: \"v1\"",
      "Content-Type: multipart/byteranges; boundary=x\r\nETag: \"v1\"",
    ])
  func neverJoined(fields: String) async throws {
    var other = resource
    (other.fields["ETag"], other.shift) = ("\"v2\"", 7)
    let requests = try await resuming { [other, place] request, peer in
      guard request.fields.contains("range") else { return try other.answer(request, on: peer) }
      let rest = Array(other.bytes.dropFirst(place))
      try peer.send(Array("HTTP/1.1 206 \r\nContent-Length: \(rest.count)\r\n\(fields)\r\n\r\n".utf8) + rest)
    } check: { _, response, data in
      expectWhole(response, data, other)
    }
    #expect(requests.map { $0.fields.first("range") } == ["bytes=70000-", nil])
  }

  @Test(
    "a resumed download delivers an error response, and can be resumed again with the bytes already received",
    arguments: [503, 401, 404])
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

  @Test("a resumed download that loses its connection, or can't connect, can be resumed again")
  func cutAgain() async throws {
    let (resource, place) = (resource, place)
    try await withScripts([
      { try resource.answer($0, on: $1, .cut(at: place)) }, { try resource.answer($0, on: $1, .cut(at: 90_000)) },
      { _, peer in peer.close() }, { try resource.answer($0, on: $1) },
    ]) { origin, requests in
      try await withSession { session in
        try await withFolder { folder in
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

  @Test("a cancelled download from nginx can be resumed")
  func nginx() async throws {
    let (url, byteCount) = (try await TestServers.nginx + "/big.bin", 256 << 20)
    try await withSession { session in
      try await withFolder { folder in
        var cancelled: Data?
        // On a busy machine, a download may complete before the test cancels it. Then the test tries again.
        for _ in 0..<20 where cancelled == nil {
          let request = session.download(url, headers: [.acceptEncoding("identity")])
          await request.receives(1 << 20)
          request.cancel(producingResumeData: true)
          let response = await request.outcome()
          cancelled = response.resumeData
          #expect(cancelled != nil || response.error == nil)
        }
        let data = try #require(cancelled)
        let first = try #require(try Int(exactly: ResumeData(data).receivedByteCount))
        #expect(first >= 1 << 20 && first < byteCount)
        let response = await session.download(resumingWith: data, to: into(folder)).validate().outcome()
        #expect(response.error == nil && response.response?.statusCode == 206)
        #expect(response.response?.headers["Content-Range"] == "bytes \(first)-\(byteCount - 1)/\(byteCount)")
        let size = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "file").path)[.size]
        #expect(size as? Int == byteCount)
      }
    }
  }

  @Test("after a truncated error response, a resumed download can be resumed again with the bytes already received")
  func unrelatedCut() async throws {
    let (resource, place) = (resource, place)
    try await withScripts([
      { try resource.answer($0, on: $1, .cut(at: place)) },
      { _, peer in
        try peer.send("HTTP/1.1 503 \r\nContent-Length: 100\r\n\r\nlater")
        peer.finishSending()
        _ = try peer.awaitClose()
      }, { try resource.answer($0, on: $1) },
    ]) { origin, _ in
      try await withSession { session in
        try await withFolder { folder in
          let data = try await resumeData(of: resource, cutAt: place, in: session, from: origin.url)
          let response = await session.download(resumingWith: data, to: into(folder)).outcome()
          #expect((response.error?.underlyingError as? URLError)?.code == .networkConnectionLost)
          let left = try #require(response.resumeData)
          #expect(try ResumeData(left) == ResumeData(data))
          expectWhole(await session.download(resumingWith: left, to: into(folder)).outcome(), data)
        }
      }
    }
  }

  @Test(
    "a resumed download starts from the beginning if its partial file is missing or too short",
    arguments: [true, false])
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

  @Test(
    "a resumed download that had to start from the beginning can be resumed after another lost connection",
    arguments: [true, false])
  func freshAndCut(isFileGone: Bool) async throws {
    let (resource, place) = (resource, place)
    let part: @Sendable (ReceivedRequest, Peer) throws -> Void = { _, peer in
      // The 206 has another range than the requested one, so the client requests the entire resource.
      try peer.respond(
        status: 206, fields: ["Content-Range": "bytes 1-2/3", "ETag": "\"v1\""], body: [1, 2])
    }
    try await withScripts(
      [{ try resource.answer($0, on: $1, .cut(at: place)) }] + (isFileGone ? [] : [part]) + [
        { try resource.answer($0, on: $1, .cut(at: 90_000)) }, { try resource.answer($0, on: $1) },
      ]
    ) { origin, requests in
      try await withSession { session in
        try await withFolder { folder in
          let data = try await resumeData(of: resource, cutAt: place, in: session, from: origin.url)
          if isFileGone { try FileManager.default.removeItem(atPath: ResumeData(data).path) }
          let cut = await session.download(resumingWith: data).outcome()
          let left = try #require(cut.resumeData)
          #expect(try ResumeData(left).receivedByteCount == 90_000)
          expectWhole(await session.download(resumingWith: left, to: into(folder)).outcome(), left)
          #expect(await requests.first(origin.requestCount).last?.fields.first("range") == "bytes=90000-")
        }
      }
    }
  }

  @Test("a download that was redirected is resumed from its original URL")
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
        try await withFolder { folder in
          let data = try await resumeData(of: resource, cutAt: place, in: session, from: origin.url + "/first")
          expectWhole(await session.download(resumingWith: data, to: into(folder)).outcome(), data)
          #expect(await requests.first(4).map(\.path) == ["/first", "/then", "/first", "/then"])
        }
      }
    }
  }

  @Test("a download with malformed resume data fails without sending a request")
  func unreadable() async throws {
    try await withSession { session in
      let request = session.download(resumingWith: Data("nonsense".utf8))
      let response = await request.outcome()
      #expect((response.error?.underlyingError as? URLError)?.code == .unsupportedURL)
      #expect(response.fileURL == nil && response.resumeData == nil && response.request == nil)
      guard case .resumeData = request.downloadable else {
        Issue.record("the downloadable isn't resume data")
        return
      }
    }
  }
}
