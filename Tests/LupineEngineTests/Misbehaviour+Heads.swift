// Response heads that break RFC 9112, that are too long, that break off, or that merely look odd.

import LupineEngine
import LupineOrigin
import Testing

extension Misbehaviour {
  static let heads = statusLines + fieldLines + foreign + oversized + cutHeads + odd

  private static let body = "Content-Length: 2\r\n\r\nok"

  private static let statusLines: [Misbehaviour] = malformed([
    ("says HTTP/3.0", "HTTP/3.0 200 OK\r\n\(body)"),
    ("says HTTP/2", "HTTP/2 200\r\n\(body)"),
    ("says HTTP/1", "HTTP/1 200 OK\r\n\(body)"),
    ("says HTTP/1.10", "HTTP/1.10 200 OK\r\n\(body)"),
    ("says HTTP/01.1", "HTTP/01.1 200 OK\r\n\(body)"),
    ("says http/1.1 in small letters", "http/1.1 200 OK\r\n\(body)"),
    ("has the status 099", "HTTP/1.1 099 Low\r\n\(body)"),
    ("has the status 1000", "HTTP/1.1 1000 High\r\n\(body)"),
    ("has the status 20", "HTTP/1.1 20 Short\r\n\(body)"),
    ("has the status -20", "HTTP/1.1 -20 Minus\r\n\(body)"),
    ("has the status 2x0", "HTTP/1.1 2x0 OK\r\n\(body)"),
    ("has the status ２００ in wide digits", "HTTP/1.1 ２００ OK\r\n\(body)"),
    ("has no status", "HTTP/1.1 OK\r\n\(body)"),
    ("has a version and no more", "HTTP/1.1\r\n\(body)"),
    ("has two spaces before the status", "HTTP/1.1  200 OK\r\n\(body)"),
    ("has a tab before the status", "HTTP/1.1\t200 OK\r\n\(body)"),
    ("has no space behind the status", "HTTP/1.1 200OK\r\n\(body)"),
    ("has a NUL in its reason", "HTTP/1.1 200 O\0K\r\n\(body)"),
    ("has an escape sequence in its reason", "HTTP/1.1 200 \u{1B}[2J\r\n\(body)"),
    ("has a bare CR in its status line", "HTTP/1.1 200 O\rK\r\n\(body)"),
    ("begins with an empty line", "\r\nHTTP/1.1 200 OK\r\n\(body)"),
    ("begins with a space", " HTTP/1.1 200 OK\r\n\(body)"),
    ("begins with a byte order mark", "\u{FEFF}HTTP/1.1 200 OK\r\n\(body)"),
  ])

  private static let fieldLines: [Misbehaviour] = malformed(
    [
      ("has a NUL in a field", "A: a\0b"), ("has a NUL in a field's name", "A\0B: a"),
      ("has a bare CR in a field", "A: a\rb"), ("has a bare CR before the line's end", "A: a\r\r"),
      ("has the byte 0x01 in a field", "A: \u{1}"), ("has the byte 0x7F in a field", "A: \u{7F}"),
      ("begins its fields with a fold", " A: a"), ("has a space before the colon", "A : a"),
      ("has a tab before the colon", "A\t: a"), ("has a field without a name", ": a"),
      ("has a field without a colon", "no colon"), ("has a space in a field's name", "A B: a"),
      ("has an umlaut in a field's name", "Ä: a"), ("has a bracket in a field's name", "A(b): a"),
      ("has a second status line among its fields", "HTTP/1.1 200 OK"),
    ].map { ($0.0, "HTTP/1.1 200 OK\r\n\($0.1)\r\n\(body)") })

