// `ProxyAuthentication`: a task's credentials for its proxy, for forwarded requests and for CONNECT (RFC 9110 §11.7).

import LupineAuthentication
import LupineEngine
import Testing

@testable import LupineLogin

@Suite struct ProxyAuthenticationTests {
  private static let digestChallenge = Challenge.parse("Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")

  private static let forgedHead = ResponseHead(
    status: 200, fields: ["Proxy-Authentication-Info": "rspauth=\"0\""], isContentDecoded: false)

  @Test(
    "a Digest credential for one proxy isn't sent to another proxy, whose response doesn't verify the credential",
    arguments: ["http://b.example:1", "http://a.example:2", "https://a.example:1"])
  func otherProxy(url: String) throws {
    let session = LoginSession()
    let authentication = LoginProxy(session)
    let (first, second) = (try Proxy("http://u:p@a.example:1"), try Proxy(url))
    let request = EngineRequest(uri: try URI("http://h.example/"))
    var isAccepted: Bool { !session.logins.connections.accepted.isEmpty }
    #expect(authentication.resends(after: Self.digestChallenge, from: first, request))
    let prepared = try authentication.prepare(request, via: first)
    #expect(prepared?.authorization?.value?.hasPrefix("Digest ") == true)
    // After a redirect, the request uses the other proxy.
    #expect(try authentication.prepare(request, via: second) == nil)
    #expect(authentication.receive(Self.forgedHead, to: request, via: second) == .trusted && !isAccepted)
    // After another redirect, the request uses the first proxy again, which sends a wrong rspauth.
    _ = try authentication.prepare(request, via: first)
    #expect(authentication.receive(Self.forgedHead, to: request, via: first) == .untrusted && isAccepted)
    // The session has dropped the authentication, but still doesn't send the password of the proxy's URL with Basic.
    let bare = try #require(try authentication.prepare(request, via: first))
    #expect(bare.authorization != nil && bare.authorization?.value == nil)
  }

  @Test(
    "an origin's NTLM and Negotiate are used via a forwarding proxy only if the proxy announces Session-Based-Authentication",
    arguments: [
      (nil, false), ("other", false), ("Session-Based-Authentication", true), ("a, session-based-authentication", true),
    ] as [(String?, Bool)])
  func sharedConnections(support: String?, keepsApart: Bool) throws {
    let task = LoginTask(LoginSession())
    var fields: Fields = ["WWW-Authenticate": "Negotiate, NTLM, Basic realm=r"]
    if let support { fields.append(name: "Proxy-Support", value: support) }
    let head = ResponseHead(status: 401, fields: fields, isContentDecoded: false)
    func schemes(_ url: String, via proxy: Proxy?) throws -> [AuthenticationOffer.Scheme] {
      let reaction = task.reaction(to: .response(head), EngineRequest(uri: try URI(url)), via: proxy)
      guard case .ask(let question) = reaction else { return [] }
      return question.offers.map(\.scheme)
    }
    let all: [AuthenticationOffer.Scheme] = [.negotiate, .ntlm, .basic]
    let (proxy, socks) = (try Proxy("http://p.example"), try Proxy("socks5h://p.example"))
    #expect(try schemes("http://h.example/", via: proxy) == (keepsApart ? all : [.basic]))
    // The proxy doesn't share a tunnel with other clients, so connection-based schemes are safe.
    #expect(try schemes("https://h.example/", via: proxy) == all)
    #expect(try schemes("http://h.example/", via: socks) == all)
    #expect(try schemes("http://h.example/", via: nil) == all)
  }

  @Test(
    "creating a request's credentials may block the thread for a Kerberos ticket only if the proxy has used Negotiate")
  func mayBlock() throws {
    let session = LoginSession(EndlessContext())
    let (first, second) = (try Proxy("http://a.example:1"), try Proxy("http://b.example:1"))
    let address = try #require(ProxyAddress(first))
    session.logins.connections.note(
      Login(party: .proxy(address), scheme: .negotiate, credential: PasswordCredential(user: "", password: "")),
      by: address)
    // A forwarded request begins a handshake only after the proxy's challenge.
    for (url, isTunneled) in [("http://h.example/", false), ("https://h.example/", true)] {
      for (proxy, mayBlock) in [(nil, false), (second, false), (first, isTunneled)] {
        let task = LoginTask(session, KnownCredentials { _ in PasswordCredential(user: "", password: "") })
        _ = try task.prepare(EngineRequest(uri: try URI(url)), via: proxy)
        #expect(task.mayHaveBlocked == mayBlock)
      }
    }
  }

  @Test("requests with the credential in the proxy's URL don't use a tunnel that was opened without a credential")
  func tunnelWithoutCredential() throws {
    let session = LoginSession()
    let proxy = try Proxy("http://u:p@a.example:1")
    let request = EngineRequest(uri: try URI("https://h.example/"))
    let before = LoginProxy(session)
    #expect(try before.prepare(request, via: proxy) == nil)
    #expect(before.resends(after: Self.digestChallenge, from: proxy, request))
    // Because the proxy has offered Digest, the client no longer sends the password in the clear.
    let after = LoginProxy(session)
    let prepared = try #require(try after.prepare(request, via: proxy))
    #expect(prepared.authorization != nil && prepared.authorization?.value == nil)
    #expect(prepared.group == AuthenticatedConnections.bareGroup)
    let group = session.logins.connections.newGroup()
    #expect(group != AuthenticatedConnections.bareGroup)
    // Each forwarded request carries the proxy's credentials, so all requests can share connections to the proxy.
    let forwarded = try after.prepare(EngineRequest(uri: try URI("http://h.example/")), via: proxy)
    #expect(forwarded?.authorization != nil && forwarded?.group == nil)
  }

