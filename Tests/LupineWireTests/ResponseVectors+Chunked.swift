// Vectors: the chunked transfer coding, trailer sections, and truncation at each stage (RFC 9112 §7.1, §8).

import LupineWire

private let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

extension ResponseVector {
  static let chunks: [ResponseVector] = [
    .good("one chunk", "\(head)5\r\nhello\r\n0\r\n\r\n", body: "hello"),
    .good("several chunks", "\(head)1\r\nh\r\n2\r\nel\r\n2\r\nlo\r\n0\r\n\r\n", body: "hello"),
    .good("no chunk but the last", "\(head)0\r\n\r\n"),
    .good("a last chunk of several zeros", "\(head)000\r\n\r\n"),
    .good("hex digits in lower case", "\(head)a\r\n0123456789\r\n0\r\n\r\n", body: "0123456789"),
    .good("hex digits in upper case", "\(head)A\r\n0123456789\r\n0\r\n\r\n", body: "0123456789"),
    .good("16 hex digits", "\(head)0000000000000002\r\nhi\r\n0000000000000000\r\n\r\n", body: "hi"),
    .good("data that looks like chunks", "\(head)9\r\n0\r\n\r\n5\r\n\r\r\n0\r\n\r\n", body: "0\r\n\r\n5\r\n\r"),
    .good("an extension", "\(head)2;a=b\r\nhi\r\n0\r\n\r\n", body: "hi"),
    .good("extensions without value, quoted, and empty", "\(head)2;a;b=\"c;d\";;\r\nhi\r\n0;e\r\n\r\n", body: "hi"),
    .good("white space around an extension", "\(head)2 ;\ta = b \r\nhi\r\n0\r\n\r\n", body: "hi"),
    .good("bytes above ASCII in an extension", "\(head)2;a=\u{E9}\r\nhi\r\n0\r\n\r\n", body: "hi"),
    .good("a size padded with spaces", "\(head)2  \r\nhi\r\n0 \t\r\n\r\n", body: "hi"),

    .bad("17 hex digits", "\(head)00000000000000002\r\nhi\r\n", .chunkSizeOverflow),
    .bad("a size above 2^64", "\(head)10000000000000000\r\n", .chunkSizeOverflow),
    .bad("an empty size", "\(head)\r\nhi\r\n", .malformedChunkSize(offset: 0)),
    .bad("an extension without a size", "\(head);a\r\nhi\r\n", .malformedChunkSize(offset: 0)),
    .bad("a space before the size", "\(head) 2\r\nhi\r\n", .malformedChunkSize(offset: 0)),
    .bad("a plus before the size", "\(head)+2\r\nhi\r\n", .malformedChunkSize(offset: 0)),
    .bad("a minus before the size", "\(head)-2\r\nhi\r\n", .malformedChunkSize(offset: 0)),
    .bad("0x before the size", "\(head)0x2\r\nhi\r\n", .malformedChunkSize(offset: 1)),
    .bad("a letter behind F", "\(head)2g\r\nhi\r\n", .malformedChunkSize(offset: 1)),
    .bad("an underscore in a size", "\(head)1_0\r\nhi\r\n", .malformedChunkSize(offset: 1)),
    .bad("a second size behind a space", "\(head)2 2\r\nhi\r\n", .malformedChunkSize(offset: 2)),
    .bad("NUL in a size line", "\(head)2\0\r\nhi\r\n", .malformedChunkSize(offset: 1)),
    .bad("NUL in an extension", "\(head)2;\0\r\nhi\r\n", .malformedChunkSize(offset: 2)),
    .bad("a lone LF behind a size", "\(head)2\nhi\r\n0\r\n\r\n", .malformedChunkSize(offset: 1)),
    .bad("a lone LF behind padding", "\(head)2 \nhi\r\n0\r\n\r\n", .malformedChunkSize(offset: 2)),
    .bad("a lone LF behind an extension", "\(head)2;a\nhi\r\n0\r\n\r\n", .malformedChunkSize(offset: 3)),
    .bad("a lone CR behind a size", "\(head)2\rhi\r\n0\r\n\r\n", .malformedChunkSize(offset: 2)),
    .bad("a lone CR in an extension", "\(head)2;a\rb\r\nhi\r\n0\r\n\r\n", .malformedChunkSize(offset: 4)),
    .bad("no CRLF behind the data", "\(head)2\r\nhi0\r\n\r\n", .missingChunkTerminator),
    .bad("a lone LF behind the data", "\(head)2\r\nhi\n0\r\n\r\n", .missingChunkTerminator),
    .bad("a lone CR behind the data", "\(head)2\r\nhi\r0\r\n\r\n", .missingChunkTerminator),
    .bad("more data than the size says", "\(head)2\r\nhip\r\n0\r\n\r\n", .missingChunkTerminator),
    .bad("less data than the size says", "\(head)4\r\nhi\r\n0\r\n\r\n", .missingChunkTerminator),
  ]

