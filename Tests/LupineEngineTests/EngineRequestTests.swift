// EngineRequestTests: the serialized request head, and the credentials that follow from a URI's user information.

import LupineWire
import Testing

@testable import LupineEngine

@Suite("EngineRequest")
struct EngineRequestTests {
  private func fields(_ pairs: [(String, String)]) -> Fields {
    var fields = Fields()
    for (name, value) in pairs { fields.append(name: name, value: value) }
    return fields
  }

  /// Returns the head that the engine sends for a request with these properties, as text.
  private func wire(
    _ method: String = "GET", _ uri: String = "http://a/", _ pairs: [(String, String)] = [], body: String = ""
  ) throws -> String {
    let request = EngineRequest(
      method: method, uri: try URI(uri), fields: fields(pairs), body: body.isEmpty ? RequestBody() : RequestBody(body))
    let key = PoolKey(origin: request.uri.origin, tls: nil)
    let bytes = try request.writeHead(request.traits, isExpecting: true, for: key, into: [])
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(
    "Host is the first field of a request, and its value is derived from the URI",
    arguments: [
      ("http://a/b?c#d", "/b?c", "a"), ("http://A:80/", "/", "a"), ("http://a:81", "/", "a:81"),
      ("https://a:443/", "/", "a"), ("https://a:80/", "/", "a:80"), ("http://[::1]:81/", "/", "[::1]:81"),
      ("http://[::1]/", "/", "[::1]"),
    ])
  func host(uri: String, target: String, host: String) throws {
    #expect(try wire("GET", uri, [("A", "1")]) == "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nA: 1\r\n\r\n")
  }

  @Test(
    "the caller's Host field replaces the Host derived from the URI, and the engine sends it once, as the first field")
  func callersHost() throws {
    let sent = try wire("GET", "http://a/", [("A", "1"), ("hOST", "b:1"), ("Host", "c"), ("B", "2")])
    #expect(sent == "GET / HTTP/1.1\r\nHost: b:1\r\nA: 1\r\nB: 2\r\n\r\n")
  }

  @Test(
    "the engine refuses a caller's Host value that contains a line end",
    arguments: ["\r\n", "\r", "\n", "\0", "\t\r\n"])
  func callersHostWithLineEnd(text: String) {
    #expect(throws: WireError.invalidRequestFieldValue(name: "Host", byte: text.utf8.first { $0 != 9 } ?? 0)) {
      try wire("GET", "http://a/", [("Host", "b\(text)X-Injected: 1")])
    }
  }

  @Test(
    "the engine sends Content-Length with content, or as 0 if the method expects content (RFC 9110 §8.6)",
    arguments: [
      ("GET", nil, "5"), ("HEAD", nil, "5"), ("DELETE", nil, "5"), ("OPTIONS", nil, "5"), ("POST", "0", "5"),
      ("PUT", "0", "5"), ("PATCH", "0", "5"),
    ] as [(String, String?, String)])
  func contentLength(method: String, empty: String?, five: String) throws {
    let end = empty.map { "Content-Length: \($0)\r\n" } ?? ""
    #expect(try wire(method) == "\(method) / HTTP/1.1\r\nHost: a\r\n\(end)\r\n")
    #expect(
      try wire(method, body: "hello") == "\(method) / HTTP/1.1\r\nHost: a\r\nContent-Length: \(five)\r\n\r\n")
  }

  @Test("the engine replaces the caller's Content-Length and Transfer-Encoding with the framing of the body")
  func framing() throws {
    let callers = [
      ("content-length", "99"), ("A", "1"), ("Transfer-Encoding", "chunked"), ("CONTENT-LENGTH", "7"),
      ("transfer-encoding", "gzip"),
    ]
    #expect(try wire("GET", "http://a/", callers) == "GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\n\r\n")
    #expect(
      try wire("POST", "http://a/", callers, body: "hi")
        == "POST / HTTP/1.1\r\nHost: a\r\nA: 1\r\nContent-Length: 2\r\n\r\n")
  }

  @Test("the engine sends a request's fields in the caller's order and spelling, and they may be repeated")
  func order() throws {
    let sent = try wire("GET", "http://a/", [("b", "1"), ("A", "2"), ("B", "3")])
    #expect(sent == "GET / HTTP/1.1\r\nHost: a\r\nb: 1\r\nA: 2\r\nB: 3\r\n\r\n")
  }

  // MARK: Credentials

  @Test(
    "the engine sends user information in the URI as Basic credentials (RFC 7617)",
    arguments: [
      ("Aladdin:open%20sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),  // RFC 7617 §2
      ("test:123%C2%A3", "dGVzdDoxMjPCow=="),  // RFC 7617 §2.1: UTF-8
      ("test:123£", "dGVzdDoxMjPCow=="),
      ("a:b:c", "YTpiOmM="),
      ("a%3Ab:c", "YTpiOmM="),
      ("u:p%40x@y", "dTpwQHhAeQ=="),
      ("user", "dXNlcjo="),  // No password is an empty password.
      ("user:", "dXNlcjo="),
      (":pass", "OnBhc3M="),
      ("u:%", "dTol"),
      ("u:%4", "dTolNA=="),
      ("u:%4g", "dTolNGc="),
      ("u:%+4", "dTolKzQ="),
      ("u:%-0", "dTolLTA="),
      ("u:%é", "dTolw6k="),
      ("u:%fF%00", "dTr/AA=="),
    ])
  func basic(userInfo: String, expected: String) throws {
    let request = EngineRequest(uri: try URI("http://\(userInfo)@a/"))
    #expect(request.fields.all("Authorization") == ["Basic \(expected)"])
    #expect(request.head?.fields.first("Host") == "a")
  }

  @Test("an Authorization field set by the caller takes precedence over the URI's credentials")
  func callersCredentials() throws {
    let request = EngineRequest(uri: try URI("http://u:p@a/"), fields: fields([("authorization", "Bearer x")]))
    #expect(request.fields.all("Authorization") == ["Bearer x"])
  }

  @Test(
    "if the URI's user information is absent or empty, the engine adds no Authorization field",
    arguments: ["http://a/", "http://@a/"])
  func noCredentials(uri: String) throws {
    #expect(EngineRequest(uri: try URI(uri)).fields.isEmpty)
  }

  // MARK: Connection

  @Test(
    "the engine recognizes the option close anywhere in the Connection fields, case-insensitively",
    arguments: [
      ([], false), (["keep-alive"], false), (["close"], true), (["Close"], true), (["CLOSE "], true),
      (["keep-alive, close"], true), (["keep-alive,\tclose\t,"], true), (["TE", "close"], true), (["closed"], false),
      (["not-close"], false), (["clo se"], false), ([""], false),
    ])
  func close(values: [String], expected: Bool) throws {
    let request = EngineRequest(uri: try URI("http://a/"), fields: fields(values.map { ("connection", $0) }))
    #expect(request.traits.asksForClose == expected)
  }

  @Test("the word close in any request field other than Connection doesn't close the connection")
  func otherFields() throws {
    let request = EngineRequest(
      uri: try URI("http://a/"), fields: fields([("Proxy-Connection", "close"), ("X", "close")]))
    #expect(!request.traits.asksForClose)
  }
}
