// Bodies whose end is told wrongly, twice or not at all (RFC 9112 §6), and bytes that no request asked for.

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
      ("has two different Content-Lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk"),
      ("has two different Content-Lengths in a list", sized("2, 3")),
      ("has a negative Content-Length", sized("-2")), ("has a Content-Length with a plus", sized("+2")),
      ("has a Content-Length in hex", sized("0x2")), ("has a Content-Length with a fraction", sized("2.0")),
      ("has a Content-Length of 2^64", sized("18446744073709551616")),
      ("has a Content-Length of 400 digits", sized(String(repeating: "9", count: 400))),
      ("has an empty Content-Length", sized("")), ("has a Content-Length with a space inside", sized("1 2")),
      ("has a Content-Length with an empty list element", sized("2,")),
      ("has a Content-Length of letters", sized("ok")), ("has a Content-Length with a parameter", sized("2;a=b")),
      ("has a Content-Length in Arabic digits", sized("٢")),
    ])
    + harmless([
      ("has the same Content-Length twice", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nok"),
      ("has the same Content-Length twice in a list", sized("2, 2")),
      ("has a Content-Length with leading zeros", sized("000000000000000000000000002")),
    ]) + [
      reply("sends less than Content-Length and closes", sized("3"), then: .closes, .lost),
      reply("sends less than Content-Length and resets", sized("3"), then: .resets, .lost),
      reply("sends nothing of a body and closes", sized("1", ""), then: .closes, .lost),
      reply("has a Content-Length of 2^64-1 and closes", sized("18446744073709551615"), then: .closes, .lost),
      reply("sends more than Content-Length", sized("2", "okay"), .closed("ok")),
      reply("sends a body where Content-Length is 0", sized("0", "ok"), .closed("")),
    ]

  private static func coded(_ coding: String, _ body: String, version: String = "1.1", more: String = "") -> String {
    "HTTP/\(version) 200 OK\r\nTransfer-Encoding: \(coding)\r\n\(more)\r\n\(body)"
  }

  private static let chunked = "2\r\nok\r\n0\r\n\r\n"

  private static let transferCodings: [Misbehaviour] =
    malformed([
      ("says chunked twice", coded("chunked, chunked", chunked)),
      ("says chunked twice on two lines", coded("chunked", chunked, more: "Transfer-Encoding: chunked\r\n")),
      ("says chunked before gzip", coded("chunked, gzip", chunked)),
      ("says gzip without chunked", coded("gzip", chunked)),
      ("says identity as a transfer coding", coded("identity", "ok")), ("says xchunked", coded("xchunked", chunked)),
      ("says chunked with a parameter", coded("chunked;q=1", chunked)),
      ("says brotli before chunked", coded("br, chunked", chunked)),
      ("has an empty Transfer-Encoding", coded("", chunked)), ("says chunked in quotes", coded("\"chunked\"", chunked)),
      ("says chunked with a vertical tab", coded("\u{B}chunked", chunked)),
      ("says gzip six times before chunked", coded("gzip, gzip, gzip, gzip, gzip, gzip, chunked", chunked)),
    ])
    + harmless([("says CHUNKED", coded("CHUNKED", chunked))]) + [
      reply(
        "has Content-Length beside chunked", coded("chunked", chunked, more: "Content-Length: 4\r\n"), .closed("ok")),
      reply(
        "says chunked in HTTP/1.0", coded("chunked", chunked, version: "1.0", more: "Connection: keep-alive\r\n"),
        .closed("ok")),
      reply("gzips below chunked", inChunks("gzip, chunked", gzip("below")), then: .serves, .kept("below")),
      reply(
        "breaks off its gzip below chunked", inChunks("gzip, chunked", gzip("below").dropLast(3)),
        .fails(.decodingFailed, .receive)),
      reply(
        "says gzip below chunked, and it isn't", inChunks("gzip, chunked", Array("plain".utf8)),
        .fails(.decodingFailed, .receive)),
    ]

  static func gzip(_ text: String) -> [UInt8] { encode(Array(text.utf8), .gzip) }

  static func encode(_ bytes: [UInt8], _ coding: ContentCoding) -> [UInt8] {
    do {
      return try ContentEncoder.encode(bytes, as: coding)
    } catch {
      preconditionFailure("there is memory for a test: \(error)")
    }
  }

  /// A response whose body is one chunk, or none if it is empty.
  static func inChunks(_ codings: String, _ body: some Collection<UInt8>, more: String = "") -> [UInt8] {
    var bytes = Array(coded(codings, "", more: more).utf8)
    ChunkedEncoder.append(Array(body).span, to: &bytes)
    ChunkedEncoder.appendEnd(to: &bytes)
    return bytes
  }

  private static let bodiless: [Misbehaviour] = [
    reply("sends a body to HEAD", sized("2"), .closed(""), { $0.method = "HEAD" }),
    reply("sends chunks to HEAD", coded("chunked", chunked), .closed(""), { $0.method = "HEAD" }),
    reply("tells HEAD a length without a body", sized("2", ""), then: .serves, .kept(""), { $0.method = "HEAD" }),
    reply(
      "tells HEAD that a body would be chunked", coded("chunked", ""), then: .serves, .kept(""), { $0.method = "HEAD" }),
    reply("tells HEAD a wrong length", sized("x", ""), then: .serves, .kept(""), { $0.method = "HEAD" }),
    reply("sends a body with 204", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nok", .closed("", status: 204)),
    reply(
      "has a length with 204", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n", then: .serves, .kept("", status: 204)),
    reply("sends a body with 304", "HTTP/1.1 304 Same\r\nContent-Length: 2\r\n\r\nok", .closed("", status: 304)),
    reply(
      "says chunked with 304", "HTTP/1.1 304 Same\r\nTransfer-Encoding: chunked\r\n\r\n", then: .serves,
      .kept("", status: 304)),
    reply(
      "sends a body with 205", "HTTP/1.1 205 Reset\r\nContent-Length: 2\r\n\r\nok", then: .serves,
      .kept("ok", status: 205)),
  ]

  private static let second = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

  private static let leftOver: [Misbehaviour] = [
    reply("sends two responses", sized("2") + second, .closed("ok")),
    reply("sends two responses, the first one chunked", coded("chunked", chunked) + second, .closed("ok")),
    reply("sends an empty line behind a response", sized("2", "ok\r\n"), .closed("ok")),
    reply("sends half a response behind a response", sized("2") + "HTTP/1.1 2", .closed("ok")),
    Misbehaviour(name: "sends a second response when the first one has been read", outcome: .closed("ok")) { peer in
      _ = try peer.readRequest()
      try peer.send(sized("2"))
      try peer.send(second)
    },
    reply("sends a response behind 204", "HTTP/1.1 204 No\r\n\r\n" + second, .closed("", status: 204)),
    reply("sends a response behind the one to HEAD", sized("2", "") + second, .closed(""), { $0.method = "HEAD" }),
  ]

  private static let untilClose: [Misbehaviour] = [
    reply("ends a body by closing", "HTTP/1.1 200 OK\r\n\r\nok", then: .closes, .closed("ok")),
    reply("ends an empty body by closing", "HTTP/1.1 200 OK\r\n\r\n", then: .closes, .closed("")),
    reply("ends a body by a reset", "HTTP/1.1 200 OK\r\n\r\nok", then: .resets, .lost),
    reply(
      "promises to keep alive what ends by closing", "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nok",
      then: .closes, .closed("ok")),
    reply(
      "sends what looks like a response in a body that ends by closing", "HTTP/1.1 200 OK\r\n\r\n" + second,
      then: .closes, .closed(second)),
  ]
}
