// FailureTests: errors of real servers: truncated responses, refusals and silence.

import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@Suite("Failures of real servers", .timeLimit(.minutes(10)))
struct FailureTests {
  @Test(
    "a truncated response body causes an error",
    arguments: [
      (Server.apache, "/drop/length"), (.apache, "/drop/chunked"), (.nginx, "/drop/length"), (.nginx, "/drop/chunked"),
    ])
  func dropped(server: Server, path: String) async throws {
    let engine = try Engine.forServers()
    let error = try await engine.failure(server, path)
    #expect(error.code == .connectionLost)
    #expect(error.phase == .receive)
    #expect(error.progress == .responseBegan)
    guard case .wire(.truncatedBody(let missing)) = error.cause else {
      Issue.record("\(error)")
      return
    }
    #expect(missing == (path == "/drop/length" ? 95 : nil))
    #expect(error.description.contains(server == .apache ? "http://127.0.0.1:28083" : "http://127.0.0.1:28082"))
    // The bytes received before the error were delivered.
    let sink = CountingSink()
    engine.submit(EngineRequest(uri: try await server.uri(path)), to: sink)
    await sink.finished.wait()
    #expect(sink.status == 200)
    #expect(sink.receivedCount == 5)
    #expect(sink.error?.code == .connectionLost)
  }

  @Test("a truncated response head causes an error, or is turned into a 502 by a reverse proxy")
  func droppedHead() async throws {
    let engine = try Engine.forServers()
    let error = try await engine.failure(.apache, "/drop/head")
    #expect(error.code == .connectionLost)
    #expect(error.progress == .responseBegan)
    guard case .wire(.truncatedHead(let received)) = error.cause else {
      Issue.record("\(error)")
      return
    }
    #expect(received == 27)
    #expect(try await engine.collect(.nginx, "/drop/head").status == 502)
  }

  @Test(
    "if a server closes a new connection without a response, the request fails, and the client doesn't replay it",
    arguments: [(Server.nginx, "/empty"), (.refusing, "/reject")])
  func noReply(server: Server, path: String) async throws {
    let engine = try Engine.forServers()
    // On a new connection, the client doesn't replay the request.
    let fresh = try await engine.failure(server, path)
    #expect(fresh.code == .connectionLost)
    #expect(fresh.phase == .firstByte)
    #expect(fresh.progress == .sent)
    #expect(!fresh.wasReused)
    // On a reused connection, the client replays GET on a new connection, but not POST.
    let good = server == .nginx ? "/hello" : "/"
    for (method, isReplayed) in [("GET", true), ("POST", false)] {
      #expect(try await engine.collect(server, good).status == 200)
      let error = try await engine.failure(server, path, method: method)
      #expect(error.code == .connectionLost)
      #expect(error.wasReused == !isReplayed, "\(method)")
    }
  }

  @Test("a connection reset immediately after connecting causes an error without delay")
  func reset() async throws {
    let engine = try Engine.forServers()
    let bodies = [RequestBody(), RequestBody(PatternBytes.make(5_000_000))]
    for round in 0..<20 {
      let error = try await engine.failure(.slammed, "/", method: "PUT", body: bodies[round % 2])
      // The reset may arrive before or after the engine has noticed that the connection is open.
      #expect([.connectionLost, .connectFailed].contains(error.code), "\(error)")
      #expect(error.phase == .connect || error.code == .connectionLost, "\(error)")
      #expect(error.progress != .responseBegan)
      switch error.cause {
      case .system(let system): #expect(system.isConnectionReset, "\(error)")
      // If sending the request has consumed the error of the reset, reading returns the end of the connection.
      case .wire(.truncatedHead(received: 0)): break
      default: Issue.record("\(error)")
      }
      #expect(error.description.hasPrefix("http://127.0.0.1:28088: "))
    }
  }

