// `URLAuthenticationChallenge`: the challenge made from a 401 response, and the outcome of each answer to it.

import Foundation
import LupineEngine
import Testing

@testable import LupineLogin
@testable import LupineURLSession

@Suite struct AuthenticationChallengeTests {
  private let me = URLCredential(user: "me", password: "pw", persistence: .forSession)

  private func challenge(
    _ lines: [String], at url: String = "http://h.example/x", rejected: Int = 0, failures: Int = 0,
    storage: URLCredentialStorage? = nil, response: HTTPURLResponse? = nil
  ) throws -> URLAuthenticationChallenge? {
    var fields = Fields()
    for line in lines { fields.append(name: "www-authenticate", value: line) }
    return ChallengedSession().challenge(
      fields.challenges("WWW-Authenticate"), to: EngineRequest(uri: try URI(url)), rejected: rejected,
      failures: failures, storage: storage, response: response)
  }

  @Test("the URLAuthenticationChallenge for a Basic 401 has the server, the realm, the method and the failed response")
  func basic() throws {
    let url = try #require(URL(string: "https://H.example:8443/x"))
    let response = HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: nil)
    let challenge = try #require(
      try challenge(["Basic realm=\"the realm\""], at: "https://H.example:8443/x", failures: 2, response: response))
    let space = challenge.protectionSpace
    #expect(space.host == "h.example" && space.port == 8443 && space.protocol == "https" && space.realm == "the realm")
    #expect(space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic && !space.isProxy())
    #expect(challenge.failureResponse === response && challenge.previousFailureCount == 2)
    #expect(challenge.error == nil && challenge.sender == nil && challenge.proposedCredential == nil)
  }

  @Test(
    "the client answers the server's first Basic challenge, whatever its letter case and its WWW-Authenticate line",
    arguments: [
      (["Digest realm=\"d\"", "bAsIc realm=b"], "b"), (["Bearer, Basic realm=\"b\""], "b"),
      (["Basic realm=\"b\", Basic realm=\"c\""], "b"), (["Basic charset=\"UTF-8\", REALM=b"], "b"),
      (["Basic realm=\"\""], ""),
      // Without a realm parameter, the realm is the host.
      (["Basic"], "h.example"), (["Basic "], "h.example"), (["Basic charset=\"UTF-8\""], "h.example"),
      (["Basic, Digest realm=\"d\""], "h.example"), (["Bearer", "Basic"], "h.example"),
    ])
  func realm(lines: [String], realm: String) throws {
    #expect(try challenge(lines)?.protectionSpace.realm == realm)
  }

  @Test(
    "if a URL has no port, the protection space of its challenge has the default port of the URL's scheme",
    arguments: [("http", 80), ("https", 443)])
  func ports(scheme: String, port: Int) throws {
    let space = try #require(try challenge(["Basic"], at: "\(scheme)://h/")).protectionSpace
    #expect(space.port == port)
    #expect(
      space
        == URLProtectionSpace(
          host: "h", port: 0, protocol: scheme, realm: "h", authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
  }

  @Test(
    "a response that offers no known authentication scheme causes no challenge",
    arguments: [
      [], [""], ["Bearer"], ["Digest realm=d"], ["realm=\"Basic\""], ["\"Basic realm=x\""],
      ["\"Digest realm=x\", Bearer"],
    ])
  func none(lines: [String]) throws {
    #expect(try challenge(lines) == nil)
  }

  @Test(
    "the strongest offered authentication scheme is used first",
    arguments: [
      (["Digest realm=\"d\", nonce=\"n\""], NSURLAuthenticationMethodHTTPDigest, "d"),
      (["Bearer, nEgotiate", "NTLM"], NSURLAuthenticationMethodNegotiate, "h.example"),
      (["Digest realm=d, nonce=n, NTLM"], NSURLAuthenticationMethodNTLM, "h.example"),
      (["Digest nonce=n, realm=\"a, Basic b\""], NSURLAuthenticationMethodHTTPDigest, "a, Basic b"),
    ])
  func otherSchemes(lines: [String], method: String, realm: String) throws {
    let space = try #require(try challenge(lines)).protectionSpace
    #expect(space.authenticationMethod == method && space.realm == realm)
    #expect(space.isAt(try #require(URL(string: "http://h.example"))))
  }

  @Test("after rejectProtectionSpace, the next challenge is for the next weaker scheme, until no scheme remains")
  func rejected() throws {
    let lines = ["Basic realm=b, Digest realm=d, nonce=n, qop=auth", "NTLM, Negotiate"]
    let methods = try (0..<5).map { try challenge(lines, rejected: $0)?.protectionSpace.authenticationMethod }
    #expect(
      methods == [
        NSURLAuthenticationMethodNegotiate, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodHTTPDigest,
        NSURLAuthenticationMethodHTTPBasic, nil,
      ])
    let storage = URLCredentialStorage()
    storage.setDefaultCredential(me, for: try #require(try challenge(["Basic realm=b"])).protectionSpace)
    let first = try #require(try challenge(lines, storage: storage))
    #expect(first.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
    #expect(first.proposedCredential == me)
  }

  @Test("a challenge's proposedCredential is the credential storage's default credential for the same protection space")
  func proposed() throws {
    let storage = URLCredentialStorage()
    let space = URLProtectionSpace(
      host: "H.example", port: 80, protocol: "http", realm: "r",
      authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    storage.setDefaultCredential(me, for: space)
    #expect(try challenge(["Basic realm=r"], storage: storage)?.proposedCredential == me)
    #expect(try challenge(["Basic realm=other"], storage: storage)?.proposedCredential == nil)
    #expect(try challenge(["Basic realm=r"], at: "https://h.example/", storage: storage)?.proposedCredential == nil)
    #expect(try challenge(["Basic realm=r"], at: "http://h.example:81/", storage: storage)?.proposedCredential == nil)
    #expect(try challenge(["Basic realm=r"], at: "http://i.example/", storage: storage)?.proposedCredential == nil)
  }

  @Test("if the scheme isn't Basic, a challenge proposes the URL's login first, and then the storage's credential")
  func login() throws {
    let (url, lines) = ("http://a%40b:p%3Aw@h.example/x", ["Basic realm=r, Digest realm=r, nonce=n, qop=auth"])
    let first = try #require(try challenge(lines, at: url))
    #expect(first.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPDigest)
    #expect(first.proposedCredential?.user == "a@b" && first.proposedCredential?.password == "p:w")
    #expect(first.outcome(of: .performDefaultHandling, credential: nil) != .stand)
    let refused = try #require(try challenge(lines, at: url, failures: 1))
    #expect(refused.outcome(of: .performDefaultHandling, credential: nil) == .stand)
    #expect(try challenge(["Basic realm=r"], at: url)?.proposedCredential == nil)

    let storage = URLCredentialStorage()
    storage.setDefaultCredential(me, for: first.protectionSpace)
    let users = try (0..<3).map {
      try challenge(lines, at: url, failures: $0, storage: storage)?.proposedCredential?.user
    }
    #expect(users == ["a@b", "me", "me"])
    let outcomes = try (0..<3).map {
      try challenge(lines, at: url, failures: $0, storage: storage)?.outcome(
        of: .performDefaultHandling, credential: nil)
    }
    #expect(outcomes.map { $0 == .stand } == [false, false, true])
  }

  @Test("a URL's login is proposed for NTLM if it has a user name, and for Negotiate if it is empty")
  func loginOfConnection() throws {
    let methods = try ["http://u:p@h/", "http://:@h/", "http://@h/"].map {
      try challenge(["Negotiate, NTLM"], at: $0).map {
        $0.proposedCredential == nil ? "nothing for Negotiate" : $0.protectionSpace.authenticationMethod
      }
    }
    #expect(methods == [NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate, "nothing for Negotiate"])
  }

  @Test("a URL's login isn't proposed to a proxy or to another origin")
  func loginOfOrigin() throws {
    let request = EngineRequest(uri: try URI("http://u:p@h.example/"))
    let proxy = try #require(ProxyAddress(try Proxy("http://h.example:80")))
    var parties = [AuthenticationParty.proxy(proxy)]
    for url in ["http://H.example:80", "https://h.example", "http://h.example:81", "http://i.example"] {
      parties.append(.origin(try URI(url).origin))
    }
    let users = parties.map { party in
      ChallengedSession().challenge(
        Challenge.parse("Digest realm=r, nonce=n, qop=auth"), to: request, from: party
      )?.proposedCredential?.user
    }
    #expect(users == [nil, "u", nil, nil, nil])
  }

  @Test("a server on a Unix socket doesn't receive the credential that was stored for localhost over TCP")
  func socket() throws {
    let storage = URLCredentialStorage()
    let space = try #require(try challenge(["Basic realm=r"], at: "http://localhost/")).protectionSpace
    storage.setDefaultCredential(me, for: space)
    #expect(try challenge(["Basic realm=r"], at: "http://localhost/", storage: storage)?.proposedCredential == me)
    let other = try #require(try challenge(["Basic realm=r"], at: "http+unix://%2Frun%2Fa.sock/", storage: storage))
    #expect(other.proposedCredential == nil && other.protectionSpace.host == "/run/a.sock")
    let secure = URLProtectionSpace(
      host: "localhost", port: 443, protocol: "https", realm: "r",
      authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    #expect(secure.isAt(try #require(URL(string: "http://localhost/"))))
    #expect(!secure.isAt(try #require(URL(string: "http+unix://%2Frun%2Fa.sock/"))))
  }

  // MARK: Answers

  @Test(
    "with useCredential, the client sends the given credential, or delivers the 401 if the credential is nil or unusable"
  )
  func useCredential() throws {
    let challenge = try #require(try challenge(["Basic"], failures: 3))
    #expect(challenge.outcome(of: .useCredential, credential: me) == .authorize("Basic bWU6cHc="))
    #expect(challenge.outcome(of: .useCredential, credential: nil) == .stand)
    let colon = URLCredential(user: "a:b", password: "c", persistence: .none)
    #expect(challenge.outcome(of: .useCredential, credential: colon) == .stand)
  }

  @Test(
    "NTLM requires a credential with a user name; Negotiate requires an empty credential, and uses the Kerberos ticket")
  func suitableCredentials() throws {
    let ticket = URLCredential(user: "", password: "", persistence: .none)
    let (ntlm, negotiate) = (try #require(try challenge(["NTLM"])), try #require(try challenge(["Negotiate"])))
    #expect(ntlm.outcome(of: .useCredential, credential: me) == .resend)
    #expect(ntlm.outcome(of: .useCredential, credential: ticket) == .reject)
    #expect(negotiate.outcome(of: .useCredential, credential: me) == .reject)
    #expect(negotiate.outcome(of: .useCredential, credential: ticket) == .resend)
    #expect(negotiate.outcome(of: .performDefaultHandling, credential: ticket) == .stand)
    #expect(negotiate.outcome(of: .cancelAuthenticationChallenge, credential: ticket) == .cancel)
  }

  @Test(
    "a challenge is for the strongest offered scheme with a default credential, or else for the strongest offered scheme"
  )
  func offers() throws {
    let lines = Challenge.parse(
      "Basic realm=r, Digest realm=r, nonce=n, qop=auth, Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256")
    let (session, storage) = (ChallengedSession(), URLCredentialStorage())
    let request = EngineRequest(uri: try URI("http://h.example/x"))
    let digest = try #require(session.challenge(lines, to: request, storage: storage))
    #expect(digest.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPDigest)
    guard case .authorize(let value) = digest.outcome(of: .useCredential, credential: me) else {
      Issue.record("the challenge wasn't answered")
      return
    }
    #expect(Challenge.parse(value).first?.parameter("algorithm") == "SHA-256" && !value.contains("pw"))

    let fresh = URLProtectionSpace(
      try URI("http://h.example").origin, realm: "r", method: NSURLAuthenticationMethodHTTPBasic)
    storage.setDefaultCredential(me, for: fresh)
    // The origin has used Digest, so its Basic challenge is ignored.
    let next = session.challenge(lines, to: request, storage: storage)
    #expect(next != nil && next?.proposedCredential == nil)
    let basic = ChallengedSession().challenge(lines, to: request, storage: storage)
    #expect(basic?.proposedCredential == me && basic?.protectionSpace == fresh)
  }

  @Test("after an http origin has used Digest, the client ignores a Basic challenge from the same origin")
  func downgrade() throws {
    let session = ChallengedSession()
    func challenge(_ line: String, _ url: String) throws -> URLAuthenticationChallenge? {
      session.challenge(Challenge.parse(line), to: EngineRequest(uri: try URI(url)))
    }
    let digest = try challenge("Digest realm=r, nonce=n, qop=auth", "http://h.example/x")
    #expect(digest?.outcome(of: .useCredential, credential: me) != .stand)
    #expect(try challenge("Basic realm=r", "http://h.example/") == nil)
    for url in ["https://h.example/", "http://i.example/", "http://h.example:81/"] {
      let outcome = try challenge("Basic realm=r", url)?.outcome(of: .useCredential, credential: me)
      #expect(outcome == .authorize("Basic bWU6cHc="))
    }
  }

  @Test("for Digest, the user name and the password are converted to Unicode Normalization Form C (RFC 7616 §4)")
  func normalization() throws {
    let outcomes = try ["e\u{301}", "\u{E9}"].map { text in
      let challenge = try #require(try challenge(["Digest realm=r, nonce=n, qop=auth"]))
      let credential = URLCredential(user: text, password: text, persistence: .none)
      return challenge.outcome(of: .useCredential, credential: credential)
    }
    guard case .authorize(let first) = outcomes[0], case .authorize(let second) = outcomes[1] else {
      Issue.record("the challenge wasn't answered")
      return
    }
    #expect(Array(first.utf8) == Array(second.utf8))
  }

  @Test("the error of a Kerberos handshake that can't be started states the cause and the remedy")
  func unable() {
    let error = URLError(.unable("Install the package p."), at: URL(string: "https://h.example"))
    #expect(error.code == .userAuthenticationRequired && error.localizedDescription.contains("the package p."))
  }

  // MARK: Advice

  @Test(
    "the advice that a response's debugDescription gives for a 401 or 407 lists the offered schemes and a remedy",
    arguments: [
      (
        401, "WWW-Authenticate", "Digest realm=r, Negotiate, Digest realm=s", "offers Digest, Negotiate. ", "kinit"
      ),
      (401, "WWW-Authenticate", "Digest realm=r, nonce=n", "offers Digest. ", "valid user name and password"),
      (401, "WWW-Authenticate", "NTLM, basic realm=r", "offers NTLM, basic. ", "valid user name and password"),
      (401, "Other", "Digest", "names no scheme. ", "only Basic"),
      (401, "Proxy-Authenticate", "Digest", "names no scheme. ", "only Basic"),
      (407, "Proxy-Authenticate", "Bearer", "offers Bearer. ", "Only Basic"),
      (407, "Proxy-Authenticate", "NTLM", "offers NTLM. ", "the proxy's URL"),
      (407, "proxy-authenticate", "Basic realm=r", "offers Basic. ", "the proxy's URL"),
    ])
  func advice(status: Int, field: String, value: String, offer: String, remedy: String) throws {
    let url = try #require(URL(string: "http://h.example"))
    func advice(_ status: Int) -> String? {
      HTTPURLResponse(url: url, statusCode: status, fields: Fields([(field, value)])).authenticationAdvice
    }
    let text = try #require(advice(status))
    #expect(text.contains("The \(status == 401 ? "server" : "proxy") requires a credential and \(offer)"))
    #expect(text.contains(remedy) && !text.contains("\n"))
    #expect([200, 400, 403, 404].allSatisfy { advice($0) == nil })
  }

  @Test(
    "with performDefaultHandling, the proposed credential is sent once, and a second 401 is delivered to the caller")
  func defaultHandling() throws {
    let storage = URLCredentialStorage()
    let first = try #require(try challenge(["Basic"]))
    #expect(first.outcome(of: .performDefaultHandling, credential: nil) == .stand)
    storage.setDefaultCredential(me, for: first.protectionSpace)
    let second = try #require(try challenge(["Basic"], storage: storage))
    #expect(second.outcome(of: .performDefaultHandling, credential: nil) == .authorize("Basic bWU6cHc="))
    let third = try #require(try challenge(["Basic"], failures: 1, storage: storage))
    #expect(third.proposedCredential == me)
    #expect(third.outcome(of: .performDefaultHandling, credential: nil) == .stand)
  }

  @Test("a credential that is passed with rejectProtectionSpace or cancelAuthenticationChallenge is ignored")
  func rejection() throws {
    let challenge = try #require(try challenge(["Basic"]))
    #expect(challenge.outcome(of: .rejectProtectionSpace, credential: me) == .reject)
    #expect(challenge.outcome(of: .cancelAuthenticationChallenge, credential: me) == .cancel)
  }

  @Test("Basic authentication encodes the user name and the password in UTF-8 (RFC 7617)")
  func charset() {
    let credential = URLCredential(user: "test", password: "123£", persistence: .none)
    #expect(credential.basicAuthorization == "Basic dGVzdDoxMjPCow==")
  }

  // MARK: The public initializers

  private final class Sender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
  }

  @Test(
    "a URLAuthenticationChallenge has the properties passed to its initializer, and its copy can have another sender")
  func made() {
    let space = URLProtectionSpace(host: "h", port: 1, protocol: "http", realm: nil, authenticationMethod: nil)
    let (one, two) = (Sender(), Sender())
    let challenge = URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: me, previousFailureCount: 4, failureResponse: nil,
      error: URLError(.timedOut), sender: one)
    let copy = URLAuthenticationChallenge(authenticationChallenge: challenge, sender: two)
    for challenge in [challenge, copy] {
      #expect(challenge.protectionSpace === space && challenge.proposedCredential === me)
      #expect(challenge.previousFailureCount == 4 && challenge.failureResponse == nil)
      #expect((challenge.error as? URLError)?.code == .timedOut)
    }
    #expect(challenge.sender === one && copy.sender === two)
  }
}
