// `URLAuthenticationChallenge`: the challenge made from a 401 response, and the outcome of each answer to it.

import Foundation
import LupineEngine
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct AuthenticationChallengeTests {
  private let me = URLCredential(user: "me", password: "pw", persistence: .forSession)

  private func challenge(
    _ lines: [String], at url: String = "http://h.example/x", status: Int = 401, failures: Int = 0,
    storage: URLCredentialStorage? = nil, response: HTTPURLResponse? = nil
  ) throws -> URLAuthenticationChallenge? {
    var fields = Fields()
    for line in lines { fields.append(name: "www-authenticate", value: line) }
    return URLAuthenticationChallenge(
      status: status, fields: fields, from: try URI(url), previousFailureCount: failures, storage: storage,
      response: response)
  }

  @Test("a Basic challenge contains the server, realm, method and response")
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
    "the first Basic challenge is used, in any case and on any field line",
    arguments: [
      (["Digest realm=\"d\", nonce=\"n\"", "bAsIc realm=b"], "b"), (["Negotiate, Basic realm=\"b\""], "b"),
      (["Basic realm=\"b\", Basic realm=\"c\""], "b"), (["Basic charset=\"UTF-8\", REALM=b"], "b"),
      (["Basic realm=\"\""], ""),
      // The host replaces a missing realm.
      (["Basic"], "h.example"), (["Basic "], "h.example"), (["Basic charset=\"UTF-8\""], "h.example"),
      (["Basic, Digest realm=\"d\""], "h.example"), (["NTLM", "Basic"], "h.example"),
    ])
  func realm(lines: [String], realm: String) throws {
    #expect(try challenge(lines)?.protectionSpace.realm == realm)
  }

  @Test(
    "the port of a challenge is the scheme's default port if the URL has none",
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
    "a response without a known scheme has no challenge",
    arguments: [
      [], [""], ["Bearer"], ["Digest realm=d"], ["realm=\"Basic\""], ["\"Basic realm=x\""],
      ["\"Digest realm=x\", Bearer"],
    ])
  func none(lines: [String]) throws {
    #expect(try challenge(lines) == nil)
  }

  @Test(
    "if no Basic challenge is offered, the strongest challenge of another known scheme is used",
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

  @Test(
    "a response with another status has no challenge, regardless of its fields", arguments: [200, 400, 403, 407, 500])
  func status(status: Int) throws {
    #expect(try challenge(["Basic realm=x"], status: status) == nil)
  }

  @Test("the storage's default credential is proposed only for exactly the challenge's protection space")
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

  @Test("a server on a Unix socket doesn't receive the credential of localhost over TCP")
  func socket() throws {
    let storage = URLCredentialStorage()
    let space = try #require(try challenge(["Basic realm=r"], at: "http://localhost/")).protectionSpace
    storage.setDefaultCredential(me, for: space)
    #expect(try challenge(["Basic realm=r"], at: "http://localhost/", storage: storage)?.proposedCredential == me)
    let other = try #require(try challenge(["Basic realm=r"], at: "http+unix://%2Frun%2Fa.sock/", storage: storage))
    #expect(other.proposedCredential == nil && other.protectionSpace.host == "/run/a.sock")
  }

  // MARK: Answers

  @Test("useCredential sends the credential; without a sendable credential, the 401 is delivered")
  func useCredential() throws {
    let challenge = try #require(try challenge(["Basic"], failures: 3))
    #expect(challenge.outcome(of: .useCredential, credential: me) == .authorize("Basic bWU6cHc="))
    #expect(challenge.outcome(of: .useCredential, credential: nil) == .stand)
    let colon = URLCredential(user: "a:b", password: "c", persistence: .none)
    #expect(challenge.outcome(of: .useCredential, credential: colon) == .stand)
  }

  @Test(
    "no answer to NTLM or Negotiate sends a credential",
    arguments: ["NTLM", "Negotiate"])
  func unsupportedScheme(line: String) throws {
    let storage = URLCredentialStorage()
    storage.setDefaultCredential(me, for: try #require(try challenge([line])).protectionSpace)
    let challenge = try #require(try challenge([line], storage: storage))
    #expect(challenge.proposedCredential == me)
    for disposition in [
      URLSession.AuthChallengeDisposition.useCredential, .performDefaultHandling, .rejectProtectionSpace,
    ] {
      #expect(challenge.outcome(of: disposition, credential: me) == .stand)
    }
    #expect(challenge.outcome(of: .cancelAuthenticationChallenge, credential: me) == .cancel)
  }

  // MARK: Advice

  @Test(
    "only 401 and 407 responses describe their offered schemes and a remedy",
    arguments: [
      (
        401, "WWW-Authenticate", "Digest realm=r, Negotiate, Digest realm=s", "offers Digest, Negotiate. ", "only Basic"
      ),
      (401, "WWW-Authenticate", "Digest realm=r, nonce=n", "offers Digest. ", "valid user name and password"),
      (401, "WWW-Authenticate", "NTLM, basic realm=r", "offers NTLM, basic. ", "valid user name and password"),
      (401, "Other", "Digest", "names no scheme. ", "only Basic"),
      (401, "Proxy-Authenticate", "Digest", "names no scheme. ", "only Basic"),
      (407, "Proxy-Authenticate", "Negotiate", "offers Negotiate. ", "Only Basic"),
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

  @Test("default handling sends the proposed credential once, and a second 401 is delivered")
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

  @Test("rejecting a challenge delivers the 401, and cancelling it doesn't")
  func rejection() throws {
    let challenge = try #require(try challenge(["Basic"]))
    #expect(challenge.outcome(of: .rejectProtectionSpace, credential: me) == .stand)
    #expect(challenge.outcome(of: .cancelAuthenticationChallenge, credential: me) == .cancel)
  }

  @Test("the user name and password are sent in UTF-8 (RFC 7617)")
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

  @Test("a challenge created by a caller contains the given parts, and a copy can have another sender")
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
