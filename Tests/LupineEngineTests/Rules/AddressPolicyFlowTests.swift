// AddressPolicyFlowTests: an engine opens no connection that its address policy refuses, whatever leads to the address.

import LupineOrigin
import LupineReactor
import LupineWire
import Synchronization
import Testing

@testable import LupineEngine

@Suite("An address policy", .timeLimit(.minutes(10)))
struct AddressPolicyFlowTests {
  /// Returns a source of addresses whose n-th lookup returns the n-th list of `answers`, whatever the name.
  private func answering(_ answers: [[String]]) -> NameService.Source {
    let remaining = Mutex(answers)
    return { _, _, completion in
      let texts = remaining.withLock { $0.isEmpty ? [] : $0.removeFirst() }
      completion(.success(texts.compactMap { SocketAddress(numeric: $0, port: 0) }))
      return {}
    }
  }

  /// Returns a shard that the test drives, with this address policy and without a cache of looked-up addresses.
  private func stage(_ policy: AddressPolicy, _ answers: [[String]], proxy: ProxySettings = .none) -> ShardStage {
    var configuration = ResolverConfiguration()
    configuration.cacheAge = .zero
    return ShardStage(proxy: proxy, resolver: NameService(configuration, source: answering(answers))) {
      $0.addressPolicy = policy
    }
  }

  private func request(_ uri: String = "http://name.example/") throws -> EngineRequest {
    EngineRequest(uri: try URI(uri))
  }

  /// Submits a request, and runs two iterations of the loop. Then the request has either started to connect or failed.
  private func start(_ stage: ShardStage, _ uri: String = "http://name.example/") throws -> RecordingSink {
    let (_, sink) = stage.submit(try request(uri))
    stage.turn()
    stage.turn()
    return sink
  }

  private func engine(_ policy: AddressPolicy, _ change: (inout EngineConfiguration) -> Void = { _ in }) throws
    -> Engine
  {
    var configuration = EngineConfiguration()
    configuration.addressPolicy = policy
    configuration.proxy = .none
    change(&configuration)
    return try Engine(configuration: configuration)
  }

