// Response vectors for status lines, field lines and obs-fold (RFC 9112 §4, §5; RFC 9110 §5).

import LupineWire

// The end of a head, for vectors that test the bytes before it.
private let empty = "Content-Length: 0\r\n\r\n"

extension ResponseVector {
  static let statusLines: [ResponseVector] = [
    .good("a plain 200", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", fields: ["Content-Length: 0"]),
    .good("an empty reason after its space", "HTTP/1.1 200 \r\n\(empty)", reason: ""),
    .good("no space before an empty reason", "HTTP/1.1 200\r\n\(empty)", reason: ""),
    .good(
      "a reason of several words", "HTTP/1.1 404 Not Found Here\r\n\(empty)", status: 404, reason: "Not Found Here"),
    .good("a reason that begins and ends with a space", "HTTP/1.1 200  OK \r\n\(empty)", reason: " OK "),
    .good("a tab in a reason", "HTTP/1.1 200 O\tK\r\n\(empty)", reason: "O\tK"),
    .good("UTF-8 in a reason", "HTTP/1.1 200 \u{C3}\u{A9}\r\n\(empty)", reason: "é"),
    .good("Latin-1 in a reason is replaced", "HTTP/1.1 200 \u{E9}\r\n\(empty)", reason: "\u{FFFD}"),
    .good("a status above 599", "HTTP/1.1 999 Odd\r\n\(empty)", status: 999, reason: "Odd"),
    .good("HTTP/1.2 counts as 1.1", "HTTP/1.2 200 OK\r\n\(empty)"),
    .good("HTTP/1.9 counts as 1.1", "HTTP/1.9 200 OK\r\n\(empty)"),
    .good("lone LFs end lines", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", fields: ["Content-Length: 2"], body: "hi"),
    .good("CRLF and LF mixed", "HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nhi", body: "hi"),

    .bad("a status below 100", "HTTP/1.1 099 Low\r\n\(empty)", .malformedStatusLine(offset: 9)),
    .bad("a status of two digits", "HTTP/1.1 20\r\n\(empty)", .malformedStatusLine(offset: 8)),
    .bad("a status of two digits with a reason", "HTTP/1.1 20 OK\r\n\(empty)", .malformedStatusLine(offset: 11)),
    .bad("a status of four digits", "HTTP/1.1 2000 OK\r\n\(empty)", .malformedStatusLine(offset: 12)),
    .bad("a sign before the status", "HTTP/1.1 -20 OK\r\n\(empty)", .malformedStatusLine(offset: 9)),
    .bad("a plus before the status", "HTTP/1.1 +20 OK\r\n\(empty)", .malformedStatusLine(offset: 9)),
    .bad("a status of 0", "HTTP/1.1 000 Zero\r\n\(empty)", .malformedStatusLine(offset: 9)),
    .bad("a status of one digit", "HTTP/1.1 0\r\n\(empty)", .malformedStatusLine(offset: 8)),
    .bad("a status of 99 in two digits", "HTTP/1.1 99 Low\r\n\(empty)", .malformedStatusLine(offset: 11)),
    .bad("a status of 1000", "HTTP/1.1 1000 High\r\n\(empty)", .malformedStatusLine(offset: 12)),
    .bad("a status of -1", "HTTP/1.1 -1 Odd\r\n\(empty)", .malformedStatusLine(offset: 9)),
    .bad("a hexadecimal status", "HTTP/1.1 0xC8 OK\r\n\(empty)", .malformedStatusLine(offset: 10)),
    .bad("a fractional status", "HTTP/1.1 200.1 OK\r\n\(empty)", .malformedStatusLine(offset: 12)),
    .bad("a status with a space inside", "HTTP/1.1 2 00 OK\r\n\(empty)", .malformedStatusLine(offset: 10)),
    .bad("a reason that joins the status", "HTTP/1.1 200OK\r\n\(empty)", .malformedStatusLine(offset: 12)),
    .bad("a superscript digit in the status", "HTTP/1.1 20\u{B2} OK\r\n\(empty)", .malformedStatusLine(offset: 11)),
    .bad("a no-break space before the status", "HTTP/1.1\u{A0}200 OK\r\n\(empty)", .malformedStatusLine(offset: 8)),
    .bad("a folded status line", "HTTP/1.1 200\r\n OK\r\n\(empty)", .malformedFieldName(offset: 14)),
    .bad("a letter in the status", "HTTP/1.1 2O0 OK\r\n\(empty)", .malformedStatusLine(offset: 10)),
    .bad("two spaces before the status", "HTTP/1.1  200 OK\r\n\(empty)", .malformedStatusLine(offset: 9)),
    .bad("a tab before the status", "HTTP/1.1\t200 OK\r\n\(empty)", .malformedStatusLine(offset: 8)),
    .bad("a tab before the reason", "HTTP/1.1 200\tOK\r\n\(empty)", .malformedStatusLine(offset: 12)),
    .bad("no status", "HTTP/1.1\r\n\(empty)", .malformedStatusLine(offset: 8)),
    .bad("no version number", "HTTP/\r\n\(empty)", .malformedStatusLine(offset: 5)),
    .bad("a minor version of two digits", "HTTP/1.10 200 OK\r\n\(empty)", .malformedStatusLine(offset: 8)),
    .bad("HTTP/2", "HTTP/2 200 OK\r\n\(empty)", .unsupportedVersion("HTTP/2")),
    .bad("HTTP/2.0", "HTTP/2.0 200 OK\r\n\(empty)", .unsupportedVersion("HTTP/2.0")),
    .bad("HTTP/0.9 in a status line", "HTTP/0.9 200 OK\r\n\(empty)", .unsupportedVersion("HTTP/0.9")),
    .bad("a comma in the version", "HTTP/1,1 200 OK\r\n\(empty)", .unsupportedVersion("HTTP/1,1")),
    .bad("a major version of two digits", "HTTP/11 200 OK\r\n\(empty)", .unsupportedVersion("HTTP/11")),
    .bad("a version with a leading zero", "HTTP/01.1 200 OK\r\n\(empty)", .unsupportedVersion("HTTP/01.1")),
    .bad("a signed version", "HTTP/+1.1 200 OK\r\n\(empty)", .unsupportedVersion("HTTP/+1.1")),
    .bad("HTTP/1 without a minor version", "HTTP/1 200 OK\r\n\(empty)", .unsupportedVersion("HTTP/1")),
    .bad("HTTP/3", "HTTP/3 200\r\n\(empty)", .unsupportedVersion("HTTP/3")),
    .bad("a sign for the minor version", "HTTP/1.- 200 OK\r\n\(empty)", .unsupportedVersion("HTTP/1.-")),
    .bad("a space in the version", "HTTP/ 1.1 200 OK\r\n\(empty)", .unsupportedVersion("HTTP/")),
    .bad("no minor version", "HTTP/1.x 200 OK\r\n\(empty)", .unsupportedVersion("HTTP/1.x")),
    .bad("NUL in a reason", "HTTP/1.1 200 O\0K\r\n\(empty)", .forbiddenByte(0, offset: 14)),
    .bad("a lone CR before the status", "HTTP/1.1\r200 OK\r\n\(empty)", .forbiddenByte(0x0D, offset: 8)),
    .bad(
      "a status line that ends with a lone CR", "HTTP/1.1 200 OK\rContent-Length: 0\r\n\r\n",
      .forbiddenByte(0x0D, offset: 15)),
    .bad("CR CR LF after a status line", "HTTP/1.1 200 OK\r\r\n\(empty)", .forbiddenByte(0x0D, offset: 15)),
    .good(
      "a status above 599 with a body", "HTTP/1.1 600 Odd\r\nContent-Length: 2\r\n\r\nhi", status: 600, reason: "Odd",
      body: "hi"),
    .bad("a lone CR in a reason", "HTTP/1.1 200 O\rK\r\n\(empty)", .forbiddenByte(0x0D, offset: 14)),
    .bad("DEL in a reason", "HTTP/1.1 200 O\u{7F}K\r\n\(empty)", .forbiddenByte(0x7F, offset: 14)),
    .bad("an escape in a reason", "HTTP/1.1 200 \u{1B}[2J\r\n\(empty)", .forbiddenByte(0x1B, offset: 13)),
  ]

  static let fieldLines: [ResponseVector] = [
    .good(
      "white space around a value is dropped", "HTTP/1.1 200 OK\r\nA: \t b c \t\r\n\(empty)",
      fields: ["A: b c", "Content-Length: 0"]),
    .good(
      "no white space before a value", "HTTP/1.1 200 OK\r\nA:b\r\n\(empty)", fields: ["A: b", "Content-Length: 0"]),
    .good("an empty value", "HTTP/1.1 200 OK\r\nA:\r\n\(empty)", fields: ["A: ", "Content-Length: 0"]),
    .good("a value of white space", "HTTP/1.1 200 OK\r\nA: \t \r\n\(empty)", fields: ["A: ", "Content-Length: 0"]),
    .good("a colon in a value", "HTTP/1.1 200 OK\r\nA: b:c:\r\n\(empty)", fields: ["A: b:c:", "Content-Length: 0"]),
    .good("a tab in a value", "HTTP/1.1 200 OK\r\nA: b\tc\r\n\(empty)", fields: ["A: b\tc", "Content-Length: 0"]),
    .good(
      "several lines of one name stay apart and in order", "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\na: 3\r\n\(empty)",
      fields: ["A: 1", "B: 2", "a: 3", "Content-Length: 0"]),
    .good(
      "every token character in a name", "HTTP/1.1 200 OK\r\n!#$%&'*+-.^_`|~09azAZ: x\r\n\(empty)",
      fields: ["!#$%&'*+-.^_`|~09azAZ: x", "Content-Length: 0"]),
    .good(
      "UTF-8 in a value", "HTTP/1.1 200 OK\r\nA: \u{C3}\u{A9}\r\n\(empty)", fields: ["A: é", "Content-Length: 0"]),
    .good(
      "bytes that aren't UTF-8 in a value are replaced", "HTTP/1.1 200 OK\r\nA: \u{FF}b\r\n\(empty)",
      fields: ["A: \u{FFFD}b", "Content-Length: 0"]),
    .good(
      "field names in any case", "HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh: 2\r\n\r\nhi",
      fields: ["cOnTeNt-LeNgTh: 2"], body: "hi"),

    .bad("a line without a colon", "HTTP/1.1 200 OK\r\nAbc\r\n\(empty)", .malformedFieldName(offset: 20)),
    .bad("an empty name", "HTTP/1.1 200 OK\r\n: b\r\n\(empty)", .malformedFieldName(offset: 17)),
    .bad("a space in a name", "HTTP/1.1 200 OK\r\nA b: c\r\n\(empty)", .spaceBeforeColon(offset: 18)),
    .bad("a space before the colon", "HTTP/1.1 200 OK\r\nA : b\r\n\(empty)", .spaceBeforeColon(offset: 18)),
    .bad("a tab before the colon", "HTTP/1.1 200 OK\r\nA\t: b\r\n\(empty)", .spaceBeforeColon(offset: 18)),
    .bad("a parenthesis in a name", "HTTP/1.1 200 OK\r\nA(b): c\r\n\(empty)", .malformedFieldName(offset: 18)),
    .bad("a slash in a name", "HTTP/1.1 200 OK\r\nA/b: c\r\n\(empty)", .malformedFieldName(offset: 18)),
    .bad("a byte above ASCII in a name", "HTTP/1.1 200 OK\r\nA\u{E9}: c\r\n\(empty)", .malformedFieldName(offset: 18)),
    .bad("NUL in a name", "HTTP/1.1 200 OK\r\nA\0b: c\r\n\(empty)", .forbiddenByte(0, offset: 18)),
    .bad("NUL in a value", "HTTP/1.1 200 OK\r\nA: b\0c\r\n\(empty)", .forbiddenByte(0, offset: 21)),
    .bad(
      "a lone CR in a value", "HTTP/1.1 200 OK\r\nA: b\rSet-Cookie: c\r\n\(empty)", .forbiddenByte(0x0D, offset: 21)),
    .bad("CR CR LF", "HTTP/1.1 200 OK\r\nA: b\r\r\n\(empty)", .forbiddenByte(0x0D, offset: 21)),
    .bad("a lone CR for the empty line", "HTTP/1.1 200 OK\r\nA: b\r\n\rC: d\r\n\r\n", .forbiddenByte(0x0D, offset: 23)),
    .bad("a vertical tab in a value", "HTTP/1.1 200 OK\r\nA: b\u{0B}c\r\n\(empty)", .forbiddenByte(0x0B, offset: 21)),
    .bad("DEL in a value", "HTTP/1.1 200 OK\r\nA: b\u{7F}\r\n\(empty)", .forbiddenByte(0x7F, offset: 21)),
    .bad("a second status line", "HTTP/1.1 200 OK\r\nHTTP/1.1 200 OK\r\n\(empty)", .malformedFieldName(offset: 21)),
  ]

  /// Field names that the parser refuses. They contain the delimiters of RFC 9110 §5.6.2, or characters that other parsers take for
  /// the start or end of a name.
  static let refusedNames: [ResponseVector] = [
    "(", ")", ",", "/", ";", "<", "=", ">", "?", "@", "[", "\\", "]", "{", "}", "\"", "\u{80}", "\u{85}", "\u{A0}",
    "\u{AD}",
    "\u{E9}", "\u{FF}",
  ].flatMap { character -> [ResponseVector] in
    let shown = character.debugDescription
    return [
      .bad("\(shown) in a name", "HTTP/1.1 200 OK\r\nA\(character)b: c\r\n\(empty)", .malformedFieldName(offset: 18)),
      .bad(
        "\(shown) before a name", "HTTP/1.1 200 OK\r\n\(character)A: c\r\n\(empty)", .malformedFieldName(offset: 17)),
    ]
  }

  static let folds: [ResponseVector] = [
    .good(
      "a folded value is joined by spaces", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\(empty)",
      fields: ["A: b   c", "Content-Length: 0"]),
    .good(
      "a fold with a tab", "HTTP/1.1 200 OK\r\nA: b\t\r\n\tc\r\n\(empty)", fields: ["A: b    c", "Content-Length: 0"]),
    .good(
      "a fold with a lone LF", "HTTP/1.1 200 OK\r\nA: b\n c\r\n\(empty)", fields: ["A: b  c", "Content-Length: 0"]),
    .good(
      "two folds", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n d\r\n\(empty)", fields: ["A: b   c   d", "Content-Length: 0"]),
    .good(
      "a fold after an empty value", "HTTP/1.1 200 OK\r\nA:\r\n  b\r\n\(empty)",
      fields: ["A: b", "Content-Length: 0"]),
    .good(
      "a folded line of white space adds nothing", "HTTP/1.1 200 OK\r\nA: b\r\n \t \r\n\(empty)",
      fields: ["A: b", "Content-Length: 0"]),
    .good(
      "a line of white space between folds", "HTTP/1.1 200 OK\r\nA: b\r\n \r\n c\r\n\(empty)",
      fields: ["A: b      c", "Content-Length: 0"]),
    .good("Content-Length in a folded line", "HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nhi", body: "hi"),
    .good(
      "a folded line like a field is part of the value", "HTTP/1.1 200 OK\r\nA: b\r\n Content-Length: 9\r\n\(empty)",
      fields: ["A: b   Content-Length: 9", "Content-Length: 0"]),
    .good(
      "a fold in a 1xx doesn't affect the next head",
      "HTTP/1.1 103\r\nA: b\r\n c\r\n\r\nHTTP/1.1 200 OK\r\n\(empty)",
      informational: [103], fields: ["Content-Length: 0"]),
    .good(
      "a fold that begins with several tabs", "HTTP/1.1 200 OK\r\nA: b\r\n\t\t\tc\r\n\(empty)",
      fields: ["A: b     c", "Content-Length: 0"]),
    .good(
      "a fold of a fold's white space", "HTTP/1.1 200 OK\r\nA:\r\n \r\n \r\n\(empty)",
      fields: ["A: ", "Content-Length: 0"]),
    .good(
      "a fold after an empty value and white space", "HTTP/1.1 200 OK\r\nA: \t\r\n \t\r\n b\r\n\(empty)",
      fields: ["A: b", "Content-Length: 0"]),
    .good(
      "a fold before the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: b\r\n c\r\n\r\n",
      fields: ["Content-Length: 0", "A: b   c"]),
    .good(
      "folds in two fields", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nD: e\r\n\tf\r\n\(empty)",
      fields: ["A: b   c", "D: e   f", "Content-Length: 0"]),
    .good(
      "a colon at the start of a folded line", "HTTP/1.1 200 OK\r\nA: b\r\n : c\r\n\(empty)",
      fields: ["A: b   : c", "Content-Length: 0"]),
    .bad("a fold in a name", "HTTP/1.1 200 OK\r\nA\r\n b: c\r\n\(empty)", .malformedFieldName(offset: 18)),
    .bad("a fold before the colon", "HTTP/1.1 200 OK\r\nA\r\n : b\r\n\(empty)", .malformedFieldName(offset: 18)),
    .bad("a fold with a lone CR", "HTTP/1.1 200 OK\r\nA: b\r c\r\n\(empty)", .forbiddenByte(0x0D, offset: 21)),
    .bad("NUL in a folded line", "HTTP/1.1 200 OK\r\nA: b\r\n \0c\r\n\(empty)", .forbiddenByte(0, offset: 24)),
    .bad("a first line of white space", "HTTP/1.1 200 OK\r\n \r\n\(empty)", .malformedFieldName(offset: 17)),
    .bad(
      "a no-break space doesn't fold a line", "HTTP/1.1 200 OK\r\nA: b\r\n\u{A0}c\r\n\(empty)",
      .malformedFieldName(offset: 23)),
    .bad("a first field line that is folded", "HTTP/1.1 200 OK\r\n A: b\r\n\(empty)", .malformedFieldName(offset: 17)),
    .bad(
      "a length broken by a fold", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n",
      .malformedContentLength("1   2")),
  ]
}
