// ClientCertificateTests: challenges of servers that request a client certificate in the TLS handshake.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTLS
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct ClientCertificateTests {
  typealias Answer = @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)

  /// A session's delegate that answers client certificate challenges with the test's closures, and records the challenges.
  private final class SessionAnswers: NSObject, URLSessionTaskDelegate {
    let challenges = Mutex<[URLAuthenticationChallenge]>([])
    private let answer: Answer
    private let secondAnswer: Answer?

    init(_ answer: @escaping Answer, again secondAnswer: Answer? = nil) {
      self.answer = answer
      self.secondAnswer = secondAnswer
    }

    func urlSession(
      _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate else {
        return completionHandler(.performDefaultHandling, nil)
      }
      challenges.withLock { $0.append(challenge) }
      for answer in [answer, secondAnswer].compactMap(\.self) {
        let (disposition, credential) = answer(challenge)
        completionHandler(disposition, credential)
      }
    }

    var count: Int { challenges.withLock { $0.count } }
  }

  /// A task's delegate that answers the task's challenges with the test's closure, and counts the challenges.
  private final class TaskAnswers: NSObject, URLSessionTaskDelegate {
    let count = Atomic(0)
    private let answer: Answer

    init(_ answer: @escaping Answer) { self.answer = answer }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      count.add(1, ordering: .relaxed)
      let (disposition, credential) = answer(challenge)
      completionHandler(disposition, credential)
    }
  }

  /// Returns the URL of the server that asks for a client certificate. Throws if it isn't up.
  private static func url() throws -> URL {
    try TestServer.clientCertificate.require()
    return try #require(URL(string: TestServer.clientCertificate.origin + "/"))
  }

  private static func identity(_ name: String = "client") throws -> SecIdentity {
    let folder = URL(filePath: TestServer.authorityFile).deletingLastPathComponent()
    return try SecIdentity(
      certificateFile: folder.appending(path: "\(name).crt"), privateKeyFile: folder.appending(path: "\(name).key"))
  }

  private static func credential(
    _ name: String = "client", _ persistence: URLCredential.Persistence = .forSession
  ) throws -> URLCredential {
    URLCredential(identity: try identity(name), certificates: nil, persistence: persistence)
  }

  private func session(
    _ delegate: (any URLSessionDelegate)?, version: TLSVersion = .v1_3, authority: [UInt8]? = nil,
    via proxy: Proxy? = nil, cache: URLCache? = nil
  ) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 100
    configuration.engine.proxy = proxy.map { ProxySettings.fixed($0) } ?? ProxySettings.none
    configuration.engine.tls.trustRoots = [authority.map { .pem($0) } ?? .file(TestServer.authorityFile)]
    configuration.engine.tls.maximumVersion = version
    if let cache { configuration.urlCache = cache }
    return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  /// Requests "/" from the test server that requests a client certificate. Returns the response's status code and body.
  private func visit(_ session: URLSession, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (
    Int?, String
  ) {
    let (data, response) = try await session.data(for: URLRequest(url: Self.url()), delegate: delegate)
    return ((response as? HTTPURLResponse)?.statusCode, String(decoding: data, as: UTF8.self))
  }

  @Test(
    "the session's delegate receives the challenge for a client certificate, with the authorities that the server accepts",
    arguments: [TLSVersion.v1_2, .v1_3])
  func answered(version: TLSVersion) async throws {
    let credential = try Self.credential()
    let delegate = SessionAnswers { _ in (.useCredential, credential) }
    let session = session(delegate, version: version)
    for _ in 0..<3 {
      let (status, text) = try await visit(session)
      #expect(status == 200 && text.contains("CN=client"), "\(text)")
    }
    // The session remembers the credential.
    #expect(delegate.count == 1)
    let challenge = try #require(delegate.challenges.withLock { $0.first })
    let space = challenge.protectionSpace
    #expect(space.authenticationMethod == NSURLAuthenticationMethodClientCertificate)
    #expect(space.host == "localhost" && space.port == Int(TestServer.clientCertificate.rawValue))
    let names = try #require(space.distinguishedNames)
    #expect(names.count == 1 && String(decoding: names[0], as: UTF8.self).contains("Lupine test ca"))
    #expect(
      challenge.previousFailureCount == 0 && challenge.failureResponse == nil && challenge.proposedCredential == nil)
  }

  @Test("a client certificate that a task's delegate chose with persistence none is used only for that task")
  func perTask() async throws {
    let once = try Self.credential("client", .none)
    let own = TaskAnswers { _ in (.useCredential, once) }
    let others = SessionAnswers { _ in (.performDefaultHandling, nil) }
    let session = session(others)
    for _ in 0..<2 { #expect(try await visit(session, delegate: own).0 == 200) }
    #expect(own.count.load(ordering: .relaxed) == 2 && others.count == 0)
    // A connection and a TLS session with the certificate exist, but aren't used for tasks without the certificate.
    #expect(try await visit(session).0 == 400)
    #expect(others.count == 1)
    #expect(try await visit(session, delegate: own).0 == 200)
  }

  @Test(
    "if the delegate chooses no client certificate, the request is sent without a certificate",
    arguments: [URLSession.AuthChallengeDisposition.performDefaultHandling, .rejectProtectionSpace, .useCredential])
  func declined(disposition: URLSession.AuthChallengeDisposition) async throws {
    let password = URLCredential(user: "me", password: "pw", persistence: .forSession)
    let delegate = SessionAnswers { _ in (disposition, password) }
    let (status, text) = try await visit(session(delegate))
    #expect(status == 400 && text.contains("No required SSL certificate"))
    #expect(try await visit(session(nil)).0 == 400)
  }

  @Test(
    "a delegate's second answer to a client certificate challenge has no effect, and the session doesn't remember it")
  func twice() async throws {
    let credential = try Self.credential()
    let delegate = SessionAnswers({ _ in (.rejectProtectionSpace, nil) }, again: { _ in (.useCredential, credential) })
    let session = session(delegate)
    for _ in 0..<2 { #expect(try await visit(session).0 == 400) }
    #expect(delegate.count == 2)
  }

  @Test("a delegate that cancels a client certificate challenge cancels the request")
  func canceled() async throws {
    let delegate = SessionAnswers { _ in (.cancelAuthenticationChallenge, nil) }
    let error = await #expect(throws: URLError.self) { try await visit(session(delegate)) }
    #expect(error?.code == .cancelled)
  }

  @Test("a client certificate that the server doesn't trust is sent only if the delegate chooses it")
  func wrong() async throws {
    let credential = try Self.credential("client-unknown")
    let session = session(SessionAnswers { _ in (.useCredential, credential) })
    #expect(try await visit(session).0 == 400)
    let right = try Self.credential()
    #expect(try await visit(self.session(SessionAnswers { _ in (.useCredential, right) })).0 == 200)
  }

  @Test("a client certificate chosen by a delegate doesn't replace the one in a request's TLS settings")
  func ownIdentity() async throws {
    let credential = try Self.credential()
    let delegate = SessionAnswers { _ in (.useCredential, credential) }
    let session = session(delegate)
    #expect(try await visit(session).0 == 200)
    var request = URLRequest(url: try Self.url())
    request.lupine.tls = TLSConfiguration(
      trustRoots: [.file(TestServer.authorityFile)], identity: try Self.identity("client-unknown").tls)
    let (_, response) = try await session.data(for: request)
    #expect((response as? HTTPURLResponse)?.statusCode == 400)
    #expect(delegate.count == 1)
  }

  @Test("URLSession.reset forgets the client certificates that delegates have chosen")
  func reset() async throws {
    let credential = try Self.credential()
    let delegate = SessionAnswers { _ in (.useCredential, credential) }
    let session = session(delegate)
    #expect(try await visit(session).0 == 200)
    await withCheckedContinuation { continuation in session.reset { continuation.resume() } }
    #expect(try await visit(session).0 == 200)
    #expect(delegate.count == 2)
  }

  @Test(
    "a session doesn't remember a refused client certificate, and a request without a required certificate fails",
    arguments: [TLSVersion.v1_2, .v1_3])
  func refusals(version: TLSVersion) async throws {
    let (authority, foreign) = (try ThrowawayAuthority(), try ThrowawayAuthority())
    let identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    let server = try ServerIdentity(
      identity, authorityPEM: authority.certificatePEM, clientAuthorityPEM: authority.certificatePEM)
    let stranger = try foreign.issue(commonName: "A stranger", purpose: .client)
    let wrong = URLCredential(
      identity: try SecIdentity(
        certificatePEM: Data(stranger.certificatePEM), privateKeyPEM: Data(stranger.privateKeyPEM)),
      certificates: nil, persistence: .forSession)
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let url = try #require(URL(string: origin.url))
      let delegate = SessionAnswers { _ in (.useCredential, wrong) }
      let session = session(delegate, version: version, authority: authority.certificatePEM)
      for _ in 0..<2 {
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .clientCertificateRejected || error?.code == .networkConnectionLost)
      }
      // The session doesn't remember a refused certificate, so each request calls the delegate.
      #expect(delegate.count == 2)
      let none = self.session(nil, version: version, authority: authority.certificatePEM)
      let missing = await #expect(throws: URLError.self) { try await none.data(from: url) }
      #expect(missing != nil)
    }
  }

  @Test(
    "if a proxy requests a client certificate, the delegate isn't challenged, and the error doesn't blame the origin",
    arguments: [TLSVersion.v1_2, .v1_3])
  func proxy(version: TLSVersion) async throws {
    let authority = try ThrowawayAuthority()
    let server = try ServerIdentity(
      try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"]), authorityPEM: authority.certificatePEM,
      clientAuthorityPEM: authority.certificatePEM)
    let credential = try Self.credential()
    let delegate = SessionAnswers { _ in (.useCredential, credential) }
    try await withServer(tls: server) { _ in
      .text("never")
    } _: { proxy in
      let session = session(
        delegate, version: version, authority: authority.certificatePEM,
        via: try Proxy(.https, host: "127.0.0.1", port: proxy.port))
      let url = try #require(URL(string: "https://localhost:9/"))
      let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
      #expect(error?.code != .clientCertificateRequired && error?.code != .clientCertificateRejected)
      #expect(delegate.count == 0 && !session.client.identities.isUsed && proxy.requestCount == 0)
    }
  }

  @Test(
    "a TLS alert is reported as a refused or missing client certificate only if it came from the origin, not a proxy")
  func alerts() throws {
    let origin = try URI("https://h.example/").origin
    for alert: UInt8 in [42, 46, 48, 116] {
      let cause = EngineError.Cause.tls(TLSError(code: .alert(alert), message: "an alert"))
      let code = URLError(EngineError(.tlsFailed, .tls, origin, cause: cause), url: nil).code
      #expect(code == (alert == 116 ? .clientCertificateRequired : .clientCertificateRejected))
      #expect(URLError(EngineError(.tlsFailed, .proxy, origin, cause: cause), url: nil).code == .secureConnectionFailed)
    }
  }

  @Test(
    "tasks without a client certificate share a connection to a server for which a certificate is optional",
    arguments: [TLSVersion.v1_2, .v1_3])
  func optional(version: TLSVersion) async throws {
    let authority = try ThrowawayAuthority()
    let server = try ServerIdentity(
      try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"]), authorityPEM: authority.certificatePEM,
      clientAuthorityPEM: authority.certificatePEM, requiresClientCertificate: false)
    let own = try authority.issue(commonName: "A client", purpose: .client)
    let credential = URLCredential(
      identity: try SecIdentity(certificatePEM: Data(own.certificatePEM), privateKeyPEM: Data(own.privateKeyPEM)),
      certificates: nil, persistence: .forSession)
    let declining = SessionAnswers { _ in (.performDefaultHandling, nil) }
    let answering = SessionAnswers { _ in (.useCredential, credential) }
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let url = try #require(URL(string: origin.url))
      for (delegate, handshakes) in [(nil, 1), (declining, 1), (answering, 2)] as [(SessionAnswers?, Int)] {
        let before = origin.connectionCount
        let session = session(delegate, version: version, authority: authority.certificatePEM)
        for _ in 0..<3 { #expect(try await session.data(from: url).0 == Data("yes".utf8)) }
        #expect(origin.connectionCount == before + handshakes)
      }
      #expect(declining.count == 3 && answering.count == 1)
    }
  }

  @Test(
    "a server's request for a client certificate causes a challenge, and doesn't make the cache serve a stale response")
  func stale() async throws {
    let authority = try ThrowawayAuthority()
    let certificate = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    let delegate = SessionAnswers { _ in (.performDefaultHandling, nil) }
    let session = session(delegate, authority: authority.certificatePEM, cache: URLCache(inMemory: 1_000_000))
    // Two servers with one port. Only the second one requests a certificate.
    var port: UInt16 = 0
    for number in 0...1 {
      let server = try ServerIdentity(
        certificate, authorityPEM: authority.certificatePEM,
        clientAuthorityPEM: number == 0 ? nil : authority.certificatePEM, requiresClientCertificate: false)
      let origin = try OriginServer(tls: server, port: port) { peer in
        try peer.serve { _ in
          let fields: Fields = ["Cache-Control": "max-age=0, stale-if-error=1000"]
          return Reply(fields: fields, .bytes(Array("\(number)".utf8)))
        }
      }
      defer { origin.stop() }
      port = origin.port
      let url = try #require(URL(string: origin.url))
      #expect(try await session.data(from: url).0 == Data("\(number)".utf8))
      #expect(delegate.count == number)
    }
  }

  @Test(
    "after a client certificate challenge, the request's body is sent, even from a stream that can be read only once")
  func bodies() async throws {
    let authority = try ThrowawayAuthority()
    let identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    let server = try ServerIdentity(
      identity, authorityPEM: authority.certificatePEM, clientAuthorityPEM: authority.certificatePEM)
    let own = try authority.issue(commonName: "A client", purpose: .client)
    let credential = URLCredential(
      identity: try SecIdentity(certificatePEM: Data(own.certificatePEM), privateKeyPEM: Data(own.privateKeyPEM)),
      certificates: [], persistence: .none)
    try await withServer(tls: server) { request in
      .text("\(request.body.count)")
    } _: { origin in
      let session = session(SessionAnswers { _ in (.useCredential, credential) }, authority: authority.certificatePEM)
      let body = Data(repeating: 7, count: 100_000)
      for _ in 0..<2 {
        var request = URLRequest(url: try #require(URL(string: origin.url)))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: body)
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "100000")
      }
    }
  }

  @Test("a request that is cancelled while its delegate chooses a client certificate ends immediately")
  func canceledWhileAsked() async throws {
    try TestServer.clientCertificate.require()
    let (asked, ended) = (Gate(), Gate())
    let delegate = SessionAnswers { _ in
      asked.open()
      ended.waitBlocking()
      return (.performDefaultHandling, nil)
    }
    let session = session(delegate)
    let task = Task {
      // A request that fails before it asks its delegate opens the gate too, so that the test doesn't wait until its time limit.
      defer { asked.open() }
      return try await visit(session)
    }
    await asked.wait()
    #expect(delegate.count == 1)
    task.cancel()
    ended.open()
    await #expect(throws: (any Error).self) { try await task.value }
  }

  @Test(
    "client identities are read from PKCS #12 archives and from key files, and their descriptions contain no secret")
  func identities() throws {
    let folder = URL(filePath: TestServer.authorityFile).deletingLastPathComponent()
    let archive = try Data(contentsOf: folder.appending(path: "client.p12"))
    let identity = try SecIdentity(pkcs12: archive, passphrase: "password")
    #expect(try identity == Self.identity())
    #expect(throws: TLSError.self) { try SecIdentity(pkcs12: archive, passphrase: "wrong") }
    #expect(throws: TLSError.self) { try SecIdentity(certificateFile: folder.appending(path: "client.crt")) }
    let credential = URLCredential(identity: identity, certificates: nil, persistence: .none)
    #expect(credential.user == nil && credential.password == nil && credential.identity == identity)
    #expect(credential != (try Self.credential()))
    var dumped = ""
    dump(credential, to: &dumped)
    #expect(!dumped.contains("PRIVATE KEY") && credential.description.contains("CN=client"))
  }
}
