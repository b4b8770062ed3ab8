// Misbehaviour+Proxies: proxies that misbehave before the tunnel is open, in reply to CONNECT and in SOCKS 5.

import LupineEngine
import LupineOrigin
import Testing

extension Misbehaviour {
  static let connectProxies = forwarders + refusals + brokenAnswers + oddAnswers + tunnels
  static let socksProxies = cutSOCKS + refusedSOCKS + oddSOCKS

  private static let forwarders: [Misbehaviour] = [
    forwarder(
      "requires credentials (407) when it forwards",
      "HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nno", then: .serves,
      .kept("no", status: 407)),
    forwarder("closes without a reply when it forwards", "", then: .closes, .fails(.connectionLost, .firstByte)),
    forwarder("answers garbage when it forwards", "garbage", then: .holds, .malformed),
  ]

  private static func forwarder(_ name: String, _ text: String, then ending: Ending, _ outcome: Outcome) -> Misbehaviour
  {
    var forwarder = reply("as a proxy \(name)", text, then: ending, outcome)
    forwarder.way = .forward
    return forwarder
  }

  /// Creates an HTTP proxy that answers CONNECT with `text`.
  private static func answer(
    _ name: String, _ text: String, then ending: Ending = .holds, quote: String = "", _ outcome: Outcome
  ) -> Misbehaviour {
    Misbehaviour(
      name: "as a proxy \(name)", way: .connect, stage: .connected, ending: ending, quote: quote, outcome: outcome
    ) { peer in
      guard try peer.readHead() != nil else { throw OriginError.truncatedRequest }
      try peer.send(text)
    }
  }

  private static let proxyFailed = Outcome.fails(.proxyFailed, .proxy)

  private static let refusals: [Misbehaviour] = [
    ("requires credentials (407)", "407 Auth\r\nProxy-Authenticate: Basic realm=\"x\"\r\n", "offers Basic"),
    ("requires credentials without naming a scheme", "407 Auth\r\n", "names no scheme"),
    (
      "requires credentials with a thousand schemes",
      "407 Auth\r\nProxy-Authenticate: \(String(repeating: "a b=c, ", count: 1000))\r\n", "407"
    ),
    ("requires credentials and sends a body", "407 Auth\r\nContent-Length: 6\r\n", "407"),
    ("requires credentials with an endless body", "407 Auth\r\nTransfer-Encoding: chunked\r\n", "407"),
    ("forbids the destination (403)", "403 Forbidden\r\n", "403"),
    ("fails to reach the destination (502)", "502 Bad Gateway\r\n", "502"),
    ("redirects (302)", "302 Found\r\nLocation: http://127.0.0.1:9/\r\n", "302"),
    ("answers 101", "101 Switching\r\n", "101"),
    ("answers 400 and keeps the connection open", "400 Bad Request\r\nContent-Length: 0\r\n", "400"),
  ].map { answer($0.0, "HTTP/1.1 \($0.1)\r\n", quote: $0.2, proxyFailed) }

  private static let brokenAnswers: [Misbehaviour] = [
    answer("closes without a reply to CONNECT", "", then: .closes, quote: "after 0 bytes", proxyFailed),
    answer("closes within its reply to CONNECT", "HTTP/1.1 20", then: .closes, quote: "after 11 bytes", proxyFailed),
    answer("closes after an interim reply to CONNECT", "HTTP/1.1 100 Continue\r\n\r\n", then: .closes, proxyFailed),
    answer("resets without a reply to CONNECT", "", then: .resets, .fails(.connectionLost, .proxy)),
    answer("answers in SSH", "SSH-2.0-x\r\n", quote: "isn't HTTP", proxyFailed),
    answer("answers in SOCKS", "\u{5}\u{0}", quote: "isn't HTTP", proxyFailed),
    answer("answers in HTTP/2", "HTTP/2 200\r\n\r\n", quote: "HTTP/2", proxyFailed),
    answer("sends a NUL in its reply", "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", proxyFailed),
    answer(
      "sends 257 fields in its reply", "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 257) + "\r\n",
      proxyFailed),
    answer("sends 17 interim replies", String(repeating: "HTTP/1.1 102 P\r\n\r\n", count: 17), proxyFailed),
    answer(
      "sends an oversized head", "HTTP/1.1 200 OK\r\nA: " + String(repeating: "a", count: 70_000), quote: "65536 bytes",
      proxyFailed),
    answer(
      "sends bytes after its reply", "HTTP/1.1 200 OK\r\n\r\nsurprise", quote: "8 bytes",
      .fails(.malformedResponse, .proxy)),
    answer(
      "sends the body announced in its reply", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", quote: "2 bytes",
      .fails(.malformedResponse, .proxy)),
    answer(
      "sends an empty chunked body", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", quote: "5 bytes",
      .fails(.malformedResponse, .proxy)),
    Misbehaviour(
      name: "as a proxy closes right after accepting", way: .connect, stage: .connected, ending: .closes,
      outcome: proxyFailed
    ) { _ in },
  ]

