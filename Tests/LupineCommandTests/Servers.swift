// Servers: the addresses of the test servers that these tests use, as the command's arguments.

import LupineTestSupport

enum Servers {
  static let httpbin = TestServer.httpbin.origin
  static let nginx = TestServer.nginx.origin
  static let apache = TestServer.apache.origin
  static let nginxTLS = TestServer.nginxTLS.origin

  /// The URL of a server that requires a client certificate, and responds with the certificate's subject.
  static let clients = TestServer.clientCertificate.origin
  static let tls12Only = TestServer.tls12.origin
  static let tls13Only = TestServer.tls13.origin
  static let goodStaple = TestServer.goodStaple.origin
  static let revokedStaple = TestServer.revokedStaple.origin
  /// The URL of a server that requires NTLM. `ntlmTLS` also requires channel bindings.
  static let ntlm = TestServer.ntlm.origin
  static let ntlmTLS = TestServer.ntlmTLS.origin
  static let httpProxy = TestServer.squid.authority
  static let socksProxy = TestServer.socks.authority
  static let httpProxyWithLogin = TestServer.squidLogin.authority
  static let socksProxyWithLogin = TestServer.socksLogin.authority

  static let authority = TestServer.authorityFile
  static let clientCertificate = TestServer.clientCertificateFile
  static let clientKey = TestServer.clientKeyFile
  static let clientArchive = TestServer.clientArchiveFile
  static let nginxSocket = TestServer.nginxSocket

  /// Throws unless all of the test servers accept connections.
  static func require() throws {
    for server in TestServer.allCases { try server.require() }
  }
}
