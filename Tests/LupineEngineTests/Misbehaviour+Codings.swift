// Bodies whose content coding is broken, unknown, stacked or a bomb (RFC 9110 §8.4).

import LupineCoding
import LupineEngine
import LupineOrigin
import Testing

extension Misbehaviour {
  static let codings = broken + unknown + bombs + good

  private static func coded(_ coding: String, _ body: [UInt8], status: Int = 200) -> [UInt8] {
    Array("HTTP/1.1 \(status) X\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
  }

  private static let text = "a text that is long enough to be coded, and coded again and again and again"
  private static let zipped = gzip(text)
  private static let deflated = encode(Array(text.utf8), .deflate)
  private static let brotli = encode(Array(text.utf8), .brotli)

  /// The bytes with one of them changed; counted from the end if the place is negative.
  private static func damaged(_ bytes: [UInt8], at place: Int, by mask: UInt8 = 0xFF) -> [UInt8] {
    var bytes = bytes
    bytes[place < 0 ? bytes.count + place : place] ^= mask
    return bytes
  }

  /// The first bytes; a negative count is that of those left out at the end.
  private static func first(_ count: Int, of bytes: [UInt8]) -> [UInt8] {
    Array(count < 0 ? bytes.dropLast(-count) : bytes.prefix(count))
  }

  private static func failing(_ name: String, _ coding: String, _ body: [UInt8]) -> Misbehaviour {
    reply(name, coded(coding, body), .fails(.decodingFailed, .receive))
  }

  // CMF, FLG with FDICT, DICTID (RFC 1950 §2.2)
  private static let withDictionary: [UInt8] = [0x78, 0xBB, 1, 2, 3, 4] + deflated.dropFirst(2)

  private static let broken: [Misbehaviour] = [
    failing("breaks off its gzip in the header", "gzip", first(5, of: zipped)),
    failing("breaks off its gzip in the data", "gzip", first(20, of: zipped)),
    failing("breaks off its gzip in the checksum", "gzip", first(-6, of: zipped)),
    failing("breaks off its gzip one byte before the end", "gzip", first(-1, of: zipped)),
    failing("has a wrong CRC in its gzip", "gzip", damaged(zipped, at: -8)),
    failing("has a wrong length in its gzip", "gzip", damaged(zipped, at: -1)),
    failing("has a damaged byte in its gzip", "gzip", damaged(zipped, at: 12)),
    failing("has reserved flags in its gzip", "gzip", damaged(zipped, at: 3, by: 0xE0)),
    failing("has an unknown method in its gzip", "gzip", damaged(zipped, at: 2)),
    failing("has garbage behind its gzip", "gzip", zipped + Array("garbage".utf8)),
    failing("has half a second member behind its gzip", "gzip", zipped + first(12, of: zipped)),
    failing("says gzip of plain text", "gzip", Array("plain".utf8)),
    failing("says gzip of one byte", "gzip", [0x1F]),
    failing("says gzip of deflate", "gzip", deflated),
    failing("asks for a dictionary in its deflate", "deflate", withDictionary),
    failing("breaks off its deflate", "deflate", first(-5, of: deflated)),
    failing("has a wrong checksum in its deflate", "deflate", damaged(deflated, at: -1)),
    failing("has garbage behind its deflate", "deflate", deflated + [0]),
    failing("says deflate of plain text", "deflate", Array("\u{7}plain".utf8)),
    failing("breaks off its brotli", "br", first(-3, of: brotli)),
    failing("has garbage behind its brotli", "br", brotli + [1, 2, 3]),
    failing("says brotli of garbage", "br", [UInt8](repeating: 0xFF, count: 50)),
    failing("says two codings and has one", "deflate, gzip", zipped),
    failing("says two codings in the wrong order", "gzip, deflate", encode(deflated, .gzip)),
  ]

  private static let terminal = "ä\u{9B}2J\u{2028}"

  private static let unknown: [Misbehaviour] =
    ["zstd", "compress", "aws-chunked", "utf-8", "none", "binary", "foo"].map { untouched("says \($0)", $0, zipped) }
    + [
      untouched("says gzip with a parameter", "gzip;q=1", zipped),
      untouched("says a coding that could steer a terminal", terminal, zipped),
      untouched("says a coding of 5000 letters", String(repeating: "x", count: 5000), zipped),
      untouched("says a known and an unknown coding", "gzip, unheard-of", zipped),
      untouched("says an unknown and a known coding", "unheard-of, gzip", zipped),
      untouched("says an unknown coding of nothing", "unheard-of", []),
      refusing("says zstd where unknown codings are refused", "zstd", told: #""zstd""#),
      refusing("says an unknown coding above a known one where those are refused", "gzip, foo", told: #""foo""#),
      refusing("says an unknown coding below a known one where those are refused", "foo, gzip", told: #""foo""#),
      refusing("says a coding that would steer a terminal", terminal, told: "unknown"),
      failing("says six codings", "gzip, gzip, gzip, gzip, gzip, gzip", zipped),
      failing("says six codings, the last one unknown", "gzip, gzip, gzip, gzip, gzip, unheard-of", zipped),
      failing("says 5000 codings", String(repeating: "gzip,", count: 5000), zipped),
      failing("says brotli twice", "br, br", encode(brotli, .brotli)),
    ]

  /// A body with a coding that the engine doesn't know, which is handed over as it was sent.
  private static func untouched(_ name: String, _ coding: String, _ body: [UInt8]) -> Misbehaviour {
    reply(name, coded(coding, body), then: .serves, .kept(String(decoding: body, as: UTF8.self)))
  }

  /// The same, and an engine that refuses those.
  private static func refusing(_ name: String, _ coding: String, told: String) -> Misbehaviour {
    var misbehaviour = failing(name, coding, zipped)
    misbehaviour.told = told
    misbehaviour.configure = { $0.codings.refusesUnknownCodings = true }
    return misbehaviour
  }

  /// 10 MB of zeros in about 10 KB.
  private static let bomb = gzip(String(repeating: "\0", count: 10_000_000))

  private static let bombs: [Misbehaviour] = [
    reply("sends a bomb of gzip", coded("gzip", bomb), .fails(.bodyTooLarge, .receive), { $0.bodyBytesMax = 100_000 }),
    reply(
      "sends a bomb of deflate", coded("deflate", encode([UInt8](repeating: 0, count: 10_000_000), .deflate)),
      .fails(.bodyTooLarge, .receive), { $0.bodyBytesMax = 100_000 }),
    reply(
      "sends a bomb of brotli", coded("br", encode([UInt8](repeating: 0, count: 10_000_000), .brotli)),
      .error([.bodyTooLarge, .decodingFailed], [.receive]), { $0.bodyBytesMax = 100_000 }),
    reply("sends a bomb in a bomb", coded("gzip, gzip", encode(bomb, .gzip)), .fails(.decodingFailed, .receive)),
    reply(
      "sends a bomb as a transfer coding", inChunks("gzip, chunked", bomb), .fails(.bodyTooLarge, .receive),
      { $0.bodyBytesMax = 100_000 }),
    reply(
      "sends a byte more than is allowed", coded("gzip", gzip(text)), .fails(.bodyTooLarge, .receive),
      { $0.bodyBytesMax = text.utf8.count - 1 }),
    reply(
      "sends a body without end", "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "a", count: 200_000),
      .fails(.bodyTooLarge, .receive), { $0.bodyBytesMax = 100_000 }),
    reply(
      "sends just as much as is allowed", coded("gzip", gzip(text)), then: .serves, .kept(text),
      { $0.bodyBytesMax = text.utf8.count }),
  ]

  private static let five = (0..<5).reduce(Array(text.utf8)) { bytes, _ in encode(bytes, .gzip) }

  private static func decoding(_ name: String, _ coding: String, _ body: [UInt8]) -> Misbehaviour {
    reply(name, coded(coding, body), then: .serves, .kept(text))
  }

  /// A response without the body that its fields describe.
  private static func bodiless(
    _ name: String, _ coding: String, method: String = "GET", status: Int = 200
  ) -> Misbehaviour {
    let head = first(-zipped.count, of: coded(coding, zipped, status: status))
    return reply(name, head, then: .serves, .kept("", status: status), { $0.method = method })
  }

  private static let twoMembers: [UInt8] = gzip(String(text.prefix(30))) + gzip(String(text.dropFirst(30)))

  private static let good: [Misbehaviour] = [
    decoding("sends deflate without its wrapper", "deflate", Array(deflated.dropFirst(2).dropLast(4))),
    decoding("sends two members of gzip", "gzip", twoMembers),
    decoding("stacks five codings", "gzip, gzip, x-gzip, GZIP, gzip", five),
    decoding("says identity beside gzip", "identity, , gzip", zipped),
    decoding("sends two codings", "gzip, br", encode(zipped, .brotli)),
    decoding("says gzip on two lines", "gzip\r\nContent-Encoding: gzip", encode(zipped, .gzip)),
    bodiless("says gzip to HEAD", "gzip", method: "HEAD"),
    bodiless("says an unknown coding to HEAD", "zstd", method: "HEAD"),
    bodiless("says gzip with 304", "gzip", status: 304),
    bodiless("says an unknown coding with 304", "zstd", status: 304),
    reply("says gzip with 204", coded("gzip", [], status: 204), then: .serves, .kept("", status: 204)),
    reply("says gzip of nothing", coded("gzip", []), then: .serves, .kept("")),
    reply(
      "says gzip of nothing in chunks", inChunks("chunked", [], more: "Content-Encoding: gzip\r\n"), then: .serves,
      .kept("")),
    reply(
      "says an unknown coding to whoever decodes nothing", coded("zstd", Array("as it is".utf8)), then: .serves,
      .kept("as it is"), { $0.decodesContent = false }),
  ]
}
