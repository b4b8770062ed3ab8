// TestServer: the servers that Tests/Servers/servers starts on loopback. `Tests/Servers/servers ports` describes each.

internal import Glibc
internal import Synchronization

/// A port of Tests/Servers/servers.
package enum TestServer: UInt16, Sendable, CaseIterable {
  case httpbin = 28080
  case nginx = 28082
  case apache = 28083
  /// Apache over TLS.
  case apacheTLS = 28455
  case caddy = 28084
  case haproxy = 28085
  case unavailable = 28086
  case refusing = 28087
  case slammed = 28088
  /// HTTP proxies; the second requires the credentials user:pass.
  case squid = 28128
  case squidLogin = 28129
  /// HTTP proxies with Digest, Negotiate and NTLM.
  case squidDigest = 28130
  case squidNegotiate = 28131
  case squidNTLM = 28132
  /// Proxies with TLS in front of `squidLogin` and of those three.
  case encryptedProxy = 28133
  case encryptedDigestProxy = 28134
  case encryptedNegotiateProxy = 28135
  case encryptedNTLMProxy = 28136
  /// Digest with all algorithms.
  case lighttpd = 28090
  case lighttpdTLS = 28456
  /// Origins with NTLM and Negotiate; those with TLS require channel bindings.
  case ntlm = 28089
  case ntlmTLS = 28453
  case negotiateTLS = 28457
  /// SOCKS 5 proxies; the second requires the credentials user:pass.
  case socks = 28180
  case socksLogin = 28181
  /// https with a valid certificate.
  case nginxTLS = 28443
  case expired = 28444
  case wrongHost = 28445
  case selfSigned = 28446
  case oldVersions = 28447
  /// Answers 400 to clients without a certificate.
  case clientCertificate = 28448
  case tls12 = 28449
  case tls13 = 28450
  /// https with a stapled OCSP response.
  case goodStaple = 28451
  case revokedStaple = 28452
  case caddyTLS = 28454

  /// No server listens on the port.
  package struct Down: Error, CustomStringConvertible {
    package let server: TestServer
    package var description: String {
      "\(server) doesn't listen on port \(server.rawValue); start it: make servers-install servers-up"
    }
  }

  /// Whether the server is an origin that speaks TLS.
  package var isTLS: Bool { rawValue >= Self.nginxTLS.rawValue }
  /// Whether the server is a proxy that speaks TLS.
  package var isTLSProxy: Bool {
    switch self {
    case .encryptedProxy, .encryptedDigestProxy, .encryptedNegotiateProxy, .encryptedNTLMProxy: true
    default: false
    }
  }
  /// The server's URL without a path or final slash, whether it listens or not.
  package var origin: String { isTLS ? "https://localhost:\(rawValue)" : "http://\(authority)" }
  /// The server's numeric address, with its port.
  package var authority: String { "127.0.0.1:\(rawValue)" }

  /// The process doesn't use the Kerberos of the test servers.
  package struct NoTicket: Error, CustomStringConvertible {
    package var description: String {
      "the environment has no Kerberos ticket of the test servers; run the tests with it: "
        + "Tests/Servers/servers run COMMAND, or make test"
    }
  }

  private static let isUp = Mutex<Set<TestServer>>([])

  /// Throws unless the environment names the ticket of `servers run`. The library reads it when it is first used, so a test
  /// can't set it.
  package static func requireTicket() throws(NoTicket) {
    guard let cache = getenv("KRB5CCNAME"), String(cString: cache) == "FILE:\(folder)/krb5/ticket" else {
      throw NoTicket()
    }
  }

  /// Throws `Down` if no server listens.
  package func require() throws(Down) {
    if Self.isUp.withLock({ $0.contains(self) }) { return }
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = rawValue.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // Without a descriptor, nothing is known about the server, and the test itself will fail.
    guard result == 0 || errno != ECONNREFUSED else { throw Down(server: self) }
    _ = Self.isUp.withLock { $0.insert(self) }
  }
}

extension TestServer {
  /// The folder of Tests/Servers/servers, with certificates and nginx's socket.
  package static let folder =
    getenv("LUPINE_SERVERS").map { String(cString: $0) } ?? "/tmp/lupine-servers-\(getuid())"
  /// The certificate of the authority that has signed the servers' certificates.
  package static let authorityFile = "\(folder)/pki/ca.crt"
  /// A client's certificate by that authority, its key, and both in PKCS#12 with the password "password".
  package static let clientCertificateFile = "\(folder)/pki/client.crt"
  package static let clientKeyFile = "\(folder)/pki/client.key"
  package static let clientArchiveFile = "\(folder)/pki/client.p12"
  /// The Unix socket on which nginx listens, too.
  package static let nginxSocket = "\(folder)/nginx.sock"
}
