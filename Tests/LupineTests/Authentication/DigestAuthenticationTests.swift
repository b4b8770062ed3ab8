// Challenges of the Digest scheme, answered by a session (RFC 7616).

import Foundation
import LupineAuthentication
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct DigestAuthenticationTests {
  @Test(
    "the strongest offered Digest challenge is answered with the request's credential, on the same connection",
    arguments: [DigestAlgorithm.Function.sha256, .sha512_256], ["auth", "auth-int"])
  func right(function: DigestAlgorithm.Function, protection: String) async throws {
    let server = DigestServer(function, protection: protection)
    try await withServer(server.reply) { origin in
      try await withSession { session in
        let body = Data("the content".utf8)
        let response = await session.upload(body, to: origin.url + "/a?b=c").authenticate(username: "u", password: "p")
          .serializingString().response
        #expect(response.value == "in" && response.response?.statusCode == 200)
        #expect(server.requests == ["401 /a?b=c", "200 /a?b=c"] && origin.connectionCount == 1)
      }
    }
  }

  @Test(
    "after the first 401, requests with the same Digest credential prove it at once, and their bodies are sent once")
  func provenAtOnce() async throws {
    let server = DigestServer()
    let bodies = Recorder<String>()
    try await withServer { request in
      bodies.record(String(decoding: request.body, as: UTF8.self))
      return server.reply(to: request)
    } _: { origin in
      try await withSession { session in
        for path in ["/a", "/b", "/c"] {
          let upload = session.upload(Data(path.utf8), to: origin.url + path)
          let response = await upload.authenticate(username: "u", password: "p").serializingString().response
          #expect(response.value == "in")
        }
        #expect(server.requests == ["401 /a", "200 /a", "200 /b", "200 /c"])
        #expect(await bodies.first(4) == ["/a", "/a", "/b", "/c"])
      }
    }
  }

  @Test(
    "a Digest credential isn't sent before a challenge by a request without it, with another one, or after a redirect to another origin"
  )
  func notPreemptive() async throws {
    let (server, other) = (DigestServer(), DigestServer())
    let seen = Mutex<[String]>([])
    @Sendable func note(_ request: ReceivedRequest) {
      let isBare = request.fields.first("Authorization") == nil
      seen.withLock { $0.append("\(request.target) \(isBare ? "bare" : "proven")") }
    }
    try await withServer { request in
      note(request)
      return other.reply(to: request)
    } _: { elsewhere in
      try await withServer { request in
        note(request)
        guard request.target == "/away" else { return server.reply(to: request) }
        return Reply(status: 302, fields: ["Location": elsewhere.url + "/b"])
      } _: { origin in
        try await withSession { session in
          for url in [origin.url, elsewhere.url] {
            let response = await session.request(url).authenticate(username: "u", password: "p").outcome()
            #expect(response.response?.statusCode == 200)
          }
          _ = await session.request(origin.url + "/none").outcome()
          _ = await session.request(origin.url + "/wrong").authenticate(username: "u", password: "x").outcome()
          _ = await session.request(origin.url + "/away").authenticate(username: "u", password: "p").outcome()
          let expected = [
            "/ bare", "/ proven", "/ bare", "/ proven", "/none bare", "/wrong bare", "/wrong proven", "/away proven",
            "/b bare",
          ]
          #expect(seen.withLock { $0 } == expected)
        }
      }
    }
  }

  @Test("a subclass of SessionDelegate receives the challenge of each request, although the Digest credential is known")
  func subclass() async throws {
    final class Delegate: SessionDelegate, @unchecked Sendable {}
    let server = DigestServer()
    try await withServer(server.reply) { origin in
      let session = Session(configuration: .af.ephemeral, delegate: Delegate())
      for _ in 0..<2 {
        _ = await session.request(origin.url).authenticate(username: "u", password: "p").outcome()
      }
      #expect(server.requests == ["401 /", "200 /", "401 /", "200 /"])
    }
  }

  @Test("if the server accepts only auth-int, a body from a file isn't sent again, and the 401 is delivered")
  func unknownContent() async throws {
    let server = DigestServer(protection: "auth-int")
    let file = try TemporaryFile(Array("content".utf8))
    try await withServer(server.reply) { origin in
      try await withSession { session in
        let upload = session.upload(URL(fileURLWithPath: file.path), to: origin.url)
        let response = await upload.authenticate(username: "u", password: "p").serializingString().response
        #expect(response.value == "refused" && response.response?.statusCode == 401)
        #expect(server.requests == ["401 /"])
      }
    }
    withExtendedLifetime(file) {}
  }

  @Test("a refused Digest credential is sent only once, and the 401 is delivered")
  func wrong() async throws {
    let server = DigestServer()
    try await withServer(server.reply) { origin in
      try await withSession { session in
        let response = await session.request(origin.url).authenticate(username: "u", password: "wrong")
          .serializingString().response
        #expect(response.value == "refused" && response.response?.statusCode == 401)
        #expect(origin.requestCount == 2)
      }
    }
  }

  @Test(
    "with Expect: 100-continue, the body is sent only with the Digest credential, so a stream needs to be read only once",
    arguments: [false, true])
  func expectation(isStream: Bool) async throws {
    let server = DigestServer()
    let bodies = Recorder<String>()
    try await withOrigin { peer in
      while var request = try peer.readHead() {
        #expect(request.fields.first("Expect") == "100-continue")
        guard request.fields.contains("Authorization") else {
          try peer.send(server.reply(to: request), to: request)
          let ending = try peer.awaitClose()
          return bodies.record("refused after \(ending.byteCount) bytes")
        }
        try peer.send("HTTP/1.1 100 Continue\r\n\r\n")
        try peer.readBody(of: &request)
        bodies.record("sent \(String(decoding: request.body, as: UTF8.self))")
        try peer.send(server.reply(to: request), to: request)
      }
    } _: { origin in
      try await withSession { session in
        var request = try URLRequest(url: origin.url, method: .post, headers: ["Expect": "100-continue"])
        var timeouts = Timeouts(everyPhase: .seconds(100), total: nil)
        timeouts.awaitContinue = .seconds(100)
        request.lupine.timeouts = timeouts
        let content = Data("content".utf8)
        let upload =
          isStream ? session.upload(InputStream(data: content), with: request) : session.upload(content, with: request)
        let response = await upload.authenticate(username: "u", password: "p").serializingString().response
        #expect(response.value == "in" && response.response?.statusCode == 200)
        #expect(await bodies.first(2).sorted() == ["refused after 0 bytes", "sent content"])
        #expect(server.requests == ["401 /", "200 /"])
      }
    }
  }

  @Test("concurrent Digest requests use different nonce counts, and stale nonces are renewed without the delegate")
  func concurrent() async throws {
    let server = DigestServer(usesMax: 5)
    try await withServer(server.reply) { origin in
      let challenges = Log<String>()
      let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
      monitor.taskDidReceiveChallenge = { _, _, challenge in challenges.note("\(challenge.previousFailureCount)") }
      let session = Session(configuration: .forTests, eventMonitors: [monitor])
      try await keeping(session) { session in
        for _ in 0..<10 {
          try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<8 {
              group.addTask {
                await session.request(origin.url).authenticate(username: "u", password: "p").outcome().response?
                  .statusCode
              }
            }
            for try await status in group { #expect(status == 200) }
          }
        }
        await monitor.queue.drain()
        // The first eight requests may all be sent before the session knows the protection space.
        #expect((1...8).contains(challenges.entries.count) && challenges.entries.allSatisfy { $0 == "0" })
        #expect(server.requests.count { $0.hasPrefix("200") } == 80)
      }
    }
  }

  @Test("a default Digest credential that has succeeded is sent preemptively while it remains the storage's default")
  func preemptive() async throws {
    let server = DigestServer()
    try await withServer(server.reply) { origin in
      let storage = URLCredentialStorage()
      let space = Self.space(of: origin)
      let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
      storage.setDefaultCredential(credential, for: space)
      try await withSession {
        $0.urlCredentialStorage = storage
      } _: { session in
        for path in ["/a", "/b", "/c"] {
          #expect(await session.request(origin.url + path).outcome().response?.statusCode == 200)
        }
        #expect(server.requests == ["401 /a", "200 /a", "200 /b", "200 /c"])
        storage.remove(credential, for: space)
        #expect(await session.request(origin.url + "/d").outcome().response?.statusCode == 401)
        #expect(server.requests.last == "401 /d")
      }
    }
  }

  @Test("a preemptive Digest credential that is refused without stale=true answers the new challenge too")
  func forgottenNonce() async throws {
    let server = DigestServer(usesMax: 1)
    try await withServer { request in
      var reply = server.reply(to: request)
      let challenges = reply.fields.list("WWW-Authenticate") ?? ""
      guard reply.status == 401 else { return reply }
      reply.fields.remove("WWW-Authenticate")
      return reply.with(
        "WWW-Authenticate", challenges.replacingOccurrences(of: "stale=true", with: "stale=false"))
    } _: { origin in
      let storage = URLCredentialStorage()
      let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
      storage.setDefaultCredential(credential, for: Self.space(of: origin))
      try await withSession {
        $0.urlCredentialStorage = storage
      } _: { session in
        for path in ["/a", "/b"] {
          #expect(await session.request(origin.url + path).outcome().response?.statusCode == 200)
        }
        #expect(server.requests == ["401 /a", "200 /a", "401 /b", "200 /b"])
      }
    }
  }

  @Test("after a redirect within the origin, the request has a new Digest Authorization field")
  func redirect() async throws {
    let server = DigestServer()
    try await withServer { request in
      let reply = server.reply(to: request)
      guard reply.status == 200, request.target == "/from" else { return reply }
      return Reply(status: 302, fields: ["Location": "/to"])
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url + "/from").authenticate(username: "u", password: "p")
          .serializingString().response
        #expect(response.value == "in")
        #expect(server.requests == ["401 /from", "200 /from", "200 /to"])
      }
    }
  }

  @Test("if a server fails to prove that it knows the password, the task fails, and the response isn't delivered")
  func forged() async throws {
    let server = DigestServer(isForged: true)
    try await withServer(server.reply) { origin in
      try await withSession { session in
        let response = await session.request(origin.url).authenticate(username: "u", password: "p")
          .serializingString().response
        let error = response.error?.underlyingError as? URLError
        #expect(
          error?.code == .badServerResponse
            && error?.localizedDescription.contains("prove that it knows the password") == true)
        #expect(response.value == nil && response.data == nil && response.response == nil)
      }
    }
  }

  @Test("a server that has used Digest doesn't receive the password if it later offers only Basic")
  func downgrade() async throws {
    let server = DigestServer()
    try await withServer { request in
      guard request.target == "/basic" else { return server.reply(to: request) }
      let text = request.fields.first("Authorization") ?? "nothing"
      return .text(text, status: 401).with("WWW-Authenticate", "Basic realm=\"r\"")
    } _: { origin in
      try await withSession { session in
        func get(_ path: String) async -> AFDataResponse<String> {
          await session.request(origin.url + path).authenticate(username: "u", password: "p").serializingString()
            .response
        }
        #expect(await get("/").value == "in")
        #expect(await get("/basic").value?.hasPrefix("Digest ") == true)
        #expect(origin.requestCount == 3)
      }
    }
  }

  // MARK: Logins in URLs

  @Test("a session sends a URL's login with Basic first, and then once more to answer the server's Digest challenge")
  func login() async throws {
    let server = DigestServer()
    try await withServer(server.reply) { origin in
      try await withSession { session in
        let response = await session.request(Self.url(of: origin, "u:p") + "/a").serializingString().response
        #expect(response.value == "in" && server.requests == ["401 /a", "200 /a"])
        #expect(response.metrics?.redirectCount == 0 && origin.connectionCount == 1)
        let refused = await session.request(Self.url(of: origin, "u:wrong") + "/b").serializingString().response
        #expect(refused.value == "refused" && refused.response?.statusCode == 401)
        #expect(server.requests.dropFirst(2) == ["401 /b", "401 /b"])
      }
    }
  }

  @Test(
    "after the server has refused the URL's login, a session sends the storage's default credential, unless it is the same",
    arguments: [("p", 200, 3), ("other", 401, 3), ("wrong", 401, 2)])
  func loginAndStorage(stored: String, status: Int, requestCount: Int) async throws {
    let server = DigestServer()
    try await withServer(server.reply) { origin in
      let storage = URLCredentialStorage()
      let space = Self.space(of: origin)
      storage.setDefaultCredential(URLCredential(user: "u", password: stored, persistence: .forSession), for: space)
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCredentialStorage = storage
      let session = URLSession(configuration: configuration)
      defer { session.invalidateAndCancel() }
      let (_, response) = try await session.data(from: try #require(URL(string: Self.url(of: origin, "u:wrong"))))
      #expect((response as? HTTPURLResponse)?.statusCode == status)
      #expect(server.requests.count == requestCount)
    }
  }

  @Test("after a redirect to another origin, the session doesn't answer a challenge with the URL's login")
  func loginElsewhere() async throws {
    let (server, sent) = (DigestServer(), Log<String>())
    try await withServer { request in
      sent.note(request.fields.first("Authorization") ?? "none")
      return server.reply(to: request)
    } _: { other in
      try await withServer { _ in
        Reply(status: 302, fields: ["Location": other.url])
      } _: { origin in
        try await withSession { session in
          let response = await session.request(Self.url(of: origin, "u:p")).serializingString().response
          #expect(response.value == "refused" && response.response?.statusCode == 401)
          #expect(sent.entries == ["none"])
        }
      }
    }
  }

  /// Returns the URL of a server with a login, such as http://u:p@127.0.0.1:1234.
  private static func url(of origin: OriginServer, _ login: String) -> String {
    origin.url.replacingOccurrences(of: "//", with: "//\(login)@")
  }

  /// Returns the protection space of the realm that a `DigestServer` at this server names in its challenges.
  private static func space(of origin: OriginServer) -> URLProtectionSpace {
    URLProtectionSpace(
      host: "127.0.0.1", port: Int(origin.port), protocol: "http", realm: "r",
      authenticationMethod: NSURLAuthenticationMethodHTTPDigest)
  }
}
