// The frames of a WebSocket server, compared with a second implementation of RFC 6455 §5, and compressed messages in both
// directions.

@testable import LupineCoding
@testable import LupineWebSocket

extension FuzzTarget {
  /// Fuzzes a WebSocket connection. The input is a byte of choices, followed by the server's bytes.
  static let frames = FuzzTarget(
    name: "frames",
    summary: "a server's frames in any split have the events, answers and error of a second implementation"
  ) { bytes in
    var input = Input(bytes)
    let choices = input.byte()
    var limits = WebSocketLimits()
    if choices & 1 != 0 { limits.messageBytesMax = 40 }
    if choices & 2 != 0 { limits.frameBytesMax = 30 }
    let wire = Array(input.rest)
    let expected = ReferenceFrames(wire, limits)
    var cutter = Cutter(bytes)
    for pieces in cutter.waysToCut(wire) {
      let outcome = Conversation(pieces, nil, limits)
      hold(outcome.events == expected.events, "\(outcome.events), not \(expected.events): \(shown(wire))")
      hold(
        outcome.error == expected.error,
        "\(describing: outcome.error), not \(describing: expected.error): \(shown(wire))")
      hold(outcome.answers == expected.answers, "answers \(outcome.answers), not \(expected.answers): \(shown(wire))")
    }
  }

  /// Fuzzes permessage-deflate. The input contains the agreed parameters, followed by compressed messages of a server, or by
  /// messages to compress.
  static let messages = FuzzTarget(
    name: "messages",
    summary:
      "compressed messages are decoded alike in any split, within the limit; own messages decode within their window"
  ) { bytes in
    var input = Input(bytes)
    let choices = input.byte()
    var deflate = DeflateParameters()
    deflate.serverWindowBits = input.number(8...15)
    deflate.clientWindowBits = input.number(8...15)
    (deflate.serverResets, deflate.clientResets) = (choices & 1 != 0, choices & 2 != 0)
    if choices & 4 == 0 { receive(&input, deflate, bytes, isShort: choices & 8 != 0) } else { send(&input, deflate) }
  }

  private static func receive(_ input: inout Input, _ deflate: DeflateParameters, _ bytes: [UInt8], isShort: Bool) {
    var limits = WebSocketLimits()
    if isShort { limits.messageBytesMax = 100 }
    var wire: [UInt8] = []
    while !input.isAtEnd {
      // A binary message, because the bytes before an error of a text may break the rules of UTF-8 first. Some have two frames.
      let (isSplit, payload) = (input.byte() & 7 == 0, input.bytes())
      wire += serverFrame(isSplit ? 0x42 : 0xC2, payload)
      if isSplit { wire += serverFrame(0x80, input.bytes()) }
    }
    var cutter = Cutter(bytes)
    let whole = Conversation([wire], deflate, limits)
    for pieces in cutter.waysToCut(wire) {
      let outcome = Conversation(pieces, deflate, limits)
      hold(outcome.events == whole.events, "another split has other messages: \(shown(wire))")
      hold((outcome.error == nil) == (whole.error == nil), "\(describing: outcome.error), \(describing: whole.error)")
    }
    for case .message(let message) in whole.events {
      hold(message.byteCount <= limits.messageBytesMax, "a message has \(message.byteCount) bytes")
    }
  }

