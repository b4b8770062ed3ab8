// NetworkState: the machine's links, addresses and routes at one time, and the path to an address that they imply.

internal import LupineLibc

/// The links, addresses and routes of a network namespace.
package struct NetworkState: Sendable, Hashable {
  private var links: [Int32: NetworkLink] = [:]
  private var addresses: [NetworkAddress] = []
  private var routes: [NetworkRoute] = []

  /// Creates a state without links, addresses and routes.
  package init() {}

  /// Adds the link, address or route that `message` describes. Ignores all other messages.
  package mutating func add(_ message: NetlinkMessage) {
    switch message {
    case .link(let link): links[link.index] = link
    case .address(let address): addresses.append(address)
    case .route(let route): routes.append(route)
    case .done, .failed, .interrupted: break
    }
  }

  /// Returns the path on which the kernel would send packets to `address`, or nil if there is none. If `address` is nil, returns
  /// the path of the default route: that of IPv4 or, if there is none, that of IPv6.
  ///
  /// There is a path if the most specific usable route to the address doesn't refuse packets. A route is usable if one of its links
  /// is up and has a carrier, and the machine has an address of the family that can be a packet's source. The routes of all tables
  /// are considered, because the rules by which the kernel chooses a table may depend on more than the address.
  ///
  /// Links with a medium in `refused` are treated as down.
  package func path(to address: IPAddress?, refusing refused: Set<NetworkPath.Medium> = []) -> NetworkPath? {
    guard let address else {
      return path(in: .ipv4(0), isDefault: true, refused) ?? path(in: .ipv6(0), isDefault: true, refused)
    }
    return path(in: address.unmapped, isDefault: false, refused)
  }

  /// Returns whether there is a usable route to another machine through a link whose medium isn't in `refused`.
  package func hasRoute(refusing refused: Set<NetworkPath.Medium> = []) -> Bool {
    routes.contains { route in
      guard case .sent = route.outcome else { return false }
      return usable(route, for: route.destination, isDefault: route.prefixLength == 0, refused).flatMap(\.self) != nil
    }
  }

  /// The usable links of the default routes: first those of IPv4, then those of IPv6, each ordered by the metric of the route. No
  /// link occurs twice.
  package var linksToAnyHost: [NetworkLink] {
    let defaults = routes.filter { $0.prefixLength == 0 }
      .sorted { ($0.destination.bitCount, $0.priority) < ($1.destination.bitCount, $1.priority) }
    var found: [NetworkLink] = []
    for route in defaults {
      guard case .sent(let indices, _) = route.outcome, hasSource(for: route.destination, isDefault: true) else {
        continue
      }
      for link in indices.compactMap({ links[$0] }) where link.isUsable && !found.contains(link) { found.append(link) }
    }
    return found
  }

  private func path(
    in address: IPAddress, isDefault: Bool, _ refused: Set<NetworkPath.Medium>
  ) -> NetworkPath? {
    var best: (route: NetworkRoute, path: NetworkPath?)?
    for route in routes where isDefault ? route.prefixLength == 0 : true {
      guard address.bitCount == route.destination.bitCount,
        address.masked(route.prefixLength) == route.destination.masked(route.prefixLength),
        let path = usable(route, for: address, isDefault: isDefault, refused)
      else { continue }
      if let best, !route.isPreferred(to: best.route) { continue }
      best = (route, path)
    }
    return best?.path
  }

  /// Returns the path by which the route sends packets, or an inner nil if the route refuses them. Returns an outer nil if the
  /// route isn't usable.
  private func usable(
    _ route: NetworkRoute, for address: IPAddress, isDefault: Bool, _ refused: Set<NetworkPath.Medium>
  ) -> NetworkPath?? {
    switch route.outcome {
    case .refused: return .some(nil)
    case .local: return .some(NetworkPath(medium: .wired, isLocal: true, isDirect: true))
    case .sent(let indices, let isDirect):
      guard
        let link = indices.lazy.compactMap({ links[$0] })
          .first(where: { $0.isUsable && !refused.contains($0.medium) }),
        hasSource(for: address, isDefault: isDefault)
      else { return nil }
      return .some(NetworkPath(medium: link.medium, isLocal: false, isDirect: isDirect))
    }
  }

  /// Returns whether the machine has a source address to which the host at `address` can send its replies.
  private func hasSource(for address: IPAddress, isDefault: Bool) -> Bool {
    addresses.contains { own in
      guard let link = links[own.link], link.isUsable, !link.isLoopback, own.ip.bitCount == address.bitCount else {
        return false
      }
      // A reply to a link-local IPv6 address can only come from the same link.
      return !own.ip.isLinkLocalIPv6 || (!isDefault && address.isLinkLocalIPv6)
    }
  }
}

/// A summary of the path that packets to a host take.
package struct NetworkPath: Sendable, Hashable {
  package enum Medium: Sendable, Hashable {
    /// Ethernet, or any link that isn't recognized as Wi-Fi or a modem.
    case wired
    /// A wireless local network.
    case wifi
    /// A modem of a mobile network (WWAN).
    case cellular
  }

  package var medium: Medium
  /// Whether the host's address belongs to this machine.
  package var isLocal: Bool
  /// Whether packets reach the host without a gateway.
  package var isDirect: Bool
}

extension NetworkRoute {
  fileprivate func isPreferred(to other: NetworkRoute) -> Bool {
    prefixLength != other.prefixLength ? prefixLength > other.prefixLength : priority < other.priority
  }
}

extension NetworkLink {
  /// Whether the link is up and has a carrier.
  package var isUsable: Bool { flags & UInt32(IFF_UP) != 0 && flags & UInt32(IFF_RUNNING) != 0 }

  fileprivate var isLoopback: Bool { flags & UInt32(IFF_LOOPBACK) != 0 }

  /// The link's medium. A link is cellular if it belongs to the kernel's WWAN subsystem or to rmnet, if it carries raw IP, or if
  /// its name has the prefix that systemd or a driver gives to modems. The kernel reports Wi-Fi links as Ethernet, so a Wi-Fi link
  /// is recognized by the prefix of its name.
  package var medium: NetworkPath.Medium {
    let isModem =
      ["wwan", "rmnet"].contains(kind) || hardwareType == Self.rawIP || name.hasPrefix("ww") || name.hasPrefix("rmnet")
    return isModem ? .cellular : name.hasPrefix("wl") ? .wifi : .wired
  }

  /// The hardware type of links that carry raw IP: ARPHRD_RAWIP of linux/if_arp.h.
  private static let rawIP: UInt16 = 519
}

extension IPAddress {
  /// Whether the address is in fe80::/10 (RFC 4291 §2.5.6).
  fileprivate var isLinkLocalIPv6: Bool {
    if case .ipv6(let bits) = self { bits >> 118 == 0x3FA } else { false }
  }
}