  private func expectRefusal(_ record: RecordingSink.Record, _ refusal: AddressRefusal? = nil) {
    #expect(record.error?.code == .addressRefused && record.error?.progress == .nothingSent)
    guard case .refusal(let cause) = record.error?.cause else {
      Issue.record("\(String(describing: record.error))")
      return
    }
    if let refusal { #expect(cause == refusal) }
  }

  // MARK: Addresses

  @Test(
    "an address policy that refuses loopback refuses each notation of this machine's address without connecting",
    arguments: [
      "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7F.1", "0177.0.0.1", "0", "0.0.0.0", "localhost", "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[64:ff9b::127.0.0.1]",
    ])
  func notations(host: String) async throws {
    let origin = try OriginServer.serving { _ in .text("") }
    defer { origin.stop() }
    let uri = "http://\(host):\(origin.port)/"
    expectRefusal(try await engine(.publicOnly).record(uri))
    #expect(origin.connectionCount == 0)
    // The policy doesn't depend on the notation, so a refused network is refused as well.
    let refusing = AddressPolicy(others: .all, refused: ["127.0.0.0/8", "::1"])
    expectRefusal(try await engine(refusing).record(uri))
    #expect(origin.connectionCount == 0)
  }

  @Test("a connection succeeds if the address policy permits all addresses, or the network of the server")
  func permitted() async throws {
    let origin = try OriginServer.serving { _ in .text("here") }
    defer { origin.stop() }
    #expect(try await engine(.all).record("\(origin.url)/").text == "here")
    #expect(try await engine(.only(["127.0.0.0/8"])).record("\(origin.url)/").text == "here")
    #expect(origin.connectionCount == 2)
  }

  @Test("the engine tries only those of a host's addresses that the address policy permits")
  func filtered() throws {
    let stage = stage(.publicOnly, [["127.0.0.1", "8.8.8.8", "::1", "10.0.0.1", "2600::1", "fe80::1"]])
    _ = try start(stage)
    // Happy Eyeballs starts the next attempt after each 250 ms.
    for _ in 0..<6 { stage.turn(after: .milliseconds(250)) }
    #expect(stage.network.addresses.map(\.description) == ["8.8.8.8:80", "[2600::1]:80"])
  }

  @Test("the engine refuses a name that resolves to a public address first, and to 127.0.0.1 at the next lookup")
  func rebinding() async throws {
    let stage = stage(.publicOnly, [["8.8.8.8"], ["127.0.0.1"], ["::ffff:127.0.0.1"]])
    let first = try start(stage)
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))]
    stage.turn(socket)
    #expect(await first.outcome.head?.status == 200)
    for address in ["127.0.0.1", "::ffff:127.0.0.1"] {
      let sink = try start(stage)
      try #require(sink.finished.isOpen)
      let refused = try #require(SocketAddress(numeric: address, port: 80))
      expectRefusal(await sink.outcome, .addresses([refused]))
    }
    #expect(stage.network.addresses.map(\.description) == ["8.8.8.8:80"])
  }

  @Test("the engine applies the address policy to the connection on which a request is replayed")
  func replayed() async throws {
    let stage = stage(.publicOnly, [["8.8.8.8"], ["10.0.0.1"]])
    let first = try start(stage)
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.arrivals = [.bytes(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))]
    stage.turn(socket)
    #expect(await first.outcome.head?.status == 204)
    let sink = try start(stage)
    #expect(stage.network.sockets.count == 1)
    socket.arrivals = [.end]
    stage.turn(socket)
    stage.turn()
    stage.turn()
    try #require(sink.finished.isOpen)
    expectRefusal(await sink.outcome)
    #expect(stage.network.addresses.map(\.description) == ["8.8.8.8:80"])
  }

  @Test("the engine applies the address policy to the target of a redirect")
  func redirected() async throws {
    let target = try OriginServer.serving { _ in .text("internal") }
    defer { target.stop() }
    let location = target.url
    let first = try OriginServer(address: "127.0.0.2") { peer in
      try peer.serve { _ in Reply(status: 302, fields: ["Location": location]) }
    }
    defer { first.stop() }
    let engine = try engine(.only(["127.0.0.2"]))
    let error = await #expect(throws: EngineError.self) {
      _ = try await engine.collect(request("\(first.url)/"), redirects: RedirectRule())
    }
    #expect(error?.code == .addressRefused)
    #expect(first.requestCount == 1 && target.connectionCount == 0)
  }

  @Test("the engine applies the address policy to the addresses of host overrides and to raw requests")
  func overrides() async throws {
    let origin = try OriginServer.serving { _ in .text("") }
    defer { origin.stop() }
    let here = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
    let engine = try engine(.publicOnly) { $0.resolver.overrides = [HostOverride(host: "*", addresses: [here])] }
    expectRefusal(try await engine.record("http://name.example:\(origin.port)/"))
    let place = try URI("\(origin.url)/").origin
    let error = await #expect(throws: EngineError.self) {
      _ = try await engine.send(RawRequest(to: place, Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)))
    }
    #expect(error?.code == .addressRefused)
    #expect(origin.connectionCount == 0)
  }

  @Test("an address policy refuses the Unix sockets in URLs and in the engine's settings")
  func unixSockets() async throws {
    expectRefusal(try await engine(.publicOnly).record("http+unix://%2Frun%2Fdocker.sock/"))
    expectRefusal(try await engine(.publicOnly) { $0.socketPath = "/run/docker.sock" }.record("http://name.example/"))
    let allowing = AddressPolicy(others: .none, allowsUnixSockets: true)
    let error = try await engine(allowing).record("http+unix://%2Fnone%2Fsocket/").error
    #expect(error?.code == .connectFailed)
  }

  @Test("an engine with an address policy doesn't use a connection that was opened without the policy")
  func otherEngine() async throws {
    let origin = try OriginServer.serving { _ in .text("") }
    defer { origin.stop() }
    let open = try engine(.all)
    #expect(try await open.record("\(origin.url)/").head?.status == 200)
    #expect(await open.counters().total.idle == 1)
    expectRefusal(try await engine(.publicOnly).record("\(origin.url)/"))
    #expect(origin.requestCount == 1)
  }

  // MARK: Proxies

  @Test(
    "an engine with an address policy uses a proxy only if the policy allows proxies",
    arguments: [Proxy.Scheme.http, .socks5, .socks5h])
  func proxies(scheme: Proxy.Scheme) async throws {
    let proxy = try OriginServer.serving { _ in .text("") }
    defer { proxy.stop() }
    let place = try Proxy(scheme, host: "127.0.0.1", port: proxy.port)
    for policy in [AddressPolicy.publicOnly, .only(["0.0.0.0/0"])] {
      let engine = try engine(policy) { $0.proxy = .fixed(place) }
      expectRefusal(try await engine.record("http://8.8.8.8/"), .proxy)
      expectRefusal(try await engine.record("https://8.8.8.8/"), .proxy)
      // The same applies to a proxy that a single request's settings select.
      var own = try request("http://8.8.8.8/")
      own.connection = ConnectionSettings()
      own.connection?.proxy = .fixed(place)
      expectRefusal(try await self.engine(policy).record(own), .proxy)
    }
    #expect(proxy.connectionCount == 0)
  }

  @Test("the address policy checks the address of an allowed proxy, but not of the origin to which the proxy connects")
  func proxyAddress() async throws {
    let proxy = try OriginServer.serving { .text($0.target) }
    defer { proxy.stop() }
    let place = try Proxy(.http, host: "127.0.0.1", port: proxy.port)
    var policy = AddressPolicy(others: .publicOnly, allowsProxies: true)
    expectRefusal(try await engine(policy) { $0.proxy = .fixed(place) }.record("http://8.8.8.8/"))
    #expect(proxy.connectionCount == 0)
    policy.allowed = ["127.0.0.1"]
    let target = try await engine(policy) { $0.proxy = .fixed(place) }.record("http://10.0.0.1/").text
    #expect(target == "http://10.0.0.1/")
  }

  @Test("the address policy checks the address that the engine looks up and passes to a SOCKS proxy")
  func socksDestination() async throws {
    let proxy = ProxySettings.fixed(try Proxy(.socks5, host: "8.8.4.4", port: 1080))
    let policy = AddressPolicy(others: .publicOnly, allowsProxies: true)
    let stage = stage(policy, [["10.0.0.1"], ["8.8.8.8"]], proxy: proxy)
    let sink = try start(stage)
    try #require(sink.finished.isOpen)
    expectRefusal(await sink.outcome)
    #expect(stage.network.addresses.isEmpty)
    _ = try start(stage)
    #expect(stage.network.addresses.map(\.description) == ["8.8.4.4:1080"])
  }
}
