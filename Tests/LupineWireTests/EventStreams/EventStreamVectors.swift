// EventStreamVectors: event streams with the events that a client has to read (WHATWG HTML, 9.2.6, and the cases of
// web-platform-tests/eventsource).

import Testing

@testable import LupineWire

/// An event stream, and what a client reads from it.
struct EventStreamVector: Sendable, CustomTestStringConvertible {
  let name: String
  let stream: String
  let events: [ServerSentEvent]
  var lastEventID = ""
  var retry: Int?

  var testDescription: String { name }

  init(
    _ name: String, _ stream: String, _ events: [ServerSentEvent], lastEventID: String = "", retry: Int? = nil
  ) {
    self.name = name
    self.stream = stream
    self.events = events
    self.lastEventID = lastEventID
    self.retry = retry
  }

  /// Creates a vector whose events have no ID and the type `message`.
  init(_ name: String, _ stream: String, data: String...) {
    self.init(name, stream, data.map { ServerSentEvent(data: $0) })
  }

  static let all = [
    EventStreamVector("an empty stream", "", []),
    EventStreamVector("several data lines", "data: YHOO\ndata: +2\ndata: 10\n\n", data: "YHOO\n+2\n10"),
    EventStreamVector(
      "a comment, and IDs that are set and reset",
      ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
      [
        ServerSentEvent(id: "1", data: "first event"), ServerSentEvent(data: "second event"),
        ServerSentEvent(data: " third event"),
      ]),
    EventStreamVector("empty data, and an unfinished event", "data\n\ndata\ndata\n\ndata:", data: "", "\n"),
    EventStreamVector("one space after the colon is ignored", "data:test\n\ndata: test\n\n", data: "test", "test"),
    EventStreamVector("a byte order mark", "\u{FEFF}data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n", data: "1", "3"),
    EventStreamVector("two byte order marks", "\u{FEFF}\u{FEFF}data:1\n\ndata:2\n\n", data: "2"),
    EventStreamVector("a byte order mark alone in its line", "\u{FEFF}\ndata:1\n\n", data: "1"),
    EventStreamVector("part of a byte order mark", "\u{FEF0}data:1\n\ndata:2\n\n", data: "2"),
    EventStreamVector(
      "comments",
      "data:1\r:\0\n:\r\ndata:2\n:" + String(repeating: "x", count: 40) + "\rdata:3\n:data:fail\r:x\ndata:4\n\n",
      data: "1\n2\n3\n4"),
    EventStreamVector(
      "names with other bytes are unknown",
      "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n",
      data: "\0\n 2\n1\n3\n\n4"),
    EventStreamVector(
      "unknown fields", "data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n",
      data: "test\n\ntest"),
    EventStreamVector("tabs aren't ignored", "data:\ttest\rdata: \ndata:test\n\n", data: "\ttest\n\ntest"),
    EventStreamVector("mixed line endings", "data:test\r\ndata\ndata:test\r\n\r\n", data: "test\n\ntest"),
    EventStreamVector("carriage returns", "data:1\rdata:2\r\rdata:3\r\r", data: "1\n2", "3"),
    EventStreamVector("a carriage return ends an event at once", "data:1\r\r", data: "1"),
    EventStreamVector("a carriage return and a line feed end one line", "data:1\r\n\rdata:2\n\r\n", data: "1", "2"),
    EventStreamVector(
      "other line separators are data", "data:\u{B}\u{C}\u{85}\u{2028}\u{2029}\n\n",
      data: "\u{B}\u{C}\u{85}\u{2028}\u{2029}"),
    EventStreamVector(
      "an event's type", "event:test\ndata:x\n\ndata:x\n\nevent:a\nevent: b\ndata:y\n\nevent: \ndata\n\n",
      [
        ServerSentEvent(type: "test", data: "x"), ServerSentEvent(data: "x"), ServerSentEvent(type: "b", data: "y"),
        ServerSentEvent(data: ""),
      ]),
    EventStreamVector("a type without data is forgotten", "event: test\n\ndata: x\n\n", data: "x"),
    EventStreamVector(
      "an ID holds for later events", "id: …\ndata:1\n\ndata:2\n\n",
      [ServerSentEvent(id: "…", data: "1"), ServerSentEvent(id: "…", data: "2")], lastEventID: "…"),
    EventStreamVector("an ID without data", "id: 7\n\n", [], lastEventID: "7"),
    EventStreamVector("the ID of an unfinished event is ignored", "id: 1\n\nid: 2\ndata: x\n", [], lastEventID: "1"),
    EventStreamVector(
      "an ID with NUL is ignored", "id: 1\n\nid: a\0b\ndata:x\n\nid\0: y\n\n", [ServerSentEvent(id: "1", data: "x")],
      lastEventID: "1"),
    EventStreamVector("a reconnection time", "retry: 1500\ndata:x\n\n", [ServerSentEvent(data: "x")], retry: 1500),
    EventStreamVector("a reconnection time counts at once", "retry:03", [], retry: nil),
    EventStreamVector(
      "reconnection times before and after invalid ones",
      "retry:3000\nretry:1000x\nretry:-1\nretry\nretry:\nretry:+1\n", [], retry: 3000),
    EventStreamVector(
      "a reconnection time beyond all integers", "retry:" + String(repeating: "9", count: 99) + "\n", [],
      retry: EventStreamParser.retryMillisecondsMax),
    EventStreamVector("text in UTF-8", "data:ok…🐺\n\n", data: "ok…🐺"),
    EventStreamVector("a line that is only a colon, and one without a colon", ":\n\ndata\n\n", data: ""),
  ]
}