  private static let foreign: [Misbehaviour] =
    malformed([
      ("answers in HTTP/0.9", "<html>hello</html>\n"),
      ("answers with HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      ("answers with HTTP/2's settings", "\0\0\u{C}\u{4}\0\0\0\0\0"),
      ("answers in SMTP", "220 mail.example ESMTP\r\n"),
      ("answers in FTP, over many lines", "220-Welcome\r\n220 ready\r\n"),
      ("answers in ICY", "ICY 200 OK\r\n\(body)"),
      ("answers with the request", "GET /main HTTP/1.1\r\nHost: x\r\n\r\n"),
      ("answers with what would steer a terminal", "\u{1B}]0;evil\u{7}\u{9B}2J\u{2028}\r\n\r\n"),
    ]) + [
      reply("answers with random bytes", (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }, .malformed)
    ]

  /// A script that sends one block again and again, until the client has had enough.
  private static func endless(_ name: String, _ start: String, _ block: String, told: String) -> Misbehaviour {
    Misbehaviour(name: name, told: told, outcome: .malformed) { peer in
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
      "sends a status line without end", "HTTP/1.1 200 ", String(repeating: "a", count: 1000), told: "65536 bytes"),
    endless(
      "sends a field without end", "HTTP/1.1 200 OK\r\nA: ", String(repeating: "a", count: 1000), told: "65536 bytes"),
    endless(
      "sends a field's name without end", "HTTP/1.1 200 OK\r\n", String(repeating: "a", count: 1000),
      told: "65536 bytes"),
    endless("sends fields without end", "HTTP/1.1 200 OK\r\n", "A: a\r\n", told: "256 field lines"),
    endless(
      "sends folds without end", "HTTP/1.1 200 OK\r\nA: a\r\n", String(repeating: " a\r\n", count: 100),
      told: "65536 bytes"),
    endless("sends a field byte for byte without end", "HTTP/1.1 200 OK\r\nA: ", "a", told: "65536 bytes"),
    reply("sends a head of 65,536 bytes", head(byteCount: 65_536), then: .serves, .kept("ok")),
    reply("sends a head of 65,537 bytes", head(byteCount: 65_537), .malformed),
    reply("sends 256 fields", head(fieldCount: 256), then: .serves, .kept("ok")),
    reply("sends 257 fields", head(fieldCount: 257), .malformed),
  ]

  private static let cutHeads: [Misbehaviour] =
    [
      ("breaks off behind the first letter", "H"), ("breaks off in the version", "HTTP/1."),
      ("breaks off behind a status line without its end", "HTTP/1.1 200 OK"),
      ("breaks off between CR and LF", "HTTP/1.1 200 OK\r"),
      ("breaks off behind the status line", "HTTP/1.1 200 OK\r\n"),
      ("breaks off in a field", "HTTP/1.1 200 OK\r\nContent-Le"),
      ("breaks off before the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"),
      ("breaks off in the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r"),
    ].map { reply($0.0, $0.1, then: .closes, .lost) } + [
      reply("closes without a reply", "", then: .closes, .fails(.connectionLost, .firstByte)),
      reply("resets without a reply", "", then: .resets, .fails(.connectionLost, .firstByte)),
      reply("resets in the head", "HTTP/1.1 200 OK\r\nA", then: .resets, .lost),
    ]

  private static let odd: [Misbehaviour] =
    harmless([
      ("says HTTP/1.2", "HTTP/1.2 200 OK\r\n\(body)"), ("has no reason", "HTTP/1.1 200 \r\n\(body)"),
      ("has no space where the reason would be", "HTTP/1.1 200\r\n\(body)"),
      ("has an umlaut in its reason", "HTTP/1.1 200 Schön\r\n\(body)"),
      ("ends its lines with LF alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
      ("folds a field", "HTTP/1.1 200 OK\r\nA: a\r\n b\r\n\t c\r\n\(body)"),
      ("folds Content-Length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok"),
      ("has an empty field", "HTTP/1.1 200 OK\r\nA:\r\n\(body)"),
      ("has white space around a field", "HTTP/1.1 200 OK\r\nA: \t a \t \r\n\(body)"),
      ("has bytes beyond ASCII in a field", "HTTP/1.1 200 OK\r\nA: ä\u{2028}\r\n\(body)"),
    ]) + [
      Misbehaviour(name: "sends a good response byte by byte", ending: .serves, outcome: .kept("ok")) { peer in
        _ = try peer.readRequest()
        for byte in "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\no\r\n1\r\nk\r\n0\r\nA: b\r\n\r\n"
          .utf8
        {
          try peer.send([byte])
        }
      },
      reply("has the status 999", "HTTP/1.1 999 Request denied\r\n\(body)", then: .serves, .kept("ok", status: 999)),
    ]
}