  static let trailerSections: [ResponseVector] = [
    .good("a trailer", "\(head)2\r\nhi\r\n0\r\nA: b\r\n\r\n", body: "hi", trailers: ["A: b"]),
    .good("trailers", "\(head)0\r\nA: b\r\nc:d\r\nA:\r\n\r\n", trailers: ["A: b", "c: d", "A: "]),
    .good("a folded trailer", "\(head)0\r\nA: b\r\n c\r\n\r\n", trailers: ["A: b   c"]),
    .good("trailers ended by lone LFs", "\(head)0\r\nA: b\n\n", trailers: ["A: b"]),
    .good(
      "framing and Connection in trailers change nothing",
      "\(head)0\r\nContent-Length: 9\r\nTransfer-Encoding: x\r\nConnection: close\r\n\r\n",
      trailers: ["Content-Length: 9", "Transfer-Encoding: x", "Connection: close"]),
    .good("something like a status line is a trailer", "\(head)0\r\nHTTP: 200 OK\r\n\r\n", trailers: ["HTTP: 200 OK"]),
    .bad("a trailer without a colon", "\(head)0\r\nA\r\n\r\n", .malformedFieldName(offset: 1)),
    .bad("a trailer that begins with a space", "\(head)0\r\n A: b\r\n\r\n", .malformedFieldName(offset: 0)),
    .bad("a space before a trailer's colon", "\(head)0\r\nA : b\r\n\r\n", .spaceBeforeColon(offset: 1)),
    .bad("NUL in a trailer", "\(head)0\r\nA: \0\r\n\r\n", .forbiddenByte(0, offset: 3)),
    .bad("a lone CR in a trailer", "\(head)0\r\nA: b\rC: d\r\n\r\n", .forbiddenByte(0x0D, offset: 4)),
    .bad("another chunk behind the last", "\(head)0\r\n2\r\nhi\r\n\r\n", .malformedFieldName(offset: 1)),
  ]

  static let truncations: [ResponseVector] = [
    .bad("nothing at all", "", .truncatedHead(received: 0), peerCloses: true),
    .bad("a piece of HTTP/", "HTT", .truncatedHead(received: 3), peerCloses: true),
    .bad("a piece of a status line", "HTTP/1.1 20", .truncatedHead(received: 11), peerCloses: true),
    .bad("a status line without LF", "HTTP/1.1 200 OK\r", .truncatedHead(received: 16), peerCloses: true),
    .bad("a status line", "HTTP/1.1 200 OK\r\n", .truncatedHead(received: 17), peerCloses: true),
    .bad("a piece of a field line", "HTTP/1.1 200 OK\r\nA: b", .truncatedHead(received: 21), peerCloses: true),
    .bad("field lines", "HTTP/1.1 200 OK\r\nA: b\r\n", .truncatedHead(received: 23), peerCloses: true),
    .bad("all but the last LF", "HTTP/1.1 200 OK\r\nA: b\r\n\r", .truncatedHead(received: 24), peerCloses: true),
    .bad("a close behind a 100", "HTTP/1.1 100 C\r\n\r\n", .truncatedHead(received: 0), peerCloses: true),
    .bad("a piece behind a 100", "HTTP/1.1 100 C\r\n\r\nHTTP", .truncatedHead(received: 4), peerCloses: true),
    .bad(
      "no byte of the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", .truncatedBody(missing: 5),
      peerCloses: true),
    .bad(
      "all but one byte of the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", .truncatedBody(missing: 1),
      peerCloses: true),
    .bad(
      "a 200 to HEAD", "HTTP/1.1 200 OK\r\nA: b\r\n", .truncatedHead(received: 23), method: "HEAD", peerCloses: true),
    .bad("no chunk", head, .truncatedBody(missing: nil), peerCloses: true),
    .bad("a piece of a size", "\(head)1", .truncatedBody(missing: nil), peerCloses: true),
    .bad("a piece of an extension", "\(head)2;a", .truncatedBody(missing: nil), peerCloses: true),
    .bad("a size without LF", "\(head)2\r", .truncatedBody(missing: nil), peerCloses: true),
    .bad("a size line", "\(head)2\r\n", .truncatedBody(missing: nil), peerCloses: true),
    .bad("a piece of a chunk", "\(head)2\r\nh", .truncatedBody(missing: nil), peerCloses: true),
    .bad("the largest chunk", "\(head)ffffffffffffffff\r\nh", .truncatedBody(missing: nil), peerCloses: true),
    .bad("a chunk without CRLF", "\(head)2\r\nhi", .truncatedBody(missing: nil), peerCloses: true),
    .bad("a chunk without LF", "\(head)2\r\nhi\r", .truncatedBody(missing: nil), peerCloses: true),
    .bad("a chunk without the last one", "\(head)2\r\nhi\r\n", .truncatedBody(missing: nil), peerCloses: true),
    .bad("the last chunk without the empty line", "\(head)0\r\n", .truncatedBody(missing: nil), peerCloses: true),
    .bad("a piece of the trailers", "\(head)0\r\nA: b\r\n", .truncatedBody(missing: nil), peerCloses: true),
    .bad("all but the trailers' last LF", "\(head)0\r\nA: b\r\n\r", .truncatedBody(missing: nil), peerCloses: true),
  ]
}
