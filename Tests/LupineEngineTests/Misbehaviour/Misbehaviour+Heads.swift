// Misbehaviour+Heads: response heads that violate RFC 9112, exceed a limit, are truncated, or are unusual but valid.

import LupineEngine
import LupineOrigin
import Testing

extension Misbehaviour {
  static let heads = statusLines + fieldLines + foreign + oversized + cutHeads + odd

  private static let body = "Content-Length: 2\r\n\r\nok"

  private static let statusLines: [Misbehaviour] = malformed([
    ("sends the version HTTP/3.0", "HTTP/3.0 200 OK\r\n\(body)"),
    ("sends the version HTTP/2", "HTTP/2 200\r\n\(body)"),
    ("sends the version HTTP/1", "HTTP/1 200 OK\r\n\(body)"),
    ("sends the version HTTP/1.10", "HTTP/1.10 200 OK\r\n\(body)"),
    ("sends the version HTTP/01.1", "HTTP/01.1 200 OK\r\n\(body)"),
    ("sends the version in lowercase", "http/1.1 200 OK\r\n\(body)"),
    ("sends the status 099", "HTTP/1.1 099 Low\r\n\(body)"),
    ("sends the status 1000", "HTTP/1.1 1000 High\r\n\(body)"),
    ("sends the status 20", "HTTP/1.1 20 Short\r\n\(body)"),
    ("sends the status -20", "HTTP/1.1 -20 Minus\r\n\(body)"),
    ("sends the status 2x0", "HTTP/1.1 2x0 OK\r\n\(body)"),
    ("sends the status ２００ in full-width digits", "HTTP/1.1 ２００ OK\r\n\(body)"),
    ("sends no status", "HTTP/1.1 OK\r\n\(body)"),
    ("sends a version and nothing else on the status line", "HTTP/1.1\r\n\(body)"),
    ("sends two spaces before the status", "HTTP/1.1  200 OK\r\n\(body)"),
    ("sends a tab before the status", "HTTP/1.1\t200 OK\r\n\(body)"),
    ("sends no space after the status", "HTTP/1.1 200OK\r\n\(body)"),
    ("sends a NUL in the reason phrase", "HTTP/1.1 200 O\0K\r\n\(body)"),
    ("sends an escape sequence in the reason phrase", "HTTP/1.1 200 \u{1B}[2J\r\n\(body)"),
    ("sends a bare CR in the status line", "HTTP/1.1 200 O\rK\r\n\(body)"),
    ("sends an empty line before the head", "\r\nHTTP/1.1 200 OK\r\n\(body)"),
    ("sends a space before the head", " HTTP/1.1 200 OK\r\n\(body)"),
    ("sends a byte order mark before the head", "\u{FEFF}HTTP/1.1 200 OK\r\n\(body)"),
  ])

  private static let fieldLines: [Misbehaviour] = malformed(
    [
      ("sends a NUL in a field", "A: a\0b"), ("sends a NUL in a field name", "A\0B: a"),
      ("sends a bare CR in a field", "A: a\rb"), ("sends a bare CR before a line's end", "A: a\r\r"),
      ("sends the byte 0x01 in a field", "A: \u{1}"), ("sends the byte 0x7F in a field", "A: \u{7F}"),
      ("folds the first field line", " A: a"), ("sends a space before a field's colon", "A : a"),
      ("sends a tab before a field's colon", "A\t: a"), ("sends a field without a name", ": a"),
      ("sends a field without a colon", "no colon"), ("sends a space in a field name", "A B: a"),
      ("sends an umlaut in a field name", "Ä: a"), ("sends a parenthesis in a field name", "A(b): a"),
      ("sends a second status line among the fields", "HTTP/1.1 200 OK"),
    ].map { ($0.0, "HTTP/1.1 200 OK\r\n\($0.1)\r\n\(body)") })

