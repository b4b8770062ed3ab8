// ConnectHandshake: opens a tunnel through an HTTP proxy with CONNECT (RFC 9110 §9.3.6, RFC 9112 §3.2.3).

internal import LupineWire

/// The CONNECT request and the parser of its response.
struct ConnectHandshake: ~Copyable {
  private let proxy: Proxy
  /// The serialized request head.
  let opening: [UInt8]
  private var connection: ClientConnection
  private var receivedCount = 0

  /// Creates a handshake. Throws an error if the origin's host can't be written in a head, which is possible only for a host that
  /// wasn't parsed from a URI.
  init(_ proxy: Proxy, to origin: Origin, limits: Limits) throws(ProxyError) {
    self.proxy = proxy
    var opening: [UInt8] = []
    do {
      try HeadSerializer.append(Self.head(proxy, to: origin), to: &opening)
    } catch {
      throw ProxyError(.wire(error), proxy.description)
    }
    self.opening = opening
    connection = ClientConnection(limits: limits)
    connection.start(method: "CONNECT", closes: false)
    connection.requestSent()
  }

  /// Returns the head of the CONNECT request, which has only Host and the proxy's credentials. It has none of
  /// the fields of the request that needs the tunnel, because other requests share the connection, and the
  /// proxy must not read fields meant for the origin.
  private static func head(_ proxy: Proxy, to origin: Origin) -> RequestHead {
    let authority = origin.authorityForm
    var fields: Fields = ["Host": authority]
    if let credentials = proxy.basicCredentials { fields.append(name: "Proxy-Authorization", value: credentials) }
    return RequestHead(method: "CONNECT", target: authority, fields: fields)
  }

  /// Parses the response from `cursor` on and advances it, never past the end of the head.
  mutating func receive(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(ProxyError) -> ProxyStep {
    let start = cursor
    defer { receivedCount += cursor - start }
    while true {
      let event: ClientConnection.Event
      do {
        event = try connection.receive(bytes, at: &cursor)
      } catch {
        throw ProxyError(.wire(error), proxy.description)
      }
      switch event {
      case .informational: continue
      case .head(let head, _, _): throw ProxyError(refusal(head), proxy.description)
      // After any 2xx, the bytes after the head belong to the tunnel.
      case .handedOver: return .done
      default: return .needMoreBytes
      }
    }
  }

  /// Returns the error for a connection that the proxy has closed before the tunnel was open.
  func receiveEnd() -> ProxyError { ProxyError(.truncated(received: receivedCount), proxy.description) }

  private func refusal(_ head: ResponseHead) -> ProxyError.Cause {
    guard head.status == 407 else { return .refused(status: head.status) }
    return .credentialsRequired(
      schemes: AuthenticationSchemes.names(head.fields.challenges("Proxy-Authenticate")),
      hadCredentials: proxy.credentials != nil)
  }
}
