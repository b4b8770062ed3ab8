// The real servers that these tests talk to, on loopback; `Tests/Servers/servers ports` says what each is for.

import LupineEngine
import Synchronization

/// A port of Tests/Servers/servers. Asking for its URL throws if nobody listens there.
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

  /// Those that hold pages of their own, each another program.
  static let all: [Server] = [.httpbin, .nginx, .apache, .caddy, .haproxy]
  /// Those with the pages /small.txt, /text.txt and /big.bin.
  static let withPages: [Server] = [.nginx, .apache, .caddy, .haproxy]

  /// Nobody listens where a test server should.
  struct Down: Error, CustomStringConvertible {
    let server: Server
    var description: String {
      "\(server) doesn't listen on port \(server.rawValue); start it: make servers-install servers-up"
    }
  }

  private var isTLS: Bool { rawValue > 28440 }
  /// A page that is small, and the same each time.
  var smallPage: String { self == .httpbin ? "/base64/c21hbGwK" : "/small.txt" }

  /// The URL of a page; throws `Down` if nobody listens.
  func url(_ path: String = "/", host: String? = nil) async throws -> String {
    try await checkUp()
    return isTLS ? "https://\(host ?? "localhost"):\(rawValue)\(path)" : "\(authority(host ?? "127.0.0.1"))\(path)"
  }

  private func authority(_ host: String) -> String { "http://\(host):\(rawValue)" }

  /// The URI of a page; throws `Down` if nobody listens.
  func uri(_ path: String = "/", host: String? = nil) async throws -> URI {
    try URI(try await url(path, host: host))
  }

  private static let checks = Mutex<[Server: Task<Void, any Error>]>([:])

  /// Throws `Down` if nobody listens. A server is asked once.
  func checkUp() async throws {
    let check = Self.checks.withLock { checks in
      if let check = checks[self] { return check }
      let check = Task {
        let engine = try Engine.forServers()
        do {
          // Whatever speaks another protocol, or resets the connection, listens.
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

  /// The folder of Tests/Servers/servers, in which its authority's certificate lies.
  static let folder =
    Environment.values(of: ["LUPINE_SERVERS"])["LUPINE_SERVERS"] ?? "/tmp/lupine-servers-\(ProcessStatus.userID)"
}

extension Engine {
  /// An engine that trusts the test servers' authority, and goes through no proxy, whatever the environment says.
  static func forServers(_ edit: (inout EngineConfiguration) throws -> Void = { _ in }) throws -> Engine {
    var configuration = EngineConfiguration()
    configuration.proxy = .none
    configuration.tls.trustRoots = [.file("\(Server.folder)/pki/ca.crt")]
    try edit(&configuration)
    return try Engine(configuration: configuration)
  }
}
