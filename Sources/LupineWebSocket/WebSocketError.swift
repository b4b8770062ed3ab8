// WebSocketError: the ways in which a peer breaks the protocol, each with the code that closes the connection.

package import LupineCoding

/// An error that fails a WebSocket connection (RFC 6455 §7.1.7), with the rule that the peer has broken.
package enum WebSocketError: Error, Sendable, Equatable {
  /// A frame has reserved bits that no negotiated extension defines. The associated value contains RSV1 to RSV3 as bits 2 to 0.
  case reservedBits(UInt8)
  case reservedOpcode(UInt8)
  /// A server has masked a frame.
  case maskedFrame
  /// A length isn't encoded in the fewest bytes, or its most significant bit is set.
  case malformedLength
  case fragmentedControlFrame
  case controlFrameTooLong(Int)
  /// A continuation frame without a message to continue.
  case unexpectedContinuation
  /// A new message before the end of a fragmented one.
  case interruptedMessage
  /// A text message or a close reason isn't UTF-8.
  case invalidUTF8
  /// A Close frame has a payload of one byte.
  case closePayloadTooShort
  case forbiddenCloseCode(UInt16)
  /// A frame exceeds `WebSocketLimits.frameBytesMax`. The associated value is this limit.
  case frameTooBig(limit: Int)
  /// A message exceeds `WebSocketLimits.messageBytesMax`. The associated value is this limit.
  case messageTooBig(limit: Int)
  /// The compressed data of a message is invalid.
  case decompression(CodingError)
  /// The peer hasn't answered a ping in time.
  case pingTimedOut(Duration)

  /// The code with which the connection is closed.
  package var closeCode: WebSocketCloseCode {
    switch self {
    case .reservedBits, .reservedOpcode, .maskedFrame, .malformedLength, .fragmentedControlFrame, .controlFrameTooLong,
      .unexpectedContinuation, .interruptedMessage, .closePayloadTooShort, .forbiddenCloseCode:
      .protocolError
    case .invalidUTF8, .decompression: .invalidData
    case .frameTooBig, .messageTooBig: .tooBig
    case .pingTimedOut: .goingAway
    }
  }
}

extension WebSocketError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .reservedBits(let bits):
      "The peer set the reserved bits \(bits) of a frame, although no extension uses them (RFC 6455 §5.2). Fix the peer."
    case .reservedOpcode(let opcode):
      "The peer sent a frame with the reserved opcode \(opcode) (RFC 6455 §5.2). Fix the peer."
    case .maskedFrame: "The server masked a frame (RFC 6455 §5.1). Fix the server."
    case .malformedLength: "The length of a frame isn't encoded in the fewest bytes (RFC 6455 §5.2). Fix the peer."
    case .fragmentedControlFrame: "The peer fragmented a control frame (RFC 6455 §5.5). Fix the peer."
    case .controlFrameTooLong(let count):
      "A control frame has \(count) bytes; at most 125 are allowed (RFC 6455 §5.5). Fix the peer."
    case .unexpectedContinuation: "A continuation frame continues no message (RFC 6455 §5.4). Fix the peer."
    case .interruptedMessage: "A message began before the previous one had ended (RFC 6455 §5.4). Fix the peer."
    case .invalidUTF8:
      "A text message or a close reason isn't UTF-8 (RFC 6455 §8.1). Send such data as binary messages."
    case .closePayloadTooShort:
      "A Close frame has a payload of one byte (RFC 6455 §5.5.1). Fix the peer."
    case .forbiddenCloseCode(let code):
      "A Close frame has the code \(code), which must not be sent (RFC 6455 §7.4). Fix the peer."
    case .frameTooBig(let limit): "A frame has more than \(limit) bytes. Let the peer send smaller frames."
    case .messageTooBig(let limit):
      "A message has more than \(limit) bytes. Let the peer send smaller messages, or raise the limit."
    case .decompression(let error): "A compressed message can't be decoded (RFC 7692): \(error)"
    case .pingTimedOut(let limit): "The peer didn't answer a ping within \(limit). Connect again."
    }
  }
}
