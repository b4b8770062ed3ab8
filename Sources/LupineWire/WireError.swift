// What can be wrong with a message, each with cause, place and remedy.

/// A message that breaks RFC 9112, or a request that must not be written.
///
/// The connection that it came from can't be used any further. `offset` counts bytes from the start
/// of the head, the trailer section or the chunk line that was being read.
public enum WireError: Error, Sendable, Hashable {
  // The peer's response.
  /// It doesn't begin with `HTTP/`; with this instead.
  case notHTTP(prefix: String)
  /// A version other than HTTP/1.0 to 1.9.
  case unsupportedVersion(String)
  /// The status line isn't what RFC 9112 §4 says.
  case malformedStatusLine(offset: Int)
  /// More than `Limits.headBytesMax`.
  case headTooLarge(limit: Int)
  /// More than `Limits.fieldLinesMax`.
  case tooManyFields(limit: Int)
  /// A field line that doesn't begin with a token and a colon.
  case malformedFieldName(offset: Int)
  /// White space between a field's name and its colon.
  case spaceBeforeColon(offset: Int)
  /// A control character in the head or the trailer section.
  case forbiddenByte(UInt8, offset: Int)
  /// A Content-Length that isn't a number of at most 64 bits.
  case malformedContentLength(String)
  /// Two lengths that differ.
  case conflictingContentLength(String, String)
  /// Chunked isn't the last coding, or one before it isn't known.
  case unsupportedTransferCoding(String)
  /// More than `Limits.transferCodingsMax`.
  case tooManyTransferCodings(limit: Int)
  /// More than `Limits.informationalMax`.
  case tooManyInformational(limit: Int)
  /// A 101 that wasn't asked for.
  case unexpectedUpgrade
  /// A chunk size that isn't hex digits, or bytes that a size line can't hold.
  case malformedChunkSize(offset: Int)
  /// A chunk size of more than 16 digits.
  case chunkSizeOverflow
  /// More than `Limits.chunkLineBytesMax`.
  case chunkLineTooLong(limit: Int)
  /// More than `Limits.chunkExtensionBytesMax`.
  case chunkExtensionsTooLong(limit: Int)
  /// Something other than CRLF behind a chunk's data.
  case missingChunkTerminator
  /// More than `Limits.trailerBytesMax`.
  case trailersTooLarge(limit: Int)
  /// The connection ended after that many bytes of the head; 0 for no reply at all.
  case truncatedHead(received: Int)
  /// The connection ended within the body; nil if it isn't known how much is missing.
  case truncatedBody(missing: UInt64?)
  /// Bytes that belong to no request.
  case unsolicitedBytes(count: Int)

  // The caller's request.
  /// A method that isn't a token.
  case invalidMethod(String)
  /// A byte that a request target can't hold, counted from the target's start.
  case invalidTarget(byte: UInt8, offset: Int)
  /// A field name that isn't a token.
  case invalidRequestFieldName(String)
  /// A control character in a field's value.
  case invalidRequestFieldValue(name: String, byte: UInt8)

  /// Whether the request was refused before anything was sent; otherwise the response was at fault.
  public var isCallersFault: Bool {
    switch self {
    case .invalidMethod, .invalidTarget, .invalidRequestFieldName, .invalidRequestFieldValue: true
    default: false
    }
  }

  /// Whether the peer ended the connection in the middle of a message.
  public var isTruncation: Bool {
    switch self {
    case .truncatedHead, .truncatedBody: true
    default: false
    }
  }
}

