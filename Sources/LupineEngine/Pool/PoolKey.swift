// What connections may be shared for.

internal import LupineTLS
internal import LupineWire

/// Requests with equal keys may use each other's connections; no others may.
///
/// A reference to what it consists of, since each request and each connection has one.
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
      // These tell nearly all keys apart, and a configuration may hold whole certificates.
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
  /// Connections through one proxy, or with one proxy's credentials, are never used for another.
  var route: Route { content.route }
  /// Nil for http. Connections that were verified differently are never exchanged.
  var tls: TLSConfiguration? { content.tls }
  /// The line of the Host field that follows from the origin, or why there can't be one: its host need not come from a
  /// URI.
  var hostLine: Result<[UInt8], WireError> { content.hostLine }
  /// Whether connections are for TLS.
  var isEncrypted: Bool { content.isEncrypted }

  /// The exchange that wants a connection for itself alone.
  var exclusiveTo: ExchangeID? {
    get { content.exclusiveTo }
    set { content = Content(content.origin, content.route, content.tls, exclusiveTo: newValue) }
  }

  /// The same without a client certificate; connections that present one are never used for it.
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