  @Test("after NTLM with a proxy, the client no longer sends the password of the proxy's URL with Basic")
  func basicAfterNTLM() throws {
    let ntlm = Challenge.parse("NTLM")
    for url in ["http://h.example/", "https://h.example/"] {
      for scheme in ["http", "https"] {
        let session = LoginSession()
        let (proxy, request) = (try Proxy("\(scheme)://u:p@a.example:1"), EngineRequest(uri: try URI(url)))
        let before = LoginProxy(session)
        #expect(try before.prepare(request, via: proxy) == nil)
        #expect(before.resends(after: ntlm, from: proxy, request))
        // The proxy refuses the credential, and the session forgets it.
        #expect(!before.resends(after: ntlm, from: proxy, request))
        let prepared = try LoginProxy(session).prepare(request, via: proxy)
        #expect((prepared == nil) == (scheme == "https"))
        if let prepared { #expect(prepared.authorization != nil && prepared.authorization?.value == nil) }
      }
    }
  }

  @Test("a password of a proxy's URL that awaits a challenge isn't sent with Basic to a proxy that has used NTLM")
  func awaitedBasicAfterNTLM() throws {
    let session = LoginSession()
    let (proxy, request) = (try Proxy("http://u:p@a.example:1"), EngineRequest(uri: try URI("http://h.example/")))
    var known = KnownCredentials.ofProxies
    known.sendsProxyCredentialFirst = false
    func isResent(after challenge: String) -> Bool {
      let head = ResponseHead(status: 407, fields: ["Proxy-Authenticate": challenge], isContentDecoded: false)
      let reaction = LoginTask(session, known).reaction(to: .response(head), request, via: proxy)
      return if case .resend = reaction { true } else { false }
    }
    let answers = ["Basic realm=r", "NTLM", "Basic realm=r"].map(isResent)
    #expect(answers == [true, true, false])
  }

  /// A mock security context whose handshake never ends: each step sends the token [1].
  private struct EndlessContext: SecurityContext {
    mutating func step(_ token: [UInt8]?) throws(SecurityContextError) -> SecurityContextStep { .proceed([1]) }
  }

  @Test(
    "NTLM's first message may be used to open several tunnels, but a Negotiate message may be used to open only one",
    arguments: [false, true])
  func tunnelsWithOneMessage(isNegotiate: Bool) throws {
    let proxy = try Proxy("http://a.example:1")
    let address = try #require(ProxyAddress(proxy))
    let login = Login(
      party: .proxy(address), scheme: isNegotiate ? .negotiate : .ntlm,
      credential: PasswordCredential(user: isNegotiate ? "" : "u", password: isNegotiate ? "" : "p"))
    let sources = AuthenticationSources(context: { _, _ in EndlessContext() })
    var handshake = try #require(ConnectionHandshake(login))
    let value = try handshake.first(nil, sources)
    let authorization = handshake.tunnelAuthorization(value, sources)
    let claims = [authorization.claimForConnection(), authorization.claimForConnection()]
    #expect(claims == [true, !isNegotiate])
    let token = isNegotiate ? "Negotiate CQ==" : "NTLM \(Base64.encode(LoginHistory.challenge))"
    let head = ResponseHead(status: 407, fields: ["Proxy-Authenticate": token], isContentDecoded: false)
    for _ in 0..<(isNegotiate ? 1 : 2) {
      let reaction = authorization.makeReaction?()(head)
      guard case .send(let value) = reaction else {
        Issue.record("The token was answered with \(String(describing: reaction)).")
        continue
      }
      #expect(value.hasPrefix(isNegotiate ? "Negotiate " : "NTLM "))
    }
  }

  @Test("a request gets a new first Negotiate message, at most three times, if another request takes its proxy tunnel")
  func replacedMessage() throws {
    let session = LoginSession(EndlessContext())
    let authentication = LoginProxy(session)
    let (proxy, other) = (try Proxy("http://a.example:1"), try Proxy("http://b.example:1"))
    let request = EngineRequest(uri: try URI("https://h.example/"))
    let address = try #require(ProxyAddress(proxy))
    #expect(!authentication.needsAnotherMessage(request, via: proxy))
    let offer = try #require(AuthenticationOffer.ranked(Challenge.parse("Negotiate")).first)
    let credential = PasswordCredential(user: "", password: "")
    #expect(authentication.respond(to: offer, of: address, with: credential, for: request) == .resend)
    #expect(try authentication.prepare(request, via: proxy)?.authorization?.value == "Negotiate AQ==")
    #expect(!authentication.needsAnotherMessage(request, via: other))
    let answers = (0..<4).map { _ in authentication.needsAnotherMessage(request, via: proxy) }
    #expect(answers == [true, true, true, false])
  }
}
