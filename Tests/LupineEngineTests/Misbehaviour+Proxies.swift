// Proxies that misbehave before the way to the origin is open: behind CONNECT, and in every byte of SOCKS 5.

import LupineEngine
import LupineOrigin
import Testing

extension Misbehaviour {
  static let connectProxies = forwarders + refusals + brokenAnswers + oddAnswers + tunnels
  static let socksProxies = cutSOCKS + refusedSOCKS + oddSOCKS

  private static let forwarders: [Misbehaviour] = [
    forwarder(
      "asks for credentials (407) where it forwards",
      "HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nno", then: .serves,
      .kept("no", status: 407)),
    forwarder("closes without a reply where it forwards", "", then: .closes, .fails(.connectionLost, .firstByte)),
    forwarder("answers garbage where it forwards", "garbage", then: .holds, .malformed),
  ]

  private static func forwarder(_ name: String, _ text: String, then ending: Ending, _ outcome: Outcome) -> Misbehaviour
  {
    var forwarder = reply("as a proxy \(name)", text, then: ending, outcome)
    forwarder.way = .forward
    return forwarder
  }

  /// An answer to CONNECT.
  private static func answer(
    _ name: String, _ text: String, then ending: Ending = .holds, told: String = "", _ outcome: Outcome
  ) -> Misbehaviour {
    Misbehaviour(
      name: "as a proxy \(name)", way: .connect, stage: .connected, ending: ending, told: told, outcome: outcome
    ) { peer in
      guard try peer.readHead() != nil else { throw OriginError.truncatedRequest }
      try peer.send(text)
    }
  }

  private static let proxyFailed = Outcome.fails(.proxyFailed, .proxy)

  private static let refusals: [Misbehaviour] = [
    ("asks for credentials (407)", "407 Auth\r\nProxy-Authenticate: Basic realm=\"x\"\r\n", "offers Basic"),
    ("asks for credentials without naming a scheme", "407 Auth\r\n", "names no scheme"),
    (
      "asks for credentials of a thousand schemes",
      "407 Auth\r\nProxy-Authenticate: \(String(repeating: "a b=c, ", count: 1000))\r\n", "407"
    ),
    ("asks for credentials with a body", "407 Auth\r\nContent-Length: 6\r\n", "407"),
    ("asks for credentials with an endless body", "407 Auth\r\nTransfer-Encoding: chunked\r\n", "407"),
    ("forbids the destination (403)", "403 Forbidden\r\n", "403"),
    ("can't reach it (502)", "502 Bad Gateway\r\n", "502"),
    ("redirects (302)", "302 Found\r\nLocation: http://127.0.0.1:9/\r\n", "302"),
    ("answers 101", "101 Switching\r\n", "101"),
    ("answers 400 and goes on", "400 Bad Request\r\nContent-Length: 0\r\n", "400"),
  ].map { answer($0.0, "HTTP/1.1 \($0.1)\r\n", told: $0.2, proxyFailed) }

  private static let brokenAnswers: [Misbehaviour] = [
    answer("closes when it is asked", "", then: .closes, told: "after 0 bytes", proxyFailed),
    answer("breaks off its answer", "HTTP/1.1 20", then: .closes, told: "after 11 bytes", proxyFailed),
    answer("breaks off behind an interim answer", "HTTP/1.1 100 Continue\r\n\r\n", then: .closes, proxyFailed),
    answer("resets when it is asked", "", then: .resets, .fails(.connectionLost, .proxy)),
    answer("answers in SSH", "SSH-2.0-x\r\n", told: "isn't HTTP", proxyFailed),
    answer("answers in SOCKS", "\u{5}\u{0}", told: "isn't HTTP", proxyFailed),
    answer("answers in HTTP/2", "HTTP/2 200\r\n\r\n", told: "HTTP/2", proxyFailed),
    answer("has a NUL in its answer", "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", proxyFailed),
    answer(
      "has 257 fields in its answer", "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 257) + "\r\n",
      proxyFailed),
    answer("has 17 interim answers", String(repeating: "HTTP/1.1 102 P\r\n\r\n", count: 17), proxyFailed),
    answer(
      "has a head without end", "HTTP/1.1 200 OK\r\nA: " + String(repeating: "a", count: 70_000), told: "65536 bytes",
      proxyFailed),
    answer(
      "has bytes behind its answer", "HTTP/1.1 200 OK\r\n\r\nsurprise", told: "8 bytes",
      .fails(.malformedResponse, .proxy)),
    answer(
      "sends the body that its answer announces", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", told: "2 bytes",
      .fails(.malformedResponse, .proxy)),
    answer(
      "sends an empty chunked body", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", told: "5 bytes",
      .fails(.malformedResponse, .proxy)),
    Misbehaviour(
      name: "as a proxy closes as soon as it has accepted", way: .connect, stage: .connected, ending: .closes,
      outcome: proxyFailed
    ) { _ in },
  ]

