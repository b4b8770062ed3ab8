// `FullListener`: a port whose accept queue is full, so that the kernel doesn't answer further connections.

import Foundation
import Glibc

/// A listener that never accepts. Connecting to it lasts until the client's time limit.
final class FullListener: Sendable {
  let port: UInt16
  private let descriptors: [CInt]

  struct Failure: Error {
    let call: String
    let code: CInt
  }

  init() throws {
    var descriptors: [CInt] = []
    func make() throws -> CInt {
      let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
      guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
      descriptors.append(descriptor)
      return descriptor
    }
    let listener = try make()
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    func withAddress(_ body: (UnsafeMutablePointer<sockaddr>) -> CInt) -> CInt {
      withUnsafeMutableBytes(of: &address) { bytes in
        bytes.withMemoryRebound(to: sockaddr.self) { $0.baseAddress.map(body) ?? -1 }
      }
    }
    guard withAddress({ bind(listener, $0, length) }) == 0 else { throw Failure(call: "bind", code: errno) }
    // Linux queues one connection more than the backlog.
    guard listen(listener, 0) == 0 else { throw Failure(call: "listen", code: errno) }
    guard withAddress({ getsockname(listener, $0, &length) }) == 0 else {
      throw Failure(call: "getsockname", code: errno)
    }
    port = UInt16(bigEndian: address.sin_port)
    // One connection fills the queue. The kernel drops the SYN of the others, as it will drop the client's.
    for _ in 0..<3 {
      let client = try make()
      _ = withAddress { Glibc.connect(client, $0, length) }
    }
    self.descriptors = descriptors
  }

  deinit {
    for descriptor in descriptors { close(descriptor) }
  }
}
