// MessageTests: methods, status codes, conditional and range requests with real servers.

import LupineEngine
import LupineTestSupport
import Testing

@Suite("Messages to real servers", .timeLimit(.minutes(10)))
struct MessageTests {
  @Test(
    "the client sends a request with any method unchanged, with its body",
    arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"])
  func methods(method: String) async throws {
    let response = try await Engine.forServers().collect(
      .httpbin, "/anything/a%20b?x=1&y=%C3%BC", method: method,
      fields: ["X-Lupine": "blue", "Content-Type": "text/plain"],
      body: RequestBody("body of \(method)"))
    #expect(response.status == 200)
    #expect(response.text.contains("\"method\": \"\(method)\""))
    #expect(response.text.contains("\"data\": \"body of \(method)\""))
    #expect(response.text.contains("\"X-Lupine\": \"blue\""))
    #expect(response.text.contains("\"Content-Length\": \"\("body of \(method)".utf8.count)\""))
    #expect(response.text.contains("\"x\": \"1\"") && response.text.contains("\"y\": \"\\u00fc\""))
  }

  @Test("the client can send OPTIONS and TRACE requests and receive their responses")
  func optionsAndTrace() async throws {
    let engine = try Engine.forServers()
    let options = try await engine.collect(.httpbin, "/anything", method: "OPTIONS")
    #expect(options.status == 200)
    #expect(options.field("Allow")?.contains("PATCH") == true)
    #expect(options.body.isEmpty)
    let trace = try await engine.collect(.httpbin, "/anything", method: "TRACE")
    #expect(trace.text.contains("\"method\": \"TRACE\""))
    // TRACE is disabled in Apache.
    #expect(try await engine.collect(.apache, "/small.txt", method: "TRACE").status == 405)
  }

  @Test("with WebDAV methods, the client can create folders on nginx, and store, copy, move, get and delete files")
  func webDAV() async throws {
    let engine = try Engine.forServers()
    let folder = "/uploads/webdav"
    func status(_ method: String, _ path: String, _ fields: Fields = [:], body: String = "") async throws -> Int {
      try await engine.collect(.nginx, folder + path, method: method, fields: fields, body: RequestBody(body)).status
    }
    _ = try await status("DELETE", "/", ["Depth": "infinity"])
    #expect(try await status("MKCOL", "/") == 201)
    #expect(try await status("PUT", "/a", body: "first") == 201)
    #expect(try await status("PUT", "/a", body: "second") == 204)
    #expect(try await status("COPY", "/a", ["Destination": "\(folder)/b"]) == 204)
    #expect(try await status("MOVE", "/a", ["Destination": "\(folder)/c"]) == 204)
    #expect(try await status("GET", "/a") == 404)
    #expect(try await engine.collect(.nginx, folder + "/b").text == "second")
    #expect(try await engine.collect(.nginx, folder + "/c").text == "second")
    #expect(try await status("DELETE", "/", ["Depth": "infinity"]) == 204)
    #expect(try await engine.collect(.nginx, folder + "/c").status == 404)
  }

  @Test("the client delivers a response with any status code")
  func statuses() async throws {
    let engine = try Engine.forServers()
    for status in [200, 201, 202, 203, 206, 226, 300, 400, 401, 402, 404, 405, 406, 409, 410, 418, 429, 451, 500, 501] {
      let response = try await engine.collect(.httpbin, "/status/\(status)")
      #expect(response.status == status)
      #expect(try response.metric.connectionID == 1, "status \(status)")
    }
    for status in [502, 503, 504, 599] {
      #expect(try await engine.collect(.httpbin, "/status/\(status)").status == status)
    }
    // Without a Location field, there is no redirect.
    for status in [304, 305] {
      #expect(try await engine.collect(.httpbin, "/status/\(status)", redirects: RedirectRule()).status == status)
    }
  }

  @Test(
    "a response to HEAD has the fields of the GET response and no body, and its connection is reused",
    arguments: Server.all)
  func head(server: Server) async throws {
    let engine = try Engine.forServers()
    let head = try await engine.collect(server, server.smallPage, method: "HEAD")
    let get = try await engine.collect(server, server.smallPage)
    #expect(head.status == 200)
    #expect(head.body.isEmpty)
    #expect(head.field("Content-Length") == "6")
    #expect(get.text == "small\n")
    #expect(head.field("Content-Type") == get.field("Content-Type"))
    #expect(try get.metric.isReusedConnection)
  }

  @Test("a HEAD request for a resource of 256 MiB ends after the head", arguments: Server.withPages)
  func headOfMuch(server: Server) async throws {
    let engine = try Engine.forServers()
    let response = try await engine.collect(server, "/big.bin", method: "HEAD")
    #expect(response.field("Content-Length") == "268435456")
    #expect(try response.metric.responseBodyBytes == 0)
    #expect(try await engine.collect(server, "/small.txt").metric.isReusedConnection)
  }

  @Test("a 204 response has no body, and its connection is reused")
  func noContent() async throws {
    let engine = try Engine.forServers()
    let response = try await engine.collect(.httpbin, "/status/204")
    #expect(response.status == 204)
    #expect(response.body.isEmpty)
    #expect(try await engine.collect(.httpbin, "/get").metric.isReusedConnection)
    for _ in 0..<2 {
      _ = try await engine.collect(.nginx, "/uploads/again", method: "PUT", body: RequestBody("x"))
    }
    let again = try await engine.collect(.nginx, "/uploads/again", method: "PUT", body: RequestBody("x"))
    #expect(again.status == 204)
    #expect(again.body.isEmpty)
    #expect(try again.metric.isReusedConnection)
  }

  @Test(
    "a conditional request for an unchanged page gets a 304, both by entity tag and by date",
    arguments: Server.withPages)
  func notModified(server: Server) async throws {
    let engine = try Engine.forServers()
    let full = try await engine.collect(server, "/small.txt")
    let tag = try #require(full.field("ETag"))
    let date = try #require(full.field("Last-Modified"))
    for fields: Fields in [["If-None-Match": tag], ["If-Modified-Since": date]] {
      let response = try await engine.collect(server, "/small.txt", fields: fields)
      #expect(response.status == 304)
      #expect(response.body.isEmpty)
      #expect(response.field("ETag") == tag)
      #expect(try response.metric.isReusedConnection)
    }
    #expect(try await engine.collect(server, "/small.txt", fields: ["If-None-Match": "\"other\""]).text == "small\n")
    #expect(try await engine.collect(server, "/small.txt", fields: ["If-Match": "\"other\""]).status == 412)
  }

  @Test("the client delivers httpbin's 304 and 412 responses to requests with If-None-Match and If-Match")
  func httpbinETag() async throws {
    let engine = try Engine.forServers()
    #expect(try await engine.collect(.httpbin, "/etag/x", fields: ["If-None-Match": "x"]).status == 304)
    #expect(try await engine.collect(.httpbin, "/etag/x", fields: ["If-Match": "y"]).status == 412)
    #expect(try await engine.collect(.httpbin, "/etag/x").field("ETag") == "x")
  }

  @Test("a request for a range gets a 206 with exactly the bytes of the range", arguments: Server.withPages)
  func ranges(server: Server) async throws {
    let engine = try Engine.forServers()
    let text = Array(TextPage.text.utf8)
    for (range, bytes) in [
      ("0-0", text[0...0]), ("100-4999", text[100...4999]), ("-20", text.suffix(20)),
      ("\(text.count - 7)-", text.suffix(7)),
    ] {
      let response = try await engine.collect(server, "/text.txt", fields: ["Range": "bytes=\(range)"])
      #expect(response.status == 206)
      #expect(response.body == Array(bytes))
      #expect(response.field("Content-Range") == "bytes \(bytes.startIndex)-\(bytes.endIndex - 1)/\(text.count)")
    }
    let beyond = try await engine.collect(server, "/text.txt", fields: ["Range": "bytes=1000000-"])
    #expect(beyond.status == 416)
    // Apache sends no Content-Range in a 416 response.
    #expect(beyond.field("Content-Range") == (server == .apache ? nil : "bytes */\(text.count)"))
    #expect(try beyond.metric.isReusedConnection)
  }

  @Test("a request for several ranges gets one multipart body", arguments: [Server.nginx, .apache, .caddy])
  func multipartRanges(server: Server) async throws {
    let response = try await Engine.forServers().collect(
      server, "/text.txt", fields: ["Range": "bytes=0-5,7-10"])
    #expect(response.status == 206)
    #expect(response.field("Content-Type")?.hasPrefix("multipart/byteranges; boundary=") == true)
    #expect(response.text.contains("\r\n\r\nline 1\r\n") && response.text.contains("\r\n\r\n lup\r\n"))
  }

  @Test("a range request for the last 56 bytes of a resource of 256 MiB receives only these bytes")
  func rangeOfMuch() async throws {
    let engine = try Engine.forServers()
    for server in Server.withPages {
      let response = try await engine.collect(server, "/big.bin", fields: ["Range": "bytes=268435400-"])
      #expect(response.body == [UInt8](repeating: 0, count: 56))
    }
  }

  @Test("the client sends user information in the URL as Basic credentials")
  func basic() async throws {
    let engine = try Engine.forServers()
    _ = try await Server.httpbin.url()
    let uri = try URI("http://me:p%40ss@127.0.0.1:28080/basic-auth/me/p%40ss")
    let response = try await engine.collect(EngineRequest(uri: uri))
    #expect(response.status == 200)
    #expect(response.text.contains("\"authenticated\": true"))
    let refused = try await engine.collect(.httpbin, "/basic-auth/me/other")
    #expect(refused.status == 401)
    #expect(refused.field("WWW-Authenticate") == "Basic realm=\"Fake Realm\"")
  }

  @Test("the client delivers repeated fields of a response separately and in order")
  func repeatedFields() async throws {
    let response = try await Engine.forServers().collect(
      .httpbin, "/response-headers?X-Order=1&X-Order=2&X-Order=3&Set-Cookie=a%3D1&Set-Cookie=b%3D2")
    #expect(response.head.fields.all("x-order") == ["1", "2", "3"])
    #expect(response.head.fields.all("Set-Cookie") == ["a=1", "b=2"])
  }

  @Test("a request can be sent over IPv6", .enabled(if: ProcessStatus.hasIPv6))
  func ipv6() async throws {
    try Server.nginx.require()
    let engine = try Engine.forServers()
    let response = try await engine.collect(EngineRequest(uri: try URI("http://[::1]:28082/small.txt")))
    #expect(response.text == "small\n")
    #expect(try response.metric.remoteAddress?.description == "[::1]:28082")
  }
}
