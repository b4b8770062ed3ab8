// Response vectors for replies that aren't HTTP/1.x, and bytes that a head must not contain (RFC 9112 §2.2, §4; RFC
// 9110 §5.5).

import LupineWire

// The end of a head, for vectors that test the bytes before it.
private let empty = "Content-Length: 0\r\n\r\n"

extension ResponseVector {
  static let garbage: [ResponseVector] = [
    .bad("SSH", "SSH-2.0-OpenSSH_9.6\r\n", .notHTTP(prefix: "SSH-2.0-OpenSSH_")),
    .bad("SMTP", "220 mail ESMTP\r\n", .notHTTP(prefix: "220 mail ESMTP")),
    .bad("a TLS alert", "\u{15}\u{03}\u{01}\0\u{02}\u{02}\u{46}", .notHTTP(prefix: "??????F")),
    .bad("an HTTP/2 SETTINGS frame", "\0\0\u{12}\u{04}\0\0\0\0\0", .notHTTP(prefix: "?????????")),
    .bad("Icecast's ICY", "ICY 200 OK\r\n\(empty)", .notHTTP(prefix: "ICY 200 OK")),
    .bad("HTTP/0.9: the content alone", "<html></html>", .notHTTP(prefix: "<html></html>")),
    .bad("a lower-case http", "http/1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "http/1.1 200 OK")),
    .bad("a space before HTTP", " HTTP/1.1 200 OK\r\n\(empty)", .notHTTP(prefix: " HTTP/1.1 200 OK")),
    .bad("an empty line before HTTP", "\r\nHTTP/1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "")),
    .bad("a request for a response", "GET / HTTP/1.1\r\n\r\n", .notHTTP(prefix: "GET / HTTP/1.1")),
    .bad("an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .notHTTP(prefix: "PRI * HTTP/2.0")),
    .bad(
      "an HTTP/2 GOAWAY frame", "\0\0\u{08}\u{07}\0\0\0\0\0\0\0\0\0\0\0\0\u{01}", .notHTTP(prefix: "????????????????")),
    .bad("a TLS handshake", "\u{16}\u{03}\u{03}\0\u{31}\u{02}", .notHTTP(prefix: "????1?")),
    .bad("a SOCKS 5 reply", "\u{05}\u{FF}", .notHTTP(prefix: "??")),
    .bad("FTP", "220 (vsFTPd 3.0.5)\r\n", .notHTTP(prefix: "220 (vsFTPd 3.0.")),
    .bad("POP3", "+OK ready\r\n", .notHTTP(prefix: "+OK ready")),
    .bad("IMAP", "* OK IMAP4rev1\r\n", .notHTTP(prefix: "* OK IMAP4rev1")),
    .bad("Redis", "-ERR unknown command\r\n", .notHTTP(prefix: "-ERR unknown com")),
    .bad("memcached", "ERROR\r\n", .notHTTP(prefix: "ERROR")),
    .bad("RTSP", "RTSP/1.0 200 OK\r\n\r\n", .notHTTP(prefix: "RTSP/1.0 200 OK")),
    .bad("SIP", "SIP/2.0 200 OK\r\n\r\n", .notHTTP(prefix: "SIP/2.0 200 OK")),
    .bad("JSON alone", "{\"a\":1}", .notHTTP(prefix: "{\"a\":1}")),
    .bad("HTTPS", "HTTPS/1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "HTTPS/1.1 200 OK")),
    .bad("a space in HTTP", "HTTP /1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "HTTP /1.1 200 OK")),
    .bad("a backslash after HTTP", "HTTP\\1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "HTTP\\1.1 200 OK")),
    .bad(
      "a byte order mark before HTTP", "\u{EF}\u{BB}\u{BF}HTTP/1.1 200 OK\r\n\(empty)",
      .notHTTP(prefix: "???HTTP/1.1 200 ")),
    .bad("NUL before HTTP", "\0HTTP/1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "?HTTP/1.1 200 OK")),
    .bad("an LF before HTTP", "\nHTTP/1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "")),
    .bad("a CR before HTTP", "\rHTTP/1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "")),
    .bad("a tab before HTTP", "\tHTTP/1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "?HTTP/1.1 200 OK")),
    .bad("HTTP after a line of something else", "x\r\nHTTP/1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "x")),
    .bad("Http in another case", "Http/1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "Http/1.1 200 OK")),
    .bad("a fullwidth H", "\u{EF}\u{BC}\u{A8}TTP/1.1 200 OK\r\n\(empty)", .notHTTP(prefix: "???TTP/1.1 200 O")),
  ]

  /// Responses with each control character except HTAB, CR and LF, in each part of a head and of a trailer section.
  static let controls: [ResponseVector] = [
    0x00, 0x01, 0x07, 0x08, 0x0B, 0x0C, 0x0E, 0x1A, 0x1B, 0x1F, 0x7F,
  ].flatMap { (byte: UInt8) -> [ResponseVector] in
    let (name, character) = ("0x" + String(byte, radix: 16), String(Unicode.Scalar(byte)))
    func bad(_ place: String, _ wire: String, offset: Int) -> ResponseVector {
      .bad("\(name) \(place)", wire.replacing("¿", with: character), .forbiddenByte(byte, offset: offset))
    }
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    return [
      bad("in a version", "HTTP/1¿1 200 OK\r\n\(empty)", offset: 6),
      bad("in a status", "HTTP/1.1 2¿0 OK\r\n\(empty)", offset: 10),
      bad("after a status", "HTTP/1.1 200¿\r\n\(empty)", offset: 12),
      bad("before a name", "HTTP/1.1 200 OK\r\n¿A: b\r\n\(empty)", offset: 17),
      bad("after a name", "HTTP/1.1 200 OK\r\nA¿: b\r\n\(empty)", offset: 18),
      bad("before a value", "HTTP/1.1 200 OK\r\nA:¿b\r\n\(empty)", offset: 19),
      bad("after a value", "HTTP/1.1 200 OK\r\nA: b¿\r\n\(empty)", offset: 21),
      bad("for the empty line", "HTTP/1.1 200 OK\r\n¿\r\n", offset: 17),
      bad("in a trailer's name", "\(chunked)A¿: b\r\n\r\n", offset: 1),
      bad("in a trailer's value", "\(chunked)A: b¿\r\n\r\n", offset: 4),
    ]
  }
}
