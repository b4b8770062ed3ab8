// The parser of the kernel's netlink messages, and the parser of IP networks.

@testable import LupineEngine
@testable import LupineReactor
@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the parser of netlink messages. The input consists of a position in two bytes, followed by a datagram.
  static let netlink = FuzzTarget(
    name: "netlink",
    summary: "a truncated datagram is refused or yields its first messages; a path exists only with a route"
  ) { bytes in
    var input = Input(bytes)
    let cut = input.number(below: 65_536)
    let datagram = Array(input.rest)
    guard let messages = try? NetlinkMessage.messages(in: datagram) else { return }
    if let start = try? NetlinkMessage.messages(in: Array(datagram.prefix(cut))) {
      hold(messages.starts(with: start), "\(start) isn't the start of \(messages)")
    }
    var state = NetworkState()
    for message in messages { state.add(message) }
    let addresses = messages.compactMap { message -> IPAddress? in
      switch message {
      case .address(let address): address.ip
      case .route(let route): route.destination
      case .link, .done, .failed, .interrupted: nil
      }
    }
    for address in addresses + [.ipv4(0x0808_0808), .ipv6(1)] {
      guard let path = state.path(to: address) else { continue }
      let routes = messages.compactMap { if case .route(let route) = $0 { route } else { nil } }
      hold(routes.contains { $0.outcome != .refused }, "\(path) without a route")
    }
    _ = state.path(to: nil)
  }

  /// Fuzzes the parser of IP networks. The input consists of a network, a line feed and an address.
  static let network = FuzzTarget(
    name: "network", summary: "a network is read as it is printed, and contains the addresses with its first bits"
  ) { bytes in
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard lines.count > 1, let network = AddressNetwork(lines[0]) else { return }
    hold(AddressNetwork(network.description) == network, "\(lines[0]) is printed as \(network)")
    let parts = network.description.split(separator: "/")
    guard let address = IPAddress(lines[1])?.unmapped, let first = IPAddress(parts[0]), let count = Int(parts[1]) else {
      return
    }
    let isIn =
      address.bitCount == first.bitCount
      && (0..<count).allSatisfy { (address.bytes[$0 / 8] ^ first.bytes[$0 / 8]) & 0x80 >> ($0 % 8) == 0 }
    hold(network.contains(address) == isIn, "\(network) contains \(address): \(!isIn)")
    let policy = AddressPolicy(others: .all, refused: [network])
    hold(!isIn || !policy.permits(SocketAddress(address, port: 0)), "\(network) is refused, but not \(address)")
  }
}
