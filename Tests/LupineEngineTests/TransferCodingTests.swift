// TransferCodingTests: decoding of transfer codings before chunked (RFC 9112 §7), and responses that end HTTP on their
// connection.

import LupineCoding
import LupineEngine
import LupineOrigin
import Testing

@Suite struct TransferCodingTests {
  private static let text = String(repeating: "the body ", count: 5000)

  /// The Transfer-Encoding and Content-Encoding fields of a test response, and the codings that the server applies to the body, in
  /// order.
  struct Coded: Sendable, CustomTestStringConvertible {
    let fields: String
    let codings: [ContentCoding]
    var decodesContent = true
    var testDescription: String { "\(fields)\(decodesContent ? "" : ", content left coded")" }
  }

  @Test(
    "the client receives the same body, whichever transfer codings the response has",
    arguments: [
      Coded(fields: "Transfer-Encoding: gzip, chunked", codings: [.gzip]),
      Coded(fields: "Transfer-Encoding: x-gzip\r\nTransfer-Encoding: chunked", codings: [.gzip]),
      Coded(fields: "Transfer-Encoding: deflate, gzip, chunked", codings: [.deflate, .gzip]),
      Coded(fields: "Content-Encoding: br\r\nTransfer-Encoding: gzip, chunked", codings: [.brotli, .gzip]),
      Coded(fields: "Transfer-Encoding: gzip, chunked", codings: [.gzip], decodesContent: false),
    ])
  func undone(_ coded: Coded) async throws {
    let origin = try Self.origin(coded)
    defer { origin.stop() }
    var request = EngineRequest(uri: try URI("\(origin.url)/"))
    request.decodesContent = coded.decodesContent
    let engine = try Engine()
    for _ in 0..<2 {
      let record = await engine.record(request)
      #expect(record.error == nil)
      #expect(record.text == Self.text)
    }
    #expect(origin.connectionCount == 1)
  }

  @Test("the engine removes the transfer coding, but leaves the content coding for the caller to decode")
  func contentCodingIsLeft() async throws {
    let origin = try Self.origin(
      Coded(fields: "Content-Encoding: deflate\r\nTransfer-Encoding: gzip, chunked", codings: [.deflate, .gzip]))
    defer { origin.stop() }
    var request = EngineRequest(uri: try URI("\(origin.url)/"))
    request.decodesContent = false
    let record = try await Engine().record(request)
    #expect(record.body == (try ContentEncoder.encode(Array(Self.text.utf8), as: .deflate)))
  }

  @Test(
    "the response head states whether the engine delivers the body decoded",
    arguments: [
      ("gzip", true), ("identity, GZIP", true), ("br, gzip", true), ("Identity", false), ("aws-chunked", false),
      ("gzip, foo", false), ("foo\r\nContent-Encoding: gzip", false),
      // Too many codings cause an error, but only after the head.
      ("br, br, br, br, br, br", true),
    ])
  func decodedContent(codings: String, isDecoded: Bool) async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: \(codings)\r\nContent-Length: 0\r\n\r\n")
    }
    defer { origin.stop() }
    let engine = try Engine()
    for decodesContent in [true, false] {
      var request = EngineRequest(uri: try URI("\(origin.url)/"))
      request.decodesContent = decodesContent
      let head = try #require(await engine.record(request).head)
      #expect(head.isContentDecoded == (decodesContent && isDecoded))
    }
  }

  @Test("a response body that doesn't match its transfer coding causes an error")
  func broken() async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nplain\r\n0\r\n\r\n")
    }
    defer { origin.stop() }
    #expect(try await Engine().record("\(origin.url)/").error?.code == .decodingFailed)
  }

  @Test("a 2xx response to CONNECT has no content, and its connection isn't reused")
  func unusedTunnel() async throws {
    let origin = try OriginServer { peer in
      while try peer.readRequest() != nil { try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n") }
    }
    defer { origin.stop() }
    let engine = try Engine()
    let request = EngineRequest(method: "CONNECT", uri: try URI("\(origin.url)/"))
    for _ in 0..<2 {
      let record = await engine.record(request)
      #expect(record.error == nil)
      #expect(record.head?.status == 200)
      #expect(record.text == "")
    }
    #expect(origin.connectionCount == 2)
  }

  private static func origin(_ coded: Coded) throws -> OriginServer {
    let body = try coded.codings.reduce(Array(text.utf8)) { try ContentEncoder.encode($0, as: $1) }
    return try OriginServer { peer in
      while try peer.readRequest() != nil {
        try peer.send("HTTP/1.1 200 OK\r\n\(coded.fields)\r\n\r\n")
        for start in stride(from: 0, to: body.count, by: 20) {
          try peer.chunk(Array(body[start..<min(start + 20, body.count)]))
        }
        try peer.endChunked()
      }
    }
  }
}
