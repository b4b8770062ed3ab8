// ProxySettings: the choice of a proxy for each request: none, a fixed proxy, or one that the environment specifies by curl's
// rules.

public import LupineWire

/// The settings that determine the proxy of each request.
public enum ProxySettings: Sendable, Hashable {
  /// The engine sends every request directly to its origin.
  case none
  /// The environment variables specify the proxies. This is the default.
  ///
  /// `http_proxy` applies to http, and `https_proxy` to https. `all_proxy` applies to a scheme whose own variable is unset.
  /// `no_proxy` lists exceptions; see ``ProxyBypass``. Each name may also be uppercase, but lowercase takes precedence. An
  /// empty variable counts as unset.
  ///
  /// HTTP_PROXY is ignored in a CGI program, which has REQUEST_METHOD in its environment. A client of a CGI program can set
  /// HTTP_PROXY by sending a field named Proxy (RFC 3875 §4.1.18), and could so redirect requests to itself.
  case environment
  /// All requests use this proxy, except those to hosts in `bypass`.
  case fixed(Proxy, bypass: ProxyBypass = .none)
  /// Requests use one proxy for http and one for https, except for those to hosts in `bypass`. If a proxy is nil, requests with its
  /// scheme are sent directly.
  ///
  /// If a result is a failure, the requests that would use that proxy fail, rather than being sent directly.
  case perScheme(
    http: Result<Proxy, ProxyError>?, https: Result<Proxy, ProxyError>?, bypass: ProxyBypass = .none)

  /// Returns the rules that follow from these settings. `environment` contains the values of environment variables by name. This
  /// method reads no other variables.
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
  /// The names of the environment variables that `.environment` reads.
  static let variables = [
    "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    "REQUEST_METHOD",
  ]
}

/// The rules for choosing a proxy, evaluated from `ProxySettings` once, so that the environment isn't read for each request.
public struct ProxyRules: Sendable, Hashable {
  // A malformed variable fails only the requests that would use it. Sending those requests directly could expose to the network
  // data that the proxy should hide.
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

  /// Returns the rules that follow from `settings`, or these rules if `settings` is nil. `environment` contains the values of the
  /// environment variables that `.environment` uses, by name.
  func replaced(by settings: ProxySettings?, environment: [String: String]) -> ProxyRules {
    switch settings {
    case nil: self
    case .environment: ProxySettings.environment.rules(environment: environment)
    case .some(let settings): settings.rules(environment: [:])
    }
  }

  /// Whether the client reaches at least one of the proxies over TLS.
  var usesTLS: Bool {
    [http, https].contains { if case .success(let proxy)? = $0 { proxy.scheme == .https } else { false } }
  }

  /// Returns the proxy for requests to an origin, or nil if the requests are sent directly.
  ///
  /// Throws a `ProxyError`, which `Proxy.init(_:)` describes, if the environment variable or setting for the origin is malformed.
  public func proxy(for origin: Origin) throws(ProxyError) -> Proxy? {
    guard let result = origin.scheme == .http ? http : https, !bypass.contains(host: origin.host) else { return nil }
    return try result.get()
  }
}
