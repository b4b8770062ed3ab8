// Response vectors for messages without a body, interim responses, and persistence (RFC 9112 §6.3, §9.3; RFC 9110
// §15.2).

import LupineWire

private let close = "Connection: close\r\n"
private let chunked = "Transfer-Encoding: chunked\r\n"
private let twoChunked = "2\r\nhi\r\n0\r\n\r\n"

extension ResponseVector {
  static let bodiless: [ResponseVector] = [
    .good("HEAD with a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", method: "HEAD"),
    .good("HEAD with chunked", "HTTP/1.1 200 OK\r\n\(chunked)\r\n", method: "HEAD"),
    .good("HEAD without framing", "HTTP/1.1 200 OK\r\n\r\n", method: "HEAD", fields: []),
    .good("HEAD with a length that isn't a number", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", method: "HEAD"),
    .good("HEAD with an unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", method: "HEAD"),
    .good("HEAD and Connection: close", "HTTP/1.1 200 OK\r\n\(close)\r\n", method: "HEAD", close: .serverAskedForClose),
    .good(
      "head in lower case is another method", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", method: "head",
      body: "hi"),
    .good("204", "HTTP/1.1 204 None\r\n\r\n", status: 204, reason: "None"),
    .good("204 with a length of 0", "HTTP/1.1 204 None\r\nContent-Length: 0\r\n\r\n", status: 204, reason: "None"),
    .good(
      "204 with a length", "HTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\n", status: 204, reason: "None",
      close: .ambiguousFraming),
    .good(
      "204 with a length of 0 and another length",
      "HTTP/1.1 204 None\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\n", status: 204, reason: "None",
      close: .ambiguousFraming),
    .good(
      "204 with a length that isn't a number", "HTTP/1.1 204 None\r\nContent-Length: x\r\n\r\n", status: 204,
      reason: "None", close: .ambiguousFraming),
    .good(
      "204 with chunked", "HTTP/1.1 204 None\r\n\(chunked)\r\n", status: 204, reason: "None",
      close: .ambiguousFraming),
    .good(
      "204 with a length and close", "HTTP/1.1 204 None\r\nContent-Length: 5\r\n\(close)\r\n", status: 204,
      reason: "None", close: .serverAskedForClose),
    .good("304 with a length", "HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n", status: 304, reason: "Same"),
    .good("304 without framing", "HTTP/1.1 304 Same\r\n\r\n", status: 304, reason: "Same"),
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
    .bad(
      "a broken response after a 100", "HTTP/1.1 100 Continue\r\n\r\nHTML/1.1 200 OK\r\n\r\n",
      .notHTTP(prefix: "HTML/1.1 200 OK")),
  ]

  static let persistence: [ResponseVector] = [
    .good(
      "Connection: close", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\(close)\r\nhi", body: "hi",
      close: .serverAskedForClose),
    .good(
      "close in capitals and in a list", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Upgrade ,\tCLOSE\r\n\r\n",
      close: .serverAskedForClose),
    .good(
      "close in a second line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x\r\nConnection: close\r\n\r\n",
      close: .serverAskedForClose),
    .good(
      "close wins over keep-alive", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive, close\r\n\r\n",
      close: .serverAskedForClose),
    .good(
      "an option that contains close", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: closed, x-close\r\n\r\n"),
    .good(
      "white space around options", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: \t a \t,\t close \t\r\n\r\n",
      close: .serverAskedForClose),
    .good(
      "close after empty options", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: ,, ,close,\r\n\r\n",
      close: .serverAskedForClose),
    .good(
      "close in quotation marks is another option",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: \"close\"\r\n\r\n"),
    .good(
      "close with a parameter is another option",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close;x\r\n\r\n"),
    .good(
      "close and a word is another option", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close now\r\n\r\n"),
    .good(
      "close with a no-break space is another option",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\u{A0}\r\n\r\n"),
    .good(
      "a field that Connection names is an ordinary field",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: A\r\nA: b\r\n\r\n",
      fields: ["Content-Length: 0", "Connection: A", "A: b"]),
    .good(
      "Connection: Content-Length doesn't remove the length",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: Content-Length\r\n\r\nhi", body: "hi"),
    .good(
      "close in a folded line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: a,\r\n close\r\n\r\n",
      close: .serverAskedForClose),
    .good(
      "close broken by a fold is another option",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: clo\r\n se\r\n\r\n"),
    .good(
      "Keep-Alive with a timeout of 0 s",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=0\r\n\r\nhi", body: "hi", close: .keepAliveLimit),
    .good(
      "Keep-Alive that permits no further request",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=5, max=0\r\n\r\nhi", body: "hi",
      close: .keepAliveLimit),
    .good(
      "Keep-Alive that permits a further request",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=1, max=1\r\n\r\nhi", body: "hi"),
    .good(
      "204 and a Keep-Alive timeout of 0 s", "HTTP/1.1 204 None\r\nKeep-Alive: timeout=0\r\n\r\n", status: 204,
      reason: "None", close: .keepAliveLimit),
    .good(
      "close and a Keep-Alive timeout of 0 s",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=0\r\n\(close)\r\n", close: .serverAskedForClose),
    .good(
      "Keep-Alive in a 1xx is ignored",
      "HTTP/1.1 103 B\r\nKeep-Alive: timeout=0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      informational: [103]),
    .good(
      "HTTP/1.0 with keep-alive in a list",
      "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: a, keep-alive, b\r\n\r\n"),
    .good(
      "HTTP/1.0 with keep-alive in the field of that name",
      "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nKeep-Alive: 5\r\n\r\n",
      close: .http10WithoutKeepAlive),
    .good(
      "HTTP/1.0 with keep-alive for proxies",
      "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nProxy-Connection: keep-alive\r\n\r\n",
      close: .http10WithoutKeepAlive),
    .good(
      "HTTP/1.0 204 with keep-alive", "HTTP/1.0 204 N\r\nConnection: keep-alive\r\n\r\n", status: 204, reason: "N"),
    .good(
      "close in an interim response is ignored",
      "HTTP/1.1 103 E\r\nConnection: close\r\n\r\nHTTP/1.1 204 N\r\n\r\n", informational: [103], status: 204,
      reason: "N"),
    .good("an empty Connection", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: ,\r\n\r\n"),
    .good(
      "close in Proxy-Connection", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nProxy-Connection: a, Close\r\n\r\n",
      close: .serverAskedForClose),
    .good(
      "keep-alive in Proxy-Connection is ignored",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nProxy-Connection: keep-alive\r\nConnection: close\r\n\r\n",
      close: .serverAskedForClose),
    .good(
      "close in a field with a name as long as Proxy-Connection",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nProxy-Connectiom: close\r\n\r\n"),
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
      "body until close in HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello", peerCloses: true, fields: [], body: "hello",
      close: .bodyEndsWithClose),
    .good(
      "body until close in HTTP/1.0 despite keep-alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhi",
      peerCloses: true, body: "hi", close: .bodyEndsWithClose),
    .good("until close", "HTTP/1.1 200 OK\r\n\r\nhello", peerCloses: true, body: "hello", close: .bodyEndsWithClose),
    .good("empty body until close", "HTTP/1.1 200 OK\r\n\r\n", peerCloses: true, close: .bodyEndsWithClose),
    .good(
      "body until close that looks like a response", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      peerCloses: true,
      body: "HTTP/1.1 200 OK\r\n\r\n", close: .bodyEndsWithClose),
    .good(
      "a 1xx before a body until close", "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi", peerCloses: true,
      informational: [100], body: "hi", close: .bodyEndsWithClose),
  ]
}
