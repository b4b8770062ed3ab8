// RequestVectors: the table of requests, with the bytes on the wire or the error for input that could end a line or a
// request early (RFC 9112 §3, §5, §11.1).

import LupineWire
import Testing

/// A request head, and either the bytes that the serializer must write or the error that it must throw.
struct RequestVector: Sendable, CustomTestStringConvertible {
  enum Outcome: Sendable {
    case written(String)
    case refused(WireError)
  }

  let name: String
  let head: RequestHead
  let outcome: Outcome

  var testDescription: String { name }

  /// The bytes that the serializer must write, or nil if it must refuse the head.
  var wire: String? {
    if case .written(let wire) = outcome { wire } else { nil }
  }

  static let all = written + injectedMethods + injectedTargets + injectedNames + injectedValues

  private static let written: [RequestVector] = [
    good("a request without fields", RequestHead(method: "GET", target: "/"), "GET / HTTP/1.1\r\n\r\n"),
    good(
      "path, query, fields",
      RequestHead(method: "POST", target: "/a%20b?c=d&e", fields: ["Host": "h:8080", "Content-Length": "5"]),
      "POST /a%20b?c=d&e HTTP/1.1\r\nHost: h:8080\r\nContent-Length: 5\r\n\r\n"),
    good(
      "the asterisk form", RequestHead(method: "OPTIONS", target: "*", fields: ["Host": "h"]),
      "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"),
    good("the authority form", RequestHead(method: "CONNECT", target: "h:443"), "CONNECT h:443 HTTP/1.1\r\n\r\n"),
    good(
      "the authority form with IPv6", RequestHead(method: "CONNECT", target: "[::1]:443"),
      "CONNECT [::1]:443 HTTP/1.1\r\n\r\n"),
    good("the absolute form", RequestHead(method: "GET", target: "http://h/x?y"), "GET http://h/x?y HTTP/1.1\r\n\r\n"),
    good("a method of token characters", RequestHead(method: "m-1!", target: "/"), "m-1! / HTTP/1.1\r\n\r\n"),
    good(
      "fields keep their order and spelling",
      RequestHead(method: "GET", target: "/", fields: ["b": "1", "A": "2", "B": ""]),
      "GET / HTTP/1.1\r\nb: 1\r\nA: 2\r\nB: \r\n\r\n"),
    good(
      "tabs, colons and UTF-8 in a value", RequestHead(method: "GET", target: "/", fields: ["A": "b\tc d: é"]),
      "GET / HTTP/1.1\r\nA: b\tc d: é\r\n\r\n"),
    good(
      "encoded line ends stay encoded", RequestHead(method: "GET", target: "/%0D%0AX:y%00", fields: ["A": "%0d%0a"]),
      "GET /%0D%0AX:y%00 HTTP/1.1\r\nA: %0d%0a\r\n\r\n"),
    good(
      "characters whose low byte is a line end are UTF-8",
      RequestHead(method: "GET", target: "/", fields: ["A": "\u{10A}\u{10D}\u{560A}\u{560D}"]),
      "GET / HTTP/1.1\r\nA: \u{10A}\u{10D}\u{560A}\u{560D}\r\n\r\n"),
    good(
      "line separators of Unicode are text", RequestHead(method: "GET", target: "/", fields: ["A": "\u{85}\u{2028}b"]),
      "GET / HTTP/1.1\r\nA: \u{85}\u{2028}b\r\n\r\n"),
  ]

  private static let injectedMethods: [RequestVector] = [
    "", " ", "GET ", " GET", "GE T", "GET\t", "GET\r\n", "GET\n", "GET\r", "GET\0", "\r\nGET",
    "GET / HTTP/1.1\r\nX: y\r\n\r\nGET",
    "GET /x HTTP/1.1\nX:", "GÉT", "GET\u{85}", "G:T", "GET/", "GET,POST", "(GET)", "\"GET\"", "GET\u{7F}",
    "\u{FEFF}GET",
  ].map { method in
    bad("the method \(method.debugDescription)", RequestHead(method: method, target: "/"), .invalidMethod(method))
  }