  private static let oddAnswers: [Misbehaviour] =
    [
      ("announces a body and sends none", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
      ("announces chunks and sends none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
      ("says close and keeps the tunnel", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
      ("answers in HTTP/1.0", "HTTP/1.0 200 Connection established\r\n\r\n"),
      ("answers 299", "HTTP/1.1 299 Fine\r\n\r\n"),
      ("answers 204", "HTTP/1.1 204 No Content\r\n\r\n"),
      ("says 100 and 103 first", "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
    ].map { answer($0.0, $0.1, then: .serves, .kept("clean main")) } + [
      Misbehaviour(
        name: "as a proxy answers byte by byte", way: .connect, stage: .connected, ending: .serves,
        outcome: .kept("clean main")
      ) { peer in
        _ = try peer.readHead()
        for byte in "HTTP/1.1 200 OK\r\nA: b\r\n\r\n".utf8 { try peer.send([byte]) }
      }
    ]

  /// What comes through a tunnel in place of TLS; the script goes on when the ClientHello has come.
  private static func tunnel(
    _ name: String, then ending: Ending, told: String = "", _ outcome: Outcome,
    _ script: @escaping @Sendable (Peer) throws -> Void = { _ in }
  ) -> Misbehaviour {
    Misbehaviour(
      name: "as a proxy \(name)", way: .connect, stage: .connected, ending: ending, told: told, outcome: outcome
    ) { peer in
      _ = try peer.readHead()
      try peer.send("HTTP/1.1 200 OK\r\n\r\n")
      _ = try peer.receive()
      try script(peer)
    }
  }

  private static let tunnels: [Misbehaviour] = [
    tunnel("closes behind a good answer", then: .closes, .fails(.connectionLost, .tls)),
    tunnel("resets behind a good answer", then: .resets, .fails(.connectionLost, .tls)),
    tunnel("answers the ClientHello in clear", then: .closes, told: "doesn't speak TLS", .fails(.tlsFailed, .tls)) {
      try $0.send("HTTP/1.1 502 Bad Gateway\r\n\r\n")
    },
    Misbehaviour(
      name: "as a proxy leads to another host", way: .connect, stage: .connected, outcome: .fails(.tlsFailed, .tls)
    ) { peer in
      _ = try peer.readHead()
      try peer.send("HTTP/1.1 200 OK\r\n\r\n")
      try peer.startTLS(TestAuthority.identity(names: ["other"], addresses: []))
    },
  ]

  /// Greets by SOCKS as far as these bytes go, and answers the request for a connection with those.
  private static func socks(
    _ name: String, _ greeting: [UInt8], _ reply: [UInt8]?, then ending: Ending, told: String = "", _ outcome: Outcome
  ) -> Misbehaviour {
    Misbehaviour(
      name: "as a SOCKS proxy \(name)", way: .socks, stage: .connected, ending: ending, told: told, outcome: outcome
    ) { peer in
      _ = try peer.receive()
      try peer.send(greeting)
      guard let reply else { return }
      _ = try peer.receive()
      try peer.send(reply)
    }
  }

  private static let v4Reply: [UInt8] = [5, 0, 0, 1, 127, 0, 0, 1, 0, 9]
  private static let nameReply: [UInt8] = [5, 0, 0, 3, 4] + Array("name".utf8) + [0, 9]

  private static let cutSOCKS: [Misbehaviour] =
    [[], [5]].map {
      socks(
        "breaks off behind \($0.count) bytes of its greeting", $0, nil, then: .closes, told: "after \($0.count) bytes",
        proxyFailed)
    }
    + (0..<v4Reply.count).map {
      socks(
        "breaks off behind \($0) bytes of its reply", [5, 0], Array(v4Reply.prefix($0)), then: .closes,
        told: "after \($0 + 2) bytes", proxyFailed)
    }
    + (4..<nameReply.count).map {
      socks(
        "breaks off behind \($0) bytes of a reply with a name", [5, 0], Array(nameReply.prefix($0)), then: .closes,
        told: "after \($0 + 2) bytes", proxyFailed)
    }

  private static let refusedSOCKS = (1...9).map {
    socks(
      "refuses with \($0)", [5, 0], [5, UInt8($0), 0, 1, 0, 0, 0, 0, 0, 0], then: .holds, told: "SOCKS reply \($0)",
      proxyFailed)
  }

  private static let oddSOCKS: [Misbehaviour] = [
    socks("speaks version 4", [4, 0], nil, then: .holds, told: "0x04", proxyFailed),
    socks("speaks HTTP", Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), nil, then: .holds, told: "0x48", proxyFailed),
    socks("takes no way to log in", [5, 0xFF], nil, then: .holds, proxyFailed),
    socks("takes a way that wasn't offered", [5, 2], nil, then: .holds, told: "0x02", proxyFailed),
    socks("changes its version in its reply", [5, 0], [4, 0], then: .holds, told: "0x04", proxyFailed),
    socks("has an unknown kind of address", [5, 0], [5, 0, 0, 2], then: .holds, told: "0x02", proxyFailed),
    socks("resets in its reply", [5, 0], [5, 0], then: .resets, .fails(.connectionLost, .proxy)),
    socks(
      "has bytes behind its reply", [5, 0], v4Reply + Array("HTTP/1.1 200 OK\r\n".utf8), then: .holds, told: "17 bytes",
      .fails(.malformedResponse, .proxy)),
    socks("closes behind a good reply", [5, 0], v4Reply, then: .closes, .fails(.connectionLost, .firstByte)),
    socks("gives a name for its address", [5, 0], nameReply, then: .serves, .kept("clean main")),
    socks("fills the reserved byte", [5, 0], [5, 0, 0xFF] + v4Reply.dropFirst(3), then: .serves, .kept("clean main")),
    socks(
      "gives an IPv6 address", [5, 0], [5, 0, 0, 4] + [UInt8](repeating: 1, count: 18), then: .serves,
      .kept("clean main")),
  ]
}
