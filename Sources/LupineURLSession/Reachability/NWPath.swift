// NWPath and NWInterface: the paths to other machines, with the names of Apple's Network framework.

import LupineEngine

/// A network interface.
public struct NWInterface: Sendable, Hashable {
  /// The kind of an interface.
  public enum InterfaceType: Sendable, Hashable, CaseIterable {
    /// A virtual or unknown interface. On Linux, such interfaces can't be distinguished from Ethernet, so no interface has this
    /// type.
    case other
    /// A wireless local network: an interface whose name begins with "wl", as systemd and the kernel name such interfaces.
    case wifi
    /// A modem of a mobile network: an interface of the kernel's WWAN subsystem or of rmnet, one that carries raw IP, or one
    /// whose name begins with "ww" or "rmnet".
    case cellular
    /// Ethernet, and all interfaces that aren't known to be of another type.
    case wiredEthernet
    /// The loopback interface. It leads to no other machine, so no path contains it.
    case loopback

    init(_ medium: NetworkPath.Medium) {
      self =
        switch medium {
        case .wired: .wiredEthernet
        case .wifi: .wifi
        case .cellular: .cellular
        }
    }
  }

  /// The interface's type.
  public let type: InterfaceType
  /// The interface's name, such as "eth0".
  public let name: String
  /// The interface's index, by which the kernel identifies it.
  public let index: Int
}

/// The path to other machines, according to the default routes in the kernel's routing tables.
public struct NWPath: Sendable, Hashable {
  /// Whether there is a path to other machines.
  public enum Status: Sendable, Hashable {
    /// There is a usable default route.
    case satisfied
    /// There is no usable default route through an interface of a permitted type.
    case unsatisfied
    /// The network's state can't be read, for example in a sandbox without netlink. A connection may succeed.
    case requiresConnection
  }

  /// Whether there is a path to other machines.
  public let status: Status
  /// The interfaces of the usable default routes, starting with the preferred one.
  public let availableInterfaces: [NWInterface]

  /// Returns whether packets leave through an interface of the given type, that is, whether the preferred interface of the path has
  /// this type.
  public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { availableInterfaces.first?.type == type }

  /// Whether the path leads through a mobile network.
  public var isExpensive: Bool { usesInterfaceType(.cellular) }

  /// Whether the path is in low data mode. Always false, because Linux has no such mode.
  public var isConstrained: Bool { false }

  /// Creates the path in the given state of the network, through the interfaces that `filter` permits. `network` is nil if the
  /// network's state can't be read.
  init(_ network: NetworkState?, _ filter: PathFilter) {
    availableInterfaces = (network?.linksToAnyHost ?? [])
      .map { NWInterface(type: .init($0.medium), name: $0.name, index: Int($0.index)) }
      .filter { filter.permits($0.type) }
    status = network == nil ? .requiresConnection : availableInterfaces.isEmpty ? .unsatisfied : .satisfied
  }
}

/// The types of interfaces that a path may use.
package enum PathFilter: Sendable {
  case required(NWInterface.InterfaceType)
  case prohibited([NWInterface.InterfaceType])

  func permits(_ type: NWInterface.InterfaceType) -> Bool {
    switch self {
    case .required(let required): type == required
    case .prohibited(let prohibited): !prohibited.contains(type)
    }
  }
}
