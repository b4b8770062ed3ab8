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
  private(set) var body = GrowingPiece()
  /// The earlier pieces of the response's body, oldest first, which come before `body`.
  private(set) var earlierPieces: [Data] = []
  var end: Outcome?
  /// The DER-encoded names of the authorities whose client certificates the server accepts. If it isn't nil, the exchange has ended
  /// without sending the request, because the server has requested a client certificate.
  var identityRequest: [[UInt8]]?

  /// Appends bytes of the response's body to the latest piece. If `memory` isn't nil, the pieces of the body are delivered one by
  /// one: another piece is started if the latest one would exceed `PieceMemory.blockBytes`. Bytes are joined to long pieces, because
  /// delivering a short piece costs the same as delivering a long one.
  mutating func append(body bytes: borrowing Span<UInt8>, in memory: PieceMemory?) {
    if body.append(bytes, in: memory) { return }
    earlierPieces.append(body.take())
    _ = body.append(bytes, in: memory)
  }

  /// Appends a piece of the response's body as a separate piece, without joining it to the latest one.
  mutating func append(_ piece: Data) {
    if !body.isEmpty { earlierPieces.append(body.take()) }
    body = GrowingPiece(piece)
  }

  /// Removes and returns the oldest piece of the response's body.
  mutating func takePiece() -> Data {
    earlierPieces.isEmpty ? body.take() : earlierPieces.removeFirst()
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
