// Misbehaviour+Persistence: connections that a peer closes, resets or sends on at the wrong time, and its announcements
// about keeping them (RFC 9112 §9).

import LupineEngine
import LupineOrigin
import Testing

extension Misbehaviour {
  static let persistence = reused + idle + announced + closure + tampering

  /// The outcome of a request that the client has replayed successfully on another connection.
  private static let replayed = Outcome.response(status: 200, body: "clean main", .replaced)

  /// Creates a peer that answers one request, reads the next one on the same connection, and then misbehaves.
  private static func reused(
    _ name: String, method: String, then ending: Ending, _ outcome: Outcome,
    _ script: @escaping @Sendable (Peer) throws -> Void = { _ in }
  ) -> Misbehaviour {
    Misbehaviour(
      name: name, stage: .used, ending: ending, outcome: outcome,
      prepare: { method == "GET" ? () : $0.carry(method, RequestBody("pay")) },
      script: { peer in
        guard try peer.readRequest() != nil else { throw OriginError.truncatedRequest }
        try script(peer)
      })
  }

  private static let reused: [Misbehaviour] = [
    reused("closes a reused connection on GET", method: "GET", then: .closes, replayed),
    reused("resets a reused connection on GET", method: "GET", then: .resets, replayed),
    reused("closes a reused connection on PUT", method: "PUT", then: .closes, replayed),
    reused("closes a reused connection on DELETE", method: "DELETE", then: .closes, replayed),
    reused(
      "closes a reused connection on POST", method: "POST", then: .closes,
      .fails(.connectionLost, .firstByte)),
    reused(
      "resets a reused connection on POST", method: "POST", then: .resets,
      .fails(.connectionLost, .firstByte)),
    reused(
      "closes a reused connection on PATCH", method: "PATCH", then: .closes,
      .fails(.connectionLost, .firstByte)),
    reused("truncates its reply on a reused connection", method: "GET", then: .closes, .lost) {
      try $0.send("HTTP/1.1 2")
    },
    reused(
      "sends 100 on a reused connection and closes", method: "GET", then: .closes, .fails(.connectionLost, .firstByte)
    ) { try $0.send("HTTP/1.1 100 Continue\r\n\r\n") },
    reused("sends garbage on a reused connection", method: "GET", then: .holds, .malformed) { try $0.send("garbage") },
    reused("answers 408 on a reused connection", method: "GET", then: .closes, .closed("", status: 408)) {
      try $0.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    },
  ]

  /// Creates a peer that misbehaves on an idle connection. The client sends the next request only after it has closed that
  /// connection, if the peer can detect the close.
  private static func idle(
    _ name: String, then ending: Ending, _ script: @escaping @Sendable (Peer) throws -> Void = { _ in }
  ) -> Misbehaviour {
    Misbehaviour(name: name, stage: .idle, ending: ending, outcome: replayed, script: script)
  }

  private static let idle: [Misbehaviour] = [
    idle("closes an idle connection", then: .closes),
    idle("resets an idle connection", then: .resets),
    idle("sends a response on an idle connection", then: .holds) {
      try $0.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
    },
    idle("sends 408 on an idle connection and closes", then: .closes) {
      try $0.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    },
    idle("sends an interim response on an idle connection", then: .holds) { try $0.send("HTTP/1.1 103 E\r\n\r\n") },
    idle("sends an empty line on an idle connection", then: .holds) { try $0.send("\r\n") },
    idle("sends one byte on an idle connection", then: .holds) { try $0.send([0]) },
    idle("sends endless bytes on an idle connection", then: .holds) { peer in
      while true { try peer.send([UInt8](repeating: 0, count: 65_536)) }
    },
    idle("closes an idle connection, over TLS without close_notify", then: .holds) {
      $0.finishSendingWithoutNotify()
    },
  ]

