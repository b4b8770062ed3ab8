// Redirects from https to http and to Unix sockets stay refused, unless a handler itself changes the scheme to http.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RedirectDowngradeTests {
  /// A change that a redirect handler makes to the proposed request.
  struct Change: Sendable, CustomTestStringConvertible {
    let name: String
    let apply: @Sendable (inout URLRequest) throws -> Void

    init(_ name: String, _ apply: @escaping @Sendable (inout URLRequest) throws -> Void = { _ in }) {
      self.name = name
      self.apply = apply
    }

    var testDescription: String { name }

    var redirector: Redirector {
      .modify { _, proposed, _ in
        var request = proposed
        do { try apply(&request) } catch { Issue.record(error) }
        return request
      }
    }
  }

  private static func components(_ change: @escaping @Sendable (inout URLComponents) -> Void)
    -> @Sendable (
      inout URLRequest
    ) throws -> Void
  {
    { request in
      var components = try #require(request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) })
      change(&components)
      request.url = components.url
    }
  }

  static let changes = [
    Change("nothing"),
    Change("a field") { $0.headers.add(name: "X-Own", value: "set") },
    Change("the method") { $0.method = .put },
    Change("the whole request, with the same URL") { $0 = URLRequest(url: try #require($0.url)) },
    Change("the query", components { $0.query = "a=b" }),
    Change("the fragment", components { $0.fragment = "top" }),
    Change("the path", components { $0.path = "/elsewhere" }),
    Change("the host", components { $0.host = "localhost" }),
    Change("the user", components { ($0.user, $0.password) = ("u", "p") }),
    Change("the case of the scheme", components { $0.scheme = "HTTP" }),
    Change("a field and the query") {
      $0.headers.add(name: "X-Own", value: "set")
      try components { $0.query = "a=b" }(&$0)
    },
  ]

  /// Calls `body` with an http server, an https server that redirects "/" to the URL that `target` returns, and a session.
  private func withDowngrade(
    to target: @escaping @Sendable (_ plain: String) -> String,
    _ body: (_ plain: OriginServer, _ secure: OriginServer, Session) async throws -> Void
  ) async throws {
    let identity = try ServerIdentity.throwaway()
    try await withServer {
      .text("in clear, Authorization: \($0.fields.first("Authorization") ?? "none")")
    } _: { plain in
      let location = target(plain.url)
      try await withServer(tls: identity) { request in
        request.path == "/" ? redirect(to: location) : .text("encrypted")
      } _: { secure in
        try await withSession {
          $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
        } _: { session in
          try await body(plain, secure, session)
        }
      }
    }
  }

  private func request(_ session: Session, _ origin: OriginServer, _ redirector: Redirector) -> DataRequest {
    session.request(origin.url, headers: [.authorization(bearerToken: "secret")]).redirect(using: redirector)
  }

  @Test("a redirect from https to http is refused unless a redirect handler changes the scheme", arguments: changes)
  func refused(change: Change) async throws {
    try await withDowngrade(to: { $0 }) { plain, secure, session in
      let response = await request(session, secure, change.redirector).outcome()
      try expectTransferError(
        response.error, .redirectToNonExistentLocation, .redirectRefused, secure.url, "unencrypted")
      #expect(plain.connectionCount == 0)
    }
  }

  @Test("a redirect from https to http is followed if a redirect handler changes its URL to https")
  func ledToHTTPS() async throws {
    try await withDowngrade(to: { $0 }) { plain, secure, session in
      let url = secure.url
      let response = await request(session, secure, Change("") { $0.url = URL(string: "\(url)/there") }.redirector)
        .serializingString().response
      #expect(response.value == "encrypted" && plain.connectionCount == 0)
    }
  }

  @Test(
    "if a redirect handler changes the scheme to http, the redirect is followed without Authorization",
    arguments: ["/there", "myapp://there"])
  func chosen(location: String) async throws {
    try await withDowngrade(to: { _ in location }) { plain, secure, session in
      let url = plain.url
      let response = await request(session, secure, Change("") { $0.url = URL(string: url) }.redirector)
        .serializingString().response
      #expect(response.value == "in clear, Authorization: none")
    }
  }

  @Test(
    "a redirect to a Unix socket is refused, even if a redirect handler changes the URL's query",
    arguments: ["http", "https"])
  func socket(scheme: String) async throws {
    let path = try await TestServers.nginxSocket.replacing("/", with: "%2F")
    for location in ["http+unix://\(path)/small.txt", "https+unix://\(path)/small.txt"] {
      try await withServer { _ in
        redirect(to: location)
      } _: { origin in
        try await withSession { session in
          // The URL is changed as text, because URLComponents decodes the host, which contains the socket's path.
          let led = Change("") {
            let text = try #require($0.url?.absoluteString).split(separator: "://")[1]
            $0.url = URL(string: "\(scheme)+unix://\(text)?a=b")
          }
          let response = await request(session, origin, led.redirector).outcome()
          try expectTransferError(
            response.error, .badServerResponse, .malformedResponse, "the redirect target isn't a valid URL")
        }
      }
    }
  }
}
