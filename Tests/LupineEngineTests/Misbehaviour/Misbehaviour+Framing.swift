// Misbehaviour+Framing: bodies whose length is given wrongly, twice or not at all (RFC 9112 §6), and unsolicited bytes.

import LupineCoding
import LupineEngine
import LupineOrigin
import Testing

extension Misbehaviour {
  static let framings = lengths + transferCodings + bodiless + leftOver + untilClose

  private static func sized(_ length: String, _ body: String = "ok") -> String {
    "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n\(body)"
  }

  private static let lengths: [Misbehaviour] =
    malformed([
      ("sends two different Content-Lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk"),
      ("sends two different Content-Length values in a list", sized("2, 3")),
      ("sends a negative Content-Length", sized("-2")), ("sends a Content-Length with a plus sign", sized("+2")),
      ("sends a Content-Length in hex", sized("0x2")), ("sends a Content-Length with a fraction", sized("2.0")),
      ("sends a Content-Length of 2^64", sized("18446744073709551616")),
      ("sends a Content-Length of 400 digits", sized(String(repeating: "9", count: 400))),
      ("sends an empty Content-Length", sized("")), ("sends a Content-Length with a space inside", sized("1 2")),
      ("sends a Content-Length with an empty list element", sized("2,")),
      ("sends a Content-Length of letters", sized("ok")), ("sends a Content-Length with a parameter", sized("2;a=b")),
      ("sends a Content-Length in Arabic digits", sized("٢")),
    ])
    + harmless([
      ("sends the same Content-Length twice", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nok"),
      ("sends the same Content-Length twice in a list", sized("2, 2")),
      ("sends a Content-Length with leading zeros", sized("000000000000000000000000002")),
    ]) + [
      reply("sends less than Content-Length and closes", sized("3"), then: .closes, .lost),
      reply("sends less than Content-Length and resets", sized("3"), then: .resets, .lost),
      reply("sends no byte of a body and closes", sized("1", ""), then: .closes, .lost),
      reply("sends a Content-Length of 2^64-1 and closes", sized("18446744073709551615"), then: .closes, .lost),
      reply("sends more than Content-Length", sized("2", "okay"), .closed("ok")),
      reply("sends a body with a Content-Length of 0", sized("0", "ok"), .closed("")),
    ]

  private static func coded(_ coding: String, _ body: String, version: String = "1.1", more: String = "") -> String {
    "HTTP/\(version) 200 OK\r\nTransfer-Encoding: \(coding)\r\n\(more)\r\n\(body)"
  }

  private static let chunked = "2\r\nok\r\n0\r\n\r\n"

  private static let transferCodings: [Misbehaviour] =
    malformed([
      ("declares chunked twice", coded("chunked, chunked", chunked)),
      ("declares chunked twice on two lines", coded("chunked", chunked, more: "Transfer-Encoding: chunked\r\n")),
      ("declares chunked before gzip", coded("chunked, gzip", chunked)),
      ("declares the transfer coding gzip without chunked", coded("gzip", chunked)),
      ("declares identity coding", coded("identity", "ok")), ("declares xchunked", coded("xchunked", chunked)),
      ("declares chunked with a parameter", coded("chunked;q=1", chunked)),
      ("declares the transfer coding brotli before chunked", coded("br, chunked", chunked)),
      ("declares an empty coding", coded("", chunked)), ("declares chunked in quotes", coded("\"chunked\"", chunked)),
      ("declares chunked after a vertical tab", coded("\u{B}chunked", chunked)),
      ("declares gzip six times before chunked", coded("gzip, gzip, gzip, gzip, gzip, gzip, chunked", chunked)),
    ])
    + harmless([("declares CHUNKED in capitals", coded("CHUNKED", chunked))]) + [
      reply(
        "sends Content-Length with chunked", coded("chunked", chunked, more: "Content-Length: 4\r\n"), .closed("ok")),
      reply(
        "declares chunked in HTTP/1.0", coded("chunked", chunked, version: "1.0", more: "Connection: keep-alive\r\n"),
        .closed("ok")),
      reply("applies gzip before chunked", inChunks("gzip, chunked", gzip("below")), then: .serves, .kept("below")),
      reply(
        "truncates gzip within chunked", inChunks("gzip, chunked", gzip("below").dropLast(3)),
        .fails(.decodingFailed, .receive)),
      reply(
        "declares gzip before chunked for plain text", inChunks("gzip, chunked", Array("plain".utf8)),
        .fails(.decodingFailed, .receive)),
    ]

  static func gzip(_ text: String) -> [UInt8] { encode(Array(text.utf8), .gzip) }

  static func encode(_ bytes: [UInt8], _ coding: ContentCoding) -> [UInt8] {
    do {
      return try ContentEncoder.encode(bytes, as: coding)
    } catch {
      preconditionFailure("A test's data can't be encoded: \(error)")
    }
  }

  /// Returns a response with chunked framing whose body is one chunk, or empty.
  static func inChunks(_ codings: String, _ body: some Collection<UInt8>, more: String = "") -> [UInt8] {
    var bytes = Array(coded(codings, "", more: more).utf8)
    ChunkedEncoder.append(Array(body).span, to: &bytes)
    ChunkedEncoder.appendEnd(to: &bytes)
    return bytes
  }

  private static let bodiless: [Misbehaviour] = [
    reply("sends a body to HEAD", sized("2"), .closed(""), { $0.method = "HEAD" }),
    reply("sends chunks to HEAD", coded("chunked", chunked), .closed(""), { $0.method = "HEAD" }),
    reply("sends Content-Length to HEAD", sized("2", ""), then: .serves, .kept(""), { $0.method = "HEAD" }),
    reply(
      "declares chunked without body to HEAD", coded("chunked", ""), then: .serves, .kept(""), { $0.method = "HEAD" }),
    reply("sends a malformed length to HEAD", sized("x", ""), then: .serves, .kept(""), { $0.method = "HEAD" }),
    reply("sends a body with 204", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nok", .closed("", status: 204)),
    reply("sends a length with 204", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n", .closed("", status: 204)),
    reply(
      "declares chunked with 204", "HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n", .closed("", status: 204)),
    reply(
      "sends a length of 0 with 204", "HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n", then: .serves,
      .kept("", status: 204)),
    reply("sends a body with 304", "HTTP/1.1 304 Same\r\nContent-Length: 2\r\n\r\nok", .closed("", status: 304)),
    reply(
      "declares chunked with 304", "HTTP/1.1 304 Same\r\nTransfer-Encoding: chunked\r\n\r\n", then: .serves,
      .kept("", status: 304)),
    reply(
      "sends a body with 205", "HTTP/1.1 205 Reset\r\nContent-Length: 2\r\n\r\nok", then: .serves,
      .kept("ok", status: 205)),
  ]

  private static let second = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

  private static let leftOver: [Misbehaviour] = [
    reply("sends two responses", sized("2") + second, .closed("ok")),
    reply("sends two responses, the first one chunked", coded("chunked", chunked) + second, .closed("ok")),
    reply("sends an empty line after a response", sized("2", "ok\r\n"), .closed("ok")),
    reply("sends half a response after a response", sized("2") + "HTTP/1.1 2", .closed("ok")),
    Misbehaviour(name: "sends a second response separately", outcome: .closed("ok")) { peer in
      _ = try peer.readRequest()
      try peer.send(sized("2"))
      try peer.send(second)
    },
    reply("sends a response after 204", "HTTP/1.1 204 No\r\n\r\n" + second, .closed("", status: 204)),
    reply("sends a response after the one to HEAD", sized("2", "") + second, .closed(""), { $0.method = "HEAD" }),
  ]

  private static let untilClose: [Misbehaviour] = [
    reply("ends a body by closing", "HTTP/1.1 200 OK\r\n\r\nok", then: .closes, .closed("ok")),
    reply("ends an empty body by closing", "HTTP/1.1 200 OK\r\n\r\n", then: .closes, .closed("")),
    reply("ends a body by resetting", "HTTP/1.1 200 OK\r\n\r\nok", then: .resets, .lost),
    reply(
      "declares keep-alive for a body that ends by closing", "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nok",
      then: .closes, .closed("ok")),
    reply(
      "ends a body that looks like a response by closing", "HTTP/1.1 200 OK\r\n\r\n" + second,
      then: .closes, .closed(second)),
  ]
}
