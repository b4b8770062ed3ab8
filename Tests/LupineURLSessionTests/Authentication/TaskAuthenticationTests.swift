// `TaskAuthentication` and `DigestSpaces`: a session's Digest authentications, shared by its tasks (RFC 7616 §3).

import Foundation
import LupineAuthentication
import LupineEngine
import Synchronization
import Testing

@testable import LupineLogin
@testable import LupineURLSession

@Suite struct TaskAuthenticationTests {
  private static let sources = AuthenticationSources(nonce: { "c" })
  private let session = SessionAuthentication(Self.sources)
  private let storage = URLCredentialStorage()
  private let me = URLCredential(user: "me", password: "pw", persistence: .forSession)

  private func task() -> TaskAuthentication {
    TaskAuthentication(session, storage: storage)
  }

  private func request(_ url: String = "http://h.example/x", method: String = "GET") throws -> EngineRequest {
    EngineRequest(method: method, uri: try URI(url))
  }

  private func digest(_ parameters: String) throws -> DigestChallenge {
    try DigestChallenge(try #require(Challenge.parse("Digest realm=r, \(parameters)").first))
  }

  private func fields(_ name: String, _ value: String) -> Fields { Fields([(name, value)]) }

  /// Returns a parameter of the Authorization field `value`, such as its nonce, or nil if the field lacks the parameter.
  private func parameter(_ name: String, of value: String?) -> String? {
    Challenge.parse(value ?? "").first?.parameter(name)
  }

  /// Returns `request` with the Authorization field with which `task` answers a Digest challenge with these parameters.
  private func answered(
    _ task: TaskAuthentication, _ request: EngineRequest, parameters: String = "nonce=n, qop=auth"
  ) throws -> EngineRequest {
    var request = request
    let value = try #require(task.answer(try digest(parameters), with: me, to: request))
    request.fields.append(name: "Authorization", value: value)
    task.prepare(&request)
    #expect(request.fields.first("Authorization") == value)
    return request
  }

  private func setDefault(_ credential: URLCredential, at url: String = "http://h.example/") throws {
    let space = URLProtectionSpace(try URI(url).origin, realm: "r", method: NSURLAuthenticationMethodHTTPDigest)
    storage.setDefaultCredential(credential, for: space)
  }

  // MARK: Answers

  @Test("a Digest Authorization field contains the request's target, and concurrent tasks share the nonce count")
  func answers() throws {
    let first = try answered(task(), try request("http://h.example/a?b=c", method: "POST"))
    let value = first.fields.first("Authorization")
    #expect(parameter("uri", of: value) == "/a?b=c" && parameter("nc", of: value) == "00000001")
    let second = try answered(task(), try request())
    #expect(parameter("nc", of: second.fields.first("Authorization")) == "00000002")
  }

  @Test("no two concurrent Digest requests have the same nonce count")
  func concurrentCounts() throws {
    let (request, challenge) = (try request(), try digest("nonce=n, qop=auth"))
    let counts = Mutex<[String?]>([])
    DispatchQueue.concurrentPerform(iterations: 200) { _ in
      let value = task().answer(challenge, with: me, to: request)
      counts.withLock { $0.append(parameter("nc", of: value)) }
    }
    #expect(Set(counts.withLock { $0 }).count == 200)
  }

  @Test("Digest requests with different credentials use separate nonce counts")
  func credentials() throws {
    let you = URLCredential(user: "you", password: "pw", persistence: .forSession)
    let challenge = try digest("nonce=n, qop=auth")
    for credential in [me, you, me, you] {
      let value = task().answer(challenge, with: credential, to: try request())
      #expect(parameter("username", of: value) == credential.user)
    }
    let value = task().answer(challenge, with: you, to: try request())
    #expect(parameter("nc", of: value) == "00000003")
  }

  @Test("the client answers a Digest challenge with qop=auth-int for a body in memory, but not for a body from a file")
  func content() throws {
    var request = try request(method: "PUT")
    let challenge = try digest("nonce=n, qop=auth-int, algorithm=SHA-256")
    request.body.append(.bytes(Array("the ".utf8)))
    request.body.append(.held(.init(byteCount: 7) { range, output in output += Array("content".utf8)[range] }))
    var expected = try DigestSession(challenge, credential: PasswordCredential(user: "me", password: "pw"))
    let proof = try expected.proof(method: "PUT", target: "/x", clientNonce: "c") { $0.hash(Array("the content".utf8)) }
    #expect(task().answer(challenge, with: me, to: request) == proof.fieldValue)
    request.body.append(.file(path: "/dev/null", byteCount: 1))
    #expect(task().answer(challenge, with: me, to: request) == nil)
  }

  @Test("for Digest, the user name and the password are converted to Unicode Normalization Form C (RFC 7616 §4)")
  func normalization() throws {
    let decomposed = URLCredential(user: "e\u{301}", password: "e\u{301}", persistence: .none)
    let composed = URLCredential(user: "\u{E9}", password: "\u{E9}", persistence: .none)
    let challenge = try digest("nonce=n, qop=auth")
    let values = try [decomposed, composed].map {
      try #require(
        TaskAuthentication(SessionAuthentication(Self.sources), storage: nil)
          .answer(challenge, with: $0, to: try request()))
    }
    #expect(Array(values[0].utf8) == Array(values[1].utf8))
  }

