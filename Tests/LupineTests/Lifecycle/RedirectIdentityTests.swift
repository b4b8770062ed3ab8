// A client certificate is presented only to the origin of the original request, not to other origins after redirects.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RedirectIdentityTests {
  /// Calls `body` with the URL of a server that answers 400 to clients without a certificate, and with a session that has
  /// already presented its client certificate to that server.
  private func withIdentity(
    protocols: [AnyClass] = [], _ body: (_ url: String, Session) async throws -> Void
  ) async throws {
    let url = try await TestServers.TLS.clientCertificate.url
    let client = TestServers.client
    let identity = try TLSIdentity(certificateFile: client.certificate, privateKeyFile: client.key)
    try await withSession {
      $0.engine.tls.trustRoots = [.file(TestServers.authority)]
      $0.engine.tls.identity = identity
      $0.protocolClasses = protocols
    } _: { session in
      // This request leaves an idle connection and a TLS session that could be resumed.
      #expect(await session.request(url).outcome().response?.statusCode == 200)
      try await body(url, session)
    }
  }

  @Test("after a redirect to another origin, the client certificate isn't presented", arguments: [302, 307])
  func proposed(status: Int) async throws {
    try await withIdentity { url, session in
      try await withServer { _ in
        Reply(status: status, fields: ["Location": url])
      } _: { origin in
        let response = await session.request(origin.url, method: .post).outcome()
        #expect(response.response?.statusCode == 400 && response.response?.url?.absoluteString == "\(url)/")
        #expect(String(decoding: response.data ?? Data(), as: UTF8.self).contains("No required SSL certificate"))
        // In a new request to the server, the session presents the certificate again.
        #expect(await session.request(url).outcome().response?.statusCode == 200)
      }
    }
  }

  @Test(
    "the client certificate isn't presented to an origin chosen by a redirect handler, or after a detour via another origin"
  )
  func led() async throws {
    try await withIdentity { url, session in
      try await withServer { request in
        let host = (request.fields.first("Host") ?? "").replacing("127.0.0.1", with: "localhost")
        let targets = ["/": "/there", "/elsewhere": "http://\(host)/there"]
        return redirect(to: targets[request.path] ?? url)
      } _: { origin in
        let led = session.request(origin.url).redirect(
          using: .modify { _, proposed, _ in
            var proposed = proposed
            proposed.url = URL(string: url)
            return proposed
          })
        #expect(await led.outcome().response?.statusCode == 400)
        let detour = await session.request(origin.url).outcome()
        #expect(detour.response?.statusCode == 400 && detour.metrics?.redirectCount == 2)
        // The upgrade to https applies only to the host of the original request.
        let upgraded = await session.request("\(origin.url)/elsewhere").outcome()
        #expect(upgraded.response?.statusCode == 400 && upgraded.metrics?.redirectCount == 2)
      }
    }
  }

  @Test("after a URLProtocol redirects a request to another origin, the client certificate isn't presented")
  func protocols() async throws {
    final class Redirecting: URLProtocol, @unchecked Sendable {
      class override func canInit(with request: URLRequest) -> Bool {
        request.url?.host == "redirecting.stub" || request.url?.path == "/redirecting"
      }

      override func startLoading() {
        guard let url = request.url, let target = url.query.flatMap({ URL(string: $0) }),
          let response = HTTPURLResponse(url: url, statusCode: 307, httpVersion: "HTTP/1.1", headerFields: nil)
        else { return }
        client?.urlProtocol(self, wasRedirectedTo: URLRequest(url: target), redirectResponse: response)
      }
    }
    try await withIdentity(protocols: [Redirecting.self]) { url, session in
      let response = await session.request("https://redirecting.stub/?\(url)").outcome()
      #expect(response.response?.statusCode == 400 && response.metrics?.redirectCount == 1)
      // Another origin redirects to a request that the protocol answers, with a redirect within the server's origin.
      try await withServer { _ in
        redirect(to: "\(url)/redirecting?\(url)")
      } _: { origin in
        #expect(await session.request(origin.url).outcome().response?.statusCode == 400)
      }
    }
  }

  @Test("after a redirect from http to https on the same host, the client certificate is presented")
  func upgraded() async throws {
    try await withIdentity { url, session in
      try await withServer { _ in
        redirect(to: url)
      } _: { origin in
        let name = origin.url.replacing("127.0.0.1", with: "localhost")
        #expect(await session.request(name).outcome().response?.statusCode == 200)
      }
    }
  }
}
