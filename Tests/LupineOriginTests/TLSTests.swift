// TLSTests: the origin server through TLS, and each way in which a TLS connection ends.

import LupineLoopback
import LupineReactor
import LupineTLS
import Testing

@testable import LupineOrigin

struct TLSTests {
  @Test("the test server serves requests over TLS, with a large request body and a large response")
  func roundTrip() throws {
    let tls = try ServerIdentity.throwaway()
    let server = try OriginServer.serving(tls: tls, DemoRoutes.reply)
    defer { server.stop() }
    #expect(server.url == "https://localhost:\(server.port)")
    let client = try RawClient(server)
    try client.startTLS(trusting: tls.authorityPEM)
    try client.send("GET /json HTTP/1.1\r\n\r\n")
    #expect(try client.receive(through: "}").contains("Fabaceae"))
    let body = String(repeating: "x", count: 1_000_000)
    try client.send("POST /echo HTTP/1.1\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    let answer = try client.receiveAll()
    #expect(answer.contains(body))
    #expect(answer.hasSuffix("\"bodyBytes\":1000000}"))
    #expect(server.requestCount == 2)
  }

  @Test(
    "the test server's handler can read the negotiated TLS version",
    arguments: [(TLSVersion.v1_2, "TLSv1.2"), (.v1_3, "TLSv1.3")])
  func info(version: TLSVersion, name: String) throws {
    let tls = try ServerIdentity.throwaway(versions: version...version)
    let server = try OriginServer(tls: tls) { peer in
      try peer.send(peer.tlsInfo?.protocolVersion ?? "no TLS")
    }
    defer { server.stop() }
    let client = try RawClient(server)
    try client.startTLS(trusting: tls.authorityPEM)
    #expect(try client.receiveAll() == name)
  }

  @Test("unencrypted bytes that the test server sends on a TLS connection cause an error in the client")
  func pastTLS() throws {
    let tls = try ServerIdentity.throwaway()
    let server = try OriginServer(tls: tls) { peer in
      try peer.send("encrypted")
      _ = try peer.receive()
      try peer.sendUnencrypted(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
    }
    defer { server.stop() }
    let client = try RawClient(server)
    try client.startTLS(trusting: tls.authorityPEM)
    #expect(String(decoding: try client.receive(), as: UTF8.self) == "encrypted")
    try client.send("go on")
    let error = #expect(throws: TLSError.self) { try client.receive() }
    #expect(error?.code == .protocolViolation)
  }

  @Test("the test server's handler can close a TLS connection with or without close_notify", arguments: [false, true])
  func closing(notifies: Bool) throws {
    let tls = try ServerIdentity.throwaway()
    let server = try OriginServer(tls: tls) { peer in
      try peer.send("bye")
      if notifies { peer.close() } else { peer.finishSendingWithoutNotify() }
    }
    defer { server.stop() }
    let client = try RawClient(server)
    try client.startTLS(trusting: tls.authorityPEM)
    #expect(String(decoding: try client.receive(), as: UTF8.self) == "bye")
    if notifies {
      #expect(try client.receive() == [])
    } else {
      let error = #expect(throws: TLSError.self) { try client.receive() }
      #expect(error?.code == .truncated)
    }
  }

  @Test("awaitClose tells the test server's handler whether the client sent close_notify", arguments: [false, true])
  func awaitClose(notifies: Bool) async throws {
    let tls = try ServerIdentity.throwaway()
    let seen = HandlerRecord()
    let hasLeft = Gate()
    let server = try OriginServer(tls: tls) { peer in
      seen.set(try peer.awaitClose())
      hasLeft.open()
    }
    let client = try RawClient(server)
    try client.startTLS(trusting: tls.authorityPEM)
    try client.send("last")
    try client.finishSending(notifying: notifies)
    await hasLeft.wait()
    server.stop()
    #expect(seen.ending == Peer.Ending(cause: notifies ? .closed : .truncated, byteCount: 4))
  }

  @Test("if a client doesn't trust the test server's certificate, the server doesn't call its handler")
  func untrusted() throws {
    let server = try OriginServer(tls: .throwaway()) { _ in Issue.record("the handler was called") }
    defer { server.stop() }
    let client = try RawClient(server)
    let error = #expect(throws: TLSError.self) {
      try client.startTLS(trusting: ThrowawayAuthority(commonName: "Somebody else").certificatePEM)
    }
    #expect(error?.code == .unknownAuthority)
  }

  @Test("the test server's handler can start TLS after an unencrypted request such as CONNECT")
  func connect() throws {
    let tls = try ServerIdentity.throwaway()
    let server = try OriginServer { peer in
      guard try peer.readRequest()?.method == "CONNECT" else { return }
      try peer.send("HTTP/1.1 200 Connected\r\n\r\n")
      try peer.startTLS(tls)
      try peer.serve(DemoRoutes.reply)
    }
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send("CONNECT localhost:443 HTTP/1.1\r\n\r\n")
    #expect(try client.receive(through: "\r\n\r\n") == "HTTP/1.1 200 Connected\r\n\r\n")
    try client.startTLS(trusting: tls.authorityPEM)
    try client.send("GET /status/418 HTTP/1.1\r\nConnection: close\r\n\r\n")
    #expect(try client.receiveAll().hasPrefix("HTTP/1.1 418"))
  }
}
