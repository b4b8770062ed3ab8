// SharedCacheRule: decides whether an engine may share cached responses with engines that have the default settings.

import LupineReactor
import LupineTLS

extension EngineConfiguration {
  /// Whether an engine with these settings can receive other responses for a URL than one with the default settings, because it
  /// trusts other servers, or reaches servers by another route. If so, a cache that finds responses by URL must neither serve its
  /// responses to other engines, nor those of other engines to it.
  package var hasOwnTrustOrRoute: Bool { tls.hasOwnTrust || hasOwnRoute }

  private var hasOwnRoute: Bool {
    hasOwnProxy || proxyVerification != .full || resolver.resolver != nil || !resolver.overrides.isEmpty
      || addressPolicy != .all || socketPath != nil || socket.localAddress != nil || socket.interface != nil
  }

  /// Whether the proxies differ from those of the environment. With settings of no proxy, that depends on the environment.
  private var hasOwnProxy: Bool {
    guard proxy != .environment else { return false }
    let environment = Environment.values(of: ProxySettings.variables)
    return proxy.rules(environment: environment) != ProxySettings.environment.rules(environment: environment)
  }
}

extension TLSConfiguration {
  /// Whether a setting differs from the defaults, except for the client certificate, by which a cache distinguishes users, and the
  /// file for debugging. Each other setting can make the client accept a server that the defaults refuse, or the reverse.
  fileprivate var hasOwnTrust: Bool {
    var comparable = self
    (comparable.identity, comparable.keyLogFile) = (nil, nil)
    return comparable != TLSConfiguration()
  }
}

extension Engine {
  /// Whether this engine's settings affect which servers it trusts, or how it reaches them.
  package var hasOwnTrustOrRoute: Bool { configuration.hasOwnTrustOrRoute }
}

extension EngineRequest {
  /// How the fields and settings of a request restrict its use of a cache.
  package enum CacheUse {
    case unrestricted
    /// Cache-Control may demand a stored response (only-if-cached).
    case directed
    /// The request bypasses caches, which find responses by URI: it switches protocols, or it may be sent to a different server
    /// than other requests for its URI, because of its settings or its Host field.
    case none
  }

  package var cacheUse: CacheUse {
    let signs = fields.cacheSigns
    if signs.hostOrUpgrade { return .none }
    if let connection = extras?.value.connection,
      connection.tls != nil || connection.proxy != nil || !connection.hostOverrides.isEmpty
    {
      return .none
    }
    return signs.cacheControl ? .directed : .unrestricted
  }
}
