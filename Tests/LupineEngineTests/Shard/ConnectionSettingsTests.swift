// ConnectionSettingsTests: the settings of one request's connection, and connections that other requests must not use.

import LupineOrigin
import LupineTLS
import LupineWire
import Testing

@testable import LupineEngine
@testable import LupineReactor

@Suite("A request's connection settings", .timeLimit(.minutes(10)))
struct ConnectionSettingsTests {
  private func request(
    _ uri: String = "http://10.0.0.1/", _ change: (inout ConnectionSettings) -> Void = { _ in }
  ) throws -> EngineRequest {
    var settings = ConnectionSettings()
    change(&settings)
    var request = EngineRequest(uri: try URI(uri))
    request.connection = settings
    return request
  }

  private static let modem = NetworkLink(index: 1, name: "wwan0")
  private static let ethernet = NetworkLink(index: 2, name: "eth0")

  @Test("a request that disallows mobile networks doesn't connect through a mobile network")
  func cellular() throws {
    let stage = ShardStage()
    stage.network.links = ["10.0.0.1": Self.modem]
    let (_, sink) = stage.submit(try request { $0.refusesCellular = true })
    stage.turn()
    #expect(stage.network.sockets.isEmpty)
    #expect(sink.error?.code == .addressRefused)
    guard case .refusal(.cellular(let addresses)) = sink.error?.cause else {
      Issue.record("unexpected cause")
      return
    }
    #expect(addresses.map(\.host) == ["10.0.0.1"])
    #expect(sink.error?.description.contains("through a mobile network only") == true)
  }

  @Test("a request that disallows mobile networks skips the host's addresses that are routed through a mobile network")
  func someCellular() throws {
    let stage = ShardStage {
      $0.resolver.overrides = [
        HostOverride(
          host: "two.example", addresses: ["10.0.0.1", "10.0.0.2"].compactMap { SocketAddress(numeric: $0, port: 0) })
      ]
    }
    stage.network.links = ["10.0.0.1": Self.modem, "10.0.0.2": Self.ethernet]
    _ = stage.submit(try request("http://two.example/") { $0.refusesCellular = true })
    _ = stage.submit(try request("http://10.0.0.3/") { $0.refusesCellular = true })
    stage.turn()
    #expect(stage.network.addresses.map(\.host) == ["10.0.0.2", "10.0.0.3"])
  }

  @Test("a request that disallows mobile networks doesn't reuse a connection that may use a mobile network")
  func noReuse() throws {
    let stage = ShardStage()
    stage.network.links = ["10.0.0.1": Self.ethernet]
    _ = stage.submit(EngineRequest(uri: try URI("http://10.0.0.1/")))
    stage.turn()
    let first = stage.network.sockets[0]
    stage.turn(first)
    first.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))]
    stage.turn(first)
    first.arrivals = []
    _ = stage.submit(try request { $0.refusesCellular = true })
    stage.turn()
    #expect(stage.network.sockets.count == 2)
    _ = stage.submit(try request())
    stage.turn()
    #expect(stage.network.sockets.count == 2)
  }

  @Test("the engine sets a request's traffic class only on the request's own socket")
  func trafficClass() throws {
    let stage = ShardStage { $0.socket.trafficClass = 8 }
    _ = stage.submit(try request { $0.trafficClass = 0xB8 })
    _ = stage.submit(try request("http://10.0.0.2/") { $0.refusesCellular = false })
    stage.turn()
    #expect(stage.network.options.map(\.trafficClass) == [0xB8, 8])
  }

  @Test("a request's host overrides take precedence over the engine's, but are subject to the engine's address policy")
  func addresses() throws {
    func override(_ address: String) -> [HostOverride] {
      [HostOverride(host: "NAME.example", addresses: [SocketAddress(numeric: address, port: 0)].compactMap(\.self))]
    }
    let stage = ShardStage {
      $0.resolver.overrides = override("10.0.0.1")
      $0.addressPolicy = AddressPolicy(others: .all, refused: [AddressNetwork("10.66.0.0/16")].compactMap(\.self))
    }
    _ = stage.submit(try request("http://name.example/") { $0.hostOverrides = override("10.0.0.2") })
    _ = stage.submit(try request("http://name.example/"))
    let (_, refused) = stage.submit(try request("http://name.example/") { $0.hostOverrides = override("10.66.0.1") })
    stage.turn()
    #expect(stage.network.addresses.map(\.host) == ["10.0.0.2", "10.0.0.1"])
    #expect(refused.error?.code == .addressRefused)
  }

  @Test("a request's proxy setting replaces the engine's, and the setting .none disables the proxy")
  func proxy() throws {
    let other = try Proxy(.http, host: "10.0.0.9", port: 2)
    let stage = ShardStage(proxy: .fixed(try Proxy(.http, host: "10.0.0.8", port: 1)))
    _ = stage.submit(try request { $0.proxy = .fixed(other) })
    _ = stage.submit(try request { $0.proxy = ProxySettings.none })
    _ = stage.submit(try request())
    stage.turn()
    #expect(stage.network.addresses.map(\.description) == ["10.0.0.9:2", "10.0.0.1:80", "10.0.0.8:1"])
  }

  @Test("a request's TLS settings replace the engine's, but only on that request's connection")
  func tls() async throws {
    let origin = try OriginServer(tls: try ServerIdentity.throwaway()) { peer in
      while try peer.readRequest() != nil { try peer.respond() }
    }
    defer { origin.stop() }
    let engine = try Engine()
    let uri = try URI("\(origin.url)/")
    func code(_ request: EngineRequest) async -> EngineError.Code? {
      let sink = RecordingSink()
      engine.submit(request, to: sink)
      return await sink.outcome.error?.code
    }
    var unverified = EngineRequest(uri: uri)
    unverified.connection = ConnectionSettings()
    unverified.connection?.tls = TLSConfiguration(verification: .none)
    #expect(await code(unverified) == nil)
    #expect(await code(EngineRequest(uri: uri)) == .tlsFailed)
    #expect(await code(unverified) == nil)
    await engine.shutdown()
  }
}
