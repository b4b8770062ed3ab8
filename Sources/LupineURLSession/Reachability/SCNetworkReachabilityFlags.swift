// SCNetworkReachabilityFlags: the flags of `NetworkReachabilityManager`, named as in Apple's SystemConfiguration.

/// Flags that describe the network path to a host.
///
/// SystemConfiguration's flags for on-demand connections are omitted, because Linux has no such connections.
public struct SCNetworkReachabilityFlags: OptionSet, Sendable {
  /// The flags as bits, with the same values as in SystemConfiguration.
  public let rawValue: UInt32

  /// Creates flags from their bits, as in SystemConfiguration.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The host can be reached: there is a route to it.
  public static let reachable = SCNetworkReachabilityFlags(rawValue: 1 << 1)
  /// The host's address belongs to this machine.
  public static let isLocalAddress = SCNetworkReachabilityFlags(rawValue: 1 << 16)
  /// The host can be reached without a gateway.
  public static let isDirect = SCNetworkReachabilityFlags(rawValue: 1 << 17)
  /// The route to the host leads through a mobile network.
  public static let isWWAN = SCNetworkReachabilityFlags(rawValue: 1 << 18)

  package init?(_ path: HostPath) {
    switch path {
    case .unknown: return nil
    case .missing: self = []
    case .route(let isCellular, let isLocal, let isDirect):
      self = .reachable
      if isLocal { insert(.isLocalAddress) }
      if isDirect { insert(.isDirect) }
      if isCellular { insert(.isWWAN) }
    }
  }
}
