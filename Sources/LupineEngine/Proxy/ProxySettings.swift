// Which proxy a request goes through: none, a fixed one, or what the environment says, by curl's rules.

public import LupineWire

/// Whether requests go through a proxy.
public enum ProxySettings: Sendable, Hashable {
  /// Every request goes to its origin directly.
  case none
  /// What the environment variables say; the default.
  ///
  /// `http_proxy` holds for http, `https_proxy` for https, `all_proxy` for both where they are unset, and `no_proxy`
  /// lists the exceptions; see ``ProxyBypass``. Each may be written in capitals, and the small letters win. An empty
  /// variable counts as unset. HTTP_PROXY is ignored in a CGI program (one with REQUEST_METHOD in its environment),
  /// because there a client sets it with a field named Proxy (RFC 3875 §4.1.18), and could route requests to itself.
  case environment
  /// That proxy, but for the hosts that are listed.
  case fixed(Proxy, bypass: ProxyBypass = .none)
  /// One proxy for http and one for https, nil for none, but for the hosts that are listed.
  ///
  /// A failure in a proxy's place fails the requests that would go through it: they don't go directly in its stead.
  case perScheme(
    http: Result<Proxy, ProxyError>?, https: Result<Proxy, ProxyError>?, bypass: ProxyBypass = .none)

  /// The decisions for all origins. Pure: `environment` holds the variables by their names.
  public func rules(environment: [String: String]) -> ProxyRules {
    switch self {
    case .none: ProxyRules(http: nil, https: nil, bypass: .none)
    case .environment: ProxyRules(environment: environment)
    case .fixed(let proxy, let bypass):
      ProxyRules(http: .success(proxy), https: .success(proxy), bypass: bypass)
    case .perScheme(let http, let https, let bypass):
      ProxyRules(http: http, https: https, bypass: bypass)
    }
  }
}

extension ProxySettings {
  /// The variables that `.environment` looks at.
  static let variables = [
    "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    "REQUEST_METHOD",
  ]
}

/// `ProxySettings`, evaluated once, so that a request need not look at the environment.
public struct ProxyRules: Sendable, Hashable {
  // A malformed variable fails the requests that would use it, and no others: going directly in its stead could show
  // to the network what was to be hidden from it.
  private let http: Result<Proxy, ProxyError>?
  private let https: Result<Proxy, ProxyError>?
  private let bypass: ProxyBypass

  fileprivate init(http: Result<Proxy, ProxyError>?, https: Result<Proxy, ProxyError>?, bypass: ProxyBypass) {
    self.http = http
    self.https = https
    self.bypass = bypass
  }

  fileprivate init(environment: [String: String]) {
    func proxy(_ names: [String]) -> Result<Proxy, ProxyError>? {
      for name in names {
        guard let value = environment[name], !value.isEmpty else { continue }
        return Result { () throws(ProxyError) in try Proxy(value, place: name) }
      }
      return nil
    }
    let isCGI = environment["REQUEST_METHOD"] != nil
    let all = ["all_proxy", "ALL_PROXY"]
    http = proxy((isCGI ? ["http_proxy"] : ["http_proxy", "HTTP_PROXY"]) + all)
    https = proxy(["https_proxy", "HTTPS_PROXY"] + all)
    let exceptions = ["no_proxy", "NO_PROXY"].compactMap { environment[$0] }.first { !$0.isEmpty }
    bypass = ProxyBypass(exceptions ?? "")
  }

  /// The proxy for requests to that origin, or nil if they go to it directly.
  ///
  /// Throws if the environment variable or the setting that holds for it isn't a proxy.
  public func proxy(for origin: Origin) throws(ProxyError) -> Proxy? {
    guard let result = origin.scheme == .http ? http : https, !bypass.contains(host: origin.host) else { return nil }
    return try result.get()
  }
}
