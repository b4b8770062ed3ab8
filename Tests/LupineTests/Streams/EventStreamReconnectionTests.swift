// EventStreamReconnectionTests: when requests for event streams reconnect, and when they end and report where.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct EventStreamReconnectionTests {
  /// Sends an event and a part of another one, and then closes the connection in the middle of the body.
  private static let interrupted: EventServer.Script = { peer in
    try peer.events("id: 1\ndata: 1\n\nid: 2\ndata: 2")
    peer.finishSending()
  }

  // MARK: GET

  @Test("after the end of a response or a lost connection, a GET reconnects with the ID of the last complete event")
  func reconnects() async throws {
    try await withEventServer([
      { try $0.allEvents("id: a\ndata: 1\n\n") }, Self.interrupted, { $0.reset() },
      { try $0.allEvents("data: 3\n\nid\ndata: 4\n\n") }, { try $0.allEvents("data: 5\n\n") },
    ]) { server in
      try await withSession { session in
        let request = session.eventStreamRequest(server.url, options: .quick)
        let (events, error) = await request.allEvents()
        #expect(error == nil)
        #expect(events.map(\.data) == ["1", "1", "3", "4", "5"] && events.map(\.id) == ["a", "1", "1", "", ""])
        #expect(server.requests.map { $0.fields.first("Last-Event-ID") } == [nil, "a", "1", "1", nil, nil])
        #expect(request.retryCount == 5 && request.lastEventID == nil && request.tasks.count == 6)
      }
    }
  }

  @Test("a server that sends nothing for too long counts as lost, before its response and during it")
  func silence() async throws {
    let ended = Recorder<Void>()
    try await withEventServer([
      { peer in
        try peer.events("id: 1\ndata: 1\n\n")
        _ = try peer.awaitClose()
        ended.record(())
      },
      { peer in
        _ = try peer.awaitClose()
        ended.record(())
      },
    ]) { server in
      try await withSession { session in
        let options = EventStreamOptions.quick.with { $0.silenceMax = .seconds(1) }
        let (events, error) = await session.eventStreamRequest(server.url, options: options).allEvents()
        #expect(events.map(\.data) == ["1"] && error == nil)
        #expect(server.requests.map { $0.fields.first("Last-Event-ID") } == [nil, "1", "1"])
        #expect(await ended.first(2).count == 2)
      }
    }
  }

  @Test("the number of attempts without an event is limited, and the last error is reported")
  func attemptLimit() async throws {
    let options = EventStreamOptions.quick.with { $0.reconnectionsMax = 2 }
    let end: EventServer.Script = { try $0.allEvents(": comment\n\n") }
    try await withEventServer([{ try $0.allEvents("id: 1\ndata: 1\n\n") }, end, { $0.reset() }, end]) { server in
      try await withSession { session in
        let (events, error) = await session.eventStreamRequest(server.url, options: options).allEvents()
        #expect(events.count == 1 && (error?.underlyingError as? URLError)?.code == .networkConnectionLost)
        #expect(server.requests.count == 3)
      }
    }
    try await withEventServer([end, end, { try $0.allEvents("id: 1\ndata: 1\n\n") }, end, end, end]) { server in
      try await withSession { session in
        let (events, error) = await session.eventStreamRequest(server.url, options: options).allEvents()
        #expect(events.count == 1 && server.requests.count == 5)
        #expect(error?.interruption?.reason == .tooManyReconnections && error?.interruption?.lastEventID == "1")
      }
    }
    try await withEventServer([end]) { server in
      try await withSession { session in
        let options = options.with { $0.reconnectionsMax = 0 }
        #expect(await session.eventStreamRequest(server.url, options: options).allEvents().error == nil)
        #expect(server.requests.count == 1)
      }
    }
  }

  @Test("an ID that a field can't contain ends the stream instead of being sent")
  func unsendableID() async throws {
    try await withEventServer {
      try $0.allEvents("id: a\u{1B}[0m\ndata: 1\n\n")
    } body: { server in
      try await withSession { session in
        let (events, error) = await session.eventStreamRequest(server.url, options: .quick).allEvents()
        #expect(events.map(\.data) == ["1"] && error?.interruption?.reason == .unsendableID)
        #expect(error?.interruption?.description.contains("\u{1B}") == false)
        #expect(server.requests.count == 1)
      }
    }
  }

  @Test("the session's and the request's retriers decide before the stream does")
  func retriers() async throws {
    struct Refusal: Error {}
    try await withEventServer([
      { try $0.respond(status: 503, fields: ["Connection": "close"]) }, { try $0.allEvents("data: 1\n\n") },
      { try $0.allEvents("data: 2\n\n") },
    ]) { server in
      try await withSession { session in
        // Without a decision, the response with 503 would end the stream.
        let retrier = ScriptedRetrier([.retry, .doNotRetry, .doNotRetryWithError(Refusal())])
        let request = session.eventStreamRequest(server.url, options: .quick).retry(using: retrier)
        let (events, error) = await request.allEvents()
        #expect(events.map(\.data) == ["1", "2"] && server.requests.count == 3)
        #expect(error?.isRequestRetryError == true)
        #expect(retrier.errors.entries.map { $0?.responseCode } == [503, nil, nil])
        #expect(retrier.errors.entries.last??.interruption != nil)
      }
    }
  }

  @Test("a request that is cancelled while it waits to reconnect isn't sent again")
  func cancelledWait() async throws {
    try await withEventServer {
      try $0.allEvents("data: 1\n\n")
    } body: { server in
      try await withSession { session in
        let options = EventStreamOptions.quick.with {
          ($0.retryDelay, $0.retryDelayMax) = (.seconds(3600), .seconds(3600))
        }
        let retrier = ScriptedRetrier([], onAsk: { request in request.underlyingQueue.async { request.cancel() } })
        let request = session.eventStreamRequest(server.url, options: options).retry(using: retrier)
        let (events, error) = await request.allEvents()
        #expect(events.count == 1 && error?.interruption?.reason == .responseEnded && server.requests.count == 1)
      }
    }
  }

  // MARK: POST

  @Test("the end of a POST's response ends the stream")
  func completePost() async throws {
    try await withEventServer {
      try $0.allEvents("id: 1\ndata: 1\n\n")
    } body: { server in
      try await withSession { session in
        let (events, error) = await session.eventStreamRequest(server.url, method: .post, options: .quick).allEvents()
        #expect(events.count == 1 && error == nil && server.requests.count == 1)
      }
    }
  }

  @Test("an interrupted POST is never sent again, whatever retriers decide, and its error reports where it ended")
  func interruptedPost() async throws {
    try await withEventServer([Self.interrupted, { try $0.events() }]) { server in
      try await withSession { session in
        let retrier = ScriptedRetrier([.retry, .retry])
        let request = session.eventStreamRequest(server.url, method: .post, options: .quick).retry(using: retrier)
        let (events, error) = await request.allEvents()
        let interruption = try #require(error?.interruption)
        #expect(events.map(\.data) == ["1"] && interruption.lastEventID == "1" && interruption.reason == .notRepeatable)
        #expect((interruption.underlyingError?.underlyingError as? URLError)?.code == .networkConnectionLost)
        #expect(interruption.description.contains("after the event with the ID \"1\""))
        // Also if no event has arrived.
        let other = session.eventStreamRequest(server.url, method: .post, options: .quick).retry(using: retrier)
        let second = await other.allEvents().error?.interruption
        #expect(second?.reason == .notRepeatable && second?.lastEventID == nil)
        #expect(server.requests.count == 2 && retrier.errors.entries.isEmpty)
      }
    }
  }

  @Test("a POST whose response hasn't begun is sent again only if a retrier decides so")
  func unansweredPost() async throws {
    try await withEventServer([
      { $0.reset() }, { try $0.respond(status: 401, fields: ["Connection": "close"]) },
      { try $0.allEvents("data: 1\n\n") },
      { $0.reset() },
    ]) { server in
      try await withSession { session in
        let retrier = ScriptedRetrier([.retry, .retry])
        let (events, error) = await session.eventStreamRequest(server.url, method: .post, options: .quick)
          .retry(using: retrier).allEvents()
        #expect(events.map(\.data) == ["1"] && error == nil && server.requests.count == 3)
        let options = EventStreamOptions.quick.with { $0.resumesAnyMethod = true }
        let lost = await session.eventStreamRequest(server.url, method: .post, options: options).allEvents().error
        #expect((lost?.underlyingError as? URLError)?.code == .networkConnectionLost && server.requests.count == 4)
      }
    }
  }

  @Test(
    "with resumesAnyMethod, an interrupted POST is sent again with its body and Last-Event-ID, but only if there is an ID"
  )
  func resumedPost() async throws {
    try await withEventServer([
      Self.interrupted, { try $0.allEvents("id: 2\ndata: 2\n\n") },
      { peer in
        try peer.events("data: 1\n\n")
        peer.finishSending()
      },
    ]) { server in
      try await withSession { session in
        let options = EventStreamOptions.quick.with { $0.resumesAnyMethod = true }
        let request = session.eventStreamRequest(
          server.url, method: .post, parameters: ["prompt": "x"], encoder: JSONParameterEncoder.default,
          options: options)
        let (events, error) = await request.allEvents()
        #expect(events.map(\.data) == ["1", "2"] && error == nil && request.lastEventID == "2")
        #expect(
          server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"prompt":"x"}"#, #"{"prompt":"x"}"#])
        #expect(server.requests.map { $0.fields.first("Last-Event-ID") } == [nil, "1"])
        let second = await session.eventStreamRequest(server.url, method: .post, options: options).allEvents()
        #expect(second.events.count == 1 && second.error?.interruption?.reason == .missingID)
        #expect(server.requests.count == 3)
      }
    }
  }

  // MARK: The rule

  @Test(
    "the delay is the server's or the option's, doubles with each attempt, keeps its limits, and grows at random by up to half"
  )
  func delays() {
    var options = EventStreamOptions()
    (options.retryDelay, options.retryDelayMin, options.retryDelayMax) = (.seconds(3), .seconds(1), .seconds(20))
    func delays(_ count: Int, retry: Duration?, random: Double = 0) -> [Duration?] {
      var rule = EventStreamReconnection(options)
      return (0..<count).map { _ in rule.delayBeforeNext(retry: retry, random: random) }
    }
    options.reconnectionsMax = 5
    #expect(delays(6, retry: nil) == [3, 6, 12, 20, 20].map { .seconds($0) } + [nil])
    #expect(delays(3, retry: .seconds(8)) == [8, 16, 20].map { .seconds($0) })
    #expect(delays(2, retry: .zero) == [1, 2].map { .seconds($0) })
    #expect(delays(1, retry: .seconds(1_000_000)) == [.seconds(20)])
    #expect(delays(2, retry: nil, random: 1) == [.milliseconds(4500), .seconds(9)])
    options.reconnectionsMax = 1000
    #expect(delays(1000, retry: nil, random: 1).last == .seconds(30))
    (options.retryDelay, options.retryDelayMin, options.retryDelayMax) = (.zero, .zero, .zero)
    #expect(delays(1000, retry: nil).last == .zero)
  }

  @Test("an event resets the number of attempts")
  func resetByEvent() {
    var rule = EventStreamReconnection(EventStreamOptions())
    for _ in 0..<10 { #expect(rule.delayBeforeNext(retry: .seconds(1), random: 0) != nil) }
    #expect(rule.delayBeforeNext(retry: .seconds(1), random: 0) == nil)
    rule.didReceiveEvent()
    #expect(rule.delayBeforeNext(retry: .seconds(1), random: 0) == .seconds(1))
  }

  @Test("the time that the server has sent is used for later connections, until it sends another one")
  func serversTime() throws {
    let stream = EventStream(EventStreamOptions(), random: { 0 })
    let error = AFError.sessionTaskFailed(error: URLError(.networkConnectionLost))
    var parser = EventStreamParser()
    func note(_ text: String) throws {
      var index = 0
      let bytes = Array(text.utf8)
      while try parser.next(in: bytes.span, from: &index) != nil {}
      stream.note(parser, isEvent: true)
    }
    func delay() -> TimeInterval? { stream.reconnection(.get, after: nil, dueTo: error).delay }
    #expect(delay() == 3)
    try note("retry: 7000\ndata\n\n")
    #expect(delay() == 7)
    parser.restart()
    try note("data\n\n")
    #expect(delay() == 7)
    try note("retry: 99999999999\ndata\n\n")
    #expect(delay() == 300)
    try note("retry: 0\ndata\n\n")
    #expect(delay() == 0.5)
  }

  @Test("a retrier's delay is extended to the server's time after a lost connection, but not after another failure")
  func retriersDelay() throws {
    let stream = EventStream(EventStreamOptions())
    let (lost, refused): (AFError, AFError) = (
      .sessionTaskFailed(error: URLError(.networkConnectionLost)),
      .responseValidationFailed(reason: .unacceptableStatusCode(code: 401))
    )
    func delay(_ result: RetryResult, _ error: AFError) -> TimeInterval? {
      stream.decision(after: result, .get, nil, dueTo: error).delay
    }
    #expect(delay(.retry, lost) == nil)
    var parser = EventStreamParser()
    var index = 0
    _ = try parser.next(in: Array("retry: 7000\n".utf8).span, from: &index)
    stream.note(parser, isEvent: false)
    #expect(delay(.retry, lost) == 7 && delay(.retryWithDelay(9), lost) == 9 && delay(.retryWithDelay(1), lost) == 7)
    #expect(delay(.retry, refused) == nil && delay(.retryWithDelay(1), refused) == 1)
    guard case .doNotRetryWithError = stream.decision(after: .doNotRetryWithError(lost), .get, nil, dueTo: lost) else {
      Issue.record("the retrier's error is ignored")
      return
    }
  }

  @Test("errors that a retry can't correct aren't retried")
  func permanentErrors() {
    let stream = EventStream(EventStreamOptions())
    for code in [
      URLError.Code.unsupportedURL, .badURL, .serverCertificateUntrusted, .cancelled, .dataLengthExceedsMaximum,
    ] {
      let error = AFError.sessionTaskFailed(error: URLError(code))
      #expect(!stream.reconnection(.get, after: nil, dueTo: error).retryRequired)
    }
  }
}
