// An address that a socket can be connected or bound to.

internal import CLupineLinux
internal import Glibc

/// An IPv4 or IPv6 address with its port.
public struct SocketAddress: Sendable {
  private var storage = sockaddr_storage()
  let length: socklen_t

  /// Takes an address as the C library gives it; nil if it is of another family.
  init?(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
    let family = CInt(address.pointee.sa_family)
    guard family == AF_INET || family == AF_INET6, Int(length) <= MemoryLayout<sockaddr_storage>.size else {
      return nil
    }
    self.length = length
    // SAFETY: `length` bytes are valid at `address` by the caller's word, and fit the storage by the check above.
    withUnsafeMutableBytes(of: &storage) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
    }
  }

  /// Reads a numeric address such as "127.0.0.1" or "::1"; nil if it isn't one.
  public init?(numeric host: String, port: UInt16) {
    // C would read up to the NUL, and take what stands in front of it for the whole.
    guard !host.utf8.contains(0) else { return nil }
    var v4 = sockaddr_in()
    if inet_pton(AF_INET, host, &v4.sin_addr) == 1 {
      v4.sin_family = sa_family_t(AF_INET)
      v4.sin_port = port.bigEndian
      length = socklen_t(MemoryLayout<sockaddr_in>.size)
      // SAFETY: sockaddr_storage is larger than sockaddr_in, and both are plain memory.
      withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: v4, as: sockaddr_in.self) }
      return
    }
    var v6 = sockaddr_in6()
    guard inet_pton(AF_INET6, host, &v6.sin6_addr) == 1 else { return nil }
    v6.sin6_family = sa_family_t(AF_INET6)
    v6.sin6_port = port.bigEndian
    length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    // SAFETY: as above.
    withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: v6, as: sockaddr_in6.self) }
  }

  /// Asks the kernel for a socket's own or its peer's address.
  init?(reading call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt) {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    // SAFETY: the kernel writes at most `length` bytes, which is the storage's size.
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
    }
    guard result == 0 else { return nil }
    // SAFETY: the kernel has filled in `length` bytes of an address.
    let own = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { SocketAddress($0, length: length) }
    }
    guard let own else { return nil }
    self = own
  }

  /// AF_INET or AF_INET6.
  var family: CInt { CInt(storage.ss_family) }
  /// Whether it is an IPv6 address.
  public var isIPv6: Bool { family == AF_INET6 }

  /// The port, 0...65535.
  public var port: UInt16 {
    // SAFETY: the port lies at the same offset (2) in sockaddr_in and sockaddr_in6.
    withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
  }

  /// The address without its port, in numbers.
  public var host: String {
    // SAFETY: inet_ntop writes at most 46 bytes, NUL included; the offsets are those of sin_addr (4) and sin6_addr (8).
    withUnsafeBytes(of: storage) { bytes in
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 46) { text in
        guard let base = text.baseAddress, let address = bytes.baseAddress else { return "" }
        guard inet_ntop(family, address + (isIPv6 ? 8 : 4), base, 46) != nil else { return "" }
        return String(cString: base)
      }
    }
  }

  /// Hands the address to a system call.
  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    // SAFETY: a sockaddr_storage may be read as any sockaddr, and the pointer doesn't leave the scope.
    withUnsafePointer(to: storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }
}

extension SocketAddress: CustomStringConvertible {
  /// The address and the port, such as "127.0.0.1:80" or "[::1]:80".
  public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
