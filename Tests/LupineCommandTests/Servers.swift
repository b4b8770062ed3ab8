// Where the test servers are (Tests/Servers/servers), and what to say if they aren't.

import Foundation
import Glibc

/// The addresses of the test servers.
enum Servers {
  static let httpbin = "http://127.0.0.1:28080"
  static let nginx = "http://127.0.0.1:28082"
  /// https with a good certificate.
  static let nginxTLS = "https://localhost:28443"

  /// The authority that signed their certificates.
  static var authority: String {
    let folder = ProcessInfo.processInfo.environment["LUPINE_SERVERS"] ?? "/tmp/lupine-servers-\(getuid())"
    return folder + "/pki/ca.crt"
  }

  struct Missing: Error, CustomStringConvertible {
    let port: UInt16
    var description: String { "no test server answers on port \(port): run `make servers-install servers-up`" }
  }

  /// Throws unless all of them can be connected to.
  static func require() throws {
    for port: UInt16 in [28080, 28082, 28443, 28444, 28445, 28446, 28447] {
      let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      guard connect(descriptor, to: port) else { throw Missing(port: port) }
    }
  }

  private static func connect(_ descriptor: CInt, to port: UInt16) -> Bool {
    var address = sockaddr_in.loopback(port: port)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}

extension sockaddr_in {
  static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}
