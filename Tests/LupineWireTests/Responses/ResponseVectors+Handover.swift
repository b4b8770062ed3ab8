// Response vectors for the end of HTTP on a connection: 101, and 2xx to CONNECT (RFC 9110 §7.8, §9.3.6, §15.2.2).

import LupineWire

private let switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"

extension ResponseVector {
  static let upgrades: [ResponseVector] = [
    .handOver("101 after an upgrade request", switching, upgrades: true, status: 101, reason: "Switching Protocols"),
    .handOver(
      "bytes after a 101 aren't HTTP", "\(switching)\u{81}\u{05}hello", upgrades: true, status: 101,
      reason: "Switching Protocols", behind: "\u{81}\u{05}hello"),
    .handOver(
      "bytes after a 101 that look like a response", "\(switching)HTTP/1.1 200 OK\r\n\r\n", upgrades: true, status: 101,
      reason: "Switching Protocols", behind: "HTTP/1.1 200 OK\r\n\r\n"),
    .handOver(
      "an empty line after a 101", "\(switching)\r\n\0", upgrades: true, status: 101, reason: "Switching Protocols",
      behind: "\r\n\0"),
    .handOver(
      "101 after a 100", "HTTP/1.1 100 C\r\n\r\n\(switching)x", upgrades: true, informational: [100], status: 101,
      reason: "Switching Protocols", behind: "x"),
    .handOver(
      "the framing of a 101 is ignored",
      "HTTP/1.1 101 S\r\nContent-Length: 9\r\nTransfer-Encoding: x\r\nConnection: close\r\n\r\nx", upgrades: true,
      status: 101, reason: "S", behind: "x"),
    .good(
      "a declined upgrade", "HTTP/1.1 200 OK\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\nhi",
      upgrades: true, body: "hi"),
    .good(
      "426 names the required protocol", "HTTP/1.1 426 U\r\nUpgrade: x\r\nContent-Length: 0\r\n\r\n", status: 426,
      reason: "U"),
    .good(
      "a 103 to an upgrade request is interim", "HTTP/1.1 103 E\r\n\r\nHTTP/1.1 204 N\r\n\r\n", upgrades: true,
      informational: [103], status: 204, reason: "N"),
    .bad("101 without an upgrade request", switching, .unexpectedUpgrade),
    .bad("101 without an upgrade request, after a 100", "HTTP/1.1 100 C\r\n\r\n\(switching)", .unexpectedUpgrade),
    .bad("101 to a CONNECT without an upgrade request", switching, .unexpectedUpgrade, method: "CONNECT"),
    .handOver(
      "a second 101 belongs to the new protocol", switching + switching, upgrades: true, status: 101,
      reason: "Switching Protocols", behind: switching),
    .bad(
      "a 101 without its empty line", "HTTP/1.1 101 S\r\nUpgrade: x\r\n", .truncatedHead(received: 28), upgrades: true,
      peerCloses: true),
  ]

  static let tunnels: [ResponseVector] = [
    .handOver(
      "200 to CONNECT", "HTTP/1.1 200 Connection established\r\n\r\n", method: "CONNECT",
      reason: "Connection established"),
    .handOver("204 to CONNECT", "HTTP/1.1 204 N\r\n\r\n", method: "CONNECT", status: 204, reason: "N"),
    .handOver("299 to CONNECT", "HTTP/1.1 299 Odd\r\n\r\n", method: "CONNECT", status: 299, reason: "Odd"),
    .handOver("200 to CONNECT from an HTTP/1.0 proxy", "HTTP/1.0 200 OK\r\n\r\nx", method: "CONNECT", behind: "x"),
    .handOver(
      "bytes after a tunnel's head aren't HTTP", "HTTP/1.1 200 OK\r\n\r\n\u{16}\u{03}\u{03}\0\u{2A}",
      method: "CONNECT",
      behind: "\u{16}\u{03}\u{03}\0\u{2A}"),
    .handOver(
      "a length in a 2xx to CONNECT is ignored", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", method: "CONNECT",
      behind: "hello"),
    .handOver(
      "a coding in a 2xx to CONNECT is ignored", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      method: "CONNECT", behind: "0\r\n\r\n"),
    .handOver(
      "a bad length and an unknown coding in a 2xx to CONNECT",
      "HTTP/1.1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: y\r\n\r\n", method: "CONNECT"),
    .handOver(
      "close in a 2xx to CONNECT", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nx", method: "CONNECT", behind: "x"),
    .handOver(
      "a 100 before a tunnel", "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx", method: "CONNECT",
      informational: [100], behind: "x"),
    .good(
      "a refused CONNECT has a body", "HTTP/1.1 407 Who\r\nContent-Length: 2\r\n\r\nhi", method: "CONNECT", status: 407,
      reason: "Who", body: "hi"),
    .good(
      "a redirect of CONNECT has a body", "HTTP/1.1 302 F\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
      method: "CONNECT", status: 302, reason: "F", body: "x"),
    .good(
      "a refused CONNECT until close", "HTTP/1.1 502 Bad\r\n\r\nhi", method: "CONNECT", peerCloses: true, status: 502,
      reason: "Bad", body: "hi", close: .bodyEndsWithClose),
    .good(
      "connect in lower case is another method", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", method: "connect",
      body: "hi"),
    .bad(
      "a bad length in a refused CONNECT is refused", "HTTP/1.1 403 No\r\nContent-Length: x\r\n\r\n",
      .malformedContentLength("x"), method: "CONNECT"),
  ]
}
