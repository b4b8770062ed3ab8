// ServingTests: keep-alive, bodies in both framings, HEAD, HTTP/1.0 and errors of a regular server.

import LupineWire
import Testing

@testable import LupineOrigin

/// Returns a reply whose body describes the parsed request in one line.
private func describe(_ request: ReceivedRequest) -> Reply {
  .text("\(request.method) \(request.path) [\(String(decoding: request.body, as: UTF8.self))]")
}

struct ServingTests {
  @Test("a connection to the test server serves several requests, including pipelined ones")
  func keepAlive() throws {
    let server = try OriginServer.serving(describe)
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try client.receive(through: "GET /1 []").hasPrefix("HTTP/1.1 200 \r\n"))
    try client.send("GET /2 HTTP/1.1\r\n\r\n\r\nGET /3 HTTP/1.1\r\nConnection: Foo , Close\r\n\r\n")
    let rest = try client.receiveAll()
    #expect(rest.contains("GET /2 []HTTP/1.1 200"))
    #expect(rest.hasSuffix("GET /3 []"))
    #expect(server.connectionCount == 1)
    #expect(server.requestCount == 3)
  }

  @Test(
    "the test server reads a request body according to its framing, in parts of any size", arguments: [1, 2, 7, 1000])
  func bodies(piece: Int) throws {
    let requests = [
      "POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
      "POST /b HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nhe\r\n03;x=y\r\nllo\r\n0\r\nT: 1\r\n\r\n",
      "PUT /c HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    ]
    let server = try OriginServer.serving(describe)
    defer { server.stop() }
    let client = try RawClient(server)
    var bytes = Array(requests.joined().utf8)[...]
    while !bytes.isEmpty {
      try client.send(Array(bytes.prefix(piece)))
      bytes = bytes.dropFirst(piece)
    }
    let answer = try client.receiveAll()
    #expect(answer.contains("POST /a [hello]HTTP/1.1"))
    #expect(answer.contains("POST /b [hello]HTTP/1.1"))
    #expect(answer.hasSuffix("PUT /c []"))
  }

  @Test("the test server's handler receives the raw head, the decoded query and the trailer section of a request")
  func receivedRequest() throws {
    let seen = HandlerRecord()
    let server = try OriginServer { peer in
      if let request = try peer.readRequest() { seen.set(request) }
      try peer.respond(body: [])
    }
    defer { server.stop() }
    let head = "POST /p%20q?a=1%202&b=x+y&c&%zz=%4 HTTP/1.1\r\nX-A:  1 \r\nx-a: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
    let client = try RawClient(server)
    try client.send(head + "0\r\nSum: 42\r\n\r\n")
    _ = try client.receiveAll()
    let request = try #require(seen.request)
    #expect(String(decoding: request.rawHead, as: UTF8.self) == head)
    #expect(request.path == "/p%20q")
    #expect(
      request.query == [
        .init(name: "a", value: "1 2"), .init(name: "b", value: "x y"), .init(name: "c", value: ""),
        .init(name: "%zz", value: "%4"),
      ])
    #expect(request.fields.all("X-A") == ["1", "2"])
    #expect(request.trailers.first("sum") == "42")
  }

  @Test("the test server sends 100 (Continue) to a client with Expect: 100-continue before the client sends the body")
  func expectContinue() throws {
    let server = try OriginServer.serving(describe)
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send("POST /e HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n")
    #expect(try client.receive(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
    try client.send("ok")
    #expect(try client.receive(through: "[ok]").hasPrefix("HTTP/1.1 200"))
  }

  @Test(
    "the test server ends a response that can't have a body after the head",
    arguments: [
      ("HEAD /json", "Content-Length: 104"), ("HEAD /stream", "Transfer-Encoding: chunked"),
      ("HEAD /big?bytes=7", "Content-Length: 7"), ("GET /status/204", "HTTP/1.1 204"),
      ("GET /status/304", "HTTP/1.1 304"),
    ])
  func bodiless(request: String, part: String) throws {
    let server = try OriginServer.serving(DemoRoutes.reply)
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send("\(request) HTTP/1.1\r\nConnection: close\r\n\r\n")
    let answer = try client.receiveAll()
    #expect(answer.contains(part))
    #expect(answer.hasSuffix("\r\n\r\n"))
  }

  @Test(
    "the test server sends no chunks to an HTTP/1.0 client, and closes the connection unless the client asked for keep-alive"
  )
  func oldClient() throws {
    let server = try OriginServer.serving(DemoRoutes.reply)
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send("GET /status/200 HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /stream HTTP/1.0\r\n\r\n")
    let answer = try client.receiveAll()
    #expect(answer.contains("Connection: keep-alive"))
    #expect(answer.hasSuffix("{\"chunk\":5,\"of\":5}\n"))
    #expect(!answer.contains("chunked"))
  }

  @Test("if the test server's handler throws, the client gets a 500, and a reply with an invalid head isn't sent")
  func replyErrors() throws {
    let server = try OriginServer.serving { request in
      if request.path == "/throw" { throw OriginError.malformedRequestLine }
      return Reply(fields: ["X": "a\r\nSet-Cookie: b"])
    }
    defer { server.stop() }
    let client = try RawClient(server)
    try client.send("GET /throw HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n")
    let answer = try client.receiveAll()
    #expect(answer.hasPrefix("HTTP/1.1 500"))
    #expect(!answer.contains("Set-Cookie"))
  }

  @Test("the test server can listen on an IPv6 address")
  func version6() throws {
    let server = try OriginServer.serving(address: "::1", describe)
    defer { server.stop() }
    #expect(server.url == "http://[::1]:\(server.port)")
    let client = try RawClient(port: server.port, address: "::1")
    try client.send("GET /6 HTTP/1.1\r\nConnection: close\r\n\r\n")
    #expect(try client.receiveAll().hasSuffix("GET /6 []"))
  }

  @Test("the test server refuses to listen on an address that isn't numeric")
  func notAnAddress() {
    #expect(throws: OriginError.notAnAddress("localhost")) {
      _ = try OriginServer.serving(address: "localhost", describe)
    }
  }
}