extension WireError: CustomStringConvertible {
  /// One sentence: what is wrong and where, the section of the RFC, and what to do.
  public var description: String {
    switch self {
    case .notHTTP(let prefix):
      "The reply isn't HTTP: it begins with \(quoted(prefix)). Check that the port belongs to an HTTP server."
    case .unsupportedVersion(let version):
      "The reply's version \(quoted(version)) isn't HTTP/1.0 or 1.1 (RFC 9112 §2.3). Let the server speak HTTP/1.1."
    case .malformedStatusLine(let offset):
      "The status line is malformed at byte \(offset) (RFC 9112 §4). Fix the server."
    case .headTooLarge(let limit):
      "The response head is larger than \(limit) bytes. Raise Limits.headBytesMax if the server is trusted."
    case .tooManyFields(let limit):
      "The response has more than \(limit) field lines. Raise Limits.fieldLinesMax if the server is trusted."
    case .malformedFieldName(let offset):
      "A field name is empty or has a forbidden character at byte \(offset) (RFC 9110 §5.1). Fix the server."
    case .spaceBeforeColon(let offset):
      "White space stands before a colon at byte \(offset) (RFC 9112 §5.1). Fix the server."
    case .forbiddenByte(let byte, let offset):
      "The byte \(hex(byte)) stands in the head at byte \(offset) (RFC 9110 §5.5). Fix the server."
    case .malformedContentLength(let value):
      "Content-Length is \(quoted(value)), not a number of bytes (RFC 9112 §6.3). Fix the server."
    case .conflictingContentLength(let first, let second):
      "Two different Content-Length values (\(first), \(second)) were sent (RFC 9112 §6.3). Fix the server."
    case .unsupportedTransferCoding(let value):
      "Transfer-Encoding is \(quoted(value)), which isn't chunked behind known codings (RFC 9112 §6.1). Fix the server."
    case .tooManyTransferCodings(let limit):
      "More than \(limit) codings stand before chunked. Raise Limits.transferCodingsMax if the server is trusted."
    case .tooManyInformational(let limit):
      "More than \(limit) informational responses came before the final one. Raise Limits.informationalMax if the server "
        + "is trusted."
    case .unexpectedUpgrade:
      "The server switched protocols (101) without being asked (RFC 9110 §15.2.2). Fix the server."
    case .malformedChunkSize(let offset):
      "A chunk size is malformed at byte \(offset) of its line (RFC 9112 §7.1). Fix the server."
    case .chunkSizeOverflow:
      "A chunk size has more than 16 hex digits (RFC 9112 §7.1). Fix the server."
    case .chunkLineTooLong(let limit):
      "A chunk-size line is longer than \(limit) bytes. Raise Limits.chunkLineBytesMax if the server is trusted."
    case .chunkExtensionsTooLong(let limit):
      "The body's chunk extensions are longer than \(limit) bytes in all. Raise Limits.chunkExtensionBytesMax if the "
        + "server is trusted."
    case .missingChunkTerminator:
      "A chunk isn't followed by CRLF (RFC 9112 §7.1). Fix the server."
    case .trailersTooLarge(let limit):
      "The trailer section is larger than \(limit) bytes. Raise Limits.trailerBytesMax if the server is trusted."
    case .truncatedHead(let received):
      received == 0
        ? "The server closed the connection without a reply. Try again, or look at the server's log."
        : "The server closed the connection after \(received) bytes of the response head. Look at the server's log."
    case .truncatedBody(let missing?):
      "The server closed the connection with \(missing) bytes of the body missing. Try again, or look at its log."
    case .truncatedBody(nil):
      "The server closed the connection before the last chunk (RFC 9112 §8). Try again, or look at its log."
    case .unsolicitedBytes(let count):
      "The server sent \(count) bytes that no request asked for (RFC 9112 §9.2). Fix the server."
    case .invalidMethod(let method):
      "The method \(quoted(method)) isn't a token (RFC 9110 §9.1). Use letters, digits and !#$%&'*+-.^_`|~ only."
    case .invalidTarget(let byte, let offset):
      "The byte \(hex(byte)) can't stand in a request target (offset \(offset)). Percent-encode it."
    case .invalidRequestFieldName(let name):
      "The field name \(quoted(name)) isn't a token (RFC 9110 §5.1). Use letters, digits and !#$%&'*+-.^_`|~ only."
    case .invalidRequestFieldValue(let name, let byte):
      "The value of \(quoted(name)) holds the byte \(hex(byte)) (RFC 9110 §5.5). Remove control characters from it."
    }
  }

  private func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return "0x" + (digits.utf8.count < 2 ? "0" : "") + digits
  }
}
