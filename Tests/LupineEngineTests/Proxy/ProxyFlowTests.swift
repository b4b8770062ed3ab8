// ProxyFlowTests: requests through scripted proxies: what the proxy and the origin receive.

import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@Suite("Requests through a proxy", .timeLimit(.minutes(10)))
struct ProxyFlowTests {
  private func engine(_ proxy: OriginServer, _ scheme: Proxy.Scheme, user: String? = nil) throws -> Engine {
    var configuration = EngineConfiguration()
    let place = try Proxy(scheme, host: "127.0.0.1", port: proxy.port, user: user, password: user == nil ? "" : "pw")
    configuration.proxy = .fixed(place)
    return try Engine(configuration: configuration)
  }

  @Test("a proxy receives an http request in absolute form, with the proxy's credentials instead of the caller's")
  func forward() async throws {
    let heads = Mutex<[String]>([])
    let proxy = try OriginServer { peer in
      while let request = try peer.readRequest() {
        heads.withLock { $0.append(String(decoding: request.rawHead, as: UTF8.self)) }
        try peer.respond(body: Array("from the proxy".utf8))
      }
    }
    defer { proxy.stop() }
    let engine = try engine(proxy, .http, user: "me")
    let request = EngineRequest(
      uri: try URI("http://origin.example:8080/path?q=1#f"),
      fields: ["Proxy-Authorization": "Basic Zm9yOm90aGVy", "Authorization": "Bearer x"])
    for _ in 0..<2 { #expect(await engine.record(request).text == "from the proxy") }
    let head = try #require(heads.withLock { $0.last })
    #expect(head.hasPrefix("GET http://origin.example:8080/path?q=1 HTTP/1.1\r\nHost: origin.example:8080\r\n"))
    #expect(head.contains("Proxy-Authorization: Basic bWU6cHc=\r\n"))
    #expect(!head.contains("Zm9y"))
    #expect(head.contains("Authorization: Bearer x\r\n"))
    #expect(proxy.connectionCount == 1)
  }

  @Test("requests to different origins through the same proxy don't share connections")
  func notShared() async throws {
    let proxy = try OriginServer.serving { .text($0.target) }
    defer { proxy.stop() }
    let engine = try engine(proxy, .http)
    #expect(try await engine.record("http://a.example/").text == "http://a.example/")
    #expect(try await engine.record("http://b.example/").text == "http://b.example/")
    #expect(proxy.connectionCount == 2)
  }

  @Test("an https request uses a tunnel through the proxy, which sees neither the request target nor the fields")
  func connect() async throws {
    let identity = try ServerIdentity.throwaway()
    let seen = Mutex<[String]>([])
    let proxy = try OriginServer { peer in
      guard let request = try peer.readHead() else { return }
      seen.withLock { $0.append(String(decoding: request.rawHead, as: UTF8.self)) }
      try peer.send("HTTP/1.1 200 Connection established\r\nContent-Length: 5\r\n\r\n")
      try peer.startTLS(identity)
      while let inner = try peer.readRequest() {
        try peer.respond(body: Array("\(inner.target) \(inner.fields.first("Proxy-Authorization") ?? "-")".utf8))
      }
    }
    defer { proxy.stop() }
    var configuration = EngineConfiguration()
    configuration.proxy = .fixed(try Proxy(.http, host: "127.0.0.1", port: proxy.port, user: "me", password: "pw"))
    configuration.tls = TLSConfiguration(trustRoots: [.pem(identity.authorityPEM)])
    let engine = try Engine(configuration: configuration)
    let request = EngineRequest(
      uri: try URI("https://localhost/secret"),
      fields: ["Authorization": "Bearer x", "Proxy-Authorization": "Basic other"])
    let record = await engine.record(request)
    #expect(record.text == "/secret -")
    #expect(
      seen.withLock { $0 } == [
        "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\nProxy-Authorization: Basic bWU6cHc=\r\n\r\n"
      ])
    let metrics = try #require(record.metrics)
    #expect(metrics.proxyStart != nil && metrics.proxyEnd != nil && metrics.tlsEnd != nil)
    #expect(metrics.proxy?.user == "me")
  }

