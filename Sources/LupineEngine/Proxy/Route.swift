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

  /// Turns a head made for the origin into what is sent on this way.
  ///
  /// Proxy-Authorization and Proxy-Connection of the caller's never leave: an origin must not learn a proxy's
  /// credentials, and a proxy gets those of its own settings only, so that they never go to another one. To a proxy
  /// that forwards, the target is written in absolute form; Host stays as it is.
  func apply(to head: inout RequestHead, origin: Origin) {
    let isHopByHop = { (position: Int) in
      head.fields.isNamed("proxy-authorization", at: position) || head.fields.isNamed("proxy-connection", at: position)
    }
    // One look at each line, since nearly no request has these.
    if head.fields.indices.contains(where: isHopByHop) {
      head.fields.remove("Proxy-Authorization")
      head.fields.remove("Proxy-Connection")
    }
    guard case .forward(let proxy) = self else { return }
    // absolute-form = absolute-URI
    head.target = origin.description + head.target
    if let credentials = proxy.basicCredentials {
      head.fields.append(name: "Proxy-Authorization", value: credentials)
    }
  }
}

extension Proxy {
  /// The value of Proxy-Authorization, or nil without credentials (RFC 7617 §2).
  var basicCredentials: String? {
    credentials.flatMap { BasicCredentials.fieldValue(user: $0.user, password: $0.password) }
  }
}
