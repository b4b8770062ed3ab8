// RequestSettings: the settings of one request that have no counterpart in Foundation; and RequestOptions, all settings that few
// requests have, stored separately so that other requests don't pay for them.

public import LupineEngine

/// Lupine's settings for one request, which override the session's settings: the time limits, the maximum size of the body, the
/// priority, and the settings of the connection. See ``URLRequest/lupine``.
///
/// ```swift
/// import LupineEngine
///
/// var slow = URLRequest(url: URL(string: "https://example.com/report")!)
/// slow.lupine.timeouts = Timeouts(everyPhase: .seconds(20), total: .seconds(300))
/// slow.lupine.bodyBytesMax = 50_000_000
/// ```
///
/// A download with TLS settings, a proxy or fixed addresses produces no resume data, because resume data can't contain them.
///
/// If a setting is nil (the default), the session's setting is used. A request uses only connections that were opened with equal
/// connection settings, so requests with different settings don't share connections.
public struct RequestSettings: Hashable, Sendable {
  /// The time limits for each phase of the request, such as connecting, and for the whole request with its redirects (`total`).
  /// They override ``URLRequest/timeoutInterval`` and the session's timeouts.
  public var timeouts: Timeouts?
  /// The maximum length of the response's body in bytes, after decoding. If the body is longer, the task fails with
  /// `URLError.dataLengthExceedsMaximum`, whatever kind of task it is.
  public var bodyBytesMax: Int?
  /// The request's priority among the requests that wait for a connection, from 0 to 1. The ``URLSessionTask/priority`` of the
  /// task, if set, takes precedence.
  public var priority: Float?
  /// The template of the URL's path, such as `/users/{id}`, under which LupineObservability groups requests to many URLs in spans
  /// and metrics (see <doc:Observability>). Redirected requests have none, nor have background transfers in a later process.
  ///
  /// A template must not contain values that identify users or are secret. Use only a limited number of different templates.
  public var urlTemplate: String?
  /// The TLS settings for the request's connection. The session's server trust evaluation applies as well.
  public var tls: TLSConfiguration?
  /// The proxy settings for the request. With `ProxySettings.none`, the client sends the request directly to the origin.
  public var proxy: ProxySettings?
  /// Fixed addresses for some hosts. The client connects to these addresses instead of looking up the hosts' names. Empty by
  /// default. The engine's address policy also applies to these addresses.
  public var hostOverrides: [HostOverride] = []

  /// Creates settings without any value, so that all of the session's settings apply.
  public init() {}
}

extension URLRequest {
  /// Lupine's settings for this request, which override the session's settings. By default, none is set. Foundation has no such
  /// property.
  ///
  /// The settings also apply to the requests that follow redirects. Requests with different settings aren't equal.
  public var lupine: RequestSettings {
    get { options?.own ?? RequestSettings() }
    set { changeOptions { $0.own = newValue } }
  }
}

/// The settings of a URLRequest that most requests don't set. A setting that was never set is nil.
struct RequestOptions: Hashable, Sendable {
  var allowsCellularAccess: Bool?
  var allowsExpensiveNetworkAccess: Bool?
  var allowsConstrainedNetworkAccess: Bool?
  var networkServiceType: URLRequest.NetworkServiceType?
  var usesPipelining: Bool?
  var own = RequestSettings()

  /// The storage of a request's options. Only a request for which an option has been set allocates memory for its options.
  enum Place: Hashable, Sendable {
    case none
    indirect case own(RequestOptions)

    var options: RequestOptions? { if case .own(let options) = self { options } else { nil } }
  }
}
