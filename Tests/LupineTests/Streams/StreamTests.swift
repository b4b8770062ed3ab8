// Stream requests: every piece is delivered once and in order to every handler, and then the completion.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct StreamTests {
  private struct Item: Codable, Sendable, Equatable { var number: Int }

  @Test("five parts received one by one cause five calls of each kind of stream handler, and then the completion")
  func fivePieces() async throws {
    let chunks = (0..<5).map { Array(#"{"number":\#($0)}"#.utf8) }
    try await withChunks(chunks) { url, gates in
      try await withSession { session in
        let data = Recorder<DataStreamRequest.Stream<Data, Never>>()
        let strings = Recorder<DataStreamRequest.Stream<String, Never>>()
        let items = Recorder<DataStreamRequest.Stream<Item, AFError>>()
        let passed = Recorder<DataStreamRequest.Stream<Data, AFError>>()
        let calls = Mutex(0)
        // The request is resumed after the last handler is added. Otherwise the first
        // handler could get a piece before the others exist.
        session.streamRequest(url, shouldAutomaticallyResume: false)
          .responseStreamString(on: .global()) { strings.record($0) }
          .responseStreamDecodable(of: Item.self, on: .global()) { items.record($0) }
          .responseStream(using: .passthrough, on: .global()) { passed.record($0) }
          .responseStream(on: .global()) { stream in
            data.record(stream)
            let count = calls.withLock { count in
              count += 1
              return count
            }
            if count < gates.count { gates[count].open() }
          }
          .resume()
        let texts = chunks.map { String(decoding: $0, as: UTF8.self) }
        #expect(await data.first(6).map(\.value) == chunks.map { Data($0) } + [nil])
        let stringEvents = await strings.first(6)
        #expect(stringEvents.map(\.value) == texts + [nil])
        #expect(stringEvents.last?.completion?.response?.statusCode == 200)
        #expect(stringEvents.last?.completion?.error == nil && stringEvents.last?.completion?.metrics != nil)
        #expect(stringEvents.last?.completion?.request?.url == URL(string: url))
        #expect(await items.first(6).map(\.value) == (0..<5).map { Item(number: $0) } + [nil])
        #expect(await passed.first(6).map(\.value) == chunks.map { Data($0) } + [nil])
      }
    }
  }

  @Test("a stream request delivers the completion after each handler, even a slow handler, has received the last part")
  func endBehindEverything() async throws {
    try await withServer { _ in
      .text("piece")
    } _: { origin in
      try await withSession { session in
        let log = Mutex<[String]>([])
        let (began, goOn, ends) = (Gate(), Gate(), Recorder<Void>())
        @Sendable func note(_ text: String) { log.withLock { $0.append(text) } }
        let request = session.streamRequest(origin.url, shouldAutomaticallyResume: false)
          .responseStream(on: DispatchQueue(label: "quick")) { stream in
            note(stream.completion == nil ? "quick" : "end")
            if stream.completion != nil { ends.record(()) }
          }
          .responseStream(on: DispatchQueue(label: "slow")) { stream in
            if stream.completion == nil {
              began.open()
              goOn.waitBlocking()
            }
            note(stream.completion == nil ? "slow" : "end")
            if stream.completion != nil { ends.record(()) }
          }
          .resume()
        await began.wait()
        // The end of the body arrived in the same TCP segment. These requests give the end time to have an effect.
        for _ in 0..<10 { #expect(await session.request(origin.url).serializingString().response.value == "piece") }
        #expect(!request.isFinished && request.metrics == nil)
        goOn.open()
        _ = await ends.first(2)
        #expect(log.withLock { $0 } == ["quick", "slow", "end", "end"])
        #expect(request.isFinished)
      }
    }
  }

  @Test("a stream handler receives one part at a time, even on a concurrent queue", arguments: [true, false])
  func concurrentQueues(isSerialized: Bool) async throws {
    let chunks = (0..<200).map { Array("\($0),".utf8) }
    try await withServer { _ in
      Reply(.chunks(chunks, pause: .zero))
    } _: { origin in
      let session = Session(
        configuration: .af.ephemeral, serializationQueue: DispatchQueue(label: "serialization", attributes: .concurrent)
      )
      let running = Atomic(0)
      let overlaps = Atomic(0)
      let texts = Recorder<String?>()
      let note: @Sendable (String?) -> Void = { text in
        if running.add(1, ordering: .relaxed).oldValue > 0 { overlaps.add(1, ordering: .relaxed) }
        texts.record(text)
        running.subtract(1, ordering: .relaxed)
      }
      let request = session.streamRequest(origin.url)
      if isSerialized {
        request.responseStreamString(on: .global()) { note($0.value) }
      } else {
        request.responseStream(on: .global()) { note($0.value.map { String(decoding: $0, as: UTF8.self) }) }
      }
      var whole = ""
      while let text = await texts.next(), let text { whole += text }
      #expect(whole == (0..<200).map { "\($0)," }.joined())
      #expect(request.error == nil && overlaps.load(ordering: .relaxed) == 0)
    }
  }

  @Test("a stream request without a handler creates no task, and adding the first stream handler resumes the request")
  func lazy() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        #expect(request.isInitialized && request.tasks.isEmpty)
        #expect(await request.outcome().pieces == ["here"])
        #expect(request.isFinished && origin.requestCount == 1)
        // The request stores no bytes, so a handler that is added after the end receives only the completion.
        let late = await request.outcome()
        #expect(late.pieces.isEmpty && late.completion.response?.statusCode == 200)
        #expect(await session.running.isEmpty)
      }
    }
  }

  @Test("a stream request is sent with its method, parameters and fields, and with the modifier's changes")
  func parameters() async throws {
    let seen = Recorder<ReceivedRequest>()
    try await withServer { request in
      seen.record(request)
      return .text("ok")
    } _: { origin in
      try await withSession { session in
        let posted = session.streamRequest(
          origin.url, method: .post, parameters: ["key": "value"], encoder: .json, headers: ["X-Field": "1"],
          requestModifier: { $0.setValue("2", forHTTPHeaderField: "X-Modified") })
        #expect(await posted.outcome().pieces == ["ok"])
        let received = await seen.next()
        #expect(received?.method == "POST" && received?.body == Array(#"{"key":"value"}"#.utf8))
        #expect(received?.fields.first("X-Field") == "1" && received?.fields.first("X-Modified") == "2")
        let plain = session.streamRequest(
          origin.url, method: .delete, headers: ["X-Field": "3"],
          requestModifier: { $0.setValue("4", forHTTPHeaderField: "X-Modified") })
        #expect(await plain.outcome().pieces == ["ok"])
        let deleted = await seen.next()
        #expect(deleted?.method == "DELETE" && deleted?.fields.first("X-Field") == "3")
        #expect(deleted?.fields.first("X-Modified") == "4")
        let put = try URLRequest(url: origin.url, method: .put)
        #expect(await session.streamRequest(put).outcome().pieces == ["ok"])
        #expect(await seen.next()?.method == "PUT")
      }
    }
  }

  @Test("a retried stream request delivers the parts of both responses and one completion")
  func retry() async throws {
    let count = Atomic(0)
    try await withServer { _ in
      count.add(1, ordering: .relaxed).newValue == 1 ? .text("no,", status: 500) : .text("yes")
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url, interceptor: OneRetry()).validate(statusCode: [200])
        let (pieces, completion) = await request.outcome()
        #expect(pieces == ["no,", "yes"])
        #expect(completion.error == nil && completion.response?.statusCode == 200)
        #expect(request.retryCount == 1 && request.tasks.count == 2 && request.allMetrics.count == 2)
      }
    }
  }

  @Test("after a redirect and a challenge, a stream request delivers only the body of the final response")
  func finalBody() async throws {
    try await withServer { request in
      switch (request.path, request.fields.first("Authorization")) {
      case ("/", _): Reply(status: 302, fields: ["Location": "/there"], .bytes(Array("moved".utf8)))
      case (_, nil):
        Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""], .bytes(Array("refused".utf8)))
      default: .text("welcome")
      }
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url).authenticate(username: "u", password: "p")
        let (pieces, completion) = await request.outcome()
        #expect(pieces.joined() == "welcome")
        #expect(completion.error == nil && completion.response?.statusCode == 200)
        #expect(completion.response?.url?.path() == "/there" && origin.requestCount == 3)
        let declining = session.streamRequest(origin.url).redirect(using: .doNotFollow)
        let (parts, end) = await declining.outcome()
        #expect(parts.joined() == "moved")
        #expect(end.error == nil && end.response?.statusCode == 302)
      }
    }
  }

  @Test("a stream's progress counts the received bytes")
  func progress() async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: 1_000_000))
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        let seen = Recorder<Int64>()
        request.downloadProgress(queue: request.underlyingQueue) { seen.record($0.completedUnitCount) }
        _ = await request.outcome()
        var last: Int64 = 0
        while last < 1_000_000, let count = await seen.next() {
          // All updates share one Progress object, so a delayed handler may read a later count.
          #expect(count >= last)
          last = count
        }
        #expect(request.downloadProgress.fractionCompleted == 1)
      }
    }
  }

  @Test(
    "when a stream request is released, the deinit of an object that its handler captured can read the task's state"
  )
  func lastReference() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let gone = Gate()
        do {
          let asking = Asking(gone)
          let request = session.streamRequest(origin.url)
          request.onURLSessionTaskCreation(on: request.underlyingQueue) { asking.task.store($0) }
          request.responseStream(on: request.underlyingQueue) { _ in }
        }
        await gone.wait()
      }
    }
  }
}

/// An object whose deinit reads the state of a task.
private final class Asking: Sendable {
  final class Box: Sendable {
    private let task = Mutex<URLSessionTask?>(nil)

    func store(_ task: URLSessionTask) { self.task.withLock { $0 = task } }

    var state: URLSessionTask.State? { task.withLock { $0 }?.state }
  }

  let task = Box()
  private let gone: Gate

  init(_ gone: Gate) { self.gone = gone }

  deinit {
    if task.state != nil { gone.open() }
  }
}
