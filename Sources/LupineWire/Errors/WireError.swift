// WireError: the errors of messages, each with its cause, place and remedy.

/// The reason why a response violates HTTP, or why a request can't be serialized.
///
/// After a response that violates HTTP, the connection can't be reused. Offsets are in bytes from the start of the head, the
/// trailer section or the chunk-size line.
public enum WireError: Error, Sendable, Hashable {
  // Errors of the peer's response.
  /// The response doesn't start with `HTTP/`. `prefix` contains up to 16 of its first bytes.
  case notHTTP(prefix: String)
  /// The version in the status line isn't HTTP/1.x. The associated value is the version.
  case unsupportedVersion(String)
  /// The status line violates the grammar of RFC 9112 §4. `offset` is the position of the violation in the response head.
  case malformedStatusLine(offset: Int)
  /// The head of the response exceeds `Limits.headBytesMax`.
  case headTooLarge(limit: Int)
  /// The number of field lines in the head or trailer section exceeds `Limits.fieldLinesMax`.
  case tooManyFields(limit: Int)
  /// A field line doesn't start with a token and a colon. `offset` is the position of the violation in the head or trailer section.
  case malformedFieldName(offset: Int)
  /// A field line has white space between the name and the colon. `offset` is the position of that white space in the head or
  /// trailer section.
  case spaceBeforeColon(offset: Int)
  /// The head or trailer section contains this control character at the position `offset`.
  case forbiddenByte(UInt8, offset: Int)
  /// The value of a Content-Length field isn't a decimal number that fits 64 bits.
  case malformedContentLength(String)
  /// The response has two different Content-Length values.
  case conflictingContentLength(String, String)
  /// Chunked isn't the last transfer coding, or a coding before chunked is unknown. The associated value is the Transfer-Encoding
  /// field's value.
  case unsupportedTransferCoding(String)
  /// The number of transfer codings before chunked exceeds `Limits.transferCodingsMax`.
  case tooManyTransferCodings(limit: Int)
  /// The number of interim responses exceeds `Limits.informationalMax`.
  case tooManyInformational(limit: Int)
  /// The server sent a 101 although the request didn't offer an upgrade.
  case unexpectedUpgrade
  /// A chunk size isn't hexadecimal, or its line contains a forbidden byte. `offset` is the position of the violation in that line.
  case malformedChunkSize(offset: Int)
  /// A chunk size has more than 16 digits.
  case chunkSizeOverflow
  /// A chunk-size line exceeds `Limits.chunkLineBytesMax`.
  case chunkLineTooLong(limit: Int)
  /// The total size of a body's chunk extensions exceeds `Limits.chunkExtensionBytesMax`.
  case chunkExtensionsTooLong(limit: Int)
  /// A chunk's data isn't followed by CRLF.
  case missingChunkTerminator
  /// The trailer section exceeds `Limits.trailerBytesMax`.
  case trailersTooLarge(limit: Int)
  /// The connection ended after `received` bytes of the head, before the head was complete. `received` is 0 if there was no
  /// response at all.
  case truncatedHead(received: Int)
  /// The connection ended within the response body. `missing` is the number of body bytes that weren't received, or nil if the
  /// length of the body is unknown.
  case truncatedBody(missing: UInt64?)
  /// The server sent `count` bytes that belong to no response.
  case unsolicitedBytes(count: Int)

  // Errors of the caller's request.
  /// The request's method isn't a token.
  case invalidMethod(String)
  /// The request target contains a byte that isn't visible ASCII. `offset` is the byte's position in the target.
  case invalidTarget(byte: UInt8, offset: Int)
  /// The name of a request field isn't a token.
  case invalidRequestFieldName(String)
  /// The value of a request field contains a control character.
  case invalidRequestFieldValue(name: String, byte: UInt8)
  /// A field with this name can't be sent in the trailer section of a request.
  case trailerNotPermitted(String)
  /// The trailer section has a field with this name, which the request hasn't announced.
  case trailerNotAnnounced(String)

  /// Whether the caller's request is invalid, so that none of it was sent. If false, the error is in the response.
  public var isCallersFault: Bool {
    switch self {
    case .invalidMethod, .invalidTarget, .invalidRequestFieldName, .invalidRequestFieldValue, .trailerNotPermitted,
      .trailerNotAnnounced:
      true
    default: false
    }
  }

  /// Whether the peer closed the connection in the middle of a message.
  public var isTruncation: Bool {
    switch self {
    case .truncatedHead, .truncatedBody: true
    default: false
    }
  }
}

