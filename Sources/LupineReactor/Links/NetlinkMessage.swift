// NetlinkMessage: reads the kernel's messages about links, addresses and routes (netlink(7), rtnetlink(7)).

internal import CLupineLinux
internal import LupineLibc

/// A message in which the kernel answers a netlink request. The answer to a dump request, which lists all links, addresses or
/// routes, consists of several messages.
package enum NetlinkMessage: Sendable, Hashable {
  case link(NetworkLink)
  case address(NetworkAddress)
  case route(NetworkRoute)
  /// The kernel has sent all messages of the dump.
  case done
  /// The request has failed with `code`, a value of errno. A dump may fail after some of its messages.
  case failed(code: Int32)
  /// A link, address or route changed during the dump, so the messages of the dump may contradict each other.
  case interrupted
}

/// A network interface, which the kernel calls a link.
package struct NetworkLink: Sendable, Hashable {
  package var index: Int32
  package var name = ""
  /// The link's hardware type (ARPHRD_…).
  package var hardwareType: UInt16 = 0
  /// The link's state and properties as bits (IFF_…).
  package var flags: UInt32 = 0
  /// The kind of a virtual link, such as "wwan". Empty for a physical link.
  package var kind = ""
}

/// An IP address that is assigned to one of this machine's links.
package struct NetworkAddress: Sendable, Hashable {
  package var link: Int32
  package var ip: IPAddress
}

/// An entry of a routing table.
package struct NetworkRoute: Sendable, Hashable {
  /// The way in which the kernel treats packets that match the route.
  package enum Outcome: Sendable, Hashable {
    /// The kernel sends the packets on one of these links. `isDirect` is false if the packets are sent to a gateway.
    case sent(links: [Int32], isDirect: Bool)
    /// The kernel delivers the packets to this machine.
    case local
    /// The kernel drops the packets, or refuses them with an error.
    case refused
  }

  /// The first address of the network to which the route leads. `prefixLength` is the length of the network's prefix in bits.
  package var destination: IPAddress
  package var prefixLength: Int
  /// The route's metric. Of two routes to the same network, the kernel uses the route with the lower metric.
  package var priority: UInt32 = 0
  package var outcome: Outcome
}

extension NetlinkMessage {
  /// Parses the netlink messages in a datagram. Skips messages of other types than those of this enum, and unknown attributes.
  ///
  /// Throws EBADMSG if a message or an attribute is longer than the datagram or message that contains it.
  ///
  /// - Parameters:
  ///   - datagram: The datagram.
  ///   - keepsCached: Whether to return cached routes. True for the answer to the lookup of one route, which is a cached route.
  ///     False for a dump, which should contain none.
  package static func messages(
    in datagram: [UInt8], keepsCached: Bool = false
  ) throws(SystemError) -> [NetlinkMessage] {
    var messages: [NetlinkMessage] = []
    var rest = NetlinkBytes(datagram[...])
    // struct nlmsghdr: length 4, type 2, flags 2, sequence 4, port 4. The next message starts at a multiple of 4.
    while !rest.isEmpty {
      let length = Int(try rest.integer(UInt32.self, at: 0))
      let (type, flags) = (try rest.integer(UInt16.self, at: 4), try rest.integer(UInt16.self, at: 6))
      guard length >= headerBytes else { throw .malformedNetlink }
      let payload = try rest.part(headerBytes, length - headerBytes)
      if flags & UInt16(NLM_F_DUMP_INTR) != 0 { messages.append(.interrupted) }
      if let message = try message(type, payload, keepsCached) { messages.append(message) }
      rest.dropFirst(length)
    }
    return messages
  }

  private static let headerBytes = 16

  private static func message(
    _ type: UInt16, _ payload: NetlinkBytes, _ keepsCached: Bool
  ) throws(SystemError) -> NetlinkMessage? {
    switch Int(type) {
    case Int(NLMSG_DONE): end(payload)
    // struct nlmsgerr: error 4, then the request's header. 0 is an acknowledgement.
    case Int(NLMSG_ERROR): .failed(code: 0 &- (try payload.integer(Int32.self, at: 0)))
    case Int(RTM_NEWLINK): .link(try NetworkLink(payload))
    case Int(RTM_NEWADDR): try NetworkAddress(payload).map { .address($0) }
    case Int(RTM_NEWROUTE): try NetworkRoute(payload, keepsCached).map { .route($0) }
    default: nil
    }
  }

