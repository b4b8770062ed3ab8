// URI: parses absolute http and https URIs (RFC 3986, RFC 9110 §4.2) and resolves references.

/// An absolute URI to which a request can be sent.
public struct URI: Sendable, Hashable {
  /// The origin server: the URI's scheme, host and port.
  public let origin: Origin
  /// The user information before "@" in the authority, percent-encoded, or nil if there is none.
  public let userInfo: String?
  /// The path and query in origin form, percent-encoded. It always starts with "/".
  public let target: String
  /// The fragment after "#", or nil if there is none. It is never sent.
  public let fragment: String?

  /// Parses an absolute URI.
  ///
  /// Like browsers, this initializer percent-encodes spaces, bytes above 0x7F and other characters that a path or query can't
  /// contain. It refuses control characters.
  ///
  /// With the schemes `http+unix` and `https+unix`, the percent-encoded path of a Unix socket takes the place of host and port:
  /// `http+unix://%2Frun%2Fdocker.sock/v1/info`.
  public init(_ text: String) throws(URIError) {
    self = try URI(absolute: try Self.bytes(of: text))
  }

  // The URI is parsed as bytes. In a parser of Characters, "/" with a combining mark wouldn't end the host.
  private typealias Bytes = ArraySlice<UInt8>

  private static func bytes(of text: String) throws(URIError) -> Bytes {
    let bytes = Array(text.utf8)
    if let byte = bytes.first(where: { $0 < 0x20 || $0 == 0x7F }) { throw .forbiddenByte(byte) }
    return bytes[...]
  }

  private init(absolute text: Bytes) throws(URIError) {
    guard let scheme = Self.scheme(of: text) else { throw .missingScheme(Self.text(text)) }
    let (known, isSocket) = try Self.known(scheme)
    let rest = text[scheme.endIndex...].dropFirst()
    guard rest.starts(with: "//".utf8) else { throw .malformedHost(Self.text(rest)) }
    try self.init(scheme: known, isSocket: isSocket, hierarchical: rest.dropFirst(2))
  }

  // authority path-abempty [ "?" query ] [ "#" fragment ]
  private init(scheme: Scheme, isSocket: Bool, hierarchical text: Bytes) throws(URIError) {
    let authority = text.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let (pathAndQuery, fragment) = Self.split(text[authority.endIndex...], before: UInt8(ascii: "#"))
    self.fragment = fragment.isEmpty ? nil : Self.text(fragment.dropFirst())
    target = pathAndQuery.first == UInt8(ascii: "/") ? Self.encode(pathAndQuery) : "/" + Self.encode(pathAndQuery)

    // userinfo ends at the last "@", so that an "@" in a password can't change the host. A backslash is refused,
    // because browsers treat it as a slash and would see a different host.
    let at = authority.lastIndex(of: UInt8(ascii: "@"))
    guard !authority.contains(UInt8(ascii: "\\")) else { throw .malformedHost(Self.text(authority)) }
    userInfo = at.map { Self.text(authority[..<$0]) }
    let host = at.map { authority[$0...].dropFirst() } ?? authority
    origin = isSocket ? try Self.socketOrigin(scheme, host) : try Self.origin(scheme, host)
  }

  /// Creates the URI of an origin's root, with the target "/".
  public init(_ origin: Origin) {
    self.init(origin: origin, target: "/", fragment: nil)
  }

  private init(origin: Origin, target: String, fragment: String?) {
    self.origin = origin
    userInfo = nil
    self.target = target
    self.fragment = fragment
  }

  /// Resolves a reference, such as the value of a Location field, against this URI (RFC 3986 §5.2).
  ///
  /// The result inherits the fragment if the reference has none (RFC 9110 §10.2.2), but never the user information.
  ///
  /// On a Unix socket, a reference without a host stays on the socket, and a reference with a host goes to TCP. A
  /// reference to a different Unix socket throws `URIError.foreignSocket`, because a server must not direct a client to
  /// a socket.
  public func resolving(_ reference: String) throws(URIError) -> URI {
    let bytes = try Self.bytes(of: reference)
    if Self.scheme(of: bytes) != nil {
      let absolute = try URI(absolute: bytes)
      guard absolute.origin.socketPath == nil || absolute.origin == origin else {
        throw .foreignSocket(absolute.origin.description)
      }
      return follow(absolute)
    }
    if bytes.starts(with: "//".utf8) {
      return follow(try URI(scheme: origin.scheme, isSocket: false, hierarchical: bytes.dropFirst(2)))
    }
    let (pathAndQuery, ownFragment) = Self.split(bytes, before: UInt8(ascii: "#"))
    return URI(
      origin: origin, target: merge(pathAndQuery),
      fragment: ownFragment.isEmpty ? fragment : Self.text(ownFragment.dropFirst()))
  }

  private func follow(_ absolute: URI) -> URI {
    let (path, query) = Self.split(Array(absolute.target.utf8)[...], before: UInt8(ascii: "?"))
    return URI(
      origin: absolute.origin, target: Self.removingDotSegments(path) + Self.text(query),
      fragment: absolute.fragment ?? fragment)
  }

  private func merge(_ reference: Bytes) -> String {
    let basePath = Self.split(Array(target.utf8)[...], before: UInt8(ascii: "?")).0
    let (path, query) = Self.split(reference, before: UInt8(ascii: "?"))
    if path.isEmpty {
      return query.isEmpty ? target : Self.text(basePath) + Self.encode(query)
    }
    if path.first == UInt8(ascii: "/") { return Self.removingDotSegments(path) + Self.encode(query) }
    let directory = basePath[...(basePath.lastIndex(of: UInt8(ascii: "/")) ?? basePath.startIndex)]
    return Self.removingDotSegments(directory + path) + Self.encode(query)
  }

