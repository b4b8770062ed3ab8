// Response vectors for bytes after a complete response. On a reused connection, a client would take them for the next
// response (RFC 9112 §9.2, §11.1).

import LupineWire

private let next = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
private let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

extension ResponseVector {
  static let desync: [ResponseVector] = [
    .good(
      "a body after a 204", "HTTP/1.1 204 N\r\nContent-Length: 2\r\n\r\nhi", status: 204, reason: "N",
      close: .unsolicitedBytes),
    .good(
      "chunks after a 204", "HTTP/1.1 204 N\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status: 204, reason: "N",
      close: .unsolicitedBytes),
    .good(
      "a response after a 204", "HTTP/1.1 204 N\r\n\r\n\(next)", status: 204, reason: "N", close: .unsolicitedBytes),
    .good(
      "a body after a 304", "HTTP/1.1 304 S\r\nContent-Length: 2\r\n\r\nhi", status: 304, reason: "S",
      close: .unsolicitedBytes),
    .good(
      "a response after a 304", "HTTP/1.1 304 S\r\n\r\n\(next)", status: 304, reason: "S", close: .unsolicitedBytes),
    .good(
      "a body in reply to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", method: "HEAD",
      close: .unsolicitedBytes),
    .good("chunks in reply to HEAD", "\(chunkedHead)2\r\nhi\r\n0\r\n\r\n", method: "HEAD", close: .unsolicitedBytes),
    .good(
      "an error page in reply to HEAD", "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", method: "HEAD",
      status: 404,
      reason: "Not Found", close: .unsolicitedBytes),
    .good(
      "a response in advance", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\(next)", body: "hi",
      close: .unsolicitedBytes),
    .good(
      "a response in advance after chunks", "\(chunkedHead)2\r\nhi\r\n0\r\n\r\n\(next)", body: "hi",
      close: .unsolicitedBytes),
    .good(
      "a response in advance after trailers", "\(chunkedHead)0\r\nA: b\r\n\r\n\(next)", trailers: ["A: b"],
      close: .unsolicitedBytes),
    .good(
      "a 100 after a final response", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
      close: .unsolicitedBytes),
    .good(
      "a 408 after a final response",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 408 Request Timeout\r\n\r\n",
      close: .unsolicitedBytes),
    .good(
      "an empty line after a body", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\r\n", body: "hi",
      close: .unsolicitedBytes),
    .good(
      "an LF after a body", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\n", body: "hi", close: .unsolicitedBytes),
    .good(
      "NUL after a body", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\0", body: "hi", close: .unsolicitedBytes),
    .good(
      "a longer body than its length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhip", body: "hi",
      close: .unsolicitedBytes),
    .good("an empty line after the last chunk's", "\(chunkedHead)0\r\n\r\n\r\n", close: .unsolicitedBytes),
    .good("another last chunk", "\(chunkedHead)0\r\n\r\n0\r\n\r\n", close: .unsolicitedBytes),
    .good("another chunk after the end", "\(chunkedHead)0\r\n\r\n2\r\nhi\r\n", close: .unsolicitedBytes),
    .good(
      "bytes after a response that closes",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi\(next)",
      body: "hi", close: .unsolicitedBytes),
    .good(
      "bytes after an HTTP/1.0 response", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi\(next)", body: "hi",
      close: .unsolicitedBytes),
    .good(
      "bytes after a 205", "HTTP/1.1 205 R\r\nContent-Length: 0\r\n\r\nhi", status: 205, reason: "R",
      close: .unsolicitedBytes),
    .good(
      "a TLS alert after a body", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\u{15}\u{03}\u{03}\0\u{02}",
      body: "hi",
      close: .unsolicitedBytes),
    .bad(
      "a 100 after a 1xx that ends in garbage", "HTTP/1.1 103 E\r\n\r\n\0HTTP/1.1 200 OK\r\n\r\n",
      .notHTTP(prefix: "?HTTP/1.1 200 OK")),
    .bad(
      "an empty line between a 1xx and the final response", "HTTP/1.1 103 E\r\n\r\n\r\n\(next)", .notHTTP(prefix: "")),
    .bad(
      "a body after a 103", "HTTP/1.1 103 E\r\nContent-Length: 2\r\n\r\nhi\(next)",
      .notHTTP(prefix: "hiHTTP/1.1 200 O")),
  ]
}
