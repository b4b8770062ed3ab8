// TestServer: the servers that Tests/Servers/servers starts on loopback. `Tests/Servers/servers ports` describes each.

internal import Glibc
internal import Synchronization

/// A server that Tests/Servers/servers starts on 127.0.0.1. The raw value is its port.
package enum TestServer: UInt16, Sendable, CaseIterable {
  case httpbin = 28080
  case nginx = 28082
  case apache = 28083
  /// Apache with TLS.
  case apacheTLS = 28455
  case caddy = 28084
  case haproxy = 28085
  case unavailable = 28086
  case refusing = 28087
  case slammed = 28088
  /// aiohttp, with event streams and lines.
  case events = 28097
  /// squid, an HTTP proxy without authentication. `squidLogin` requires the user name "user" and the password "pass".
  case squid = 28128
  case squidLogin = 28129
  /// squid, an HTTP proxy that requires Digest. `squidNegotiate` requires Negotiate, and `squidNTLM` requires NTLM.
  case squidDigest = 28130
  case squidNegotiate = 28131
  case squidNTLM = 28132
  /// A proxy that accepts TLS and passes the connection to `squidLogin`. The next three do the same for the proxies with other
  /// schemes.
  case encryptedProxy = 28133
  case encryptedDigestProxy = 28134
  case encryptedNegotiateProxy = 28135
  case encryptedNTLMProxy = 28136
  /// lighttpd, with pages that require Digest with each algorithm.
  case lighttpd = 28090
  case lighttpdTLS = 28456
  /// An origin that requires NTLM. `ntlmTLS` and `negotiateTLS` require NTLM and Negotiate, with channel bindings.
  case ntlm = 28089
  case ntlmTLS = 28453
  case negotiateTLS = 28457
  /// A SOCKS 5 proxy without authentication. `socksLogin` requires the user name "user" and the password "pass".
  case socks = 28180
  case socksLogin = 28181
  /// WebSocket servers: the packages websockets and aiohttp. nginx forwards /sockets/ to `websockets`.
  case websockets = 28095
  case websocketsTLS = 28460
  case aiohttpSockets = 28096
  /// nginx with TLS and a valid certificate.
  case nginxTLS = 28443
  case expired = 28444
  case wrongHost = 28445
  case selfSigned = 28446
  case oldVersions = 28447
  /// nginx with TLS, which responds with 400 to a client without a certificate.
  case clientCertificate = 28448
  case tls12 = 28449
  case tls13 = 28450
  /// nginx with TLS, which staples an OCSP response with the status good.
  case goodStaple = 28451
  case revokedStaple = 28452
  case caddyTLS = 28454

  /// The error that nothing listens on the server's port.
  package struct Down: Error, CustomStringConvertible {
    package let server: TestServer
    package var description: String {
      "\(server) doesn't listen on port \(server.rawValue); start it: make servers-install servers-up"
    }
  }

  /// Whether the server is an origin with TLS.
  package var isTLS: Bool { rawValue >= Self.nginxTLS.rawValue }
  /// Whether the server is a proxy that clients reach over TLS.
  package var isTLSProxy: Bool {
    switch self {
    case .encryptedProxy, .encryptedDigestProxy, .encryptedNegotiateProxy, .encryptedNTLMProxy: true
    default: false
    }
  }
  /// The server's URL without a path or final slash.
  package var origin: String { isTLS ? "https://localhost:\(rawValue)" : "http://\(authority)" }
  /// The server's numeric address and port, such as "127.0.0.1:28080".
  package var authority: String { "127.0.0.1:\(rawValue)" }

  /// The error that this process doesn't use the Kerberos ticket of the test servers.
  package struct NoTicket: Error, CustomStringConvertible {
    package var description: String {
      "the environment has no Kerberos ticket of the test servers; run the tests with it: "
        + "Tests/Servers/servers run COMMAND, or make test"
    }
  }

  private static let isUp = Mutex<Set<TestServer>>([])

  /// Throws unless the environment of this process names the Kerberos ticket of `servers run`. A test can't set the variable,
  /// because the library reads it when it is first used.
  package static func requireTicket() throws(NoTicket) {
    guard let cache = getenv("KRB5CCNAME"), String(cString: cache) == "FILE:\(folder)/krb5/ticket" else {
      throw NoTicket()
    }
  }

  /// Throws `Down` if nothing listens on the server's port.
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
    // Without a free descriptor, nothing is known about the server. The test itself will then fail.
    guard result == 0 || errno != ECONNREFUSED else { throw Down(server: self) }
    _ = Self.isUp.withLock { $0.insert(self) }
  }
}

extension TestServer {
  /// The folder that Tests/Servers/servers creates, with certificates and nginx's Unix socket.
  package static let folder =
    getenv("LUPINE_SERVERS").map { String(cString: $0) } ?? "/tmp/lupine-servers-\(getuid())"
  /// The certificate of the authority that issued the test servers' certificates, in PEM.
  package static let authorityFile = "\(folder)/pki/ca.crt"
  /// A client certificate issued by that authority, in PEM. `clientKeyFile` is its key, and `clientArchiveFile` contains both in
  /// PKCS#12 with the password "password".
  package static let clientCertificateFile = "\(folder)/pki/client.crt"
  package static let clientKeyFile = "\(folder)/pki/client.key"
  package static let clientArchiveFile = "\(folder)/pki/client.p12"
  /// The path of the Unix socket on which nginx listens in addition to its port.
  package static let nginxSocket = "\(folder)/nginx.sock"
}
