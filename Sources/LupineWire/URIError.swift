// What can be wrong with a URI, each with cause and remedy.

/// Why a string is no URI that a request can be sent to.
public enum URIError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No scheme in front of that text.
  case missingScheme(String)
  /// Another scheme than http, https, and these with `+unix`.
  case unsupportedScheme(String)
  /// No host, or one that is neither a name nor an address.
  case malformedHost(String)
  /// A port that isn't a number from 1 to 65535.
  case malformedPort(String)
  /// A control character.
  case forbiddenByte(UInt8)
  /// `http+unix://` without a path of a socket.
  case emptySocketPath
  /// The path of a socket that isn't percent-encoded, or whose bytes aren't UTF-8.
  case malformedSocketPath(String)
  /// The path of a socket with a NUL, which would end it for the kernel.
  case nulInSocketPath(String)
  /// The path of a socket with more than `Limits.socketPathBytesMax` bytes.
  case socketPathTooLong(byteCount: Int)
  /// A reference that leads from a server to a Unix socket.
  case foreignSocket(String)

  /// What is wrong and what to do.
  public var description: String {
    switch self {
    case .missingScheme(let text): "\(quoted(text)) has no scheme. Write http:// or https:// in front."
    case .unsupportedScheme(let scheme):
      "The scheme \(quoted(scheme)) isn't supported. Use http or https."
    case .malformedHost(let host):
      "\(quoted(host)) isn't a host name or address. Use letters, digits, dots and hyphens (xn-- form for others)."
    case .malformedPort(let port): "\(quoted(port)) isn't a port. Use a number from 1 to 65535."
    case .forbiddenByte(let byte):
      "The URL has the control character 0x\(String(byte, radix: 16, uppercase: true)). Percent-encode it."
    case .emptySocketPath:
      "The URL names no Unix socket. Write its path percent-encoded, as in http+unix://%2Frun%2Fdocker.sock/v1/info."
    case .malformedSocketPath(let text):
      "\(quoted(text)) isn't the path of a Unix socket. Percent-encode its UTF-8, slashes as %2F, and leave out a port."
    case .nulInSocketPath(let text):
      "The path of a Unix socket, \(quoted(text)), holds a NUL. Leave it out; abstract sockets aren't supported."
    case .socketPathTooLong(let count):
      "The Unix socket's path has \(count) bytes; the kernel takes \(Limits.socketPathBytesMax). Use a shorter path."
    case .foreignSocket(let origin):
      "The server refers to the Unix socket \(quoted(origin)). Request it yourself if it is to be trusted."
    }
  }
}
