// Which lines of a request are more than a message from a caller to a server: the engine acts on them.

/// What a field of a request is for, if it says something about the message or the connection.
package enum FieldRole: Sendable {
  case host, expect, upgrade, connection, contentLength, transferEncoding, proxyAuthorization, proxyConnection
}

extension Fields {
  /// What the line at that position is for; nil for nearly all.
  package func role(at position: Int) -> FieldRole? {
    let name = lines[position].name
    return switch name.count {
    case 4 where matches(name, "host"): .host
    case 6 where matches(name, "expect"): .expect
    case 7 where matches(name, "upgrade"): .upgrade
    case 10 where matches(name, "connection"): .connection
    case 14 where matches(name, "content-length"): .contentLength
    case 16 where matches(name, "proxy-connection"): .proxyConnection
    case 17 where matches(name, "transfer-encoding"): .transferEncoding
    case 19 where matches(name, "proxy-authorization"): .proxyAuthorization
    default: nil
    }
  }
}
