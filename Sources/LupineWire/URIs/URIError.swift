// URIError: the ways in which a URI can be invalid, each with its cause and remedy.

/// The reason why a text isn't a URI to which a request can be sent. An associated string is the refused part of the text.
public enum URIError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text has no URI scheme, such as `https:`.
  case missingScheme(String)
  /// The scheme isn't http, https, http+unix or https+unix.
  case unsupportedScheme(String)
  /// The host in the URI is missing, or is neither a name nor an address.
  case malformedHost(String)
  /// The port of the URI isn't a number from 1 to 65535.
  case malformedPort(String)
  /// The URI contains a control character.
  case forbiddenByte(UInt8)
  /// The URI has the scheme `http+unix` or `https+unix` but no socket path.
  case emptySocketPath
  /// The socket path isn't percent-encoded, or its bytes aren't UTF-8.
  case malformedSocketPath(String)
  /// The socket path contains a NUL, at which the kernel would end the path.
  case nulInSocketPath(String)
  /// The socket path has too many bytes. `byteCount` exceeds `Limits.socketPathBytesMax`.
  case socketPathTooLong(byteCount: Int)
  /// A URI reference from a server, such as a redirect's Location, leads to a different Unix socket.
  case foreignSocket(String)

  /// A sentence that states the cause, and another sentence that states the remedy. It contains no text that may be user
  /// information, because a password in it may contain characters that end the host early.
  public var description: String {
    switch self {
    case .missingScheme(let text): "\(quotedWithoutUser(text)) has no scheme. Put http:// or https:// before it."
    case .unsupportedScheme(let scheme):
      "The scheme \(quoted(scheme)) isn't supported. Use http or https."
    case .malformedHost(let host):
      "\(quotedWithoutUser(host)) isn't a host name or address. Use letters, digits, dots and hyphens; other characters need "
        + "their xn-- form."
    case .malformedPort(let port):
      "\(Self.isNumber(port) ? quoted(port) : "The text after the host's colon") isn't a port. Use a number from 1 to 65535."
    case .forbiddenByte(let byte):
      "The URL contains the control character 0x\(String(byte, radix: 16, uppercase: true)). Percent-encode it."
    case .emptySocketPath:
      "The URL has no socket path. Add it percent-encoded, as in http+unix://%2Frun%2Fdocker.sock/v1/info."
    case .malformedSocketPath(let text):
      "\(quoted(text)) isn't the path of a Unix socket. Percent-encode the path as UTF-8, with %2F for each slash, and omit the port."
    case .nulInSocketPath(let text):
      "The Unix socket's path \(quoted(text)) contains a NUL. Remove it; abstract sockets aren't supported."
    case .socketPathTooLong(let count):
      "The Unix socket's path has \(count) bytes, more than the kernel's limit of \(Limits.socketPathBytesMax). Use a shorter "
        + "path."
    case .foreignSocket(let origin):
      "The server referred to the Unix socket \(quoted(origin)), which isn't followed. If you trust it, request it "
        + "directly."
    }
  }

  /// Returns the text in quotation marks, with "…" in place of user information, which ends at the last "@".
  private func quotedWithoutUser(_ text: String) -> String {
    text.utf8.lastIndex(of: UInt8(ascii: "@")).map { at in quoted("…" + text[at...]) } ?? quoted(text)
  }

  /// Returns whether the text has one to five digits, as a port that is out of range. Other text may be a part of a password.
  private static func isNumber(_ text: String) -> Bool {
    (1...5).contains(text.utf8.count) && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