  /// Parses the payload of the message that ends a dump. It is 0, or a negative error if the dump is incomplete. An emulated kernel
  /// may send no payload.
  private static func end(_ payload: NetlinkBytes) -> NetlinkMessage {
    let status = (try? payload.integer(Int32.self, at: 0)) ?? 0
    return status < 0 ? .failed(code: 0 &- status) : .done
  }
}

extension NetworkLink {
  // struct ifinfomsg: family 1, padding 1, hardware type 2, index 4, flags 4, change 4.
  fileprivate init(_ payload: NetlinkBytes) throws(SystemError) {
    index = try payload.integer(Int32.self, at: 4)
    hardwareType = try payload.integer(UInt16.self, at: 2)
    flags = try payload.integer(UInt32.self, at: 8)
    for (type, value) in try payload.attributes(from: 16) {
      switch Int(type) {
      case Int(IFLA_IFNAME): name = value.text
      case Int(IFLA_LINKINFO):
        for (type, value) in try value.attributes(from: 0) where Int(type) == Int(IFLA_INFO_KIND) {
          kind = value.text
        }
      default: break
      }
    }
  }
}

extension NetworkAddress {
  // struct ifaddrmsg: family 1, prefix length 1, flags 1, scope 1, index 4.
  fileprivate init?(_ payload: NetlinkBytes) throws(SystemError) {
    link = try payload.integer(Int32.self, at: 4)
    let family = try payload.integer(UInt8.self, at: 0)
    var (local, peer): (IPAddress?, IPAddress?) = (nil, nil)
    for (type, value) in try payload.attributes(from: 8) {
      switch Int(type) {
      // On a point-to-point link, IFA_ADDRESS is the peer's address.
      case Int(IFA_LOCAL): local = value.address(family)
      case Int(IFA_ADDRESS): peer = value.address(family)
      default: break
      }
    }
    guard let ip = local ?? peer else { return nil }
    self.ip = ip
  }
}

extension NetworkRoute {
  // struct rtmsg: family 1, destination length 1, source length 1, TOS 1, table 1, protocol 1, scope 1, type 1, flags 4.
  fileprivate init?(_ payload: NetlinkBytes, _ keepsCached: Bool) throws(SystemError) {
    let family = try payload.integer(UInt8.self, at: 0)
    let isCached = try payload.integer(UInt32.self, at: 8) & UInt32(RTM_F_CLONED) != 0
    let isForAnySource = try payload.integer(UInt8.self, at: 2) == 0
    // A route in a table that is limited to certain source addresses is skipped, because it may not apply to this machine's
    // packets. In the answer to a lookup, the source address is that of the lookup.
    guard keepsCached || !isCached && isForAnySource, let any = IPAddress(unspecifiedOf: family) else { return nil }
    prefixLength = Int(try payload.integer(UInt8.self, at: 1))
    guard prefixLength <= any.bitCount else { throw .malformedNetlink }
    destination = any
    var links: [Int32] = []
    var isDirect = true
    for (type, value) in try payload.attributes(from: 12) {
      switch Int(type) {
      case Int(RTA_DST.rawValue): destination = value.address(family) ?? any
      case Int(RTA_OIF.rawValue): links.append(try value.integer(Int32.self, at: 0))
      case Int(RTA_PRIORITY.rawValue): priority = try value.integer(UInt32.self, at: 0)
      case Int(RTA_GATEWAY.rawValue), Int(RTA_VIA.rawValue): isDirect = false
      case Int(RTA_MULTIPATH.rawValue):
        isDirect = false
        links += try value.nextHops()
      default: break
      }
    }
    switch Int(try payload.integer(UInt8.self, at: 7)) {
    case Int(RTN_UNICAST): outcome = .sent(links: links, isDirect: isDirect)
    case Int(RTN_LOCAL), Int(RTN_ANYCAST): outcome = .local
    case Int(RTN_BLACKHOLE), Int(RTN_UNREACHABLE), Int(RTN_PROHIBIT): outcome = .refused
    // Other routes are skipped: broadcast and multicast addresses aren't destinations of TCP, and a throw route continues the
    // search in another table.
    default: return nil
    }
  }
}

