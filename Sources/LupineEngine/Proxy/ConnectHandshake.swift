// A tunnel through an HTTP proxy: CONNECT and the reply to it (RFC 9110 §9.3.6, RFC 9112 §3.2.3).

internal import LupineWire

/// The request for a tunnel, and what the proxy says to it.
struct ConnectHandshake: ~Copyable {
  private let proxy: Proxy
  /// The head as it is sent.
  let opening: [UInt8]
  private var connection: ClientConnection
  private var receivedCount = 0

  /// Throws if the origin's host, which need not come from a URI, can't stand in a head.
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

  /// Host and the proxy's credentials, and nothing of the request that the tunnel is opened for: the connection isn't
  /// that request's alone, and what is meant for the origin isn't for the proxy to read.
  private static func head(_ proxy: Proxy, to origin: Origin) -> RequestHead {
    let authority = origin.authorityForm
    var fields: Fields = ["Host": authority]
    if let credentials = proxy.basicCredentials { fields.append(name: "Proxy-Authorization", value: credentials) }
    return RequestHead(method: "CONNECT", target: authority, fields: fields)
  }

  /// Reads on from `cursor` and moves it, never behind the end of the head.
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
      // With any 2xx the bytes behind the head are the tunnel's.
      case .handedOver: return .done
      default: return .needMoreBytes
      }
    }
  }

  /// The proxy has closed the connection before the tunnel was open.
  func receiveEnd() -> ProxyError { ProxyError(.truncated(received: receivedCount), proxy.description) }

  private func refusal(_ head: ResponseHead) -> ProxyError.Cause {
    guard head.status == 407 else { return .refused(status: head.status) }
    return .credentialsRequired(
      schemes: AuthenticationSchemes.names(head.fields.challenges("Proxy-Authenticate")),
      hadCredentials: proxy.credentials != nil)
  }
}
