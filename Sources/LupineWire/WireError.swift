// What can be wrong with a message, each with cause, place and remedy.

/// A message that breaks RFC 9112, or a request that must not be written.
///
/// The connection that it came from can't be used any further. `offset` counts bytes from the start
/// of the head, the trailer section or the chunk line that was being read.
public enum WireError: Error, Sendable, Hashable {
  // The peer's response.
  case notHTTP(prefix: String)
  case unsupportedVersion(String)
  case malformedStatusLine(offset: Int)
  case headTooLarge(limit: Int)
  case tooManyFields(limit: Int)
  case malformedFieldName(offset: Int)
  case spaceBeforeColon(offset: Int)
  case forbiddenByte(UInt8, offset: Int)
  case malformedContentLength(String)
  case conflictingContentLength(String, String)
  case unsupportedTransferCoding(String)
  case tooManyInformational(limit: Int)
  case unexpectedUpgrade
  case malformedChunkSize(offset: Int)
  case chunkSizeOverflow
  case chunkLineTooLong(limit: Int)
  case missingChunkTerminator
  case trailersTooLarge(limit: Int)
  case truncatedHead(received: Int)
  case truncatedBody(missing: UInt64?)
  case unsolicitedBytes(count: Int)

  // The caller's request.
  case invalidMethod(String)
  case invalidTarget(byte: UInt8, offset: Int)
  case invalidRequestFieldName(String)
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
      "The reply isn't HTTP: it begins with \"\(prefix)\". Check that the port belongs to an HTTP server."
    case .unsupportedVersion(let version):
      "The reply's version \(version) isn't HTTP/1.0 or 1.1 (RFC 9112 §2.3). Let the server speak HTTP/1.1."
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
      "Content-Length is \"\(value)\", not a number of bytes (RFC 9112 §6.3). Fix the server."
    case .conflictingContentLength(let first, let second):
      "Two different Content-Length values (\(first), \(second)) were sent (RFC 9112 §6.3). Fix the server."
    case .unsupportedTransferCoding(let value):
      "Transfer-Encoding is \"\(value)\"; only chunked is understood (RFC 9112 §6.1). Fix the server."
    case .tooManyInformational(let limit):
      "More than \(limit) informational responses came before the final one. Fix the server."
    case .unexpectedUpgrade:
      "The server switched protocols (101) without being asked (RFC 9110 §15.2.2). Fix the server."
    case .malformedChunkSize(let offset):
      "A chunk size is malformed at byte \(offset) of its line (RFC 9112 §7.1). Fix the server."
    case .chunkSizeOverflow:
      "A chunk size has more than 16 hex digits (RFC 9112 §7.1). Fix the server."
    case .chunkLineTooLong(let limit):
      "A chunk-size line is longer than \(limit) bytes. Raise Limits.chunkLineBytesMax if the server is trusted."
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
      "The method \"\(method)\" isn't a token (RFC 9110 §9.1). Use letters, digits and !#$%&'*+-.^_`|~ only."
    case .invalidTarget(let byte, let offset):
      "The byte \(hex(byte)) can't stand in a request target (offset \(offset)). Percent-encode it."
    case .invalidRequestFieldName(let name):
      "The field name \"\(name)\" isn't a token (RFC 9110 §5.1). Use letters, digits and !#$%&'*+-.^_`|~ only."
    case .invalidRequestFieldValue(let name, let byte):
      "The value of \(name) holds the byte \(hex(byte)) (RFC 9110 §5.5). Remove control characters from it."
    }
  }

  private func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return "0x" + (digits.utf8.count < 2 ? "0" : "") + digits
  }
}