/// The bytes of a datagram, or of a message or an attribute in it. Reading beyond their end throws EBADMSG.
private struct NetlinkBytes {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  var isEmpty: Bool { bytes.isEmpty }

  /// Removes the message or attribute in the first `length` bytes, and its padding to a multiple of 4 bytes. The last message or
  /// attribute may lack the padding.
  mutating func dropFirst(_ length: Int) { bytes = bytes.dropFirst((length + 3) & ~3) }

  /// Returns the integer at `offset`, which is in the machine's byte order.
  func integer<Integer: FixedWidthInteger>(_: Integer.Type, at offset: Int) throws(SystemError) -> Integer {
    let part = try part(offset, MemoryLayout<Integer>.size)
    let value = part.bytes.reversed().reduce(Integer.Magnitude(0)) {
      $0 &<< 8 | Integer.Magnitude(truncatingIfNeeded: $1)
    }
    return Integer(littleEndian: Integer(truncatingIfNeeded: value))
  }

  func part(_ offset: Int, _ count: Int) throws(SystemError) -> NetlinkBytes {
    guard offset <= bytes.count, count <= bytes.count - offset else { throw .malformedNetlink }
    return NetlinkBytes(bytes.dropFirst(offset).prefix(count))
  }

  // struct rtattr: length 2, type 2, then the value, padded to a multiple of 4.
  func attributes(from offset: Int) throws(SystemError) -> [(type: UInt16, value: NetlinkBytes)] {
    var attributes: [(type: UInt16, value: NetlinkBytes)] = []
    var rest = try part(offset, bytes.count - offset)
    while !rest.isEmpty {
      let length = Int(try rest.integer(UInt16.self, at: 0))
      guard length >= 4 else { throw .malformedNetlink }
      // The two highest bits are flags, which mean "nested" and "in network byte order".
      let type = try rest.integer(UInt16.self, at: 2) & 0x3FFF
      attributes.append((type, try rest.part(4, length - 4)))
      rest.dropFirst(length)
    }
    return attributes
  }

  // struct rtnexthop: length 2, flags 1, hops 1, link 4, then attributes.
  func nextHops() throws(SystemError) -> [Int32] {
    var links: [Int32] = []
    var rest = self
    while !rest.isEmpty {
      let length = Int(try rest.integer(UInt16.self, at: 0))
      guard length >= 8 else { throw .malformedNetlink }
      links.append(try rest.integer(Int32.self, at: 4))
      rest.dropFirst(length)
    }
    return links
  }

  /// The bytes before the first NUL, decoded as UTF-8.
  var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

  /// Parses the bytes as an address in network byte order. Returns nil if the number of bytes isn't the length of the family's
  /// addresses.
  func address(_ family: UInt8) -> IPAddress? {
    switch (IPAddress(unspecifiedOf: family), bytes.count) {
    case (.ipv4, 4): .ipv4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
    case (.ipv6, 16): .ipv6(bytes.reduce(0) { $0 << 8 | UInt128($1) })
    default: nil
    }
  }
}

extension IPAddress {
  /// Creates the unspecified address of a family: 0.0.0.0 for AF_INET, and :: for AF_INET6. Returns nil for any other family.
  fileprivate init?(unspecifiedOf family: UInt8) {
    switch CInt(family) {
    case AF_INET: self = .ipv4(0)
    case AF_INET6: self = .ipv6(0)
    default: return nil
    }
  }
}

extension SystemError {
  /// The error for a netlink message whose lengths contradict each other.
  fileprivate static var malformedNetlink: SystemError { SystemError(call: "netlink", code: EBADMSG) }
}
