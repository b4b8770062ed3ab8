// A connection with many exchanges, closes and replacements: a reply's bytes reach only the exchange that requested the reply.

@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes a connection with many exchanges. The input is a list of operations on the connection.
  static let connection = FuzzTarget(
    name: "connection", summary: "no byte of one reply is in another, over requests, pieces, closes and reuse"
  ) { bytes in
    var input = Input(bytes)
    var peer = Peer()
    while !input.isAtEnd { peer.step(&input) }
    peer.finish()
  }
}

/// A client's connection, and the simulated server at its other end.
private struct Peer: ~Copyable {
  /// The simulated server's reply to one request.
  private struct Reply {
    var wire: [UInt8] = []
    var body: [UInt8] = []
    var trailerCount = 0
    /// Whether the server sends unsolicited bytes after the reply.
    var hasSurplus = false
    /// Whether the body ends when the server closes the connection.
    var endsWithClose = false
    var asksForClose = false
    /// Whether the reply is a 204 that announces content, so that the connection isn't reused.
    var isAmbiguous = false
    /// Whether the reply is truncated because the server closes the connection.
    var isCut = false
  }

  private var connection = ClientConnection(limits: Limits())
  private var exchange = 0
  private var isUnderWay = false
  private var requestIsSent = false
  private var asksForClose = false
  private var reply = Reply()
  private var delivered = 0
  private var received: [UInt8] = []

  mutating func step(_ input: inout Input) {
    switch input.number(below: 8) {
    case 0, 1: if !isUnderWay { start(&input) }
    case 2:
      if isUnderWay, !requestIsSent {
        connection.requestSent()
        requestIsSent = true
      }
    case 3, 4: deliver(input.number(0...40))
    case 5: deliver(.max)
    case 6: if delivered == reply.wire.count, reply.isCut || reply.endsWithClose || !isUnderWay { end() }
    default: replace()
    }
  }

  mutating func finish() {
    if isUnderWay {
      deliver(.max)
      if isUnderWay { end() }
    }
  }

  // MARK: Requests

  private mutating func start(_ input: inout Input) {
    let isIdle = connection.isIdle
    if !isIdle { replace() }
    exchange += 1
    (isUnderWay, requestIsSent, asksForClose) = (true, input.flag(), input.number(below: 8) == 0)
    received = []
    delivered = 0
    let method = input.pick(["GET", "GET", "POST", "HEAD"])
    reply = makeReply(method, &input)
    connection.start(method: method, closes: asksForClose)
    if requestIsSent { connection.requestSent() }
  }

  /// Opens a new connection in place of the old one. Bytes of the old connection that haven't been delivered are lost.
  private mutating func replace() {
    connection = ClientConnection(limits: Limits())
    (reply, delivered, isUnderWay) = (Reply(), 0, false)
  }

  private func makeReply(_ method: String, _ input: inout Input) -> Reply {
    var reply = Reply()
    let choices = input.byte()
    // The body depends on the exchange's number, so that bytes of another exchange are detected.
    let body = (0..<input.number(below: 64)).map { UInt8(truncatingIfNeeded: exchange &* 37 &+ $0 &* (exchange | 1)) }
    for _ in 0..<input.number(below: 3) { reply.wire += "HTTP/1.1 103 Hints\r\nLink: <\(exchange)>\r\n\r\n".utf8 }
    reply.asksForClose = choices & 0x70 == 0x70
    let close = reply.asksForClose ? "Connection: close\r\n" : ""
    let status = choices & 0x0C == 0x0C ? 204 : 200
    let isBodiless = method == "HEAD" || status == 204
    reply.wire += "HTTP/1.1 \(status) OK\r\nExchange: \(exchange)\r\n\(close)".utf8
    switch choices & 3 {
    case 0, 1:
      reply.wire += "Content-Length: \(body.count)\r\n\r\n".utf8
      reply.isAmbiguous = status == 204 && !body.isEmpty
      if !isBodiless { reply.wire += body }
    case 2:
      reply.wire += "Transfer-Encoding: chunked\r\n\r\n".utf8
      reply.isAmbiguous = status == 204
      if !isBodiless {
        var cutter = Cutter(body)
        for piece in cutter.pieces(body) { ChunkedEncoder.append(piece.span, to: &reply.wire) }
        reply.wire += "0\r\nSum: \(exchange)\r\n\r\n".utf8
        reply.trailerCount = 1
      }
    default:
      reply.wire += "\r\n".utf8
      if !isBodiless { reply.wire += body }
      reply.endsWithClose = !isBodiless
    }
    reply.body = isBodiless ? [] : body
    if choices & 0x80 != 0, !reply.endsWithClose {
      // A second reply that wasn't requested. In a response-smuggling attack, the client would treat it as the reply to the next
      // request.
      reply.wire += "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison".utf8.prefix(input.number(1...44))
      reply.hasSurplus = true
    } else if input.number(below: 6) == 0 {
      reply.wire.removeLast(min(reply.wire.count, input.number(1...30)))
      reply.isCut = true
    }
    return reply
  }

