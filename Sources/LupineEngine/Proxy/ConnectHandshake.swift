// ConnectHandshake: opens a tunnel through an HTTP proxy with CONNECT (RFC 9110 §9.3.6, RFC 9112 §3.2.3).

internal import LupineWire

/// The client's side of CONNECT: creates the request and parses the response. Credentials with several messages (NTLM, Negotiate)
/// lead to several requests on the same connection.
struct ConnectHandshake: ~Copyable, ProxyHandshake {
  /// The maximum number of CONNECT requests that are sent on one connection: 4. NTLM needs two, Negotiate one or two.
  static let requestsMax = 4
  /// The maximum length in bytes of a 407 response's body, which is skipped before the next CONNECT: 64 KiB. The bodies that squid
  /// sends have 4 KiB.
  static let skippedBytesMax = 64 * 1024

  private let proxy: Proxy
  private let authority: String
  private let hadCredentials: Bool
  /// Chooses the reaction to a 2xx or 407 response. Nil for credentials with a single message, for which 2xx opens the tunnel and
  /// 407 fails it.
  private let react: ((ResponseHead) -> ProxyAuthorization.Reaction)?
  /// The serialized head of the first CONNECT request.
  let opening: [UInt8]
  private var connection: ClientConnection
  private var receivedCount = 0
  private var requestCount = 1
  /// Set while the body of a 407 response is being skipped: the value of Proxy-Authorization for the next request, and the error to
  /// report if there can be no next request.
  private var answered: (refusal: ProxyError, value: String)?
  private var skippedCount = 0

  /// Creates a handshake. `authorization` replaces the credentials of the proxy's URL. Throws a `ProxyError` with the cause
  /// `.wire` if the origin's host can't be serialized, which is possible for a host that wasn't parsed from a URI.
  init(
    _ proxy: Proxy, to origin: Origin, authorization: ProxyAuthorization? = nil, limits: Limits
  ) throws(ProxyError) {
    self.proxy = proxy
    let credentials: String? = authorization.map(\.value) ?? proxy.authorizationValue
    hadCredentials = credentials != nil
    react = authorization?.makeReaction?()
    authority = origin.authorityForm
    opening = try Self.request(proxy, authority, credentials)
    connection = ClientConnection(limits: limits)
    connection.start(method: "CONNECT", closes: false)
    connection.requestSent()
  }

  /// Returns the head of a CONNECT request with only Host, the proxy's credentials and its `connectFields`. The fields of the
  /// request that needs the tunnel are omitted, because other requests share the connection, and because the proxy must not read
  /// fields meant for the origin.
  private static func request(_ proxy: Proxy, _ authority: String, _ credentials: String?) throws(ProxyError) -> [UInt8]
  {
    var fields: Fields = ["Host": authority]
    if let credentials { fields.append(name: "Proxy-Authorization", value: credentials) }
    let own = proxy.connectFields
    for position in own.indices {
      switch own.role(at: position) {
      case .host, .contentLength, .transferEncoding, .proxyAuthorization, .proxyConnection: continue
      case .expect, .upgrade, .connection, nil:
        fields.append(name: own[position].name, valueBytes: own.valueBytes(at: position))
      }
    }
    var bytes: [UInt8] = []
    do {
      try HeadSerializer.append(RequestHead(method: "CONNECT", target: authority, fields: fields), to: &bytes)
    } catch {
      throw ProxyError(.wire(error), proxy.description)
    }
    return bytes
  }

  /// Parses the proxy's response from `cursor` on, and moves `cursor` past the parsed bytes, but never past the end of the head
  /// that opens the tunnel.
  mutating func receive(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(ProxyError) -> ProxyStep {
    let start = cursor
    defer { receivedCount += cursor - start }
    while true {
      let event: ClientConnection.Event
      do {
        event = try connection.receive(bytes, at: &cursor)
      } catch {
        throw answered?.refusal ?? ProxyError(.wire(error), proxy.description)
      }
      switch event {
      case .informational: continue
      case .head(let head, let framing, _): try answer(head, framing)
      case .body(let range):
        skippedCount += range.count
        if let answered, skippedCount > Self.skippedBytesMax { throw answered.refusal }
      case .end(_, let closeReason): return try nextRequest(closeReason)
      // After any 2xx, the bytes after the head belong to the tunnel.
      case .handedOver(let head):
        if react?(head) == .distrust { throw ProxyError(.identityUnproven, proxy.description) }
        return .done
      case .needMoreBytes: return .needMoreBytes
      }
    }
  }

  /// Returns the error for a connection that the proxy has closed before the tunnel was open.
  func receiveEnd() -> ProxyError {
    answered?.refusal ?? ProxyError(.truncated(received: receivedCount), proxy.description)
  }

  /// Called with a response that doesn't open the tunnel. Throws a `ProxyError` with the cause `.refused` or
  /// `.credentialsRequired` unless the response is a 407 to which the handshake can respond with another request.
  private mutating func answer(_ head: ResponseHead, _ framing: BodyFraming) throws(ProxyError) {
    let refusal = refusal(head)
    // A body without a length ends when the proxy closes the connection, so there can be no next request on it. The proxy may not
    // close it for a long time.
    guard head.status == 407, framing != .untilClose, requestCount < Self.requestsMax,
      case .send(let value) = react?(head)
    else { throw refusal }
    answered = (refusal, value)
  }

  /// Returns the next CONNECT request after a 407 response. Throws a `ProxyError` with the cause `.credentialsRequired` if the
  /// proxy closes the connection.
  private mutating func nextRequest(_ closeReason: CloseReason?) throws(ProxyError) -> ProxyStep {
    guard let (refusal, value) = answered.take() else { return .needMoreBytes }
    guard closeReason == nil else { throw refusal }
    requestCount += 1
    skippedCount = 0
    let request = try Self.request(proxy, authority, value)
    connection.start(method: "CONNECT", closes: false)
    connection.requestSent()
    return .send(request)
  }

  private func refusal(_ head: ResponseHead) -> ProxyError {
    guard head.status == 407 else { return ProxyError(.refused(status: head.status), proxy.description) }
    let challenges = head.fields.challenges("Proxy-Authenticate")
    var error = ProxyError(
      .credentialsRequired(
        schemes: AuthenticationSchemes.names(challenges), hadCredentials: hadCredentials),
      proxy.description)
    error.challenges = challenges
    return error
  }
}
