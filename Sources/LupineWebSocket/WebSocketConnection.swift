// WebSocketConnection: the client's side of an open WebSocket connection (RFC 6455 §5 to §7), without I/O.

package import LupineCoding

/// A message: text, or bytes.
package enum WebSocketMessage: Sendable, Equatable {
  case text(String)
  case binary([UInt8])

  /// The length of the message in bytes.
  package var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .binary(let bytes): bytes.count
    }
  }
}

/// The header of a frame that was sent or received, for a log.
package struct FrameTrace: Sendable, Equatable {
  package var isSent: Bool
  package var header: FrameHeader
}

/// The protocol of an open connection, from the point of view of the client: bytes from the server in, events and bytes for the server
/// out.
///
/// After an error, later bytes are ignored. The caller must call `fail`, at once or after it has sent what it still wants to send.
package struct WebSocketConnection: ~Copyable, Sendable {
  /// The result of reading bytes from the server.
  package enum Event: Sendable, Equatable {
    case needMoreBytes
    case message(WebSocketMessage)
    /// A ping, which has been answered.
    case ping([UInt8])
    case pong([UInt8])
    /// The server's Close frame, which has been answered unless the client had closed first. No events follow.
    case close(WebSocketClose)
  }

  private enum Sending { case open, closed }
  private enum Receiving { case open, closed }

  /// A message of which some frames have arrived.
  private struct Partial {
    var isText: Bool
    var isCompressed: Bool
    var bytes: [UInt8] = []
    var validator = UTF8Validator()
  }

  /// The limits for messages that arrive from now on.
  package var limits: WebSocketLimits
  private let deflate: DeflateParameters?
  private var random: any RandomNumberGenerator & Sendable
  private var parser = FrameParser()
  private var header = FrameHeader(isFinal: true, reservedBits: 0, opcode: .continuation, payloadByteCount: 0)
  private var partial: Partial?
  private var control: [UInt8] = []
  // Created when they are needed, because they use up to 300 KiB.
  private var encoder: RawDeflateEncoder?
  private var decoder: RawInflateDecoder?
  private var sending = Sending.open
  private var receiving = Receiving.open
  private var output: [UInt8] = []
  /// The payload of the latest ping that arrived while the output was backlogged.
  private var unansweredPing: [UInt8]?
  /// Whether messages are discarded, without being decompressed. It never becomes false again, because a later compressed message may
  /// refer to a discarded one.
  private var discardsMessages = false
  /// Called with each frame, or nil (the default).
  package var tracer: (@Sendable (FrameTrace) -> Void)?

  /// Whether the transport accepts no more bytes at present. Meanwhile, only the latest ping is answered (RFC 6455 §5.5.3), so that
  /// a server that sends pings but reads nothing can't fill the memory.
  package var isBacklogged = false {
    didSet {
      if !isBacklogged, let payload = unansweredPing.take() { answer(payload) }
    }
  }

  /// Creates a connection after the opening handshake. `random` generates the masks.
  package init(
    deflate: DeflateParameters?, limits: WebSocketLimits = WebSocketLimits(),
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.deflate = deflate
    self.limits = limits
    self.random = random
  }

  /// Whether messages can be sent, because neither side has closed the connection.
  package var isOpen: Bool { sending == .open }

  /// Removes and returns the bytes that the transport must send next.
  package mutating func takeOutput() -> [UInt8] { exchange(&output, with: []) }

  // MARK: Sending

  /// Sends a message, compressed if the compression was negotiated. Returns false if the connection is closed for sending.
  package mutating func send(_ message: WebSocketMessage) throws(CodingError) -> Bool {
    guard isOpen else { return false }
    switch message {
    case .binary(let bytes): try send(.binary, bytes.span)
    case .text(var text):
      text.makeContiguousUTF8()
      try send(.text, text.utf8.span)
    }
    return true
  }

  private mutating func send(_ opcode: Opcode, _ payload: borrowing Span<UInt8>) throws(CodingError) {
    guard let deflate, payload.count >= WebSocketLimits.compressedBytesMin else {
      return append(opcode, payload)
    }
    if encoder == nil { encoder = try RawDeflateEncoder(windowBits: deflate.clientWindowBits) }
    var compressed: [UInt8] = []
    try encoder?.encode(payload, into: &compressed)
    if deflate.clientResets { encoder?.reset() }
    append(opcode, isCompressed: true, compressed.span)
  }

  /// Sends a ping with a payload of at most 125 bytes. Returns false if the connection is closed for sending.
  package mutating func ping(_ payload: [UInt8] = []) -> Bool {
    precondition(payload.count <= WebSocketLimits.controlBytesMax, "a ping has at most 125 bytes")
    guard isOpen else { return false }
    append(.ping, payload.span)
    return true
  }

  /// Sends a Close frame, after which nothing more can be sent. A reason of more than 123 bytes is truncated. Returns false if the
  /// connection is already closed for sending.
  package mutating func close(_ close: WebSocketClose) -> Bool {
    precondition(close.code.isSendable || close.code == .noStatus, "the code \(close.code.rawValue) is never sent")
    guard isOpen else { return false }
    append(.close, WebSocketClose(close.code, reason: WebSocketClose.truncated(close.reason)).payload.span)
    sending = .closed
    unansweredPing = nil
    return true
  }

  private mutating func append(_ opcode: Opcode, isCompressed: Bool = false, _ payload: borrowing Span<UInt8>) {
    let key = MaskingKey(UInt32(truncatingIfNeeded: random.next()))
    FrameHeader.append(opcode, isCompressed: isCompressed, payload: payload, key: key, to: &output)
    tracer?(
      FrameTrace(
        isSent: true,
        header: FrameHeader(
          isFinal: true, reservedBits: isCompressed ? 0b100 : 0, opcode: opcode,
          payloadByteCount: UInt64(payload.count))))
  }

  private mutating func answer(_ ping: [UInt8]) {
    guard isOpen else { return }
    if isBacklogged { unansweredPing = ping } else { append(.pong, ping.span) }
  }

  /// Closes the connection with the error's code, unless the connection is already closed for sending (RFC 6455 §7.1.7).
  package mutating func fail(_ error: WebSocketError) { _ = close(WebSocketClose(error.closeCode)) }

  // MARK: Receiving

  /// Discards the message of which some frames have arrived, and all later ones. A server that ignores a Close frame would otherwise
  /// occupy the loop with decompressing them. Control frames still have their effect.
  package mutating func discardMessages() {
    discardsMessages = true
    partial?.bytes = []
  }

  /// Parses bytes from `cursor` on and moves `cursor` past the parsed bytes. Call this method again until it returns
  /// `.needMoreBytes`.
  package mutating func receive(
    _ bytes: borrowing Span<UInt8>, at cursor: inout Int
  ) throws(WebSocketError) -> Event {
    do {
      while receiving == .open {
        switch try parser.next(bytes, at: &cursor) {
        case .needMoreBytes: return .needMoreBytes
        case .header(let header): try begin(header)
        case .payload(let range, let isLast):
          if let event = try accept(bytes.extracting(range), isLast: isLast) { return event }
        }
      }
    } catch {
      receiving = .closed
      partial = nil
      throw error
    }
    // RFC 6455 §1.4: bytes after a Close frame are discarded.
    cursor = bytes.count
    return .needMoreBytes
  }

  private mutating func begin(_ header: FrameHeader) throws(WebSocketError) {
    self.header = header
    tracer?(FrameTrace(isSent: false, header: header))
    if header.opcode.isControl {
      guard header.reservedBits == 0 else { throw .reservedBits(header.reservedBits) }
      guard header.isFinal else { throw .fragmentedControlFrame }
      let count = header.payloadByteCount
      guard count <= UInt64(WebSocketLimits.controlBytesMax) else { throw .controlFrameTooLong(Int(clamping: count)) }
      return
    }
    // RSV1 of a message's first frame marks a compressed message (RFC 7692 §6).
    let isCompressed = header.reservedBits == 0b100 && deflate != nil && header.opcode != .continuation
    guard header.reservedBits == 0 || isCompressed else { throw .reservedBits(header.reservedBits) }
    if header.opcode == .continuation {
      guard partial != nil else { throw .unexpectedContinuation }
    } else {
      guard partial == nil else { throw .interruptedMessage }
      partial = Partial(isText: header.opcode == .text, isCompressed: isCompressed)
    }
    guard header.payloadByteCount <= UInt64(limits.frameBytesMax) else {
      throw .frameTooBig(limit: limits.frameBytesMax)
    }
    // The length of a compressed frame says nothing about the length of the message.
    if let partial, !partial.isCompressed,
      header.payloadByteCount > UInt64(max(0, limits.messageBytesMax - partial.bytes.count))
    {
      throw .messageTooBig(limit: limits.messageBytesMax)
    }
  }

  private mutating func accept(
    _ payload: borrowing Span<UInt8>, isLast: Bool
  ) throws(WebSocketError) -> Event? {
    if header.opcode.isControl {
      control.append(copying: payload, 0..<payload.count)
      return isLast ? try endControlFrame() : nil
    }
    if discardsMessages {
      if isLast, header.isFinal { partial = nil }
      return nil
    }
    guard var partial = self.partial.take() else { preconditionFailure("a data frame belongs to no message") }
    let start = partial.bytes.count
    if partial.isCompressed {
      try decompress(payload, isLast: isLast && header.isFinal, into: &partial.bytes)
    } else {
      partial.bytes.append(copying: payload, 0..<payload.count)
    }
    if partial.isText {
      var validator = partial.validator
      guard validator.accept(partial.bytes.span.extracting(start...)) else { throw .invalidUTF8 }
      partial.validator = validator
    }
    guard isLast, header.isFinal else {
      self.partial = partial
      return nil
    }
    guard partial.isText else { return .message(.binary(partial.bytes)) }
    guard partial.validator.isComplete else { throw .invalidUTF8 }
    return .message(.text(String(decoding: partial.bytes, as: UTF8.self)))
  }

  private mutating func decompress(
    _ payload: borrowing Span<UInt8>, isLast: Bool, into bytes: inout [UInt8]
  ) throws(WebSocketError) {
    guard let deflate else { preconditionFailure("a message is compressed although the extension wasn't negotiated") }
    do throws(CodingError) {
      if decoder == nil { decoder = try RawInflateDecoder(windowBits: deflate.serverWindowBits) }
      try decoder?.decode(payload, into: &bytes, countMax: limits.messageBytesMax)
      if isLast {
        try decoder?.finishMessage(into: &bytes, countMax: limits.messageBytesMax)
        if deflate.serverResets { decoder?.reset() }
      }
    } catch {
      if case .decodedBytesMax = error.cause { throw .messageTooBig(limit: limits.messageBytesMax) }
      throw .decompression(error)
    }
  }

  private mutating func endControlFrame() throws(WebSocketError) -> Event {
    let payload = exchange(&control, with: [])
    switch header.opcode {
    case .ping:
      answer(payload)
      return .ping(payload)
    case .pong: return .pong(payload)
    case .close:
      let peers = try WebSocketClose(payload: payload)
      receiving = .closed
      partial = nil
      // The answer repeats the code (RFC 6455 §5.5.1).
      _ = close(WebSocketClose(peers.code))
      return .close(peers)
    case .continuation, .text, .binary: preconditionFailure("a data frame isn't a control frame")
    }
  }
}
