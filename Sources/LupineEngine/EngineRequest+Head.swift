// EngineRequest+Head: serializes a request's head, and finds the fields that affect the engine.

internal import LupineCoding
internal import LupineWire

extension EngineRequest {
  /// The properties of a request that determine how the engine treats it. Derived from the request's fields and body.
  struct Traits {
    /// Whether the body is sent only after the server's `100 Continue` (RFC 9110 §10.1.1). False for a request without a body.
    fileprivate(set) var expectsContinue = false
    /// Whether the request permits the server to switch to another protocol (RFC 9110 §7.8).
    fileprivate(set) var offersUpgrade = false
    /// Whether the request asks the server to close the connection afterward.
    fileprivate(set) var asksForClose = false
    /// The position of the caller's Host field in the request's fields, or nil if there is none.
    fileprivate var hostPosition: Int?
    /// Whether the request has fields that the engine interprets, such as Host or Expect. If false, the engine sends all fields
    /// unchanged.
    fileprivate var hasRoles = false
  }

  /// The properties that determine how the engine treats the request. Computed in one pass over the request's fields.
  var traits: Traits { traits(of: fields) }

  // The fields are a parameter, so that they are borrowed instead of copied.
  private func traits(of fields: Fields) -> Traits {
    var traits = Traits()
    var (hasExpect, hasUpgrade, hasConnection) = (false, false, false)
    for position in fields.indices {
      guard let role = fields.role(at: position) else { continue }
      traits.hasRoles = true
      switch role {
      case .host: traits.hostPosition = traits.hostPosition ?? position
      case .expect: hasExpect = true
      case .upgrade: hasUpgrade = true
      case .connection: hasConnection = true
      default: break
      }
    }
    traits.offersUpgrade = hasUpgrade && hasConnection && fields.hasElement("upgrade", in: "Connection")
    traits.expectsContinue =
      hasExpect && !body.isEmpty && !traits.offersUpgrade && fields.hasElement("100-continue", in: "Expect")
    traits.asksForClose = rawBytes != nil || (hasConnection && fields.hasElement("close", in: "Connection"))
    return traits
  }

  /// Returns the content coding that the engine applies to the request body, or nil for none. The engine encodes neither an empty
  /// body nor the body of a request that offers an upgrade.
  func sentCoding(_ traits: Traits) -> ContentCoding? { body.isEmpty || traits.offersUpgrade ? nil : bodyCoding }

  /// Serializes the request's head for the route of `key`: Host first (RFC 9110 §7.2), then the caller's fields and the framing
  /// fields.
  ///
  /// The head reuses the memory of `buffer`. If `isExpecting` is false, the caller's `Expect` is omitted.
  func writeHead(
    _ traits: Traits, isExpecting: Bool, for key: PoolKey, into buffer: consuming [UInt8]
  ) throws(WireError) -> [UInt8] {
    var bytes = buffer
    bytes.removeAll(keepingCapacity: true)
    try HeadSerializer.appendRequestLine(method: method, target: key.route.target(of: uri), to: &bytes)
    if let host = traits.hostPosition {
      try HeadSerializer.appendLine(name: "Host", value: fields[host].value, to: &bytes)
    } else {
      bytes += try key.hostLine.get()
    }
    try append(fields, traits, isExpecting: isExpecting, to: &bytes)
    if !traits.offersUpgrade { try writeFraming(sentCoding(traits), to: &bytes) }
    if case .forward(let proxy) = key.route, let credentials = proxyCredentials(proxy) {
      // A forwarding proxy receives the credentials with each request. A tunnel's proxy received them in the handshake.
      try HeadSerializer.appendLine(name: "Proxy-Authorization", value: credentials, to: &bytes)
    }
    HeadSerializer.appendEnd(to: &bytes)
    return bytes
  }

  // Appends those of the caller's fields that are sent.
  private func append(
    _ fields: Fields, _ traits: Traits, isExpecting: Bool, to bytes: inout [UInt8]
  ) throws(WireError) {
    guard traits.hasRoles else { return try HeadSerializer.appendLines(of: fields, to: &bytes) }
    for position in fields.indices where isSent(fields.role(at: position), isExpecting: isExpecting) {
      try HeadSerializer.appendLine(position, of: fields, to: &bytes)
    }
  }

  private func proxyCredentials(_ proxy: Proxy) -> String? {
    connectionDemand?.proxyAuthorization.map(\.value) ?? proxy.authorizationValue
  }

  // An origin must not receive a proxy's credentials, and a proxy receives only the credentials in its settings.
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
      try HeadSerializer.appendLine(name: "Transfer-Encoding", value: "chunked", to: &bytes)
      return try writeTrailerNames(to: &bytes)
    }
    // RFC 9110 §8.6: a Content-Length of 0 is sent if the method defines a meaning for content. GET is compared first, because
    // equal short strings are compared without a call.
    if length > 0 || (method != "GET" && (method == "POST" || method == "PUT" || method == "PATCH")) {
      try HeadSerializer.appendLine(name: "Content-Length", value: String(length), to: &bytes)
    }
  }
}

extension EngineRequest {
  // Trailer = #field-name (RFC 9110 §6.6.2)
  private func writeTrailerNames(to bytes: inout [UInt8]) throws(WireError) {
    let names = body.trailerNames
    guard !names.isEmpty else { return }
    if let name = names.first(where: { !TrailerRule.permits($0) }) { throw .trailerNotPermitted(name) }
    try HeadSerializer.appendLine(name: "Trailer", value: names.joined(separator: ", "), to: &bytes)
  }
}

extension EngineRequest {
  /// The head that the engine sends to the origin if there is no proxy, parsed from its serialized form. Nil if the head can't be
  /// serialized.
  package var head: RequestHead? { head(by: .direct) }

  /// Returns the head that the engine sends on this route, parsed from its serialized form. Returns nil if the head can't be
  /// serialized.
  func head(by route: Route) -> RequestHead? {
    let traits = traits
    let key = PoolKey(origin: uri.origin, route: route, tls: nil)
    guard let bytes = try? writeHead(traits, isExpecting: traits.expectsContinue, for: key, into: []) else {
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
