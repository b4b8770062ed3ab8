// EventStreamTests: the events of requests for event streams: handlers, sequences, checks, and limits.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct EventStreamTests {
  private struct Item: Codable, Sendable, Equatable { var number: Int }

  @Test("handlers and sequences receive the events of a stream, whole or decoded, and then the completion")
  func events() async throws {
    let text =
      "id: 1\ndata: {\"number\":1}\n\n: comment\n\nevent: other\ndata: {\"number\":\ndata: 2}\n\ndata: unfinished"
    try await withEventServer { peer in
      // Each byte arrives in a separate chunk.
      try peer.beginChunked(fields: ["Content-Type": "Text/Event-Stream; charset=utf-8"])
      for byte in text.utf8 { try peer.chunk([byte]) }
      try peer.endChunked()
    } body: { server in
      try await withSession { session in
        let events = Recorder<DataStreamRequest.Stream<ServerSentEvent, AFError>>()
        let items = Recorder<DataStreamRequest.Stream<Item, AFError>>()
        let request = session.eventStreamRequest(
          server.url, method: .post, shouldAutomaticallyResume: false)
        request.responseStreamEvents(on: .global()) { events.record($0) }
          .responseStreamEvents(of: Item.self, on: .global()) { items.record($0) }
          .resume()
        #expect(
          await events.first(3).map(\.value) == [
            ServerSentEvent(id: "1", data: #"{"number":1}"#),
            ServerSentEvent(id: "1", type: "other", data: "{\"number\":\n2}"), nil,
          ])
        let received = await items.first(3)
        #expect(received.map(\.value) == [Item(number: 1), Item(number: 2), nil])
        let completion = try #require(received.last?.completion)
        #expect(completion.error == nil && completion.response?.statusCode == 200 && completion.metrics != nil)
        #expect(request.lastEventID == "1" && request.retryCount == 0)
      }
    }
  }

  @Test("a request for an event stream has fields and time limits for one, unless the caller has set them")
  func fields() async throws {
    try await withEventServer {
      try $0.noContent()
    } body: { server in
      try await withSession { session in
        let first = session.eventStreamRequest(server.url, options: .quick.with { $0.lastEventID = "41" })
        #expect(await first.allEvents().error == nil)
        let timeouts = try #require(first.lastRequest?.lupine.timeouts)
        #expect(timeouts.total == nil && timeouts.idle == .seconds(300) && timeouts.firstByte == .seconds(300))
        #expect(timeouts.connect == Timeouts().connect)
        let second = session.eventStreamRequest(
          server.url, headers: ["Accept": "application/json, text/event-stream", "Cache-Control": "no-cache"]
        ).lupine { $0.timeouts = Timeouts(everyPhase: .seconds(41), total: .seconds(99)) }
        #expect(await second.allEvents().error == nil)
        #expect(second.lastRequest?.lupine.timeouts == Timeouts(everyPhase: .seconds(41), total: .seconds(99)))
        func values(_ name: String) -> [String?] { server.requests.map { $0.fields.first(name) } }
        #expect(values("Accept") == ["text/event-stream", "application/json, text/event-stream"])
        #expect(values("Cache-Control") == ["no-store", "no-cache"])
        #expect(values("Last-Event-ID") == ["41", nil])
      }
    }
  }

  @Test("the status code 204 ends a stream, also after other responses")
  func noContent() async throws {
    try await withEventServer {
      try $0.allEvents("data: 1\n\n")
    } body: { server in
      try await withSession { session in
        let request = session.eventStreamRequest(server.url, options: .quick)
        let (events, error) = await request.allEvents()
        #expect(events.map(\.data) == ["1"] && error == nil)
        #expect(request.response?.statusCode == 204 && server.requests.count == 2)
      }
    }
  }

  @Test(
    "a response with another status code or media type fails the request, is never parsed, and isn't requested again")
  func refusals() async throws {
    let scripts: [(EventServer.Script, (AFError) -> Bool)] = [
      (
        { try $0.respond(status: 503, fields: ["Content-Type": "text/event-stream"], body: Array("data: x\n\n".utf8)) },
        { $0.responseCode == 503 }
      ),
      ({ try $0.respond(status: 201, fields: ["Content-Type": "text/event-stream"]) }, { $0.responseCode == 201 }),
      (
        {
          try $0.events("data: x\n\n", type: "text/plain")
          _ = try $0.awaitClose()
        }, { $0.responseContentType == "text/plain" }
      ),
      ({ try $0.respond(fields: ["Connection": "close"]) }, { $0.isResponseValidationError }),
    ]
    for (script, isExpected) in scripts {
      try await withEventServer([script]) { server in
        try await withSession { session in
          let (events, error) = await session.eventStreamRequest(server.url, options: .quick).allEvents()
          #expect(events.isEmpty && error.map(isExpected) == true, "\(String(describing: error))")
          #expect(server.requests.count == 1)
        }
      }
    }
  }

  @Test("an endless response of another media type is cancelled when its first bytes have arrived")
  func endlessPage() async throws {
    let closed = Recorder<Void>()
    try await withEventServer { peer in
      try peer.events("<html>", type: "text/html")
      _ = try peer.awaitClose()
      closed.record(())
    } body: { server in
      try await withSession { session in
        let (events, error) = await session.eventStreamRequest(server.url, options: .quick).allEvents()
        #expect(events.isEmpty && error?.responseContentType == "text/html")
        #expect(await closed.next() != nil)
      }
    }
  }

  @Test("leaving the loop, or cancelling its Swift task, cancels the request; the loop of a cancelled task throws")
  func cancellation() async throws {
    let closed = Recorder<Void>()
    let script: EventServer.Script = { peer in
      try peer.events("data: 1\n\n")
      _ = try peer.awaitClose()
      closed.record(())
    }
    try await withEventServer([script, script]) { server in
      try await withSession { session in
        let left = session.eventStreamRequest(server.url, options: .quick)
        for try await event in left.streamTask().streamingEvents() {
          #expect(event.data == "1")
          break
        }
        #expect(await closed.next() != nil)
        #expect(left.isCancelled)
        let began = Recorder<Void>()
        let task = Task {
          for try await _ in session.eventStreamRequest(server.url, options: .quick).streamTask().streamingEvents() {
            began.record(())
          }
        }
        #expect(await began.next() != nil)
        task.cancel()
        let error = await #expect(throws: AFError.self) { try await task.value }
        #expect(error?.isExplicitlyCancelledError == true)
        #expect(await closed.next() != nil)
        #expect(server.requests.count == 2)
      }
    }
  }

  @Test("the event with the end marker ends a sequence, which doesn't contain it, and the request isn't sent again")
  func endMarker() async throws {
    let closed = Recorder<Void>()
    let script: EventServer.Script = { peer in
      try peer.events("data: {\"number\":1}\n\ndata: [DONE]\n\ndata: {\"number\":2}\n\n")
      _ = try peer.awaitClose()
      closed.record(())
    }
    try await withEventServer([
      script, script, { try $0.allEvents("data: {\"number\":1}\n\ndata: [DONE]\n\ndata: x\n\n") },
    ]) { server in
      try await withSession { session in
        var items: [Item] = []
        let request = session.eventStreamRequest(server.url, method: .post)
        for try await item in request.streamTask().streamingEvents(of: Item.self, endingAt: "[DONE]") {
          items.append(item)
        }
        #expect(items == [Item(number: 1)])
        #expect(await closed.next() != nil)
        var events: [String] = []
        for try await event in session.eventStreamRequest(server.url, options: .quick).streamTask()
          .streamingEvents(endingAt: "[DONE]")
        { events.append(event.data) }
        #expect(events == [#"{"number":1}"#])
        #expect(await closed.next() != nil)
        // A handler receives neither the marker nor later events, and a GET doesn't reconnect.
        let received = Recorder<DataStreamRequest.Stream<Item, AFError>>()
        session.eventStreamRequest(server.url, options: .quick)
          .responseStreamEvents(of: Item.self, endingAt: "[DONE]", on: .global()) { received.record($0) }
        let streams = await received.first(2)
        #expect(streams.map(\.value) == [Item(number: 1), nil] && streams[1].completion?.error == nil)
        #expect(server.requests.count == 3)
      }
    }
  }

  @Test(
    "an event that can't be decoded is a failure for a handler, which receives later events, and is thrown by a sequence"
  )
  func undecodable() async throws {
    let text = "data: {\"number\":1}\n\ndata: x\n\ndata: {\"number\":2}\n\n"
    try await withEventServer([{ try $0.allEvents(text) }, { try $0.allEvents(text) }, { try $0.allEvents(text) }]) {
      server in
      try await withSession { session in
        let received = Recorder<DataStreamRequest.Stream<Item, AFError>>()
        session.eventStreamRequest(server.url, method: .post)
          .responseStreamEvents(of: Item.self, on: .global()) { received.record($0) }
        let streams = await received.first(4)
        #expect(streams.map(\.value) == [Item(number: 1), nil, Item(number: 2), nil])
        #expect(streams[1].error?.isResponseSerializationError == true && streams[3].completion?.error == nil)
        session.eventStreamRequest(server.url, method: .post, automaticallyCancelOnStreamError: true)
          .responseStreamEvents(of: Item.self, on: .global()) { received.record($0) }
        let cancelled = await received.first(3)
        #expect(cancelled.map(\.value) == [Item(number: 1), nil, nil])
        #expect(cancelled[2].completion?.error?.isExplicitlyCancelledError == true)
        var items: [Item] = []
        await #expect(throws: AFError.self) {
          for try await item in session.eventStreamRequest(server.url, method: .post).streamTask()
            .streamingEvents(of: Item.self)
          { items.append(item) }
        }
        #expect(items == [Item(number: 1)])
      }
    }
  }

  @Test("an event, a line or an ID that exceeds its limit fails the request, which isn't sent again")
  func limits() async throws {
    let options = EventStreamOptions.quick.with {
      ($0.limits.lineBytesMax, $0.limits.eventBytesMax, $0.limits.idBytesMax) = (100, 150, 10)
    }
    let cases: [(String, EventStreamError)] = [
      (String(repeating: "x", count: 200), .lineTooLong(bytesMax: 100)),
      (String(repeating: "data: xxxxxxxxxxxxxxxx\n", count: 20), .eventTooLong(bytesMax: 150)),
      ("id: 12345678901\n", .idTooLong(bytesMax: 10)),
    ]
    for (text, limit) in cases {
      let closed = Recorder<Void>()
      try await withEventServer { peer in
        try peer.events("id: 1\ndata: 1\n\n", text)
        _ = try peer.awaitClose()
        closed.record(())
      } body: { server in
        try await withSession { session in
          let request = session.eventStreamRequest(server.url, options: options)
          let (events, error) = await request.allEvents()
          #expect(events.map(\.data) == ["1"] && error?.exceededLimit == limit, "\(String(describing: error))")
          #expect(await closed.next() != nil)
          #expect(server.requests.count == 1 && request.lastEventID == "1")
        }
      }
    }
  }

  @Test("a stream request without an event stream parses the events of any response, and checks nothing")
  func plainStream() async throws {
    try await withEventServer {
      try $0.respond(status: 500, body: Array("id: 7\ndata: x\n\n".utf8))
    } body: { server in
      try await withSession { session in
        let request = session.streamRequest(server.url)
        let (events, error) = await request.allEvents()
        #expect(events == [ServerSentEvent(id: "7", data: "x")] && error == nil && request.lastEventID == "7")
      }
    }
  }

  @Test("unread events cause backpressure, and none is lost")
  func backpressure() async throws {
    let count = 3000
    let event = "data: " + String(repeating: "x", count: 1000) + "\n\n"
    try await withEventServer { peer in
      try peer.events()
      for _ in 0..<count { try peer.chunk(event) }
      try peer.endChunked()
    } body: { server in
      try await withSession {
        $0.engine.windowBytes = 65_536
      } _: { session in
        let task = session.eventStreamRequest(server.url, method: .post).streamTask()
        var received = 0
        for try await event in task.streamingEvents() {
          #expect(event.data.utf8.count == 1000)
          received += 1
          // The first element is held while the server has time to send.
          if received == 1 {
            for _ in 0..<10 { await Task.yield() }
            #expect(task.request.tasks[0].countOfBytesReceived <= 2 * 65_536)
          }
        }
        #expect(received == count)
      }
    }
  }
}
