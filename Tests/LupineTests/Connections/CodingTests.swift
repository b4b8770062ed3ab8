// Content codings through a session: decoding, errors for broken content, and limits for decompression bombs.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CodingTests {
  private static let text = String((1...3000).flatMap { "line \($0): lupins fix nitrogen\n" })

  @Test("gzip and brotli content from nginx is decoded", arguments: ["gzip", "br", "identity"])
  func nginx(coding: String) async throws {
    let url = try await TestServers.nginx + "/text.txt"
    try await withSession { session in
      let response = await session.request(url, headers: [.acceptEncoding(coding)]).serializingString().response
      #expect(response.value == Self.text)
      #expect(response.response?.value(forHTTPHeaderField: "Content-Encoding") == (coding == "identity" ? nil : coding))
      let metrics = try #require(response.metrics?.transactionMetrics.first)
      #expect(metrics.countOfResponseBodyBytesAfterDecoding == Int64(Self.text.utf8.count))
      let isSmaller = metrics.countOfResponseBodyBytesReceived < metrics.countOfResponseBodyBytesAfterDecoding
      #expect(isSmaller == (coding != "identity"))
    }
  }

  @Test("deflate, gzip and brotli content from httpbin is decoded", arguments: ["deflate", "gzip", "brotli"])
  func httpbin(coding: String) async throws {
    struct Coded: Decodable, Sendable {
      var method: String
    }
    let url = try await TestServers.httpbin + "/" + coding
    try await withSession { session in
      #expect(await session.request(url).serializingDecodable(Coded.self).response.value?.method == "GET")
    }
  }

  struct Body: Sendable, CustomTestStringConvertible {
    let name: String
    let coding: String
    let bytes: [UInt8]
    let part: String
    var testDescription: String { name }
  }

  private static func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try ContentEncoder.encode(bytes, as: .gzip) }

  private static var brokenBodies: [Body] {
    get throws {
      let good = try gzip(Array(text.utf8))
      var damaged = good
      damaged[damaged.count - 5] ^= 0xFF
      return [
        Body(name: "no gzip at all", coding: "gzip", bytes: Array("plain".utf8), part: "invalid"),
        Body(
          name: "gzip cut short", coding: "gzip", bytes: Array(good.dropLast(9)), part: "ended within the coded stream"),
        Body(name: "a wrong checksum", coding: "gzip", bytes: damaged, part: "checksum"),
        Body(name: "no brotli at all", coding: "br", bytes: Array("plain text".utf8), part: "br:"),
        Body(name: "too many codings", coding: "gzip, gzip, gzip, gzip, gzip, gzip", bytes: good, part: "5"),
        Body(
          name: "brotli twice", coding: "br, br", bytes: Array("plain".utf8),
          part: "layers of brotli than the limit of 1"),
      ]
    }
  }

  @Test("a request whose response can't be decoded fails with cannotDecodeContentData", arguments: try brokenBodies)
  func broken(body: Body) async throws {
    try await withServer { _ in
      Reply(fields: ["Content-Encoding": body.coding], .bytes(body.bytes))
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url).outcome()
        try expectTransferError(response.error, .cannotDecodeContentData, .decodingFailed, body.part)
        #expect(response.response?.statusCode == 200 || body.coding != "gzip")
      }
    }
  }

  static let unknownCodings = ["foo", "aws-chunked", "utf-8", "none", "binary", "gzip, foo", "foo, gzip"]

  @Test(
    "a body with an unknown content coding is delivered as received, with its Content-Encoding field",
    arguments: unknownCodings
  )
  func unknown(coding: String) async throws {
    let body = try Self.gzip(Array(Self.text.utf8))
    try await withServer { _ in
      Reply(fields: ["Content-Encoding": coding], .bytes(body))
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        let response = await request.outcome()
        #expect(response.error == nil && response.data.map(Array.init) == body)
        #expect(response.response?.value(forHTTPHeaderField: "Content-Encoding") == coding)
        #expect(response.response?.expectedContentLength == Int64(body.count))
        #expect(request.downloadProgress.totalUnitCount == Int64(body.count))
        #expect(request.downloadProgress.completedUnitCount == Int64(body.count))
        let metrics = try #require(response.metrics?.transactionMetrics.first)
        #expect(metrics.countOfResponseBodyBytesReceived == Int64(body.count))
        #expect(metrics.countOfResponseBodyBytesAfterDecoding == Int64(body.count))

        let file = await session.download(origin.url).serializingData().response
        #expect(file.value.map(Array.init) == body && file.error == nil)
      }
    }
  }

  @Test(
    "if refusesUnknownCodings is set, a response with an unknown content coding fails with cannotDecodeContentData",
    arguments: unknownCodings)
  func unknownRefused(coding: String) async throws {
    try await withServer { _ in
      Reply(fields: ["Content-Encoding": coding], .bytes(Array("plain".utf8)))
    } _: { origin in
      try await withSession {
        $0.engine.codings.refusesUnknownCodings = true
      } _: { session in
        let response = await session.request(origin.url).outcome()
        let name = try #require(coding.split(separator: ", ").first { $0 != "gzip" })
        try expectTransferError(
          response.error, .cannotDecodeContentData, .decodingFailed, "\"\(name)\"", "refusesUnknownCodings")
      }
    }
  }

  @Test("the client stops decompressing a gzip bomb nested in gzip before the bomb exhausts the memory")
  func bomb() async throws {
    let once = try Self.gzip([UInt8](repeating: 0, count: 64 << 20))
    let twice = try Self.gzip(once)
    try await withServer { _ in
      Reply(fields: ["Content-Encoding": "gzip, gzip"], .bytes(twice))
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url).outcome()
        try expectTransferError(response.error, .cannotDecodeContentData, .decodingFailed, "1100", "Raise")
        #expect(response.data?.count ?? 0 <= 4 << 20)
      }
    }
  }

  @Test("a response with a content coding but no content succeeds: to HEAD, with status 204, or with an empty body")
  func nothingToDecode() async throws {
    try await withServer { request in
      Reply(status: request.path == "/204" ? 204 : 200, fields: ["Content-Encoding": "gzip"])
    } _: { origin in
      try await withSession { session in
        #expect(await session.request(origin.url + "/204").outcome().error == nil)
        #expect(await session.request(origin.url, method: .head).outcome().error == nil)
        #expect(await session.request(origin.url).outcome().error == nil)
      }
    }
  }
}
