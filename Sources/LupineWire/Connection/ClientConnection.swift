// ClientConnection: the client's side of an HTTP/1.1 connection as a state machine without sockets, TLS or clocks.

/// The client's side of one HTTP/1.1 connection as a state machine without I/O. It carries one request at a time, without
/// pipelining.
///
/// The caller calls `start` for each request, `requestSent` after the request's last byte has been passed to the transport, and
/// `receive` with the peer's bytes until it returns `.needMoreBytes`. After an error, the caller must close the connection.
public struct ClientConnection: ~Copyable {
  /// The result of parsing the peer's bytes in `receive`.
  public enum Event: Sendable {
    /// All bytes passed to `receive` were consumed, and the response isn't complete.
    case needMoreBytes
    /// The head of an interim response (1xx). The final response follows.
    case informational(ResponseHead)
    /// The head of the final response, the framing of its body, and the transfer codings that the server applied before chunked, in
    /// the order in which it applied them. There are no such codings unless the body is chunked.
    case head(ResponseHead, BodyFraming, [TransferCoding])
    /// Data of the response body, as a range of the bytes passed to `receive`.
    case body(Range<Int>)
    /// The response is complete. `closeReason` is nil if the connection can carry another request.
    case end(trailers: Fields, closeReason: CloseReason?)
    /// The connection has switched from HTTP to another protocol: the peer accepted an upgrade with a 101 (RFC 9110 §7.8), or a
    /// CONNECT with a 2xx, which opens a tunnel (§9.3.6).
    ///
    /// The remaining bytes, from the cursor on, and all later bytes belong to the new protocol. No further events
    /// follow, and the connection is never idle again.
    case handedOver(ResponseHead)
  }

  private enum State {
    case idle
    case head
    case length(remaining: UInt64)
    case chunked
    case untilClose
    case emptyBody  // the head was delivered, and only the end remains
    case closed
  }

  private let limits: Limits
  private var state = State.idle
  /// The decoder of a chunked body. It isn't part of `state`, because `state` is read and written for each event and the decoder
  /// would be copied each time.
  private var chunks: ChunkedDecoder?
  private var parser: SectionParser
  private var method = ""
  private var upgrades = false
  private var informationalCount = 0
  private var requestIsSent = false
  private var closeReason: CloseReason?
  /// The number of seconds after which the server closes the connection if it is idle after the current or latest response, from
  /// the response's Keep-Alive field. Nil if the field is missing or has no valid `timeout`, or before the response's head.
  package private(set) var keepAliveSeconds: UInt64?

  /// Creates the state of a new connection.
  public init(limits: Limits) {
    self.limits = limits
    parser = SectionParser(.response, limits: limits)
  }

  /// Whether the connection can start another request.
  public var isIdle: Bool {
    if case .idle = state { true } else { false }
  }

  /// Whether `receive` has returned the head of a response without a body, so that the next call returns `.end` even without bytes.
  public var hasPendingEnd: Bool {
    if case .emptyBody = state { true } else { false }
  }

  /// Starts a request. Call this when the request's head is passed to the transport.
  ///
  /// - Parameters:
  ///   - method: The request's method.
  ///   - closes: Whether the request has `Connection: close`.
  ///   - upgrades: Whether the request offers other protocols in an Upgrade field. If false, a 101 is an error. If true, the
  ///     caller must check that a 101 selects an offered protocol, and must send the entire request before the first byte of
  ///     the new protocol (RFC 9110 §7.8).
  public mutating func start(method: String, closes: Bool, upgrades: Bool = false) {
    precondition(isIdle, "a request was started on a busy connection")
    state = .head
    self.method = method
    self.upgrades = upgrades
    informationalCount = 0
    requestIsSent = false
    closeReason = closes ? .clientAskedForClose : nil
    keepAliveSeconds = nil
  }

  /// Records that the request's last byte has been passed to the transport.
  public mutating func requestSent() {
    requestIsSent = true
  }