extension WireError: CustomStringConvertible {
  /// A text that states the cause of the error, its position in the message, the RFC section and the remedy.
  public var description: String {
    switch self {
    case .notHTTP(let prefix):
      "The response isn't HTTP: it starts with \(quoted(prefix)). Check that an HTTP server listens on this port."
    case .unsupportedVersion(let version):
      "The response's version \(quoted(version)) is neither HTTP/1.0 nor HTTP/1.1 (RFC 9112 §2.3). Enable HTTP/1.1 on "
        + "the server."
    case .malformedStatusLine(let offset):
      "The status line is malformed at byte \(offset) (RFC 9112 §4). Fix the server."
    case .headTooLarge(let limit):
      "The response head is larger than \(limit) bytes. Raise Limits.headBytesMax if the server is trusted."
    case .tooManyFields(let limit):
      "The response has more than \(limit) field lines. Raise Limits.fieldLinesMax if the server is trusted."
    case .malformedFieldName(let offset):
      "A field name is empty or contains a forbidden character at byte \(offset) (RFC 9110 §5.1). Fix the server."
    case .spaceBeforeColon(let offset):
      "White space precedes the colon of a field line at byte \(offset) (RFC 9112 §5.1). Fix the server."
    case .forbiddenByte(let byte, let offset):
      "The head or trailer section contains the forbidden byte \(hex(byte)) at offset \(offset) (RFC 9110 §5.5). Fix the "
        + "server."
    case .malformedContentLength(let value):
      "Content-Length is \(quoted(value)), which isn't a valid number of bytes (RFC 9112 §6.3). Fix the server."
    case .conflictingContentLength(let first, let second):
      "The response has two different Content-Length values (\(first), \(second); RFC 9112 §6.3). Fix the server."
    case .unsupportedTransferCoding(let value):
      "Transfer-Encoding \(quoted(value)) isn't supported; only chunked is, optionally after gzip or deflate (RFC 9112 §6.1). "
        + "Fix the server."
    case .tooManyTransferCodings(let limit):
      "The response has more than \(limit) transfer codings before chunked. Raise Limits.transferCodingsMax if the "
        + "server is trusted."
    case .tooManyInformational(let limit):
      "The server sent more than \(limit) interim responses before the final one. Raise Limits.informationalMax if the "
        + "server is trusted."
    case .unexpectedUpgrade:
      "The server switched protocols (101), but the request didn't request an upgrade (RFC 9110 §15.2.2). Fix the "
        + "server."
    case .malformedChunkSize(let offset):
      "A chunk size is malformed at byte \(offset) of its line (RFC 9112 §7.1). Fix the server."
    case .chunkSizeOverflow:
      "A chunk size has more than 16 hex digits (RFC 9112 §7.1). Fix the server."
    case .chunkLineTooLong(let limit):
      "A chunk-size line is longer than \(limit) bytes. Raise Limits.chunkLineBytesMax if the server is trusted."
    case .chunkExtensionsTooLong(let limit):
      "The body's chunk extensions exceed \(limit) bytes in total. Raise Limits.chunkExtensionBytesMax if the server "
        + "is trusted."
    case .missingChunkTerminator:
      "The data of a chunk isn't followed by CRLF (RFC 9112 §7.1). Fix the server."
    case .trailersTooLarge(let limit):
      "The trailer section is larger than \(limit) bytes. Raise Limits.trailerBytesMax if the server is trusted."
    case .truncatedHead(let received):
      received == 0
        ? "The server closed the connection without a response. Try again, or check the server's log."
        : "The server closed the connection after \(received) bytes of the response head. Check the server's log."
    case .truncatedBody(let missing?):
      "The server closed the connection \(missing) bytes before the end of the response body. Try again, or "
        + "check the server's log."
    case .truncatedBody(nil):
      "The server closed the connection before the last chunk (RFC 9112 §8). Try again, or check its log."
    case .unsolicitedBytes(let count):
      "The server sent \(count) bytes that don't answer any request (RFC 9112 §9.2). Fix the server."
    case .invalidMethod(let method):
      "The method \(quoted(method)) isn't a token (RFC 9110 §9.1). Use only letters, digits and !#$%&'*+-.^_`|~."
    case .invalidTarget(let byte, let offset):
      "The request target contains the forbidden byte \(hex(byte)) at offset \(offset). Percent-encode it."
    case .invalidRequestFieldName(let name):
      "The field name \(quoted(name)) isn't a token (RFC 9110 §5.1). Use only letters, digits and !#$%&'*+-.^_`|~."
    case .invalidRequestFieldValue(let name, let byte):
      "The value of \(quoted(name)) contains the byte \(hex(byte)) (RFC 9110 §5.5). Remove control characters from it."
    case .trailerNotPermitted(let name):
      "The field \(quoted(name)) can't be sent after the body (RFC 9110 §6.5.1). Send it in the head."
    case .trailerNotAnnounced(let name):
      "The trailer field \(quoted(name)) wasn't announced (RFC 9110 §6.6.2). Add it to the body's trailerNames."
    }
  }

  private func hex(_ byte: UInt8) -> String {
    "0x" + byte.hexDigits(uppercase: true)
  }
}
