// AddressPolicy: the addresses to which the engine may connect, as a protection against server-side request forgery.

public import LupineReactor

/// The addresses to which an engine may connect.
///
/// The engine checks each address immediately before it opens a connection, after the lookup of the host, so a host name whose
/// address changes can't bypass the policy. The rules apply in this order:
///
/// 1. If `refused` contains the address, or an IPv4 address embedded in it, the address is refused.
/// 2. If `allowed` contains the address, it is permitted.
/// 3. Otherwise, `others` decides.
///
/// Embedded addresses are the IPv4 addresses within the IPv6 networks ::/96, ::ffff:0:0:0/96, 64:ff9b::/96, 64:ff9b:1::/48,
/// 2002::/16 (6to4) and 2001::/32 (Teredo), and within interface identifiers of ISATAP (`::5efe:10.0.0.1` after any prefix of
/// 64 bits). An address in ::ffff:0:0/96 counts as the IPv4 address itself. The unspecified address also counts as the loopback
/// address, because on Linux a connection to either reaches the same machine.
public struct AddressPolicy: Sendable, Hashable {
  /// A rule for the addresses that are in neither of the lists `allowed` and `refused`.
  public enum Others: String, Sendable, Hashable, CaseIterable {
    /// Permits all addresses that aren't in the list `refused`.
    case all
    /// Permits only addresses that are globally reachable according to IANA's registries of special-purpose addresses, and whose
    /// embedded addresses are globally reachable too. Loopback, private, link-local, shared, multicast and reserved addresses are
    /// refused. The metadata services of clouds have link-local addresses.
    case publicOnly
    /// Permits only the addresses that are in the list `allowed`.
    case none
  }

  /// The rule for addresses that are in neither of the lists `allowed` and `refused`.
  public var others: Others
  /// Networks whose addresses are permitted unless `refused` contains them.
  public var allowed: [AddressNetwork]
  /// Networks whose addresses are always refused.
  public var refused: [AddressNetwork]
  /// Whether the engine may connect to Unix sockets, including the socket at `EngineConfiguration.socketPath`.
  public var allowsUnixSockets: Bool
  /// Whether requests may use proxies.
  ///
  /// The engine connects only to the proxy, so it checks the proxy's address. The engine can't check the address of the origin,
  /// to which the proxy connects, unless it looks up that address for the proxy (`socks5`). Allow only proxies that check the
  /// addresses of origins themselves.
  public var allowsProxies: Bool

  /// Permits all addresses, Unix sockets and proxies. This is the default.
  public static let all = AddressPolicy(others: .all, allowsUnixSockets: true, allowsProxies: true)

  /// Permits globally reachable addresses, and neither Unix sockets nor proxies.
  public static let publicOnly = AddressPolicy(others: .publicOnly)

  /// Permits the addresses in these networks, and neither Unix sockets nor proxies.
  public static func only(_ networks: [AddressNetwork]) -> AddressPolicy {
    AddressPolicy(others: .none, allowed: networks)
  }

  /// Creates a policy. Each parameter is described at the property of the same name. By default, both lists are empty, and neither
  /// Unix sockets nor proxies are permitted.
  public init(
    others: Others, allowed: [AddressNetwork] = [], refused: [AddressNetwork] = [], allowsUnixSockets: Bool = false,
    allowsProxies: Bool = false
  ) {
    self.others = others
    self.allowed = allowed
    self.refused = refused
    self.allowsUnixSockets = allowsUnixSockets
    self.allowsProxies = allowsProxies
  }

  /// Returns whether the policy permits connections to an address. The port doesn't matter.
  public func permits(_ address: SocketAddress) -> Bool {
    guard let ip = address.ip?.unmapped else { return allowsUnixSockets }
    let reached = ip.reachedAddresses
    if ([ip] + reached).contains(where: refused.contains) { return false }
    if allowed.contains(ip) { return true }
    return switch others {
    case .all: true
    case .publicOnly: ip.isPublic && reached.allSatisfy(\.isPublic)
    case .none: false
    }
  }

  /// Returns those addresses that the policy permits, in the given order. Throws `AddressRefusal.addresses` if it permits none of
  /// them.
  func permitted(_ addresses: [SocketAddress]) throws(AddressRefusal) -> [SocketAddress] {
    // Skips the checks for the default policy, so that it costs nothing.
    if others == .all, refused.isEmpty, allowsUnixSockets { return addresses }
    let permitted = addresses.filter(permits)
    guard !permitted.isEmpty else { throw .addresses(addresses) }
    return permitted
  }
}

/// The reason why an address policy, or a request's settings, permits no connection.
public enum AddressRefusal: Error, Sendable, Hashable {
  /// The policy permits none of these addresses. They belong to the host or the proxy, or are the address of a Unix socket.
  case addresses([SocketAddress])
  /// The policy permits no proxies, but the request would use one.
  case proxy
  /// The request permits no mobile network, but these addresses are reached only through one.
  case cellular([SocketAddress])
}

extension AddressRefusal: CustomStringConvertible {
  /// A sentence that states what the policy or the request refuses, and the remedy.
  public var description: String {
    switch self {
    case .proxy:
      "the address policy permits no proxy. Remove the proxy, or set AddressPolicy.allowsProxies if the proxy checks "
        + "addresses itself."
    case .cellular(let addresses):
      "\(list(addresses)) can be reached through a mobile network only. Permit cellular access, or wait for another "
        + "network."
    case .addresses(let addresses):
      if let path = addresses.first?.socketPath {
        "the address policy permits no Unix socket (\(path)). Set AddressPolicy.allowsUnixSockets to allow it."
      } else {
        "the address policy refuses \(list(addresses)). Request another host, or add the network to "
          + "AddressPolicy.allowed."
      }
    }
  }

  private func list(_ addresses: [SocketAddress]) -> String {
    let shown = addresses.prefix(Self.addressesShown).map(\.host).joined(separator: ", ")
    let rest = addresses.count - Self.addressesShown
    return rest > 0 ? "\(shown) and \(rest) more" : shown
  }

  /// The maximum number of addresses that a message lists: 4. A host may have 64.
  private static let addressesShown = 4
}

extension AddressPolicy {
  /// Returns a text that all forms of an IP address share, or nil if `host` isn't an address.
  package static func canonicalAddress(_ host: String) -> String? { IPAddress(host).map { "\($0.bytes)" } }
}

extension [AddressNetwork] {
  fileprivate func contains(_ address: IPAddress) -> Bool { contains { $0.contains(address) } }
}
