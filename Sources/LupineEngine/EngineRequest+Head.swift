// EngineRequest+Head: serializes a request's head, and finds the fields that affect the engine.

internal import LupineCoding
internal import LupineWire

extension EngineRequest {
  /// The engine's treatment of a request, which its fields and body determine.
  struct Manner {
    /// Whether the body waits for `100 Continue` (RFC 9110 §10.1.1). False for a request without a body.
    fileprivate(set) var expectsContinue = false
    /// Whether the server may switch to another protocol (RFC 9110 §7.8).
    fileprivate(set) var offersUpgrade = false
    /// Whether the request asks the server to close the connection afterward.
    fileprivate(set) var asksForClose = false
    /// The index of the caller's Host field.
    fileprivate var hostPosition: Int?
    /// Whether the engine treats any field specially. If not, it sends all fields unchanged.
    fileprivate var hasRoles = false
  }

  /// The engine's treatment of the request, determined in one pass over its fields.
  var manner: Manner {
    var manner = Manner()
    var (hasExpect, hasUpgrade, hasConnection) = (false, false, false)
    for position in fields.indices {
      guard let role = fields.role(at: position) else { continue }
      manner.hasRoles = true
      switch role {
      case .host: manner.hostPosition = manner.hostPosition ?? position
      case .expect: hasExpect = true
      case .upgrade: hasUpgrade = true
      case .connection: hasConnection = true
      default: break
      }
    }
    manner.offersUpgrade = hasUpgrade && hasConnection && fields.hasElement("upgrade", in: "Connection")
    manner.expectsContinue =
      hasExpect && !body.isEmpty && !manner.offersUpgrade && fields.hasElement("100-continue", in: "Expect")
    manner.asksForClose = rawBytes != nil || (hasConnection && fields.hasElement("close", in: "Connection"))
    return manner
  }

  /// Returns the coding to apply to the body, or nil for none. An empty body isn't encoded.
  func sentCoding(_ manner: Manner) -> ContentCoding? { body.isEmpty || manner.offersUpgrade ? nil : bodyCoding }

  /// Serializes the head for the key's route: Host first (RFC 9110 §7.2), followed by the caller's fields and the framing fields.
  ///
  /// The head reuses the memory of `buffer`. If `isExpecting` is false, the caller's `Expect` is omitted.
  func writeHead(
    _ manner: Manner, isExpecting: Bool, for key: PoolKey, into buffer: consuming [UInt8]
  ) throws(WireError) -> [UInt8] {
    var bytes = buffer
    bytes.removeAll(keepingCapacity: true)
    try HeadSerializer.appendRequestLine(method: method, target: key.route.target(of: uri), to: &bytes)
    if let host = manner.hostPosition {
      try HeadSerializer.appendLine(name: "Host", value: fields[host].value, to: &bytes)
    } else {
      bytes += try key.hostLine.get()
    }
    for position in fields.indices
    where !manner.hasRoles || isSent(fields.role(at: position), isExpecting: isExpecting) {
      try HeadSerializer.appendLine(position, of: fields, to: &bytes)
    }
    if !manner.offersUpgrade { try writeFraming(sentCoding(manner), to: &bytes) }
    if let credentials = key.route.proxyAuthorization {
      try HeadSerializer.appendLine(name: "Proxy-Authorization", value: credentials, to: &bytes)
    }
    HeadSerializer.appendEnd(to: &bytes)
    return bytes
  }

  // An origin must not receive the credentials of a proxy, and a proxy receives only the credentials in its settings.
  private func isSent(_ role: FieldRole?, isExpecting: Bool) -> Bool {
    switch role {
    case .host, .contentLength, .transferEncoding, .proxyAuthorization, .proxyConnection: false
    case .expect: isExpecting
    case .upgrade, .connection, nil: true
    }
  }

  private func writeFraming(_ coding: ContentCoding?, to bytes: inout [UInt8]) throws(WireError) {
    if let coding { try HeadSerializer.appendLine(name: "Content-Encoding", value: coding.name, to: &bytes) }
    guard coding == nil, let length = body.byteCount else {
      return try HeadSerializer.appendLine(name: "Transfer-Encoding", value: "chunked", to: &bytes)
    }
    // RFC 9110 §8.6: a length of 0 is sent if the method defines a meaning for content.
    if length > 0 || method == "POST" || method == "PUT" || method == "PATCH" {
      try HeadSerializer.appendLine(name: "Content-Length", value: String(length), to: &bytes)
    }
  }
}

extension EngineRequest {
  /// The head that is sent directly to an origin, parsed from its bytes, or nil if it can't be serialized.
  package var head: RequestHead? { head(by: .direct) }

  /// Returns the head that is sent on a route, parsed from its bytes, or nil if it can't be serialized.
  func head(by route: Route) -> RequestHead? {
    let manner = manner
    let key = PoolKey(origin: uri.origin, route: route, tls: nil)
    guard let bytes = try? writeHead(manner, isExpecting: manner.expectsContinue, for: key, into: []) else {
      return nil
    }
    var limits = Limits()
    (limits.headBytesMax, limits.fieldLinesMax) = (bytes.count, bytes.count)
    var parser = SectionParser(.request, limits: limits)
    var cursor = 0
    guard case .section(let section) = try? parser.next(bytes.span, at: &cursor) else { return nil }
    // request-line = method SP request-target SP HTTP-version
    let line = bytes[Int(section.startLine.lowerBound)..<Int(section.startLine.upperBound)]
    let parts = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    return RequestHead(method: parts[0], target: parts[1], fields: section.fields)
  }
}

extension Fields {
  /// Returns whether a list-valued field contains this element, ignoring case.
  /// Whitespace may surround elements (RFC 9110 §5.6.1).
  fileprivate func hasElement(_ element: String, in name: String) -> Bool {
    guard let list = list(name) else { return false }
    return list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains { $0 == element }
  }
}
