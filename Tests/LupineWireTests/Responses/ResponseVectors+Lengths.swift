// Response vectors for Content-Length, with spellings of numbers that parsers disagree about (RFC 9110 §8.6, RFC 9112
// §6.3).

import LupineWire

extension ResponseVector {
  static let lengths: [ResponseVector] = [
    .good("a body of the given length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello"),
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
      "two lengths in a list", "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\n", .conflictingContentLength("2", "3")),
    .bad(
      "two lengths in two lines", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
      .conflictingContentLength("2", "3")),
    .bad(
      "a good length and a bad one", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: x\r\n\r\n",
      .malformedContentLength("x")),
    .bad(
      "a length of 2^63", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nhi",
      .truncatedBody(missing: 9_223_372_036_854_775_806), peerCloses: true),
    .bad(
      "a length of 2^32", "HTTP/1.1 200 OK\r\nContent-Length: 4294967296\r\n\r\nhi",
      .truncatedBody(missing: 4_294_967_294), peerCloses: true),
    .good(
      "a length of many zeros", "HTTP/1.1 200 OK\r\nContent-Length: 000000000000000000000000000002\r\n\r\nhi",
      body: "hi"),
    .good(
      "equal lengths in lists and lines",
      "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nA: b\r\ncontent-length: 2\r\n\r\nhi", body: "hi"),
    .good(
      "Content_Length is another field", "HTTP/1.1 200 OK\r\nContent_Length: 9\r\nContent-Length: 2\r\n\r\nhi",
      body: "hi"),
    .good(
      "X-Content-Length is another field", "HTTP/1.1 200 OK\r\nX-Content-Length: 9\r\nContent-Length: 2\r\n\r\nhi",
      body: "hi"),
    .good(
      "Content-Lengt is another field", "HTTP/1.1 200 OK\r\nContent-Lengt: 9\r\nContent-Length: 2\r\n\r\nhi",
      body: "hi"),
    .bad(
      "two equal lengths and a different one", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2, 3\r\n\r\n",
      .conflictingContentLength("2", "3")),
    .bad(
      "two lengths, one spelled with zeros", "HTTP/1.1 200 OK\r\nContent-Length: 02, 20\r\n\r\n",
      .conflictingContentLength("2", "20")),
  ]

  /// Values of Content-Length that the parser refuses, although some parsers read them as a number.
  static let refusedLengths: [ResponseVector] = [
    // Signs, prefixes of other bases, fractions and separators.
    "+2", "-2", "+0", "-0", "--2", "2-", "2+", "0x2", "0X2", "2h", "02h", "0b10", "0o2", "x2", "2.0", "2.", ".2", "2e0",
    "2E1", "1_0", "1'0", "2L", "2u", "NaN", "inf", "two",
    // White space and lists.
    "", "1 2", "1\t2", "2 b", "2;", "2;x=y", "2,", ",2", "2,,2", ",", "2, +2", "2, -2", "2, 0x2", "2, ", "2;2", "2:2",
    "2/2", "2-2",
    // Quotation marks, brackets and escapes.
    "\"2\"", "'2'", "(2)", "[2]", "%32", "\\2",
    // Numbers of more than 64 bits.
    "18446744073709551616", "18446744073709551618", "99999999999999999999", "100000000000000000000",
    "340282366920938463463374607431768211456", "2, 18446744073709551618",
    // Digits of other scripts and invisible characters: superscript two, Arabic two, fullwidth two, a byte order mark.
    "\u{B2}", "\u{C2}\u{B2}", "\u{D9}\u{A2}", "\u{EF}\u{BC}\u{92}", "\u{EF}\u{BB}\u{BF}2", "2\u{A0}", "\u{A0}2",
    "2, \u{CC}\u{81}2", "2\u{FF}",
  ].map { value in
    .bad(
      "Content-Length: \(value.debugDescription)", "HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\nhi",
      .malformedContentLength(
        String(decoding: value.trimmingSpaces.latin1, as: UTF8.self)))
  }
}

extension String {
  /// The string without leading and trailing spaces, which the parser also removes from a field's value.
  fileprivate var trimmingSpaces: String {
    String(decoding: utf8.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed(), as: UTF8.self)
  }
}
