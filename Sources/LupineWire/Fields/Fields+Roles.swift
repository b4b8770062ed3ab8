// Fields+Roles: identifies the request fields on which the engine or a cache acts, and responses that set cookies or that a cache
// may reuse.

/// A request field that the engine interprets when it sends the request.
package enum FieldRole: Sendable {
  case host, expect, upgrade, connection, contentLength, transferEncoding, proxyAuthorization, proxyConnection
}

extension Fields {
  /// Returns the role of the field line at `position`. Returns nil for a field that the engine doesn't interpret, like most fields.
  package func role(at position: Int) -> FieldRole? {
    let line = lines[position]
    let name = line.name
    return switch line.nameCount {
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

  /// Whether a request with these fields may be sent to a different host than the one in its URI (RFC 9110 §7.2), or may switch to
  /// another protocol, and whether it has Cache-Control. One property, because caches need both for each request.
  package var cacheSigns: (hostOrUpgrade: Bool, cacheControl: Bool) {
    var signs = (hostOrUpgrade: false, cacheControl: false)
    for line in lines {
      switch line.nameCount {
      case 4 where matches(line.name, "host"), 7 where matches(line.name, "upgrade"): signs.hostOrUpgrade = true
      case 13 where matches(line.name, "cache-control"): signs.cacheControl = true
      default: break
      }
    }
    return signs
  }

  /// Whether the fields of a request have directives for caches, in Cache-Control or Pragma.
  package var haveCacheDirectives: Bool {
    lines.contains {
      $0.nameCount == 6 && matches($0.name, "pragma") || $0.nameCount == 13 && matches($0.name, "cache-control")
    }
  }

  /// Whether the fields of a response set cookies.
  package var setCookies: Bool { lines.contains { $0.nameCount == 10 && matches($0.name, "set-cookie") } }

  /// Whether the fields could make a response reusable by a cache: they have a freshness lifetime or a validator. If not, a cache
  /// needs to parse neither dates nor directives.
  package var mayAllowReuse: Bool {
    lines.contains { line in
      switch line.nameCount {
      case 4: matches(line.name, "etag")
      case 7: matches(line.name, "expires")
      case 13: matches(line.name, "cache-control") || matches(line.name, "last-modified")
      default: false
      }
    }
  }
}
