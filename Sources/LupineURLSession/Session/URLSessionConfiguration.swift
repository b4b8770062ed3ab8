// What a session is made with: timeouts, header fields for every request, and connections for each host.

public import Foundation
public import LupineEngine
import Synchronization

// Unchecked since the class is open: all state is in the Mutex.
/// The settings of a session, which takes a copy when it is made, so that later changes do not reach it.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
  /// The values at one moment, which a session and its engine work with.
  struct Snapshot: Sendable {
    /// Seconds to wait for the peer where a request sets no timeout of its own; 60 as in Foundation.
    var timeoutIntervalForRequest: TimeInterval = URLRequest.timeoutIntervalDefault
    /// Seconds for a whole transfer; 7 days as in Foundation.
    var timeoutIntervalForResource: TimeInterval = 7 * 24 * 60 * 60
    /// How caches are used where a request doesn't say it.
    var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// Fields for every request that does not set them itself; nil if none were ever set.
    var additionalFields: Fields?
    /// Where cookies are kept; nil if they aren't.
    var cookieStorage: HTTPCookieStorage? = .shared
    /// Whether requests get cookies from the storage.
    var setsCookies = true
    /// Whose cookies the storage gets.
    var cookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    /// Where credentials are looked for; nil if they aren't.
    var credentialStorage: URLCredentialStorage? = .shared
    /// The dictionary that the engine's proxy settings were made of, if they were.
    var proxyDictionary: ProxyDictionary?
    /// The engine's own settings.
    var engine: EngineConfiguration

    init() {
      engine = EngineConfiguration()
      // As in Foundation on Apple's systems.
      engine.pool.connectionsPerOriginMax = 6
    }
  }

  private let state: Mutex<Snapshot>

  /// A configuration with the default values, the same as ``default``.
  public override init() {
    state = Mutex(Snapshot())
    super.init()
  }

  private init(_ snapshot: Snapshot) {
    state = Mutex(snapshot)
    super.init()
  }

  /// A new configuration with the default values.
  public class var `default`: URLSessionConfiguration {
    URLSessionConfiguration()
  }

  /// A new configuration for sessions that share nothing with others: as ``default``, with cookies and credentials of
  /// its own.
  public class var ephemeral: URLSessionConfiguration {
    let configuration = URLSessionConfiguration()
    configuration.httpCookieStorage = HTTPCookieStorage()
    configuration.urlCredentialStorage = URLCredentialStorage()
    return configuration
  }

  var snapshot: Snapshot {
    state.withLock { $0 }
  }

  /// Seconds for each phase of a request, such as connecting or a pause of the response, unless the request sets a timeout
  /// of its own; 60 by default. 0, less and infinity are no limit.
  open var timeoutIntervalForRequest: TimeInterval {
    get { snapshot.timeoutIntervalForRequest }
    set { state.withLock { $0.timeoutIntervalForRequest = newValue } }
  }

  /// How caches are used, unless the request says it; by the protocol's rules by default.
  open var requestCachePolicy: URLRequest.CachePolicy {
    get { snapshot.cachePolicy }
    set { state.withLock { $0.cachePolicy = newValue } }
  }

  /// Seconds for a whole transfer from its start to its last byte, redirects included; 604800, or 7 days, by default. 0,
  /// less and infinity are no limit.
  open var timeoutIntervalForResource: TimeInterval {
    get { snapshot.timeoutIntervalForResource }
    set { state.withLock { $0.timeoutIntervalForResource = newValue } }
  }

  /// Connections at once to one host and port; 6 by default, and less than 1 is taken as 1. With more than one of
  /// `engine.loopsPerOrigin`, as many on each loop.
  open var httpMaximumConnectionsPerHost: Int {
    get { snapshot.engine.pool.connectionsPerOriginMax }
    set { state.withLock { $0.engine.pool.connectionsPerOriginMax = max(1, newValue) } }
  }

  /// Where cookies are kept; ``HTTPCookieStorage/shared`` by default, one of its own in an ``ephemeral`` configuration.
  ///
  /// Nil turns cookies off: none are kept, and none are sent but in a Cookie field of the request's own. A copy of the
  /// configuration, and so a session, has the same storage.
  open var httpCookieStorage: HTTPCookieStorage? {
    get { snapshot.cookieStorage }
    set { state.withLock { $0.cookieStorage = newValue } }
  }

  /// Whether requests get the storage's cookies; true by default. Responses' cookies are kept in either case.
  ///
  /// Each request of a chain of redirects gets those for its own URL. A Cookie field of the request's own is kept: the
  /// storage's cookies of other names follow behind it. Turn this off to send that field alone.
  open var httpShouldSetCookies: Bool {
    get { snapshot.setsCookies }
    set { state.withLock { $0.setsCookies = newValue } }
  }

  /// Whose cookies are kept; `onlyFromMainDocumentDomain` by default, which is everybody's for requests without a
  /// `mainDocumentURL`. The storage's own policy is asked as well.
  open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { snapshot.cookieAcceptPolicy }
    set { state.withLock { $0.cookieAcceptPolicy = newValue } }
  }

  /// Where credentials for servers that ask for them are looked for, if a request has none of its own;
  /// ``URLCredentialStorage/shared`` by default, one of its own in an ``ephemeral`` configuration.
  ///
  /// Nil: only a request's own is shown. A copy of the configuration, and so a session, has the same storage.
  open var urlCredentialStorage: URLCredentialStorage? {
    get { snapshot.credentialStorage }
    set { state.withLock { $0.credentialStorage = newValue } }
  }

  /// Which proxies requests go through; nil, the default, for what the environment says (`http_proxy`, `https_proxy`,
  /// `all_proxy`, `no_proxy`), and an empty dictionary for none.
  ///
  /// Requests by http go through `HTTPProxy` and `HTTPPort` if `HTTPEnable` is 1, those by https through `HTTPSProxy`
  /// and `HTTPSPort` if `HTTPSEnable` is 1, and those for which that isn't so through `SOCKSProxy` and `SOCKSPort` if
  /// `SOCKSEnable` is 1; SOCKS means version 5, and that the proxy looks hosts up. A port that is left out is 80, 443 or
  /// 1080. `kCFProxyUsernameKey` and `kCFProxyPasswordKey` hold credentials for all of them. The hosts of
  /// `ExceptionsList` are reached directly: a name stands for the hosts below it as well, with `*.` in front or without.
  /// Other keys, those of automatic configuration among them, mean nothing here and aren't kept. A proxy that can't be
  /// one, or that is enabled without a host, fails the requests that would go through it, rather than let them go directly.
  ///
  /// This sets `engine.proxy`; when that is set later, this is nil.
  open var connectionProxyDictionary: [AnyHashable: Any]? {
    get {
      let snapshot = snapshot
      guard let dictionary = snapshot.proxyDictionary, dictionary.settings == snapshot.engine.proxy else { return nil }
      return dictionary.values
    }
    set {
      let dictionary = newValue.map(ProxyDictionary.init)
      state.withLock { state in
        state.proxyDictionary = dictionary
        state.engine.proxy = dictionary?.settings ?? .environment
      }
    }
  }

  /// Always nil, which says that the configuration isn't one of a session in the background: such a session would go on
  /// when its process has ended, and there is no system service here to do that.
  public var identifier: String? { nil }

  /// Always nil: sessions speak http and https themselves, and there are no classes to speak other protocols.
  public var protocolClasses: [AnyClass]? { nil }

  /// The engine's settings, which Foundation has no names for: trust in certificates, proxies, limits, the pool, threads.
  ///
  /// `configuration.engine.tls.trustRoots = [.file("ca.pem")]` trusts that authority in place of the system's. A new
  /// `EngineConfiguration()` in its place has the engine's defaults, also for ``httpMaximumConnectionsPerHost``.
  open var engine: EngineConfiguration {
    get { snapshot.engine }
    set { state.withLock { $0.engine = newValue } }
  }

  /// Header fields for every request that does not set them itself; names and values are kept as strings.
  ///
  /// A dictionary has no order, so the fields are sent sorted by name.
  open var httpAdditionalHeaders: [AnyHashable: Any]? {
    get { snapshot.additionalFields.map(\.dictionary) }
    set {
      let named = newValue?.map { (String(describing: $0.key.base), String(describing: $0.value)) }
      additionalFields = named.map { Fields(Dictionary($0, uniquingKeysWith: { first, _ in first })) }
    }
  }

  /// The fields of ``httpAdditionalHeaders`` in order, or nil if they were never set.
  package var additionalFields: Fields? {
    get { snapshot.additionalFields }
    set { state.withLock { $0.additionalFields = newValue } }
  }

  /// The values that most programs set. Of the additional fields the names alone, as their values may be credentials.
  open override var description: String {
    let snapshot = snapshot
    return [
      "\(type(of: self))(request timeout: \(ReadableText.duration(snapshot.timeoutIntervalForRequest))",
      "resource timeout: \(ReadableText.duration(snapshot.timeoutIntervalForResource))",
      "connections per host: \(snapshot.engine.pool.connectionsPerOriginMax)",
      "cookies: \(snapshot.cookieStorage == nil ? "off" : "\(snapshot.cookieAcceptPolicy)")",
      "additional fields: \((snapshot.additionalFields ?? Fields()).map(\.name)))",
    ].joined(separator: ", ")
  }

  /// A configuration of its own with the same values.
  open func copy(with zone: NSZone? = nil) -> Any {
    URLSessionConfiguration(snapshot)
  }
}
