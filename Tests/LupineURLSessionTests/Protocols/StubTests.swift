// LupineTesting: rules that answer requests, for URLSession and for Alamofire's API.

import Foundation
import Lupine
import LupineEngine
import LupineTestSupport
import LupineTesting
import LupineURLSession
import Testing

@Suite(.timeLimit(.minutes(10))) struct StubTests {
  private static let base = "https://api.example.com"

  private func request(_ path: String, _ method: String = "GET", _ body: String? = nil) throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: Self.base + path)))
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    return request
  }

  private func withStubs(_ body: (Stubs, URLSession) async throws -> Void) async throws {
    let stubs = Stubs()
    let session = URLSession(configuration: stubs.configuration())
    defer { session.invalidateAndCancel() }
    try await body(stubs, session)
  }

  @Test("a stubbed request is answered by the matching rule that was added last, with its status, fields and body")
  func rules() async throws {
    try await withStubs { stubs, session in
      stubs.reply(to: .any, with: .status(500))
      stubs.reply(to: .get("/users/*"), with: .json(#"{"name": "Ada"}"#, status: 203))
      let (data, response) = try await session.data(for: request("/users/7"))
      let head = try #require(response as? HTTPURLResponse)
      #expect(data == Data(#"{"name": "Ada"}"#.utf8) && head.statusCode == 203)
      #expect(head.mimeType == "application/json" && head.expectedContentLength == 15)
      let (_, other) = try await session.data(for: request("/users"))
      #expect((other as? HTTPURLResponse)?.statusCode == 500)
    }
  }

  @Test("a stub rule with several replies uses them in turn, and then repeats the last reply")
  func sequence() async throws {
    try await withStubs { stubs, session in
      stubs.reply(to: .any, with: .text("1"), .text("2"))
      var texts: [String] = []
      for _ in 0..<3 { texts.append(String(decoding: try await session.data(for: request("/")).0, as: UTF8.self)) }
      #expect(texts == ["1", "2", "2"])
    }
  }

  @Test(
    "a stub rule's pattern can match the method, host, path, query, fields and body of a request",
    arguments: [
      (RequestPattern.post("/a/b"), true), (.get("/a/b"), false), (.any.host("API.example.com"), true),
      (.any.host("example.com"), false), (.any.path("/a/*"), true), (.any.path("/a"), false),
      (.any.path("/**"), true), (.any.path("/a/b/**"), true), (.any.path("/b/**"), false),
      (.any.query("q"), true), (.any.query("q", "x y"), true), (.any.query("q", "z"), false),
      (.any.header("x-a", "1"), true), (.any.header("X-A", "2"), false), (.any.header("X-B"), false),
      (.any.body(Data(#"{"b":1, "a":2}"#.utf8)), true), (.any.json(#"{"a": 2, "b": 1}"#), true),
      (.any.json("{}"), false), (.any.matching("odd") { $0.url?.query?.count == 7 }, true),
    ])
  func patterns(pattern: RequestPattern, matches: Bool) async throws {
    try await withStubs { stubs, session in
      stubs.reply(to: pattern, with: .status(200))
      var sent = try request("/a/b?q=x%20y", "POST", #"{"b":1, "a":2}"#)
      sent.setValue("1", forHTTPHeaderField: "X-A")
      let final = sent
      let isAnswered = (try? await session.data(for: final)) != nil
      #expect(isAnswered == matches)
    }
  }

  @Test("a request that no stub rule matches fails, and the error lists the rules that nearly match")
  func unmatched() async throws {
    try await withStubs { stubs, session in
      let first = await error { try await session.data(for: request("/a?token=secret")) }
      #expect(first?.description == "No stub answers GET https://api.example.com/a?token. There are no rules. Add one.")
      stubs.reply(to: .post("/other").header("X"), with: .status(200))
      stubs.reply(to: .get("/a").header("Accept", "text/html"), with: .status(200))
      let second = await error { try await session.data(for: request("/a")) }
      #expect(
        second?.nearMatches == [
          "method GET, path /a, header Accept: text/html, but not header Accept: text/html",
          "method POST, path /other, header X, but not method POST, path /other, header X",
        ])
      #expect(second?.localizedDescription.contains("No stub answers GET https://api.example.com/a.") == true)
    }
  }

  @Test(
    "the error for an unmatched request lists the three stub rules that match best, and equally good ones oldest first")
  func nearest() async throws {
    try await withStubs { stubs, session in
      stubs.reply(to: .post("/far").header("X"), with: .status(200))
      for path in ["/b", "/c", "/d"] { stubs.reply(to: .get(path), with: .status(200)) }
      let unmatched = await error { try await session.data(for: request("/a")) }
      #expect(
        unmatched?.nearMatches == ["/b", "/c", "/d"].map { "method GET, path \($0), but not path \($0)" })
    }
  }

  private func error<Value>(_ body: () async throws -> Value) async -> UnmatchedRequest? {
    do {
      _ = try await body()
      return nil
    } catch {
      return error as? UnmatchedRequest
    }
  }

  @Test("a stub's reply can be delayed, delivered in parts, truncated or replaced by an error")
  func endings() async throws {
    try await withStubs { stubs, session in
      stubs.reply(to: .get("/late"), with: .text("late").delayed(by: .milliseconds(50)))
      let start = ContinuousClock.now
      #expect(try await session.data(for: request("/late")).0 == Data("late".utf8))
      #expect(ContinuousClock.now - start >= .milliseconds(50))
      stubs.reply(to: .get("/pieces"), with: .text("abcdefg").inPieces(3))
      #expect(try await session.data(for: request("/pieces")).0 == Data("abcdefg".utf8))
      stubs.reply(to: .get("/cut"), with: .text("abcdefg").cut(afterByteCount: 3))
      let (bytes, response) = try await session.bytes(for: request("/cut"))
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
      var received: [UInt8] = []
      let cut = await code { for try await byte in bytes { received.append(byte) } }
      #expect(cut == .networkConnectionLost && received == Array("abc".utf8))
      stubs.reply(to: .get("/reset"), with: .reset)
      #expect(await code { try await session.data(for: request("/reset")) } == .networkConnectionLost)
      stubs.reply(to: .get("/error"), with: .error(URLError(.timedOut)))
      #expect(await code { try await session.data(for: request("/error")) } == .timedOut)
    }
  }

  @Test("a session's delegate receives each part of a stub's reply in a separate call")
  func parts() async throws {
    let (stubs, delegate) = (Stubs(), NotingDelegate())
    stubs.reply(to: .any, with: .text("abcdefg").inPieces(3))
    let session = URLSession(configuration: stubs.configuration(), delegate: delegate, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    session.dataTask(with: try request("/")).resume()
    #expect(await settles { delegate.notes.all.last == "end" })
    #expect(delegate.notes.all == ["response", "data abc", "data def", "data g", "metrics 1", "end"])
  }

  @Test("a task that awaits its stub's delayed reply can be cancelled")
  func cancellation() async throws {
    try await withStubs { stubs, session in
      stubs.reply(to: .any, with: .text("never").delayed(by: .seconds(1_000_000)))
      let request = try request("/")
      let waiting = Task { await code { try await session.data(for: request) } }
      #expect(await settles { !stubs.requests.isEmpty })
      waiting.cancel()
      #expect(await waiting.value == .cancelled)
    }
  }

  @Test("stubs record the requests that they answer, with the bodies, including uploaded bodies")
  func recording() async throws {
    try await withStubs { stubs, session in
      stubs.reply(to: .any) { .text("\($0.method) \($0.body.count)") }
      let (data, _) = try await session.upload(for: request("/up", "PUT"), from: Data("memory".utf8))
      #expect(data == Data("PUT 6".utf8))
      var streamed = try request("/stream", "POST")
      streamed.httpBodyStream = InputStream(data: Data("stream".utf8))
      let final = streamed
      _ = try await session.data(for: final)
      #expect(stubs.requests.map(\.body) == [Data("memory".utf8), Data("stream".utf8)])
      #expect(stubs.requests(matching: .put("/up")).count == 1)
      stubs.removeAll()
      #expect(stubs.requests.isEmpty)
    }
  }

  @Test("the session follows redirects between stubs, and doesn't pass credentials to another origin")
  func redirect() async throws {
    try await withStubs { stubs, session in
      stubs.reply(to: .post("/old"), with: .redirect(to: "/new"))
      stubs.reply(to: .get("/new"), with: .redirect(to: "https://other.example/", status: 307))
      stubs.reply(to: .any.host("other.example"), with: .text("there"))
      var sent = try request("/old", "POST", "body")
      sent.setValue("Bearer t", forHTTPHeaderField: "Authorization")
      let final = sent
      #expect(try await session.data(for: final).0 == Data("there".utf8))
      #expect(stubs.requests.map(\.method) == ["POST", "GET", "GET"])
      #expect(stubs.requests.map { $0.value(forHTTPHeaderField: "authorization") } == ["Bearer t", "Bearer t", nil])
      #expect(stubs.requests[1].body.isEmpty)
    }
  }

  @Test(
    "after a stub's redirect to another origin, fields that the session's redirect rule declares secret aren't sent")
  func secretFields() async throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["X-Api-Key": "session", "Authorization": "Bearer session"]
    configuration.redirectRule.secretFields = ["X-Api-Key", "X-Own"]
    let stubs = Stubs()
    stubs.reply(to: .get("/first"), with: .redirect(to: "/second"))
    stubs.reply(to: .get("/second"), with: .redirect(to: "https://other.example/"))
    stubs.reply(to: .any.host("other.example"), with: .redirect(to: Self.base + "/last"))
    stubs.reply(to: .get("/last"), with: .text("last"))
    let session = URLSession(configuration: stubs.configuration(from: configuration))
    defer { session.invalidateAndCancel() }
    var sent = try request("/first")
    sent.setValue("own", forHTTPHeaderField: "X-Own")
    let final = sent
    #expect(try await session.data(for: final).0 == Data("last".utf8))
    for field in ["X-Api-Key", "Authorization", "X-Own"] {
      let received = stubs.requests.map { $0.value(forHTTPHeaderField: field) != nil }
      #expect(received == [true, true, false, false], "\(field)")
    }
  }

  @Test(
    "a stub's redirect that the session's redirect rule refuses fails, and no request is sent to its target",
    arguments: [
      ("http://api.example.com/", URLError.Code.redirectToNonExistentLocation),
      ("file:///etc/hostname", .badServerResponse),
      ("http+unix://%2Frun%2Fsocket/", .badServerResponse),
    ])
  func refusedRedirect(target: String, expected: URLError.Code) async throws {
    try await withStubs { stubs, session in
      stubs.reply(to: .any, with: .redirect(to: target))
      #expect(await code { try await session.data(for: request("/")) } == expected)
      #expect(stubs.requests.count == 1)
    }
  }

  @Test(
    "if the delegate doesn't follow a stub's redirect, the task receives the redirect's own response and body",
    arguments: ["/next", "http://api.example.com/", "program://callback?code=7"])
  func unfollowedRedirect(target: String) async throws {
    final class Staying: NSObject, URLSessionTaskDelegate, Sendable {
      func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
      ) { completionHandler(nil) }
    }
    try await withStubs { stubs, session in
      var reply = StubReply.redirect(to: target)
      reply.body = Data("moved".utf8)
      stubs.reply(to: .any, with: reply)
      let (data, response) = try await session.data(for: request("/"), delegate: Staying())
      let head = try #require(response as? HTTPURLResponse)
      #expect(data == Data("moved".utf8) && head.statusCode == 302)
      #expect(head.value(forHTTPHeaderField: "Location") == target && stubs.requests.count == 1)
    }
  }

  @Test("after a stub's 307 or 308 redirect, a streamed body is sent again")
  func redirectedStream() async throws {
    try await withStubs { stubs, session in
      stubs.reply(to: .put("/old"), with: .redirect(to: "/new", status: 307))
      stubs.reply(to: .put("/new"), with: .text("there"))
      var sent = try request("/old", "PUT")
      sent.httpBodyStream = InputStream(data: Data("stream".utf8))
      let final = sent
      #expect(try await session.data(for: final).0 == Data("there".utf8))
      #expect(stubs.requests.map(\.body) == [Data("stream".utf8), Data("stream".utf8)])
    }
  }

  @Test("a request whose body stream can't be read fails, instead of reaching its stub without the body")
  func unreadableStream() async throws {
    try await withStubs { stubs, session in
      stubs.reply(to: .any, with: .text("there"))
      var sent = try request("/", "PUT")
      sent.httpBodyStream = InputStream(fileAtPath: "/nonexistent/body")
      let final = sent
      await #expect(throws: (any Error).self) { try await session.data(for: final) }
      #expect(stubs.requests.isEmpty)
    }
  }

  @Test("stubs can answer requests, uploads, downloads and streams of Alamofire's API")
  func alamofire() async throws {
    let stubs = Stubs()
    stubs.reply(to: .get("/json"), with: .json(#"{"a": "b"}"#))
    stubs.reply(to: .post("/up")) { .text("\($0.body.count)") }
    stubs.reply(to: .get("/file"), with: .text("file"))
    stubs.reply(to: .get("/stream"), with: .text("stream").inPieces(2))
    stubs.reply(to: .get("/missing"), with: .status(404))
    let session = Session(configuration: stubs.configuration(from: .af.ephemeral))
    let value = try await session.request(Self.base + "/json").validate().serializingDecodable([String: String].self)
      .value
    #expect(value == ["a": "b"])
    let sent = try await session.upload(Data(count: 70_000), to: Self.base + "/up").serializingString().value
    #expect(sent == "70000")
    let stream = InputStream(data: Data(count: 70_001))
    let streamed = try await session.upload(stream, to: Self.base + "/up").serializingString().value
    #expect(streamed == "70001")
    let file = try await session.download(Self.base + "/file").serializingString().value
    #expect(file == "file")
    var text = ""
    for await stream in session.streamRequest(Self.base + "/stream").streamTask().streamingStrings() {
      text += stream.value ?? ""
    }
    #expect(text == "stream")
    let missing = await session.request(Self.base + "/missing").validate().serializingData().response
    #expect(missing.error?.responseCode == 404)
    #expect(stubs.requests.count == 6)
    withExtendedLifetime(session) {}
  }
}
