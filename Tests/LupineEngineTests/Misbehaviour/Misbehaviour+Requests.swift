// Misbehaviour+Requests: servers that misbehave during a request: they close, reply early, or misuse 1xx and 417.

import LupineEngine
import LupineOrigin
import Testing

/// A request body that is larger than the kernel's socket buffers on both sides.
private let longBody = RequestBody([UInt8](repeating: 0x61, count: 16 << 20))

extension Misbehaviour {
  static let requests = uploads + earlyReplies + expectations + interim + switches

  /// Creates a peer that misbehaves after it has read the head of a request with a long body.
  private static func upload(
    _ name: String, then ending: Ending, _ outcome: Outcome, _ script: @escaping @Sendable (Peer) throws -> Void
  ) -> Misbehaviour {
    Misbehaviour(
      name: name, ending: ending, outcome: outcome, prepare: { $0.carry("PUT", longBody) },
      script: { peer in
        _ = try peer.readHead()
        try script(peer)
      })
  }

  private static let uploads: [Misbehaviour] = [
    Misbehaviour(
      name: "closes after the head of a POST", ending: .closes, outcome: .fails(.connectionLost, .firstByte),
      prepare: { $0.carry("POST", RequestBody("short")) }
    ) { _ = try $0.readHead() },
    upload("resets during an upload", then: .resets, .fails(.connectionLost, .send)) { peer in
      for _ in 0..<8 { _ = try peer.receive() }
    },
    upload("closes its sending side during an upload", then: .closes, .fails(.connectionLost, .send)) { peer in
      _ = try peer.receive()
    },
    upload("sends half a reply in the middle of an upload and resets", then: .resets, .fails(.connectionLost, .receive))
    {
      try $0.send("HTTP/1.1 413 Too Large\r\nContent-Le")
    },
    upload("sends garbage during an upload", then: .holds, .malformed) { try $0.send("\u{1}\u{2}") },
  ]

  private static let tooLarge = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig"

  private static let earlyReplies: [Misbehaviour] = [
    upload("answers 413 early and closes", then: .gone, .closed("big", status: 413)) { peer in
      try peer.send(tooLarge)
      peer.close()
    },
    upload("answers 413 early and resets", then: .resets, .closed("big", status: 413)) { try $0.send(tooLarge) },
    upload("answers 413 early and closes its sending side", then: .closes, .closed("big", status: 413)) {
      try $0.send(tooLarge)
    },
    upload("answers 413 early and keeps the connection open", then: .holds, .closed("big", status: 413)) {
      try $0.send(tooLarge)
    },
    upload("answers 200 early with a body that ends by closing", then: .closes, .closed("early")) {
      try $0.send("HTTP/1.1 200 OK\r\n\r\nearly")
    },
    upload("answers early and closes within the body", then: .closes, .fails(.connectionLost, .send, .receive)) {
      try $0.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nearly")
    },
  ]

  /// Creates a peer that misbehaves after it has read the head of a request with `Expect: 100-continue`.
  private static func expectation(
    _ name: String, then ending: Ending, on connectionCount: Int = 1, wait: Duration = .seconds(60), _ outcome: Outcome,
    _ script: @escaping @Sendable (Peer, inout ReceivedRequest) throws -> Void
  ) -> Misbehaviour {
    Misbehaviour(
      name: name, ending: ending, connectionCount: connectionCount, outcome: outcome,
      prepare: { request in
        request.carry("PUT", RequestBody("content"))
        request.fields = ["Expect": "100-continue"]
        request.timeouts.awaitContinue = wait
      },
      script: { peer in
        guard var request = try peer.readHead() else { throw OriginError.truncatedRequest }
        try script(peer, &request)
      })
  }

  /// The outcome of a request that the client has successfully sent again on another connection, without Expect.
  private static let resent = Outcome.response(status: 200, body: "clean main", .replaced)

