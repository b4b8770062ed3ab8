// `TaskAuthentication` and `DigestSpaces`: a session's Digest authentications, shared by its tasks (RFC 7616 §3).

import Dispatch
import LupineAuthentication
import LupineEngine
import Synchronization
import Testing

@testable import LupineLogin

@Suite struct TaskAuthenticationTests {
  private let session = LoginSession()
  private let me = PasswordCredential(user: "me", password: "pw")

  /// Returns a new task of the session. Before a challenge, it may send `credential` to http://h.example in the realm r.
  private func task(_ credential: PasswordCredential? = nil) throws -> LoginTask {
    let origin = AuthenticationParty.origin(try URI("http://h.example/").origin)
    var known = KnownCredentials.ofProxies
    known.credential = { party, realm, scheme in
      party == origin && realm == "r" && scheme == .digest ? credential : nil
    }
    return LoginTask(session, known)
  }

  private func request(_ url: String = "http://h.example/x", method: String = "GET") throws -> EngineRequest {
    EngineRequest(method: method, uri: try URI(url))
  }

  private func digest(_ parameters: String) throws -> DigestChallenge {
    try DigestChallenge(try #require(Challenge.parse("Digest realm=r, \(parameters)").first))
  }

  private func head(_ status: Int = 200, _ fields: Fields = [:]) -> ResponseHead {
    ResponseHead(status: status, fields: fields, isContentDecoded: false)
  }

  private func refusal(_ challenge: String, status: Int = 401) -> AuthenticationRefusal {
    .response(head(status, ["WWW-Authenticate": challenge]))
  }

  /// Returns a parameter of the Authorization field `value`, such as its nonce, or nil if the field lacks the parameter.
  private func parameter(_ name: String, of value: String?) -> String? {
    Challenge.parse(value ?? "").first?.parameter(name)
  }

  /// Returns the Authorization field with which `task` answers a Digest challenge with these parameters, or nil if it doesn't.
  private func answer(
    _ task: LoginTask, _ request: EngineRequest, parameters: String = "nonce=n, qop=auth",
    with credential: PasswordCredential? = nil
  ) -> String? {
    guard case .ask(let question) = task.reaction(to: refusal("Digest realm=r, \(parameters)"), request),
      let offer = question.offers.first,
      case .authorize(let value) = task.respond(to: offer, of: question, with: credential ?? me)
    else { return nil }
    return value
  }

  /// Returns `request` with the Authorization field with which `task` answers a Digest challenge with these parameters.
  private func answered(
    _ task: LoginTask, _ request: EngineRequest, parameters: String = "nonce=n, qop=auth"
  ) throws -> EngineRequest {
    var request = request
    let value = try #require(answer(task, request, parameters: parameters))
    request.fields.append(name: "Authorization", value: value)
    request = try task.prepare(request).request
    #expect(request.fields.first("Authorization") == value)
    return request
  }

  /// Returns the Authorization field with which `task` repeats a request whose nonce was stale, or nil if it doesn't.
  private func renewed(_ task: LoginTask, _ challenge: String, status: Int = 401, to request: EngineRequest) -> String?
  {
    guard case .authorize(let value) = task.reaction(to: refusal(challenge, status: status), request) else {
      return nil
    }
    return value
  }

  // MARK: Answers

  @Test("a Digest Authorization field contains the request's target, and concurrent tasks share the nonce count")
  func answers() throws {
    let first = try answered(try task(), try request("http://h.example/a?b=c", method: "POST"))
    let value = first.fields.first("Authorization")
    #expect(parameter("uri", of: value) == "/a?b=c" && parameter("nc", of: value) == "00000001")
    let second = try answered(try task(), try request())
    #expect(parameter("nc", of: second.fields.first("Authorization")) == "00000002")
  }

  @Test("no two concurrent Digest requests have the same nonce count")
  func concurrentCounts() throws {
    let (request, challenge) = (try request(), try digest("nonce=n, qop=auth"))
    let session = SessionAuthentication()
    let counts = Mutex<[String?]>([])
    DispatchQueue.concurrentPerform(iterations: 200) { [me] _ in
      let use = session.withLock { $0.answer(challenge, with: me, to: request) }
      counts.withLock { $0.append(use?.proof.fieldValue) }
    }
    #expect(Set(counts.withLock { $0 }.map { parameter("nc", of: $0) }).count == 200)
  }

  @Test("Digest requests with different credentials use separate nonce counts")
  func credentials() throws {
    let you = PasswordCredential(user: "you", password: "pw")
    for credential in [me, you, me, you] {
      let value = answer(try task(), try request(), with: credential)
      #expect(parameter("username", of: value) == credential.user)
    }
    let value = answer(try task(), try request(), with: you)
    #expect(parameter("nc", of: value) == "00000003")
  }

  @Test(
    "the client answers a Digest challenge with qop=auth-int for a body in memory, but not if it is encoded or a file")
  func content() throws {
    var request = try request(method: "PUT")
    let parameters = "nonce=n, qop=auth-int, algorithm=SHA-256"
    request.body.append(.bytes(Array("the ".utf8)))
    request.body.append(.held(.init(byteCount: 7) { range, output in output += Array("content".utf8)[range] }))
    var expected = try DigestSession(try digest(parameters), credential: me)
    let proof = try expected.proof(method: "PUT", target: "/x", clientNonce: "c") { $0.hash(Array("the content".utf8)) }
    #expect(try answer(task(), request, parameters: parameters) == proof.fieldValue)
    request.bodyCoding = .gzip
    #expect(try answer(task(), request, parameters: parameters) == nil)
    request.bodyCoding = nil
    request.body.append(.file(path: "/dev/null", byteCount: 1))
    #expect(try answer(task(), request, parameters: parameters) == nil)
  }

  // MARK: Stale nonces

  @Test("a task answers a stale Digest nonce with the same credential, but doesn't send a refused credential again")
  func stale() throws {
    let task = try task()
    let request = try answered(task, try request())
    let stale = "Digest realm=r, nonce=n2, qop=auth, stale=true"
    #expect(renewed(task, stale, status: 200, to: request) == nil)
    let value = try #require(renewed(task, stale, to: request))
    #expect(parameter("nonce", of: value) == "n2" && parameter("username", of: value) == "me")
    #expect(renewed(task, "Digest realm=r, nonce=n3, qop=auth", to: request) == nil)
    // The task has discarded the refused credential, so it can't answer even a stale nonce.
    #expect(renewed(task, stale, to: request) == nil)
  }

  @Test("a task ignores stale=true in a challenge with another realm, or if the request had no Digest credentials")
  func foreignStale() throws {
    let stale = "Digest realm=s, nonce=n2, qop=auth, stale=true"
    let task = try task()
    #expect(renewed(task, stale, to: try request()) == nil)
    let request = try answered(task, try request())
    #expect(renewed(task, stale, to: request) == nil)
  }

  @Test("a task answers only a limited number of consecutive Digest challenges with stale=true")
  func endlessStale() throws {
    let task = try task()
    let request = try answered(task, try request())
    for count in 0..<DigestAuthentication.staleNoncesMax {
      #expect(renewed(task, "Digest realm=r, nonce=s\(count), qop=auth, stale=true", to: request) != nil)
    }
    #expect(renewed(task, "Digest realm=r, nonce=last, qop=auth, stale=true", to: request) == nil)
  }

  // MARK: Before a challenge

  @Test(
    "after a redirect, a new Digest Authorization field is sent within the protection space, and none outside of it")
  func redirects() throws {
    let task = try task()
    let first = try answered(task, try request("http://h.example/a/x"), parameters: "nonce=n, qop=auth, domain=\"/a/\"")
    // Before `prepare` changes it, the redirected request contains the Authorization field of the first request.
    func redirected(to url: String) throws -> String? {
      var next = first
      next.uri = try URI(url)
      next = try task.prepare(next).request
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
    let task = try task()
    var next = try answered(task, try request(), parameters: "nonce=n, qop=auth, domain=\"\(url) /\"")
    next.uri = try URI(url)
    #expect(try !task.prepare(next).request.fields.contains("Authorization"))
    var known = KnownCredentials.ofProxies
    known.credential = { [me] _, _, _ in me }
    #expect(try !LoginTask(session, known).prepare(request(url)).request.fields.contains("Authorization"))
  }

  @Test(
    "before a challenge, a task uses a Digest credential of another task only if it is the credential storage's default"
  )
  func preemptive() throws {
    _ = try answered(try task(), try request())
    func prepared(_ request: EngineRequest, _ credential: PasswordCredential? = me) throws -> String? {
      try task(credential).prepare(request).request.fields.first("Authorization")
    }
    #expect(try prepared(try request(), nil) == nil)
    #expect(try prepared(try request(), PasswordCredential(user: "me", password: "other")) == nil)
    #expect(parameter("nc", of: try prepared(try request("http://h.example/y"))) == "00000002")
    #expect(try prepared(try request("http://you:secret@h.example/y"))?.hasPrefix("Basic ") == true)
    var own = try request()
    own.fields.append(name: "Authorization", value: "Bearer t")
    #expect(try prepared(own) == "Bearer t")
  }

  // MARK: Servers

  @Test(
    "a task refuses a response with a wrong Digest rspauth, and uses the nextnonce of a response with a correct rspauth"
  )
  func verification() throws {
    let task = try task()
    _ = try answered(task, try request())
    #expect(task.verdict(on: head()) == .trusted)
    #expect(task.verdict(on: head(200, ["Authentication-Info": "nextnonce=\"n2\""])) == .trusted)
    let second = try answered(try self.task(), try request(), parameters: "nonce=n2, qop=auth")
    #expect(parameter("nc", of: second.fields.first("Authorization")) == "00000001")
    let forged = head(200, ["authentication-info": "rspauth=\"0\", nextnonce=\"n3\""])
    #expect(task.verdict(on: forged) == .untrusted)
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
    #expect(spaces.logins(covering: try URI("http://h\(last).example/")).count == 1)
    let dropped = last - DigestSpaces.authenticationsMax
    #expect(spaces.logins(covering: try URI("http://h\(dropped).example/")).isEmpty)
    #expect(spaces.logins(covering: try URI("http://h\(dropped + 1).example/")).count == 1)
    let basic = Challenge.parse("Basic")
    #expect(spaces.offers(in: basic, from: .origin(try URI("http://h1.example/").origin)).isEmpty)
    #expect(spaces.offers(in: basic, from: .origin(try URI("http://h0.example/").origin)).count == 1)
  }

  @Test("a session keeps the Digest authentication and the history of an origin in use, despite many other origins")
  func kept() throws {
    var spaces = DigestSpaces()
    let challenge = try digest("nonce=n, qop=auth")
    let credential = PasswordCredential(user: "me", password: "pw")
    let login = try spaces.answer(challenge, with: credential, to: try covered(0)).login
    for index in 1...DigestSpaces.partiesMax {
      _ = try spaces.answer(challenge, with: credential, to: try covered(index))
      guard index.isMultiple(of: 100) else { continue }
      let use = spaces.proof(with: login, for: try covered(0))
      #expect(use != nil)
    }
    #expect(spaces.offers(in: Challenge.parse("Basic"), from: login.party).isEmpty)
  }

  /// Returns a request to one of many origins.
  private func covered(_ index: Int) throws -> DigestSpaces.CoveredRequest {
    DigestSpaces.CoveredRequest(
      party: .origin(try URI("http://h\(index).example/").origin), method: "GET", target: "/", clientNonce: "c",
      contentHash: { _ in nil })
  }
}
