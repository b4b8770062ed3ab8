// URLSessionConfiguration: a session's settings, such as timeouts, additional fields, cookies and proxies.

public import Foundation
public import LupineEngine
import Synchronization

// Unchecked because the class is open. All state is protected by the Mutex.
/// The settings of a session: timeouts, header fields, cookies, credentials, proxies and the engine's settings.
///
/// A session copies its configuration when it is created, so change the settings before you create the session:
///
/// ```swift
/// let configuration = URLSessionConfiguration.ephemeral
/// configuration.timeoutIntervalForRequest = 10
/// configuration.httpAdditionalHeaders = ["Accept-Language": "en"]
/// configuration.engine.tls.trustRoots = [.file("ca.pem")]
/// let session = URLSession(configuration: configuration)
/// ```
///
/// The properties may be used on any thread.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
  /// An immutable copy of a configuration's values, which sessions and their engines use. The configuration's properties document
  /// them.
  struct Snapshot: Sendable {
    var timeoutIntervalForRequest: TimeInterval = URLRequest.timeoutIntervalDefault
    var timeouts: Timeouts?
    var timeoutIntervalForResource: TimeInterval = 7 * 24 * 60 * 60
    var cache = CacheChoice.shared
    var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    var additionalFields: Fields?
    var addsDefaultFields = true
    var cookieStorage: HTTPCookieStorage? = .shared
    var setsCookies = true
    var cookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    var credentialStorage: URLCredentialStorage? = .shared
    /// The dictionary from which the engine's proxy settings were created. Nil if they don't come from a dictionary.
    var proxyDictionary: ProxyDictionary?
    var redirectRule = RedirectRule()
    var protocolClasses: [AnyClass] = []
    var protocolContext: (any AnyObject & Sendable)?
    var bodyBytesMax: Int?
    var network = NetworkSettings()
    var background = BackgroundOptions()
    var engine: EngineConfiguration

    init() {
      engine = EngineConfiguration()
      // This is Foundation's default on Apple's systems.
      engine.pool.connectionsPerOriginMax = 6
    }
  }

  /// The cache that a configuration uses: the shared cache, another cache, or none.
  enum CacheChoice: Sendable {
    /// The cache that ``URLCache/shared`` returns when a session is created with the configuration.
    case shared
    case own(URLCache?)

    var current: URLCache? {
      switch self {
      case .shared: URLCache.shared
      case .own(let cache): cache
      }
    }
  }

  let state: Mutex<Snapshot>

  /// Creates a configuration with the default values, like ``default``.
  public override init() {
    state = Mutex(Snapshot())
    super.init()
  }

  private init(_ snapshot: Snapshot) {
    state = Mutex(snapshot)
    super.init()
  }

  /// A new configuration with the default values. Each access returns a new object.
  public class var `default`: URLSessionConfiguration {
    URLSessionConfiguration()
  }

  /// A new configuration with the default values, except that the storages of cookies, credentials and cached responses are new and
  /// exist only in memory. The storages are released with the last configuration or session that uses them.
  public class var ephemeral: URLSessionConfiguration {
    let configuration = URLSessionConfiguration()
    configuration.httpCookieStorage = HTTPCookieStorage()
    configuration.urlCredentialStorage = URLCredentialStorage()
    configuration.urlCache = URLCache(inMemory: URLCache.sharedMemoryCapacity)
    return configuration
  }

  var snapshot: Snapshot {
    state.withLock { $0 }
  }

  func change(_ change: (inout Snapshot) -> Void) { state.withLock { change(&$0) } }

  /// The time limit for each phase of a request, in seconds. 60 by default.
  ///
  /// The limit applies separately to each of these phases: waiting for a connection, looking up the host, connecting, the TLS
  /// handshake, sending without progress, waiting for the response's first byte, and each pause between parts of the response. A
  /// value that is not positive and finite means no limit. A request's own ``URLRequest/timeoutInterval`` takes precedence. A task
  /// in which a phase exceeds the limit completes with `URLError.timedOut`.
  open var timeoutIntervalForRequest: TimeInterval {
    get { snapshot.timeoutIntervalForRequest }
    set { state.withLock { $0.timeoutIntervalForRequest = newValue } }
  }

  /// A time limit for each phase of a request, such as connecting. Nil by default. Foundation doesn't have this property.
  ///
  /// If set, these limits replace ``timeoutIntervalForRequest`` for requests that have neither a ``URLRequest/timeoutInterval`` nor
  /// `lupine.timeouts`. ``timeoutIntervalForResource`` still limits the whole task.
  open var timeouts: Timeouts? {
    get { snapshot.timeouts }
    set { state.withLock { $0.timeouts = newValue } }
  }

  /// The cache for the responses to data tasks. ``URLCache/shared`` by default, or a separate cache in memory in an ``ephemeral``
  /// configuration.
  ///
  /// Nil means no cache, which costs the least. Copies of the configuration, and the sessions created with it, use the same cache
  /// object. If several sessions share a cache, each session may use the responses that the other sessions have stored, except for
  /// those that were requested with credentials or cookies, or that set cookies, and for those that depend on a session's own trust in
  /// servers or its own route. Responses to downloads and uploads aren't cached,
  /// but their requests with unsafe methods remove the cached responses that they invalidate.
  open var urlCache: URLCache? {
    get { snapshot.cache.current }
    // Previous objects are released outside the lock, because their deinitializers may use the configuration.
    set { withExtendedLifetime(state.withLock { exchange(&$0.cache, with: .own(newValue)) }) {} }
  }

  /// The cache policy of requests that don't set one. `useProtocolCachePolicy` by default.
  open var requestCachePolicy: URLRequest.CachePolicy {
    get { snapshot.cachePolicy }
    set { state.withLock { $0.cachePolicy = newValue } }
  }

  /// The time limit for a whole task, in seconds, from its start to the last byte of the final response, including redirects.
  /// 604,800 by default, which is 7 days.
  ///
  /// A value that is not positive and finite means no limit. A task that exceeds the limit completes with `URLError.timedOut`.
  open var timeoutIntervalForResource: TimeInterval {
    get { snapshot.timeoutIntervalForResource }
    set { state.withLock { $0.timeoutIntervalForResource = newValue } }
  }

  /// The maximum number of simultaneous connections to one host and port. 6 by default. A value below 1 is set to 1.
  ///
  /// Requests beyond the limit wait, by priority and then in order of arrival. If `engine.loopsPerOrigin` is above 1, the limit
  /// applies to each loop.
  open var httpMaximumConnectionsPerHost: Int {
    get { snapshot.engine.pool.connectionsPerOriginMax }
    set { state.withLock { $0.engine.pool.connectionsPerOriginMax = max(1, newValue) } }
  }

  /// The storage of cookies. `HTTPCookieStorage.shared` by default, or a separate storage in an ``ephemeral`` configuration.
  ///
  /// Nil turns cookies off: received cookies aren't stored, and only a Cookie field that the request sets is sent. Copies of the
  /// configuration, and the sessions created with it, use the same storage object.
  open var httpCookieStorage: HTTPCookieStorage? {
    get { snapshot.cookieStorage }
    set { withExtendedLifetime(state.withLock { exchange(&$0.cookieStorage, with: newValue) }) {} }
  }

  /// Whether the session adds stored cookies to requests. True by default. The session stores received cookies in either case.
  ///
  /// Each request of a redirect chain gets the cookies for its URL. If a request sets a Cookie field, the session keeps that field
  /// and appends those stored cookies whose names aren't in the field. Set this property to false to send the field unchanged.
  open var httpShouldSetCookies: Bool {
    get { snapshot.setsCookies }
    set { state.withLock { $0.setsCookies = newValue } }
  }

  /// The policy that decides which received cookies the session stores. `onlyFromMainDocumentDomain` by default, which permits all
  /// cookies if the request has no `mainDocumentURL`. The policy of the storage itself also applies.
  open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { snapshot.cookieAcceptPolicy }
    set { state.withLock { $0.cookieAcceptPolicy = newValue } }
  }

  /// The storage of the credentials that answer authentication challenges. ``URLCredentialStorage/shared`` by default, or a
  /// separate storage in an ``ephemeral`` configuration.
  ///
  /// The session uses the storage for requests that don't have credentials themselves. Nil means no storage. Copies of the
  /// configuration, and the sessions created with it, use the same storage object.
  open var urlCredentialStorage: URLCredentialStorage? {
    get { snapshot.credentialStorage }
    set { withExtendedLifetime(state.withLock { exchange(&$0.credentialStorage, with: newValue) }) {} }
  }

  /// The proxies for the session's requests. If nil (the default), the environment variables `http_proxy`, `https_proxy`,
  /// `all_proxy` and `no_proxy` specify the proxies. If the dictionary is empty, there are no proxies.
  ///
  /// The supported keys are:
  /// - `HTTPEnable`, `HTTPProxy`, `HTTPPort`: the proxy of http URLs, if `HTTPEnable` is 1. Port 80 by default.
  /// - `HTTPSEnable`, `HTTPSProxy`, `HTTPSPort`: the proxy of https URLs, if `HTTPSEnable` is 1. Port 443 by default.
  /// - `SOCKSEnable`, `SOCKSProxy`, `SOCKSPort`: the SOCKS 5 proxy of URLs whose scheme has no other proxy, if the value of
  ///   `SOCKSEnable` is 1. Port 1080 by default. The proxy looks up the host names.
  /// - `kCFProxyUsernameKey`, `kCFProxyPasswordKey`: the credentials for all of these proxies.
  /// - `ExceptionsList`: an array of hosts to which requests are sent without a proxy. A name, with or without a leading `*.`, also
  ///   matches its subdomains.
  ///
  /// Other keys, including those of automatic configuration, are ignored and not stored. If an enabled proxy has no host or is
  /// otherwise invalid, the requests that would use it fail. They are never sent directly instead.
  ///
  /// Setting this property also sets `engine.proxy`. If `engine.proxy` is changed afterward, this property is nil.
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

  /// The maximum size, in bytes after decoding, of a response's body that is collected in memory: for a completion handler, an async
  /// method that returns `Data`, or a data request or upload of Alamofire's API. Nil, the default, means no limit.
  ///
  /// If a response is larger, its task is canceled, and the caller receives `URLError.dataLengthExceedsMaximum`. If the
  /// response's head declares the larger size, the task is canceled before the body arrives. Downloads and
  /// ``URLSession/bytes(for:delegate:)`` have no limit, because they don't collect the body in memory.
  open var bodyBytesMax: Int? {
    get { snapshot.bodyBytesMax }
    set { state.withLock { $0.bodyBytesMax = newValue } }
  }

  /// The subclasses of ``URLProtocol`` that may answer the session's requests, in the order in which the session asks them. Empty
  /// by default.
  ///
  /// The session asks these classes before the classes that are registered for all sessions. The session sends a request itself
  /// only if no class answers it. Classes that aren't subclasses of `URLProtocol` are ignored.
  open var protocolClasses: [AnyClass]? {
    get { snapshot.protocolClasses }
    set { state.withLock { $0.protocolClasses = newValue ?? [] } }
  }

  /// The engine's settings, such as trusted roots, proxies, limits and threads, which have no counterpart in Foundation.
  ///
  /// For example, `configuration.engine.tls.trustRoots = [.file("ca.pem")]` trusts this certificate authority instead of the
  /// system's. Assigning a new `EngineConfiguration()` resets all of these settings to the engine's defaults, including
  /// ``httpMaximumConnectionsPerHost``.
  open var engine: EngineConfiguration {
    get { snapshot.engine }
    set { withExtendedLifetime(state.withLock { exchange(&$0.engine, with: newValue) }) {} }
  }

  /// The rule that decides which redirects are followed, and which fields the next request keeps. Foundation doesn't have this
  /// property.
  ///
  /// By default, the rule follows at most 20 redirects, and refuses redirects from https to http. It also names the fields that
  /// must not be sent to other origins. For example, with `configuration.redirectRule.secretFields = ["X-Api-Key"]`, that field is
  /// sent only to the first origin, no matter whether a request or ``httpAdditionalHeaders`` sets it.
  open var redirectRule: RedirectRule {
    get { snapshot.redirectRule }
    set {
      ReadableText.hideFields(newValue.secretFields)
      state.withLock { $0.redirectRule = newValue }
    }
  }

  /// The header fields that the session adds to each request that doesn't already have them. Nil by default.
  ///
  /// Names and values are converted to strings. The fields are sent in alphabetical order, because a dictionary has no order.
  open var httpAdditionalHeaders: [AnyHashable: Any]? {
    get { snapshot.additionalFields.map(\.dictionary) }
    set {
      let named = newValue?.map { (String(describing: $0.key.base), String(describing: $0.value)) }
      additionalFields = named.map { Fields(Dictionary($0, uniquingKeysWith: { first, _ in first })) }
    }
  }

  /// The fields in ``httpAdditionalHeaders``, in the order in which they will be sent. Nil if none were set.
  package var additionalFields: Fields? {
    get { snapshot.additionalFields }
    set { state.withLock { $0.additionalFields = newValue } }
  }

  /// The object that the session passes to its URLProtocol objects, such as the rules of stubs. Nil (the default) if there is none.
  package var protocolContext: (any AnyObject & Sendable)? {
    get { snapshot.protocolContext }
    set { state.withLock { $0.protocolContext = newValue } }
  }

  /// Whether the session adds the fields Accept, Accept-Encoding and User-Agent to a request if neither the request nor the
  /// configuration has them. True by default. The module Lupine sets this property to false, because it has other default fields.
  package var addsDefaultFields: Bool {
    get { snapshot.addsDefaultFields }
    set { state.withLock { $0.addsDefaultFields = newValue } }
  }

  /// A textual description of the configuration: the timeouts, the connections per host, the handling of cookies, and the names of
  /// additional fields. The fields' values are omitted, because they may be credentials.
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

  /// Returns a separate configuration with the same values. Only the cache and the storages of cookies and credentials are shared
  /// between the copy and the original.
  open func copy(with zone: NSZone? = nil) -> Any {
    URLSessionConfiguration(snapshot)
  }
}
