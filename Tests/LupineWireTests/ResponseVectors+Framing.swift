// Vectors: Content-Length, Transfer-Encoding, messages without a body, persistence, and smuggling
// (RFC 9112 §6, §9.3, §11.2).

import LupineWire

private let close = "Connection: close\r\n"
private let chunked = "Transfer-Encoding: chunked\r\n"
private let twoChunked = "2\r\nhi\r\n0\r\n\r\n"

extension ResponseVector {
  static let lengths: [ResponseVector] = [
    .good("a body of its length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello"),
    .good("a length with leading zeros", "HTTP/1.1 200 OK\r\nContent-Length: 0002\r\n\r\nhi", body: "hi"),
    .good("two equal lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", body: "hi"),
    .good("a list of equal lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2,\t2\r\n\r\nhi", body: "hi"),
    .good("equal lengths, spelled differently", "HTTP/1.1 200 OK\r\nContent-Length: 2, 02\r\n\r\nhi", body: "hi"),
    .good("a body with CRLF and NUL", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\r\n\0\r\n", body: "\r\n\0\r\n"),
    .good("a 205 with a length", "HTTP/1.1 205 R\r\nContent-Length: 0\r\n\r\n", status: 205, reason: "R"),
    .bad(
      "the largest length", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nhi",
      .truncatedBody(missing: .max - 2), peerCloses: true),
    .bad(
      "a length of 2^64", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
      .malformedContentLength("18446744073709551616")),
    .bad(
      "a length of 21 digits", "HTTP/1.1 200 OK\r\nContent-Length: 100000000000000000000\r\n\r\n",
      .malformedContentLength("100000000000000000000")),
    .bad("an empty length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", .malformedContentLength("")),
    .bad("a length with a plus", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi", .malformedContentLength("+2")),
    .bad("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nhi", .malformedContentLength("-2")),
    .bad("a hexadecimal length", "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nhi", .malformedContentLength("0x2")),
    .bad("a fractional length", "HTTP/1.1 200 OK\r\nContent-Length: 2.0\r\n\r\nhi", .malformedContentLength("2.0")),
    .bad("a space in a length", "HTTP/1.1 200 OK\r\nContent-Length: 1 2\r\n\r\nhi", .malformedContentLength("1 2")),
    .bad("a tab in a length", "HTTP/1.1 200 OK\r\nContent-Length: 1\t2\r\n\r\nhi", .malformedContentLength("1\t2")),
    .bad("a semicolon behind a length", "HTTP/1.1 200 OK\r\nContent-Length: 2;\r\n\r\n", .malformedContentLength("2;")),
    .bad("a comma behind a length", "HTTP/1.1 200 OK\r\nContent-Length: 2,\r\n\r\n", .malformedContentLength("2,")),
    .bad("a comma before a length", "HTTP/1.1 200 OK\r\nContent-Length: ,2\r\n\r\n", .malformedContentLength(",2")),
    .bad("an empty list element", "HTTP/1.1 200 OK\r\nContent-Length: 2,,2\r\n\r\n", .malformedContentLength("2,,2")),
    .bad(
      "two lengths in a list", "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\n", .conflictingContentLength("2", "3")),
    .bad(
      "two lengths in two lines", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
      .conflictingContentLength("2", "3")),
    .bad(
      "a good length and a bad one", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: x\r\n\r\n",
      .malformedContentLength("x")),
    .bad(
      "Arabic digits", "HTTP/1.1 200 OK\r\nContent-Length: \u{D9}\u{A2}\r\n\r\nhi", .malformedContentLength("\u{662}")),
    .bad(
      "a combining mark behind a space", "HTTP/1.1 200 OK\r\nContent-Length: 2, \u{CC}\u{81}2\r\n\r\nhi",
      .malformedContentLength("2, \u{301}2")),
  ]

  static let codings: [ResponseVector] =
    [
      .good("chunked", "HTTP/1.1 200 OK\r\n\(chunked)\r\n\(twoChunked)", body: "hi"),
      .good("chunked in capitals", "HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: Chunked\r\n\r\n\(twoChunked)", body: "hi"),
      .good(
        "white space around chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\t chunked \t\r\n\r\n\(twoChunked)",
        body: "hi"),
      .good(
        "chunked in a folded line", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n\(twoChunked)", body: "hi"
      ),
    ]
    + [
      "identity", "gzip", "gzip, chunked", "chunked, gzip", "chunked, identity", "identity, chunked",
      "chunked, chunked", "xchunked", "chunkedx", "x-chunked", "chunked;q=1", "chunked,", ",chunked", "\"chunked\"",
      "'chunked'",
      "chunked chunked", "chunked\tx", "chu nked", "", ",", "chun\u{E2}\u{84}\u{AA}ed", "\u{C2}\u{A0}chunked",
      "chunked\u{CC}\u{81}",
    ].map { value in
      .bad(
        "Transfer-Encoding: \"\(value)\"", "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(value)\r\n\r\n\(twoChunked)",
        .unsupportedTransferCoding(String(decoding: value.latin1, as: UTF8.self)))
    }

  static let bodiless: [ResponseVector] = [
    .good("HEAD with a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", method: "HEAD"),
    .good("HEAD with chunked", "HTTP/1.1 200 OK\r\n\(chunked)\r\n", method: "HEAD"),
    .good("HEAD without framing", "HTTP/1.1 200 OK\r\n\r\n", method: "HEAD", fields: []),
    .good("HEAD with a length that is no number", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", method: "HEAD"),
    .good("HEAD with an unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", method: "HEAD"),
    .good("HEAD and Connection: close", "HTTP/1.1 200 OK\r\n\(close)\r\n", method: "HEAD", close: .serverAskedForClose),
    .good(
      "head in lower case is another method", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", method: "head",
      body: "hi"),
    .good("204", "HTTP/1.1 204 None\r\n\r\n", status: 204, reason: "None"),
    .good("204 with a length", "HTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\n", status: 204, reason: "None"),
    .good("204 with chunked", "HTTP/1.1 204 None\r\n\(chunked)\r\n", status: 204, reason: "None"),
    .good("304 with a length", "HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n", status: 304, reason: "Same"),
    .good("304 without framing", "HTTP/1.1 304 Same\r\n\r\n", status: 304, reason: "Same"),
    .good("a 2xx to CONNECT has no body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", method: "CONNECT"),
    .good("a 2xx to CONNECT without framing", "HTTP/1.1 200 OK\r\n\r\n", method: "CONNECT"),
    .good(
      "a refused CONNECT has a body", "HTTP/1.1 407 Who\r\nContent-Length: 2\r\n\r\nhi", method: "CONNECT", status: 407,
      reason: "Who", body: "hi"),
    .good(
      "100 and then the final response", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
      informational: [100], fields: ["Content-Length: 2"], body: "hi"),
    .good(
      "several informational responses",
      "HTTP/1.1 102 A\r\n\r\nHTTP/1.1 103 B\r\nLink: x\r\n\r\nHTTP/1.1 199\r\n\r\nHTTP/1.1 204 None\r\n\r\n",
      informational: [102, 103, 199], status: 204, reason: "None"),
    .good(
      "the framing of a 1xx is ignored",
      "HTTP/1.1 103 B\r\nContent-Length: 9\r\n\(chunked)\(close)\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      informational: [103], fields: ["Content-Length: 0"]),
    .bad("101 that nobody asked for", "HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n", .unexpectedUpgrade),
    .bad(
      "a broken response behind a 100", "HTTP/1.1 100 Continue\r\n\r\nHTML/1.1 200 OK\r\n\r\n",
      .notHTTP(prefix: "HTML/1.1 200 OK")),
  ]

  static let persistence: [ResponseVector] = [
    .good(
      "Connection: close", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\(close)\r\nhi", body: "hi",
      close: .serverAskedForClose),
    .good(
      "close in capitals in a list", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Upgrade ,\tCLOSE\r\n\r\n",
      close: .serverAskedForClose),
    .good(
      "close in a second line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x\r\nConnection: close\r\n\r\n",
      close: .serverAskedForClose),
    .good(
      "close wins over keep-alive", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive, close\r\n\r\n",
      close: .serverAskedForClose),
    .good(
      "an option that contains close", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: closed, x-close\r\n\r\n"),
    .good("an empty Connection", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: ,\r\n\r\n"),
    .good("Proxy-Connection says nothing", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nProxy-Connection: close\r\n\r\n"),
    .good("HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", body: "hi", close: .http10WithoutKeepAlive),
    .good(
      "HTTP/1.0 with keep-alive", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nhi", body: "hi"
    ),
    .good(
      "HTTP/1.0 with a keep-alive whose K is a Kelvin sign",
      "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: \u{E2}\u{84}\u{AA}eep-alive\r\n\r\n",
      close: .http10WithoutKeepAlive),
    .good(
      "HTTP/1.0 with keep-alive and chunked",
      "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\(chunked)\r\n\(twoChunked)", body: "hi",
      close: .http10WithoutKeepAlive),
    .good(
      "HTTP/1.0 until close", "HTTP/1.0 200 OK\r\n\r\nhello", peerCloses: true, fields: [], body: "hello",
      close: .bodyEndsWithClose),
    .good(
      "HTTP/1.0 until close in spite of keep-alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhi",
      peerCloses: true, body: "hi", close: .bodyEndsWithClose),
    .good("until close", "HTTP/1.1 200 OK\r\n\r\nhello", peerCloses: true, body: "hello", close: .bodyEndsWithClose),
    .good("until close, without a byte", "HTTP/1.1 200 OK\r\n\r\n", peerCloses: true, close: .bodyEndsWithClose),
    .good(
      "until close, with what looks like a response", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      peerCloses: true,
      body: "HTTP/1.1 200 OK\r\n\r\n", close: .bodyEndsWithClose),
    .good(
      "a 1xx in front of a body until close", "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi", peerCloses: true,
      informational: [100], body: "hi", close: .bodyEndsWithClose),
  ]

  static let smuggling: [ResponseVector] = [
    .good(
      "chunked wins over a length", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\(chunked)\r\n\(twoChunked)", body: "hi",
      close: .ambiguousFraming),
    .good(
      "chunked in front of a length", "HTTP/1.1 200 OK\r\n\(chunked)Content-Length: 1\r\n\r\n\(twoChunked)", body: "hi",
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
      "a space behind Transfer-Encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n\(twoChunked)",
      .spaceBeforeColon(offset: 34)),
    .bad(
      "a space behind Content-Length", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi",
      .spaceBeforeColon(offset: 31)),
    .bad(
      "a vertical tab before chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: \u{0B}chunked\r\n\r\n",
      .forbiddenByte(0x0B, offset: 36)),
    .bad(
      "Transfer-Encoding behind a lone CR", "HTTP/1.1 200 OK\r\nA: b\rTransfer-Encoding: chunked\r\n\r\n",
      .forbiddenByte(0x0D, offset: 21)),
    .good(
      "Transfer_Encoding is another field",
      "HTTP/1.1 200 OK\r\nTransfer_Encoding: chunked\r\nContent-Length: 2\r\n\r\nhi",
      body: "hi"),
  ]
}
