// Route: the route of a request to its origin, and the parts of its head that depend
// on the route (RFC 9110 §11.7, RFC 9112 §3.2.2).

internal import LupineWire

/// The route from the client to an origin.
enum Route: Sendable, Hashable {
  /// A connection to the origin.
  case direct
  /// A connection to an HTTP proxy, which forwards the request.
  case forward(Proxy)
  /// A tunnel through a proxy that relays bytes: SOCKS, or HTTP after CONNECT.
  case tunnel(Proxy)

  /// The proxy of the route, or nil if there is none.
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

  /// Returns the request target to send: in absolute form to a forwarding proxy, and otherwise as in the URI.
  func target(of uri: URI) -> String {
    // absolute-form = absolute-URI
    if case .forward = self { uri.origin.description + uri.target } else { uri.target }
  }
}

extension Proxy {
  /// The value of Proxy-Authorization (RFC 7617 §2), or nil without credentials.
  var basicCredentials: String? {
    credentials.flatMap { BasicCredentials.fieldValue(user: $0.user, password: $0.password) }
  }
}
