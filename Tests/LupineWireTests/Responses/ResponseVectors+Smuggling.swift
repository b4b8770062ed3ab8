// Response vectors for two framings in one message, and framing fields that some parsers see and others don't (RFC 9112
// §6.3, §11.2).

import LupineWire

private let close = "Connection: close\r\n"
private let chunked = "Transfer-Encoding: chunked\r\n"
private let twoChunked = "2\r\nhi\r\n0\r\n\r\n"
private let hidden = "13\r\nHTTP/1.1 200 OK\r\n\r\n\r\n0\r\n\r\n"

extension ResponseVector {
  static let smuggling: [ResponseVector] = [
    .good(
      "chunked wins over a length", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\(chunked)\r\n\(twoChunked)", body: "hi",
      close: .ambiguousFraming),
    .good(
      "chunked before a length", "HTTP/1.1 200 OK\r\n\(chunked)Content-Length: 1\r\n\r\n\(twoChunked)", body: "hi",
      close: .ambiguousFraming),
    .good(
      "chunked, a length and close", "HTTP/1.1 200 OK\r\n\(chunked)Content-Length: 1\r\n\(close)\r\n\(twoChunked)",
      body: "hi", close: .serverAskedForClose),
    .bad(
      "chunked and a bad length", "HTTP/1.1 200 OK\r\n\(chunked)Content-Length: -1\r\n\r\n",
      .malformedContentLength("-1")),
    .bad(
      "chunked and two lengths", "HTTP/1.1 200 OK\r\n\(chunked)Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
      .conflictingContentLength("1", "2")),
    .bad(
      "a length and an unknown coding", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: xchunked\r\n\r\nhi",
      .unsupportedTransferCoding("xchunked")),
    .bad(
      "two lines of chunked", "HTTP/1.1 200 OK\r\n\(chunked)\(chunked)\r\n\(twoChunked)",
      .unsupportedTransferCoding("chunked, chunked")),
    .bad(
      "chunked and identity in two lines", "HTTP/1.1 200 OK\r\n\(chunked)Transfer-Encoding: identity\r\n\r\n",
      .unsupportedTransferCoding("chunked, identity")),
    .bad(
      "a space after Transfer-Encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n\(twoChunked)",
      .spaceBeforeColon(offset: 34)),
    .bad(
      "a space after Content-Length", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi",
      .spaceBeforeColon(offset: 31)),
    .bad(
      "a vertical tab before chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: \u{0B}chunked\r\n\r\n",
      .forbiddenByte(0x0B, offset: 36)),
    .bad(
      "Transfer-Encoding after a lone CR", "HTTP/1.1 200 OK\r\nA: b\rTransfer-Encoding: chunked\r\n\r\n",
      .forbiddenByte(0x0D, offset: 21)),
    .good(
      "Transfer_Encoding is another field",
      "HTTP/1.1 200 OK\r\nTransfer_Encoding: chunked\r\nContent-Length: 2\r\n\r\nhi",
      body: "hi"),
    // TE.CL and CL.TE attacks: the hidden bytes stay in the body, and the connection isn't reused.
    .good(
      "TE.CL: a response hidden after the length's end",
      "HTTP/1.1 200 OK\r\n\(chunked)Content-Length: 4\r\n\r\n\(hidden)",
      body: "HTTP/1.1 200 OK\r\n\r\n", close: .ambiguousFraming),
    .good(
      "CL.TE: the length covers more than the chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\(chunked)\r\n0\r\n\r\n",
      close: .ambiguousFraming),
    .good(
      "CL.TE: bytes after the last chunk, within the length",
      "HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\(chunked)\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      close: .unsolicitedBytes),
    .good(
      "TE.CL: bytes after the last chunk, within a larger length",
      "HTTP/1.1 200 OK\r\n\(chunked)Content-Length: 99\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      close: .unsolicitedBytes),
    .good(
      "CL.0: a length of 0 and bytes after it", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      close: .unsolicitedBytes),
    .good(
      "0.CL: a 204 with bytes of its length", "HTTP/1.1 204 N\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      status: 204, reason: "N", close: .unsolicitedBytes),
    .good(
      "HTTP/1.0 with a length and chunked",
      "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\(chunked)\r\n\(twoChunked)",
      body: "hi", close: .http10WithoutKeepAlive),
    .good(
      "HTTP/1.0 chunked without keep-alive", "HTTP/1.0 200 OK\r\n\(chunked)\r\n\(twoChunked)", body: "hi",
      close: .http10WithoutKeepAlive),
    // A framing field that some parsers overlook.
    .good("TE in a folded line", "HTTP/1.1 200 OK\r\nA: b\r\n \(chunked)Content-Length: 2\r\n\r\nhi", body: "hi"),
    .good(
      "TE in a reason", "HTTP/1.1 200 \(chunked)Content-Length: 2\r\n\r\nhi", reason: "Transfer-Encoding: chunked",
      body: "hi"),
    .good(
      "Content-Length in a folded line after a length",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: b\r\n\tContent-Length: 9\r\n\r\nhi", body: "hi"),
    .good(
      "X-Transfer-Encoding is another field", "HTTP/1.1 200 OK\r\nX-\(chunked)Content-Length: 2\r\n\r\nhi", body: "hi"),
    .good("TE is another field", "HTTP/1.1 200 OK\r\nTE: chunked\r\nContent-Length: 2\r\n\r\nhi", body: "hi"),
    .good(
      "Transfer-Encodin is another field",
      "HTTP/1.1 200 OK\r\nTransfer-Encodin: chunked\r\nContent-Length: 2\r\n\r\nhi", body: "hi"),
    .bad(
      "a tab after Transfer-Encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding\t: chunked\r\n\r\n",
      .spaceBeforeColon(offset: 34)),
    .bad(
      "a tab after Content-Length", "HTTP/1.1 200 OK\r\nContent-Length\t: 2\r\n\r\nhi", .spaceBeforeColon(offset: 31)),
    .bad(
      "a vertical tab after chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\u{0B}\r\n\r\n",
      .forbiddenByte(0x0B, offset: 43)),
    .bad(
      "a form feed before chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\u{0C}chunked\r\n\r\n",
      .forbiddenByte(0x0C, offset: 35)),
    .bad(
      "NUL after chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\0\r\n\r\n", .forbiddenByte(0, offset: 43)),
    .bad(
      "NUL in Transfer-Encoding's name", "HTTP/1.1 200 OK\r\nTransfer-Encoding\0: chunked\r\n\r\n",
      .forbiddenByte(0, offset: 34)),
    .bad(
      "a no-break space after Transfer-Encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding\u{A0}: chunked\r\n\r\n",
      .malformedFieldName(offset: 34)),
    .bad(
      "a space before Transfer-Encoding in the first line", "HTTP/1.1 200 OK\r\n Transfer-Encoding: chunked\r\n\r\n",
      .malformedFieldName(offset: 17)),
    .bad(
      "two colons", "HTTP/1.1 200 OK\r\nTransfer-Encoding:: chunked\r\n\r\n", .unsupportedTransferCoding(": chunked")
    ),
    .bad(
      "Content-Length after NUL", "HTTP/1.1 200 OK\r\nA: b\0Content-Length: 2\r\n\r\nhi", .forbiddenByte(0, offset: 21)
    ),
    .bad(
      "Content-Length after a lone CR", "HTTP/1.1 200 OK\r\nA: b\rContent-Length: 2\r\n\r\nhi",
      .forbiddenByte(0x0D, offset: 21)),
    .bad(
      "NUL in a length", "HTTP/1.1 200 OK\r\nContent-Length: 2\u{0}5\r\n\r\nhi", .forbiddenByte(0, offset: 34)),
    .bad(
      "a vertical tab after a length", "HTTP/1.1 200 OK\r\nContent-Length: 2\u{0B}\r\n\r\nhi",
      .forbiddenByte(0x0B, offset: 34)),
    .bad(
      "three lines, one of them chunked",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\(chunked)Transfer-Encoding: y\r\n\r\n",
      .unsupportedTransferCoding("x, chunked, y")),
    .bad(
      "chunked and an empty second line", "HTTP/1.1 200 OK\r\n\(chunked)Transfer-Encoding:\r\n\r\n",
      .unsupportedTransferCoding("chunked, ")),
    .bad(
      "chunked twice, with names in different case", "HTTP/1.1 200 OK\r\n\(chunked)transfer-encoding: chunked\r\n\r\n",
      .unsupportedTransferCoding("chunked, chunked")),
    .bad(
      "chunked broken by a fold", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chun\r\n ked\r\n\r\n",
      .unsupportedTransferCoding("chun   ked")),
    .bad(
      "identity and a length", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi",
      .unsupportedTransferCoding("identity")),
  ]
}
