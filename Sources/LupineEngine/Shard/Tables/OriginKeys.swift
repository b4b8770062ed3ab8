// OriginKeys: the pool keys of origins, derived from the proxy rules and the configuration.

internal import LupineWire

/// The pool keys of recently used origins.
struct OriginKeys {
  private let rules: ProxyRules
  private let configuration: EngineConfiguration
  private var keys: [Origin: PoolKey] = [:]
  /// The most recently used key.
  private var latest: PoolKey?

  init(_ rules: ProxyRules, _ configuration: EngineConfiguration) {
    self.rules = rules
    self.configuration = configuration
  }

  /// Returns the pool key of an origin. Checks the latest key first, because consecutive requests often have the same
  /// origin.
  ///
  /// The number of keys is limited to `originCount`, the number of the pool's origins, or to `originsRememberedMax`,
  /// whichever is larger.
  mutating func key(for origin: Origin, originCount: Int) throws(Failure) -> PoolKey {
    if let latest, latest.origin == origin { return latest }
    let key = if let known = keys[origin] { known } else { try makeKey(for: origin, originCount: originCount) }
    latest = key
    return key
  }

  private mutating func makeKey(for origin: Origin, originCount: Int) throws(Failure) -> PoolKey {
    let proxy: Proxy?
    do {
      proxy = origin.socketPath == nil && configuration.socketPath == nil ? try rules.proxy(for: origin) : nil
    } catch {
      throw .proxy(error)
    }
    let key = PoolKey(
      origin: origin, route: Route(to: origin, by: proxy), tls: origin.scheme == .https ? configuration.tls : nil)
    // Removing all keys is simple, and the keys still in use are soon created again.
    let countMax = max(configuration.pool.originsRememberedMax, originCount)
    if keys.count > countMax { keys.removeAll(keepingCapacity: true) }
    keys[origin] = key
    return key
  }
}
