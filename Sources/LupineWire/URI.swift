// An absolute http or https URI (RFC 3986, RFC 9110 §4.2), taken apart once, and references resolved against it.

/// Why a string is no URI that a request can be sent to.
public enum URIError: Error, Sendable, Hashable, CustomStringConvertible {
  case missingScheme(String)
  case unsupportedScheme(String)
  case malformedHost(String)
  case malformedPort(String)
  case forbiddenByte(UInt8)

  /// What is wrong and what to do.
  public var description: String {
    switch self {
    case .missingScheme(let text): "\"\(text)\" has no scheme. Write http:// or https:// in front."
    case .unsupportedScheme(let scheme): "The scheme \"\(scheme)\" isn't supported. Use http or https."
    case .malformedHost(let host):
      "\"\(host)\" isn't a host name or address. Use letters, digits, dots and hyphens (xn-- form for others)."
    case .malformedPort(let port): "\"\(port)\" isn't a port. Use a number from 1 to 65535."
    case .forbiddenByte(let byte):
      "The URL has the control character 0x\(String(byte, radix: 16, uppercase: true)). Percent-encode it."
    }
  }
}

/// A URI to send a request to.
public struct URI: Sendable, Hashable {
  /// Scheme, host and port.
  public let origin: Origin
  /// What stands before "@" in the authority, still percent-encoded, or nil.
  public let userInfo: String?
  /// Path and query in origin form, beginning with "/"; percent-encoded.
  public let target: String
  /// What stands behind "#", or nil; never sent.
  public let fragment: String?

  /// Takes an absolute URI apart.
  ///
  /// Spaces, bytes above 0x7F and other characters that a path or query can't hold are percent-encoded, as
  /// browsers do; control characters are refused. Throws what is wrong otherwise.
  public init(_ text: String) throws(URIError) {
    guard let byte = text.utf8.first(where: { $0 < 0x20 || $0 == 0x7F }) else {
      self = try URI(checked: text)
      return
    }
    throw .forbiddenByte(byte)
  }

  // Taken apart by bytes: to a Character, "/" and a combining mark are one letter, which would move the host.
  private typealias Bytes = Substring.UTF8View

  private init(checked text: String) throws(URIError) {
    guard let scheme = Self.scheme(of: text) else { throw .missingScheme(text) }
    guard let known = Scheme(rawValue: scheme.lowercased()) else { throw .unsupportedScheme(String(scheme)) }
    let rest = text[scheme.endIndex...].utf8.dropFirst()
    guard rest.starts(with: "//".utf8) else { throw .malformedHost(String(Substring(rest))) }
    try self.init(scheme: known, hierarchical: rest.dropFirst(2))
  }

  // authority path-abempty [ "?" query ] [ "#" fragment ]
  private init(scheme: Scheme, hierarchical text: Bytes) throws(URIError) {
    let authority = text.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let (pathAndQuery, fragment) = Self.split(text[authority.endIndex...], before: UInt8(ascii: "#"))
    self.fragment = fragment.isEmpty ? nil : String(Substring(fragment.dropFirst()))
    target = (pathAndQuery.first == UInt8(ascii: "/") ? "" : "/") + Self.encode(pathAndQuery)

    // userinfo ends at the last "@", so that none in a password can move the host. Browsers read a backslash
    // as a slash, so that the host would be in front of it for them.
    let at = authority.lastIndex(of: UInt8(ascii: "@"))
    guard !authority.contains(UInt8(ascii: "\\")) else { throw .malformedHost(String(Substring(authority))) }
    userInfo = at.map { String(Substring(authority[..<$0])) }
    origin = try Self.origin(scheme, at.map { authority[$0...].dropFirst() } ?? authority)
  }

  private init(origin: Origin, target: String, fragment: String?) {
    self.origin = origin
    userInfo = nil
    self.target = target
    self.fragment = fragment
  }

  /// Resolves a reference, as in a Location field, against this URI (RFC 3986 §5.2).
  ///
  /// A fragment is inherited if the reference has none (RFC 9110 §10.2.2). User information is not.
  public func resolving(_ reference: String) throws(URIError) -> URI {
    if let byte = reference.utf8.first(where: { $0 < 0x20 || $0 == 0x7F }) { throw .forbiddenByte(byte) }
    if Self.scheme(of: reference) != nil { return follow(try URI(checked: reference)) }
    let bytes = reference[...].utf8
    if bytes.starts(with: "//".utf8) {
      return follow(try URI(scheme: origin.scheme, hierarchical: bytes.dropFirst(2)))
    }
    let (pathAndQuery, ownFragment) = Self.split(bytes, before: UInt8(ascii: "#"))
    return URI(
      origin: origin, target: merge(pathAndQuery),
      fragment: ownFragment.isEmpty ? fragment : String(Substring(ownFragment.dropFirst())))
  }

