// Reports of a URLProtocol that are rare in stubs: challenges and cached responses; and protocols that choose by the kind of task.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import LupineURLSession

/// A URLProtocol that sends a challenge whose authentication method is the URL's query, or Basic, and whose response is the
/// delegate's decision as text.
final class Guarded: URLProtocol, URLAuthenticationChallengeSender, @unchecked Sendable {
  override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "guarded.example" }

  override func startLoading() {
    let space = URLProtectionSpace(
      host: "guarded.example", port: 80, protocol: "http", realm: "r",
      authenticationMethod: request.url?.query() ?? NSURLAuthenticationMethodHTTPBasic)
    let challenge = URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
      sender: self)
    client?.urlProtocol(self, didReceive: challenge)
  }

  private func answer(_ text: String) {
    guard let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
    else { return }
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: Data(text.utf8))
    client?.urlProtocolDidFinishLoading(self)
  }

  func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
    answer("used \(credential.user ?? "nobody")")
  }

  func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer("continued") }

  func cancel(_ challenge: URLAuthenticationChallenge) {
    client?.urlProtocol(self, didFailWithError: URLError(.userCancelledAuthentication))
  }

  func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer("default") }

  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { answer("rejected") }
}

/// A URLProtocol whose canonical requests have lowercase URLs, and whose response's body is the URL of its request.
private final class Lowercase: URLProtocol, @unchecked Sendable {
  override class func canInit(with request: URLRequest) -> Bool { request.url?.host?.lowercased() == "case.example" }

  override class func canonicalRequest(for request: URLRequest) -> URLRequest {
    var request = request
    request.url = request.url.flatMap { URL(string: $0.absoluteString.lowercased()) }
    return request
  }

  override func startLoading() {
    guard let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
    else { return }
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: Data(url.absoluteString.utf8))
    client?.urlProtocolDidFinishLoading(self)
  }
}

/// A session's delegate that answers each challenge with the disposition and the user that the test sets.
private final class Deciding: NSObject, URLSessionDataDelegate, Sendable {
  let disposition: URLSession.AuthChallengeDisposition
  let user: String?

  init(_ disposition: URLSession.AuthChallengeDisposition, _ user: String?) {
    self.disposition = disposition
    self.user = user
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    completionHandler(disposition, user.map { URLCredential(user: $0, password: "p", persistence: .none) })
  }
}

/// A URLProtocol that reports a cached response as valid.
private final class Cached: URLProtocol {
  override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "cached.example" }

  override func startLoading() {
    guard let url = request.url else { return }
    let head = URLResponse(url: url, mimeType: "text/plain", expectedContentLength: 6, textEncodingName: nil)
    let stored = CachedURLResponse(response: head, data: Data("stored".utf8))
    client?.urlProtocol(self, cachedResponseIsValid: stored)
  }
}

/// A URLProtocol that accepts only upload tasks.
private final class UploadsOnly: URLProtocol {
  override class func canInit(with task: URLSessionTask) -> Bool { task is URLSessionUploadTask }

  override func startLoading() {
    guard let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 299, httpVersion: nil, headerFields: nil)
    else { return }
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client?.urlProtocolDidFinishLoading(self)
  }
}

/// For each disposition of a challenge: the user of the delegate's credential, and the response body of the URLProtocol
/// `Guarded`, or nil if the protocol fails.
private let decisions: [(URLSession.AuthChallengeDisposition, String?, String?)] = [
  (.useCredential, "u", "used u"), (.useCredential, nil, "continued"), (.performDefaultHandling, nil, "default"),
  (.rejectProtectionSpace, nil, "rejected"), (.cancelAuthenticationChallenge, nil, nil),
]

@Suite(.timeLimit(.minutes(10))) struct URLProtocolReportTests {
  @Test(
    "a URL protocol's challenge goes to the session's delegate, and the challenge's sender receives the decision",
    arguments: decisions)
  func challenge(disposition: URLSession.AuthChallengeDisposition, user: String?, answer: String?) async throws {
    let url = try #require(URL(string: "http://guarded.example/"))
    try await withSession(delegate: Deciding(disposition, user)) {
      $0.protocolClasses = [Guarded.self]
    } _: { session in
      let result = await outcome { session.dataTask(with: url, completionHandler: $0) }
      #expect(result.text == answer)
      if answer == nil { #expect(result.code == .userCancelledAuthentication) }
    }
  }

  @Test(
    "without a delegate, the sender of a URL protocol's challenge receives performDefaultHandling")
  func challengeWithoutDelegate() async throws {
    let url = try #require(URL(string: "http://guarded.example/"))
    try await withSession {
      $0.protocolClasses = [Guarded.self]
    } _: { session in
      let (data, _) = try await session.data(from: url)
      #expect(data == Data("default".utf8))
    }
  }

  @Test("if a URL protocol reports a cached response as valid, the task delivers that response and completes")
  func cachedResponse() async throws {
    let url = try #require(URL(string: "http://cached.example/"))
    try await withSession {
      $0.protocolClasses = [Cached.self]
    } _: { session in
      let (data, response) = try await session.data(from: url)
      #expect(data == Data("stored".utf8) && response.mimeType == "text/plain" && response.url == url)
    }
  }

  @Test("a URL protocol receives the canonical form of a request, as its canonicalRequest(for:) returns it")
  func canonicalForm() async throws {
    try await withSession {
      $0.protocolClasses = [Lowercase.self]
    } _: { session in
      let url = try #require(URL(string: "http://CASE.example/Path"))
      let (data, _) = try await session.data(from: url)
      #expect(String(decoding: data, as: UTF8.self) == "http://case.example/path")
    }
  }

  @Test("canInit(with:) of a URL protocol can accept only tasks of one kind, such as uploads")
  func kindOfTask() async throws {
    try await withServer { _ in
      .text("of the server")
    } _: { origin in
      try await withSession {
        $0.protocolClasses = [UploadsOnly.self]
      } _: { session in
        let request = origin.request("/", "POST")
        let (_, response) = try await session.upload(for: request, from: Data("x".utf8))
        #expect((response as? HTTPURLResponse)?.statusCode == 299 && origin.requestCount == 0)
        let (data, _) = try await session.data(for: origin.request())
        #expect(data == Data("of the server".utf8))
      }
    }
  }
}
