// DemoRoutesTests: the responses of the demo's routes.

import LupineCoding
import Testing

@testable import LupineOrigin

struct DemoRoutesTests {
  private static let document =
    #"{"name":"lupine","family":"Fabaceae","species":200,"perennial":true,"colours":["blue","violet","white"]}"#

  /// Sends a request with this request line and body to the demo server, and returns the head and the body of its response.
  private func exchange(_ request: String, body: String = "") throws -> (head: String, body: [UInt8]) {
    let server = try OriginServer.serving(DemoRoutes.reply)
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send("\(request)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    var bytes: [UInt8] = []
    while true {
      let more = try client.receive()
      if more.isEmpty { break }
      bytes += more
    }
    let end = Array("\r\n\r\n".utf8)
    let bodyStart = try #require((0...bytes.count).first { bytes[..<$0].suffix(4).elementsEqual(end) })
    return (String(decoding: bytes[..<bodyStart], as: UTF8.self), Array(bytes[bodyStart...]))
  }

  @Test(
    "the demo server answers each of its paths with the expected status and fields",
    arguments: [
      ("/json", "HTTP/1.1 200 ", "Content-Type: application/json"),
      ("/redirect", "HTTP/1.1 302 ", "Location: /json"),
      ("/redirect-other?to=http://127.0.0.1:1/a%3Fb", "HTTP/1.1 302 ", "Location: http://127.0.0.1:1/a?b"),
      ("/redirect-other?to=a%0D%0AX:%20y", "HTTP/1.1 400 ", "Content-Type: application/json"),
      ("/redirect-other", "HTTP/1.1 400 ", "Content-Type: application/json"),
      ("/status/503", "HTTP/1.1 503 ", "Content-Length: 14"),
      ("/status/100", "HTTP/1.1 400 ", "Content-Type: application/json"),
      ("/status/99999999999999999999", "HTTP/1.1 400 ", "Content-Type: application/json"),
      ("/big?bytes=-1", "HTTP/1.1 400 ", "Content-Type: application/json"),
      ("/gzip", "HTTP/1.1 200 ", "Content-Encoding: gzip"),
      ("/deflate", "HTTP/1.1 200 ", "Content-Encoding: deflate"),
      ("/br", "HTTP/1.1 200 ", "Content-Encoding: br"),
      ("/nowhere", "HTTP/1.1 404 ", "Content-Type: application/json"),
    ])
  func heads(path: String, status: String, field: String) throws {
    let (head, _) = try exchange("GET \(path) HTTP/1.1")
    #expect(head.hasPrefix(status))
    #expect(head.contains("\r\n\(field)\r\n"))
    #expect(!head.contains("\r\nX: y"))
  }

  @Test(
    "the demo server's documents with a content coding decode to the plain document",
    arguments: [
      ("/gzip", ContentCoding.gzip), ("/deflate", .deflate), ("/br", .brotli),
    ])
  func coded(path: String, coding: ContentCoding) throws {
    let body = try exchange("GET \(path) HTTP/1.1").body
    #expect(body == (try ContentEncoder.encode(Array(Self.document.utf8), as: coding)))
    #expect(try exchange("GET /json HTTP/1.1").body == Array(Self.document.utf8))
  }

  @Test("the demo server's path /echo describes the request as JSON")
  func echo() throws {
    let request = "POST /form?q=1&q=2&e= HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nX: \"\\\r\nX: 2"
    let (_, body) = try exchange(request, body: "a=1%0A&b=%C3%BC")
    #expect(
      String(decoding: body, as: UTF8.self)
        == #"{"method":"POST","path":"/form","query":{"q":["1","2"],"e":""},"headers":{"#
        + #""Content-Type":"application/x-www-form-urlencoded","X":"\"\\, 2","Connection":"close","#
        + #""Content-Length":"15"},"form":{"a":"1\n","b":"ü"},"body":"a=1%0A&b=%C3%BC","bodyBytes":15}"#)
  }

  @Test("the demo server's path /stream sends five chunks")
  func stream() throws {
    let body = String(decoding: try exchange("GET /stream HTTP/1.1").body, as: UTF8.self)
    let chunks = (1...5).map { "13\r\n{\"chunk\":\($0),\"of\":5}\n\r\n" }
    #expect(body == chunks.joined() + "0\r\n\r\n")
  }

  @Test(
    "the demo server's path /big sends the requested number of bytes, whose values depend on their position",
    arguments: [0, 1, 64_256, 200_000])
  func big(byteCount: Int) throws {
    let body = try exchange("GET /big?bytes=\(byteCount) HTTP/1.1").body
    #expect(body.count == byteCount)
    #expect(body == Pattern.bytes(0..<byteCount))
  }

  @Test("the demo server's path /slow sends no response until the client closes the connection")
  func slow() throws {
    let server = try OriginServer.serving(DemoRoutes.reply)
    let client = try RawClient(server)
    try client.send("GET /slow HTTP/1.1\r\n\r\nGET /json HTTP/1.1\r\n\r\n")
    try client.finishSending()
    #expect(try client.receiveAll() == "")
    server.stop()
    #expect(server.requestCount == 1)
  }

  @Test("the demo server escapes quotation marks, backslashes and control characters in JSON")
  func json() {
    let value: JSONValue = ["a\u{1}\"": [.null, false, "\\\r\n\t\u{1F}é"]]
    #expect(value.description == #"{"a\u0001\"":[null,false,"\\\r\n\t\u001fé"]}"#)
  }
}
