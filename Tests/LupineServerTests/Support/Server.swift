// Server: the servers for these tests, on loopback. `Tests/Servers/servers ports` describes each.

import LupineEngine
import Synchronization

/// A port of Tests/Servers/servers. Functions that return its URL throw if no server listens there.
enum Server: UInt16, Sendable {
  case httpbin = 28080
  case nginx = 28082
  case apache = 28083
  case caddy = 28084
  case haproxy = 28085
  case unavailable = 28086
  case refusing = 28087
  case slammed = 28088
  case squid = 28128
  case squidLogin = 28129
  case socks = 28180
  case socksLogin = 28181
  case nginxTLS = 28443
  case expired = 28444
  case wrongHost = 28445
  case selfSigned = 28446
  case oldVersions = 28447
  case clientCertificate = 28448
  case tls12 = 28449
  case tls13 = 28450
  case caddyTLS = 28454

  /// The servers with separate content, each a different program.
  static let all: [Server] = [.httpbin, .nginx, .apache, .caddy, .haproxy]
  /// The servers with the pages /small.txt, /text.txt and /big.bin.
  static let withPages: [Server] = [.nginx, .apache, .caddy, .haproxy]

  /// No server listens on the port.
  struct Down: Error, CustomStringConvertible {
    let server: Server
    var description: String {
      "\(server) doesn't listen on port \(server.rawValue); start it: make servers-install servers-up"
    }
  }

  private var isTLS: Bool { rawValue > 28440 }
  /// The path of a small page that never changes.
  var smallPage: String { self == .httpbin ? "/base64/c21hbGwK" : "/small.txt" }

  /// Returns the URL of a page. Throws `Down` if no server listens.
  func url(_ path: String = "/", host: String? = nil) async throws -> String {
    try await checkUp()
    return isTLS ? "https://\(host ?? "localhost"):\(rawValue)\(path)" : "\(authority(host ?? "127.0.0.1"))\(path)"
  }

  private func authority(_ host: String) -> String { "http://\(host):\(rawValue)" }

  /// Returns the URI of a page. Throws `Down` if no server listens.
  func uri(_ path: String = "/", host: String? = nil) async throws -> URI {
    try URI(try await url(path, host: host))
  }

  private static let checks = Mutex<[Server: Task<Void, any Error>]>([:])

  /// Throws `Down` if no server listens. Each server is checked only once.
  func checkUp() async throws {
    let check = Self.checks.withLock { checks in
      if let check = checks[self] { return check }
      let check = Task {
        let engine = try Engine.forServers()
        do {
          // Any error except a refused connection shows that a server listens.
          _ = try await engine.collect(EngineRequest(uri: try URI(authority("127.0.0.1") + "/")))
        } catch let error as EngineError where error.code == .connectionRefused {
          throw Down(server: self)
        } catch is EngineError {}
      }
      checks[self] = check
      return check
    }
    try await check.value
  }

  /// The folder of Tests/Servers/servers, which contains the authority's certificate.
  static let folder =
    Environment.values(of: ["LUPINE_SERVERS"])["LUPINE_SERVERS"] ?? "/tmp/lupine-servers-\(ProcessStatus.userID)"
}

extension Engine {
  /// Returns an engine that trusts the test servers' authority, and uses no proxy of the environment.
  static func forServers(_ edit: (inout EngineConfiguration) throws -> Void = { _ in }) throws -> Engine {
    var configuration = EngineConfiguration()
    configuration.proxy = .none
    configuration.tls.trustRoots = [.file("\(Server.folder)/pki/ca.crt")]
    try edit(&configuration)
    return try Engine(configuration: configuration)
  }
}
