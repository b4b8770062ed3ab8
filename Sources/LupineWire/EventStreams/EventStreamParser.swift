// EventStreamParser: parses event streams (WHATWG HTML, 9.2.5 "Parsing an event stream" and 9.2.6 "Interpreting an event stream").

/// Parses an event stream that arrives in pieces of any length.
///
/// stream = [ bom ] *event
/// event = *( comment / field ) end-of-line
/// comment = colon *any-char end-of-line
/// field = 1*name-char [ colon [ space ] *any-char ] end-of-line
package struct EventStreamParser: Sendable {
  /// The last event ID: the ID to send as `Last-Event-ID` for continuing the stream. Empty if there is none. It changes at the end of
  /// an event, so that an event that arrived partly is sent again.
  package private(set) var lastEventID: String
  /// The latest reconnection time that the server has sent, in milliseconds, or nil if it hasn't sent any. The highest value is
  /// `retryMillisecondsMax`.
  package private(set) var retryMilliseconds: Int?

  /// The maximum reconnection time in milliseconds: a year. The specification sets no limit, and higher values are reduced to this one.
  package static let retryMillisecondsMax = 365 * 86_400 * 1000

  private let limits: EventStreamLimits
  private var lines: LineSplitter
  private var isAtStart = true
  /// The data of the event that isn't complete: each line is followed by a line feed.
  private var data: [UInt8] = []
  private var type = ""
  /// The ID that becomes the last event ID at the end of the event.
  private var id: String

  /// Creates a parser. `lastEventID` is the last event ID of an earlier connection, which this stream continues.
  package init(limits: EventStreamLimits = EventStreamLimits(), lastEventID: String = "") {
    self.limits = limits
    self.lastEventID = lastEventID
    id = lastEventID
    lines = LineSplitter(.eventStream, lineBytesMax: limits.lineBytesMax)
  }

  /// Returns whether `id` can be sent as `Last-Event-ID`: it contains no control character except for tabs.
  package static func isSendable(id: String) -> Bool { id.utf8.allSatisfy(Byte.isFieldContent) }

  /// Prepares for the stream of another connection. Drops an event that isn't complete, and keeps the last event ID.
  package mutating func restart() {
    let retryMilliseconds = retryMilliseconds
    self = Self(limits: limits, lastEventID: lastEventID)
    self.retryMilliseconds = retryMilliseconds
  }

  /// Parses `bytes` from `index` to the end of the next event, and moves `index` there. Returns the event, or nil if all bytes have been
  /// parsed without completing one.
  package mutating func next(
    in bytes: borrowing Span<UInt8>, from index: inout Int
  ) throws(EventStreamError) -> ServerSentEvent? {
    while index < bytes.count {
      let event: ServerSentEvent?
      switch try lines.next(in: bytes, from: &index) {
      case .needMoreBytes: return nil
      case .inPiece(let range): event = try interpret(bytes.extracting(range))
      case .joined(let line): event = try interpret(line.span)
      }
      if let event { return event }
    }
    return nil
  }

  private mutating func interpret(_ line: borrowing Span<UInt8>) throws(EventStreamError) -> ServerSentEvent? {
    var start = 0
    if isAtStart {
      isAtStart = false
      if line.count >= 3, line[0] == 0xEF, line[1] == 0xBB, line[2] == 0xBF { start = 3 }
    }
    guard start < line.count else { return dispatch() }
    var nameEnd = start
    while nameEnd < line.count, line[nameEnd] != UInt8(ascii: ":") { nameEnd += 1 }
    var valueStart = min(nameEnd + 1, line.count)
    if valueStart < line.count, line[valueStart] == UInt8(ascii: " ") { valueStart += 1 }
    let (name, value) = (line.extracting(start..<nameEnd), line.extracting(valueStart..<line.count))
    // A name is case-sensitive. Unknown fields are ignored, and so are comments, whose name is empty.
    if Self.equals(name, "data") {
      try checkEvent(data.count + value.count + type.utf8.count)
      data.append(copying: value, 0..<value.count)
      data.append(Byte.lineFeed)
    } else if Self.equals(name, "event") {
      type = String(copying: value)
      try checkEvent(max(data.count - 1, 0) + type.utf8.count)
    } else if Self.equals(name, "id") {
      try setID(value)
    } else if Self.equals(name, "retry") {
      setRetry(value)
    }
    return nil
  }

  private mutating func dispatch() -> ServerSentEvent? {
    lastEventID = id
    defer { type = "" }
    // An empty `data` line has appended a line feed, so that its event is dispatched.
    guard !data.isEmpty else { return nil }
    let event = ServerSentEvent(
      id: id, type: type.isEmpty ? "message" : type,
      data: String(copying: data.span.extracting(0..<data.count - 1)))
    // The memory of an unusually long event is released.
    data.removeAll(keepingCapacity: data.count <= Self.keptBytesMax)
    return event
  }

  /// The memory for data that is kept for the next event: 64 KiB, the length of a read.
  private static let keptBytesMax = 64 * 1024

  private func checkEvent(_ count: Int) throws(EventStreamError) {
    guard count <= limits.eventBytesMax else { throw .eventTooLong(bytesMax: limits.eventBytesMax) }
  }

  private mutating func setID(_ value: borrowing Span<UInt8>) throws(EventStreamError) {
    guard value.count <= limits.idBytesMax else { throw .idTooLong(bytesMax: limits.idBytesMax) }
    for index in value.indices where value[index] == 0 { return }
    id = String(copying: value)
  }

  private mutating func setRetry(_ value: borrowing Span<UInt8>) {
    guard value.count > 0 else { return }
    var milliseconds = 0
    for index in value.indices {
      guard case UInt8(ascii: "0")...UInt8(ascii: "9") = value[index] else { return }
      milliseconds = min(milliseconds * 10 + Int(value[index] - UInt8(ascii: "0")), Self.retryMillisecondsMax)
    }
    retryMilliseconds = milliseconds
  }

  private static func equals(_ bytes: borrowing Span<UInt8>, _ name: StaticString) -> Bool {
    guard bytes.count == name.utf8CodeUnitCount else { return false }
    return name.withUTF8Buffer { name in
      for index in bytes.indices where bytes[index] != name[index] { return false }
      return true
    }
  }
}
