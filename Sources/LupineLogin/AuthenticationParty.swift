// AuthenticationParty: the origin or the proxy that a credential is for.

package import LupineEngine

/// The server that requests a credential: an origin or a proxy. Only this server receives the credential.
package enum AuthenticationParty: Sendable, Hashable {
  case origin(Origin)
  case proxy(ProxyAddress)

  /// Whether the connection to this server is safe from attackers on the network, because it uses TLS or a Unix socket.
  var isProtected: Bool {
    switch self {
    case .origin(let origin): origin.scheme == .https || origin.socketPath != nil
    case .proxy(let proxy): proxy.isEncrypted
    }
  }

  /// The host of the origin or the proxy. NTLM and Negotiate form the name of the service from it, such as `HTTP/example.org`.
  var host: String {
    switch self {
    case .origin(let origin): origin.host
    case .proxy(let proxy): proxy.host
    }
  }
}

/// The address of an HTTP proxy, without its credentials.
package struct ProxyAddress: Sendable, Hashable {
  package let host: String
  package let port: UInt16
  package let isEncrypted: Bool

  /// Creates the address of an HTTP proxy. Returns nil if `proxy` is a SOCKS proxy.
  package init?(_ proxy: Proxy) {
    switch proxy.scheme {
    case .http: isEncrypted = false
    case .https: isEncrypted = true
    case .socks4a, .socks5, .socks5h: return nil
    }
    host = proxy.host
    port = proxy.port
  }
}

/// The status code and the names of the fields with which origins authenticate clients (401, RFC 9110 §11.6), or those with which
/// proxies do (407, §11.7).
struct AuthenticationFields: Sendable {
  let status: Int
  let challenge: String
  let info: String

  static let origin = AuthenticationFields(
    status: 401, challenge: "WWW-Authenticate", info: "Authentication-Info")
  static let proxy = AuthenticationFields(
    status: 407, challenge: "Proxy-Authenticate", info: "Proxy-Authentication-Info")
}

extension EngineRequest {
  /// Whether the request is sent through a tunnel if it has an HTTP proxy. If so, the client sends the proxy's credential only with
  /// CONNECT, not with the request.
  var isTunneled: Bool { uri.origin.scheme == .https || needsTunnel }
}
