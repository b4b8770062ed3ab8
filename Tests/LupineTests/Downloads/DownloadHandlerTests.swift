// A download's events, progress, serializers and validation.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct DownloadHandlerTests {
  private struct Item: Decodable, Equatable, Sendable { let name: String }

  // MARK: Events and progress

  @Test("monitors receive a download's events in order")
  func events() async throws {
    try await withServer { _ in
      .text("body")
    } _: { origin in
      let monitor = DownloadMonitor()
      try await withSession(eventMonitors: [monitor]) { session in
        try await withFolder { folder in
          let request = session.download(origin.url, to: into(folder)).validate()
          #expect(await request.serializingString().response.value == "body")
          _ = await request.outcome()
          #expect(
            monitor.events == [
              "requestDidResume", "didCreateInitialURLRequest", "didCreateURLRequest", "didCreateTask", "didResumeTask",
              "didWriteData", "didFinishDownloadingTo", "didCreateDestinationURL", "didFinishDownloadingUsing",
              "didFinishCollecting", "didGatherMetrics", "didCompleteWithError", "didValidateRequest",
              "didCompleteTask", "requestDidFinish", "didParseResponse of String", "didParseResponse of a file",
            ])
        }
      }
    }
  }

  @Test("a download's progress never decreases, and ends at exactly 1", arguments: [1, 70_000, 8 << 20] as [UInt64])
  func progress(byteCount: UInt64) async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: byteCount))
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          let seen = Recorder<(Int64, Double)?>()
          let queue = DispatchQueue(label: "progress")
          let request = session.download(origin.url, to: into(folder))
            .downloadProgress(queue: queue) { seen.record(($0.completedUnitCount, $0.fractionCompleted)) }
            // The queue is serial, so this handler runs after the last progress handler.
            .response(queue: queue) { _ in seen.record(nil) }
          var updates: [(Int64, Double)] = []
          while let update = await seen.next() ?? nil { updates.append(update) }
          #expect(updates.map(\.0) == updates.map(\.0).sorted() && updates.map(\.1) == updates.map(\.1).sorted())
          #expect(updates.last?.0 == Int64(byteCount) && updates.last?.1 == 1)
          #expect(request.downloadProgress.isFinished)
          let isIntact = try request.fileURL.map { try Data(contentsOf: $0) } == Pattern.data(Int(byteCount))
          #expect(isIntact)
        }
      }
    }
  }

  @Test("by default, a download's progress handlers and response handlers run on the main queue")
  func mainQueue() async throws {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
    try await withServer { _ in
      .text("body")
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          let heard = Recorder<Bool?>()
          @Sendable func note() { heard.record(DispatchQueue.getSpecific(key: key)) }
          session.download(origin.url, to: into(folder)).downloadProgress { _ in note() }.response { _ in note() }
            .responseURL { _ in note() }.responseString { _ in note() }
          #expect(await heard.first(4) == [true, true, true, true])
        }
      }
    }
  }

  @Test("a download to a slow disk doesn't delay other requests, and receives no more bytes than the receive window")
  func slowDisk() async throws {
    let (byteCount, mayWrite) = (32 << 20, Gate())
    let sent = Mutex(0)
    try await withOrigin { peer in
      while let request = try peer.readRequest() {
        guard request.path == "/large" else {
          try peer.respond(body: [1])
          continue
        }
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(byteCount)\r\n\r\n")
        for _ in 0..<byteCount / 65_536 {
          try peer.send([UInt8](repeating: 7, count: 65_536))
          sent.withLock { $0 += 65_536 }
        }
      }
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          session.session.fileTransfers.queue.perform { mayWrite.waitBlocking() }
          let download = session.download(origin.url + "/large", to: into(folder))
          download.resume()
          for _ in 0..<50 { #expect(await session.request(origin.url + "/").outcome().error == nil) }
          #expect(download.task?.countOfBytesReceived == 0)
          // On loopback, the kernel's buffers hold a few MiB in addition to the window.
          #expect(sent.withLock { $0 } < byteCount * 3 / 4)
          mayWrite.open()
          let response = await download.outcome()
          let size = response.content?.count
          #expect(response.error == nil && size == byteCount)
        }
      }
    }
  }

  // MARK: Serializers

  @Test("each response serializer reads the downloaded file, for a completion handler and for async code")
  func serializers() async throws {
    try await withServer { _ in
      Reply(fields: ["Content-Type": "application/json; charset=utf-8"], .bytes(Array("{\"name\":\"ü\"}".utf8)))
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          func download(_ name: String = #function) -> DownloadRequest {
            session.download(origin.url, to: into(folder, UUID().uuidString))
          }
          let text = "{\"name\":\"ü\"}"
          #expect(await download().serializingString().response.value == text)
          #expect(await download().serializingData().response.value == Data(text.utf8))
          #expect(await download().serializingDecodable(Item.self).response.value == Item(name: "ü"))
          #expect(await download().serializingDownload(using: StringResponseSerializer()).result.success == text)
          let url = try await download().serializingDownloadedFileURL().value
          #expect(try String(contentsOf: url, encoding: .utf8) == text)
          #expect(await download().serializingDownload(using: .url).response.fileURL != nil)

          let heard = Recorder<String>()
          download().responseString(queue: .global()) { heard.record($0.value ?? "-") }
          #expect(await heard.next() == text)
          download().responseData(queue: .global()) { heard.record("\($0.value?.count ?? 0)") }
          #expect(await heard.next() == "13")
          download().responseDecodable(of: Item.self, queue: .global()) { heard.record($0.value?.name ?? "-") }
          #expect(await heard.next() == "ü")
          download().responseURL(queue: .global()) { heard.record($0.value == $0.fileURL ? "file" : "-") }
          #expect(await heard.next() == "file")
          let failed = await download().serializingDecodable([Int].self).response
          #expect(failed.error?.isResponseSerializationError == true && failed.fileURL != nil)
          #expect(failed.serializationDuration > 0 && failed.metrics != nil && failed.request != nil)
        }
      }
    }
  }

  @Test("JSON and property lists are read from the downloaded file")
  func trees() async throws {
    let list = try PropertyListEncoder().encode(["a": 1])
    try await withServer { request in
      Reply(.bytes(request.path == "/list" ? Array(list) : Array("{\"a\":1}".utf8)))
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          let heard = Recorder<Int?>()
          session.download(origin.url + "/list", to: into(folder)).responsePropertyList(queue: .global()) {
            heard.record(($0.value as? [String: Any])?["a"] as? Int)
          }
          #expect(await heard.next() == 1)
          (session.download(origin.url + "/json", to: into(folder)) as any WithJSON).json { heard.record($0) }
          #expect(await heard.next() == 1)
          #expect(await heard.next() == 1)
        }
      }
    }
  }

  @Test("serializing an empty downloaded file fails unless the status code or the method allows an empty body")
  func empty() async throws {
    try await withServer { request in
      Reply(status: request.path == "/204" ? 204 : 200)
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          #expect(
            await session.download(origin.url + "/204", to: into(folder)).serializingString().response.value == "")
          let head = session.download(origin.url, method: .head, to: into(folder))
          #expect(await head.serializingData().response.value == Data())
          let response = await session.download(origin.url, to: into(folder)).serializingData().response
          guard case .responseSerializationFailed(.inputDataNilOrZeroLength) = response.error else {
            Issue.record("\(response)")
            return
          }
        }
      }
    }
  }

  // MARK: Validation

  @Test(
    "each validation closure of a download receives the file's URL, and the response fails with the validation's error")
  func validation() async throws {
    try await withServer { request in
      request.path == "/none" ? Reply(.bytes([1])) : .text(request.path == "/empty" ? "" : "body")
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          func validated(
            _ path: String, _ validate: (DownloadRequest) -> DownloadRequest
          ) async -> AFError.ResponseValidationFailureReason? {
            guard
              case .responseValidationFailed(let reason) =
                await validate(session.download(origin.url + path, to: into(folder))).outcome().error
            else { return nil }
            return reason
          }
          let seen = Mutex<URL?>(nil)
          #expect(
            await validated("/") {
              $0.validate { _, _, url in
                seen.withLock { $0 = url }
                return .success(())
              }
            } == nil)
          #expect(seen.withLock { $0 } == folder.appending(path: "file"))
          #expect(await validated("/") { $0.validate() } == nil)
          #expect(
            await validated("/") { $0.validate(statusCode: 200..<300).validate(contentType: ["text/plain"]) } == nil)
          #expect(await validated("/empty") { $0.validate(contentType: ["image/png"]) } == nil)
          guard case .unacceptableStatusCode(200) = await validated("/", { $0.validate(statusCode: [404]) }),
            case .unacceptableContentType = await validated("/", { $0.validate(contentType: ["image/png"]) }),
            case .missingContentType = await validated("/none", { $0.validate(contentType: ["image/png"]) }),
            case .customValidationFailed = await validated("/", { $0.validate { _, _, _ in .failure(Mishap("no")) } }),
            case .dataFileReadFailed(folder.appending(path: "file")) = await validated(
              "/",
              {
                $0.validate { _, _, url in
                  Result { if let url { try FileManager.default.removeItem(at: url) } }
                }.validate(contentType: ["text/plain"])
              })
          else {
            Issue.record("a validation passed, or failed for another reason")
            return
          }
        }
      }
    }
  }

  @Test("a download without a file fails content type validation with dataFileNil, and serialization with inputFileNil")
  func withoutFile() async throws {
    final class Ignorant: SessionDelegate, @unchecked Sendable {
      override func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
      ) {}
    }
    try await withServer { _ in
      .text("body")
    } _: { origin in
      let session = Session(delegate: Ignorant())
      let response = await session.download(origin.url).validate(contentType: ["text/plain"]).outcome()
      guard case .responseValidationFailed(.dataFileNil) = response.error else {
        Issue.record("\(response)")
        return
      }
      let empty = await session.download(origin.url).serializingString().response
      guard case .responseSerializationFailed(.inputFileNil) = empty.error else {
        Issue.record("\(empty)")
        return
      }
      withExtendedLifetime(session) {}
    }
  }
}

/// Declares a function that calls deprecated functions. A call through the protocol causes no warning.
private protocol WithJSON {
  func json(_ handler: @escaping @Sendable (Int?) -> Void)
}

extension DownloadRequest: WithJSON {
  @available(*, deprecated)
  fileprivate func json(_ handler: @escaping @Sendable (Int?) -> Void) {
    responseJSON(queue: .global()) { handler(($0.value as? [String: Any])?["a"] as? Int) }
    response(queue: .global(), responseSerializer: JSONResponseSerializer()) { (response: AFDownloadResponse<Any>) in
      handler((response.value as? [String: Any])?["a"] as? Int)
    }
  }
}
