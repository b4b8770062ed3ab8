// WebSocketCloseCode: the status codes of the closing handshake (RFC 6455 §7.4).

/// The reason code of a Close frame, or of a connection that ended without one.
package struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
  package let rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let normal = Self(rawValue: 1000)
  package static let goingAway = Self(rawValue: 1001)
  package static let protocolError = Self(rawValue: 1002)
  package static let unsupportedData = Self(rawValue: 1003)
  /// The Close frame had no code. It is never sent.
  package static let noStatus = Self(rawValue: 1005)
  /// The connection ended without a Close frame. It is never sent.
  package static let abnormal = Self(rawValue: 1006)
  package static let invalidData = Self(rawValue: 1007)
  package static let policyViolation = Self(rawValue: 1008)
  package static let tooBig = Self(rawValue: 1009)
  package static let mandatoryExtension = Self(rawValue: 1010)
  package static let internalError = Self(rawValue: 1011)

  /// Whether a Close frame may have this code, in either direction. 1004, 1005, 1006 and 1015 are reserved, and 1016 to 2999 are
  /// unassigned (RFC 6455 §7.4.1, §7.4.2). 1012 to 1014 are in IANA's registry. Only a server sends 1011 to 1014, but a client
  /// that sends them does no harm.
  package var isSendable: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}

/// The content of a Close frame.
package struct WebSocketClose: Sendable, Hashable {
  /// The code of the frame, or `.noStatus` if its payload was empty.
  package var code: WebSocketCloseCode
  /// The UTF-8 text that explains the code. Empty if there is none.
  package var reason: [UInt8]

  package init(_ code: WebSocketCloseCode, reason: [UInt8] = []) {
    self.code = code
    self.reason = reason
  }

  /// The maximum length of a reason: 123 bytes, because a control frame has at most 125 (RFC 6455 §5.5).
  package static let reasonBytesMax = 123

  // [ Status code (2 octets) [ Reason ] ] (RFC 6455 §5.5.1)
  var payload: [UInt8] {
    guard code != .noStatus else { return [] }
    return [UInt8(code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)] + reason
  }

  init(payload: [UInt8]) throws(WebSocketError) {
    guard !payload.isEmpty else {
      self.init(.noStatus)
      return
    }
    guard payload.count >= 2 else { throw .closePayloadTooShort }
    let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
    guard code.isSendable else { throw .forbiddenCloseCode(code.rawValue) }
    var validator = UTF8Validator()
    let reason = Array(payload[2...])
    guard validator.accept(reason.span), validator.isComplete else { throw .invalidUTF8 }
    self.init(code, reason: reason)
  }

  /// Returns the longest beginning of the reason that has at most 123 bytes and doesn't split a character.
  package static func truncated(_ reason: [UInt8]) -> [UInt8] {
    guard reason.count > reasonBytesMax else { return reason }
    var end = reasonBytesMax
    while end > 0, reason[end] & 0xc0 == 0x80 { end -= 1 }
    return Array(reason[..<end])
  }
}
