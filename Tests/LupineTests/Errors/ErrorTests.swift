// Errors: each row of the Errors article that a server on loopback can cause, and malformed replies.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct ErrorTests {
  // MARK: Nothing sent

  @Test("a request with a URL that can't be parsed fails with invalidURL", arguments: ["", "http://[", "http://a b:c"])
  func invalidURL(url: String) async throws {
    try await withSession { session in
      let response = await session.request(url).outcome()
      guard case .invalidURL(let spelled) = response.error else {
        Issue.record("unexpected response: \(response)")
        return
      }
      #expect(spelled as? String == url)
      #expect(response.error?.localizedDescription.contains("\"\(url)\" is not a valid URL. Pass a URL") == true)
      #expect(response.request == nil && response.response == nil && response.metrics == nil)
    }
  }

  @Test(
    "a request to a URL with a scheme other than http and https fails with unsupportedURL",
    arguments: ["ftp://127.0.0.1/a", "mailto:a@b", "/path"])
  func unsupportedScheme(url: String) async throws {
    try await withSession { session in
      let response = await session.request(url).outcome()
      let error = try #require(response.error?.underlyingError as? URLError)
      #expect(response.error?.isSessionTaskError == true)
      #expect(error.code == .unsupportedURL)
      #expect(error.userInfo[NSUnderlyingErrorKey] is URIError)
      #expect(response.error?.localizedDescription.contains(url) == true)
    }
  }

  @Test("a request with a line break in a field fails with badURL, and isn't sent")
  func invalidField() async throws {
    try await withServer { _ in
      Reply()
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url, headers: ["X": "a\r\nY: b"]).outcome()
        try expectTransferError(response.error, .badURL, .invalidRequest, "X")
        #expect(origin.connectionCount == 0)
      }
    }
  }

  // MARK: No connection

  @Test("a request to a host name that doesn't exist fails with cannotFindHost")
  func unknownHost() async throws {
    try await withSession { session in
      // "invalid" never exists (RFC 6761 §6.4). Without a name server, the error is dnsLookupFailed, and without a default route
      // notConnectedToInternet.
      let response = await session.request("http://lupine.invalid/").outcome()
      let urlError = try #require(response.error?.underlyingError as? URLError)
      let isUnanswered = [.dnsLookupFailed, .notConnectedToInternet].contains(urlError.code)
      let error = try expectTransferError(
        response.error, isUnanswered ? urlError.code : .cannotFindHost, isUnanswered ? .resolveFailed : .hostNotFound,
        "http://lupine.invalid", "Check ")
      #expect(error.phase == .resolve && error.progress == .nothingSent)
      #expect(response.metrics?.transactionMetrics.first?.domainLookupStartDate != nil)
    }
  }

  // Port 1 is never assigned by the system. A port that was free a moment ago may belong to another test by now.
  @Test(
    "a request to a port on which no server listens fails with cannotConnectToHost",
    arguments: ["http://127.0.0.1:1", "http://[::1]:1"])
  func refused(url: String) async throws {
    try await withSession { session in
      let response = await session.request(url).outcome()
      let error = try expectTransferError(
        response.error, .cannotConnectToHost, .connectionRefused, url, "no server listens on the port",
        "Check host and port")
      #expect(error.phase == .connect && error.progress == .nothingSent && !error.wasReused)
    }
  }

  // MARK: Replies that end early

  struct Script: Sendable, CustomTestStringConvertible {
    let name: String
    let reply: String
    let parts: [String]
    var testDescription: String { name }
  }

  @Test("if nginx closes the connection without a response, the request fails with networkConnectionLost")
  func noReply() async throws {
    let url = try await TestServers.nginx + "/empty"
    try await withSession { session in
      let response = await session.request(url).outcome()
      let error = try expectTransferError(response.error, .networkConnectionLost, .connectionLost, "28082")
      #expect(error.progress == .sent && !error.wasReused)
    }
  }

  @Test(
    "a request with a truncated response fails with networkConnectionLost",
    arguments: [
      Script(name: "in the status line", reply: "HTTP/1.1 2", parts: ["head"]),
      Script(name: "in the head", reply: "HTTP/1.1 200 OK\r\nContent-Le", parts: ["head"]),
      Script(name: "in a body with a length", reply: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", parts: ["6"]),
      Script(
        name: "in a chunk", reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhalf",
        parts: ["last chunk"]),
      Script(
        name: "before the last chunk", reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        parts: ["last chunk"]),
      Script(
        name: "in the trailers", reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\nA: b",
        parts: []),
    ])
  func cutShort(script: Script) async throws {
    try await expectFailure(script, .networkConnectionLost, .connectionLost) { response in
      // The bytes received before the connection closed remain available.
      if script.reply.contains("half") {
        #expect(response.data == Data("half".utf8))
        #expect(response.response?.statusCode == 200)
      } else {
        #expect(response.data == nil && response.response == nil)
      }
    }
  }

  @Test("a request whose connection is reset by the server fails with networkConnectionLost")
  func reset() async throws {
    try await withOrigin { peer in
      _ = try peer.readRequest()
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
      // The client may or may not have received the head before the reset.
      peer.reset()
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url).outcome()
        try expectTransferError(response.error, .networkConnectionLost, .connectionLost)
      }
    }
  }

  // MARK: Replies that aren't HTTP

  @Test(
    "a request with a malformed response fails with badServerResponse",
    arguments: [
      Script(name: "another protocol", reply: "220 mail.example ESMTP ready\r\n", parts: ["isn't HTTP", "Check"]),
      Script(name: "HTTP/2", reply: "HTTP/2.0 200 OK\r\n\r\n", parts: ["version"]),
      Script(name: "a status of four digits", reply: "HTTP/1.1 2000 OK\r\n\r\n", parts: ["status line"]),
      Script(
        name: "two lengths", reply: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nhello",
        parts: ["(5, 7; RFC 9112 §6.3)", "Fix the server"]),
      Script(
        name: "a length that isn't a number", reply: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", parts: ["-1"]),
      Script(
        name: "a chunk size that isn't a number", reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        parts: ["chunk"]),
      Script(
        name: "an unknown transfer coding", reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        parts: ["gzip"]),
      Script(name: "a field name with a space", reply: "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", parts: ["colon"]),
      Script(name: "a NUL in a field", reply: "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", parts: ["byte"]),
    ])
  func notHTTP(script: Script) async throws {
    try await expectFailure(script, .badServerResponse, .malformedResponse) { _ in }
  }

  @Test("a request whose response head never ends fails with badServerResponse at the size limit")
  func endlessHead() async throws {
    let left = Gate()
    try await withOrigin { peer in
      defer { left.open() }
      _ = try peer.readRequest()
      try peer.send("HTTP/1.1 200 OK\r\nX: ")
      while true { try peer.send(String(repeating: "a", count: 16_384)) }
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url).outcome()
        try expectTransferError(response.error, .badServerResponse, .malformedResponse, "65536", "headBytesMax")
        await left.wait()
      }
    }
  }

  @Test("the client discards bytes that follow a complete response, and closes the connection")
  func twoReplies() async throws {
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
    try await withOrigin { peer in
      _ = try peer.readRequest()
      try peer.send("\(reply)\(peer.connectionIndex)\(reply)X")
      _ = try peer.awaitClose()
    } _: { origin in
      try await withSession { session in
        for index in 0..<3 {
          #expect(await session.request(origin.url).serializingString().response.value == "\(index)")
        }
        #expect(origin.connectionCount == 3)
      }
    }
  }

  private func expectFailure(
    _ script: Script, _ code: URLError.Code, _ engineCode: EngineError.Code,
    check: (AFDataResponse<Data?>) -> Void
  ) async throws {
    try await withOrigin { peer in
      _ = try peer.readRequest()
      try peer.send(script.reply)
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        let response = await request.outcome()
        let error = try expectTransferError(response.error, code, engineCode, origin.url)
        #expect(error.progress == .responseBegan)
        let text = response.error?.localizedDescription ?? ""
        for part in script.parts { #expect(text.contains(part), "\(text)") }
        #expect(request.isFinished && request.allMetrics.count == 1)
        check(response)
        #expect(origin.connectionCount == 1)
      }
    }
  }

  // MARK: After a complete reply

  @Test("validation checks the status code, the content type and the caller's rule, and stops at the first failure")
  func validation() async throws {
    struct Own: Error {}
    try await withServer { request in
      Reply(
        status: request.path == "/404" ? 404 : 200,
        fields: request.path == "/bare" ? [:] : ["Content-Type": "text/plain"],
        .bytes(Array("body".utf8)))
    } _: { origin in
      try await withSession { session in
        let missing = await session.request(origin.url + "/404", headers: [.accept("application/json")])
          .validate().outcome()
        #expect(missing.error?.responseCode == 404)
        #expect(missing.data == Data("body".utf8))
        let type = await session.request(origin.url, headers: [.accept("text/html, application/json;q=0.5")])
          .validate().outcome()
        #expect(type.error?.acceptableContentTypes == ["application/json;q=0.5", "text/html"])
        #expect(type.error?.responseContentType == "text/plain")
        let bare = await session.request(origin.url + "/bare").validate(contentType: ["text/plain"]).outcome()
        guard case .responseValidationFailed(.missingContentType) = bare.error else {
          Issue.record("unexpected response: \(bare)")
          return
        }
        #expect(await session.request(origin.url + "/bare").validate().outcome().error == nil)
        let calls = Recorder<Int>()
        let own = await session.request(origin.url)
          .validate { request, response, data in
            calls.record(1)
            #expect(request?.url?.absoluteString == origin.url)
            #expect(response.statusCode == 200 && data == Data("body".utf8))
            return .success(())
          }
          .validate { _, _, _ in
            calls.record(2)
            return .failure(Own())
          }
          .validate { _, _, _ in
            calls.record(3)
            return .success(())
          }.outcome()
        calls.record(4)
        #expect(await calls.first(3) == [1, 2, 4])
        #expect(own.error?.underlyingError is Own && own.error?.isResponseValidationError == true)
      }
    }
  }

  @Test("if a response's body can't be serialized, the response head and the data remain available")
  func decoding() async throws {
    let url = try await TestServers.nginx + "/small.txt"
    try await withSession { session in
      let response = await session.request(url).serializingDecodable([String: Int].self).response
      guard case .responseSerializationFailed(.decodingFailed(let error)) = response.error else {
        Issue.record("unexpected response: \(response)")
        return
      }
      #expect(error is DecodingError)
      #expect(response.data == Data("small\n".utf8) && response.response?.statusCode == 200)
      #expect(response.serializationDuration > 0)
      let text = await session.request(url).serializingString(encoding: .utf32).response
      #expect(text.error?.failedStringEncoding == .utf32)
    }
  }
}
