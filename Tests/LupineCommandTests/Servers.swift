// Servers: the addresses of the test servers (Tests/Servers/servers), and an error if they don't run.

import Foundation
import Glibc

/// The addresses of the test servers.
enum Servers {
  static let httpbin = "http://127.0.0.1:28080"
  static let nginx = "http://127.0.0.1:28082"
  static let apache = "http://127.0.0.1:28083"
  /// https with a valid certificate.
  static let nginxTLS = "https://localhost:28443"

  /// https that requires a client certificate, and responds with its subject.
  static let clients = "https://localhost:28448"
  static let tls12Only = "https://localhost:28449"
  static let tls13Only = "https://localhost:28450"
  /// https with a stapled OCSP response: good, and revoked.
  static let goodStaple = "https://localhost:28451"
  static let revokedStaple = "https://localhost:28452"
  static let httpProxy = "127.0.0.1:28128"
  static let socksProxy = "127.0.0.1:28180"
  /// The same kinds of proxies, which require the credentials user:pass.
  static let httpProxyWithLogin = "127.0.0.1:28129"
  static let socksProxyWithLogin = "127.0.0.1:28181"

  /// The authority of the servers' certificates.
  static var authority: String { folder + "/pki/ca.crt" }
  /// A client certificate, its key, and both in PKCS#12 with the password "password".
  static var clientCertificate: String { folder + "/pki/client.crt" }
  static var clientKey: String { folder + "/pki/client.key" }
  static var clientArchive: String { folder + "/pki/client.p12" }
  /// nginx's Unix socket.
  static var nginxSocket: String { folder + "/nginx.sock" }

  private static var folder: String {
    ProcessInfo.processInfo.environment["LUPINE_SERVERS"] ?? "/tmp/lupine-servers-\(getuid())"
  }

  struct Missing: Error, CustomStringConvertible {
    let port: UInt16
    var description: String { "no test server answers on port \(port): run `make servers-install servers-up`" }
  }

  /// Throws unless all servers accept connections.
  static func require() throws {
    let ports: [UInt16] = [
      28080, 28082, 28083, 28128, 28129, 28180, 28181, 28443, 28444, 28445, 28446, 28447, 28448, 28449, 28450, 28451,
      28452,
    ]
    for port in ports {
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
