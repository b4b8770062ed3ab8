// Keep-alive: reuse of connections, and replays when the server has closed an idle connection.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct KeepAliveTests {
  @Test("consecutive requests share one connection unless the client or the server closes the connection")
  func reuse() async throws {
    try await withServer { request in
      request.path == "/close" ? Reply(fields: ["Connection": "close"], .bytes([1])) : .text("here")
    } _: { origin in
      try await withSession { session in
        for _ in 0..<5 { #expect(await session.request(origin.url).outcome().error == nil) }
        #expect(origin.connectionCount == 1)
        #expect(await session.request(origin.url + "/close").outcome().error == nil)
        #expect(origin.connectionCount == 1)
        #expect(await session.request(origin.url, headers: ["Connection": "close"]).outcome().error == nil)
        #expect(origin.connectionCount == 2)
        #expect(await session.request(origin.url).outcome().error == nil)
        #expect(origin.connectionCount == 3)
      }
    }
  }

  @Test("a connection isn't reused after nginx has sent Connection: close")
  func nginxClose() async throws {
    let base = try await TestServers.nginx
    try await withSession { session in
      #expect(await session.request(base + "/close").serializingString().response.value == "bye\n")
      let second = await session.request(base + "/small.txt").outcome()
      #expect(second.metrics?.transactionMetrics.first?.isReusedConnection == false)
    }
  }

  @Test(
    "after the server has closed an idle connection, the next request opens a new one and succeeds",
    arguments: [HTTPMethod.get, .post])
  func closedBetween(method: HTTPMethod) async throws {
    let closed = Recorder<Void>()
    try await withOrigin { peer in
      _ = try peer.readRequest()
      try peer.respond(body: [1])
      peer.close()
      closed.record(())
    } _: { origin in
      try await withSession { session in
        for round in 1...20 {
          #expect(await session.request(origin.url, method: method).outcome().error == nil)
          _ = await closed.next()
          // By the time a request to another origin completes, the event loop has noticed that the first connection was closed.
          let other = try await TestServers.nginx
          #expect(await session.request(other + "/hello").outcome().error == nil)
          #expect(origin.connectionCount == round)
        }
      }
    }
  }

  /// A server's handler. On the first connection, it answers the first request, and closes the connection without a response
  /// to the second. On further connections, it answers all requests with "again".
  private static func closesOnSecond(_ peer: Peer) throws {
    guard peer.connectionIndex == 0 else { return try peer.serve { _ in .text("again") } }
    _ = try peer.readRequest()
    try peer.respond(body: Array("first".utf8))
    _ = try peer.readRequest()
    peer.close()
  }

  @Test(
    "an idempotent request is replayed if a reused connection closes before a response",
    arguments: [HTTPMethod.get, .put, .delete, .head])
  func replay(method: HTTPMethod) async throws {
    try await withOrigin(Self.closesOnSecond) { origin in
      try await withSession { session in
        #expect(await session.request(origin.url).serializingString().response.value == "first")
        let body = method == .put ? Data("body".utf8) : nil
        let request = session.request(origin.url, method: method) { $0.httpBody = body }
        let response = await request.outcome()
        #expect(response.error == nil && response.response?.statusCode == 200)
        #expect(response.data == (method == .head ? nil : Data("again".utf8)))
        #expect(origin.requestCount == 3 && origin.connectionCount == 2)
        #expect(request.tasks.count == 1 && response.metrics?.transactionMetrics.count == 1)
        #expect(response.metrics?.transactionMetrics.first?.isReusedConnection == false)
      }
    }
  }

  @Test("a request that was suspended and resumed is replayed if a reused connection closes before a response")
  func replayAfterSuspension() async throws {
    let (arrived, steered) = (Gate(), Gate())
    try await withOrigin { peer in
      guard peer.connectionIndex == 0 else { return try peer.serve { _ in .text("again") } }
      _ = try peer.readRequest()
      try peer.respond(body: Array("first".utf8))
      _ = try peer.readRequest()
      arrived.open()
      try peer.wait(for: steered)
      peer.close()
    } _: { origin in
      try await withServer { _ in
        Reply()
      } _: { other in
        try await withSession { session in
          #expect(await session.request(origin.url).serializingString().response.value == "first")
          let request = session.request(origin.url)
          async let response = request.outcome()
          await arrived.wait()
          request.suspend().resume()
          // This request runs on the same event loop, so the loop has processed suspend and resume before the response.
          #expect(await session.request(other.url).outcome().error == nil)
          steered.open()
          let replayed = await response
          #expect(replayed.error == nil && replayed.value == Data("again".utf8), "\(replayed)")
        }
      }
    }
  }

  @Test("a POST isn't replayed if a reused connection closes before a response, because it may have been processed")
  func noReplay() async throws {
    try await withOrigin(Self.closesOnSecond) { origin in
      try await withSession { session in
        #expect(await session.request(origin.url).serializingString().response.value == "first")
        let response = await session.request(origin.url, method: .post, parameters: ["a": "b"]).outcome()
        let error = try expectTransferError(response.error, .networkConnectionLost, .connectionLost, origin.url)
        #expect(error.wasReused && error.progress == .sent)
        #expect(origin.requestCount == 2 && origin.connectionCount == 1)
        #expect(await session.request(origin.url).serializingString().response.value == "again")
      }
    }
  }

  @Test("a GET isn't replayed once part of its response has arrived")
  func noReplayAfterBytes() async throws {
    try await withOrigin { peer in
      _ = try peer.readRequest()
      try peer.respond(body: Array("first".utf8))
      _ = try peer.readRequest()
      try peer.send("HTTP/1.1 200")
    } _: { origin in
      try await withSession { session in
        #expect(await session.request(origin.url).serializingString().response.value == "first")
        let response = await session.request(origin.url).outcome()
        let error = try expectTransferError(response.error, .networkConnectionLost, .connectionLost)
        #expect(error.progress == .responseBegan)
        #expect(origin.requestCount == 2)
      }
    }
  }

  @Test("a session opens at most httpMaximumConnectionsPerHost connections, and all waiting requests succeed")
  func limit() async throws {
    try await withServer { request in
      .text(request.path)
    } _: { origin in
      try await withSession {
        $0.httpMaximumConnectionsPerHost = 2
      } _: { session in
        let paths = (0..<60).map { "/\($0)" }
        let tasks = paths.map { session.request(origin.url + $0).serializingString() }
        for (path, task) in zip(paths, tasks) { #expect(await task.response.value == path) }
        #expect(origin.connectionCount <= 2 && origin.requestCount == 60)
      }
    }
  }

  @Test("a response that arrives before the request's body has been sent is delivered")
  func earlyAnswer() async throws {
    try await withOrigin { peer in
      _ = try peer.readHead()
      try peer.respond(status: 413, fields: ["Connection": "close"], body: Array("too large".utf8))
      peer.finishSending()
      _ = try peer.awaitClose()
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url, method: .post) { $0.httpBody = Data(count: 32 << 20) }
          .outcome()
        #expect(response.response?.statusCode == 413 && response.value == Data("too large".utf8))
      }
    }
  }
}
