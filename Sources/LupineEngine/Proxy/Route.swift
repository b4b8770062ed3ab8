// Route: the route of a request to its origin, and the parts of its head that depend
// on the route (RFC 9110 §11.7, RFC 9112 §3.2.2).

internal import LupineWire

/// The route on which a request travels from the client to its origin.
enum Route: Sendable, Hashable {
  /// The client connects to the origin directly.
  case direct
  /// The client connects to an HTTP proxy, which forwards the request.
  case forward(Proxy)
  /// The client connects to a proxy, which relays bytes to and from the origin: a SOCKS proxy, or an HTTP proxy after CONNECT.
  case tunnel(Proxy)

  /// The proxy on the route, or nil if there is none.
  var proxy: Proxy? {
    switch self {
    case .direct: nil
    case .forward(let proxy), .tunnel(let proxy): proxy
    }
  }

  /// Creates the route to an origin, through `proxy` unless it is nil.
  init(to origin: Origin, by proxy: Proxy?) {
    guard let proxy else {
      self = .direct
      return
    }
    self = proxy.scheme.speaksHTTP && origin.scheme == .http ? .forward(proxy) : .tunnel(proxy)
  }

  /// Returns the request target in the form that this route requires: in absolute form for a forwarding proxy, and otherwise as in
  /// the URI.
  func target(of uri: URI) -> String {
    // absolute-form = absolute-URI
    if case .forward = self { uri.origin.description + uri.target } else { uri.target }
  }
}

extension Proxy {
  /// The value of Proxy-Authorization: the proxy's `authorization`, or the credentials in its URL (RFC 7617 §2). Nil if there are
  /// none.
  var authorizationValue: String? {
    authorization ?? credentials.flatMap { BasicCredentials.fieldValue(user: $0.user, password: $0.password) }
  }
}
