// The test servers that these tests talk to; the properties throw if the server isn't up.

import LupineTestSupport

/// The addresses of `TestServer`. Reading one throws if no server listens there.
enum TestServers {
  typealias TLS = TestServer

  /// Plain httpbin, without a slash at the end.
  static var httpbin: String { get async throws { try await TestServer.httpbin.url } }
  /// Plain nginx.
  static var nginx: String { get async throws { try await TestServer.nginx.url } }
  /// Plain nginx over IPv6.
  static var nginx6: String {
    get async throws {
      try TestServer.nginx.require()
      return "http://[::1]:\(TestServer.nginx.rawValue)"
    }
  }

  static var authority: String { TestServer.authorityFile }
  static var client: (certificate: String, key: String) { (TestServer.clientCertificateFile, TestServer.clientKeyFile) }

  /// The path of the Unix socket on which nginx also listens.
  static var nginxSocket: String {
    get async throws {
      try TestServer.nginx.require()
      return TestServer.nginxSocket
    }
  }
}

extension TestServer {
  static var good: TestServer { .nginxTLS }

  /// The server's URL, without a slash at the end.
  var url: String {
    get async throws {
      try require()
      return origin
    }
  }
}
