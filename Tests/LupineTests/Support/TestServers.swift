// The test servers that these tests talk to; the properties throw if the server isn't up.

import LupineTestSupport

/// The URLs of the real test servers, such as nginx. Each getter throws if the server isn't running.
enum TestServers {
  typealias TLS = TestServer

  /// The http URL of httpbin, without a slash at the end.
  static var httpbin: String { get async throws { try await TestServer.httpbin.url } }
  /// The http URL of nginx, without a slash at the end.
  static var nginx: String { get async throws { try await TestServer.nginx.url } }
  /// The http URL of nginx with an IPv6 address.
  static var nginx6: String {
    get async throws {
      try TestServer.nginx.require()
      return "http://[::1]:\(TestServer.nginx.rawValue)"
    }
  }

  static var authority: String { TestServer.authorityFile }
  static var client: (certificate: String, key: String) { (TestServer.clientCertificateFile, TestServer.clientKeyFile) }

  /// The path of the Unix socket on which nginx listens.
  static var nginxSocket: String {
    get async throws {
      try TestServer.nginx.require()
      return TestServer.nginxSocket
    }
  }
}

extension TestServer {
  static var good: TestServer { .nginxTLS }

  /// The http or https URL of the test server, without a slash at the end. Throws if the server isn't running.
  var url: String {
    get async throws {
      try require()
      return origin
    }
  }
}
