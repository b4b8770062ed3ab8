// BlockingEvaluatorTests: trust evaluators that block, while requests to other hosts continue on the same loop.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTLS
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct BlockingEvaluatorTests {
  /// A trust evaluator that blocks its thread until the gate is open, and records the thread's name.
  private final class Blocking: ServerTrustEvaluating {
    let entered = Gate()
    let gate = Gate()
    let threads = Mutex<[String]>([])

    func evaluate(_ trust: SecTrust, forHost host: String) throws {
      threads.withLock { $0.append(Self.threadName) }
      entered.open()
      gate.waitBlocking()
      try trust.af.evaluate()
    }

    private static var threadName: String {
      let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
      return name?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }
  }

  /// A ServerTrustManager that blocks while it chooses the evaluator for localhost, until the gate is open.
  private final class Choosing: ServerTrustManager, @unchecked Sendable {
    let gate = Gate()

    override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
      if host == "localhost" { gate.waitBlocking() }
      return DefaultTrustEvaluator()
    }
  }

  private let authority: ThrowawayAuthority
  private let server: ServerIdentity

  init() throws {
    authority = try ThrowawayAuthority()
    let identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM)
  }

  private func session(
    _ manager: ServerTrustManager, timeout: TimeInterval = 100
  ) -> Session {
    let configuration = URLSessionConfiguration.af.ephemeral
    configuration.timeoutIntervalForRequest = timeout
    configuration.engine.tls.trustRoots = [.pem(authority.certificatePEM)]
    return Session(configuration: configuration, serverTrustManager: manager)
  }

  private func url(_ origin: OriginServer, _ host: String) -> String {
    origin.url.replacingOccurrences(of: "127.0.0.1", with: host).replacingOccurrences(of: "localhost", with: host)
  }

  @Test("a trust evaluator that blocks doesn't delay requests to other hosts, or run on an event loop")
  func others() async throws {
    let evaluator = Blocking()
    let session = session(
      ServerTrustManager(evaluators: ["localhost": evaluator, "127.0.0.1": DefaultTrustEvaluator()]))
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let blocked = session.request(url(origin, "localhost")).serializingData()
      let response = Task { await blocked.response }
      await evaluator.entered.wait()
      for _ in 0..<3 {
        #expect(await session.request(url(origin, "127.0.0.1")).outcome().value == Data("yes".utf8))
      }
      evaluator.gate.open()
      #expect(await response.value.value == Data("yes".utf8))
      let threads = evaluator.threads.withLock { $0 }
      #expect(threads.count == 1 && threads.allSatisfy { !$0.hasPrefix("lupine-loop") })
    }
  }

  @Test("a ServerTrustManager subclass that blocks while choosing an evaluator doesn't delay requests to other hosts")
  func choosing() async throws {
    let manager = Choosing(allHostsMustBeEvaluated: true, evaluators: [:])
    let session = session(manager)
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let response = Task { await session.request(url(origin, "localhost")).outcome().value }
      #expect(await session.request(url(origin, "127.0.0.1")).outcome().value == Data("yes".utf8))
      manager.gate.open()
      #expect(await response.value == Data("yes".utf8))
    }
  }

  @Test("a request can be cancelled while a trust evaluator blocks")
  func canceled() async throws {
    let evaluator = Blocking()
    let session = session(ServerTrustManager(evaluators: ["localhost": evaluator]))
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let request = session.request(url(origin, "localhost"))
      let response = Task { await request.outcome() }
      await evaluator.entered.wait()
      request.cancel()
      #expect(await response.value.error?.isExplicitlyCancelledError == true)
      evaluator.gate.open()
    }
  }

  @Test("a request fails at its timeout even while a trust evaluator blocks")
  func timeLimit() async throws {
    let evaluator = Blocking()
    let session = session(ServerTrustManager(evaluators: ["localhost": evaluator]), timeout: 0.2)
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let error = await session.request(url(origin, "localhost")).outcome().error
      #expect((error?.underlyingError as? URLError)?.code == .timedOut)
      evaluator.gate.open()
    }
  }

  @Test("an Alamofire Session doesn't delay TLS handshakes for a server trust challenge")
  func undelayed() {
    let plain = Session(configuration: .af.ephemeral)
    #expect(plain.session.client.evaluatingTrust(TLSConfiguration()).verifier == nil)
    let manager = ServerTrustManager(evaluators: ["localhost": DefaultTrustEvaluator()])
    let evaluating = Session(configuration: .af.ephemeral, serverTrustManager: manager)
    #expect(evaluating.session.client.evaluatingTrust(TLSConfiguration()).verifier?.isQuick("localhost") == true)
  }

  @Test("Lupine's trust evaluators run on the event loop unless they are combined with a custom evaluator")
  func quick() {
    let custom = Blocking()
    func isQuick(_ evaluator: some ServerTrustEvaluating) -> Bool {
      ServerTrustManager(evaluators: ["a": evaluator]).evaluation.isQuick("a")
    }
    #expect(isQuick(DefaultTrustEvaluator()))
    #expect(isQuick(PinnedCertificatesTrustEvaluator(certificates: [])))
    #expect(isQuick(PublicKeysTrustEvaluator(keys: [])))
    #expect(isQuick(DisabledTrustEvaluator()))
    #expect(isQuick(CompositeTrustEvaluator(evaluators: [DefaultTrustEvaluator()])))
    #expect(!isQuick(custom))
    #expect(!isQuick(CompositeTrustEvaluator(evaluators: [DefaultTrustEvaluator(), custom])))
  }
}
