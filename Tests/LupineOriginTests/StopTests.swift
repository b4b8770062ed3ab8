// StopTests: stop() ends the server's threads in any state.

import LupineReactor
import Testing

@testable import LupineOrigin

/// The call in which a server's handler is blocked when the test stops the server.
private enum Blocked: CaseIterable {
  case reading, sending, holding, gate, pause

  func run(_ peer: Peer) throws {
    switch self {
    case .reading: _ = try peer.readRequest()
    case .sending: while true { try peer.send(Pattern.block) }
    case .holding: _ = try peer.awaitClose()
    case .gate: try peer.wait(for: Gate())
    case .pause: try peer.pause(for: .seconds(3600))
    }
  }
}

struct StopTests {
  @Test(
    "stopping the test server ends every connection, whatever call its handler is blocked in", arguments: [false, true])
  func stop(withTLS: Bool) throws {
    let tls = withTLS ? try ServerIdentity.throwaway() : nil
    let server = try OriginServer(tls: tls) { peer in
      try Blocked.allCases[peer.connectionIndex % Blocked.allCases.count].run(peer)
    }
    var clients: [RawClient] = []
    for _ in Blocked.allCases {
      let client = try RawClient(server)
      if let tls { try client.startTLS(trusting: tls.authorityPEM) }
      clients.append(client)
    }
    // Ensures that the server has accepted every connection, and that the second one's handler has begun to send.
    #expect(try !clients[1].receive().isEmpty)
    server.stop()
    #expect(server.openConnectionCount == 0)
    for (index, client) in clients.enumerated() where index != 1 {
      // The connection ends with or without an error, but not with a timeout.
      do {
        _ = try client.receiveAll()
      } catch is RawClient.TimedOut {
        Issue.record("connection \(index) was left open")
      } catch {}
    }
    #expect(throws: SystemError.self) { try RawClient(server) }
    server.stop()
  }

  @Test("stopping the test server ends connections whose TLS handshake isn't complete")
  func stopInHandshake() throws {
    let server = try OriginServer(tls: .throwaway()) { _ in }
    let silent = try RawClient(server)
    let garbling = try RawClient(server)
    try garbling.send("GET / HTTP/1.1\r\n\r\n")
    _ = try? garbling.receiveAll()
    server.stop()
    #expect(server.connectionCount == 2)
    #expect(try silent.receiveAll() == "")
  }

  @Test("deallocating the test server makes it stop listening")
  func dropped() throws {
    var server: OriginServer? = try OriginServer { _ in }
    let port = try #require(server?.port)
    server = nil
    #expect(throws: SystemError.self) { try RawClient(port: port) }
  }

  @Test("awaitClose tells the test server's handler if the server was stopped")
  func ending() async throws {
    let seen = HandlerRecord()
    let isWaiting = Gate()
    let server = try OriginServer { peer in
      isWaiting.open()
      seen.set(try peer.awaitClose())
    }
    let client = try RawClient(server)
    await isWaiting.wait()
    server.stop()
    #expect(seen.ending == Peer.Ending(cause: .stopped, byteCount: 0))
    #expect(try client.receiveAll() == "")
  }
}