  @Test("the client reports a connection reset before the TLS handshake as a connection error, not as a TLS error")
  func resetTLS() async throws {
    try Server.slammed.require()
    let error = try await Engine.forServers().failure(EngineRequest(uri: try URI("https://127.0.0.1:28088/")))
    #expect([.connectFailed, .connectionLost].contains(error.code))
    #expect(error.phase == (error.code == .connectFailed ? .connect : .tls))
    #expect(error.progress == .nothingSent)
  }

  @Test(
    "the client delivers a response with an error status, such as 403 or 503, without an error",
    arguments: [
      (Server.unavailable, "/", 503), (.refusing, "/limit", 429), (.refusing, "/deny", 403), (.refusing, "/", 200),
      (.caddy, "/gone", 502), (.apache, "/denied", 403), (.nginx, "/nowhere", 404),
    ])
  func refusals(server: Server, path: String, status: Int) async throws {
    let response = try await Engine.forServers().collect(server, path)
    #expect(response.status == status)
    #expect(response.field("Retry-After") == (status == 429 ? "1" : nil))
  }

  @Test("the client receives a response that is delayed by a second unless the time limit is shorter")
  func tarpit() async throws {
    let engine = try Engine.forServers()
    async let patient = engine.collect(.refusing, "/tarpit")
    let error = try await engine.failure(.refusing, "/tarpit") { $0.timeouts.firstByte = .milliseconds(200) }
    #expect(error.code == .timedOut)
    #expect(error.phase == .firstByte)
    #expect(error.progress == .sent)
    #expect(error.description.contains("the server didn't respond within 0.2 s"))
    let response = try await patient
    #expect(response.status == 500)
    let metric = try response.metric
    let (sent, answered) = (try #require(metric.requestEnd), try #require(metric.responseStart))
    #expect(answered - sent > .milliseconds(900))
  }

  @Test("a slow response body exceeds the total time limit, and a long pause in the body exceeds the idle time limit")
  func slow() async throws {
    let engine = try Engine.forServers()
    let error = try await engine.failure(.nginx, "/slow") {
      $0.timeouts = Timeouts(everyPhase: .seconds(60), total: .seconds(6))
    }
    #expect(error.code == .timedOut)
    #expect(error.phase == .receive)
    #expect(error.progress == .responseBegan)
    guard case .totalLimit(.seconds(6)) = error.cause else {
      Issue.record("\(error)")
      return
    }
    let pause = try await engine.failure(.httpbin, "/drip?duration=2&numbytes=2&delay=0") {
      $0.timeouts.idle = .milliseconds(200)
    }
    #expect(pause.code == .timedOut)
    #expect(pause.phase == .receive)
  }

  @Test("a refused connection causes an error in the phase connect")
  func refused() async throws {
    // Port 1 on loopback is unused; only root could listen there.
    for host in ["127.0.0.1", "localhost"] {
      let error = try await Engine.forServers().failure(EngineRequest(uri: try URI("http://\(host):1/")))
      #expect(error.code == .connectionRefused)
      #expect(error.phase == .connect)
      #expect(error.progress == .nothingSent)
      guard case .system(let system) = error.cause else {
        Issue.record("\(error)")
        continue
      }
      #expect(system.isConnectionRefused)
    }
  }

  @Test("an https request to a plain HTTP port fails, and an http request to a TLS port gets a 400 response")
  func otherProtocols() async throws {
    try Server.socks.require()
    try Server.nginx.require()
    let engine = try Engine.forServers()
    let tls = try await engine.failure(EngineRequest(uri: try URI("https://127.0.0.1:28082/")))
    #expect(tls.code == .tlsFailed)
    #expect(tls.phase == .tls)
    guard case .tls(let cause) = tls.cause else {
      Issue.record("\(tls)")
      return
    }
    #expect(cause.code == .notTLS)
    // nginx answers plain HTTP on its TLS port with plain HTTP.
    let plain = try await engine.collect(EngineRequest(uri: try URI("http://127.0.0.1:28443/")))
    #expect(plain.status == 400)
    #expect(plain.text.contains("plain HTTP request was sent to HTTPS port"))
  }
}
