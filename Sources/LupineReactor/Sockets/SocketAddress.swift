// SocketAddress: an address to which a socket can be connected or bound.

internal import CLupineLinux
package import LupineLibc

/// An IPv4 or IPv6 address with a port, or the name of a Unix domain socket.
///
/// Two addresses are equal if the kernel treats them as the same address.
public struct SocketAddress: Sendable, Hashable {
  /// The address as in the kernel's `sockaddr` structures: in network byte order, except for the port. Fields of the structures
  /// that are always zero are omitted.
  private enum Content: Sendable, Hashable {
    case ipv4(UInt32, port: UInt16)
    case ipv6(UInt64, UInt64, scope: UInt32, port: UInt16)
    /// The bytes of sun_path without the NUL that ends a path. The name of an abstract socket starts with a NUL.
    case unix([UInt8])
  }

  /// The maximum length in bytes of a Unix socket's path, or of an abstract name after its "@": 107. Linux has room for
  /// 108 (unix(7)), including a NUL.
  public static let socketPathBytesMax = 107

  private let content: Content

  private init(_ content: Content) {
    self.content = content
  }

  /// Parses a numeric address such as "127.0.0.1" or "::1". Returns nil for any other text.
  public init?(numeric host: String, port: UInt16) {
    // Refuses a NUL, because C would read only the text before it.
    guard !host.utf8.contains(0) else { return nil }
    var v4: UInt32 = 0
    var v6: (UInt64, UInt64) = (0, 0)
    if inet_pton(AF_INET, host, &v4) == 1 {
      content = .ipv4(v4, port: port)
    } else if inet_pton(AF_INET6, host, &v6) == 1 {
      content = .ipv6(v6.0, v6.1, scope: 0, port: port)
    } else {
      return nil
    }
  }

  /// Creates the socket address of an IP address.
  package init(_ ip: IPAddress, port: UInt16) {
    switch ip {
    case .ipv4(let bits): content = .ipv4(bits.bigEndian, port: port)
    case .ipv6(let bits):
      content = .ipv6(
        UInt64(truncatingIfNeeded: bits >> 64).bigEndian, UInt64(truncatingIfNeeded: bits).bigEndian, scope: 0,
        port: port)
    }
  }

  /// Creates the address of a Unix domain socket from a path, or from "@" and the name of an abstract socket.
  ///
  /// Returns nil if the path, or the name after "@", is empty, longer than `socketPathBytesMax` bytes or contains a
  /// NUL. For a file whose name starts with "@", use "./@name".
  public init?(socketPath: String) {
    var bytes = Array(socketPath.utf8)
    guard !bytes.contains(0) else { return nil }
    let isAbstract = bytes.first == UInt8(ascii: "@")
    let count = isAbstract ? bytes.count - 1 : bytes.count
    guard count > 0, count <= Self.socketPathBytesMax else { return nil }
    if isAbstract { bytes[0] = 0 }
    content = .unix(bytes)
  }

  /// Returns the address with another port. A Unix socket's address is returned unchanged.
  public func withPort(_ port: UInt16) -> SocketAddress {
    switch content {
    case .ipv4(let bits, _): SocketAddress(.ipv4(bits, port: port))
    case .ipv6(let high, let low, let scope, _): SocketAddress(.ipv6(high, low, scope: scope, port: port))
    case .unix: self
    }
  }

  /// Whether the address is an IPv6 address.
  public var isIPv6: Bool { family == AF_INET6 }

  /// The IP address without the port, or nil for a Unix socket.
  package var ip: IPAddress? {
    switch content {
    case .ipv4(let bits, _): .ipv4(UInt32(bigEndian: bits))
    case .ipv6(let high, let low, _, _): .ipv6(UInt128(UInt64(bigEndian: high)) << 64 | UInt128(UInt64(bigEndian: low)))
    case .unix: nil
    }
  }

  /// The path of a Unix socket, or "@" followed by its abstract name. Nil for an IP address.
  public var socketPath: String? {
    guard case .unix(let bytes) = content else { return nil }
    let name = String(decoding: bytes.drop { $0 == 0 }, as: UTF8.self)
    return bytes.first == 0 ? "@\(name)" : name
  }

  /// The port, 0...65535. 0 for a Unix socket.
  public var port: UInt16 {
    switch content {
    case .ipv4(_, let port), .ipv6(_, _, _, let port): port
    case .unix: 0
    }
  }

  /// The numeric address without its port, or the path of a Unix socket.
  public var host: String {
    switch content {
    case .ipv4(let bits, _): Self.text(AF_INET, bits)
    case .ipv6(let high, let low, _, _): Self.text(AF_INET6, (high, low))
    case .unix: socketPath ?? ""
    }
  }