  private static let announced: [Misbehaviour] = [
    reply("announces close but keeps the connection open", say("Connection: close"), .closed("ok")),
    reply("announces CLOSE among other options", say("Connection: foo, CLOSE ,bar"), .closed("ok")),
    reply("announces close in Proxy-Connection", say("Proxy-Connection: close"), .closed("ok")),
    reply("announces keep-alive and close", say("Connection: keep-alive\r\nConnection: close"), .closed("ok")),
    reply("announces keep-alive but closes", say("Connection: keep-alive"), then: .closes, .closed("ok")),
    reply("closes without announcing it", say("A: b"), then: .closes, .closed("ok")),
    reply("replies in HTTP/1.0 and keeps the connection open", say("A: b", version: "1.0"), .closed("ok")),
    reply(
      "replies in HTTP/1.0 with keep-alive", say("Connection: Keep-Alive", version: "1.0"), then: .serves, .kept("ok")),
    reply(
      "replies in HTTP/1.0 with keep-alive and close", say("Connection: keep-alive, close", version: "1.0"),
      .closed("ok")),
    reply(
      "replies in HTTP/1.0 with keep-alive and no length", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nok",
      then: .closes, .closed("ok")),
    reply("ignores the request's close", say("A: b"), .closed("ok"), { $0.fields = ["Connection": "close"] }),
    reply("announces a Keep-Alive timeout of 0 s", say("Keep-Alive: timeout=0"), .closed("ok")),
    reply("announces in Keep-Alive that it accepts no further request", say("Keep-Alive: max=0"), .closed("ok")),
    reply("announces a malformed Keep-Alive timeout", say("Keep-Alive: timeout=0s"), then: .serves, .kept("ok")),
    reply("announces the unknown option not-close", say("Connection: not-close, closed"), then: .serves, .kept("ok")),
  ]

  private static func say(_ field: String, version: String = "1.1") -> String {
    "HTTP/\(version) 200 OK\r\n\(field)\r\nContent-Length: 2\r\n\r\nok"
  }

  /// Servers that end a TLS connection without close_notify during or after a response.
  private static let closure: [Misbehaviour] = [
    closing("closes without close_notify after a complete body", .closed("ok")) { peer in
      try peer.send(say("A: b"))
      peer.finishSendingWithoutNotify()
    },
    closing("closes without close_notify in a body that ends by closing", .lost) { peer in
      try peer.send("HTTP/1.1 200 OK\r\n\r\nok")
      peer.finishSendingWithoutNotify()
    },
    closing("closes without close_notify within a body with a length", .lost) { peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok")
      peer.finishSendingWithoutNotify()
    },
    closing("closes without close_notify after the last chunk's line", .lost) { peer in
      try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n")
      peer.finishSendingWithoutNotify()
    },
    closing("closes without close_notify before a reply", .fails(.connectionLost, .firstByte)) {
      $0.finishSendingWithoutNotify()
    },
  ]

  private static func closing(
    _ name: String, _ outcome: Outcome, _ script: @escaping @Sendable (Peer) throws -> Void
  ) -> Misbehaviour {
    Misbehaviour(
      name: name, way: .tls, outcome: outcome,
      script: { peer in
        guard try peer.readRequest() != nil else { throw OriginError.truncatedRequest }
        try script(peer)
      })
  }

  /// Servers that send bytes on a TLS connection that aren't TLS records, or aren't records of this TLS session.
  private static let tampering: [Misbehaviour] = [
    tamper("answers without encryption", "", Array("HTTP/1.1 200 OK\r\n\r\n".utf8), .fails(.tlsFailed, .firstByte)),
    tamper("stops encrypting within the head", "HTTP/1.1 200 OK\r\n", Array("A: b\r\n\r\n".utf8)),
    tamper(
      "stops encrypting within the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", Array("defghi".utf8)),
    tamper(
      "sends a record of another TLS session", "HTTP/1.1 200 OK\r\n\r\nabc",
      [23, 3, 3, 0, 20] + [UInt8](repeating: 7, count: 20)),
    tamper("sends a TLS record beyond the maximum length", "HTTP/1.1 200 OK\r\n\r\nabc", [23, 3, 3, 0xFF, 0xFF]),
    Misbehaviour(name: "sends unencrypted bytes on an idle connection", way: .tls, stage: .idle, outcome: replayed) {
      try $0.sendUnencrypted(Array("HTTP/1.1 200 OK\r\n\r\nevil".utf8))
    },
  ]

  private static func tamper(
    _ name: String, _ text: String, _ bytes: [UInt8], _ outcome: Outcome = .fails(.tlsFailed, .receive)
  ) -> Misbehaviour {
    Misbehaviour(
      name: name, way: .tls, outcome: outcome,
      script: { peer in
        guard try peer.readRequest() != nil else { throw OriginError.truncatedRequest }
        if !text.isEmpty { try peer.send(text) }
        try peer.sendUnencrypted(bytes)
      })
  }
}