  // MARK: Stale nonces

  @Test("a task answers a stale Digest nonce with the same credential, but doesn't send a refused credential again")
  func stale() throws {
    let task = task()
    let request = try answered(task, try request())
    let stale = fields("WWW-Authenticate", "Digest realm=r, nonce=n2, qop=auth, stale=true")
    #expect(task.renewed(afterStatus: 200, stale, to: request) == nil)
    let value = try #require(task.renewed(afterStatus: 401, stale, to: request))
    #expect(parameter("nonce", of: value) == "n2" && parameter("username", of: value) == "me")
    let refused = fields("WWW-Authenticate", "Digest realm=r, nonce=n3, qop=auth")
    #expect(task.renewed(afterStatus: 401, refused, to: request) == nil)
    // The task has discarded the refused credential, so it can't answer even a stale nonce.
    #expect(task.renewed(afterStatus: 401, stale, to: request) == nil)
  }

  @Test("a task ignores stale=true in a challenge with another realm, or if the request had no Digest credentials")
  func foreignStale() throws {
    let stale = "realm=s, nonce=n2, qop=auth, stale=true"
    let task = task()
    #expect(task.renewed(afterStatus: 401, fields("WWW-Authenticate", "Digest \(stale)"), to: try request()) == nil)
    let request = try answered(task, try request())
    #expect(task.renewed(afterStatus: 401, fields("WWW-Authenticate", "Digest \(stale)"), to: request) == nil)
  }

  @Test("a task answers only a limited number of consecutive Digest challenges with stale=true")
  func endlessStale() throws {
    let task = task()
    let request = try answered(task, try request())
    for count in 0..<TaskAuthentication.staleNoncesMax {
      let stale = fields("WWW-Authenticate", "Digest realm=r, nonce=s\(count), qop=auth, stale=true")
      #expect(task.renewed(afterStatus: 401, stale, to: request) != nil)
    }
    let stale = fields("WWW-Authenticate", "Digest realm=r, nonce=last, qop=auth, stale=true")
    #expect(task.renewed(afterStatus: 401, stale, to: request) == nil)
  }

  // MARK: Before a challenge

  @Test(
    "after a redirect, a new Digest Authorization field is sent within the protection space, and none outside of it")
  func redirects() throws {
    let task = task()
    let first = try answered(task, try request("http://h.example/a/x"), parameters: "nonce=n, qop=auth, domain=\"/a/\"")
    // Before prepare(_:) changes it, the redirected request contains the Authorization field of the first request.
    func redirected(to url: String) throws -> String? {
      var next = first
      next.uri = try URI(url)
      task.prepare(&next)
      #expect(next.fields.count { $0.name == "Authorization" } <= 1)
      return next.fields.first("Authorization")
    }
    for (url, target, count) in [("/a/y", "/a/y", "2"), ("/a/x", "/a/x", "3"), ("/a/", "/a/", "4")] {
      let value = try redirected(to: "http://h.example\(url)")
      #expect(parameter("uri", of: value) == target && parameter("nc", of: value) == "0000000\(count)")
    }
    #expect(try redirected(to: "http://h.example/b") == nil)
    #expect(try redirected(to: "http://h.example/c") == nil)
    #expect(try parameter("nc", of: redirected(to: "http://h.example/a/x")) == "00000005")
  }

  @Test(
    "a Digest Authorization field is never sent to another origin",
    arguments: ["https://h.example/x", "http://h.example:81/x", "http://i.example/x", "http+unix://%2Fs/x"])
  func otherOrigins(url: String) throws {
    try setDefault(me)
    let task = task()
    var next = try answered(task, try request(), parameters: "nonce=n, qop=auth, domain=\"\(url) /\"")
    next.uri = try URI(url)
    task.prepare(&next)
    #expect(!next.fields.contains("Authorization"))
    var other = try request(url)
    self.task().prepare(&other)
    #expect(!other.fields.contains("Authorization"))
  }

  @Test(
    "before a challenge, a task uses a Digest credential of another task only if it is the credential storage's default"
  )
  func preemptive() throws {
    _ = try answered(task(), try request())
    func prepared(_ request: EngineRequest) -> String? {
      var request = request
      task().prepare(&request)
      return request.fields.first("Authorization")
    }
    #expect(prepared(try request()) == nil)
    try setDefault(URLCredential(user: "me", password: "other", persistence: .forSession))
    #expect(prepared(try request()) == nil)
    try setDefault(me)
    #expect(parameter("nc", of: prepared(try request("http://h.example/y"))) == "00000002")
    #expect(prepared(try request("http://you:secret@h.example/y"))?.hasPrefix("Basic ") == true)
    var own = try request()
    own.fields.append(name: "Authorization", value: "Bearer t")
    #expect(prepared(own) == "Bearer t")
  }

  // MARK: Servers

