// How a request travels, and what of its head goes to whom (RFC 9110 §11.7, RFC 9112 §3.2.2).

internal import LupineWire

/// The way from here to an origin.
enum Route: Sendable, Hashable {
  /// A connection to the origin itself.
  case direct
  /// A connection to an HTTP proxy, which reads the request and sends one of its own.
  case forward(Proxy)
  /// A connection through a proxy that passes bytes on: SOCKS, or HTTP behind CONNECT.
  case tunnel(Proxy)

  /// The proxy on the way, if there is one.
  var proxy: Proxy? {
    switch self {
    case .direct: nil
    case .forward(let proxy), .tunnel(let proxy): proxy
    }
  }

  /// The way to an origin by a proxy, if there is one.
  init(to origin: Origin, by proxy: Proxy?) {
    guard let proxy else {
      self = .direct
      return
    }
    self = proxy.scheme == .http && origin.scheme == .http ? .forward(proxy) : .tunnel(proxy)
  }

  /// The target as it is written on this way: to a proxy that forwards in absolute form, else as it is.
  func target(of uri: URI) -> String {
    // absolute-form = absolute-URI
    if case .forward = self { uri.origin.description + uri.target } else { uri.target }
  }

  /// The credentials that go with each request, to a proxy that forwards; a tunnel has had its own.
  var proxyAuthorization: String? {
    if case .forward(let proxy) = self { proxy.basicCredentials } else { nil }
  }
}

extension Proxy {
  /// The value of Proxy-Authorization, or nil without credentials (RFC 7617 §2).
  var basicCredentials: String? {
    credentials.flatMap { BasicCredentials.fieldValue(user: $0.user, password: $0.password) }
  }
}