  private static func serverFrame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    payload.count < 126
      ? [first, UInt8(payload.count)] + payload
      : [first, 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)] + payload
  }

  private static func send(_ input: inout Input, _ deflate: DeflateParameters) {
    var connection = WebSocketConnection(deflate: deflate)
    guard var decoder = try? RawInflateDecoder(windowBits: deflate.clientWindowBits) else { fatalError("no decoder") }
    while !input.isAtEnd {
      let repetitions = input.number(1...64)
      let part = input.bytes()
      let message = (0..<repetitions).flatMap { _ in part }
      guard (try? connection.send(.binary(message))) == true else { return hold(false, "a message wasn't sent") }
      guard let frame = ClientFrame.parse(connection.takeOutput()[...]).first else { return hold(false, "no frame") }
      hold(frame.first & 0x8F == 0x82, "the first byte is \(frame.first)")
      guard frame.first & 0x40 != 0 else {
        hold(frame.payload == message, "an uncompressed message is changed")
        continue
      }
      var decoded: [UInt8] = []
      do throws(CodingError) {
        try decoder.decode(frame.payload.span, into: &decoded, countMax: message.count)
        try decoder.finishMessage(into: &decoded, countMax: message.count)
      } catch {
        return hold(false, "\(error)")
      }
      hold(decoded == message, "a message decodes to something else")
      if deflate.clientResets { decoder.reset() }
    }
  }
}

extension String.StringInterpolation {
  fileprivate mutating func appendInterpolation(describing value: WebSocketError?) {
    appendInterpolation(value.map { "\($0)" } ?? "no error")
  }
}

/// A frame of a client: its first byte and its payload without the mask.
private struct ClientFrame: Equatable {
  var first: UInt8
  var payload: [UInt8]

  init(_ first: UInt8, _ payload: [UInt8]) { (self.first, self.payload) = (first, payload) }

  static func parse(_ bytes: ArraySlice<UInt8>) -> [ClientFrame] {
    var (frames, rest): ([ClientFrame], ArraySlice<UInt8>) = ([], bytes)
    while let first = rest.popFirst(), let second = rest.popFirst() {
      hold(second & 0x80 != 0, "a frame of the client isn't masked")
      let lengthBytes = second & 0x7F == 126 ? 2 : second & 0x7F == 127 ? 8 : 0
      let count = lengthBytes == 0 ? Int(second & 0x7F) : rest.prefix(lengthBytes).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(lengthBytes)
      hold(rest.count >= 4 + count, "a frame of the client is incomplete")
      let mask = Array(rest.prefix(4))
      frames.append(ClientFrame(first, rest.dropFirst(4).prefix(count).enumerated().map { $1 ^ mask[$0 & 3] }))
      rest = rest.dropFirst(4 + count)
    }
    return frames
  }
}

/// The events of a connection that receives the given pieces, and its answers.
private struct Conversation {
  var events: [WebSocketConnection.Event] = []
  var error: WebSocketError?
  var answers: [ClientFrame] = []

  init(_ pieces: [[UInt8]], _ deflate: DeflateParameters?, _ limits: WebSocketLimits) {
    var connection = WebSocketConnection(deflate: deflate, limits: limits)
    for piece in pieces {
      do throws(WebSocketError) {
        try GuardedBytes.with(piece) { (span) throws(WebSocketError) in
          var cursor = 0
          while true {
            let event = try connection.receive(span, at: &cursor)
            if event == .needMoreBytes { break }
            events.append(event)
          }
          hold(cursor == span.count, "\(span.count - cursor) bytes weren't read")
        }
      } catch {
        hold(self.error == nil, "a connection failed twice")
        self.error = error
        connection.fail(error)
      }
    }
    answers = ClientFrame.parse(connection.takeOutput()[...])
  }
}

/// A second implementation of RFC 6455 §5, for all bytes at once and without extensions.
private struct ReferenceFrames {
  var events: [WebSocketConnection.Event] = []
  private(set) var error: WebSocketError?
  private(set) var answers: [ClientFrame] = []
  private var isText = false
  private var message: [UInt8]?

