// NWPath and NWInterface: the paths to other machines, with the names of Apple's Network framework.

import LupineEngine

/// A network interface of this machine.
public struct NWInterface: Sendable, Hashable {
  /// The type of a network interface.
  public enum InterfaceType: Sendable, Hashable, CaseIterable {
    /// A virtual or unknown interface. No interface has this type, because on Linux, such interfaces can't be distinguished from
    /// Ethernet.
    case other
    /// A Wi-Fi interface: an interface whose name begins with "wl", as the kernel and systemd name such interfaces.
    case wifi
    /// A modem of a mobile network: an interface of the kernel's WWAN subsystem or of rmnet, an interface that carries raw IP, or
    /// an interface whose name begins with "ww" or "rmnet".
    case cellular
    /// Ethernet, or an interface of unknown type.
    case wiredEthernet
    /// The loopback interface. No path contains this interface, because it doesn't lead to another machine.
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
  /// The interface's index, which identifies the interface in the kernel.
  public let index: Int
}

/// The path from this machine to other machines, according to the default routes in the kernel's routing tables.
public struct NWPath: Sendable, Hashable {
  /// Whether this machine has a path to other machines: yes, no or unknown.
  public enum Status: Sendable, Hashable {
    /// There is a usable default route, through an interface of a permitted type.
    case satisfied
    /// There is no usable default route through an interface of a permitted type.
    case unsatisfied
    /// It is unknown whether there is a path, because the network's state can't be read, for example in a sandbox without netlink.
    /// A connection may succeed.
    case requiresConnection
  }

  /// Whether this machine has a path to other machines: yes, no or unknown.
  public let status: Status
  /// The interfaces of the usable default routes, starting with the preferred one.
  public let availableInterfaces: [NWInterface]

  /// Returns whether the path uses an interface of the given type. Packets leave through the preferred interface, which is the
  /// first in ``availableInterfaces``.
  public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { availableInterfaces.first?.type == type }

  /// Whether the path leads through a mobile network.
  public var isExpensive: Bool { usesInterfaceType(.cellular) }

  /// Whether the path uses a network in low data mode. Always false, because Linux has no low data mode.
  public var isConstrained: Bool { false }

  /// Creates the path for the given state of the network, through the interfaces that `filter` permits. `network` is nil if the
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
