// URLRequest+Network: the networks that a request may use, and the kind of its traffic.

extension URLRequest {
  /// The kind of a request's traffic. It determines the traffic class of the connection's IP packets (`IP_TOS`, `IPV6_TCLASS`).
  ///
  /// Routers treat packets by their class only if the network's owner has configured them so. Except for `default` and `video`,
  /// the classes are those that RFC 4594 and RFC 8622 recommend.
  public enum NetworkServiceType: UInt, Sendable {
    /// Ordinary traffic. The packets have the kernel's default traffic class.
    case `default` = 0
    /// The control traffic of voice calls: traffic class CS5.
    case voip = 1
    /// The video of video conferences: traffic class AF41.
    case video = 2
    /// Transfers that no user is waiting for: traffic class LE (lower effort), which yields to all other traffic.
    case background = 3
    /// The audio of voice calls: traffic class EF (expedited forwarding).
    case voice = 4
    /// The signaling of voice calls, such as call setup: traffic class CS5.
    case networkServiceTypeCallSignaling = 11

    /// The name of ``networkServiceTypeCallSignaling`` on Apple's systems.
    public static let callSignaling = networkServiceTypeCallSignaling

    /// The traffic-class byte of the IP header for this kind of traffic: six DSCP bits, then two ECN bits. Nil if the kernel's
    /// default applies.
    var trafficClass: UInt8? {
      switch self {
      case .default: nil
      case .voip, .networkServiceTypeCallSignaling: 40 << 2
      case .video: 34 << 2
      case .background: 1 << 2
      case .voice: 46 << 2
      }
    }
  }

  /// Whether the request may use a mobile network. True by default.
  ///
  /// If false, connections don't use the interfaces of modems (WWAN, rmnet). The engine looks up the interface for each address of
  /// the host, or of its proxy, in the kernel's routes. If all of these addresses are reached only through modems, the task fails
  /// with `URLError.notConnectedToInternet`, or waits if ``URLSessionConfiguration/waitsForConnectivity`` is set. If the kernel's
  /// routes can't be read, for example in a sandbox without netlink, the request may use all addresses. To permit mobile networks,
  /// the session's ``URLSessionConfiguration/allowsCellularAccess`` must be true as well.
  public var allowsCellularAccess: Bool {
    get { options?.allowsCellularAccess ?? true }
    set { changeOptions { $0.allowsCellularAccess = newValue } }
  }

  /// Whether the request may use an expensive network. True by default.
  ///
  /// On Linux, only mobile networks count as expensive. The request doesn't use them if this property or ``allowsCellularAccess``
  /// is false.
  public var allowsExpensiveNetworkAccess: Bool {
    get { options?.allowsExpensiveNetworkAccess ?? true }
    set { changeOptions { $0.allowsExpensiveNetworkAccess = newValue } }
  }

  /// Whether the request may use a network in low data mode. True by default.
  ///
  /// The property has no effect, because Linux has no such mode. The value is stored so that programs can read it.
  public var allowsConstrainedNetworkAccess: Bool {
    get { options?.allowsConstrainedNetworkAccess ?? true }
    set { changeOptions { $0.allowsConstrainedNetworkAccess = newValue } }
  }

  /// The kind of the request's traffic. If the property was never set, its value is `.default`, but the session's
  /// ``URLSessionConfiguration/networkServiceType`` applies to the request.
  ///
  /// Requests of different kinds don't share connections.
  public var networkServiceType: NetworkServiceType {
    get { options?.networkServiceType ?? .default }
    set { changeOptions { $0.networkServiceType = newValue } }
  }

  /// Whether the request may be sent before the responses to earlier requests on its connection have arrived. False by default.
  ///
  /// The property has no effect, because requests are never pipelined. Servers and proxies often fail to serve pipelined requests,
  /// and after a lost connection, the client couldn't know which of the requests the server has processed. The value is stored so
  /// that programs can read it.
  public var httpShouldUsePipelining: Bool {
    get { options?.usesPipelining ?? false }
    set { changeOptions { $0.usesPipelining = newValue } }
  }
}
