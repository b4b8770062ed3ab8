// Misbehaviour+Stalls: peers that stop sending in each phase. The error names the phase and its limit.

import LupineEngine
import LupineOrigin
import LupineTLS
import Testing

extension Misbehaviour {
  static let stalls = replies + uploads + openings + totals

  private static let limit = Duration.milliseconds(30)

  /// Creates a peer that sends part of a reply and then sends nothing more, without closing the connection.
  private static func stall(
    _ name: String, _ text: String, _ phase: Phase = .receive,
    _ path: any WritableKeyPath<Timeouts, Duration?> & Sendable = \.idle
  ) -> Misbehaviour {
    var stall = reply(name, text, .fails(.timedOut, phase), { $0.timeouts[keyPath: path] = limit })
    stall.quote = "0.03 s"
    return stall
  }

  private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

  private static let replies: [Misbehaviour] = [
    stall("stalls before its reply", "", .firstByte, \.firstByte),
    stall("stalls after an interim response", "HTTP/1.1 103 E\r\n\r\n", .firstByte, \.firstByte),
    stall("stalls in the status line", "HTTP/1.1 2"),
    stall("stalls in the head", "HTTP/1.1 200 OK\r\nA: b\r\n"),
    stall("stalls before the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
    stall("stalls in the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
    stall("stalls in a body that ends by closing", "HTTP/1.1 200 OK\r\n\r\nabc"),
    stall("stalls in a chunk size", chunked + "1"),
    stall("stalls in a chunk", chunked + "9\r\nabc"),
    stall("stalls after a chunk", chunked + "3\r\nabc\r\n"),
    stall("stalls before the final line", chunked + "3\r\nabc\r\n0\r\n"),
    stall("stalls in a trailer", chunked + "3\r\nabc\r\n0\r\nA: b"),
    stall("stalls in gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n\u{1F}"),
  ]

  private static let uploads: [Misbehaviour] = [
    Misbehaviour(
      name: "reads nothing of an upload", ending: .gone, quote: "0.03 s", outcome: .fails(.timedOut, .send),
      prepare: { request in
        request.carry("PUT", RequestBody([UInt8](repeating: 1, count: 16 << 20)))
        request.timeouts.send = limit
      },
      // Waits until the server is stopped, because a peer that doesn't read can't see the client close the connection.
      script: { peer in try peer.wait(for: Gate()) })
  ]

  private static func opening(
    _ name: String, _ way: Way, _ phase: Phase, _ path: any WritableKeyPath<Timeouts, Duration?> & Sendable,
    _ script: @escaping @Sendable (Peer) throws -> Void
  ) -> Misbehaviour {
    Misbehaviour(
      name: name, way: way, stage: .connected, quote: "0.03 s", outcome: .fails(.timedOut, phase),
      prepare: { $0.timeouts[keyPath: path] = limit }, script: script)
  }

  private static let openings: [Misbehaviour] = [
    opening("stalls before its ServerHello", .tls, .tls, \.tls) { _ in },
    opening("stalls in its ServerHello", .tls, .tls, \.tls) { peer in
      var server = try HandshakingServer(versions: .v1_2 ... .v1_3)
      try peer.send(Array(server.flight(behind: peer.receive()).prefix(500)))
    },
    opening("stalls before its second flight in TLS 1.2", .tls, .tls, \.tls) { peer in
      var server = try HandshakingServer(versions: .v1_2 ... .v1_2)
      try peer.send(server.flight(behind: peer.receive()))
    },
    opening("stalls before it replies to CONNECT", .connect, .proxy, \.proxy) { _ = try $0.readHead() },
    opening("stalls in its reply to CONNECT", .connect, .proxy, \.proxy) { peer in
      _ = try peer.readHead()
      try peer.send("HTTP/1.1 200 OK\r\n")
    },
    opening("stalls after an interim reply to CONNECT", .connect, .proxy, \.proxy) { peer in
      _ = try peer.readHead()
      try peer.send("HTTP/1.1 100 Continue\r\n\r\n")
    },
    opening("stalls in the TLS handshake after CONNECT", .connect, .tls, \.tls) { peer in
      _ = try peer.readHead()
      try peer.send("HTTP/1.1 200 OK\r\n\r\n")
    },
    opening("stalls before its SOCKS greeting", .socks, .proxy, \.proxy) { _ in },
    opening("stalls in its SOCKS reply", .socks, .proxy, \.proxy) { peer in
      _ = try peer.receive()
      try peer.send([5, 0])
      _ = try peer.receive()
      try peer.send([5, 0, 0, 1, 0, 0])
    },
  ]

  /// The total time limit of requests whose response keeps arriving slowly. It exceeds the time that all earlier phases take on a
  /// busy machine.
  private static let total = Duration.seconds(6)

  private static func drip(
    _ name: String, _ start: String, _ drop: String, pause: Duration = .milliseconds(1)
  ) -> Misbehaviour {
    Misbehaviour(
      name: name, quote: "6 s", outcome: .fails(.timedOut, .receive), prepare: { $0.timeouts.total = total },
      script: { peer in
        _ = try peer.readRequest()
        try peer.send(start)
        while true {
          try peer.send(drop)
          try peer.pause(for: pause)
        }
      })
  }

  private static var stallUntilTotal: Misbehaviour {
    var stall = reply(
      "stalls before its reply until the total limit", "", .fails(.timedOut, .firstByte),
      { $0.timeouts.total = total })
    stall.quote = "6 s"
    return stall
  }

  private static let totals: [Misbehaviour] = [
    stallUntilTotal,
    // The pause is long, so that the request reaches the total limit before the head exceeds its size limit.
    drip("drips a status line", "HTTP/1.1 200 ", "a", pause: .milliseconds(50)),
    drip("drips a head byte by byte", "HTTP/1.1 200 OK\r\nA: ", "a", pause: .milliseconds(50)),
    drip("drips fields", "HTTP/1.1 200 OK\r\n", "A: a\r\n", pause: .milliseconds(50)),
    drip("drips trailers", chunked + "0\r\n", "A: a\r\n", pause: .milliseconds(50)),
    drip("drips a body byte by byte", "HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n", "a"),
    drip("drips chunks of one byte", chunked, "1\r\na\r\n"),
    drip("drips a body that ends by closing", "HTTP/1.1 200 OK\r\n\r\n", "a"),
  ]
}
