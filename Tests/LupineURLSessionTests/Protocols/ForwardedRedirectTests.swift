// Redirects that a URLProtocol forwards from a server, or that lead to a URLProtocol, obey the session's redirect rule.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import LupineURLSession

/// A URLProtocol that sends https requests with a separate session, and forwards the redirects of servers to its client.
private final class Forwarding: URLProtocol, URLSessionDataDelegate, @unchecked Sendable {
  /// The context of the session's URL protocols: the certificate authority of the servers.
  final class Authority: Sendable {
    let pem: [UInt8]
    init(_ pem: [UInt8]) { self.pem = pem }
  }

  class override func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "https" }

  override func startLoading() {
    guard let authority = task?.protocolContext as? Authority else { return }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.engine.tls.trustRoots = [.pem(authority.pem)]
    let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    session.dataTask(with: request).resume()
    session.finishTasksAndInvalidate()
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    client?.urlProtocol(self, wasRedirectedTo: request, redirectResponse: response)
    completionHandler(nil)
  }
}

/// A session's delegate that adds a query to the URL of each redirect.
final class AddingQuery: NSObject, URLSessionTaskDelegate, Sendable {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    var changed = request
    changed.url = request.url.flatMap { URL(string: "\($0.absoluteString)?a=b") }
    completionHandler(changed)
  }
}

/// A URLProtocol that redirects requests for the host "first.stub" to the URL in its context.
private final class ToPlain: URLProtocol, @unchecked Sendable {
  final class Target: Sendable {
    let url: String
    init(_ url: String) { self.url = url }
  }

  class override func canInit(with request: URLRequest) -> Bool { request.url?.host == "first.stub" }

  override func startLoading() {
    guard let target = task?.protocolContext as? Target, let url = URL(string: target.url),
      let own = request.url,
      let response = HTTPURLResponse(url: own, statusCode: 302, httpVersion: "HTTP/1.1", headerFields: nil)
    else { return }
    client?.urlProtocol(self, wasRedirectedTo: URLRequest(url: url), redirectResponse: response)
  }
}

@Suite(.timeLimit(.minutes(10))) struct ForwardedRedirectTests {
  @Test(
    "a redirect that a URL protocol forwards from a server leads from https neither to http nor to a Unix socket",
    arguments: ["as proposed", "with a query"])
  func forwardedRedirect(change: String) async throws {
    let identity = try ServerIdentity.throwaway()
    let delegate = change == "with a query" ? AddingQuery() : nil
    try await withServer({ _ in .text("in clear") }) { plain in
      for (target, expected) in [
        ("\(plain.url)/there", URLError.Code.redirectToNonExistentLocation),
        ("http+unix://%2Frun%2Flupine%2Fsocket/there", .badServerResponse),
      ] {
        try await withServer(tls: identity) { _ in
          Reply(status: 302, fields: ["Location": target])
        } _: { secure in
          try await withSession(delegate: delegate) {
            $0.protocolClasses = [Forwarding.self]
            $0.protocolContext = Forwarding.Authority(identity.authorityPEM)
          } _: { session in
            #expect(await code { try await session.data(for: secure.request()) } == expected)
          }
        }
      }
      #expect(plain.connectionCount == 0)
    }
  }

  @Test("a URL protocol can redirect from https to http if the session's redirect rule permits that")
  func permittedDowngrade() async throws {
    try await withServer({ _ in .text("in clear") }) { origin in
      try await withSession {
        $0.protocolClasses = [ToPlain.self]
        $0.protocolContext = ToPlain.Target(origin.url)
        $0.redirectRule.allowsDowngrade = true
      } _: { session in
        let url = try #require(URL(string: "https://first.stub/"))
        #expect(try await session.data(from: url).0 == Data("in clear".utf8))
      }
    }
  }

  @Test(
    "no URL protocol answers the request of a server's redirect from https to http, even if the delegate adds a query")
  func refusedTakeover() async throws {
    let identity = try ServerIdentity.throwaway()
    try await withServer({ _ in .text("in clear") }) { plain in
      try await withServer(tls: identity) { _ in
        Reply(status: 302, fields: ["Location": "http://first.stub/"])
      } _: { origin in
        try await withSession(delegate: AddingQuery()) {
          $0.protocolClasses = [ToPlain.self]
          $0.protocolContext = ToPlain.Target(plain.url)
          $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
        } _: { session in
          #expect(await code { try await session.data(for: origin.request()) } == .redirectToNonExistentLocation)
        }
      }
    }
  }
}