  // MARK: Bytes

  private mutating func deliver(_ count: Int) {
    let piece = Array(reply.wire[delivered...].prefix(count))
    guard !piece.isEmpty else { return }
    delivered += piece.count
    let wasUnderWay = isUnderWay
    do throws(WireError) {
      try GuardedBytes.with(piece) { (span) throws(WireError) in
        var cursor = 0
        while true {
          let event = try connection.receive(span, at: &cursor)
          guard take(event, piece, left: piece.count - cursor) else { break }
        }
      }
      hold(wasUnderWay, "bytes without a request were accepted")
    } catch {
      hold(!wasUnderWay && reply.hasSurplus, "exchange \(exchange): \(error)")
      let isIdle = connection.isIdle
      hold(!isIdle, "idle after an error")
      replace()
    }
  }

  /// Checks an event of the connection. Returns whether the same bytes may contain further events.
  private mutating func take(_ event: ClientConnection.Event, _ piece: [UInt8], left: Int) -> Bool {
    switch event {
    case .needMoreBytes, .handedOver: return false
    case .informational(let head): hold(head.fields.first("Link") == "<\(exchange)>", "another exchange's interim head")
    case .head(let head, _, _): hold(head.fields.first("Exchange") == "\(exchange)", "a head of another exchange")
    case .body(let range):
      received += piece[range]
      hold(reply.body.starts(with: received), "exchange \(exchange) got \(received), not \(reply.body)")
    case .end(let trailers, let reason):
      hold(isUnderWay, "an end without a request")
      hold(received == reply.body, "exchange \(exchange) ended with \(received), not \(reply.body)")
      hold(trailers.first("Sum") == (reply.trailerCount > 0 ? "\(exchange)" : nil), "trailers of another exchange")
      checkReuse(reason, left: left)
      isUnderWay = false
      return false
    }
    return true
  }

  private func checkReuse(_ reason: CloseReason?, left: Int) {
    let mayStay =
      left == 0 && requestIsSent && !asksForClose && !reply.asksForClose && !reply.endsWithClose && !reply.isAmbiguous
    hold((reason == nil) == mayStay, "exchange \(exchange): closed because of \(String(describing: reason))")
    let isIdle = connection.isIdle
    hold(isIdle == (reason == nil), "idle is \(isIdle) with \(String(describing: reason))")
  }

  private mutating func end() {
    guard isUnderWay else { return replace() }
    do throws(WireError) {
      guard case .end(_, let reason?) = try connection.receiveEnd() else { return hold(false, "no end, or reusable") }
      // If the body ends when the connection closes, a truncated body can't be distinguished from a complete one.
      hold(
        received == reply.body || (reply.isCut && reply.endsWithClose),
        "exchange \(exchange) ended by a close with \(received), not \(reply.body)")
      hold(reply.endsWithClose || reason == .closedByPeer, "\(reason)")
    } catch {
      hold(error.isTruncation && reply.isCut, "exchange \(exchange): \(error)")
    }
    let isIdle = connection.isIdle
    hold(!isIdle, "idle after the end of the connection")
    replace()
  }
}
