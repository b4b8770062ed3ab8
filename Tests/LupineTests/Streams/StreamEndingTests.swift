// Stream requests that end early: by a handler's error, a piece that can't be decoded, cancellation or validation.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct StreamEndingTests {
  @Test(
    "an error thrown by a stream's handler cancels the request, and becomes the request's error",
    arguments: ["/short", "/endless"])
  func throwing(path: String) async throws {
    try await withEndlessServer { origin in
      try await withSession { session in
        let watch = StreamWatch()
        let request = session.streamRequest(origin.url + path).eventMonitor(watch)
        let calls = Atomic(0)
        let other = Recorder<DataStreamRequest.Stream<Data, Never>>()
        request.responseStream(on: .global()) { stream in
          if stream.completion == nil { calls.add(1, ordering: .relaxed) }
          throw Mishap("thrown")
        }
        request.responseStream(on: .global()) { other.record($0) }
        let completion = await other.untilComplete().completion
        #expect(completion.error?.isExplicitlyCancelledError == false)
        guard case .responseSerializationFailed(.customSerializationFailed(let error)) = completion.error else {
          Issue.record("\(String(describing: completion.error))")
          return
        }
        #expect(error as? Mishap == Mishap("thrown"))
        #expect(request.isCancelled)
        // The handler is called again with the completion, and throws again, which has no effect.
        #expect(calls.load(ordering: .relaxed) == 1)
        #expect(await watch.events.next() == "failed early")
      }
    }
  }

  @Test("if a stream's handler throws an AFError, the error isn't wrapped in another AFError")
  func throwingAFError() async throws {
    try await withServer { _ in
      .text("piece")
    } _: { origin in
      try await withSession { session in
        let events = Recorder<DataStreamRequest.Stream<Data, Never>>()
        session.streamRequest(origin.url).responseStream(on: .global()) { stream in
          events.record(stream)
          throw AFError.responseSerializationFailed(reason: .inputFileNil)
        }
        guard case .responseSerializationFailed(.inputFileNil) = await events.untilComplete().completion.error else {
          Issue.record("the error isn't the handler's")
          return
        }
      }
    }
  }

  @Test("a stream request whose part can't be decoded is cancelled only if automaticallyCancelOnStreamError is true")
  func undecodable() async throws {
    try await withChunks([Array("no JSON".utf8), Array("1".utf8)]) { url, gates in
      try await withSession { session in
        let events = Recorder<DataStreamRequest.Stream<Int, AFError>>()
        let request = session.streamRequest(url, automaticallyCancelOnStreamError: true)
        #expect(request.automaticallyCancelOnStreamError)
        request.responseStreamDecodable(on: .global()) { events.record($0) }
        let first = await events.first(2)
        guard case .responseSerializationFailed(.decodingFailed) = first[0].error else {
          Issue.record("\(first[0])")
          return
        }
        #expect(first[1].completion?.error?.isExplicitlyCancelledError == true)
        #expect(request.isCancelled)
      }
    }
    try await withChunks([Array("no JSON".utf8), Array("1".utf8)]) { url, gates in
      try await withSession { session in
        let events = Recorder<DataStreamRequest.Stream<Int, AFError>>()
        session.streamRequest(url).responseStreamDecodable(on: .global()) { stream in
          events.record(stream)
          if stream.error != nil { gates[1].open() }
          if stream.value != nil { gates[2].open() }
        }
        let all = await events.first(3)
        #expect(all[0].error != nil && all[0].value == nil)
        #expect(all[1].value == 1)
        #expect(all[2].completion != nil && all[2].completion?.error == nil)
      }
    }
  }

  @Test("customSerializationFailed wraps an error that a stream serializer throws")
  func serializerError() async throws {
    struct Refusing: DataStreamSerializer {
      func serialize(_ data: Data) throws -> Int { throw Mishap("refused") }
    }
    try await withServer { _ in
      .text("piece")
    } _: { origin in
      try await withSession { session in
        let events = Recorder<DataStreamRequest.Stream<Int, AFError>>()
        session.streamRequest(origin.url).responseStream(using: Refusing(), on: .global()) { events.record($0) }
        let error = await events.next()?.error
        guard case .responseSerializationFailed(.customSerializationFailed(let underlying)) = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(underlying as? Mishap == Mishap("refused"))
      }
    }
  }

  // MARK: Response heads

  @Test("a stream's response head is delivered before the body, even if the onHTTPResponse handler is slow")
  func headFirst() async throws {
    try await withServer { _ in
      .text("piece")
    } _: { origin in
      try await withSession { session in
        let log = Mutex<[String]>([])
        let (asked, goOn) = (Gate(), Gate())
        let request = session.streamRequest(origin.url)
        request.onHTTPResponse(on: DispatchQueue(label: "head")) { response in
          asked.open()
          goOn.waitBlocking()
          log.withLock { $0.append("head \(response.statusCode)") }
        }
        async let outcome = request.outcome()
        await asked.wait()
        for _ in 0..<10 { #expect(await session.request(origin.url).serializingString().response.value == "piece") }
        #expect(request.task?.countOfBytesReceived == 0)
        goOn.open()
        #expect(await outcome.pieces == ["piece"])
        #expect(log.withLock { $0 } == ["head 200"])
      }
    }
  }

  @Test(
    "if the onHTTPResponse handler cancels a stream request, the stream delivers no part of the body",
    arguments: [true, false])
  func refusedByHead(isAwaited: Bool) async throws {
    try await withEndlessServer { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        if isAwaited {
          request.onHTTPResponse { _ async in
            await Task.yield()
            return .cancel
          }
        } else {
          request.onHTTPResponse(on: .global()) { _, answer in answer(.cancel) }
        }
        let (pieces, completion) = await request.outcome()
        #expect(pieces.isEmpty)
        #expect(completion.error?.isExplicitlyCancelledError == true && completion.response?.statusCode == 200)
        #expect(request.isCancelled)
      }
    }
  }

  // MARK: Canceling

  @Test(
    "cancelling a stream request with its cancellation token ends it, and parts received meanwhile aren't delivered")
  func token() async throws {
    try await withChunks([Array("one".utf8), Array("two".utf8)]) { url, gates in
      try await withSession { session in
        let events = Recorder<DataStreamRequest.Stream<Data, Never>>()
        let (began, goOn) = (Gate(), Gate())
        let request = session.streamRequest(url)
        request.responseStream(on: DispatchQueue(label: "cancelling")) { stream in
          events.record(stream)
          guard stream.completion == nil else { return }
          began.open()
          goOn.waitBlocking()
          stream.token.cancel()
        }
        await began.wait()
        gates[1].open()
        #expect(await settles { request.task?.countOfBytesReceived == 6 })
        goOn.open()
        let (pieces, completion) = await events.untilComplete()
        #expect(pieces == ["one"])
        #expect(completion.error?.isExplicitlyCancelledError == true)
      }
    }
  }

  @Test("the cancellation token of a finished stream request has no effect, and doesn't retain the request")
  func lateToken() async throws {
    try await withServer { _ in
      .text("piece")
    } _: { origin in
      try await withSession { session in
        let events = Recorder<DataStreamRequest.Stream<Data, Never>>()
        weak var weakly: DataStreamRequest?
        do {
          let request = session.streamRequest(origin.url)
          weakly = request
          request.responseStream(on: .global()) { events.record($0) }
        }
        let first = await events.next()
        let completion = await events.untilComplete().completion
        first?.cancel()
        #expect(completion.error == nil)
        #expect(await settles { weakly == nil })
        first?.token.cancel()
      }
    }
  }

  // MARK: Errors and validation

  @Test("if the connection is lost, a stream delivers the parts that were received, and then the error")
  func connectionLost() async throws {
    try await withOrigin { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
    } _: { origin in
      try await withSession { session in
        let (pieces, completion) = await session.streamRequest(origin.url).outcome()
        #expect(pieces.joined() == "hello")
        #expect((completion.error?.underlyingError as? URLError)?.code == .networkConnectionLost)
        #expect(completion.response?.statusCode == 200)
      }
    }
  }

  @Test("a stream request that can't be created ends with its error and delivers no parts")
  func invalidURL() async throws {
    try await withSession { session in
      let (pieces, completion) = await session.streamRequest("").outcome()
      #expect(pieces.isEmpty && completion.error?.isInvalidURLError == true && completion.request == nil)
    }
  }

  @Test("a stream request's validation fails after the received parts have been delivered")
  func validation() async throws {
    try await withServer { request in
      .text("piece", status: request.path == "/404" ? 404 : 200)
    } _: { origin in
      try await withSession { session in
        let watch = StreamWatch()
        let missing = await session.streamRequest(origin.url + "/404").validate().eventMonitor(watch).outcome()
        #expect(missing.pieces == ["piece"])
        #expect(missing.completion.error?.responseCode == 404)
        #expect(await watch.events.next() == "validated 404: false")
        let image = session.streamRequest(origin.url).validate(contentType: ["image/*"])
        guard case .responseValidationFailed(.unacceptableContentType) = await image.outcome().completion.error else {
          Issue.record("the content type passed, or failed for another reason")
          return
        }
        let accepting = session.streamRequest(origin.url, headers: ["Accept": "text/*"]).validate()
        #expect(await accepting.outcome().completion.error == nil)
        let demanding = session.streamRequest(origin.url, headers: ["Accept": "image/png"]).validate()
        #expect(await demanding.outcome().completion.error?.isResponseValidationError == true)
        let refused = session.streamRequest(origin.url).validate { _, _ in .failure(Mishap("refused")) }
        guard
          case .responseValidationFailed(.customValidationFailed(let error)) = await refused.outcome().completion.error
        else {
          Issue.record("the closure's error isn't the reason")
          return
        }
        #expect(error as? Mishap == Mishap("refused"))
      }
    }
  }

  @Test("a stream's content type is validated even if the body is empty")
  func typeWithoutBody() async throws {
    try await withServer { _ in
      Reply(fields: ["Content-Type": "text/plain"])
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url).validate(contentType: ["image/png"])
        #expect(await request.outcome().completion.error?.isResponseValidationError == true)
      }
    }
  }

  // MARK: Monitors

  @Test("a monitor is notified of each serialized part before the handler is called, and finally of the completion")
  func monitor() async throws {
    try await withServer { _ in
      .text("1")
    } _: { origin in
      try await withSession { session in
        let watch = StreamWatch(isDetailed: true)
        let request = session.streamRequest(origin.url).validate().eventMonitor(watch)
        request.responseStreamDecodable(of: Int.self, on: .global()) { stream in
          // The handler's call is recorded on the monitor's queue, in order with the monitor's events.
          let words = stream.completion == nil ? "handled" : "ended"
          watch.queue.async { watch.events.record(words) }
        }
        let events = await watch.events.first(8)
        #expect(
          events == [
            "parsed 1", "handled", "metrics", "validated 200: true", "validated 200: true", "completed", "finished",
            "ended",
          ])
      }
    }
  }
}

/// An event monitor that records the events of stream requests as text.
private final class StreamWatch: EventMonitor {
  let queue = DispatchQueue(label: "watch")
  let events = Recorder<String>()
  /// Whether the monitor also records the events of all kinds of requests, such as `requestDidFinish`.
  private let isDetailed: Bool

  init(isDetailed: Bool = false) {
    self.isDetailed = isDetailed
  }

  func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
    events.record("parsed \((try? result.get()).map { "\($0)" } ?? "nothing")")
  }

  func request(
    _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
    withResult result: Request.ValidationResult
  ) {
    events.record("validated \(response.statusCode): \((try? result.get()) != nil)")
  }

  func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
    events.record("failed early")
  }

  func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) { detail("metrics") }

  func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) { detail("completed") }

  func requestDidFinish(_ request: Request) { detail("finished") }

  private func detail(_ words: String) {
    if isDetailed { events.record(words) }
  }
}
