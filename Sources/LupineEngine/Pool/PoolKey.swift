// PoolKey: the properties that requests must have in common to share connections.

internal import LupineTLS
internal import LupineWire

/// The key of a set of connections. Only requests with equal keys share connections.
///
/// The key is a reference to its content, because each request and each connection has one.
struct PoolKey: Hashable, Sendable {
  private final class Content: Sendable {
    let origin: Origin
    let route: Route
    let tls: TLSConfiguration?
    let exclusiveTo: ExchangeID?
    let isEncrypted: Bool
    let hostLine: Result<[UInt8], WireError>
    let hash: Int

    init(_ origin: Origin, _ route: Route, _ tls: TLSConfiguration?, exclusiveTo: ExchangeID?) {
      self.origin = origin
      self.route = route
      self.tls = tls
      self.exclusiveTo = exclusiveTo
      isEncrypted = tls != nil
      hostLine = Self.hostLine(origin)
      // The origin distinguishes almost all keys. Hashing the configuration would be slow, because it may contain certificates.
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

  init(origin: Origin, route: Route = .direct, tls: TLSConfiguration?) {
    content = Content(origin, route, tls, exclusiveTo: nil)
  }

  var origin: Origin { content.origin }
  /// The route to the origin. A connection through one proxy, or with one proxy's credentials, is never used for
  /// another.
  var route: Route { content.route }
  /// The TLS configuration, or nil for http. Connections with different verification settings are never shared.
  var tls: TLSConfiguration? { content.tls }
  /// The line of the Host field for the origin, or an error if the host can't be written. This is possible only for a host that
  /// wasn't parsed from a URI.
  var hostLine: Result<[UInt8], WireError> { content.hostLine }
  /// Whether the connections use TLS.
  var isEncrypted: Bool { content.isEncrypted }

  /// The only exchange that may use the connection, or nil if exchanges may share it.
  var exclusiveTo: ExchangeID? {
    get { content.exclusiveTo }
    set { content = Content(content.origin, content.route, content.tls, exclusiveTo: newValue) }
  }

  /// The same key without a client certificate. Connections that present a certificate are never used for it.
  var anonymous: PoolKey {
    guard var tls = content.tls, tls.identity != nil else { return self }
    tls.identity = nil
    return PoolKey(origin: content.origin, route: content.route, tls: tls)
  }

  static func == (left: PoolKey, right: PoolKey) -> Bool {
    let (left, right) = (left.content, right.content)
    return left === right
      || (left.hash == right.hash && left.origin == right.origin && left.route == right.route
        && left.exclusiveTo == right.exclusiveTo && left.tls == right.tls)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(content.hash)
  }
}
