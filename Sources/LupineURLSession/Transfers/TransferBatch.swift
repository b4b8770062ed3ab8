// TransferBatch: the events of a transfer that the engine has reported since the last delivery.

import Foundation
import LupineEngine

/// The events that a transfer hasn't delivered yet on the session's queue: the parts of a response, the number of sent bytes, and
/// the end of the exchange.
struct TransferBatch {
  /// The kinds of events, in the order in which they are delivered.
  enum Part { case identityRequest, sentByteCount, head, piece, end }

  /// The outcome of an exchange. A response's trailer section isn't kept, because the observer doesn't receive it.
  enum Outcome {
    case success
    // Indirect because an error takes 186 bytes, which each transfer would otherwise reserve and move several times.
    indirect case failure(EngineError)
  }

  /// The total number of bytes of the request's body that were sent so far. Nil if this number needn't be reported.
  var sentByteCount: Int64?
  var head: ResponseHead?
  /// The latest piece of the response's body, to which further bytes can be appended. Empty if there is none.
  private(set) var body = Data()
  /// The earlier pieces of the response's body, oldest first, which come before `body`.
  private(set) var earlierPieces: [Data] = []
  var end: Outcome?
  /// The DER-encoded names of the authorities whose client certificates the server accepts. If it isn't nil, the exchange has ended
  /// without sending the request, because the server has requested a client certificate.
  var identityRequest: [[UInt8]]?

  /// The maximum length of a piece to which received bytes are appended: 256 KiB, the maximum that the engine reads at once. Bytes
  /// are joined to longer pieces, because delivering a short piece costs the same as delivering a long one.
  private static let joinedBytesMax = 256 * 1024
  /// The minimum length of a piece, 32 KiB, at which capacity is reserved for all bytes that may still be appended to it. After a
  /// shorter piece, further bytes often don't arrive soon.
  private static let roomyBytesMin = 32 * 1024

  /// Appends bytes of the response's body to the latest piece, or starts another piece if the latest one would exceed
  /// `joinedBytesMax`. If the body isn't streamed (`windowBytes` is nil), all bytes are appended to the latest piece.
  mutating func append(body bytes: borrowing Span<UInt8>, windowBytes: Int?) {
    if let windowBytes {
      if !body.isEmpty, body.count + bytes.count > Self.joinedBytesMax {
        earlierPieces.append(body)
        body = Data()
      }
      let count = body.count + bytes.count
      if count >= Self.roomyBytesMin { body.reserveCapacity(max(count, min(windowBytes, Self.joinedBytesMax))) }
    }
    body.append(copying: bytes, 0..<bytes.count)
  }

  /// Appends a piece of the response's body as a separate piece, without joining it to the latest one.
  mutating func append(_ piece: Data) {
    if !body.isEmpty { earlierPieces.append(body) }
    body = piece
  }

  /// Removes and returns the oldest piece of the response's body.
  mutating func takePiece() -> Data {
    guard earlierPieces.isEmpty else { return earlierPieces.removeFirst() }
    var piece = Data()
    swap(&piece, &body)
    return piece
  }

  /// The kind of the next event to deliver. Nil if there are no events.
  var nextPart: Part? {
    // A getter that isn't mutating would copy the whole batch.
    mutating get {
      if identityRequest != nil { return .identityRequest }
      if sentByteCount != nil { return .sentByteCount }
      if head != nil { return .head }
      if !body.isEmpty { return .piece }
      return end == nil ? nil : .end
    }
  }
}
