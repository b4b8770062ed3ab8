// NetlinkSocket: a socket to the kernel's routing subsystem: dumps of its state, and notifications of changes.

internal import CLupineLinux
internal import LupineLibc

/// A netlink socket of the routing family (NETLINK_ROUTE), through which the kernel reports links, addresses and routes.
package struct NetlinkSocket: ~Copyable, Sendable {
  /// The maximum time to wait for each datagram of the kernel's answer: 2 s. The kernel answers immediately, but a sandbox that
  /// emulates the kernel may not answer.
  private static let replySecondsMax = 2
  /// The size in bytes of the buffer for a datagram. The kernel's largest datagram has 32 KiB (netlink_recvmsg); this is twice as
  /// much.
  private static let datagramBytesMax = 65_536
  /// The maximum number of attempts to read all links, addresses and routes: 16. An attempt fails if a link, address or route
  /// changes in the meantime. Even a flapping link needs far fewer attempts.
  private static let dumpsMax = 16
  /// The multicast groups that notify the socket of changes to links, addresses and routes (RTMGRP_… of rtnetlink(7)).
  private static let groups =
    RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE

  private let descriptor: FileDescriptor

  /// The number of the socket's descriptor. If the socket was opened with `isNotified`, the descriptor becomes readable after a
  /// link, address or route has changed.
  package var number: CInt { descriptor.number }

  /// Opens a socket. If `isNotified` is true, the kernel notifies the socket of changes to links, addresses and routes. Throws a
  /// `SystemError` if the process isn't permitted to use netlink.
  package init(isNotified: Bool) throws(SystemError) {
    let type = CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let descriptor = FileDescriptor(
      owning: try SystemCall.run("socket (netlink)") { socket(AF_NETLINK, type, CInt(NETLINK_ROUTE)) })
    var address = sockaddr_nl()
    address.nl_family = sa_family_t(AF_NETLINK)
    address.nl_groups = isNotified ? UInt32(Self.groups) : 0
    let number = descriptor.number
    _ = try SystemCall.run("bind (netlink)") {
      // SAFETY: every address structure may be read as a sockaddr, and the pointer doesn't leave the scope.
      withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(number, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
        }
      }
    }
    var limit = timeval(tv_sec: Self.replySecondsMax, tv_usec: 0)
    _ = try SystemCall.run("setsockopt (netlink)") {
      setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    self.descriptor = descriptor
  }

  /// Discards the notifications that have arrived. Their content isn't needed, because after any change, the caller reads all
  /// links, addresses and routes again.
  package func discardNotifications() throws(SystemError) {
    var byte: UInt8 = 0
    while true {
      do throws(SystemError) {
        guard try SystemCall.transfer("recv (netlink)", { recv(number, &byte, 1, CInt(MSG_DONTWAIT)) }) != nil
        else { return }
      } catch {
        // The kernel has dropped notifications because they arrived too fast. This means that there were changes.
        guard error.code == ENOBUFS else { throw error }
      }
    }
  }

  /// Reads all links, addresses and routes. The socket must have been opened without notifications.
  fileprivate func state() throws(SystemError) -> NetworkState {
    for _ in 0..<Self.dumpsMax {
      var state = NetworkState()
      var isComplete = true
      for kind in [RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE] {
        // The longest header of a request, that of links, has 16 bytes. Zeros request all families.
        try request(UInt16(kind), flags: UInt16(NLM_F_DUMP), [UInt8](repeating: 0, count: 16))
        isComplete = try receiveDump(into: &state) && isComplete
      }
      if isComplete { return state }
    }
    throw SystemError(call: "recv (netlink)", code: EAGAIN)
  }

  /// Sends a request about one link or route, and returns the first message of the answer. `kind` is the type of the request, and
  /// `payload` contains its header and attributes. Throws a `SystemError` if the kernel refuses the request, with the kernel's
  /// code, or if it doesn't answer (ETIMEDOUT). The socket must have been opened without notifications.
  func answer(to kind: UInt16, _ payload: [UInt8]) throws(SystemError) -> NetlinkMessage? {
    try request(kind, payload)
    var buffer = [UInt8](repeating: 0, count: Self.datagramBytesMax)
    let message = try receive(into: &buffer, keepsCached: true).first
    if case .failed(let code)? = message { throw SystemError(call: "netlink", code: code) }
    return message
  }

  private func request(_ kind: UInt16, flags: UInt16 = 0, _ payload: [UInt8]) throws(SystemError) {
    var request: [UInt8] = []
    request.append(native: UInt32(16 + payload.count))
    request.append(native: kind)
    request.append(native: UInt16(NLM_F_REQUEST) | flags)
    request.append(native: UInt64(0))
    request += payload
    _ = try SystemCall.transfer("send (netlink)") { send(number, request, request.count, 0) }
  }

  /// Receives one datagram and returns its messages. `buffer` is memory for `datagramBytesMax` bytes.
  private func receive(
    into buffer: inout [UInt8], keepsCached: Bool = false
  ) throws(SystemError) -> [NetlinkMessage] {
    let count = try SystemCall.transfer("recv (netlink)") { recv(number, &buffer, buffer.count, CInt(MSG_TRUNC)) }
    guard let count, count > 0 else { throw SystemError(call: "recv (netlink)", code: ETIMEDOUT) }
    guard count <= buffer.count else { throw SystemError(call: "recv (netlink)", code: EMSGSIZE) }
    return try NetlinkMessage.messages(in: Array(buffer[..<count]), keepsCached: keepsCached)
  }

  /// Receives the messages of one dump and adds their links, addresses or routes to `state`. Returns false if the kernel reported
  /// that something changed during the dump.
  private func receiveDump(into state: inout NetworkState) throws(SystemError) -> Bool {
    var buffer = [UInt8](repeating: 0, count: Self.datagramBytesMax)
    var isComplete = true
    while true {
      for message in try receive(into: &buffer) {
        switch message {
        case .done: return isComplete
        case .failed(let code): throw SystemError(call: "netlink", code: code)
        case .interrupted: isComplete = false
        case .link, .address, .route: state.add(message)
        }
      }
    }
  }
}

extension [UInt8] {
  /// Appends an integer in the machine's byte order.
  mutating func append(native value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value) { self += $0 }
  }
}

extension NetworkState {
  /// Reads the current state from the kernel. Throws a `SystemError` if the process isn't permitted to use netlink, if the kernel
  /// doesn't answer (ETIMEDOUT), or if the state changes during each of `dumpsMax` attempts to read it (EAGAIN).
  package static func current() throws(SystemError) -> NetworkState {
    try NetlinkSocket(isNotified: false).state()
  }
}
