// ConnectionReuseTests: which requests share a connection, and what happens when a reused one turns out to be closed.

import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@Suite struct ConnectionReuseTests {
  @Test("consecutive requests to an origin use the same connection")
  func reuse() async throws {
    let origin = try OriginServer.serving { _ in .text("hello") }
    defer { origin.stop() }
    let engine = try Engine()
    let records = [try await engine.record("\(origin.url)/1"), try await engine.record("\(origin.url)/2")]
    #expect(records.map(\.metrics?.isReusedConnection) == [false, true])
    #expect(records[1].metrics?.connectStart == nil)
    #expect(origin.connectionCount == 1)
  }

  @Test("requests beyond the connection limit wait for a connection, and all of them succeed")
  func waiters() async throws {
    let origin = try OriginServer.serving { .text($0.path) }
    defer { origin.stop() }
    var configuration = EngineConfiguration()
    configuration.pool.connectionsPerOriginMax = 3
    let engine = try Engine(configuration: configuration)
    let sinks = try (0..<50).map { number in
      let sink = RecordingSink()
      engine.submit(EngineRequest(uri: try URI("\(origin.url)/\(number)")), to: sink)
      return sink
    }
    for (number, sink) in sinks.enumerated() {
      #expect(await sink.outcome.text == "/\(number)")
    }
    #expect(origin.connectionCount <= 3)
  }

  @Test("if the server closes an idle connection, the next request still succeeds")
  func evictedWhileIdle() async throws {
    let closed = Gate()
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.respond(body: Array("\(peer.connectionIndex)".utf8))
      peer.close()
      if peer.connectionIndex == 0 { closed.open() }
    }
    defer { origin.stop() }
    let engine = try Engine()
    #expect(try await engine.record("\(origin.url)/").text == "0")
    await closed.wait()
    // This request succeeds whether or not the event loop has already noticed the close.
    #expect(try await engine.record("\(origin.url)/").text == "1")
  }

  /// Creates a server that closes the connection instead of answering the second request. It answers all other requests.
  private func forgetfulOrigin(_ seen: SeenRequests) throws -> OriginServer {
    try OriginServer { peer in
      while let request = try peer.readRequest() {
        let count = seen.add(request.method)
        if count == 2 { return }
        try peer.respond(body: Array("answer \(count)".utf8))
      }
    }
  }

  @Test("if a reused connection is lost before the response, the client replays an idempotent request")
  func replayed() async throws {
    let seen = SeenRequests()
    let origin = try forgetfulOrigin(seen)
    defer { origin.stop() }
    let engine = try Engine()
    _ = try await engine.record("\(origin.url)/")
    let record = try await engine.record("\(origin.url)/")
    #expect(record.text == "answer 3")
    #expect(record.metrics?.replayCount == 1)
    #expect(seen.methods == ["GET", "GET", "GET"])
  }

  @Test("the client never replays a POST that may have been processed")
  func notReplayed() async throws {
    let seen = SeenRequests()
    let origin = try forgetfulOrigin(seen)
    defer { origin.stop() }
    let engine = try Engine()
    _ = try await engine.record("\(origin.url)/")
    let post = EngineRequest(method: "POST", uri: try URI("\(origin.url)/"), body: RequestBody("pay"))
    let record = await engine.record(post)
    #expect(record.error?.code == .connectionLost)
    #expect(record.error?.progress == .sent)
    #expect(record.error?.wasReused == true)
    #expect(seen.methods == ["GET", "POST"])
  }

  @Test("if a new connection is lost before the response, the client doesn't replay the request, which fails")
  func freshConnectionIsNotReplayed() async throws {
    let origin = try OriginServer { peer in _ = try peer.readRequest() }
    defer { origin.stop() }
    let record = try await Engine().record("\(origin.url)/")
    #expect(record.error?.code == .connectionLost)
    #expect(origin.connectionCount == 1)
  }

  @Test("engines with different TLS settings don't share connections")
  func separateTrust() async throws {
    let identity = try ServerIdentity.throwaway()
    let origin = try OriginServer.serving(tls: identity) { _ in .text("secret") }
    defer { origin.stop() }
    var trusting = EngineConfiguration()
    trusting.tls.trustRoots = [.pem(identity.authorityPEM)]
    #expect(try await Engine(configuration: trusting).record("\(origin.url)/").text == "secret")
    #expect(try await Engine().record("\(origin.url)/").error?.code == .tlsFailed)
  }
}

/// Records the methods of the requests that a test server has read, in order.
final class SeenRequests: Sendable {
  private let list = Mutex<[String]>([])

  /// Records the method of a request. Returns the number of requests so far.
  func add(_ method: String) -> Int {
    list.withLock {
      $0.append(method)
      return $0.count
    }
  }

  var methods: [String] { list.withLock { $0 } }
}