  @Test(
    "for an http request, SOCKS 5 with user name and password connects to the host's name or address",
    arguments: [Proxy.Scheme.socks5, .socks5h])
  func socks(scheme: Proxy.Scheme) async throws {
    let seen = Mutex<[[UInt8]]>([])
    let proxy = try OriginServer { peer in
      let greeting = try peer.receive()
      seen.withLock { $0.append(greeting) }
      try peer.send([5, 2])
      let credentials = try peer.receive()
      seen.withLock { $0.append(credentials) }
      try peer.send([1, 0])
      let request = try peer.receive()
      seen.withLock { $0.append(request) }
      try peer.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
      while let request = try peer.readRequest() { try peer.respond(body: Array(request.target.utf8)) }
    }
    defer { proxy.stop() }
    let engine = try engine(proxy, scheme, user: "me")
    for _ in 0..<2 { #expect(try await engine.record("http://localhost:81/x").text == "/x") }
    let said = seen.withLock { $0 }
    #expect(said.count == 3)
    #expect(said[0] == [5, 2, 0, 2])
    #expect(said[1] == [1, 2] + Array("me".utf8) + [2] + Array("pw".utf8))
    if scheme == .socks5h {
      #expect(said[2] == [5, 1, 0, 3, 9] + Array("localhost".utf8) + [0, 81])
    } else {
      #expect(said[2] == [5, 1, 0, 1, 127, 0, 0, 1, 0, 81] || said[2].starts(with: [5, 1, 0, 4]))
    }
  }

  @Test(
    "SOCKS 4a connects to the host's name or IPv4 address without a lookup, for http and for https",
    arguments: [false, true])
  func socks4a(isEncrypted: Bool) async throws {
    let identity = try ServerIdentity.throwaway()
    let seen = Mutex<[[UInt8]]>([])
    let proxy = try OriginServer { peer in
      let request = try peer.receive()
      seen.withLock { $0.append(request) }
      try peer.send([0, 90, 0, 0, 0, 0, 0, 0])
      if isEncrypted { try peer.startTLS(identity) }
      while let request = try peer.readRequest() { try peer.respond(body: Array(request.target.utf8)) }
    }
    defer { proxy.stop() }
    var configuration = EngineConfiguration()
    configuration.proxy = .fixed(try Proxy(.socks4a, host: "127.0.0.1", port: proxy.port, user: "me"))
    configuration.tls = TLSConfiguration(trustRoots: [.pem(identity.authorityPEM)])
    let engine = try Engine(configuration: configuration)
    for host in ["localhost", "127.0.0.1"] {
      for isReused in [false, true] {
        let record = try await engine.record("\(isEncrypted ? "https" : "http")://\(host):81/x")
        #expect(record.text == "/x")
        let metrics = try #require(record.metrics)
        #expect(metrics.isReusedConnection == isReused && (metrics.proxyEnd == nil) == isReused)
        #expect(metrics.resolveStart == nil && (metrics.tls != nil) == isEncrypted)
      }
    }
    let (name, address): ([UInt8], [UInt8]) = ([4, 1, 0, 81, 0, 0, 0, 1], [4, 1, 0, 81, 127, 0, 0, 1])
    #expect(seen.withLock { $0 } == [name + Array("me\0localhost\0".utf8), address + Array("me\0".utf8)])
  }

  @Test("if a SOCKS 4a proxy refuses the connection, the request fails with the proxy's code, and nothing was sent")
  func socks4aRefused() async throws {
    let proxy = try OriginServer { peer in
      _ = try peer.receive()
      try peer.send([0, 91, 0, 0, 0, 0, 0, 0])
      let ending = try peer.awaitClose()
      #expect(ending.byteCount == 0)
    }
    defer { proxy.stop() }
    let record = try await engine(proxy, .socks4a).record("http://origin.example/")
    let error = try #require(record.error)
    #expect(error.code == .proxyFailed && error.phase == .proxy && error.progress == .nothingSent)
    guard case .proxy(let refusal)? = error.cause else { throw error }
    #expect(refusal.cause == .refusedBySOCKS4(91))
  }

  @Test("the engine reaches hosts on the proxy bypass list without the proxy")
  func bypass() async throws {
    let proxy = try OriginServer.serving { _ in .text("proxy") }
    defer { proxy.stop() }
    let origin = try OriginServer.serving { _ in .text("origin") }
    defer { origin.stop() }
    var configuration = EngineConfiguration()
    configuration.proxy = .fixed(
      try Proxy(.http, host: "127.0.0.1", port: proxy.port), bypass: ProxyBypass("127.0.0.0/8"))
    let engine = try Engine(configuration: configuration)
    #expect(try await engine.record(origin.url).text == "origin")
    #expect(try await engine.record("http://origin.example/").text == "proxy")
  }
}
