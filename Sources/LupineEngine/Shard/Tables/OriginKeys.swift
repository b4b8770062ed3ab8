// OriginKeys: the pool keys of origins, derived from the proxy rules and the configuration.

internal import LupineWire

/// The pool keys of recently used origins.
struct OriginKeys: ~Copyable {
  private let rules: ProxyRules
  /// The values of the environment variables that specify proxies, by variable name.
  private let environment: [String: String]
  private let configuration: EngineConfiguration
  private var keys: [Origin: PoolKey] = [:]
  /// The pool key that was used most recently, or nil if none was used yet.
  private var latest: PoolKey?
  /// The pool key of the latest request that had its own connection settings instead of the engine's.
  private var latestOwn: (origin: Origin, settings: ConnectionSettings, key: PoolKey)?

  init(_ rules: ProxyRules, _ configuration: EngineConfiguration, environment: [String: String] = [:]) {
    self.rules = rules
    self.environment = environment
    self.configuration = configuration
  }

  /// The number of stored keys.
  var count: Int { keys.count }

  /// Returns the latest pool key if it is the key of this origin, and otherwise nil. Callers check it first, because consecutive
  /// requests often have the same origin.
  ///
  /// Inlined, so that the origin of a request isn't copied for the comparison.
  @inline(__always)
  func latestKey(for origin: Origin) -> PoolKey? {
    if let latest, latest.origin == origin { latest } else { nil }
  }

  /// Returns the pool key of an origin, with the engine's settings.
  ///
  /// At most one key more is stored than the larger of `originCount`, the number of the pool's origins, and `originsRememberedMax`.
  mutating func key(for origin: Origin, originCount: Int) throws(Failure) -> PoolKey {
    let key = if let known = keys[origin] { known } else { try makeKey(for: origin, originCount: originCount) }
    latest = key
    return key
  }

  /// Returns the pool key of a request whose connection settings replace the engine's. Only the latest such key is stored.
  mutating func key(for origin: Origin, _ settings: ConnectionSettings) throws(Failure) -> PoolKey {
    if let latestOwn, latestOwn.origin == origin, latestOwn.settings == settings { return latestOwn.key }
    let route = try route(to: origin, by: rules.replaced(by: settings.proxy, environment: environment))
    let tls = origin.scheme == .https ? settings.tls ?? configuration.tls : nil
    let key = PoolKey(origin: origin, route: route, tls: tls, traits: settings.traits)
    latestOwn = (origin, settings, key)
    return key
  }

  private func route(to origin: Origin, by rules: ProxyRules) throws(Failure) -> Route {
    guard origin.socketPath == nil, configuration.socketPath == nil else { return Route(to: origin, by: nil) }
    do {
      return Route(to: origin, by: try rules.proxy(for: origin))
    } catch {
      throw .proxy(error)
    }
  }

  private mutating func makeKey(for origin: Origin, originCount: Int) throws(Failure) -> PoolKey {
    let route = try route(to: origin, by: rules)
    let key = PoolKey(origin: origin, route: route, tls: origin.scheme == .https ? configuration.tls : nil)
    // Removes all keys, because that is simple, and those still in use are soon created again.
    let countMax = max(configuration.pool.originsRememberedMax, originCount)
    if keys.count > countMax { keys.removeAll(keepingCapacity: true) }
    keys[origin] = key
    return key
  }
}
