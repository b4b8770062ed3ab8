// Server: the URLs of the test servers, for requests of the engine.

import LupineEngine
import LupineTestSupport

typealias Server = TestServer

extension TestServer {
  /// The test servers with different content, each of which is a different program.
  static let all: [Server] = [.httpbin, .nginx, .apache, .caddy, .haproxy]
  /// The test servers that have the pages /small.txt, /text.txt and /big.bin.
  static let withPages: [Server] = [.nginx, .apache, .caddy, .haproxy]

  /// The path of a small page on this server that never changes.
  var smallPage: String { self == .httpbin ? "/base64/c21hbGwK" : "/small.txt" }

  /// Returns the URL of a path on this server. Throws `Down` if the server doesn't listen.
  func url(_ path: String = "/", host: String? = nil) async throws -> String {
    try require()
    guard let host else { return origin + path }
    return "\(isTLS ? "https" : "http")://\(host):\(rawValue)\(path)"
  }

  /// Returns the URI of a path on this server. Throws `Down` if the server doesn't listen.
  func uri(_ path: String = "/", host: String? = nil) async throws -> URI {
    try URI(try await url(path, host: host))
  }
}

extension Engine {
  /// Returns an engine that trusts the test servers' authority, and ignores the proxies in the environment.
  static func forServers(_ edit: (inout EngineConfiguration) throws -> Void = { _ in }) throws -> Engine {
    var configuration = EngineConfiguration()
    configuration.proxy = .none
    configuration.tls.trustRoots = [.file(TestServer.authorityFile)]
    try edit(&configuration)
    return try Engine(configuration: configuration)
  }
}
