// ReplyRecord: the events of one exchange on a connection, independent of how its bytes were cut.

@testable import LupineWire

/// Everything that a `ClientConnection` reports while it receives one reply. It doesn't depend on how the reply's bytes were cut.
struct ReplyRecord: Equatable {
  var interim: [[UInt8]] = []
  var head: [UInt8]?
  var fields = Fields()
  var framing: BodyFraming?
  var codings: [TransferCoding] = []
  var body: [UInt8] = []
  var trailers = Fields()
  var isComplete = false
  /// The bytes after a head that ends HTTP on the connection: that of a 101, or of a 2xx response to CONNECT. Nil without such a
  /// head.
  var handedOver: [UInt8]?
  var closeReason: CloseReason?
  /// The description of the error, without the parts that depend on how the reply's bytes were cut.
  var error: String?

  /// Passes the pieces of a reply to a new connection, each directly before a guard page.
  init(_ pieces: [[UInt8]], method: String, upgrades: Bool, peerCloses: Bool, limits: Limits) {
    var connection = ClientConnection(limits: limits)
    connection.start(method: method, closes: false, upgrades: upgrades)
    connection.requestSent()
    do throws(WireError) {
      for piece in pieces {
        if handedOver != nil {
          handedOver? += piece
        } else {
          try feed(piece, &connection)
        }
      }
      if peerCloses, !isComplete, handedOver == nil { take(try connection.receiveEnd(), []) }
    } catch {
      self.error = Self.name(error)
      Self.expectSilence(&connection)
    }
    let isIdle = connection.isIdle
    hold(isIdle == (isComplete && closeReason == nil && error == nil), "idle is \(isIdle): \(self)")
  }

  private mutating func feed(_ piece: [UInt8], _ connection: inout ClientConnection) throws(WireError) {
    if isComplete {
      if !piece.isEmpty { refuse(piece, &connection) }
      return
    }
    try GuardedBytes.with(piece) { (span) throws(WireError) in
      var cursor = 0
      while true {
        let before = cursor
        let event = try connection.receive(span, at: &cursor)
        hold(before <= cursor && cursor <= piece.count, "the cursor went from \(before) to \(cursor)")
        if take(event, piece) { continue }
        if handedOver != nil {
          handedOver = Array(piece[cursor...])
        } else if isComplete {
          hold((closeReason == .unsolicitedBytes) == (cursor < piece.count), "\(piece.count - cursor) bytes are left")
        } else {
          hold(cursor == piece.count, "more bytes are needed, but some are left")
        }
        return
      }
    }
  }

  /// Passes bytes after the end of the reply to the connection, which must report an error.
  private mutating func refuse(_ piece: [UInt8], _ connection: inout ClientConnection) {
    var cursor = 0
    do throws(WireError) {
      _ = try connection.receive(piece.span, at: &cursor)
      hold(false, "bytes after the end were accepted")
    } catch {
      hold(error == .unsolicitedBytes(count: piece.count), "\(error)")
      closeReason = .unsolicitedBytes
    }
  }

  /// Records an event of the connection. Returns whether the same bytes may contain further events.
  @discardableResult
  private mutating func take(_ event: ClientConnection.Event, _ piece: [UInt8]) -> Bool {
    hold(!isComplete && handedOver == nil && error == nil, "an event after the end")
    switch event {
    case .needMoreBytes: return false
    case .informational(let head):
      hold(head.isInformational && self.head == nil, "an interim response of status \(head.status)")
      interim.append(head.rawBytes)
    case .head(let head, let framing, let codings):
      takeHead(head)
      (self.framing, self.codings) = (framing, codings)
    case .handedOver(let head):
      takeHead(head)
      handedOver = []
      return false
    case .body(let range):
      hold(head != nil && !range.isEmpty && range.upperBound <= piece.count, "a body of \(range)")
      body += piece[range]
    case .end(let trailers, let reason):
      hold(head != nil, "an end without a head")
      (self.trailers, closeReason, isComplete) = (trailers, reason, true)
      return false
    }
    return true
  }

  private mutating func takeHead(_ head: ResponseHead) {
    hold(self.head == nil, "a second head")
    hold(100...999 ~= head.status && head.minorVersion <= 1, "\(head.status)")
    self.head = head.rawBytes
    fields = head.fields
  }

  /// Checks that a connection that has reported an error delivers no further events.
  private static func expectSilence(_ connection: inout ClientConnection) {
    for bytes in [Array("HTTP/1.1 200 OK\r\n\r\n".utf8), []] {
      var cursor = 0
      if let event = try? connection.receive(bytes.span, at: &cursor) {
        guard case .needMoreBytes = event, bytes.isEmpty else { return hold(false, "\(event) after an error") }
      }
    }
    if let event = try? connection.receiveEnd() { hold(false, "\(event) after an error") }
  }

  private static func name(_ error: WireError) -> String {
    // The error for a reply that isn't HTTP quotes the bytes received so far, which depend on how the reply was cut.
    if case .notHTTP = error { return "notHTTP" }
    return "\(error)"
  }
}