  private static let oddAnswers: [Misbehaviour] =
    [
      ("announces a body and sends none", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
      ("announces chunks and sends none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
      ("announces close and keeps the tunnel", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
      ("answers in HTTP/1.0", "HTTP/1.0 200 Connection established\r\n\r\n"),
      ("answers 299", "HTTP/1.1 299 Fine\r\n\r\n"),
      ("answers 204", "HTTP/1.1 204 No Content\r\n\r\n"),
      ("sends 100 and 103 first", "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
    ].map { answer($0.0, $0.1, then: .serves, .kept("clean main")) } + [
      Misbehaviour(
        name: "as a proxy answers byte by byte", way: .connect, stage: .connected, ending: .serves,
        outcome: .kept("clean main")
      ) { peer in
        _ = try peer.readHead()
        for byte in "HTTP/1.1 200 OK\r\nA: b\r\n\r\n".utf8 { try peer.send([byte]) }
      }
    ]

  /// Creates an HTTP proxy that opens a tunnel, waits for the client's ClientHello, and then runs the script instead of TLS.
  private static func tunnel(
    _ name: String, then ending: Ending, quote: String = "", _ outcome: Outcome,
    _ script: @escaping @Sendable (Peer) throws -> Void = { _ in }
  ) -> Misbehaviour {
    Misbehaviour(
      name: "as a proxy \(name)", way: .connect, stage: .connected, ending: ending, quote: quote, outcome: outcome
    ) { peer in
      _ = try peer.readHead()
      try peer.send("HTTP/1.1 200 OK\r\n\r\n")
      _ = try peer.receive()
      try script(peer)
    }
  }

  private static let tunnels: [Misbehaviour] = [
    tunnel("closes after opening the tunnel", then: .closes, .fails(.connectionLost, .tls)),
    tunnel("resets after opening the tunnel", then: .resets, .fails(.connectionLost, .tls)),
    tunnel("answers TLS with clear text", then: .closes, quote: "doesn't use TLS", .fails(.tlsFailed, .tls)) {
      try $0.send("HTTP/1.1 502 Bad Gateway\r\n\r\n")
    },
    Misbehaviour(
      name: "as a proxy connects to another host", way: .connect, stage: .connected, outcome: .fails(.tlsFailed, .tls)
    ) { peer in
      _ = try peer.readHead()
      try peer.send("HTTP/1.1 200 OK\r\n\r\n")
      try peer.startTLS(TestAuthority.identity(names: ["other"], addresses: []))
    },
  ]

  /// Creates a SOCKS 5 proxy that answers the client's first message with `greeting`, and the connection request with `reply`. If
  /// `reply` is nil, the proxy doesn't answer the connection request.
  private static func socks(
    _ name: String, _ greeting: [UInt8], _ reply: [UInt8]?, then ending: Ending, quote: String = "", _ outcome: Outcome
  ) -> Misbehaviour {
    Misbehaviour(
      name: "as a SOCKS proxy \(name)", way: .socks, stage: .connected, ending: ending, quote: quote, outcome: outcome
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
        "closes after \($0.count) bytes of its greeting", $0, nil, then: .closes, quote: "after \($0.count) bytes",
        proxyFailed)
    }
    + (0..<v4Reply.count).map {
      socks(
        "closes after \($0) bytes of its reply", [5, 0], Array(v4Reply.prefix($0)), then: .closes,
        quote: "after \($0 + 2) bytes", proxyFailed)
    }
    + (4..<nameReply.count).map {
      socks(
        "closes after \($0) bytes of a reply with a name", [5, 0], Array(nameReply.prefix($0)), then: .closes,
        quote: "after \($0 + 2) bytes", proxyFailed)
    }

  private static let refusedSOCKS = (1...9).map {
    socks(
      "refuses: code \($0)", [5, 0], [5, UInt8($0), 0, 1, 0, 0, 0, 0, 0, 0], then: .holds, quote: "SOCKS reply \($0)",
      proxyFailed)
  }

  private static let oddSOCKS: [Misbehaviour] = [
    socks("speaks version 4", [4, 0], nil, then: .holds, quote: "0x04", proxyFailed),
    socks("speaks HTTP", Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), nil, then: .holds, quote: "0x48", proxyFailed),
    socks("accepts no authentication method", [5, 0xFF], nil, then: .holds, proxyFailed),
    socks("selects a method that wasn't offered", [5, 2], nil, then: .holds, quote: "0x02", proxyFailed),
    socks("changes its version in its reply", [5, 0], [4, 0], then: .holds, quote: "0x04", proxyFailed),
    socks("sends an unknown address type", [5, 0], [5, 0, 0, 2], then: .holds, quote: "0x02", proxyFailed),
    socks("resets within its reply", [5, 0], [5, 0], then: .resets, .fails(.connectionLost, .proxy)),
    socks(
      "sends bytes after a reply", [5, 0], v4Reply + Array("HTTP/1.1 200 OK\r\n".utf8), then: .holds, quote: "17 bytes",
      .fails(.malformedResponse, .proxy)),
    socks("closes after a valid reply", [5, 0], v4Reply, then: .closes, .fails(.connectionLost, .firstByte)),
    socks("sends a name as its address", [5, 0], nameReply, then: .serves, .kept("clean main")),
    socks("fills the reserved byte", [5, 0], [5, 0, 0xFF] + v4Reply.dropFirst(3), then: .serves, .kept("clean main")),
    socks(
      "sends an IPv6 address", [5, 0], [5, 0, 0, 4] + [UInt8](repeating: 1, count: 18), then: .serves,
      .kept("clean main")),
  ]
}