  private static func text(_ family: CInt, _ bits: some BitwiseCopyable) -> String {
    // SAFETY: inet_ntop reads 4 or 16 bytes, which is the size of `bits`, and writes at most 46 bytes, including the
    // NUL.
    withUnsafeBytes(of: bits) { bytes in
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 46) { text in
        guard let base = text.baseAddress, let address = bytes.baseAddress else { return "" }
        guard inet_ntop(family, address, base, 46) != nil else { return "" }
        return String(cString: base)
      }
    }
  }
}

extension SocketAddress: CustomStringConvertible {
  /// The address and port, such as "127.0.0.1:80" or "[::1]:80", or "unix:" and the path of a Unix socket.
  public var description: String {
    switch content {
    case .ipv4: "\(host):\(port)"
    case .ipv6: "[\(host)]:\(port)"
    case .unix: "unix:\(host)"
    }
  }
}

// MARK: Kernel representation

extension SocketAddress {
  /// The offset of sun_path in sockaddr_un.
  private static let pathOffset = MemoryLayout<sa_family_t>.size

  /// The address family: AF_INET, AF_INET6 or AF_UNIX.
  package var family: CInt {
    switch content {
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    case .unix: AF_UNIX
    }
  }

  /// Converts a `sockaddr` structure. Returns nil for families other than AF_INET, AF_INET6 and AF_UNIX, and for the address of an
  /// unnamed Unix socket.
  init?(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
    // SAFETY: the caller guarantees that `length` bytes are valid at `address`, and only those are read.
    let bytes = UnsafeRawBufferPointer(start: address, count: Int(length))
    guard bytes.count >= Self.pathOffset else { return nil }
    switch CInt(bytes.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where bytes.count >= MemoryLayout<sockaddr_in>.size:
      let v4 = bytes.loadUnaligned(as: sockaddr_in.self)
      content = .ipv4(v4.sin_addr.s_addr, port: UInt16(bigEndian: v4.sin_port))
    case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
      let v6 = bytes.loadUnaligned(as: sockaddr_in6.self)
      // SAFETY: in6_addr is 16 bytes without padding.
      let (high, low) = withUnsafeBytes(of: v6.sin6_addr) {
        ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      }
      content = .ipv6(high, low, scope: v6.sin6_scope_id, port: UInt16(bigEndian: v6.sin6_port))
    case AF_UNIX where bytes.count > Self.pathOffset:
      let name = bytes[Self.pathOffset...].prefix(MemoryLayout.size(ofValue: sockaddr_un().sun_path))
      // A path ends at its NUL. An abstract name starts with a NUL and ends with the structure.
      content = .unix(Array(name.first == 0 ? name[...] : name.prefix { $0 != 0 }))
    default:
      return nil
    }
  }

  /// Reads a socket's local or peer address from the kernel. `call` must call `getsockname` or `getpeername`.
  init?(reading call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt) {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    // SAFETY: the kernel writes at most `length` bytes, the storage's size, and then sets `length` to the bytes that
    // are valid.
    let own = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        call(pointer, &length) == 0 ? SocketAddress(pointer, length: length) : nil
      }
    }
    guard let own else { return nil }
    self = own
  }

  /// Calls `body` with the address as the kernel's `sockaddr` structure and its length.
  package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    switch content {
    case .ipv4(let bits, let port):
      var v4 = sockaddr_in()
      v4.sin_family = sa_family_t(AF_INET)
      v4.sin_addr.s_addr = bits
      v4.sin_port = port.bigEndian
      return Self.lend(v4, length: MemoryLayout<sockaddr_in>.size, body)
    case .ipv6(let high, let low, let scope, let port):
      var v6 = sockaddr_in6()
      v6.sin6_family = sa_family_t(AF_INET6)
      v6.sin6_port = port.bigEndian
      v6.sin6_scope_id = scope
      // SAFETY: in6_addr is 16 bytes without padding.
      withUnsafeMutableBytes(of: &v6.sin6_addr) {
        $0.storeBytes(of: high, as: UInt64.self)
        $0.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
      }
      return Self.lend(v6, length: MemoryLayout<sockaddr_in6>.size, body)
    case .unix(let bytes):
      var unix = sockaddr_un()
      unix.sun_family = sa_family_t(AF_UNIX)
      // SAFETY: both initializers ensure that sun_path has room for all bytes. The structure was zeroed, so a path ends
      // with a NUL.
      withUnsafeMutableBytes(of: &unix.sun_path) { $0.copyBytes(from: bytes) }
      let count = bytes.first == 0 ? bytes.count : min(bytes.count + 1, MemoryLayout.size(ofValue: unix.sun_path))
      return Self.lend(unix, length: Self.pathOffset + count, body)
    }
  }

  private static func lend<Address, Result>(
    _ address: Address, length: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    // SAFETY: every address structure may be read as a sockaddr, and the pointer doesn't leave the scope.
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
    }
  }
}