  init(_ wire: [UInt8], _ limits: WebSocketLimits) {
    var rest = wire[...]
    do throws(WebSocketError) {
      while let next = try read(rest, limits) { rest = next }
    } catch {
      self.error = error
      let code = error.closeCode.rawValue
      answers.append(ClientFrame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)]))
    }
  }

  /// Reads a frame, and returns the bytes after it. Returns nil at the end of the bytes or of the connection.
  private mutating func read(
    _ bytes: ArraySlice<UInt8>, _ limits: WebSocketLimits
  ) throws(WebSocketError) -> ArraySlice<UInt8>? {
    var rest = bytes
    guard let first = rest.popFirst(), let second = rest.popFirst() else { return nil }
    let opcode = first & 0x0F
    guard [0, 1, 2, 8, 9, 10].contains(opcode) else { throw .reservedOpcode(opcode) }
    guard second < 0x80 else { throw .maskedFrame }
    var length = UInt64(second)
    if second >= 126 {
      let byteCount = second == 126 ? 2 : 8
      guard rest.count >= byteCount else { return nil }
      length = rest.prefix(byteCount).reduce(0) { $0 << 8 | UInt64($1) }
      rest = rest.dropFirst(byteCount)
      guard length > (second == 126 ? 125 : 65_535), length < 1 << 63 else { throw .malformedLength }
    }
    let (isFinal, reserved) = (first >= 0x80, first >> 4 & 7)
    guard reserved == 0 else { throw .reservedBits(reserved) }
    let payload = Array(rest.prefix(Int(clamping: length)))
    let isComplete = UInt64(payload.count) == length
    if opcode >= 8 {
      guard isFinal else { throw .fragmentedControlFrame }
      guard length <= 125 else { throw .controlFrameTooLong(Int(clamping: length)) }
      guard isComplete, try control(opcode, payload) else { return nil }
      return rest.dropFirst(payload.count)
    }
    if opcode == 0 {
      guard message != nil else { throw .unexpectedContinuation }
    } else {
      guard message == nil else { throw .interruptedMessage }
      (isText, message) = (opcode == 1, [])
    }
    guard length <= UInt64(limits.frameBytesMax) else { throw .frameTooBig(limit: limits.frameBytesMax) }
    let content = (message ?? []) + payload
    guard UInt64(content.count - payload.count) + length <= UInt64(limits.messageBytesMax) else {
      throw .messageTooBig(limit: limits.messageBytesMax)
    }
    if isText { guard Self.beginsText(content) else { throw .invalidUTF8 } }
    message = content
    guard isComplete else { return nil }
    if isFinal {
      if isText {
        guard let text = String(validating: content, as: UTF8.self) else { throw .invalidUTF8 }
        events.append(.message(.text(text)))
      } else {
        events.append(.message(.binary(content)))
      }
      message = nil
    }
    return rest.dropFirst(payload.count)
  }

  /// Processes a control frame. Returns false if it closes the connection.
  private mutating func control(_ opcode: UInt8, _ payload: [UInt8]) throws(WebSocketError) -> Bool {
    switch opcode {
    case 9:
      events.append(.ping(payload))
      answers.append(ClientFrame(0x8A, payload))
    case 10: events.append(.pong(payload))
    default:
      if payload.isEmpty {
        events.append(.close(WebSocketClose(.noStatus)))
      } else {
        guard payload.count > 1 else { throw .closePayloadTooShort }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard (3000...4999).contains(code) || ((1000...1014).contains(code) && !(1004...1006).contains(code)) else {
          throw .forbiddenCloseCode(code)
        }
        guard String(validating: payload[2...], as: UTF8.self) != nil else { throw .invalidUTF8 }
        let close = WebSocketClose(WebSocketCloseCode(rawValue: code), reason: Array(payload[2...]))
        events.append(.close(close))
      }
      answers.append(ClientFrame(0x88, Array(payload.prefix(2))))
      return false
    }
    return true
  }

  /// Returns whether some text begins with these bytes.
  private static func beginsText(_ bytes: [UInt8]) -> Bool {
    if String(validating: bytes, as: UTF8.self) != nil { return true }
    // Some completion of the last character is one of these bytes.
    let ends: [[UInt8]] = [0x80, 0x90, 0xA0].flatMap { end in [[end], [end, 0x80], [end, 0x80, 0x80]] }
    return ends.contains { String(validating: bytes + $0, as: UTF8.self) != nil }
  }
}
