// `ConnectionAuthentication`: the connection that Negotiate or NTLM authenticates: its group, its messages, and its end (RFC 4559).

import LupineAuthentication
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import LupineLogin

@Suite struct ConnectionAuthenticationTests {
  /// A mock security context. It sends the token [1] and expects the server's token [9], or throws `error` if it isn't nil.
  private struct Script: SecurityContext {
    let isMutual: Bool
    let error: SecurityContextError?
    private var count = 0

    init(isMutual: Bool = true, error: SecurityContextError? = nil) {
      self.isMutual = isMutual
      self.error = error
    }

    mutating func step(_ token: [UInt8]?) throws(SecurityContextError) -> SecurityContextStep {
      if let error { throw error }
      count += 1
      if count == 1 { return .proceed([1]) }
      guard token == [9] else { throw SecurityContextError("the token isn't the server's") }
      return .established(nil, isMutual: isMutual)
    }
  }

  private static let login = Login(
    party: .origin(Origin(scheme: .https, host: "h.example", port: 443)), scheme: .negotiate,
    credential: PasswordCredential(user: "", password: ""))

  private func begun(
    _ session: LoginSession, at party: AuthenticationParty = Self.login.party
  ) -> LoginConnection {
    let authentication = LoginConnection(session)
    authentication.begin(Login(party: party, scheme: Self.login.scheme, credential: Self.login.credential))
    return authentication
  }

  @Test(
    "the client accepts a successful response to a Negotiate token only if the response proves the server's identity")
  func mutual() throws {
    for (isMutual, line, verdict) in [
      (true, "Negotiate CQ==", ResponseVerdict.trusted), (false, "Negotiate CQ==", .untrusted),
      (true, "Negotiate AA==", .untrusted), (true, "Negotiate", .untrusted), (true, "", .untrusted),
    ] {
      let authentication = begun(LoginSession(Script(isMutual: isMutual)))
      let (additions, didStart) = try authentication.start()
      let prepared = try #require(additions)
      #expect(didStart)
      #expect(prepared.value == "Negotiate AQ==" && !prepared.isAnnouncement && !prepared.needsOpenConnection)
      #expect(authentication.receiveSuccess(challenges: Challenge.parse(line)) == verdict, "\(isMutual) \(line)")
      let next = try authentication.start()
      #expect(!next.didStart && (next.additions?.group == prepared.group) == (verdict == .trusted))
    }
  }

