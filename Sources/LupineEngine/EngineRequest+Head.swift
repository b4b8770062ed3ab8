// The head of a request: what its fields ask of the engine, and how it goes onto the wire.

internal import LupineCoding
internal import LupineWire

extension EngineRequest {
  /// How a request is treated, by its fields and its body.
  struct Manner {
    /// Whether the body waits for leave (RFC 9110 §10.1.1); without a body there is nothing to wait with.
    fileprivate(set) var expectsContinue = false
    /// Whether the server may switch to another protocol (RFC 9110 §7.8).
    fileprivate(set) var offersUpgrade = false
    /// Whether the request asks for the connection to be closed behind it.
    fileprivate(set) var asksForClose = false
    /// Where the caller's Host stands.
    fileprivate var hostPosition: Int?
    /// Whether any line is more to the engine than bytes to send.
    fileprivate var hasRoles = false
  }

  /// How it is treated; found in one look at each line.
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

  /// The coding that the body gets; an empty one stays as it is.
  func sentCoding(_ manner: Manner) -> ContentCoding? { body.isEmpty || manner.offersUpgrade ? nil : bodyCoding }

  /// Writes the head as it goes onto the wire on that way: Host first (RFC 9110 §7.2), then the caller's fields, then the
  /// framing.
  ///
  /// The room of `buffer` is used. The caller's `Expect` is left out if the request isn't `isExpecting`.
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

  // An origin must not learn a proxy's credentials, and a proxy gets those of its own settings only.
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
    // RFC 9110 §8.6: a length of 0 is sent where the method gives a body a meaning.
    if length > 0 || method == "POST" || method == "PUT" || method == "PATCH" {
      try HeadSerializer.appendLine(name: "Content-Length", value: String(length), to: &bytes)
    }
  }
}

extension EngineRequest {
  /// The head as it goes onto the wire to an origin, taken apart again; nil if it can't be written.
  package var head: RequestHead? { head(by: .direct) }

  /// The same, as it goes onto the wire on that way.
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
  /// Whether a list-valued field has that element, in any case; OWS stands around each (RFC 9110 §5.6.1).
  fileprivate func hasElement(_ element: String, in name: String) -> Bool {
    guard let list = list(name) else { return false }
    return list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains { $0 == element }
  }
}
