// What connections may be shared for.

internal import LupineTLS
internal import LupineWire

/// Requests with equal keys may use each other's connections; no others may.
struct PoolKey: Hashable, Sendable {
  let origin: Origin
  /// Connections through one proxy, or with one proxy's credentials, are never used for another.
  let route: Route
  /// Nil for http. Connections that were verified differently are never exchanged.
  let tls: TLSConfiguration?
  /// The exchange that wants a connection for itself alone.
  var exclusiveTo: ExchangeID?

  init(origin: Origin, route: Route = .direct, tls: TLSConfiguration?) {
    self.origin = origin
    self.route = route
    self.tls = tls
  }

  // These tell nearly all keys apart, and a configuration may hold whole certificates.
  func hash(into hasher: inout Hasher) {
    hasher.combine(origin)
    hasher.combine(exclusiveTo)
  }
}
