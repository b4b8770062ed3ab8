// RedirectTests: redirects of httpbin: relative, absolute, chains, with bodies, and to other origins.

import LupineEngine
import LupineTestSupport
import Testing

@Suite("Redirects of real servers", .timeLimit(.minutes(10)))
struct RedirectTests {
  @Test("the client follows a chain of redirects", arguments: ["relative-redirect", "absolute-redirect", "redirect"])
  func chain(path: String) async throws {
    let response = try await Engine.forServers().collect(.httpbin, "/\(path)/5", redirects: RedirectRule())
    #expect(response.status == 200)
    #expect(response.uri.description == "http://127.0.0.1:28080/get")
    #expect(response.metrics.count == 6)
    // The engine reads the bodies of the redirects, so that it needs only one connection.
    #expect(Set(response.metrics.map(\.connectionID)) == [1])
  }

  @Test("without a redirect rule, the client delivers a redirect as the response")
  func notFollowed() async throws {
    let response = try await Engine.forServers().collect(.httpbin, "/relative-redirect/1")
    #expect(response.status == 302)
    #expect(response.field("Location") == "/get")
    #expect(response.metrics.count == 1)
  }

  @Test("exceeding the limit of redirects causes an error")
  func tooMany() async throws {
    var rule = RedirectRule()
    rule.countMax = 3
    let engine = try Engine.forServers()
    #expect(try await engine.collect(.httpbin, "/relative-redirect/3", redirects: rule).status == 200)
    let error = try await engine.failure(.httpbin, "/relative-redirect/4", redirects: rule)
    #expect(error.code == .tooManyRedirects)
    #expect(error.phase == .receive)
    #expect(error.progress == .responseBegan)
    #expect(error.description.contains("more than 3 times"))
  }

  @Test(
    "redirects with 307 and 308 repeat the request's method and body", arguments: [307, 308], ["POST", "PUT", "DELETE"])
  func kept(status: Int, method: String) async throws {
    let response = try await Engine.forServers().collect(
      .httpbin, "/redirect-to?url=/anything&status_code=\(status)", method: method,
      fields: ["Content-Type": "text/plain"], body: RequestBody("kept body"), redirects: RedirectRule())
    #expect(response.text.contains("\"method\": \"\(method)\""))
    #expect(response.text.contains("\"data\": \"kept body\""))
    #expect(response.metrics.map(\.requestBodyBytes) == [9, 9])
  }

  @Test(
    "after a 303, or after a 301 or 302 response to POST, the next request is a GET without a body",
    arguments: [(303, "POST"), (303, "PUT"), (301, "POST"), (302, "POST")])
  func becomesGet(status: Int, method: String) async throws {
    let response = try await Engine.forServers().collect(
      .httpbin, "/redirect-to?url=/anything&status_code=\(status)", method: method,
      fields: ["Content-Type": "text/plain"], body: RequestBody("dropped"), redirects: RedirectRule())
    #expect(response.text.contains("\"method\": \"GET\""))
    #expect(response.text.contains("\"data\": \"\""))
    #expect(!response.text.contains("Content-Type") && !response.text.contains("Content-Length"))
  }

  @Test("redirects with 301 and 302 repeat a PUT request and its body", arguments: [301, 302])
  func putKept(status: Int) async throws {
    let response = try await Engine.forServers().collect(
      .httpbin, "/redirect-to?url=/anything&status_code=\(status)", method: "PUT", body: RequestBody("kept"),
      redirects: RedirectRule())
    #expect(response.text.contains("\"method\": \"PUT\"") && response.text.contains("\"data\": \"kept\""))
  }

  @Test(
    "after a 307, a chunked body is sent again if its producer can be called again; otherwise the request fails")
  func produced() async throws {
    let engine = try Engine.forServers()
    func body(isReplayable: Bool) -> RequestBody {
      RequestBody(isReplayable: isReplayable) { writer in
        for piece in ["one ", "two ", "three"] { try await writer.write(Array(piece.utf8)) }
      }
    }
    let path = "/redirect-to?url=/anything&status_code=307"
    let response = try await engine.collect(
      .httpbin, path, method: "POST", body: body(isReplayable: true), redirects: RedirectRule())
    #expect(response.text.contains("\"data\": \"one two three\""))
    #expect(response.text.contains("\"Transfer-Encoding\": \"chunked\""))
    let error = try await engine.failure(
      .httpbin, path, method: "POST", body: body(isReplayable: false), redirects: RedirectRule())
    #expect(error.code == .bodyNotReplayable)
  }

  @Test("after a redirect to another origin, the client doesn't send the credentials and cookies of the first origin")
  func otherOrigin() async throws {
    let fields: Fields = ["Authorization": "Bearer secret", "Cookie": "id=secret", "X-Kept": "yes"]
    let engine = try Engine.forServers()
    for (host, isSame) in [("localhost", false), ("127.0.0.1", true)] {
      let response = try await engine.collect(
        .httpbin, "/redirect-to?url=http://\(host):28080/headers", fields: fields, redirects: RedirectRule())
      #expect(response.text.contains("secret") == isSame)
      #expect(response.text.contains("\"X-Kept\": \"yes\""))
      #expect(response.text.contains("\"Host\": \"\(host):28080\""))
    }
  }

  @Test("the client follows a redirect from http to https")
  func schemes() async throws {
    let engine = try Engine.forServers()
    try Server.nginxTLS.require()
    let up = try await engine.collect(
      .httpbin, "/redirect-to?url=https://localhost:28443/small.txt", redirects: RedirectRule())
    #expect(up.text == "small\n")
    #expect(try up.metric.tls?.protocolVersion == "TLSv1.3")
    let location = try #require(up.metrics.first)
    #expect(location.tls == nil)
  }

  @Test(
    "a redirect to a URL that can't be requested causes an error",
    arguments: ["ftp://localhost/", "http:///x", "http://a%20b/"])
  func nowhere(target: String) async throws {
    let error = try await Engine.forServers().failure(
      .httpbin, "/redirect-to?url=\(target)", redirects: RedirectRule())
    #expect(error.code == .malformedResponse)
    guard case .uri = error.cause else {
      Issue.record("\(error)")
      return
    }
  }

  @Test("a redirected HEAD request uses HEAD again")
  func head() async throws {
    let response = try await Engine.forServers().collect(
      .httpbin, "/redirect-to?url=/get&status_code=303", method: "HEAD", redirects: RedirectRule())
    #expect(response.status == 200)
    #expect(response.body.isEmpty)
    #expect(response.metrics.count == 2)
  }
}