  private static let injectedTargets: [RequestVector] =
    ([
      ("", 0x20, 0), (" ", 0x20, 0), ("/ ", 0x20, 1), (" /", 0x20, 0), ("/a b", 0x20, 2), ("/\t", 0x09, 1),
      ("/\r\nX: y", 0x0D, 1), ("/\nX: y", 0x0A, 1), ("/\r", 0x0D, 1), ("/\0", 0, 1), ("/\u{0B}", 0x0B, 1),
      ("/\u{0C}", 0x0C, 1), ("/\u{1B}[2J", 0x1B, 1), ("/\u{7F}", 0x7F, 1), ("/ HTTP/1.1\r\nX: y", 0x20, 1),
      ("/\r\n\r\nGET /admin", 0x0D, 1), ("/?q=\r\n", 0x0D, 4), ("/é", 0xC3, 1), ("/\u{560D}\u{560A}", 0xE5, 1),
      ("/\u{85}", 0xC2, 1), ("http://h/\r\n", 0x0D, 9), ("h:443\r\nX: y", 0x0D, 5),
    ] as [(String, UInt8, Int)]).map { target, byte, offset in
      bad(
        "the target \(target.debugDescription)", RequestHead(method: "GET", target: target),
        .invalidTarget(byte: byte, offset: offset))
    }

  private static let injectedNames: [RequestVector] = [
    "", " ", "A ", " A", "A B", "A:", ":", "A\t", "A\r\n", "A\n", "A\r", "A\0", "A: b\r\nC", "A: b\nC", "\r\n",
    "\r\n\r\nGET / HTTP/1.1",
    "É", "A\u{85}", "(A)", "A,B", "A;B", "A=B", "\"A\"", "A/B", "{A}", "A\u{7F}", "Transfer-Encoding ",
    "Content-Length\t",
  ].map { name in
    bad(
      "the field name \(name.debugDescription)",
      RequestHead(method: "GET", target: "/", fields: Fields(dictionaryLiteral: (name, "x"))),
      .invalidRequestFieldName(name))
  }

  private static let injectedValues: [RequestVector] =
    ([
      ("x\r\nC: d", 0x0D), ("x\nC: d", 0x0A), ("x\rC: d", 0x0D), ("x\r\n c", 0x0D), ("x\n\tc", 0x0A), ("x\r\n", 0x0D),
      ("\r\nx", 0x0D),
      ("\n", 0x0A), ("\r", 0x0D), ("\0", 0), ("x\0", 0), ("x\0\r\n", 0), ("x\u{0B}y", 0x0B), ("x\u{0C}y", 0x0C),
      ("x\u{08}", 0x08), ("x\u{1B}[0m", 0x1B), ("x\u{7F}", 0x7F), ("x\r\n\r\nGET /admin HTTP/1.1\r\n", 0x0D),
      ("x\r\nTransfer-Encoding: chunked", 0x0D), ("x\r\nContent-Length: 0\r\n\r\n", 0x0D), ("%0d\r%0a\n", 0x0D),
      ("\u{10D}\n", 0x0A),
    ] as [(String, UInt8)]).map { value, byte in
      bad(
        "the field value \(value.debugDescription)",
        RequestHead(method: "GET", target: "/", fields: ["Host": "h", "A": value, "B": "b"]),
        .invalidRequestFieldValue(name: "A", byte: byte))
    }

  private static func good(_ name: String, _ head: RequestHead, _ wire: String) -> RequestVector {
    RequestVector(name: name, head: head, outcome: .written(wire))
  }

  private static func bad(_ name: String, _ head: RequestHead, _ error: WireError) -> RequestVector {
    RequestVector(name: name, head: head, outcome: .refused(error))
  }
}