  private static let expectations: [Misbehaviour] = [
    expectation("never sends 100", then: .serves, wait: .milliseconds(20), .kept("content")) { peer, request in
      try peer.readBody(of: &request)
      try peer.respond(body: request.body)
    },
    expectation("sends 100 twice", then: .serves, .kept("content")) { peer, request in
      try peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
      try peer.readBody(of: &request)
      try peer.respond(body: request.body)
    },
    expectation("sends 100 after the final response's head", then: .holds, .fails(.malformedResponse, .receive)) {
      peer, _ in
      try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
    },
    expectation("sends 100 after a complete response", then: .holds, .closed("ok")) { peer, _ in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 100 Continue\r\n\r\n")
    },
    expectation("sends 100, reads the body and closes", then: .closes, .fails(.connectionLost, .firstByte)) {
      peer, request in
      try peer.send("HTTP/1.1 100 Continue\r\n\r\n")
      try peer.readBody(of: &request)
    },
    expectation("closes in reply to Expect", then: .closes, .fails(.connectionLost, .awaitContinue)) { _, _ in },
    expectation("answers 417 and still waits for the body", then: .holds, resent) { peer, _ in
      try peer.respond(status: 417)
    },
    expectation("answers 417 to every request", then: .serves, on: 2, .kept("no", status: 417)) { peer, request in
      if !request.fields.contains("Expect") { try peer.readBody(of: &request) }
      try peer.respond(status: 417, body: Array("no".utf8))
      if request.fields.contains("Expect") { _ = try peer.awaitClose() }
    },
    expectation("answers 417 and closes", then: .closes, resent) {
      peer, _ in
      try peer.send("HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    },
    expectation("answers 417 with an endless body", then: .holds, resent) {
      peer, _ in
      try peer.send("HTTP/1.1 417 Expectation Failed\r\nTransfer-Encoding: chunked\r\n\r\n")
      while true { try peer.chunk([UInt8](repeating: 0x61, count: 32_768)) }
    },
  ]

  private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  private static let interim: [Misbehaviour] = [
    reply(
      "sends unsolicited 100 and 103", "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\nLink: x\r\n\r\n\(ok)", then: .serves,
      .kept("ok")),
    reply(
      "sends 16 interim responses", String(repeating: "HTTP/1.1 103 E\r\n\r\n", count: 16) + ok, then: .serves,
      .kept("ok")),
    reply(
      "sends 17 interim responses", String(repeating: "HTTP/1.1 103 E\r\n\r\n", count: 17) + ok,
      .fails(.malformedResponse, .receive, .firstByte)),
    Misbehaviour(
      name: "sends endless interim responses", outcome: .fails(.malformedResponse, .receive, .firstByte)
    ) { peer in
      _ = try peer.readRequest()
      while true { try peer.send("HTTP/1.1 102 Processing\r\n\r\n") }
    },
    reply(
      "closes after an interim response", "HTTP/1.1 103 E\r\n\r\n", then: .closes, .fails(.connectionLost, .firstByte)),
    reply(
      "sends an interim response with a length and a body", "HTTP/1.1 103 E\r\nContent-Length: 2\r\n\r\nno\(ok)",
      .fails(.malformedResponse, .receive, .firstByte)),
    reply("sends a malformed interim response", "HTTP/1.1 103 E\r\nBad Name: x\r\n\r\n\(ok)", .malformed),
  ]

  private static func offer(_ request: inout EngineRequest) {
    request.fields = ["Connection": "upgrade", "Upgrade": "echo"]
  }

  private static let switches: [Misbehaviour] = [
    reply(
      "switches protocols unasked (101)", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n",
      .fails(.malformedResponse, .receive)),
    reply(
      "switches protocols with bytes right after the 101",
      "HTTP/1.1 101 S\r\nUpgrade: echo\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      then: .closes, .closed("HTTP/1.1 200 OK\r\n\r\n", status: 101), { offer(&$0) }),
    reply(
      "switches protocols and sends Content-Length",
      "HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: echo\r\nContent-Length: 1\r\n\r\nall of it", then: .closes,
      .closed("all of it", status: 101), { offer(&$0) }),
    reply("declines to switch protocols", ok, then: .serves, .kept("ok"), { offer(&$0) }),
    reply(
      "resets after a 101", "HTTP/1.1 101 S\r\nUpgrade: echo\r\n\r\n", then: .resets,
      .fails(.connectionLost, .receive), { offer(&$0) }),
  ]
}