  @Test("after redirects to another origin and back, a request no longer uses its authenticated connection")
  func left() throws {
    let session = LoginSession(Script())
    let task = LoginTask(session)
    let uris = try ["https://h.example/", "https://other.example/", "https://h.example/back"].map { try URI($0) }
    #expect(task.begin(.negotiate, with: Self.login.credential, at: uris[0].origin))
    var demands: [Bool] = []
    for uri in uris {
      let request = try task.prepare(EngineRequest(uri: uri)).request
      demands.append(request.connectionDemand != nil)
      let proof = uri == uris[0] ? "Negotiate CQ==" : ""
      #expect(
        task.verdict(on: ResponseHead(status: 302, fields: ["WWW-Authenticate": proof], isContentDecoded: false))
          == .trusted)
    }
    #expect(demands == [true, false, false])
  }

  @Test(
    "a proxy's response may omit the Negotiate token that proves the proxy's identity, but a wrong token is refused")
  func proxyProof() throws {
    let address = try #require(ProxyAddress(Proxy("http://proxy.example:3128")))
    for (line, verdict) in [
      ("", ResponseVerdict.trusted), ("Negotiate CQ==", .trusted), ("Negotiate AA==", .untrusted),
    ] {
      let session = LoginSession(Script(isMutual: true))
      let authentication = begun(session, at: .proxy(address))
      _ = try authentication.prepare()
      #expect(authentication.receiveSuccess(challenges: Challenge.parse(line)) == verdict, "\(line)")
    }
  }

  @Test("Negotiate authentication uses the server's host name, and a channel binding to the server's certificate")
  func binding() throws {
    let identity = try ServerIdentity.throwaway()
    let seen = Mutex<[String]>([])
    let session = LoginSession(
      AuthenticationSources(context: { host, binding in
        seen.withLock { $0.append("\(host) \(binding?.applicationData.count ?? 0)") }
        return Script()
      }))
    _ = try begun(session).prepare()
    let lines = String(decoding: identity.authorityPEM, as: UTF8.self).split(separator: "\n")
    let der = try #require(Base64.decode(lines.dropFirst().dropLast().joined()))
    _ = try begun(session).prepare(certificate: der)
    #expect(seen.withLock { $0 } == ["h.example 0", "h.example 53"])
    // After a redirect to http, the certificate is that of an earlier connection.
    for url in ["https://h.example/", "http://h.example/"] {
      let (task, uri) = (LoginTask(session), try URI(url))
      #expect(task.begin(.negotiate, with: Self.login.credential, at: uri.origin))
      _ = try task.prepare(EngineRequest(uri: uri), certificate: der)
    }
    #expect(seen.withLock { $0.suffix(2) } == ["h.example 53", "h.example 0"])
  }

  @Test("if the Kerberos security context can't be created, the error states the cause and the remedy")
  func unable() throws {
    let authentication = begun(LoginSession(Script(error: SecurityContextError("Install the package p."))))
    #expect(throws: ConnectionHandshake.Failure.unable("Install the package p.")) {
      try authentication.prepare()
    }
    #expect(try authentication.prepare() == nil)
  }

  @Test("a valid Negotiate token in a 401 ends the authentication, and an invalid token makes the authentication fail")
  func refusedUser() throws {
    let session = LoginSession(Script())
    let authentication = begun(session)
    _ = try authentication.prepare()
    #expect(!authentication.resends(after: Challenge.parse("Negotiate CQ==")))
    #expect(try authentication.prepare() == nil)

    let defective = begun(session)
    _ = try defective.prepare()
    #expect(defective.resends(after: Challenge.parse("Negotiate AA==")))
    #expect(throws: ConnectionHandshake.Failure.unable("the token isn't the server's")) {
      try defective.prepare()
    }
  }

  @Test(
    "the client answers only one more challenge from a server that sends challenges after a successful authentication")
  func endless() throws {
    let session = LoginSession(Script())
    let authentication = begun(session)
    _ = try authentication.prepare()
    #expect(authentication.receiveSuccess(challenges: Challenge.parse("Negotiate CQ==")) == .trusted)
    #expect(authentication.resends(after: Challenge.parse("Negotiate")))
    _ = try authentication.prepare()
    #expect(!authentication.resends(after: Challenge.parse("Negotiate")))
    #expect(try authentication.prepare() == nil)
  }

  @Test(
    "a task that has restarted its handshake doesn't restart it again after it has reused an authenticated connection")
  func restartAfterReuse() throws {
    let session = LoginSession(Script())
    func establish(_ authentication: LoginConnection) throws -> LoginConnection {
      _ = try authentication.prepare()
      #expect(authentication.receiveSuccess(challenges: Challenge.parse("Negotiate CQ==")) == .trusted)
      return authentication
    }
    try establish(begun(session)).end()
    let task = try establish(begun(session, at: .origin(try URI("https://other.example/").origin)))
    #expect(task.resends(after: Challenge.parse("Negotiate")))
    task.leave(for: Self.login.party)
    task.reuse(at: Self.login.party)
    #expect(task.connectionIsMissing() && !task.isFor(Self.login.party))
    task.begin(Self.login)
    #expect(try !establish(task).resends(after: Challenge.parse("Negotiate")))
  }

  @Test(
    "if an NTLM or Negotiate message was created but not sent, the next request starts a new handshake and connection",
    arguments: [AuthenticationOffer.Scheme.ntlm, .negotiate])
  func unsent(scheme: AuthenticationOffer.Scheme) throws {
    let session = LoginSession(Script())
    let task = LoginTask(session)
    let (uri, message) = (try URI("https://h.example/"), scheme == .ntlm ? "NTLM TlRMTVNTUAAB" : "Negotiate AQ==")
    let credential = PasswordCredential(user: scheme == .ntlm ? "u" : "", password: "")
    #expect(task.begin(scheme, with: credential, at: uri.origin))
    var groups: Set<UInt64> = []
    for _ in 0..<2 {
      let request = try task.prepare(EngineRequest(uri: uri, body: RequestBody("content"))).request
      #expect(task.mayHaveBlocked == (scheme == .negotiate))
      #expect(request.fields.first("Authorization")?.hasPrefix(message) == true)
      #expect(request.body.isEmpty == (scheme == .ntlm))
      groups.insert(try #require(request.connectionDemand?.group))
    }
    #expect(groups.count == 2)
  }

  @Test("later tasks with the same credential reuse an authenticated connection, unless it is in a proxy's tunnel")
  func passedOn() throws {
    let session = LoginSession(Script())
    func group(isPassedOn: Bool) throws -> UInt64? {
      let authentication = begun(session)
      let prepared = try authentication.prepare(isPassedOn: isPassedOn)
      _ = authentication.receiveSuccess(challenges: Challenge.parse("Negotiate CQ=="))
      authentication.end()
      return prepared?.group
    }
    #expect(try group(isPassedOn: false) == 1)
    #expect(try group(isPassedOn: true) == 2)
    #expect(try group(isPassedOn: true) == 2)
    #expect(try group(isPassedOn: false) == 3)
    // If the pool no longer has the group's connection, the handshake restarts in a new group.
    let restarted = begun(session)
    #expect(try restarted.prepare()?.group == 2)
    #expect(restarted.connectionIsMissing())
    #expect(try restarted.prepare()?.group == 4)
    var connections = AuthenticatedConnections()
    for number in 0...UInt64(AuthenticatedConnections.idleMax) { connections.putBack(number, Self.login) }
    #expect(connections.logins(at: Self.login.party).count == AuthenticatedConnections.idleMax)
    let other = Login(
      party: Self.login.party, scheme: .negotiate, credential: PasswordCredential(user: "", password: "x"))
    let taken = [connections.take(other), connections.take(Self.login)]
    #expect(taken == [nil, UInt64(AuthenticatedConnections.idleMax)])
  }
}
