// RequestSettings: the settings of one request that have no counterpart in Foundation.

public import LupineEngine

/// Lupine's settings for one request, which replace the session's settings: the time limits, the maximum size of the body, and the
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
/// If a setting is nil (the default), the session's setting is used. Connections aren't shared between different settings: a
/// request uses only connections that were opened with equal connection settings.
public struct RequestSettings: Hashable, Sendable {
  /// The time limits of the request's phases, and of the whole request with its redirects (`total`). They replace
  /// ``URLRequest/timeoutInterval`` and the session's timeouts.
  public var timeouts: Timeouts?
  /// The maximum length of the response's body in bytes, after decoding. If the body exceeds it, the task fails with
  /// `URLError.dataLengthExceedsMaximum`, whatever kind of task it is.
  public var bodyBytesMax: Int?
  /// The request's priority among the requests that wait for a connection, from 0 to 1. A task's own ``URLSessionTask/priority``
  /// takes precedence.
  public var priority: Float?
  /// The TLS settings of the connection that serves the request. In addition, the session's server trust evaluation applies.
  public var tls: TLSConfiguration?
  /// The proxy settings for the request. With `ProxySettings.none`, the client sends the request directly to the origin.
  public var proxy: ProxySettings?
  /// Fixed addresses for some hosts, which the client uses instead of looking up their names. Empty by default. The engine's
  /// address policy applies to these addresses too.
  public var hostOverrides: [HostOverride] = []

  /// Creates settings with their default values, so that all of the session's settings apply.
  public init() {}
}

extension URLRequest {
  /// Lupine's settings for this request, which make a separate session for it unnecessary. By default, none is set. Foundation has
  /// no such property.
  ///
  /// The settings also apply to the requests that follow redirects. Requests with different settings aren't equal.
  public var lupine: RequestSettings {
    get { options?.own ?? RequestSettings() }
    set { changeOptions { $0.own = newValue } }
  }
}
