// PoolKeyTests: each setting that separates connections, so that they are never shared.

import LupineLoopback
import LupineReactor
import LupineTLS
import LupineWire
import Testing

@testable import LupineEngine

@Suite("PoolKey")
struct PoolKeyTests {
  private static let verifiers = (0..<2).map { _ in CertificateVerifier { _ in .asFound } }

  private static func traits(_ change: (inout ConnectionSettings) -> Void) -> ConnectionSettings.Traits? {
    var settings = ConnectionSettings()
    change(&settings)
    return settings.traits
  }

  /// Returns pool keys for one server that each differ in a single setting, with the setting's name.
  private static func keys(_ identity: TLSIdentity) throws -> [(name: String, key: PoolKey)] {
    let origin = Origin(scheme: .https, host: "a.example", port: 443)
    let tls = TLSConfiguration()
    var unverified = tls
    unverified.verification = .none
    var older = tls
    older.maximumVersion = .v1_2
    var private_ = tls
    private_.trustRoots = [.pem([1])]
    var both = tls
    both.trustRoots = [.system, .pem([1])]
    var stapled = tls
    stapled.ocspStapling = .required
    var named = tls
    named.serverName = "b.example"
    var asked = tls
    asked.verifier = verifiers[0]
    var askedAnother = tls
    askedAnother.verifier = verifiers[1]
    var identified = tls
    identified.identity = identity
    var newer = tls
    newer.minimumVersion = .v1_3
    var grouped = tls
    grouped.groups = ["P-256"]
    var ciphered = tls
    ciphered.cipherList = "ECDHE+AESGCM"
    var suited = tls
    suited.cipherSuites = ["TLS_AES_128_GCM_SHA256"]
    var spoken = tls
    spoken.applicationProtocols = []
    let proxy = try Proxy(.http, host: "proxy.example", port: 3128)
    let known = try Proxy(.http, host: "proxy.example", port: 3128, user: "u", password: "p")
    let otherPassword = try Proxy(.http, host: "proxy.example", port: 3128, user: "u", password: "q")
    let otherPort = try Proxy(.http, host: "proxy.example", port: 3129)
    let socks = try Proxy(.socks5, host: "proxy.example", port: 3128)
    let socksNames = try Proxy(.socks5h, host: "proxy.example", port: 3128)
    var exclusive = PoolKey(origin: origin, tls: tls)
    exclusive.exclusiveTo = .exchange(7)
    var grouped7 = PoolKey(origin: origin, tls: tls)
    grouped7.exclusiveTo = .group(7)
    var grouped8 = PoolKey(origin: origin, tls: tls)
    grouped8.exclusiveTo = .group(8)
    return [
      ("the default", PoolKey(origin: origin, tls: tls)),
      ("another host", PoolKey(origin: Origin(scheme: .https, host: "b.example", port: 443), tls: tls)),
      ("another port", PoolKey(origin: Origin(scheme: .https, host: "a.example", port: 8443), tls: tls)),
      ("without TLS", PoolKey(origin: Origin(scheme: .http, host: "a.example", port: 443), tls: nil)),
      ("a Unix socket", PoolKey(origin: Origin(scheme: .https, socketPath: "/run/a"), tls: tls)),
      ("another Unix socket", PoolKey(origin: Origin(scheme: .https, socketPath: "/run/b"), tls: tls)),
      ("not verified", PoolKey(origin: origin, tls: unverified)),
      ("up to TLS 1.2", PoolKey(origin: origin, tls: older)),
      ("TLS 1.3 or later", PoolKey(origin: origin, tls: newer)),
      ("a client certificate", PoolKey(origin: origin, tls: identified)),
      ("a single group", PoolKey(origin: origin, tls: grouped)),
      ("other ciphers", PoolKey(origin: origin, tls: ciphered)),
      ("other cipher suites", PoolKey(origin: origin, tls: suited)),
      ("no ALPN", PoolKey(origin: origin, tls: spoken)),
      ("private trust roots", PoolKey(origin: origin, tls: private_)),
      ("private and system trust roots", PoolKey(origin: origin, tls: both)),
      ("stapling required", PoolKey(origin: origin, tls: stapled)),
      ("another server name", PoolKey(origin: origin, tls: named)),
      ("with a verifier", PoolKey(origin: origin, tls: asked)),
      ("with another verifier", PoolKey(origin: origin, tls: askedAnother)),
      ("through a proxy", PoolKey(origin: origin, route: .tunnel(proxy), tls: tls)),
      ("forwarded by a proxy", PoolKey(origin: origin, route: .forward(proxy), tls: tls)),
      ("through the proxy with credentials", PoolKey(origin: origin, route: .tunnel(known), tls: tls)),
      ("through the proxy with another password", PoolKey(origin: origin, route: .tunnel(otherPassword), tls: tls)),
      ("through another proxy", PoolKey(origin: origin, route: .tunnel(otherPort), tls: tls)),
      ("through SOCKS", PoolKey(origin: origin, route: .tunnel(socks), tls: tls)),
      ("through SOCKS with host names", PoolKey(origin: origin, route: .tunnel(socksNames), tls: tls)),
      ("exclusive to one exchange", exclusive),
      ("with a traffic class", PoolKey(origin: origin, tls: tls, traits: traits { $0.trafficClass = 0xB8 })),
      ("with another traffic class", PoolKey(origin: origin, tls: tls, traits: traits { $0.trafficClass = 0 })),
      ("without mobile networks", PoolKey(origin: origin, tls: tls, traits: traits { $0.refusesCellular = true })),
      (
        "with a fixed address",
        PoolKey(
          origin: origin, tls: tls, traits: traits { $0.hostOverrides = [HostOverride(host: "a", addresses: [])] })
      ),
      ("of a group", grouped7),
      ("of another group", grouped8),
    ]
  }

