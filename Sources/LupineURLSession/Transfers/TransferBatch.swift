// TransferBatch: the events of a transfer that the engine has reported since the last delivery.

import Foundation
import LupineEngine

/// The parts of a response, and the progress of the request's body, that await delivery on the session's queue.
struct TransferBatch {
  /// The kind of the part to deliver next.
  enum Part { case identityRequest, sentByteCount, head, piece, end }

  /// The total number of bytes of the request's body that were sent.
  var sentByteCount: Int64?
  var head: ResponseHead?
  /// The latest piece of the body.
  private(set) var body = Data()
  /// The pieces before the latest one, oldest first.
  private(set) var earlierPieces: [Data] = []
  var end: Result<Fields, EngineError>?
  /// The names, in DER, of the authorities whose certificates the server accepts, or nil if the server hasn't requested a
  /// certificate. If not nil, the exchange has ended without sending the request.
  var identityRequest: [[UInt8]]?

  /// The maximum number of bytes in a joined piece: 256 KiB, which is what the engine reads at once. Pieces are joined because
  /// delivering a piece costs the same, regardless of its length.
  private static let joinedBytesMax = 256 * 1024
  /// If a piece has at least this length (32 KiB), capacity is reserved for all bytes that may later be appended to it. For a
  /// shorter piece, no capacity is reserved, because often no further bytes arrive soon.
  private static let roomyBytesMin = 32 * 1024

  /// Appends bytes of the body to the latest piece, or starts another piece if the latest would exceed `joinedBytesMax`. Without
  /// a receive window, the pieces have no maximum length.
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

  /// Appends a piece of the body without joining it to the latest piece.
  mutating func append(_ piece: Data) {
    if !body.isEmpty { earlierPieces.append(body) }
    body = piece
  }

  /// Removes the oldest piece of the body and returns it.
  mutating func takePiece() -> Data {
    guard earlierPieces.isEmpty else { return earlierPieces.removeFirst() }
    var piece = Data()
    swap(&piece, &body)
    return piece
  }

  /// The part to deliver next, or nil if there is none.
  var nextPart: Part? {
    if identityRequest != nil { return .identityRequest }
    if sentByteCount != nil { return .sentByteCount }
    if head != nil { return .head }
    if !body.isEmpty { return .piece }
    return end == nil ? nil : .end
  }
}
