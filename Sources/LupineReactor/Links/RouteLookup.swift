// RouteLookup: asks the kernel for the link by which it would send packets to an address.

internal import CLupineLinux
internal import LupineLibc

extension NetworkLink {
  /// Returns the link through which the kernel would send packets of a socket with these options to `address`. The kernel decides
  /// this by its rules and routing tables. Returns nil for a Unix socket and for this machine's own addresses.
  ///
  /// Throws a `SystemError` if there is no route, such as with ENETUNREACH, or if the process isn't permitted to use netlink.
  package static func link(to address: SocketAddress, options: SocketOptions) throws(SystemError) -> NetworkLink? {
    guard let destination = address.ip else { return nil }
    let netlink = try NetlinkSocket(isNotified: false)
    if let name = options.interface { return try link(netlink, index: 0, name: name) }
    let source = options.localAddress?.ip.flatMap { $0.bitCount == destination.bitCount ? $0 : nil }
    guard case .route(let route)? = try netlink.answer(to: UInt16(RTM_GETROUTE), request(destination, from: source)),
      case .sent(let links, _) = route.outcome, let index = links.first
    else { return nil }
    return try link(netlink, index: index, name: nil)
  }

  private static func link(
    _ netlink: borrowing NetlinkSocket, index: Int32, name: String?
  ) throws(SystemError) -> NetworkLink? {
    // struct ifinfomsg: family 1, padding 1, hardware type 2, index 4, flags 4, change 4.
    var payload = [UInt8](repeating: 0, count: 4)
    payload.append(native: index)
    payload.append(native: UInt64(0))
    if let name { payload.append(attribute: UInt16(IFLA_IFNAME), Array(name.utf8) + [0]) }
    guard case .link(let link)? = try netlink.answer(to: UInt16(RTM_GETLINK), payload) else { return nil }
    return link
  }

  // struct rtmsg: family 1, destination length 1, source length 1, then 9 bytes that are 0.
  private static func request(_ destination: IPAddress, from source: IPAddress?) -> [UInt8] {
    let family =
      switch destination {
      case .ipv4: AF_INET
      case .ipv6: AF_INET6
      }
    var payload = [UInt8(family), UInt8(destination.bitCount), UInt8(source?.bitCount ?? 0)]
    payload += [UInt8](repeating: 0, count: 9)
    payload.append(attribute: UInt16(RTA_DST.rawValue), destination.bytes)
    if let source { payload.append(attribute: UInt16(RTA_SRC.rawValue), source.bytes) }
    return payload
  }
}

extension [UInt8] {
  // struct rtattr: length 2, type 2, then the value, padded to a multiple of 4.
  fileprivate mutating func append(attribute type: UInt16, _ value: [UInt8]) {
    append(native: UInt16(4 + value.count))
    append(native: type)
    self += value
    self += [UInt8](repeating: 0, count: -value.count & 3)
  }
}
