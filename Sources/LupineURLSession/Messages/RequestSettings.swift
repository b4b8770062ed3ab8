// RequestSettings: the settings of one request that have no counterpart in Foundation.

public import LupineEngine

/// Lupine's settings of one request, which replace those of its session: the time limits, the maximum size of the body, and the
/// connection's settings. See ``URLRequest/lupine``.
///
/// ```swift
/// import LupineEngine
///
/// var slow = URLRequest(url: URL(string: "https://example.com/report")!)
/// slow.lupine.timeouts = Timeouts(everyPhase: .seconds(20), total: .seconds(300))
/// slow.lupine.bodyBytesMax = 50_000_000
/// ```
///
/// If a setting is nil (the default), the session's setting is used. The connection's settings are part of the pool's key, so a
/// request uses only connections that were opened with equal settings.
public struct RequestSettings: Hashable, Sendable {
  /// The time limits of the request's phases, and of the whole request with its redirects (`total`). They replace
  /// ``URLRequest/timeoutInterval`` and the session's timeouts.
  public var timeouts: Timeouts?
  /// The maximum length of the response's body in bytes, after decoding. If the body exceeds it, the task fails with
  /// `URLError.dataLengthExceedsMaximum`, whatever kind of task it is.
  public var bodyBytesMax: Int?
  /// The priority among the requests that wait for a connection, from 0 to 1. A task's own ``URLSessionTask/priority`` takes
  /// precedence.
  public var priority: Float?
  /// The TLS settings of the connection. The session's server trust evaluation applies in addition.
  public var tls: TLSConfiguration?
  /// The proxy settings of the request. With `ProxySettings.none`, the request is sent directly to the origin.
  public var proxy: ProxySettings?
  /// Fixed addresses for some hosts, which replace lookups. None by default. The engine's address policy applies to them.
  public var hostOverrides: [HostOverride] = []

  /// Creates settings in which nothing is set, so that the session's settings apply.
  public init() {}
}

extension URLRequest {
  /// Lupine's addition: settings that apply to this request only, so that it needs no separate session. None by default.
  ///
  /// Redirected requests keep the settings. Requests with different settings aren't equal.
  public var lupine: RequestSettings {
    get { options?.own ?? RequestSettings() }
    set { changeOptions { $0.own = newValue } }
  }
}
