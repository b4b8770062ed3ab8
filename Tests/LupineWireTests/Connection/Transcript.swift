// Transcript: records the events of a ClientConnection in a comparable form.

import LupineWire
import Testing

/// Everything that a `ClientConnection` has reported during one exchange. It doesn't depend on how the received bytes were split.
struct Transcript: Equatable {
  /// The final response's head.
  struct Head: Equatable {
    let minorVersion: UInt8
    let status: Int
    let reason: String
    let fields: Fields
    let rawBytes: [UInt8]
    let framing: BodyFraming
    let transferCodings: [TransferCoding]
  }

  private(set) var informational: [Int] = []
  /// The total length of the interim response heads, in bytes.
  private(set) var interimBytes = 0
  private(set) var head: Head?
  private(set) var body: [UInt8] = []
  private(set) var trailers = Fields()
  private(set) var isComplete = false
  /// The bytes after a head that ended HTTP on the connection, or nil if HTTP continues.
  private(set) var handedOver: [UInt8]?
  private(set) var close: CloseReason?
  private(set) var error: WireError?

  /// Passes the pieces to a connection one after another, until the response ends or an error occurs.
  ///
  /// The connection must refuse bytes after the end of the response. `close` is then `.unsolicitedBytes`, whether these bytes were
  /// in the same piece as the end or in a later one.
  init(
    of pieces: [ArraySlice<UInt8>], method: String, upgrades: Bool = false, peerCloses: Bool, limits: Limits = Limits()
  ) {
    var connection = ClientConnection(limits: limits)
    connection.start(method: method, closes: false, upgrades: upgrades)
    connection.requestSent()
    do throws(WireError) {
      for piece in pieces where error == nil {
        if handedOver != nil {
          handedOver? += piece
        } else if isComplete {
          refuse(piece, &connection)
        } else {
          try feed(Array(piece), &connection)
        }
      }
      if peerCloses, !isComplete, handedOver == nil { _ = record(try connection.receiveEnd(), []) }
    } catch {
      self.error = error
    }
    let isIdle = connection.isIdle
    #expect(isIdle == (isComplete && close == nil))
  }

  private mutating func feed(_ bytes: [UInt8], _ connection: inout ClientConnection) throws(WireError) {
    var cursor = 0
    while true {
      let before = cursor
      let event = try connection.receive(bytes.span, at: &cursor)
      #expect(before <= cursor && cursor <= bytes.count)
      guard record(event, bytes) else {
        if handedOver != nil {
          handedOver = Array(bytes[cursor...])
        } else if !isComplete {
          #expect(cursor == bytes.count, "the connection left bytes unread and requested more")
        }
        return
      }
    }
  }

  /// A copy of this transcript without its error.
  var withoutError: Transcript {
    var copy = self
    copy.error = nil
    return copy
  }

  // Passes bytes after the end of the response to the connection, which must refuse them.
  private mutating func refuse(_ piece: ArraySlice<UInt8>, _ connection: inout ClientConnection) {
    let bytes = Array(piece)
    var cursor = 0
    guard !bytes.isEmpty else { return }
    do throws(WireError) {
      _ = try connection.receive(bytes.span, at: &cursor)
      Issue.record("the connection accepted bytes after the end")
    } catch {
      #expect(error == .unsolicitedBytes(count: bytes.count))
      close = .unsolicitedBytes
    }
  }

  /// Records an event of the connection. Returns whether the same bytes may contain further events.
  private mutating func record(_ event: ClientConnection.Event, _ bytes: [UInt8]) -> Bool {
    switch event {
    case .needMoreBytes: return false
    case .informational(let head):
      #expect(head.isInformational)
      informational.append(head.status)
      interimBytes += head.byteCount
    case .head(let head, let framing, let codings):
      take(head, framing, codings)
    case .handedOver(let head):
      take(head, .none, [])
      handedOver = []
      return false
    case .body(let range):
      #expect(head != nil && !range.isEmpty)
      body += bytes[range]
    case .end(let trailers, let closeReason):
      self.trailers = trailers
      close = closeReason
      isComplete = true
      return false
    }
    return true
  }

  private mutating func take(_ head: ResponseHead, _ framing: BodyFraming, _ codings: [TransferCoding]) {
    #expect(self.head == nil, "a second final head was received")
    self.head = Head(
      minorVersion: head.minorVersion, status: head.status, reason: head.reason, fields: head.fields,
      rawBytes: head.rawBytes, framing: framing, transferCodings: codings)
  }
}

extension Array where Element == UInt8 {
  /// The array's bytes as slices of one byte each.
  var singly: [ArraySlice<UInt8>] { indices.map { self[$0...$0] } }
}

extension Fields {
  /// The field lines as they are written in HTTP, such as `Age: 3`.
  var wireLines: [String] { map { "\($0.name): \($0.value)" } }
}