  @Test(
    "a task refuses a response with a wrong Digest rspauth, and uses the nextnonce of a response with a correct rspauth"
  )
  func verification() throws {
    let task = task()
    _ = try answered(task, try request())
    #expect(task.verify(Fields()) && task.verify(fields("Authentication-Info", "nextnonce=\"n2\"")))
    let second = try answered(self.task(), try request(), parameters: "nonce=n2, qop=auth")
    #expect(parameter("nc", of: second.fields.first("Authorization")) == "00000001")
    #expect(!task.verify(fields("authentication-info", "rspauth=\"0\", nextnonce=\"n3\"")))
  }

  @Test("after an http origin has used Digest, the client ignores a Basic challenge from the same origin")
  func downgrade() throws {
    _ = try answered(task(), try request())
    func challenge(_ url: String) throws -> URLAuthenticationChallenge? {
      let request = try request(url)
      return URLAuthenticationChallenge(
        Challenge.parse("Basic realm=r"), from: .origin(request.uri.origin), previousFailureCount: 0, storage: nil,
        response: nil, answering: (task(), request))
    }
    #expect(try challenge("http://h.example/") == nil)
    for url in ["https://h.example/", "http://i.example/", "http://h.example:81/"] {
      #expect(try challenge(url)?.outcome(of: .useCredential, credential: me) == .authorize("Basic bWU6cHc="))
    }
  }

  @Test("a session remembers a limited number of Digest authentications and origins, and drops the least recently used")
  func limits() throws {
    var spaces = DigestSpaces()
    let challenge = try digest("nonce=n, qop=auth")
    let credential = PasswordCredential(user: "me", password: "pw")
    for index in 0...DigestSpaces.partiesMax {
      _ = try spaces.answer(challenge, with: credential, to: try covered(index))
    }
    let last = DigestSpaces.partiesMax
    #expect(spaces.keys(covering: try URI("http://h\(last).example/")).count == 1)
    let dropped = last - DigestSpaces.authenticationsMax
    #expect(spaces.keys(covering: try URI("http://h\(dropped).example/")).isEmpty)
    #expect(spaces.keys(covering: try URI("http://h\(dropped + 1).example/")).count == 1)
    let basic = Challenge.parse("Basic")
    #expect(spaces.offers(in: basic, from: .origin(try URI("http://h1.example/").origin)).isEmpty)
    #expect(spaces.offers(in: basic, from: .origin(try URI("http://h0.example/").origin)).count == 1)
  }

  @Test("a session keeps the Digest authentication and the history of an origin in use, despite many other origins")
  func kept() throws {
    var spaces = DigestSpaces()
    let challenge = try digest("nonce=n, qop=auth")
    let credential = PasswordCredential(user: "me", password: "pw")
    let key = try spaces.answer(challenge, with: credential, to: try covered(0)).key
    for index in 1...DigestSpaces.partiesMax {
      _ = try spaces.answer(challenge, with: credential, to: try covered(index))
      guard index.isMultiple(of: 100) else { continue }
      let use = spaces.proof(with: key, for: try covered(0))
      #expect(use != nil)
    }
    #expect(spaces.offers(in: Challenge.parse("Basic"), from: key.party).isEmpty)
  }

  /// Returns a request to one of many origins.
  private func covered(_ index: Int) throws -> DigestSpaces.CoveredRequest {
    DigestSpaces.CoveredRequest(
      party: .origin(try URI("http://h\(index).example/").origin), method: "GET", target: "/", clientNonce: "c",
      contentHash: { _ in nil })
  }

  // MARK: Challenges

  @Test(
    "a challenge is for the strongest offered scheme with a default credential, or else for the strongest offered scheme"
  )
  func offers() throws {
    let lines = "Basic realm=r, Digest realm=r, nonce=n, qop=auth, Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256"
    func challenge() throws -> URLAuthenticationChallenge? {
      let request = try request()
      return URLAuthenticationChallenge(
        Challenge.parse(lines), from: .origin(request.uri.origin), previousFailureCount: 0, storage: storage,
        response: nil, answering: (task(), request))
    }
    let digest = try #require(try challenge())
    #expect(digest.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPDigest)
    guard case .authorize(let value) = digest.outcome(of: .useCredential, credential: me) else {
      Issue.record("the challenge wasn't answered")
      return
    }
    #expect(parameter("algorithm", of: value) == "SHA-256" && !value.contains("pw"))

    let fresh = URLProtectionSpace(
      try URI("http://h.example").origin, realm: "r", method: NSURLAuthenticationMethodHTTPBasic)
    storage.setDefaultCredential(me, for: fresh)
    // The origin has used Digest, so its Basic challenge is ignored.
    #expect(try challenge()?.proposedCredential == nil)
    let other = TaskAuthentication(SessionAuthentication(), storage: storage)
    let basic = URLAuthenticationChallenge(
      Challenge.parse(lines), from: .origin(try URI("http://h.example/").origin), previousFailureCount: 0,
      storage: storage, response: nil, answering: (other, try request()))
    #expect(basic?.proposedCredential == me && basic?.protectionSpace == fresh)
  }
}
