// NTLM and Negotiate, which authenticate a connection: its group, its messages, and its end (MS-NLMP, RFC 4559).

import Foundation
import LupineAuthentication
import LupineEngine
import LupineOrigin
import LupineWire
import Synchronization
import Testing

@testable import Lupine
@testable import LupineLogin
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct ConnectionAuthenticationTests {
  private func withNTLM<Value>(
    _ server: NTLMServer, tls: ServerIdentity? = nil, _ body: (OriginServer, Session) async throws -> Value
  ) async throws -> Value {
    try await withOrigin(tls: tls) { peer in
      try peer.serve { server.reply(to: $0, on: peer.connectionIndex) }
    } _: { origin in
      try await withSession {
        if let tls { $0.engine.tls.trustRoots = [.pem(tls.authorityPEM)] }
      } _: { session in
        try await body(origin, session)
      }
    }
  }

  // MARK: NTLM

  @Test(
    "NTLM's first message is sent without the request's body, and requests without the credential use other connections",
    arguments: [false, true])
  func ntlm(isEncrypted: Bool) async throws {
    let server = NTLMServer()
    try await withNTLM(server, tls: isEncrypted ? ServerIdentity.throwaway() : nil) { origin, session in
      let first = await session.upload(Data("content".utf8), to: origin.url).authenticate(username: "u", password: "p")
        .serializingString().response
      #expect(first.value == "in content" && first.response?.statusCode == 200)
      #expect(server.messages == ["0:0", "1:1", "1:3"])
      let other = await session.request(origin.url).serializingString().response
      #expect(other.value == "refused" && server.messages.last == "0:0")
      let wrong = await session.request(origin.url).authenticate(username: "w", password: "p").serializingString()
        .response
      #expect(wrong.value == "refused" && wrong.response?.statusCode == 401)
      #expect(server.messages.suffix(3) == ["0:0", "2:1", "2:3"])
      // The request reuses the authenticated connection without further NTLM messages.
      let again = await session.request(origin.url).authenticate(username: "u", password: "p").serializingString()
        .response
      #expect(again.value == "in " && server.messages.suffix(2) == ["0:0", "1:0"])
    }
  }

  @Test("eight concurrent NTLM requests succeed, with bodies from memory, files and streams")
  func concurrent() async throws {
    let server = NTLMServer()
    try await withNTLM(server) { origin, session in
      let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try Data("content".utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      for _ in 0..<5 {
        try await withThrowingTaskGroup(of: String?.self) { group in
          for index in 0..<8 {
            group.addTask {
              let upload =
                switch index % 3 {
                case 0: session.upload(Data("content".utf8), to: origin.url)
                case 1: session.upload(file, to: origin.url)
                default: session.upload(InputStream(data: Data("content".utf8)), to: origin.url)
                }
              let isStream = index % 3 == 2
              let response = await upload.authenticate(username: "u", password: "p").serializingString().response
              return isStream && response.error != nil ? "in content" : response.value
            }
          }
          for try await text in group { #expect(text == "in content") }
        }
      }
    }
  }

  @Test(
    "if the server closes the connection before NTLM's last message, the request fails, and that message isn't sent")
  func closed() async throws {
    let server = NTLMServer()
    try await withOrigin { peer in
      try peer.serve { request in
        let reply = server.reply(to: request, on: peer.connectionIndex)
        return peer.connectionIndex > 0 ? reply.with("Connection", "close") : reply
      }
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url).authenticate(username: "u", password: "p").outcome()
        let error = try #require(response.error?.underlyingError as? URLError)
        #expect(error.code == .networkConnectionLost && error.localizedDescription.contains("during NTLM"))
        #expect(server.messages == ["0:0", "1:1", "2:1"])
      }
    }
  }

  @Test(
    "if the 401 with the NTLM challenge closes the connection or has a long body, NTLM restarts once on a new connection",
    arguments: [false, true])
  func closedOnce(isLong: Bool) async throws {
    let server = NTLMServer()
    try await withOrigin { peer in
      try peer.serve { request in
        let reply = server.reply(to: request, on: peer.connectionIndex)
        guard peer.connectionIndex == 1 else { return reply }
        // The server is still sending the 4 GiB body when the engine discards the response.
        return isLong
          ? Reply(status: reply.status, fields: reply.fields, .pattern(byteCount: 1 << 32))
          : reply.with("Connection", "close")
      }
    } _: { origin in
      try await withSession { session in
        let response = await session.upload(Data("content".utf8), to: origin.url)
          .authenticate(username: "u", password: "p").serializingString().response
        #expect(response.value == "in content" && response.response?.statusCode == 200)
        #expect(server.messages == ["0:0", "1:1", "2:1", "2:3"])
      }
    }
  }

  @Test("after the server has closed an NTLM connection, another NTLM handshake authenticates a new connection")
  func replaced() async throws {
    let server = NTLMServer()
    try await withOrigin { peer in
      try peer.serve { request in
        let reply = server.reply(to: request, on: peer.connectionIndex)
        return reply.status == 200 ? reply.with("Connection", "close") : reply
      }
    } _: { origin in
      try await withSession { session in
        for _ in 0..<2 {
          let response = await session.request(origin.url).authenticate(username: "u", password: "p")
            .serializingString().response
          #expect(response.value == "in ")
        }
        #expect(server.messages == ["0:0", "1:1", "1:3", "0:0", "2:1", "2:3"])
      }
    }
  }

  @Test("requests with the storage's default credential reuse the NTLM connection without waiting for a challenge")
  func preemptive() async throws {
    let server = NTLMServer()
    try await withOrigin { peer in
      try peer.serve { server.reply(to: $0, on: peer.connectionIndex) }
    } _: { origin in
      let storage = URLCredentialStorage()
      storage.setDefaultCredential(
        URLCredential(user: "u", password: "p", persistence: .forSession),
        for: URLProtectionSpace(
          host: "127.0.0.1", port: Int(origin.port), protocol: "http", realm: "127.0.0.1",
          authenticationMethod: NSURLAuthenticationMethodNTLM))
      try await withSession {
        $0.urlCredentialStorage = storage
      } _: { session in
        for _ in 0..<3 { #expect(await session.request(origin.url).serializingString().response.value == "in ") }
        #expect(server.messages == ["0:0", "1:1", "1:3", "1:0", "1:0"])
      }
    }
  }

  @Test(
    "after a redirect to another origin, the client doesn't send an NTLM message to that origin")
  func redirected() async throws {
    let server = NTLMServer()
    try await withServer { request in
      .text("\(request.fields.first("Authorization") ?? "nothing")")
    } _: { other in
      try await withOrigin { peer in
        try peer.serve { request in
          let reply = server.reply(to: request, on: peer.connectionIndex)
          return reply.status == 200 ? Reply(status: 302, fields: ["Location": other.url]) : reply
        }
      } _: { origin in
        try await withSession { session in
          let response = await session.request(origin.url).authenticate(username: "u", password: "p")
            .serializingString().response
          #expect(response.value == "nothing")
        }
      }
    }
  }

  // MARK: Negotiate

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

  private static let key = AuthenticatedConnections.Key(
    party: .origin(Origin(scheme: .https, host: "h.example", port: 443)), scheme: .negotiate,
    credential: PasswordCredential(user: "", password: ""))

  private func begun(
    _ session: SessionAuthentication, at party: AuthenticationParty = Self.key.party
  ) -> ConnectionAuthentication {
    let authentication = ConnectionAuthentication(session)
    authentication.begin(.init(party: party, scheme: Self.key.scheme, credential: Self.key.credential))
    return authentication
  }

  @Test(
    "the client accepts a successful response to a Negotiate token only if the response proves the server's identity")
  func mutual() throws {
    for (isMutual, line, verdict) in [
      (true, "Negotiate CQ==", ConnectionAuthentication.Verdict.accepted), (false, "Negotiate CQ==", .untrusted),
      (true, "Negotiate AA==", .untrusted), (true, "Negotiate", .untrusted), (true, "", .untrusted),
    ] {
      let session = SessionAuthentication(
        AuthenticationSources(context: { _, _ in Script(isMutual: isMutual) }))
      let authentication = begun(session)
      #expect(authentication.mayBlock)
      let prepared = try #require(try authentication.prepare(isPassedOn: true, certificate: { nil }))
      #expect(prepared.value == "Negotiate AQ==" && !prepared.isAnnouncement && !prepared.needsOpenConnection)
      #expect(authentication.receiveSuccess(challenges: Challenge.parse(line)) == verdict, "\(isMutual) \(line)")
      #expect(!authentication.mayBlock)
      let next = try authentication.prepare(isPassedOn: true, certificate: { nil })
      #expect((next?.group == prepared.group) == (verdict == .accepted))
    }
  }

  @Test("after redirects to another origin and back, a request no longer uses its authenticated connection")
  func left() throws {
    let session = SessionAuthentication(AuthenticationSources(context: { _, _ in Script() }))
    let task = TransferAuthentication(session, storage: nil)
    let uris = try ["https://h.example/", "https://other.example/", "https://h.example/back"].map { try URI($0) }
    #expect(task.begin(.negotiate, with: Self.key.credential, at: uris[0].origin))
    var demands: [Bool] = []
    for uri in uris {
      var request = EngineRequest(uri: uri)
      try task.prepare(&request, via: nil, certificate: { nil })
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
      ("", ConnectionAuthentication.Verdict.accepted), ("Negotiate CQ==", .accepted), ("Negotiate AA==", .untrusted),
    ] {
      let session = SessionAuthentication(AuthenticationSources(context: { _, _ in Script(isMutual: true) }))
      let authentication = begun(session, at: .proxy(address))
      _ = try authentication.prepare(isPassedOn: true, certificate: { nil })
      #expect(authentication.receiveSuccess(challenges: Challenge.parse(line)) == verdict, "\(line)")
    }
  }

  @Test("Negotiate authentication uses the server's host name, and a channel binding to the server's certificate")
  func binding() throws {
    let identity = try ServerIdentity.throwaway()
    let seen = Mutex<[String]>([])
    let session = SessionAuthentication(
      AuthenticationSources(context: { host, binding in
        seen.withLock { $0.append("\(host) \(binding?.applicationData.count ?? 0)") }
        return Script()
      }))
    _ = try begun(session).prepare(isPassedOn: true) { nil }
    let lines = String(decoding: identity.authorityPEM, as: UTF8.self).split(separator: "\n")
    let der = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
    _ = try begun(session).prepare(isPassedOn: true) { Array(der) }
    #expect(seen.withLock { $0 } == ["h.example 0", "h.example 53"])
  }

  @Test("if the Kerberos security context can't be created, the error states the cause and the remedy")
  func unable() throws {
    let session = SessionAuthentication(
      AuthenticationSources(context: { _, _ in Script(error: SecurityContextError("Install the package p.")) }))
    let authentication = begun(session)
    #expect(throws: ConnectionHandshake.Failure.unable("Install the package p.")) {
      try authentication.prepare(isPassedOn: true) { nil }
    }
    #expect(try authentication.prepare(isPassedOn: true, certificate: { nil }) == nil)
    let error = URLError(.unable("Install the package p."), at: URL(string: "https://h.example"))
    #expect(error.code == .userAuthenticationRequired && error.localizedDescription.contains("the package p."))
  }

  @Test("a valid Negotiate token in a 401 ends the authentication, and an invalid token makes the authentication fail")
  func refusedUser() throws {
    let session = SessionAuthentication(AuthenticationSources(context: { _, _ in Script() }))
    let authentication = begun(session)
    _ = try authentication.prepare(isPassedOn: true) { nil }
    #expect(authentication.receive(challenges: Challenge.parse("Negotiate CQ==")) == .refused)
    #expect(try authentication.prepare(isPassedOn: true, certificate: { nil }) == nil)

    let defective = begun(session)
    _ = try defective.prepare(isPassedOn: true) { nil }
    #expect(defective.receive(challenges: Challenge.parse("Negotiate AA==")) == .resend)
    #expect(throws: ConnectionHandshake.Failure.unable("the token isn't the server's")) {
      try defective.prepare(isPassedOn: true) { nil }
    }
  }

  @Test(
    "the client answers only one more challenge from a server that sends challenges after a successful authentication")
  func endless() throws {
    let session = SessionAuthentication(AuthenticationSources(context: { _, _ in Script() }))
    let authentication = begun(session)
    _ = try authentication.prepare(isPassedOn: true) { nil }
    #expect(authentication.receiveSuccess(challenges: Challenge.parse("Negotiate CQ==")) == .accepted)
    #expect(authentication.receive(challenges: Challenge.parse("Negotiate")) == .resend)
    _ = try authentication.prepare(isPassedOn: true) { nil }
    #expect(authentication.receive(challenges: Challenge.parse("Negotiate")) == .refused)
    #expect(try authentication.prepare(isPassedOn: true, certificate: { nil }) == nil)
  }

  @Test(
    "a task that has restarted its handshake doesn't restart it again after it has reused an authenticated connection")
  func restartAfterReuse() throws {
    let session = SessionAuthentication(AuthenticationSources(context: { _, _ in Script() }))
    func establish(_ authentication: ConnectionAuthentication) throws -> ConnectionAuthentication {
      _ = try authentication.prepare(isPassedOn: true) { nil }
      #expect(authentication.receiveSuccess(challenges: Challenge.parse("Negotiate CQ==")) == .accepted)
      return authentication
    }
    try establish(begun(session)).end()
    let task = try establish(begun(session, at: .origin(try URI("https://other.example/").origin)))
    #expect(task.receive(challenges: Challenge.parse("Negotiate")) == .resend)
    task.leave(for: Self.key.party)
    task.reuse(at: Self.key.party) { _ in true }
    #expect(task.connectionIsMissing() && !task.isFor(Self.key.party))
    task.begin(Self.key)
    #expect(try establish(task).receive(challenges: Challenge.parse("Negotiate")) == .refused)
  }

  @Test(
    "if an NTLM or Negotiate message was created but not sent, the next request starts a new handshake and connection",
    arguments: [AuthenticationOffer.Scheme.ntlm, .negotiate])
  func unsent(scheme: AuthenticationOffer.Scheme) throws {
    let session = SessionAuthentication(AuthenticationSources(context: { _, _ in Script() }))
    let task = TransferAuthentication(session, storage: nil)
    let (uri, message) = (try URI("https://h.example/"), scheme == .ntlm ? "NTLM TlRMTVNTUAAB" : "Negotiate AQ==")
    let credential = PasswordCredential(user: scheme == .ntlm ? "u" : "", password: "")
    #expect(task.begin(scheme, with: credential, at: uri.origin))
    var groups: Set<UInt64> = []
    for _ in 0..<2 {
      #expect(task.mayBlock(via: nil) == (scheme == .negotiate))
      var request = EngineRequest(uri: uri, body: RequestBody("content"))
      try task.prepare(&request, via: nil, certificate: { nil })
      #expect(request.fields.first("Authorization")?.hasPrefix(message) == true)
      #expect(request.body.isEmpty == (scheme == .ntlm))
      groups.insert(try #require(request.connectionDemand?.group))
    }
    #expect(groups.count == 2)
  }

  @Test("later tasks with the same credential reuse an authenticated connection, unless it is in a proxy's tunnel")
  func passedOn() throws {
    let session = SessionAuthentication(AuthenticationSources(context: { _, _ in Script() }))
    func group(isPassedOn: Bool) throws -> UInt64? {
      let authentication = begun(session)
      let prepared = try authentication.prepare(isPassedOn: isPassedOn) { nil }
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
    #expect(try restarted.prepare(isPassedOn: true, certificate: { nil })?.group == 2)
    #expect(restarted.connectionIsMissing())
    #expect(try restarted.prepare(isPassedOn: true, certificate: { nil })?.group == 4)
    var connections = AuthenticatedConnections()
    for number in 0...UInt64(AuthenticatedConnections.idleMax) { connections.putBack(number, Self.key) }
    #expect(connections.credentials(at: Self.key.party).count == AuthenticatedConnections.idleMax)
    let other = AuthenticatedConnections.Key(
      party: Self.key.party, scheme: .negotiate, credential: PasswordCredential(user: "", password: "x"))
    #expect(connections.take(other) == nil && connections.take(Self.key) == UInt64(AuthenticatedConnections.idleMax))
  }
}
