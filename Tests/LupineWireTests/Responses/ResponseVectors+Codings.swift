// Response vectors for Transfer-Encoding: the known codings, and spellings that attackers used to hide it (RFC 9112
// §6.1, §7, §11.2).

import LupineWire

private let twoChunked = "2\r\nhi\r\n0\r\n\r\n"

private func head(_ value: String) -> String { "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(value)\r\n\r\n" }

extension ResponseVector {
  /// Values of Transfer-Encoding that the parser accepts: chunked, alone or after codings that can be decoded.
  static let codings: [ResponseVector] = [
    .good("chunked", head("chunked") + twoChunked, body: "hi"),
    .good("chunked in capitals", "HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: Chunked\r\n\r\n\(twoChunked)", body: "hi"),
    .good("white space around chunked", head("\t chunked \t") + twoChunked, body: "hi"),
    .good("no white space before chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding:chunked\r\n\r\n0\r\n\r\n"),
    .good("chunked in a folded line", head("\r\n chunked") + twoChunked, body: "hi"),
    .good("gzip, chunked", head("gzip, chunked") + twoChunked, codings: [.gzip], body: "hi"),
    .good("gzip and chunked without white space", head("gzip,chunked") + twoChunked, codings: [.gzip], body: "hi"),
    .good("x-gzip is gzip", head("X-Gzip ,\tchunked") + twoChunked, codings: [.gzip], body: "hi"),
    .good("deflate, chunked", head("DEFLATE, CHUNKED") + twoChunked, codings: [.deflate], body: "hi"),
    .good(
      "codings keep their order", head("gzip, deflate, gzip, chunked") + twoChunked, codings: [.gzip, .deflate, .gzip],
      body: "hi"),
    .good(
      "codings in two lines are one list",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n\(twoChunked)",
      codings: [.gzip], body: "hi"),
    .good(
      "codings exactly at the limit", head("gzip, gzip, chunked") + twoChunked,
      limits: .with { $0.transferCodingsMax = 2 }, codings: [.gzip, .gzip], body: "hi"),
    .bad(
      "one coding above the limit", head("gzip, gzip, deflate, chunked") + twoChunked,
      .tooManyTransferCodings(limit: 2), limits: .with { $0.transferCodingsMax = 2 }),
    .bad(
      "codings are limited by default", head("gzip, gzip, gzip, gzip, gzip, gzip, chunked") + twoChunked,
      .tooManyTransferCodings(limit: 5)),
    .bad(
      "an unknown coding is reported before the limit", head("gzip, br, chunked") + twoChunked,
      .unsupportedTransferCoding("gzip, br, chunked"), limits: .with { $0.transferCodingsMax = 0 }),
    .good(
      "codings of a response without a body are ignored",
      "HTTP/1.1 304 Same\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      status: 304, reason: "Same"),
    .good(
      "too many codings in a reply to HEAD", head("gzip, gzip, gzip, gzip, gzip, gzip, chunked"), method: "HEAD"),
    .good(
      "codings in HTTP/1.0 close the connection",
      "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\(twoChunked)",
      codings: [.gzip], body: "hi", close: .http10WithoutKeepAlive),
    .good(
      "codings and a length",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\(twoChunked)",
      codings: [.gzip], body: "hi", close: .ambiguousFraming),
  ]

  /// Values of Transfer-Encoding that the parser refuses. Some recipients treat each of them as chunked, and others don't.
  static let refusedCodings: [ResponseVector] = [
    // Values in which chunked isn't the last coding, or that contain a coding that can't be decoded.
    "identity", "gzip", "deflate", "gzip, deflate", "chunked, gzip", "gzip, chunked, gzip", "chunked, identity",
    "identity, chunked", "chunked, chunked", "gzip, chunked, chunked", "compress, chunked", "x-compress, chunked",
    "br, chunked", "zstd, chunked", "trailers", "trailers, chunked",
    // Values that resemble chunked.
    "xchunked", "chunkedx", "x-chunked", "chunked-x", "chunke", "cchunked", "chunked chunked", "chunked\tx", "chu nked",
    "chunked/1.1", "chunked=1", "chunked:", "chunked.", "chunked;", "chunked;q=1", "chunked; q=0", "chunked;foo=bar",
    "gzip;q=1, chunked", "\"chunked\"", "'chunked'", "(chunked)", "[chunked]", "chunked()", "\\chunked", "ch%75nked",
    // Empty elements, which a sender must not generate.
    "", ",", "chunked,", ",chunked", "gzip,,chunked", "gzip, chunked,", "chunked ;", "chunked, ,",
    // Bytes that a lenient parser drops, folds or maps to other characters.
    "chun\u{E2}\u{84}\u{AA}ed", "\u{C2}\u{A0}chunked", "chunked\u{C2}\u{A0}", "\u{A0}chunked", "chunked\u{85}",
    "chunked\u{CC}\u{81}", "\u{EF}\u{BB}\u{BF}chunked", "chunk\u{C3}\u{A9}d", "chunked\u{FF}", "gzip \r\n chunked",
  ].map { value in
    let read = value.replacing(" \r\n ", with: "    ")
    return .bad(
      "Transfer-Encoding: \"\(value.debugDescription)\"", head(value) + twoChunked,
      .unsupportedTransferCoding(String(decoding: read.latin1, as: UTF8.self)))
  }
}