  // Applies RFC 3986 §5.2.4 to a path that starts with "/" and percent-encodes the remaining segments.
  private static func removingDotSegments(_ path: Bytes) -> String {
    var output: [String] = []
    let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      if segment.elementsEqual(".".utf8) {
        if isLast { output.append("") }
      } else if segment.elementsEqual("..".utf8) {
        _ = output.popLast()
        if isLast { output.append("") }
      } else {
        output.append(encode(segment))
      }
    }
    return "/" + output.joined(separator: "/")
  }

  // scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ). Text such as "localhost:8080" is treated as a host with a port, not as
  // a scheme.
  private static func scheme(of text: Bytes) -> Bytes? {
    guard let colon = text.firstIndex(of: Byte.colon), let first = text.first, isLetter(first) else { return nil }
    let scheme = text[..<colon]
    let isScheme = scheme.allSatisfy(CharacterClass.scheme.contains)
    guard isScheme else { return nil }
    let isPort = text[colon...].dropFirst().first.map(isDigit) ?? false
    return isPort && Scheme(rawValue: lowercased(scheme)) == nil ? nil : scheme
  }

  private static func known(_ scheme: Bytes) throws(URIError) -> (Scheme, isSocket: Bool) {
    if ByteScan.matches(scheme.span, "http") { return (.http, false) }
    if ByteScan.matches(scheme.span, "https") { return (.https, false) }
    let name = lowercased(scheme)
    let isSocket = name.hasSuffix("+unix")
    guard let known = Scheme(rawValue: isSocket ? String(name.dropLast(5)) : name) else {
      throw .unsupportedScheme(text(scheme))
    }
    return (known, isSocket)
  }

  // The socket's path consists of unreserved, sub-delims and pct-encoded, like a reg-name. There is no port.
  private static func socketOrigin(_ scheme: Scheme, _ encoded: Bytes) throws(URIError) -> Origin {
    let shown = text(encoded)
    let isEncoded = encoded.allSatisfy { CharacterClass.registeredName.contains($0) || $0 == UInt8(ascii: "%") }
    guard isEncoded, let bytes = PercentEncoding.decode(encoded), let path = String(validating: bytes, as: UTF8.self)
    else { throw .malformedSocketPath(shown) }
    guard !bytes.isEmpty else { throw .emptySocketPath }
    guard !bytes.contains(0) else { throw .nulInSocketPath(shown) }
    guard bytes.count <= Limits.socketPathBytesMax else { throw .socketPathTooLong(byteCount: bytes.count) }
    return Origin(scheme: scheme, socketPath: path)
  }

  // host = IP-literal / IPv4address / reg-name; port = *DIGIT
  private static func origin(_ scheme: Scheme, _ hostAndPort: Bytes) throws(URIError) -> Origin {
    var host = hostAndPort
    var port = hostAndPort[hostAndPort.endIndex...]
    if hostAndPort.first == UInt8(ascii: "[") {
      guard let bracket = hostAndPort.firstIndex(of: UInt8(ascii: "]")) else {
        throw .malformedHost(text(hostAndPort))
      }
      host = hostAndPort[..<bracket].dropFirst()
      let rest = hostAndPort[bracket...].dropFirst()
      guard rest.isEmpty || rest.first == Byte.colon, IPv6Literal.isValid(text(host)) else {
        throw .malformedHost(text(hostAndPort))
      }
      port = rest.dropFirst()
    } else {
      if let colon = hostAndPort.lastIndex(of: Byte.colon) {
        host = hostAndPort[..<colon]
        port = hostAndPort[colon...].dropFirst()
      }
      guard !host.isEmpty, host.allSatisfy(CharacterClass.registeredName.contains) else {
        throw .malformedHost(text(host))
      }
    }
    return Origin(scheme: scheme, host: lowercased(host), port: try number(port) ?? scheme.defaultPort)
  }

  private static func number(_ port: Bytes) throws(URIError) -> UInt16? {
    guard !port.isEmpty else { return nil }
    guard let number = Digits.value(of: port).flatMap(UInt16.init(exactly:)), number > 0 else {
      throw .malformedPort(text(port))
    }
    return number
  }

  // Splits before the first `delimiter`. The second part starts with the delimiter, or is empty if there is none.
  private static func split(_ text: Bytes, before delimiter: UInt8) -> (Bytes, Bytes) {
    let index = text.firstIndex(of: delimiter) ?? text.endIndex
    return (text[..<index], text[index...])
  }

  private static func encode(_ text: Bytes) -> String {
    if text.allSatisfy(CharacterClass.pathOrQuery.contains) { return Self.text(text) }
    return PercentEncoding.encode(text, keeping: .pathOrQuery)
  }

  private static func text(_ bytes: Bytes) -> String { String(decoding: bytes, as: UTF8.self) }

  private static func lowercased(_ bytes: Bytes) -> String {
    let isLowercase = bytes.allSatisfy { Byte.lowercased($0) == $0 }
    return text(isLowercase ? bytes : Bytes(bytes.map(Byte.lowercased)))
  }

  private static func isLetter(_ byte: UInt8) -> Bool { Byte.lowercased(byte) &- 0x61 < 26 }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}

extension URI {
  /// The request target for an HTTP proxy (RFC 9112 §3.2.2): the URI without user information and fragment.
  public var absoluteForm: String { "\(origin.scheme.rawValue)://\(origin.authority)\(target)" }
}

extension URI: CustomStringConvertible {
  /// The URI with its fragment but without user information, because descriptions often end up in logs.
  public var description: String { origin.description + target + (fragment.map { "#" + $0 } ?? "") }
}
