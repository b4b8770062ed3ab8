// One connection's side of HTTP/1.1 as a client: bytes in, events out. It knows no descriptor, no TLS and no clock.

/// What a connection is told and what it says, one request at a time (pipelining is not used).
///
/// `start` for each request, `receive` for what the peer sends until it answers `.needMoreBytes`, `requestSent` once
/// the request's last byte is on its way. An error is final: the connection has to be closed.
public struct ClientConnection: ~Copyable {
  /// What was found in the bytes.
  public enum Event: Sendable {
    /// Everything given was used up; the message goes on.
    case needMoreBytes
    /// An interim response (1xx); the final one follows.
    case informational(ResponseHead)
    /// The final response's head, how its body is delimited, and what its chunks' data is coded with besides, in the
    /// order in which it was applied; empty unless the body is chunked.
    case head(ResponseHead, BodyFraming, [TransferCoding])
    /// Body bytes: a range of the span given.
    case body(Range<Int>)
    /// The response is complete. Nil if the connection can take another request.
    case end(trailers: Fields, closeReason: CloseReason?)
    /// HTTP has ended on the connection: a 101 that was asked for (RFC 9110 §7.8), or a 2xx to CONNECT, which opens a
    /// tunnel (§9.3.6).
    ///
    /// Its bytes from the cursor on, and whatever comes later, belong to the protocol that follows. No further event
    /// comes. The connection is never idle again.
    case handedOver(ResponseHead)
  }

  private enum State {
    case idle
    case head
    case length(remaining: UInt64)
    case chunked(ChunkedDecoder)
    case untilClose
    case emptyBody  // the head was delivered, the end was not
    case closed
  }

  private let limits: Limits
  private var state = State.idle
  private var parser: SectionParser
  private var method = ""
  private var upgrades = false
  private var informationalCount = 0
  private var requestIsSent = false
  private var closeReason: CloseReason?

  /// Creates the state of a fresh connection.
  public init(limits: Limits) {
    self.limits = limits
    parser = SectionParser(.response, limits: limits)
  }

  /// Whether a request can be started.
  public var isIdle: Bool {
    if case .idle = state { true } else { false }
  }

  /// Whether the response's end can be told without further bytes.
  public var hasPendingEnd: Bool {
    if case .emptyBody = state { true } else { false }
  }

  /// A request's head is on its way. `closes`: it says `Connection: close`; `upgrades`: it offers another protocol in
  /// an Upgrade field.
  ///
  /// Without `upgrades` a 101 is an error. With it, whoever made the offer has to look whether the 101 names a
  /// protocol of it, and must have sent the whole request before the new protocol's first byte (RFC 9110 §7.8).
  public mutating func start(method: String, closes: Bool, upgrades: Bool = false) {
    precondition(isIdle, "a request was started on a connection that is in use")
    state = .head
    self.method = method
    self.upgrades = upgrades
    informationalCount = 0
    requestIsSent = false
    closeReason = closes ? .clientAskedForClose : nil
  }

  /// The request's last byte has been handed to the transport.
  public mutating func requestSent() {
    requestIsSent = true
  }

  /// Reads on from `cursor` and moves it. Call again until the answer is `.needMoreBytes`.
  ///
  /// Behind `.end` come no further events; bytes that are left make the connection unusable, and the reason says so.
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

  /// The peer has closed its side: the end of a close-delimited body, or a truncation.
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
      guard case .section(let section) = try parser.next(bytes, at: &cursor) else { return .needMoreBytes }
      return try readHead(ResponseHead(section))
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
    case .chunked(var decoder):
      state = .closed  // releases the old value, so that the decoder's buffers aren't copied
      let step = try decoder.next(bytes, at: &cursor)
      state = .chunked(decoder)
      switch step {
      case .needMoreBytes: return .needMoreBytes
      case .data(let range): return .body(range)
      case .end(let trailers): return end(trailers, leftOver: bytes.count - cursor)
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
    switch framing.body {
    case .none, .length(0): state = .emptyBody
    case .length(let length): state = .length(remaining: length)
    case .chunked: state = .chunked(ChunkedDecoder(limits: limits))
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
