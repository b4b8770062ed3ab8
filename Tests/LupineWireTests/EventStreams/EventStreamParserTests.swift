// EventStreamParserTests: event streams in any split, connections that continue each other, and the limits.

import Testing

@testable import LupineWire

@Suite struct EventStreamParserTests {
  /// The results of a parser that has read the pieces of a stream.
  struct Reading: Equatable {
    var events: [ServerSentEvent] = []
    var lastEventID = ""
    var retry: Int?
    var error: EventStreamError?

    init(events: [ServerSentEvent] = [], lastEventID: String = "", retry: Int? = nil, error: EventStreamError? = nil) {
      (self.events, self.lastEventID, self.retry, self.error) = (events, lastEventID, retry, error)
    }

    init(_ pieces: [ArraySlice<UInt8>], limits: EventStreamLimits = EventStreamLimits()) {
      var parser = EventStreamParser(limits: limits)
      do throws(EventStreamError) {
        for piece in pieces {
          let bytes = Array(piece)
          var index = 0
          while let event = try parser.next(in: bytes.span, from: &index) { events.append(event) }
          #expect(index == bytes.count)
        }
      } catch {
        self.error = error
      }
      (lastEventID, retry) = (parser.lastEventID, parser.retryMilliseconds)
    }
  }

  /// Returns the pieces of `bytes` in one piece, byte by byte, and split at every place.
  static func splits(of bytes: [UInt8]) -> [[ArraySlice<UInt8>]] {
    [[bytes[...]], bytes.indices.map { bytes[$0...$0] }] + bytes.indices.map { [bytes[..<$0], bytes[$0...]] }
  }

  @Test(
    "an event stream has the same events in one piece, byte by byte, and split at every byte",
    arguments: EventStreamVector.all)
  func vectors(vector: EventStreamVector) {
    let expected = Reading(events: vector.events, lastEventID: vector.lastEventID, retry: vector.retry)
    for pieces in Self.splits(of: Array(vector.stream.utf8)) {
      #expect(Reading(pieces) == expected, "\(pieces.map { String(decoding: $0, as: UTF8.self) })")
    }
  }

  @Test("invalid UTF-8 is replaced in every field, whatever the split")
  func invalidText() {
    let stream =
      Array("data:a".utf8) + [0xFF, 0xE2, 0x82] + Array("\ndata:".utf8) + [0xC3] + Array("\nid:".utf8) + [0xED, 0xA0]
      + Array("\n\n".utf8)
    for pieces in Self.splits(of: stream) {
      #expect(Reading(pieces).events == [ServerSentEvent(id: "\u{FFFD}\u{FFFD}", data: "a\u{FFFD}\u{FFFD}\n\u{FFFD}")])
    }
  }

  @Test(
    "after a restart, an unfinished event and its ID are gone, and the last event ID and the reconnection time remain")
  func restart() throws {
    var parser = EventStreamParser()
    func events(_ text: String) throws -> [ServerSentEvent] {
      var events: [ServerSentEvent] = []
      var index = 0
      let bytes = Array(text.utf8)
      while let event = try parser.next(in: bytes.span, from: &index) { events.append(event) }
      return events
    }
    #expect(
      try events("retry: 10\nid: 1\ndata: a\n\nid: 2\nevent: e\ndata: b\nda") == [ServerSentEvent(id: "1", data: "a")])
    parser.restart()
    #expect(parser.lastEventID == "1" && parser.retryMilliseconds == 10)
    #expect(try events("\u{FEFF}data: c\n\r\n") == [ServerSentEvent(id: "1", data: "c")])
  }

  @Test("a stream that continues another has that one's last event ID until the server sends one")
  func continued() throws {
    var parser = EventStreamParser(lastEventID: "41")
    var index = 0
    let bytes = Array("data: x\n\n".utf8)
    #expect(try parser.next(in: bytes.span, from: &index) == ServerSentEvent(id: "41", data: "x"))
  }

  @Test("lines, events and IDs of the maximum length are read, and longer ones are refused, at every split")
  func limits() {
    var limits = EventStreamLimits()
    (limits.lineBytesMax, limits.eventBytesMax, limits.idBytesMax) = (16, 20, 4)
    let cases: [(String, [ServerSentEvent], EventStreamError?)] = [
      ("data:12345678901\n\n", [ServerSentEvent(data: "12345678901")], nil),
      ("data:123456789012\n\n", [], .lineTooLong(bytesMax: 16)),
      (":234567890123456\ndata\n\n", [ServerSentEvent(data: "")], nil),
      (":2345678901234567\ndata\n\n", [], .lineTooLong(bytesMax: 16)),
      // The line feeds between lines count, and so does the type.
      ("data:1234567890\ndata:23456789\n\n", [ServerSentEvent(data: "1234567890\n23456789")], nil),
      ("data:1234567890\ndata:23456789\ndata:0\n\n", [], .eventTooLong(bytesMax: 20)),
      ("event:ee\ndata:1234567890\ndata:23456789\n\n", [], .eventTooLong(bytesMax: 20)),
      ("data:1234567890\ndata:2345678\nevent:abc\n\n", [], .eventTooLong(bytesMax: 20)),
      ("id:1234\ndata\n\n", [ServerSentEvent(id: "1234", data: "")], nil),
      ("id:12345\ndata\n\n", [], .idTooLong(bytesMax: 4)),
    ]
    for (stream, events, error) in cases {
      for pieces in Self.splits(of: Array(stream.utf8)) {
        let reading = Reading(pieces, limits: limits)
        #expect(reading.events == events && reading.error == error, "\(stream.debugDescription): \(reading)")
      }
    }
  }

  @Test("a line without an end is refused when it exceeds the limit, and not kept until its end")
  func endlessLine() {
    var limits = EventStreamLimits()
    limits.lineBytesMax = 1000
    var parser = EventStreamParser(limits: limits)
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 100)
    var count = 0
    while count < 100 {
      var index = 0
      do throws(EventStreamError) {
        #expect(try parser.next(in: piece.span, from: &index) == nil)
      } catch {
        #expect(error == .lineTooLong(bytesMax: 1000))
        break
      }
      count += 1
    }
    #expect(count == 10)
  }

  @Test("an ID with control characters can't be sent in a field; one with tabs, spaces or other characters can")
  func sendableIDs() {
    for id in ["a\u{1}", "\u{7F}", "\n", "a\u{1B}[0m"] { #expect(!EventStreamParser.isSendable(id: id)) }
    for id in ["", "41", "a\tb", " ü🐺 "] { #expect(EventStreamParser.isSendable(id: id)) }
  }

  @Test("each error states the limit and a remedy")
  func errors() {
    for error in [EventStreamError.lineTooLong(bytesMax: 41), .eventTooLong(bytesMax: 41), .idTooLong(bytesMax: 41)] {
      #expect(error.description.contains("41 bytes. Raise "))
    }
  }
}
