// EventStreamServerTests: event streams and lines of aiohttp, directly and through nginx with and without buffering.

import Foundation
import Lupine
import LupineEngine
import LupineTestSupport
import Testing

@Suite("Event streams of real servers", .timeLimit(.minutes(10)))
struct EventStreamServerTests {
  private struct Tick: Decodable, Sendable, Equatable { let number: Int }

  private static let prefixes: [(TestServer, String)] = [
    (.events, ""), (.nginx, "/events"), (.nginx, "/buffered-events"),
  ]

  @Test(
    "a GET continues after each broken connection with the next event, until 204 ends the stream", arguments: prefixes)
  func ticks(server: TestServer, prefix: String) async throws {
    try server.require()
    var options = EventStreamOptions()
    options.retryDelayMin = .zero
    let session = Session(configuration: .af.ephemeral)
    let request = session.eventStreamRequest("\(server.origin)\(prefix)/ticks", options: options)
    var events: [ServerSentEvent] = []
    for try await event in request.streamTask().streamingEvents() { events.append(event) }
    #expect(events.map(\.id) == (1...6).map { "\($0)" } && events.allSatisfy { $0.type == "tick" })
    #expect(try events.map { try $0.decode(Tick.self).number } == Array(1...6))
    #expect(request.lastEventID == "6" && request.response?.statusCode == 204)
  }

  @Test("a POST's answer in the style of a language model is decoded event by event", arguments: prefixes)
  func chat(server: TestServer, prefix: String) async throws {
    struct Chunk: Decodable, Sendable { let text: String }
    try server.require()
    let session = Session(configuration: .af.ephemeral)
    let words = (0..<500).map { "wörd\($0)" }
    let request = session.eventStreamRequest(
      "\(server.origin)\(prefix)/chat", method: .post, parameters: ["prompt": words.joined(separator: " ")],
      encoder: JSONParameterEncoder.default)
    var received: [String] = []
    for try await chunk in request.streamTask().streamingEvents(of: Chunk.self, endingAt: "[DONE]") {
      received.append(chunk.text)
    }
    #expect(received == words)
  }

  @Test(
    "without buffering, an event arrives before the server sends the next one; with buffering, all arrive",
    arguments: prefixes)
  func gated(server: TestServer, prefix: String) async throws {
    try server.require()
    let session = Session(configuration: .af.ephemeral)
    let name = UUID().uuidString
    func openGate() async throws {
      let answer = session.request("\(server.origin)\(prefix)/gates/\(name)", method: .post).serializingString()
      #expect(try await answer.value == "open\n")
    }
    let isBuffered = prefix == "/buffered-events"
    if isBuffered { try await openGate() }
    var options = EventStreamOptions()
    options.reconnectionsMax = 0
    let request = session.eventStreamRequest("\(server.origin)\(prefix)/gated/\(name)", options: options)
    var events: [String] = []
    for try await event in request.streamTask().streamingEvents() {
      events.append(event.data)
      if events.count == 1, !isBuffered { try await openGate() }
    }
    #expect(events == ["first", "second"])
  }

  @Test("lines of JSON are decoded one by one", arguments: prefixes)
  func lines(server: TestServer, prefix: String) async throws {
    struct Line: Decodable, Sendable { let number: Int, text: String }
    try server.require()
    let session = Session(configuration: .af.ephemeral)
    var count = 0
    let task = session.streamRequest("\(server.origin)\(prefix)/lines").streamTask()
    for try await line in task.streamingJSONLines(of: Line.self) {
      #expect(line.number == count && line.text == "\u{2028}\u{2029}\u{85}")
      count += 1
    }
    #expect(count == 1000)
  }
}
