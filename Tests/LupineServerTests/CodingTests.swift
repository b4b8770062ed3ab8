// CodingTests: chunked bodies and content codings of real servers.

import LupineEngine
import LupineTestSupport
import Testing

@Suite("Codings of real servers", .timeLimit(.minutes(10)))
struct CodingTests {
  @Test(
    "the client decodes a page with any content coding",
    arguments: [
      (Server.nginx, "gzip"), (.nginx, "br"), (.apache, "gzip"), (.caddy, "gzip"), (.haproxy, "gzip"), (.haproxy, "br"),
      (.nginxTLS, "gzip"), (.nginxTLS, "br"), (.caddyTLS, "gzip"),
    ] as [(Server, String)])
  func decoded(server: Server, coding: String) async throws {
    let response = try await Engine.forServers().collect(server, "/text.txt", fields: ["Accept-Encoding": coding])
    #expect(response.field("Content-Encoding") == coding)
    #expect(response.text == TextPage.text)
    let metric = try response.metric
    #expect(metric.decodedBodyBytes == UInt64(TextPage.text.utf8.count))
    #expect(metric.responseBodyBytes * 2 < metric.decodedBodyBytes)
  }

  @Test(
    "the client decodes httpbin's responses in all content codings",
    arguments: [("gzip", "gzipped"), ("deflate", "deflated"), ("brotli", "brotli")])
  func httpbin(path: String, member: String) async throws {
    let response = try await Engine.forServers().collect(.httpbin, "/\(path)")
    #expect(response.field("Content-Encoding") == (path == "brotli" ? "br" : path))
    #expect(response.text.contains("\"\(member)\": true"))
  }

  #if Zstd
    @Test("the client decodes zstd from caddy, which prefers zstd to gzip", arguments: [Server.caddy, .caddyTLS])
    func zstd(server: Server) async throws {
      let accept: Fields = ["Accept-Encoding": ContentCoding.allNames]
      let response = try await Engine.forServers().collect(server, "/text.txt", fields: accept)
      #expect(response.field("Content-Encoding") == "zstd")
      #expect(response.text == TextPage.text)
      let metric = try response.metric
      #expect(metric.decodedBodyBytes == UInt64(TextPage.text.utf8.count))
      #expect(metric.responseBodyBytes * 2 < metric.decodedBodyBytes)
    }
  #endif

  @Test(
    "the client delivers a compressed body without decoding if the request asks for that", arguments: Server.withPages)
  func raw(server: Server) async throws {
    let response = try await Engine.forServers().collect(server, "/text.txt", fields: ["Accept-Encoding": "gzip"]) {
      $0.decodesContent = false
    }
    #expect(response.body.starts(with: [0x1F, 0x8B]))
    #expect(try response.metric.responseBodyBytes == UInt64(response.body.count))
    let decoded = try ContentDecoder.decode(response.body, [.gzip])
    #expect(String(decoding: decoded, as: UTF8.self) == TextPage.text)
  }

  @Test(
    "responses to HEAD and 304 responses have no body to decode, even if the page is compressed",
    arguments: [Server.nginx, .caddy])
  func codedWithoutBody(server: Server) async throws {
    let engine = try Engine.forServers()
    let accept: Fields = ["Accept-Encoding": "gzip"]
    let head = try await engine.collect(server, "/text.txt", method: "HEAD", fields: accept)
    #expect(head.status == 200)
    #expect(head.body.isEmpty)
    let get = try await engine.collect(server, "/text.txt", fields: accept)
    var conditional = accept
    conditional.append(name: "If-None-Match", value: try #require(get.field("ETag")))
    let second = try await engine.collect(server, "/text.txt", fields: conditional)
    #expect(second.status == 304)
    #expect(try second.metric.isReusedConnection)
  }

  @Test(
    "the client decodes chunked bodies",
    arguments: [
      (Server.nginx, "/text.txt"), (.caddy, "/nginx/text.txt"), (.haproxy, "/text.txt"),
    ] as [(Server, String)])
  func chunked(server: Server, path: String) async throws {
    let response = try await Engine.forServers().collect(server, path, fields: ["Accept-Encoding": "gzip"])
    #expect(response.field("Transfer-Encoding") == "chunked")
    #expect(response.text == TextPage.text)
  }

  @Test("the client receives httpbin's streams, whatever the sizes of their chunks")
  func streams() async throws {
    let engine = try Engine.forServers()
    let response = try await engine.collect(.httpbin, "/stream/50")
    #expect(response.field("Transfer-Encoding") == "chunked")
    let lines = response.text.split(separator: "\n")
    #expect(lines.count == 50)
    for (index, line) in lines.enumerated() { #expect(line.contains("\"id\": \(index)")) }
    // The content can't be predicted, because concurrent requests share httpbin's random seed.
    let same = try await engine.collect(.httpbin, "/stream-bytes/100000?chunk_size=333")
    #expect(same.body.count == 100_000)
    #expect(try same.metric.responseBodyBytes == 100_000)
  }
}
