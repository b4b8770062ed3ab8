// Redirects: the limit, the method and the body of the next request, and the fields that another origin doesn't get.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RedirectTests {
  @Test(
    "a session follows a chain of three redirects to the last URL",
    arguments: ["relative-redirect", "absolute-redirect", "redirect"])
  func hops(path: String) async throws {
    let base = try await TestServers.httpbin
    try await withSession { session in
      let request = session.request("\(base)/\(path)/3")
      let response = await request.validate().outcome()
      #expect(response.error == nil && response.response?.statusCode == 200)
      #expect(response.response?.url?.absoluteString == "\(base)/get")
      #expect(response.request?.url?.absoluteString == "\(base)/\(path)/3")
      #expect(request.performedRequests.map { $0.url?.absoluteString } == ["\(base)/get"])
      #expect(request.tasks.count == 1)
      let metrics = try #require(response.metrics)
      #expect(metrics.redirectCount == 3)
      #expect(metrics.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode } == [302, 302, 302, 200])
      #expect(metrics.transactionMetrics.dropFirst().allSatisfy { $0.isReusedConnection } == true)
    }
  }

  @Test("twenty redirects are followed, and the 21st fails with httpTooManyRedirects")
  func limit() async throws {
    let base = try await TestServers.httpbin
    try await withSession { session in
      let allowed = await session.request("\(base)/relative-redirect/20").outcome()
      #expect(allowed.response?.statusCode == 200 && allowed.metrics?.redirectCount == 20)
      let refused = await session.request("\(base)/relative-redirect/21").outcome()
      let error = try expectTransferError(refused.error, .httpTooManyRedirects, .tooManyRedirects, base, "20 times")
      #expect(error.progress == .responseBegan)
      #expect(refused.metrics?.transactionMetrics.count == 21)
    }
  }

  @Test("a redirect whose body never ends is followed on a new connection")
  func endlessBody() async throws {
    try await withOrigin { peer in
      guard let request = try peer.readRequest() else { return }
      guard request.path == "/from" else { return try peer.respond(body: Array("arrived".utf8)) }
      try peer.beginChunked(status: 302, fields: ["Location": "/to"])
      let piece = [UInt8](repeating: 46, count: 1000)
      while true { try peer.chunk(piece) }
    } _: { origin in
      try await withSession { session in
        let response = await session.request("\(origin.url)/from").outcome()
        #expect(response.data == Data("arrived".utf8))
        #expect(response.metrics?.redirectCount == 1)
        #expect(origin.connectionCount == 2)
      }
    }
  }

  struct Hop: Sendable, CustomTestStringConvertible {
    let status: Int
    let method: HTTPMethod
    let methodAfter: HTTPMethod
    let isBodyKept: Bool
    var testDescription: String { "\(status) to \(method.rawValue)" }
  }

  @Test(
    "the status code of a redirect determines whether the method and body are kept",
    arguments: [
      Hop(status: 301, method: .post, methodAfter: .get, isBodyKept: false),
      Hop(status: 302, method: .post, methodAfter: .get, isBodyKept: false),
      Hop(status: 303, method: .post, methodAfter: .get, isBodyKept: false),
      Hop(status: 303, method: .put, methodAfter: .get, isBodyKept: false),
      Hop(status: 301, method: .put, methodAfter: .put, isBodyKept: true),
      Hop(status: 307, method: .post, methodAfter: .post, isBodyKept: true),
      Hop(status: 308, method: .post, methodAfter: .post, isBodyKept: true),
      Hop(status: 307, method: .put, methodAfter: .put, isBodyKept: true),
      Hop(status: 307, method: .delete, methodAfter: .delete, isBodyKept: true),
    ])
  func methodAndBody(hop: Hop) async throws {
    let base = try await TestServers.httpbin
    try await withSession { session in
      let url = "\(base)/redirect-to?url=/anything&status_code=\(hop.status)"
      let request = session.request(
        url, method: hop.method, parameters: ["a": "b"],
        encoder: URLEncodedFormParameterEncoder(destination: .httpBody), headers: ["X-Own": "kept"])
      let sent = try await request.serializingDecodable(Anything.self).value
      #expect(sent.method == hop.methodAfter.rawValue)
      #expect(sent.form == (hop.isBodyKept ? ["a": "b"] : [:]))
      #expect((sent.headers["Content-Type"] != nil) == hop.isBodyKept)
      #expect(sent.headers["X-Own"] == "kept")
      let performed = try #require(request.performedRequests.last)
      #expect(performed.method == hop.methodAfter)
      #expect((performed.httpBody == Data("a=b".utf8)) == hop.isBodyKept)
      #expect(performed.headers["Content-Type"] == sent.headers["Content-Type"])
    }
  }

  @Test(
    "after a 307 or 308, the body is sent to another origin only if the redirect handler permits it",
    arguments: [307, 308], [true, false])
  func bodyElsewhere(status: Int, isLet: Bool) async throws {
    try await withServer {
      .text("\($0.method) \(String(decoding: $0.body, as: UTF8.self))")
    } _: { other in
      let location = other.url
      try await withServer { _ in
        Reply(status: status, fields: ["Location": location])
      } _: { first in
        try await withSession { session in
          let request = session.request(first.url, method: .post, parameters: ["a": "b"])
            .redirect(
              using: .modify { _, proposed, _ in
                #expect(proposed.httpBody == Data("a=b".utf8) && proposed.url?.absoluteString == "\(location)/")
                return isLet ? proposed : nil
              })
          let response = await request.serializingString(emptyResponseCodes: [status]).response
          #expect(response.response?.statusCode == (isLet ? 200 : status))
          #expect(response.value == (isLet ? "POST a=b" : ""))
          #expect(other.connectionCount == (isLet ? 1 : 0))
        }
      }
    }
  }

  @Test("a redirect to a path in ISO 8859-1 leads to the path with the same bytes")
  func otherCharset() async throws {
    try await withOrigin { peer in
      while let request = try peer.readRequest() {
        guard request.target == "/" else {
          try peer.respond(status: 200, body: Array(request.target.utf8))
          continue
        }
        try peer.send(Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /caf".utf8) + [0xE9])
        try peer.send("\r\n\r\n")
      }
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url).serializingString().response
        #expect(response.value == "/caf%E9")
        #expect(response.response?.url?.absoluteString == "\(origin.url)/caf%E9")
      }
    }
  }

  @Test("a redirected HEAD request uses HEAD again")
  func head() async throws {
    let base = try await TestServers.httpbin
    try await withSession { session in
      for status in [301, 302, 303, 307, 308] {
        let request = session.request("\(base)/redirect-to?url=/get&status_code=\(status)", method: .head)
        let response = await request.outcome()
        #expect(response.response?.statusCode == 200 && response.error == nil)
        #expect(request.performedRequests.last?.method == .head)
      }
    }
  }

  @Test("a redirect within the origin keeps the Authorization and Cookie fields")
  func sameOrigin() async throws {
    try await withServer { request in
      request.path == "/" ? redirect(to: "/there") : .text(String(decoding: request.rawHead, as: UTF8.self))
    } _: { origin in
      try await withSession { session in
        let head = try await session.request(origin.url, headers: Self.secrets).serializingString().value
        for secret in ["Authorization: Basic c2VjcmV0", "Cookie: a=secret"] { #expect(head.contains(secret)) }
      }
    }
  }

  @Test(
    "a redirect to another origin carries neither Authorization nor Cookie, whether the session or the request set them",
    arguments: [true, false], [true, false])
  func otherOrigin(isSessions: Bool, isOtherHost: Bool) async throws {
    try await withServer { request in
      // The last origin returns the head that it received.
      .text(String(decoding: request.rawHead, as: UTF8.self))
    } _: { last in
      try await withServer { _ in
        redirect(to: last.url + "/last")
      } _: { middle in
        let middleURL = isOtherHost ? middle.url.replacing("127.0.0.1", with: "localhost") : middle.url
        try await withServer { _ in
          redirect(to: middleURL + "/middle")
        } _: { first in
          try await withSession {
            if isSessions { $0.headers = Self.secrets }
          } _: { session in
            let request = session.request(first.url, headers: isSessions ? nil : Self.secrets)
            let head = try await request.serializingString().value
            #expect(head.hasPrefix("GET /last HTTP/1.1\r\nHost: \(last.url.dropFirst(7))\r\n"))
            for secret in ["Authorization", "Cookie", "secret", "c2VjcmV0"] { #expect(!head.contains(secret)) }
            #expect(head.contains("X-Own: kept"))
            let performed = try #require(request.performedRequests.last)
            #expect(performed.headers["Authorization"] == nil && performed.headers["Cookie"] == nil)
            // The original URLRequest keeps its fields.
            #expect(request.request?.headers["Authorization"] == (isSessions ? nil : "Basic c2VjcmV0"))
          }
        }
      }
    }
  }

  @Test("a redirect back to the first origin doesn't restore the Authorization and Cookie fields")
  func thereAndBack() async throws {
    try await withServer { request in
      request.query("to").map { redirect(to: $0) } ?? .text(String(decoding: request.rawHead, as: UTF8.self))
    } _: { other in
      try await withServer { request in
        request.path == "/"
          ? redirect(to: "\(other.url)/?to=http://\(request.fields.first("Host") ?? "")/back")
          : .text(String(decoding: request.rawHead, as: UTF8.self))
      } _: { first in
        try await withSession { session in
          let head = try await session.request(first.url, headers: Self.secrets).serializingString().value
          #expect(head.hasPrefix("GET /back HTTP/1.1\r\n"))
          #expect(!head.contains("secret") && !head.contains("c2VjcmV0"))
        }
      }
    }
  }

  @Test("the user name and password in a URL are sent only to the URL's origin, not to another origin after a redirect")
  func userInfo() async throws {
    try await withServer {
      .text(String(decoding: $0.rawHead, as: UTF8.self))
    } _: { other in
      try await withServer { request in
        request.fields.first("Authorization") == "Basic dTpw" ? redirect(to: other.url) : Reply(status: 401)
      } _: { first in
        try await withSession { session in
          let url = first.url.replacing("http://", with: "http://u:p@")
          let head = try await session.request(url).serializingString().value
          #expect(head.hasPrefix("GET / HTTP/1.1\r\n") && !head.contains("Authorization"))
        }
      }
    }
  }

  @Test("a redirect from https to http fails with redirectToNonExistentLocation, without connecting to the target")
  func downgrade() async throws {
    let identity = try ServerIdentity.throwaway()
    try await withServer { _ in
      Reply()
    } _: { plain in
      try await withServer(tls: identity) { _ in
        redirect(to: plain.url)
      } _: { secure in
        try await withSession {
          $0.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
        } _: { session in
          let response = await session.request(secure.url).outcome()
          try expectTransferError(
            response.error, .redirectToNonExistentLocation, .redirectRefused, secure.url, "unencrypted")
          #expect(plain.connectionCount == 0)
        }
      }
    }
  }

  @Test(
    "a redirect to an unsupported scheme or an invalid URL fails with badServerResponse",
    arguments: ["ftp://127.0.0.1/", "http://[/", "http://a:99999/"])
  func nowhere(location: String) async throws {
    try await withServer { _ in
      Reply(status: 302, fields: ["Location": location])
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url).outcome()
        try expectTransferError(
          response.error, .badServerResponse, .malformedResponse, "the redirect target isn't a valid URL")
      }
    }
  }

  @Test("a redirect with a backslash before the host leads nowhere, even if a redirect handler changes its query")
  func backslash() async throws {
    try await withServer { _ in
      .text("there")
    } _: { other in
      let host = "127.0.0.1:\(other.port)"
      for location in [#"http://example.org\@\#(host)/"#, #"//example.org\@\#(host)/"#] {
        try await withServer { _ in
          Reply(status: 302, fields: ["Location": location])
        } _: { origin in
          try await withSession { session in
            let handler = Redirector.modify { _, proposed, _ in
              var changed = proposed
              changed.url = proposed.url.flatMap { URL(string: "\($0.absoluteString)?a=b") }
              return changed
            }
            let response = await session.request(origin.url).redirect(using: handler).outcome()
            try expectTransferError(
              response.error, .badServerResponse, .malformedResponse, "the redirect target isn't a valid URL")
          }
        }
      }
      #expect(other.connectionCount == 0)
    }
  }

  @Test(
    "a 302 without Location is delivered as the response, and so are 300, 304 and 305",
    arguments: [300, 302, 304, 305])
  func notFollowed(status: Int) async throws {
    try await withServer { _ in
      Reply(status: status, fields: status == 302 ? [:] : ["Location": "/there"])
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url).outcome()
        #expect(response.response?.statusCode == status && response.error == nil)
        #expect(origin.requestCount == 1)
      }
    }
  }

  @Test("the body of a redirect isn't delivered, and doesn't count toward the request's progress")
  func bodyOfRedirect() async throws {
    try await withServer { request in
      request.path == "/"
        ? Reply(status: 302, fields: ["Location": "/there"], .bytes(Array("moved".utf8))) : .text("here")
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        let progress = request.downloadProgress
        let response = await request.outcome()
        #expect(response.value == Data("here".utf8))
        #expect(progress.completedUnitCount == 4 && progress.totalUnitCount == 4)
      }
    }
  }

  @Test("a request can be cancelled after it has been redirected")
  func cancelLater() async throws {
    let arrived = Gate()
    try await withServer { request in
      if request.path == "/" { return redirect(to: "/there") }
      arrived.open()
      return .hold
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        async let response = request.outcome()
        await arrived.wait()
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
        #expect(request.metrics?.transactionMetrics.count == 2)
      }
    }
  }

  private static let secrets: HTTPHeaders = [
    "Authorization": "Basic c2VjcmV0", "Cookie": "a=secret", "X-Own": "kept",
  ]
}
