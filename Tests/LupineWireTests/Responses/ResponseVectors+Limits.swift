// Response vectors for the limits: each limit exactly reached, and exceeded by one.

import LupineWire

private let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
// The lines have 17, 19 and 2 bytes.
private let head38 = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

extension ResponseVector {
  static let headLimits: [ResponseVector] = [
    .good("a head of exactly the limit", head38, limits: .with { $0.headBytesMax = 38 }),
    .bad("a head one byte over the limit", head38, .headTooLarge(limit: 37), limits: .with { $0.headBytesMax = 37 }),
    .bad("a head two bytes over the limit", head38, .headTooLarge(limit: 36), limits: .with { $0.headBytesMax = 36 }),
    .good(
      "a head of exactly the limit with lone LFs", "HTTP/1.1 204\n\n", limits: .with { $0.headBytesMax = 14 },
      status: 204, reason: ""),
    .bad(
      "a head one byte over the limit with lone LFs", "HTTP/1.1 204\n\n", .headTooLarge(limit: 13),
      limits: .with { $0.headBytesMax = 13 }),
    .bad(
      "a status line without end", "HTTP/1.1 200 OOOOOOOO", .headTooLarge(limit: 20),
      limits: .with { $0.headBytesMax = 20 }),
    .bad(
      "a field line without end", "HTTP/1.1 200 OK\r\nA: bbbb", .headTooLarge(limit: 23),
      limits: .with { $0.headBytesMax = 23 }),
    .bad(
      "tabs without end", "HTTP/1.1 200 OK\r\nA:\t\t\t\t\t", .headTooLarge(limit: 23),
      limits: .with { $0.headBytesMax = 23 }),
    .bad(
      "a forbidden byte after the limit counts as too large", "HTTP/1.1 200 OK\r\nA: b\0", .headTooLarge(limit: 21),
      limits: .with { $0.headBytesMax = 21 }),
    .bad(
      "a forbidden byte at the limit", "HTTP/1.1 200 OK\r\nA: b\0", .forbiddenByte(0, offset: 21),
      limits: .with { $0.headBytesMax = 22 }),
    .good(
      "the limit applies to each head", "HTTP/1.1 100 Continue\r\n\r\n\(head38)",
      limits: .with { $0.headBytesMax = 38 },
      informational: [100]),
    .good(
      "body bytes don't count", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      limits: .with { $0.headBytesMax = 38 }, body: "hello"),
    .bad(
      "a head is limited by default", "HTTP/1.1 200 " + String(repeating: "O", count: 64 * 1024 - 12),
      .headTooLarge(limit: 64 * 1024)),

    .good(
      "a head of exactly the default limit",
      "HTTP/1.1 204 N\r\nA: " + String(repeating: "a", count: 64 * 1024 - 23) + "\r\n\r\n", status: 204, reason: "N"),
    .bad(
      "a head one byte over the default limit",
      "HTTP/1.1 204 N\r\nA: " + String(repeating: "a", count: 64 * 1024 - 22) + "\r\n\r\n",
      .headTooLarge(limit: 64 * 1024)),
    .bad(
      "folds without end", "HTTP/1.1 204 N\r\nA: b" + String(repeating: "\n c", count: 22_000),
      .headTooLarge(limit: 64 * 1024)),
    .good(
      "256 field lines", "HTTP/1.1 204 N\r\n" + String(repeating: "A:\r\n", count: 256) + "\r\n", status: 204,
      reason: "N"),
    .bad(
      "257 field lines", "HTTP/1.1 204 N\r\n" + String(repeating: "A:\r\n", count: 257) + "\r\n",
      .tooManyFields(limit: 256)),
    .good(
      "16 informational responses", String(repeating: "HTTP/1.1 102\r\n\r\n", count: 16) + "HTTP/1.1 204\r\n\r\n",
      informational: [Int](repeating: 102, count: 16), status: 204, reason: ""),
    .bad(
      "17 informational responses", String(repeating: "HTTP/1.1 102\r\n\r\n", count: 17),
      .tooManyInformational(limit: 16)),
    .bad(
      "no informational response is allowed", "HTTP/1.1 100\r\n\r\n", .tooManyInformational(limit: 0),
      limits: .with { $0.informationalMax = 0 }),
    .good(
      "field lines of exactly the limit", "HTTP/1.1 204\r\nA: 1\r\nB: 2\r\n\r\n",
      limits: .with { $0.fieldLinesMax = 2 },
      status: 204, reason: "", fields: ["A: 1", "B: 2"]),
    .bad(
      "one field line over the limit", "HTTP/1.1 204\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", .tooManyFields(limit: 2),
      limits: .with { $0.fieldLinesMax = 2 }),
    .good(
      "a folded line isn't another field line", "HTTP/1.1 204\r\nA: 1\r\n 2\r\n\r\n",
      limits: .with { $0.fieldLinesMax = 1 }, status: 204, reason: "", fields: ["A: 1   2"]),

    .good(
      "informational responses of exactly the limit", "HTTP/1.1 100\r\n\r\nHTTP/1.1 100\r\n\r\nHTTP/1.1 204\r\n\r\n",
      limits: .with { $0.informationalMax = 2 }, informational: [100, 100], status: 204, reason: ""),
    .bad(
      "one informational response over the limit", "HTTP/1.1 100\r\n\r\nHTTP/1.1 100\r\n\r\nHTTP/1.1 103\r\n\r\n",
      .tooManyInformational(limit: 2), limits: .with { $0.informationalMax = 2 }),
  ]

