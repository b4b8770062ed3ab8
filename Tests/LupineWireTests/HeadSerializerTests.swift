// Request heads byte by byte, and what must never get onto the wire (RFC 9112 §3, §5; RFC 9110 §5.5).

import LupineWire
import Testing

@Suite("HeadSerializer")
struct HeadSerializerTests {
  @Test(
    "a head is written exactly",
    arguments: [
      (RequestHead(method: "GET", target: "/"), "GET / HTTP/1.1\r\n\r\n"),
      (
        RequestHead(method: "POST", target: "/a%20b?c=d&e", fields: ["Host": "h:8080", "Content-Length": "5"]),
        "POST /a%20b?c=d&e HTTP/1.1\r\nHost: h:8080\r\nContent-Length: 5\r\n\r\n"
      ),
      (RequestHead(method: "OPTIONS", target: "*", fields: ["Host": "h"]), "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"),
      (RequestHead(method: "CONNECT", target: "h:443"), "CONNECT h:443 HTTP/1.1\r\n\r\n"),
      (RequestHead(method: "GET", target: "http://h/x"), "GET http://h/x HTTP/1.1\r\n\r\n"),
      (RequestHead(method: "m-1!", target: "/"), "m-1! / HTTP/1.1\r\n\r\n"),
      (
        RequestHead(method: "GET", target: "/", fields: ["b": "1", "A": "2", "B": ""]),
        "GET / HTTP/1.1\r\nb: 1\r\nA: 2\r\nB: \r\n\r\n"
      ),
      (
        RequestHead(method: "GET", target: "/", fields: ["A": "b\tc d: é"]),
        "GET / HTTP/1.1\r\nA: b\tc d: é\r\n\r\n"
      ),
    ] as [(RequestHead, String)])
  func exactBytes(head: RequestHead, expected: String) throws {
    var output: [UInt8] = []
    try HeadSerializer.append(head, to: &output)
    #expect(output == Array(expected.utf8))
  }

  @Test("what was in the buffer stays in front")
  func appends() throws {
    var output = Array("abc".utf8)
    try HeadSerializer.append(RequestHead(method: "GET", target: "/"), to: &output)
    #expect(output == Array("abcGET / HTTP/1.1\r\n\r\n".utf8))
  }

  @Test("a removed field isn't written")
  func removedField() throws {
    var fields: Fields = ["A": "1", "Secret": "x", "B": "2", "SECRET": "y"]
    fields.remove("secret")
    var output: [UInt8] = []
    try HeadSerializer.append(RequestHead(method: "GET", target: "/", fields: fields), to: &output)
    #expect(output == Array("GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\n\r\n".utf8))
  }

  static let tokenCharacters = Set(
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  static let ascii = (UInt8(0)..<128).map { ($0, String(Unicode.Scalar($0))) }

  @Test("each ASCII character in a method and a name is written if it is a token's, and refused otherwise")
  func methodsAndNames() {
    for (byte, text) in Self.ascii {
      let inMethod = RequestHead(method: "G\(text)T", target: "/")
      let inName = RequestHead(method: "GET", target: "/", fields: ["A\(text)": "b"])
      let isToken = Self.tokenCharacters.contains(byte)
      expect(inMethod, throws: isToken ? nil : .invalidMethod("G\(text)T"))
      expect(inName, throws: isToken ? nil : .invalidRequestFieldName("A\(text)"))
    }
  }

  @Test("each ASCII character in a target is written if it is visible, and refused otherwise")
  func targets() {
    for (byte, text) in Self.ascii {
      let isVisible = byte > 0x20 && byte < 0x7F
      expect(
        RequestHead(method: "GET", target: "/a\(text)b"),
        throws: isVisible ? nil : .invalidTarget(byte: byte, offset: 2))
    }
  }

  @Test("each control character in a value is refused, but for HTAB")
  func values() {
    for (byte, text) in Self.ascii {
      let isAllowed = byte >= 0x20 && byte != 0x7F || byte == 0x09
      expect(
        RequestHead(method: "GET", target: "/", fields: ["Host": "h", "A": "b\(text)"]),
        throws: isAllowed ? nil : .invalidRequestFieldValue(name: "A", byte: byte))
    }
  }

  @Test(
    "what would smuggle another line is refused",
    arguments: [
      (RequestHead(method: "GET / HTTP/1.1\r\nX: y\r\n\r\nGET", target: "/"), nil),
      (RequestHead(method: "", target: "/"), .invalidMethod("")),
      (RequestHead(method: "GÉT", target: "/"), .invalidMethod("GÉT")),
      (RequestHead(method: "GET", target: ""), .invalidTarget(byte: 0x20, offset: 0)),
      (RequestHead(method: "GET", target: "/é"), .invalidTarget(byte: 0xC3, offset: 1)),
      (RequestHead(method: "GET", target: "/ HTTP/1.1\r\nX: y"), .invalidTarget(byte: 0x20, offset: 1)),
      (RequestHead(method: "GET", target: "/\r\nX: y"), .invalidTarget(byte: 0x0D, offset: 1)),
      (RequestHead(method: "GET", target: "/", fields: ["": "x"]), .invalidRequestFieldName("")),
      (RequestHead(method: "GET", target: "/", fields: ["É": "x"]), .invalidRequestFieldName("É")),
      (RequestHead(method: "GET", target: "/", fields: ["A: b\r\nC": "x"]), .invalidRequestFieldName("A: b\r\nC")),
      (
        RequestHead(method: "GET", target: "/", fields: ["A": "x\r\nC: d"]),
        .invalidRequestFieldValue(name: "A", byte: 0x0D)
      ),
      (
        RequestHead(method: "GET", target: "/", fields: ["A": "x\r\n c"]),
        .invalidRequestFieldValue(name: "A", byte: 0x0D)
      ),
      (
        RequestHead(method: "GET", target: "/", fields: ["A": "x", "B": "y\nC: d"]),
        .invalidRequestFieldValue(name: "B", byte: 0x0A)
      ),
    ] as [(RequestHead, WireError?)])
  func smuggling(head: RequestHead, error: WireError?) {
    expect(head, throws: error ?? .invalidMethod(head.method))
  }

  /// Nothing may be appended when it throws; if it doesn't, there are as many lines as there are fields.
  private func expect(_ head: RequestHead, throws expected: WireError?) {
    let before = Array("kept".utf8)
    var output = before
    do throws(WireError) {
      try HeadSerializer.append(head, to: &output)
      #expect(expected == nil)
      #expect(output.count { $0 == 0x0A } == head.fields.count + 2)
      #expect(output.count { $0 == 0x0D } == head.fields.count + 2)
    } catch {
      #expect(error == expected)
      #expect(error.isCallersFault)
      #expect(output == before)
    }
  }
}
