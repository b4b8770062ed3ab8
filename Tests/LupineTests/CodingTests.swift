// Content codings from end to end: decoded as they come, refused when broken, and stopped when they explode.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine

@Suite(.timeLimit(.minutes(10))) struct CodingTests {
  private static let text = String((1...3000).flatMap { "line \($0): lupins fix nitrogen\n" })

  @Test("nginx's gzip and brotli decode", arguments: ["gzip", "br", "identity"])
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

  @Test("httpbin's deflate, gzip and brotli decode", arguments: ["deflate", "gzip", "brotli"])
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
        Body(name: "gzip cut short", coding: "gzip", bytes: Array(good.dropLast(9)), part: "ended before"),
        Body(name: "a wrong checksum", coding: "gzip", bytes: damaged, part: "checksum"),
        Body(name: "no brotli at all", coding: "br", bytes: Array("plain text".utf8), part: "br:"),
        Body(name: "an unknown coding", coding: "zstd", bytes: Array("plain".utf8), part: "\"zstd\""),
        Body(name: "too many codings", coding: "gzip, gzip, gzip, gzip, gzip, gzip", bytes: good, part: "5"),
      ]
    }
  }

  @Test("a broken coding is cannotDecodeContentData", arguments: try brokenBodies)
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

  @Test("a bomb of gzip in gzip is stopped before it fills the memory")
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

  @Test("HEAD, 204 and an empty body with a coding are no error")
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
