// Redirect handlers that change a field and keep the URL: the rules for redirects still apply.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RedirectChangeTests {
  private static let secrets: HTTPHeaders = [
    "Authorization": "Bearer secret", "Cookie": "a=secret", "X-Own": "kept",
  ]

  /// A redirect handler that adds a header field to each redirected request.
  private static let marking = Redirector.modify { _, request, _ in
    var request = request
    request.headers.update(name: "X-Handler", value: "set")
    return request
  }

  @Test("a redirect from https to http is refused even if a redirect handler changes a field")
  func downgrade() async throws {
    let identity = try ServerIdentity.throwaway()
    try await withServer { _ in
      .text("in clear")
    } _: { plain in
      try await withServer(tls: identity) { _ in
        redirect(to: plain.url)
      } _: { secure in
        try await withSession {
          $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
        } _: { session in
          let response = await session.request(secure.url).redirect(using: Self.marking).outcome()
          try expectTransferError(
            response.error, .redirectToNonExistentLocation, .redirectRefused, secure.url, "unencrypted")
          #expect(plain.connectionCount == 0)
        }
      }
    }
  }

  @Test(
    "a redirect handler that changes a field doesn't restore secret fields removed for another origin",
    arguments: [true, false])
  func secrets(isSessions: Bool) async throws {
    try await withServer {
      .text(String(decoding: $0.rawHead, as: UTF8.self))
    } _: { other in
      try await withServer { _ in
        redirect(to: other.url)
      } _: { first in
        try await withSession {
          if isSessions { $0.headers = Self.secrets }
        } _: { session in
          let request = session.request(first.url, headers: isSessions ? nil : Self.secrets)
            .redirect(using: Self.marking)
          let head = try await request.serializingString().value
          #expect(head.contains("X-Handler: set") && head.contains("X-Own: kept"))
          for secret in ["Authorization", "Cookie", "secret"] { #expect(!head.contains(secret)) }
        }
      }
    }
  }

  @Test(
    "a field that the session declares secret isn't sent to another origin, even if a redirect handler changes a field",
    arguments: [true, false], [true, false])
  func declaredSecret(isSessions: Bool, isMarked: Bool) async throws {
    let secret: HTTPHeaders = ["X-Api-Key": "secret", "X-Own": "kept"]
    try await withServer {
      .text(String(decoding: $0.rawHead, as: UTF8.self))
    } _: { other in
      try await withServer { request in
        request.path == "/" ? redirect(to: "/same") : redirect(to: other.url)
      } _: { first in
        try await withSession {
          $0.redirectRule.secretFields = ["x-api-key"]
          if isSessions { $0.headers = secret }
        } _: { session in
          let request = session.request(first.url, headers: isSessions ? nil : secret)
          if isMarked { request.redirect(using: Self.marking) }
          let head = try await request.serializingString().value
          #expect(head.contains("X-Own: kept") && head.contains("X-Handler: set") == isMarked)
          #expect(!head.contains("X-Api-Key") && !head.contains("secret"))
        }
      }
    }
  }

  @Test("a field that the session declares secret isn't sent to another origin that a redirect handler has chosen")
  func chosenElsewhere() async throws {
    try await withServer {
      .text(String(decoding: $0.rawHead, as: UTF8.self))
    } _: { other in
      try await withServer { request in
        request.fields.first("X-Api-Key") == "secret" ? redirect(to: "/there") : Reply(status: 400)
      } _: { first in
        try await withSession {
          $0.redirectRule.secretFields = ["X-Api-Key"]
        } _: { session in
          let request = session.request(first.url, headers: ["X-Api-Key": "secret", "X-Own": "kept"]).redirect(
            using: .modify { _, request, _ in
              var request = request
              request.url = URL(string: other.url)
              return request
            })
          let head = try await request.serializingString().value
          #expect(head.contains("X-Own: kept") && !head.contains("X-Api-Key"))
        }
      }
    }
  }

  @Test("a redirect handler that changes a field doesn't restore content fields removed with the body")
  func contentFields() async throws {
    try await withServer { request in
      request.path == "/"
        ? redirect(to: "/there", status: 303) : .text(String(decoding: request.rawHead, as: UTF8.self))
    } _: { origin in
      try await withSession {
        $0.headers = ["Content-Language": "en", "Content-Type": "text/plain"]
      } _: { session in
        let request = session.request(origin.url, method: .post) { $0.httpBody = Data("content".utf8) }
          .redirect(using: Self.marking)
        let head = try await request.serializingString().value
        #expect(head.hasPrefix("GET /there HTTP/1.1\r\n") && head.contains("X-Handler: set"))
        #expect(!head.contains("Content-"))
      }
    }
  }

  @Test("redirects changed by a handler count toward the limit, and the 21st fails with httpTooManyRedirects")
  func limit() async throws {
    try await withServer { request in
      // The server stops redirecting after about 40 redirects, so that the test ends even if the client has no limit.
      request.path.count > 40 ? .text("end") : redirect(to: "\(request.path)x")
    } _: { origin in
      try await withSession { session in
        let response = await session.request("\(origin.url)/").redirect(using: Self.marking).outcome()
        try expectTransferError(response.error, .httpTooManyRedirects, .tooManyRedirects, "20 times")
        #expect(origin.requestCount == 21)
      }
    }
  }

  @Test(
    "if a redirect handler chooses another origin, neither the URL's credential nor the request's is sent there",
    arguments: [true, false])
  func credential(isChallenged: Bool) async throws {
    try await withServer {
      .text(String(decoding: $0.rawHead, as: UTF8.self))
    } _: { other in
      try await withServer { request in
        request.fields.first("Authorization") == "Basic dTpw"
          ? redirect(to: "/there") : Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
      } _: { first in
        try await withSession { session in
          let url = isChallenged ? first.url : first.url.replacing("http://", with: "http://u:p@")
          let request = session.request(url)
          if isChallenged { request.authenticate(username: "u", password: "p") }
          request.redirect(
            using: .modify { _, request, _ in
              var request = request
              request.url = URL(string: other.url)
              return request
            })
          let head = try await request.serializingString().value
          #expect(head.hasPrefix("GET / HTTP/1.1\r\n") && !head.contains("Authorization"))
        }
      }
    }
  }

  @Test("an Authorization field set by a redirect handler replaces the request's credential, and is sent once")
  func authorization() async throws {
    try await withServer { request in
      switch (request.path, request.fields.first("Authorization")) {
      case ("/", "Basic dTpw"): redirect(to: "/there")
      case ("/", _): Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
      default: .text(String(decoding: request.rawHead, as: UTF8.self))
      }
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url).authenticate(username: "u", password: "p").redirect(
          using: .modify { _, request, _ in
            var request = request
            request.headers.update(.authorization(bearerToken: "own"))
            return request
          })
        let head = try await request.serializingString().value
        #expect(head.components(separatedBy: "Authorization:").count == 2 && head.contains("Bearer own"))
      }
    }
  }
}
