// Responses to CONNECT: no cookie, field or byte of them reaches the cookie jar or the caller.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct HostileProxyTests {
  private static let cookie = "Set-Cookie: proxy=evil; Domain=localhost; Path=/\r\nSet-Cookie: p=e\r\nX-Proxy: evil\r\n"

  /// Calls `body` with a session whose proxy answers CONNECT with the bytes `answer`. If the client then starts TLS, the
  /// proxy answers the requests in the tunnel itself, in place of the origin.
  private func withProxy(
    answering answer: String, _ body: (Session, HTTPCookieStorage, OriginServer) async throws -> Void
  ) async throws {
    let identity = try ServerIdentity.throwaway()
    try await withOrigin { peer in
      guard try peer.readHead() != nil else { return }
      try peer.send(answer)
      try peer.startTLS(identity)
      try peer.serve {
        Reply(fields: ["Set-Cookie": "origin=good"], .bytes(Array("\($0.fields.first("Cookie") ?? "no cookies")".utf8)))
      }
    } _: { proxy in
      let storage = HTTPCookieStorage()
      try await withSession {
        $0.httpCookieStorage = storage
        $0.httpCookieAcceptPolicy = .always
        $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
        if let proxy = try? Proxy(.http, host: "127.0.0.1", port: proxy.port) { $0.engine.proxy = .fixed(proxy) }
      } _: { session in
        try await body(session, storage, proxy)
      }
    }
  }

  @Test(
    "cookies and fields of a CONNECT response are neither stored nor delivered to the caller",
    arguments: ["", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Content-Encoding: gzip\r\n"])
  func opened(fields: String) async throws {
    let interim = "HTTP/1.1 103 Early Hints\r\n\(Self.cookie)\r\n"
    try await withProxy(answering: "\(interim)HTTP/1.1 200 OK\r\n\(Self.cookie)\(fields)\r\n") { session, storage, _ in
      let first = await session.request("https://127.0.0.1:9/").serializingString().response
      #expect(first.value == "no cookies")
      #expect(first.response?.headers["X-Proxy"] == nil && first.response?.headers["Set-Cookie"] == "origin=good")
      #expect(storage.cookies?.map(\.name) == ["origin"])
      let second = await session.request("https://127.0.0.1:9/").serializingString().response
      #expect(second.value == "origin=good")
    }
  }

  @Test(
    "if a CONNECT response refuses the tunnel or is followed by further bytes, the only effect is that the request fails",
    arguments: [
      "HTTP/1.1 403 Forbidden\r\n\(cookie)Content-Length: 4\r\n\r\nevil",
      "HTTP/1.1 407 Auth\r\n\(cookie)Proxy-Authenticate: Basic\r\nWWW-Authenticate: Basic\r\nContent-Length: 4\r\n\r\nevil",
      "HTTP/1.1 302 Found\r\n\(cookie)Location: http://127.0.0.1:9/\r\nContent-Length: 4\r\n\r\nevil",
      "HTTP/1.1 200 OK\r\n\(cookie)Content-Length: 4\r\n\r\nevil",
      "HTTP/1.1 200 OK\r\n\(cookie)\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
    ])
  func refused(answer: String) async throws {
    try await withProxy(answering: answer) { session, storage, proxy in
      let request = session.request("https://127.0.0.1:9/")
      let response = await request.outcome()
      let error = try #require(response.error?.underlyingError as? URLError)
      #expect([.cannotConnectToHost, .badServerResponse].contains(error.code))
      #expect(response.response == nil && response.data == nil && storage.cookies?.isEmpty != false)
      #expect(response.metrics?.redirectCount == 0 && proxy.connectionCount == 1)
    }
  }
}