  @Test("connections whose keys differ in any relevant setting belong to separate connection pools")
  func distinct() throws {
    let client = try ThrowawayAuthority.selfSigned(names: ["client"])
    let identity = try TLSIdentity(certificatePEM: client.certificatePEM, privateKeyPEM: client.privateKeyPEM)
    let keys = try Self.keys(identity)
    for (index, one) in keys.enumerated() {
      for other in keys[(index + 1)...] { #expect(one.key != other.key, "\(one.name) | \(other.name)") }
    }
    #expect(Set(keys.map(\.key)).count == keys.count)
    #expect(try Set(Self.keys(identity).map(\.key)) == Set(keys.map(\.key)))
  }

  @Test("a key with another client certificate, or without one, keeps the route and all other settings")
  func identities() throws {
    let client = try ThrowawayAuthority.selfSigned(names: ["client"])
    let identity = try TLSIdentity(certificatePEM: client.certificatePEM, privateKeyPEM: client.privateKeyPEM)
    let route = Route.tunnel(try Proxy(.http, host: "proxy.example", port: 3128))
    func key(_ identity: TLSIdentity?) -> PoolKey {
      var tls = TLSConfiguration()
      tls.serverName = "b.example"
      tls.identity = identity
      return PoolKey(
        origin: Origin(scheme: .https, host: "a.example", port: 443), route: route, tls: tls,
        traits: Self.traits { $0.refusesCellular = true })
    }
    #expect(key(identity) != key(nil))
    #expect(key(identity).anonymous == key(nil) && key(nil).anonymous == key(nil))
    #expect(key(identity).presenting(.anonymous) == key(nil))
    #expect(key(nil).presenting(.present(identity)) == key(identity))
  }

  @Test(
    "a host that contains a line end or a NUL is refused, so that the host can't end the Host field early",
    arguments: ["\r\n", "\r", "\n", "\0", "a\tb\r\nX: y"])
  func hostLine(text: String) throws {
    let origin = Origin(scheme: .http, host: "a.example\(text)", port: 80)
    let key = PoolKey(origin: origin, tls: nil)
    #expect(throws: WireError.self) { try key.hostLine.get() }
    let good = PoolKey(origin: Origin(scheme: .http, host: "a.example", port: 81), tls: nil)
    #expect(try good.hostLine.get() == Array("Host: a.example:81\r\n".utf8))
  }
}