  private func follow(_ absolute: URI) -> URI {
    let (path, query) = Self.split(absolute.target[...].utf8, before: UInt8(ascii: "?"))
    return URI(
      origin: absolute.origin, target: Self.removingDotSegments(path) + String(Substring(query)),
      fragment: absolute.fragment ?? fragment)
  }

  private func merge(_ reference: Bytes) -> String {
    let basePath = Self.split(target[...].utf8, before: UInt8(ascii: "?")).0
    let (path, query) = Self.split(reference, before: UInt8(ascii: "?"))
    if path.isEmpty {
      return query.isEmpty ? target : String(Substring(basePath)) + Self.encode(query)
    }
    if path.first == UInt8(ascii: "/") { return Self.removingDotSegments(path) + Self.encode(query) }
    let directory = basePath[...(basePath.lastIndex(of: UInt8(ascii: "/")) ?? basePath.startIndex)]
    return Self.removingDotSegments((Substring(directory) + Substring(path)).utf8[...]) + Self.encode(query)
  }

  // RFC 3986 §5.2.4, on a path that begins with "/"; encodes what is left.
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

  // scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ); "localhost:8080" counts as a host without a scheme.
  private static func scheme(of text: String) -> Substring? {
    guard let colon = text.utf8.firstIndex(of: Byte.colon), let first = text.utf8.first,
      Byte.lowercased(first) &- 0x61 < 26
    else { return nil }
    let scheme = text[..<colon]
    let isScheme = scheme.utf8.allSatisfy {
      Byte.lowercased($0) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E
    }
    guard isScheme else { return nil }
    let isPort = text.utf8[colon...].dropFirst().first.map { $0 &- 0x30 < 10 } ?? false
    return isPort && Scheme(rawValue: scheme.lowercased()) == nil ? nil : scheme
  }

  // host = IP-literal / IPv4address / reg-name; port = *DIGIT
  private static func origin(_ scheme: Scheme, _ text: Bytes) throws(URIError) -> Origin {
    var host = text
    var port = text[text.endIndex...]
    if text.first == UInt8(ascii: "[") {
      guard let bracket = text.firstIndex(of: UInt8(ascii: "]")) else {
        throw .malformedHost(String(Substring(text)))
      }
      host = text[..<bracket].dropFirst()
      let rest = text[bracket...].dropFirst()
      let isAddress = host.allSatisfy { Byte.hexValue($0) != nil || $0 == Byte.colon || $0 == 0x2E }
      guard rest.isEmpty || rest.first == Byte.colon, isAddress, host.contains(Byte.colon) else {
        throw .malformedHost(String(Substring(text)))
      }
      port = rest.dropFirst()
    } else {
      if let colon = text.lastIndex(of: Byte.colon) {
        host = text[..<colon]
        port = text[colon...].dropFirst()
      }
      guard !host.isEmpty, host.allSatisfy(CharacterClass.registeredName.contains) else {
        throw .malformedHost(String(Substring(host)))
      }
    }
    return Origin(scheme: scheme, host: Substring(host).lowercased(), port: try number(port) ?? scheme.defaultPort)
  }

  private static func number(_ port: Bytes) throws(URIError) -> UInt16? {
    guard !port.isEmpty else { return nil }
    let text = Substring(port)
    guard port.allSatisfy({ $0 &- 0x30 < 10 }), let number = UInt16(text), number > 0 else {
      throw .malformedPort(String(text))
    }
    return number
  }

  // The second part begins with the delimiter, or is empty.
  private static func split(_ text: Bytes, before delimiter: UInt8) -> (Bytes, Bytes) {
    let index = text.firstIndex(of: delimiter) ?? text.endIndex
    return (text[..<index], text[index...])
  }

  private static func encode(_ text: Bytes) -> String {
    if text.allSatisfy(CharacterClass.pathOrQuery.contains) { return String(Substring(text)) }
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text {
      if CharacterClass.pathOrQuery.contains(byte) {
        bytes.append(byte)
      } else {
        bytes.append(contentsOf: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]])
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension URI: CustomStringConvertible {
  /// The URI with its fragment; user information is left out, since descriptions end up in logs.
  public var description: String { origin.description + target + (fragment.map { "#" + $0 } ?? "") }
}
