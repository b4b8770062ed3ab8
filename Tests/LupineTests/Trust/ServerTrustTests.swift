// ServerTrustTests: sessions with a server trust manager, and TLS servers on loopback.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTLS
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct ServerTrustTests {
  private let authority: ThrowawayAuthority
  private let identity: ThrowawayAuthority.Identity
  private let server: ServerIdentity

  init() throws {
    authority = try ThrowawayAuthority()
    identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1", "::1"])
    server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM)
  }

  /// An event monitor that records the events about the end of requests, oldest first.
  private final class Ends: EventMonitor {
    enum Event: Equatable { case failedEarly, completed, finished }

    let queue = DispatchQueue(label: "ends")
    let events = Mutex<[Event]>([])
    let early = Mutex<[AFError]>([])

    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
      early.withLock { $0.append(error) }
      events.withLock { $0.append(.failedEarly) }
    }

    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
      events.withLock { $0.append(.completed) }
    }

    func requestDidFinish(_ request: Request) { events.withLock { $0.append(.finished) } }
  }

  private func session(
    _ manager: ServerTrustManager?, trusting roots: [UInt8]? = nil, monitor: Ends? = nil,
    interceptor: (any RequestInterceptor)? = nil, _ configure: (inout TLSConfiguration) -> Void = { _ in }
  ) -> Session {
    let configuration = URLSessionConfiguration.af.ephemeral
    configuration.timeoutIntervalForRequest = 100
    if let roots { configuration.engine.tls.trustRoots = [.pem(roots)] }
    configure(&configuration.engine.tls)
    return Session(
      configuration: configuration, interceptor: interceptor, serverTrustManager: manager,
      eventMonitors: monitor.map { [$0] } ?? [])
  }

  /// Sends a request to the URL, and returns the response. Retains the session until the request has ended.
  private func answer(_ session: Session, _ url: String) async -> AFDataResponse<Data?> {
    let response = await session.request(url).outcome()
    withExtendedLifetime(session) {}
    return response
  }

  private func manager(_ evaluator: some ServerTrustEvaluating) -> ServerTrustManager {
    ServerTrustManager(evaluators: ["localhost": evaluator])
  }

  private func pin(_ pem: [UInt8]) throws -> SecCertificate { try .pem(pem) }

  @Test("a request succeeds if the host's trust evaluator accepts the server")
  func accepted() async throws {
    let own = [try pin(identity.certificatePEM)]
    let managers = [
      manager(DefaultTrustEvaluator()),
      manager(PinnedCertificatesTrustEvaluator(certificates: own)),
      manager(PublicKeysTrustEvaluator(keys: own.af.publicKeys)),
      manager(CompositeTrustEvaluator(evaluators: [DefaultTrustEvaluator(), .publicKeys(keys: own.af.publicKeys)])),
      ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:]),
    ]
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      for manager in managers {
        let session = session(manager, trusting: authority.certificatePEM)
        #expect(session.serverTrustManager === manager)
        #expect(await answer(session, origin.url).value == Data("yes".utf8))
      }
      #expect(session(nil).serverTrustManager == nil)
    }
  }

  @Test("a trust evaluator that performs no default validation can accept a server that OpenSSL refuses")
  func overruled() async throws {
    let own = [try pin(identity.certificatePEM)]
    let managers = [
      manager(DisabledTrustEvaluator()),
      manager(PinnedCertificatesTrustEvaluator(certificates: own, acceptSelfSignedCertificates: true)),
      manager(PublicKeysTrustEvaluator(keys: own.af.publicKeys, performDefaultValidation: false, validateHost: false)),
    ]
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      for manager in managers {
        #expect(await answer(session(manager), origin.url).value == Data("yes".utf8))
      }
    }
  }

  @Test("if a trust evaluator refuses the server, nothing is sent, and monitors and the response receive its error")
  func refused() async throws {
    let other = [try pin(ThrowawayAuthority().certificatePEM)]
    let cases: [(ServerTrustManager, (AFError.ServerTrustFailureReason) -> Bool)] = [
      (manager(DefaultTrustEvaluator()), { verdict($0) == .unknownAuthority }),
      (
        manager(
          PinnedCertificatesTrustEvaluator(certificates: other, performDefaultValidation: false, validateHost: false)),
        { if case .certificatePinningFailed("localhost", _, other, _) = $0 { true } else { false } }
      ),
      (
        manager(
          PublicKeysTrustEvaluator(keys: other.af.publicKeys, performDefaultValidation: false, validateHost: false)),
        { if case .publicKeyPinningFailed("localhost", _, other.af.publicKeys, _) = $0 { true } else { false } }
      ),
      (
        manager(CompositeTrustEvaluator(evaluators: [DisabledTrustEvaluator(), DefaultTrustEvaluator()])),
        { verdict($0) == .unknownAuthority }
      ),
      (
        ServerTrustManager(evaluators: ["other.example": DisabledTrustEvaluator()]),
        { if case .noRequiredEvaluator("localhost") = $0 { true } else { false } }
      ),
      (
        manager(Refusing()),
        { if case .customEvaluationFailed(let error) = $0 { error as? Mishap == Mishap("no") } else { false } }
      ),
    ]
    try await withServer(tls: server) { _ in
      .text("never")
    } _: { origin in
      for (manager, isExpected) in cases {
        let ends = Ends()
        let response = await answer(session(manager, monitor: ends), origin.url)
        let reason = try trustFailure(response.error)
        #expect(isExpected(reason), "\(reason)")
        #expect(
          response.error?.localizedDescription == AFError.serverTrustEvaluationFailed(reason: reason).errorDescription)
        await withCheckedContinuation { continuation in ends.queue.async { continuation.resume() } }
        #expect(ends.events.withLock { $0 } == [.failedEarly, .completed, .finished])
        #expect(ends.early.withLock { $0.allSatisfy(\.isServerTrustEvaluationError) })
      }
      #expect(origin.requestCount == 0)
    }
  }

  private struct Refusing: ServerTrustEvaluating {
    func evaluate(_ trust: SecTrust, forHost host: String) throws { throw Mishap("no") }
  }

  @Test("if allHostsMustBeEvaluated is false, hosts without a trust evaluator get the default TLS verification")
  func systemVerdict() async throws {
    let manager = ServerTrustManager(
      allHostsMustBeEvaluated: false, evaluators: ["other.example": DisabledTrustEvaluator()])
    try await withServer(tls: server) { _ in
      .text("never")
    } _: { origin in
      let ends = Ends()
      let response = await answer(session(manager, monitor: ends), origin.url)
      try expectTransferError(response.error, .serverCertificateHasUnknownRoot, .tlsFailed, origin.url)
      #expect(ends.early.withLock { $0.isEmpty })
    }
  }

  /// A manager that chooses no evaluator for any host.
  private final class ChoosingNone: ServerTrustManager, @unchecked Sendable {
    override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? { nil }
  }

  @Test("a session shares no cached responses for hosts whose servers its trust manager may accept or refuse itself")
  func sharedCache() {
    func mayDecide(_ manager: ServerTrustManager) -> [Bool] {
      ["a.example", "A.Example.", "b.example"].map { manager.evaluation.mayDecide($0) }
    }
    let evaluators = ["a.example": DisabledTrustEvaluator()]
    #expect(
      mayDecide(ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: evaluators)) == [true, true, false])
    #expect(mayDecide(ServerTrustManager(evaluators: evaluators)) == [true, true, true])
    #expect(mayDecide(ChoosingNone(allHostsMustBeEvaluated: false, evaluators: [:])) == [true, true, true])
  }

  @Test("an http request needs no trust evaluator")
  func plain() async throws {
    try await withServer { _ in
      .text("yes")
    } _: { origin in
      let session = session(ServerTrustManager(evaluators: [:]))
      #expect(await answer(session, origin.url).value == Data("yes".utf8))
    }
  }

  @Test("after a redirect to another host, the session calls that host's trust evaluator")
  func redirect() async throws {
    try await withServer(tls: server) { _ in
      .text("never")
    } _: { target in
      let elsewhere = target.url.replacing("localhost", with: "127.0.0.1")
      try await withServer(tls: server) { _ in
        Reply(status: 302, fields: ["Location": elsewhere])
      } _: { origin in
        let response = await answer(session(manager(DisabledTrustEvaluator())), origin.url)
        guard case .noRequiredEvaluator("127.0.0.1") = try trustFailure(response.error) else {
          throw CancellationError()
        }
        #expect(target.requestCount == 0)
      }
    }
  }

  @Test(
    "a session doesn't use connections or TLS sessions that only another session's trust evaluator has accepted",
    arguments: [TLSVersion.v1_2, .v1_3])
  func otherSessions(version: TLSVersion) async throws {
    let server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM, versions: version...version)
    let other = [try pin(ThrowawayAuthority().certificatePEM)]
    let managers = [
      manager(PinnedCertificatesTrustEvaluator(certificates: other)), manager(DefaultTrustEvaluator()), nil,
    ]
    try await withServer(tls: server) { request in
      request.path == "/close" ? Reply(fields: ["Connection": "close"], .bytes([1])) : .text("yes")
    } _: { origin in
      let accepting = session(manager(DisabledTrustEvaluator()))
      // The first connection closes, but its TLS session could be resumed. The second connection stays open.
      #expect(await answer(accepting, origin.url + "/close").error == nil)
      #expect(await answer(accepting, origin.url).error == nil)
      let count = origin.requestCount
      for manager in managers {
        let response = await answer(session(manager), origin.url)
        #expect(response.error?.isServerTrustEvaluationError == (manager != nil), "\(response)")
      }
      #expect(origin.requestCount == count)
      #expect(await answer(accepting, origin.url).error == nil)
    }
  }

  /// A trust evaluator that throws an error in its first evaluation, and accepts the server in all further evaluations.
  private final class Hesitating: ServerTrustEvaluating {
    let count = Atomic(0)

    func evaluate(_ trust: SecTrust, forHost host: String) throws {
      if count.add(1, ordering: .relaxed).newValue == 1 { throw Mishap("not yet") }
    }
  }

  @Test("a retrier receives the error of the trust evaluator, and a retry calls the evaluator again")
  func retry() async throws {
    let reasons = Mutex<[String]>([])
    let retrier = Retrier { request, _, error, completion in
      reasons.withLock { $0.append(error.asAFError?.isServerTrustEvaluationError == true ? "trust" : "\(error)") }
      completion(request.retryCount == 0 ? .retry : .doNotRetry)
    }
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let evaluator = Hesitating()
      let session = session(manager(evaluator), interceptor: Interceptor(adapters: [], retriers: [retrier]))
      let response = await session.request(origin.url).serializingString().response
      #expect(response.value == "yes")
      #expect(reasons.withLock { $0 } == ["trust"])
      #expect(evaluator.count.load(ordering: .relaxed) == 2)
    }
  }

  @Test("if a trust evaluator refuses a server, all requests that wait for the connection fail with the reason")
  func several() async throws {
    try await withServer(tls: server) { _ in
      .text("never")
    } _: { origin in
      let session = session(manager(DefaultTrustEvaluator()))
      let errors = await withTaskGroup(of: AFError?.self) { group in
        for _ in 0..<20 { group.addTask { await session.request(origin.url).serializingData().response.error } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(errors.count { $0?.isServerTrustEvaluationError == true } == 20)
    }
  }

  // MARK: Custom managers and the session's configuration

  /// A ServerTrustManager that chooses the evaluator by the end of the host name, and throws an error for other hosts.
  private final class Choosing: ServerTrustManager, @unchecked Sendable {
    override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
      guard host.hasSuffix("host") else { throw Mishap(host) }
      return DisabledTrustEvaluator()
    }
  }

  @Test("a subclass of ServerTrustManager can choose the trust evaluator for a host")
  func subclass() async throws {
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let session = session(Choosing(evaluators: [:]))
      #expect(await answer(session, origin.url).value == Data("yes".utf8))
      let numeric = origin.url.replacing("localhost", with: "127.0.0.1")
      guard
        case .customEvaluationFailed(let error) = try trustFailure(await answer(session, numeric).error)
      else { throw CancellationError() }
      #expect(error as? Mishap == Mishap("127.0.0.1"))
    }
  }

  @Test(
    "the configuration's verifier decides for hosts without a trust evaluator, and can refuse what an evaluator accepts"
  )
  func verifier() async throws {
    let disabled = ServerTrustManager(
      allHostsMustBeEvaluated: false, evaluators: ["localhost": DisabledTrustEvaluator()])
    let strict = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: ["localhost": DefaultTrustEvaluator()])
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let numeric = origin.url.replacing("localhost", with: "127.0.0.1")
      let refusing = session(disabled) {
        $0.verifier = CertificateVerifier { _ in .refuse(reason: "not pinned. Look at the pins.") }
      }
      try expectTransferError(
        await answer(refusing, origin.url).error, .serverCertificateUntrusted, .tlsFailed, "not pinned.")
      let accepting = CertificateVerifier { _ in .accept }
      let response = await answer(session(strict) { $0.verifier = accepting }, origin.url)
      #expect(try verdict(trustFailure(response.error)) == .unknownAuthority)
      #expect(await answer(session(strict) { $0.verifier = accepting }, numeric).error == nil)
    }
  }

  @Test(
    "if TLS verification is disabled, requests of a session with a trust manager fail, because no evaluator would run")
  func withoutVerification() async throws {
    try await withServer(tls: server) { _ in
      .text("never")
    } _: { origin in
      let session = session(manager(DefaultTrustEvaluator())) { $0.verification = .none }
      #expect(await answer(session, origin.url).error != nil)
      #expect(origin.requestCount == 0)
    }
  }

  @Test("a Session that is created with a URLSession uses its trust manager, and doesn't change the configuration")
  func givenURLSession() async throws {
    let queue = DispatchQueue(label: "root")
    let operations = OperationQueue()
    operations.maxConcurrentOperationCount = 1
    operations.underlyingQueue = queue
    let delegate = SessionDelegate()
    let urlSession = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: operations)
    let session = Session(
      session: urlSession, delegate: delegate, rootQueue: queue, serverTrustManager: manager(DisabledTrustEvaluator()))
    #expect(urlSession.configuration.engine.tls.verifier == nil)
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      #expect(await answer(session, origin.url).value == Data("yes".utf8))
    }
  }

  @Test("a certificate with any flaw is refused, but if validateHost is false, a wrong host name alone is accepted")
  func kinds() async throws {
    let identities: [(ThrowawayAuthority.Identity, TLSError.Code, isGoodForAnyHost: Bool)] = [
      (try authority.issue(names: ["other.example"]), .hostMismatch, true),
      (try authority.issue(names: ["localhost"], validity: .expired), .certificateExpired, false),
      (try authority.issue(names: ["other.example"], validity: .expired), .hostMismatch, false),
      (try ThrowawayAuthority.selfSigned(names: ["localhost"]), .selfSigned, false),
      (try ThrowawayAuthority(commonName: "Other").issue(names: ["other.example"]), .unknownAuthority, false),
    ]
    for (identity, code, isGoodForAnyHost) in identities {
      try await withServer(tls: ServerIdentity(identity, authorityPEM: authority.certificatePEM)) { _ in
        .text("yes")
      } _: { origin in
        let strict = session(manager(DefaultTrustEvaluator()), trusting: authority.certificatePEM)
        let refusal = verdict(try trustFailure(await answer(strict, origin.url).error))
        #expect(refusal == code)
        let lax = session(
          manager(DefaultTrustEvaluator(validateHost: false)), trusting: authority.certificatePEM)
        let laxly = await answer(lax, origin.url).error
        #expect((laxly == nil) == isGoodForAnyHost, "\(code)")
      }
    }
  }
}