  private static let foreign: [Misbehaviour] =
    malformed([
      ("answers in HTTP/0.9", "<html>hello</html>\n"),
      ("answers with the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      ("answers with HTTP/2 settings", "\0\0\u{C}\u{4}\0\0\0\0\0"),
      ("answers in SMTP", "220 mail.example ESMTP\r\n"),
      ("answers in FTP, on several lines", "220-Welcome\r\n220 ready\r\n"),
      ("answers in ICY", "ICY 200 OK\r\n\(body)"),
      ("echoes the request", "GET /main HTTP/1.1\r\nHost: x\r\n\r\n"),
      ("answers with terminal control characters", "\u{1B}]0;evil\u{7}\u{9B}2J\u{2028}\r\n\r\n"),
    ]) + [
      reply("answers with random bytes", (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }, .malformed)
    ]

  /// Creates a peer whose response head begins with `start`, and then repeats `block` until the client closes the connection.
  private static func endless(_ name: String, _ start: String, _ block: String, quote: String) -> Misbehaviour {
    Misbehaviour(name: name, quote: quote, outcome: .malformed) { peer in
      _ = try peer.readRequest()
      try peer.send(start)
      while true { try peer.send(block) }
    }
  }

  private static func head(byteCount: Int) -> String {
    let (start, end) = ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: ", "\r\n\r\n")
    return start + String(repeating: "a", count: byteCount - start.utf8.count - end.utf8.count) + end + "ok"
  }

  private static func head(fieldCount: Int) -> String {
    "HTTP/1.1 200 OK\r\n" + String(repeating: "A: a\r\n", count: fieldCount - 1) + body
  }

  private static let oversized: [Misbehaviour] = [
    endless(
      "sends an endless status line", "HTTP/1.1 200 ", String(repeating: "a", count: 1000), quote: "65536 bytes"),
    endless(
      "sends an endless field", "HTTP/1.1 200 OK\r\nA: ", String(repeating: "a", count: 1000), quote: "65536 bytes"),
    endless(
      "sends an endless field name", "HTTP/1.1 200 OK\r\n", String(repeating: "a", count: 1000),
      quote: "65536 bytes"),
    endless("sends endless fields", "HTTP/1.1 200 OK\r\n", "A: a\r\n", quote: "256 field lines"),
    endless(
      "sends endless folded lines", "HTTP/1.1 200 OK\r\nA: a\r\n", String(repeating: " a\r\n", count: 100),
      quote: "65536 bytes"),
    endless("sends an endless field byte by byte", "HTTP/1.1 200 OK\r\nA: ", "a", quote: "65536 bytes"),
    reply("sends a head of 65,536 bytes", head(byteCount: 65_536), then: .serves, .kept("ok")),
    reply("sends a head of 65,537 bytes", head(byteCount: 65_537), .malformed),
    reply("sends 256 fields", head(fieldCount: 256), then: .serves, .kept("ok")),
    reply("sends 257 fields", head(fieldCount: 257), .malformed),
  ]

  private static let cutHeads: [Misbehaviour] =
    [
      ("closes after the first letter", "H"), ("closes within the version", "HTTP/1."),
      ("closes after a status line without its line end", "HTTP/1.1 200 OK"),
      ("closes between the status line's CR and LF", "HTTP/1.1 200 OK\r"),
      ("closes after the status line", "HTTP/1.1 200 OK\r\n"),
      ("closes within a field", "HTTP/1.1 200 OK\r\nContent-Le"),
      ("closes before the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"),
      ("closes within the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r"),
    ].map { reply($0.0, $0.1, then: .closes, .lost) } + [
      reply("closes without a reply", "", then: .closes, .fails(.connectionLost, .firstByte)),
      reply("resets without a reply", "", then: .resets, .fails(.connectionLost, .firstByte)),
      reply("resets within the head", "HTTP/1.1 200 OK\r\nA", then: .resets, .lost),
    ]

  private static let odd: [Misbehaviour] =
    harmless([
      ("sends the version HTTP/1.2", "HTTP/1.2 200 OK\r\n\(body)"), ("sends no reason", "HTTP/1.1 200 \r\n\(body)"),
      ("sends no space after the status and no reason phrase", "HTTP/1.1 200\r\n\(body)"),
      ("sends an umlaut in the reason phrase", "HTTP/1.1 200 Schön\r\n\(body)"),
      ("ends its lines with a bare LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
      ("folds a field", "HTTP/1.1 200 OK\r\nA: a\r\n b\r\n\t c\r\n\(body)"),
      ("folds Content-Length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok"),
      ("sends an empty field", "HTTP/1.1 200 OK\r\nA:\r\n\(body)"),
      ("sends whitespace around a field value", "HTTP/1.1 200 OK\r\nA: \t a \t \r\n\(body)"),
      ("sends non-ASCII bytes in a field", "HTTP/1.1 200 OK\r\nA: ä\u{2028}\r\n\(body)"),
    ]) + [
      Misbehaviour(name: "sends a valid response byte by byte", ending: .serves, outcome: .kept("ok")) { peer in
        _ = try peer.readRequest()
        for byte in "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\no\r\n1\r\nk\r\n0\r\nA: b\r\n\r\n"
          .utf8
        {
          try peer.send([byte])
        }
      },
      reply("sends the status 999", "HTTP/1.1 999 Request denied\r\n\(body)", then: .serves, .kept("ok", status: 999)),
    ]
}