  static let bodyLimits: [ResponseVector] = [
    .good(
      "a size line of exactly the limit", "\(head)0000\r\n\r\n", limits: .with { $0.chunkLineBytesMax = 4 }),
    .bad(
      "a size line one byte over the limit", "\(head)00000\r\n\r\n", .chunkLineTooLong(limit: 4),
      limits: .with { $0.chunkLineBytesMax = 4 }),
    .good("a padded line of exactly the limit", "\(head)0   \r\n\r\n", limits: .with { $0.chunkLineBytesMax = 4 }),
    .bad(
      "a padded line one byte over the limit", "\(head)0    \r\n\r\n", .chunkLineTooLong(limit: 4),
      limits: .with { $0.chunkLineBytesMax = 4 }),
    .good("an extension of exactly the limit", "\(head)0;ab\r\n\r\n", limits: .with { $0.chunkLineBytesMax = 4 }),
    .bad(
      "an extension one byte over the limit", "\(head)0;abc\r\n\r\n", .chunkLineTooLong(limit: 4),
      limits: .with { $0.chunkLineBytesMax = 4 }),
    .bad(
      "a semicolon after the limit", "\(head)0000;\r\n\r\n", .chunkLineTooLong(limit: 4),
      limits: .with { $0.chunkLineBytesMax = 4 }),
    .good(
      "the limit applies to each size line", "\(head)1;ab\r\nh\r\n1;cd\r\ni\r\n0;ef\r\n\r\n",
      limits: .with { $0.chunkLineBytesMax = 4 }, body: "hi"),
    .good(
      "a size line of exactly the default limit", "\(head)0;" + String(repeating: "x", count: 4094) + "\r\n\r\n"),
    .good(
      "trailers of exactly the default limit",
      "\(head)0\r\nA: " + String(repeating: "b", count: 16 * 1024 - 7) + "\r\n\r\n",
      trailers: ["A: " + String(repeating: "b", count: 16 * 1024 - 7)]),
    .bad(
      "an extension is limited by default", "\(head)2;" + String(repeating: "x", count: 4095),
      .chunkLineTooLong(limit: 4096)),

    .good(
      "extensions of exactly the body's limit", "\(head)1;a\r\nh\r\n1;b\r\ni\r\n0;c\r\n\r\n",
      limits: .with { $0.chunkExtensionBytesMax = 6 }, body: "hi"),
    .bad(
      "extensions one byte over the body's limit", "\(head)1;a\r\nh\r\n1;b\r\ni\r\n0;c\r\n\r\n",
      .chunkExtensionsTooLong(limit: 5), limits: .with { $0.chunkExtensionBytesMax = 5 }),
    .good(
      "padding of exactly the body's limit", "\(head)1 \r\nh\r\n1\t\r\ni\r\n0\r\n\r\n",
      limits: .with { $0.chunkExtensionBytesMax = 2 }, body: "hi"),
    .bad(
      "padding one byte over the body's limit", "\(head)1 \r\nh\r\n1 \t\r\ni\r\n0\r\n\r\n",
      .chunkExtensionsTooLong(limit: 2), limits: .with { $0.chunkExtensionBytesMax = 2 }),
    .good(
      "zeros before a size are no extension", "\(head)0001\r\nh\r\n0000\r\n\r\n",
      limits: .with { $0.chunkExtensionBytesMax = 0 }, body: "h"),
    .bad(
      "a body's extensions are limited by default",
      head + String(repeating: "1;" + String(repeating: "x", count: 4093) + "\r\nh\r\n", count: 5),
      .chunkExtensionsTooLong(limit: 16 * 1024)),

    .good(
      "trailers of exactly the limit", "\(head)0\r\nA: b\r\n\r\n", limits: .with { $0.trailerBytesMax = 8 },
      trailers: ["A: b"]),
    .bad(
      "trailers one byte over the limit", "\(head)0\r\nA: b\r\n\r\n", .trailersTooLarge(limit: 7),
      limits: .with { $0.trailerBytesMax = 7 }),
    .bad(
      "a trailer without end", "\(head)0\r\nA: bbbbb", .trailersTooLarge(limit: 7),
      limits: .with { $0.trailerBytesMax = 7 }),
    .good(
      "an empty trailer section of exactly the limit", "\(head)0\r\n\r\n", limits: .with { $0.trailerBytesMax = 2 }),
    .bad(
      "trailers are limited by default", "\(head)0\r\nA: " + String(repeating: "b", count: 16 * 1024 - 2),
      .trailersTooLarge(limit: 16 * 1024)),
    .good(
      "trailer lines of exactly the limit", "\(head)0\r\nA: 1\r\nB: 2\r\n\r\n", limits: .with { $0.fieldLinesMax = 2 },
      trailers: ["A: 1", "B: 2"]),
    .bad(
      "one trailer line over the limit", "\(head)0\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", .tooManyFields(limit: 2),
      limits: .with { $0.fieldLinesMax = 2 }),
  ]
}
