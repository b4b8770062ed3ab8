// ConnectionSettings: the settings of one request's connection that differ from the engine's.

public import LupineReactor
public import LupineTLS

/// Settings for the connection of one request, which replace the engine's settings.
///
/// The settings are part of the pool's key, so a request uses only connections that were opened with equal settings. Redirected
/// requests keep the settings.
public struct ConnectionSettings: Sendable, Hashable {
  /// The TLS settings. If nil (the default), the engine's TLS settings are used.
  public var tls: TLSConfiguration?
  /// The proxy settings. If nil (the default), the engine's proxy settings are used. `.environment` uses the environment
  /// variables as they were when the engine was created.
  public var proxy: ProxySettings?
  /// Fixed addresses for some hosts, which take precedence over those of the engine's resolver. None by default. The
  /// engine's `AddressPolicy` applies to them.
  public var hostOverrides: [HostOverride] = []
  /// The traffic class of the connection's packets (`SocketOptions.trafficClass`). If nil (the default), the engine's traffic
  /// class is used.
  public var trafficClass: UInt8?
  /// Whether the connection must not use a mobile network (WWAN). False by default.
  ///
  /// The engine looks up the interface of each address in the kernel's routes. It skips addresses that are reached through a
  /// mobile network. If no other addresses are left, the request fails with `.addressRefused`. If the kernel's routes can't be
  /// read, for example in a sandbox without netlink, no address is skipped.
  public var refusesCellular = false

  /// Creates settings that replace none of the engine's settings.
  public init() {}
}

extension ConnectionSettings {
  /// The settings that two requests must have in common to share a connection, in addition to the route and the TLS settings.
  struct Traits: Sendable, Hashable {
    var hostOverrides: [HostOverride]
    var trafficClass: UInt8?
    var refusesCellular: Bool
  }

  /// The host overrides, the traffic class and the cellular restriction of these settings, or nil if none of them is set.
  var traits: Traits? {
    guard !hostOverrides.isEmpty || trafficClass != nil || refusesCellular else { return nil }
    return Traits(hostOverrides: hostOverrides, trafficClass: trafficClass, refusesCellular: refusesCellular)
  }
}
