// PoolKey: the properties that requests must have in common to share connections.

internal import LupineTLS
internal import LupineWire

/// The properties that two requests must have in common to share connections. Requests with different keys never share one.
///
/// The key is a reference to its content, so that it is cheap to copy. Each request and each connection has a key.
struct PoolKey: Hashable, Sendable {
  /// The requests to which the connections with a pool key are restricted: a single exchange, or a group.
  enum Tenant: Hashable, Sendable {
    case exchange(ExchangeID)
    /// Only the exchange with this number may use the connection, for a raw stream.
    case stream(ExchangeID)
    /// Only requests of the group with this number may use the connections (see `ConnectionDemand`).
    case group(UInt64)
  }

  private final class Content: Sendable {
    let origin: Origin
    let route: Route
    let tls: TLSConfiguration?
    let traits: ConnectionSettings.Traits?
    let exclusiveTo: Tenant?
    let isEncrypted: Bool
    let hostLine: Result<[UInt8], WireError>
    let hash: Int

    init(
      _ origin: Origin, _ route: Route, _ tls: TLSConfiguration?, _ traits: ConnectionSettings.Traits?,
      exclusiveTo: Tenant?
    ) {
      self.origin = origin
      self.route = route
      self.tls = tls
      self.traits = traits
      self.exclusiveTo = exclusiveTo
      isEncrypted = tls != nil
      hostLine = Self.hostLine(origin)
      // Hashes only the origin, which distinguishes almost all keys. Hashing the configuration would be slow, because it may
      // contain certificates.
      var hasher = Hasher()
      hasher.combine(origin)
      hasher.combine(exclusiveTo)
      hash = hasher.finalize()
    }

    private static func hostLine(_ origin: Origin) -> Result<[UInt8], WireError> {
      Result { () throws(WireError) in
        var line: [UInt8] = []
        try HeadSerializer.appendLine(name: "Host", value: origin.authority, to: &line)
        return line
      }
    }
  }

  private var content: Content

  init(
    origin: Origin, route: Route = .direct, tls: TLSConfiguration?, traits: ConnectionSettings.Traits? = nil,
    exclusiveTo: Tenant? = nil
  ) {
    content = Content(origin, route, tls, traits, exclusiveTo: exclusiveTo)
  }

  // Yields, so that a comparison doesn't copy the origin.
  var origin: Origin {
    _read { yield content.origin }
  }
  /// The route of the connections to the origin. Requests with different proxies, or with different credentials for a proxy, never
  /// share a connection.
  var route: Route { content.route }
  /// The TLS settings of the connections, or nil for http. Requests with different verification settings never share a connection.
  var tls: TLSConfiguration? { content.tls }
  /// The settings of the connections that differ from the engine's settings, or nil if there are none.
  var traits: ConnectionSettings.Traits? { content.traits }
  /// The serialized Host field line of a request to the origin, or an error if the host can't be serialized. The error is possible
  /// only for a host that wasn't parsed from a URI.
  var hostLine: Result<[UInt8], WireError> { content.hostLine }
  /// Whether connections with this key use TLS.
  var isEncrypted: Bool { content.isEncrypted }

  /// The only requests that may use the connections with this key, or nil if all requests may share them.
  var exclusiveTo: Tenant? {
    get { content.exclusiveTo }
    set { content = Content(content.origin, content.route, content.tls, content.traits, exclusiveTo: newValue) }
  }

  /// Whether the connection carries a raw stream (`Engine.openStream`).
  var isStream: Bool {
    if case .stream? = content.exclusiveTo { true } else { false }
  }

  /// Returns this key with other TLS settings, or without TLS.
  func with(tls: TLSConfiguration?) -> PoolKey {
    PoolKey(
      origin: content.origin, route: content.route, tls: tls, traits: content.traits, exclusiveTo: content.exclusiveTo)
  }

  /// This key without a client certificate. A request with the resulting key never uses a connection that presents a certificate.
  var anonymous: PoolKey {
    content.tls?.identity == nil ? self : presenting(.anonymous)
  }

  /// Returns this key with the client certificate of `choice`, or without a certificate if `choice` is `.anonymous`.
  func presenting(_ choice: IdentityChoice) -> PoolKey {
    content.tls.map { with(tls: $0.presenting(choice)) } ?? self
  }

  /// This key with a tunnel if the route is a proxy that would forward requests.
  var tunneled: PoolKey {
    guard case .forward(let proxy) = content.route else { return self }
    return PoolKey(
      origin: content.origin, route: .tunnel(proxy), tls: content.tls, traits: content.traits,
      exclusiveTo: content.exclusiveTo)
  }

  static func == (left: PoolKey, right: PoolKey) -> Bool {
    let (left, right) = (left.content, right.content)
    return left === right
      || (left.hash == right.hash && left.origin == right.origin && left.route == right.route
        && left.exclusiveTo == right.exclusiveTo && left.traits == right.traits && left.tls == right.tls)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(content.hash)
  }
}

extension TLSConfiguration {
  /// Returns these settings with the client certificate of `choice`, or without a certificate if `choice` is `.anonymous`.
  func presenting(_ choice: IdentityChoice) -> TLSConfiguration {
    var tls = self
    tls.identity = choice.identity
    return tls
  }
}
