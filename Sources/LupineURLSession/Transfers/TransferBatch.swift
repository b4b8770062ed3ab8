// TransferBatch: the events of a transfer that the engine has reported since the last delivery.

import Foundation
import LupineEngine

/// The events that a transfer must still deliver on the session's queue: the parts of a response, the number of sent bytes, and the
/// end of the exchange.
struct TransferBatch {
  /// The kinds of events, in the order in which they are delivered.
  enum Part { case identityRequest, sentByteCount, head, piece, end }

  /// The total number of bytes of the request's body sent so far. Nil if it needn't be delivered.
  var sentByteCount: Int64?
  var head: ResponseHead?
  /// The latest piece of the response's body, to which more bytes can be appended. Empty if there is none.
  private(set) var body = Data()
  /// The pieces of the response's body before `body`, oldest first.
  private(set) var earlierPieces: [Data] = []
  var end: Result<Fields, EngineError>?
  /// The names, in DER, of the authorities whose client certificates the server accepts. Nil if the server hasn't requested a
  /// certificate. If not nil, the exchange has ended without sending the request.
  var identityRequest: [[UInt8]]?

  /// The maximum number of bytes of received pieces that are joined to one piece: 256 KiB, which is what the engine reads at once.
  /// Pieces are joined because delivering a piece costs the same, whatever its length.
  private static let joinedBytesMax = 256 * 1024
  /// The minimum length of a piece, 32 KiB, at which capacity is reserved for all bytes that may still be appended to the piece.
  /// After a shorter piece, often no further bytes arrive soon.
  private static let roomyBytesMin = 32 * 1024

  /// Appends bytes of the body to the latest piece, or starts another piece if the latest one would exceed `joinedBytesMax`.
  /// Without a receive window (`windowBytes` is nil), all bytes are appended to the latest piece.
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

  /// Appends a piece of the response's body without joining it to the latest piece.
  mutating func append(_ piece: Data) {
    if !body.isEmpty { earlierPieces.append(body) }
    body = piece
  }

  /// Removes the oldest piece of the response's body and returns it.
  mutating func takePiece() -> Data {
    guard earlierPieces.isEmpty else { return earlierPieces.removeFirst() }
    var piece = Data()
    swap(&piece, &body)
    return piece
  }

  /// The kind of the next event to deliver. Nil if there is none.
  var nextPart: Part? {
    if identityRequest != nil { return .identityRequest }
    if sentByteCount != nil { return .sentByteCount }
    if head != nil { return .head }
    if !body.isEmpty { return .piece }
    return end == nil ? nil : .end
  }
}