  /// Parses bytes from `cursor` on and moves `cursor` past the parsed bytes. Call this method again until it returns
  /// `.needMoreBytes`.
  ///
  /// No events follow `.end`. If bytes remain after the response, the connection can't be reused, and `closeReason` is
  /// `.unsolicitedBytes`.
  public mutating func receive(
    _ bytes: borrowing Span<UInt8>, at cursor: inout Int
  ) throws(WireError) -> Event {
    do {
      return try next(bytes, at: &cursor)
    } catch {
      state = .closed
      throw error
    }
  }

  /// Handles the end of the peer's data, which completes a body that is delimited by the close of the connection. Throws
  /// `WireError.truncatedHead` or `.truncatedBody` if any other response is incomplete.
  public mutating func receiveEnd() throws(WireError) -> Event {
    let before = state
    state = .closed
    switch before {
    case .untilClose: return .end(trailers: Fields(), closeReason: .bodyEndsWithClose)
    case .idle, .closed: throw .truncatedHead(received: 0)
    case .head: throw .truncatedHead(received: parser.pendingCount)
    case .length(let remaining): throw .truncatedBody(missing: remaining)
    case .chunked: throw .truncatedBody(missing: nil)
    case .emptyBody: return .end(trailers: Fields(), closeReason: .closedByPeer)
    }
  }

  private mutating func next(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(WireError) -> Event {
    switch state {
    case .idle, .closed:
      guard cursor < bytes.count else { return .needMoreBytes }
      throw .unsolicitedBytes(count: bytes.count - cursor)
    case .head:
      guard cursor < bytes.count else { return .needMoreBytes }
      guard let head = try parser.nextHead(bytes, at: &cursor) else { return .needMoreBytes }
      return try readHead(head)
    case .length(let remaining):
      guard cursor < bytes.count else { return .needMoreBytes }
      let count = Int(min(remaining, UInt64(bytes.count - cursor)))
      let range = cursor..<cursor + count
      cursor = range.upperBound
      state = remaining == UInt64(count) ? .emptyBody : .length(remaining: remaining - UInt64(count))
      return .body(range)
    case .untilClose:
      guard cursor < bytes.count else { return .needMoreBytes }
      let range = cursor..<bytes.count
      cursor = bytes.count
      return .body(range)
    case .chunked:
      switch try chunks?.next(bytes, at: &cursor) {
      case .needMoreBytes, nil: return .needMoreBytes
      case .data(let range): return .body(range)
      case .end(let trailers):
        chunks = nil
        return end(trailers, leftOver: bytes.count - cursor)
      }
    case .emptyBody:
      return end(Fields(), leftOver: bytes.count - cursor)
    }
  }

  private mutating func readHead(_ head: consuming ResponseHead) throws(WireError) -> Event {
    let opensTunnel = method == "CONNECT" && 200..<300 ~= head.status
    if opensTunnel || (head.status == 101 && upgrades) {
      state = .closed
      return .handedOver(head)
    }
    if head.isInformational {
      guard head.status != 101 else { throw .unexpectedUpgrade }
      informationalCount += 1
      guard informationalCount <= limits.informationalMax else {
        throw .tooManyInformational(limit: limits.informationalMax)
      }
      return .informational(head)
    }
    let framing = try MessageFraming(of: head, method: method, limits: limits)
    closeReason = closeReason ?? framing.closeReason
    keepAliveSeconds = framing.keepAliveSeconds
    switch framing.body {
    case .none, .length(0): state = .emptyBody
    case .length(let length): state = .length(remaining: length)
    case .chunked:
      state = .chunked
      chunks = ChunkedDecoder(limits: limits)
    case .untilClose: state = .untilClose
    }
    return .head(head, framing.body, framing.transferCodings)
  }

  private mutating func end(_ trailers: Fields, leftOver: Int) -> Event {
    let reason: CloseReason? =
      if leftOver > 0 { .unsolicitedBytes } else if !requestIsSent { .requestUnfinished } else { closeReason }
    state = reason == nil ? .idle : .closed
    return .end(trailers: trailers, closeReason: reason)
  }
}
