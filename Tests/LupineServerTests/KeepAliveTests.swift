// KeepAliveTests: reuse of connections, and connections that a server closes after a response or while idle.

import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@Suite("Persistent connections", .timeLimit(.minutes(10)))
struct KeepAliveTests {
  @Test("the client sends 200 consecutive requests on one connection", arguments: Server.all + [.nginxTLS, .caddyTLS])
  func twoHundred(server: Server) async throws {
    let engine = try Engine.forServers()
    let uri = try await server.uri(server.smallPage)
    var connections: Set<UInt64> = []
    var reuses = 0
    for _ in 0..<200 {
      let response = try await engine.collect(EngineRequest(uri: uri))
      #expect(response.text == "small\n")
      let metric = try response.metric
      connections.insert(try #require(metric.connectionID))
      reuses += metric.isReusedConnection ? 1 : 0
      #expect(metric.replayCount == 0)
      #expect(metric.isReusedConnection == (metric.connectStart == nil))
    }
    #expect(connections.count == 1)
    #expect(reuses == 199)
  }

  @Test("the client reuses a connection after a response with any body framing that has an end", arguments: Server.all)
  func mixedFramings(server: Server) async throws {
    let engine = try Engine.forServers()
    let pages: [(String, Fields)] =
      server == .httpbin
      ? [
        ("/stream/5", [:]), ("/gzip", [:]), ("/status/204", [:]), ("/bytes/1000?seed=1", [:]),
        ("/drip?duration=0&numbytes=9", [:]),
      ]
      : [("/text.txt", ["Accept-Encoding": "gzip"]), ("/text.txt", [:]), ("/nowhere", [:]), ("/small.txt", [:])]
    for (path, fields) in pages + pages {
      let response = try await engine.collect(server, path, fields: fields)
      #expect(try response.metric.connectionID == 1, "\(path)")
    }
  }

  @Test("haproxy keeps its connection to the client even if it closes its server connection after each request")
  func haproxyClosesBehind() async throws {
    let engine = try Engine.forServers()
    for path in ["/small.txt", "/hello", "/json", "/text.txt", "/nowhere"] {
      #expect(try await engine.collect(.haproxy, path).metric.connectionID == 1, "\(path)")
    }
  }

  @Test(
    "Connection: close in the request or in the response closes the connection", arguments: [Server.nginx, .haproxy])
  func close(server: Server) async throws {
    let engine = try Engine.forServers()
    let first = try await engine.collect(server, "/close")
    #expect(first.text == "bye\n")
    let second = try await engine.collect(server, "/hello", fields: ["Connection": "close"])
    #expect(second.text == "Hello, world!")
    #expect(second.field("Connection") == "close")
    let third = try await engine.collect(server, "/hello")
    #expect(try third.metric.isReusedConnection == false)
    // haproxy removes nginx's "Connection: close", which applies to nginx's connection.
    #expect(try second.metric.isReusedConnection == (server == .haproxy))
  }

  @Test(
    "if the server closes an idle connection after a timeout, later requests still succeed", arguments: ["GET", "POST"])
  func closedWhileIdle(method: String) async throws {
    let engine = try Engine.forServers()
    let body = RequestBody(method == "POST" ? "x" : "")
    for round in 1...2 {
      let response = try await engine.collect(.nginx, "/brief", method: method, body: body)
      #expect(response.text == "brief\n")
      let metric = try response.metric
      #expect(metric.connectionID == UInt64(round))
      #expect(metric.isReusedConnection == false)
      #expect(metric.replayCount == 0)
      let port = try #require(metric.localAddress?.port)
      // nginx closes the idle connection after 200 ms, and the client then closes its end.
      #expect(try await KernelConnection.closes(from: port, to: .nginx))
    }
  }

  @Test("requests to two host names with the same address don't share connections")
  func perHost() async throws {
    let engine = try Engine.forServers()
    let first = try await engine.collect(EngineRequest(uri: try await Server.nginx.uri("/hello")))
    let second = try await engine.collect(EngineRequest(uri: try await Server.nginx.uri("/hello", host: "localhost")))
    #expect(try first.metric.connectionID != second.metric.connectionID)
    #expect(try second.metric.resolveStart != nil && first.metric.resolveStart == nil)
    #expect(try second.metric.isReusedConnection == false)
  }
}
