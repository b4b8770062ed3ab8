// Misbehaviour+Codings: bodies whose content coding is broken, unknown, nested or a decompression bomb (RFC 9110 §8.4).

import LupineCoding
import LupineEngine
import LupineOrigin
import Testing

extension Misbehaviour {
  static let codings = broken + unknown + bombs + good + zstd

  private static func coded(_ coding: String, _ body: [UInt8], status: Int = 200) -> [UInt8] {
    Array("HTTP/1.1 \(status) X\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
  }

  private static let text = "a text that is long enough to be coded, and coded again and again and again"
  private static let zipped = gzip(text)
  private static let deflated = encode(Array(text.utf8), .deflate)
  private static let brotli = encode(Array(text.utf8), .brotli)

  /// Returns the bytes with one byte changed. A negative index counts from the end.
  private static func damaged(_ bytes: [UInt8], at place: Int, by mask: UInt8 = 0xFF) -> [UInt8] {
    var bytes = bytes
    bytes[place < 0 ? bytes.count + place : place] ^= mask
    return bytes
  }

  /// Returns the first `count` bytes. If `count` is negative, returns all but the last `-count` bytes.
  private static func first(_ count: Int, of bytes: [UInt8]) -> [UInt8] {
    Array(count < 0 ? bytes.dropLast(-count) : bytes.prefix(count))
  }

  private static func failing(_ name: String, _ coding: String, _ body: [UInt8]) -> Misbehaviour {
    reply(name, coded(coding, body), .fails(.decodingFailed, .receive))
  }

  // A zlib header with a preset dictionary: CMF, FLG with FDICT, and DICTID (RFC 1950 §2.2).
  private static let withDictionary: [UInt8] = [0x78, 0xBB, 1, 2, 3, 4] + deflated.dropFirst(2)

  private static let broken: [Misbehaviour] = [
    failing("truncates gzip in the header", "gzip", first(5, of: zipped)),
    failing("truncates gzip in the data", "gzip", first(20, of: zipped)),
    failing("truncates gzip in the checksum", "gzip", first(-6, of: zipped)),
    failing("truncates gzip by one byte", "gzip", first(-1, of: zipped)),
    failing("sends gzip with a wrong CRC", "gzip", damaged(zipped, at: -8)),
    failing("sends gzip with a wrong length", "gzip", damaged(zipped, at: -1)),
    failing("sends gzip with a damaged byte", "gzip", damaged(zipped, at: 12)),
    failing("sends gzip with reserved flags", "gzip", damaged(zipped, at: 3, by: 0xE0)),
    failing("sends gzip with an unknown method", "gzip", damaged(zipped, at: 2)),
    failing("sends garbage after gzip", "gzip", zipped + Array("garbage".utf8)),
    failing("sends half of a second gzip member", "gzip", zipped + first(12, of: zipped)),
    failing("labels plain text as gzip", "gzip", Array("plain".utf8)),
    failing("labels a single byte as gzip", "gzip", [0x1F]),
    failing("labels deflate as gzip", "gzip", deflated),
    failing("sends deflate that requires a dictionary", "deflate", withDictionary),
    failing("truncates deflate", "deflate", first(-5, of: deflated)),
    failing("sends deflate with a wrong checksum", "deflate", damaged(deflated, at: -1)),
    failing("sends garbage after deflate", "deflate", deflated + [0]),
    failing("labels plain text as deflate", "deflate", Array("\u{7}plain".utf8)),
    failing("truncates brotli", "br", first(-3, of: brotli)),
    failing("sends garbage after brotli", "br", brotli + [1, 2, 3]),
    failing("labels garbage as brotli", "br", [UInt8](repeating: 0xFF, count: 50)),
    failing("names two codings and applies one", "deflate, gzip", zipped),
    failing("names two codings in the wrong order", "gzip, deflate", encode(deflated, .gzip)),
  ]

  private static let terminal = "ä\u{9B}2J\u{2028}"

  private static let unknown: [Misbehaviour] =
    ["lz4", "compress", "aws-chunked", "utf-8", "none", "binary", "foo"].map {
      untouched("names the coding \($0)", $0, zipped)
    }
    + [
      untouched("names gzip with a parameter", "gzip;q=1", zipped),
      untouched("names a coding with terminal control characters", terminal, zipped),
      untouched("names a coding of 5000 letters", String(repeating: "x", count: 5000), zipped),
      untouched("names a known and an unknown coding", "gzip, unheard-of", zipped),
      untouched("names an unknown and a known coding", "unheard-of, gzip", zipped),
      untouched("labels an empty body with an unknown coding", "unheard-of", []),
      refusing("names lz4", "lz4", quote: #""lz4""#),
      refusing("names an unknown coding after a known one", "gzip, foo", quote: #""foo""#),
      refusing("names an unknown coding before a known one", "foo, gzip", quote: #""foo""#),
      refusing("names a coding with terminal control characters", terminal, quote: "supported"),
      failing("names six codings", "gzip, gzip, gzip, gzip, gzip, gzip", zipped),
      failing("names six codings, the last one unknown", "gzip, gzip, gzip, gzip, gzip, unheard-of", zipped),
      failing("names 5000 codings", String(repeating: "gzip,", count: 5000), zipped),
      failing("names brotli twice", "br, br", encode(brotli, .brotli)),
    ]

  /// Creates a peer that sends a body with an unknown content coding. The engine delivers the body as received.
  private static func untouched(_ name: String, _ coding: String, _ body: [UInt8]) -> Misbehaviour {
    reply(name, coded(coding, body), then: .serves, .kept(String(decoding: body, as: UTF8.self)))
  }

  /// Creates a peer that sends a body with an unknown content coding to an engine whose settings refuse such codings.
  private static func refusing(_ name: String, _ coding: String, quote: String) -> Misbehaviour {
    var misbehaviour = failing("\(name), which the engine refuses", coding, zipped)
    misbehaviour.quote = quote
    misbehaviour.configure = { $0.codings.refusesUnknownCodings = true }
    return misbehaviour
  }

  /// A decompression bomb: 10 MB of zeros, compressed by gzip to about 10 KB.
  private static let bomb = gzip(String(repeating: "\0", count: 10_000_000))

  private static let bombs: [Misbehaviour] = [
    reply("sends a gzip bomb", coded("gzip", bomb), .fails(.bodyTooLarge, .receive), { $0.bodyBytesMax = 100_000 }),
    reply(
      "sends a deflate bomb", coded("deflate", encode([UInt8](repeating: 0, count: 10_000_000), .deflate)),
      .fails(.bodyTooLarge, .receive), { $0.bodyBytesMax = 100_000 }),
    reply(
      "sends a brotli bomb", coded("br", encode([UInt8](repeating: 0, count: 10_000_000), .brotli)),
      .error([.bodyTooLarge, .decodingFailed], [.receive]), { $0.bodyBytesMax = 100_000 }),
    reply("sends a gzip bomb within gzip", coded("gzip, gzip", encode(bomb, .gzip)), .fails(.decodingFailed, .receive)),
    reply(
      "sends a gzip bomb as a transfer coding", inChunks("gzip, chunked", bomb), .fails(.bodyTooLarge, .receive),
      { $0.bodyBytesMax = 100_000 }),
    reply(
      "sends one byte more than the body limit", coded("gzip", gzip(text)), .fails(.bodyTooLarge, .receive),
      { $0.bodyBytesMax = text.utf8.count - 1 }),
    reply(
      "sends a body far beyond the limit", "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "a", count: 200_000),
      .fails(.bodyTooLarge, .receive), { $0.bodyBytesMax = 100_000 }),
    reply(
      "sends exactly as much as the body limit", coded("gzip", gzip(text)), then: .serves, .kept(text),
      { $0.bodyBytesMax = text.utf8.count }),
  ]

  private static let five = (0..<5).reduce(Array(text.utf8)) { bytes, _ in encode(bytes, .gzip) }

  private static func decoding(_ name: String, _ coding: String, _ body: [UInt8]) -> Misbehaviour {
    reply(name, coded(coding, body), then: .serves, .kept(text))
  }

  /// Creates a peer that sends only a response head, whose fields announce a body.
  private static func bodiless(
    _ name: String, _ coding: String, method: String = "GET", status: Int = 200
  ) -> Misbehaviour {
    let head = first(-zipped.count, of: coded(coding, zipped, status: status))
    return reply(name, head, then: .serves, .kept("", status: status), { $0.method = method })
  }

  private static let twoMembers: [UInt8] = gzip(String(text.prefix(30))) + gzip(String(text.dropFirst(30)))

  private static let good: [Misbehaviour] = [
    decoding("sends deflate without its zlib wrapper", "deflate", Array(deflated.dropFirst(2).dropLast(4))),
    decoding("sends two gzip members", "gzip", twoMembers),
    decoding("applies five codings", "gzip, gzip, x-gzip, GZIP, gzip", five),
    decoding("names identity and gzip", "identity, , gzip", zipped),
    decoding("applies two codings", "gzip, br", encode(zipped, .brotli)),
    decoding("names gzip on two lines", "gzip\r\nContent-Encoding: gzip", encode(zipped, .gzip)),
    bodiless("names gzip in reply to HEAD", "gzip", method: "HEAD"),
    bodiless("names an unknown coding in reply to HEAD", "lz4", method: "HEAD"),
    bodiless("names gzip with 304", "gzip", status: 304),
    bodiless("names an unknown coding with 304", "lz4", status: 304),
    reply("names gzip with 204", coded("gzip", [], status: 204), then: .serves, .kept("", status: 204)),
    reply("labels an empty body as gzip", coded("gzip", []), then: .serves, .kept("")),
    reply(
      "labels empty chunked data as gzip", inChunks("chunked", [], more: "Content-Encoding: gzip\r\n"), then: .serves,
      .kept("")),
    reply(
      "names an unknown coding when decoding is off", coded("lz4", Array("as it is".utf8)), then: .serves,
      .kept("as it is"), { $0.decodesContent = false }),
  ]

  #if Zstd
    private static let zstandard = encode(Array(text.utf8), .zstd)

    // A decompression bomb that decodes to 1 GiB: zstd blocks that each take 4 bytes and repeat one byte for 128 KiB (RFC 8878
    // §3.1.1.2).
    private static let zstdBomb: [UInt8] =
      [0x28, 0xB5, 0x2F, 0xFD, 0, 0x38] + repeatElement([0x02, 0, 0x10, 0] as [UInt8], count: 8192).joined()

    private static let twoFrames =
      encode(Array(text.utf8.prefix(30)), .zstd) + encode(Array(text.utf8.dropFirst(30)), .zstd)

    // A zstd frame with a window of 16 MiB (RFC 8878 §3.1.1.1.2) and a block of 256 bytes.
    private static let wideWindow: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x40, 0x70, 0, 0, 3, 8, 0, 0x61]

    private static let zstd: [Misbehaviour] = [
      failing("truncates zstd", "zstd", first(-3, of: zstandard)),
      failing("sends garbage after zstd", "zstd", zstandard + Array("garbage".utf8)),
      failing("labels garbage as zstd", "zstd", [UInt8](repeating: 0xFF, count: 50)),
      failing("sends zstd with a window of 16 MiB", "zstd", wideWindow),
      failing("names zstd twice", "zstd, zstd", encode(zstandard, .zstd)),
      failing("sends a zstd bomb", "zstd", zstdBomb),
      reply(
        "sends a zstd bomb beyond the body limit", coded("zstd", zstdBomb),
        .error([.bodyTooLarge, .decodingFailed], [.receive]), { $0.bodyBytesMax = 100_000 }),
      decoding("sends two zstd frames", "zstd", twoFrames),
      decoding("applies zstd and gzip", "zstd, gzip", encode(zstandard, .gzip)),
    ]
  #else
    private static let zstd: [Misbehaviour] = []
  #endif
}
