// ServerTrustChallengeTests+Waiting: TLS handshakes that wait for a session's delegate, and those that don't.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTLS
import Synchronization
import Testing

@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

extension ServerTrustChallengeTests {
  @Test(
    "if a delegate doesn't answer a server trust challenge, only that request times out, and a late answer is ignored")
  func silence() async throws {
    let asked = Gate()
    let kept = Mutex<[Completion]>([])
    let delegate = Deciding { challenge, complete in
      guard challenge.protectionSpace.host == "localhost" else { return Self.accept(challenge, complete) }
      kept.withLock { $0.append(complete) }
      asked.open()
    }
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let session = try session(delegate)
      let numeric = origin.url.replacing("localhost", with: "127.0.0.1")
      let waiting = Task {
        // On a slow machine, the request may time out before its delegate is asked.
        defer { asked.open() }
        return try await failure(session, origin.url, timeout: 1)
      }
      await asked.wait()
      #expect(try await text(session, numeric) == "yes")
      #expect(try await waiting.value == .timedOut)
      let challenge = try #require(delegate.challenges.withLock { $0.first })
      for complete in kept.withLock({ $0 }) { Self.accept(challenge, complete) }
      #expect(try await text(session, numeric) == "yes")
      #expect(origin.requestCount == 2)
    }
  }

  @Test("80 TLS handshakes, more than the engine has verifier threads, can wait for the delegate at the same time")
  func many() async throws {
    let kept = Mutex<[(URLAuthenticationChallenge, Completion)]>([])
    let all = Gate()
    let count = 80
    let delegate = Deciding { challenge, complete in
      let isLast = kept.withLock { kept in
        kept.append((challenge, complete))
        return kept.count == count
      }
      if isLast { all.open() }
    }
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let session = try session(delegate) { $0.httpMaximumConnectionsPerHost = count }
      let codes: [URLError.Code?] = try await withThrowingTaskGroup(of: URLError.Code?.self) { group in
        for _ in 0..<count { group.addTask { try await failure(session, origin.url) } }
        await all.wait()
        for (challenge, complete) in kept.withLock({ $0 }) { Self.accept(challenge, complete) }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(codes.allSatisfy { $0 == nil } && codes.count == count)
    }
  }

  @Test("only a delegate's first answer to a server trust challenge has an effect")
  func twice() async throws {
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let hesitating = Deciding { challenge, complete in
        complete(.cancelAuthenticationChallenge, nil)
        Self.accept(challenge, complete)
      }
      let failure = try await self.failure(session(hesitating), origin.url)
      #expect(failure == .cancelled)
      #expect(origin.requestCount == 0)
      let regretting = Deciding { challenge, complete in
        Self.accept(challenge, complete)
        complete(.cancelAuthenticationChallenge, nil)
      }
      let text = try await self.text(session(regretting), origin.url)
      #expect(text == "yes")
    }
  }

  @Test("a request that is cancelled while its delegate evaluates the server's trust ends immediately")
  func canceledWhileAsked() async throws {
    let asked = Gate()
    let delegate = Deciding { _, _ in asked.open() }
    try await withServer(tls: server) { _ in
      .text("never")
    } _: { origin in
      let session = try session(delegate)
      let result = Task { try await failure(session, origin.url) }
      await asked.wait()
      session.getAllTasks { for task in $0 { task.cancel() } }
      #expect(try await result.value == .cancelled)
      #expect(origin.requestCount == 0)
    }
  }

  // MARK: Ended sessions

  /// Returns the ServerTrustChallenger of a session that has been released.
  private func orphan(of delegate: any URLSessionDelegate, lacksMethod: Bool) throws -> ServerTrustChallenger {
    let session = try session(delegate)
    let challenger = try #require(ServerTrustChallenger(session))
    let space = URLProtectionSpace(
      host: "localhost", port: 443, protocol: nil, realm: nil,
      authenticationMethod: NSURLAuthenticationMethodServerTrust)
    let challenge = URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
    if lacksMethod { delegate.urlSession(session, didReceive: challenge) { _, _ in } }
    let isNeeded = withExtendedLifetime(session) { challenger.isNeeded }
    #expect(isNeeded != lacksMethod)
    return challenger
  }

  @Test("after a session has ended, a TLS handshake that still needs the delegate's approval fails")
  func orphaned() throws {
    let certificate = try SecCertificate.pem(authority.certificatePEM)
    let evidence = try #require(
      CertificateVerifier.Evidence(certificates: [[UInt8](SecCertificateCopyData(certificate))]))
    let trust = SecTrust(evidence, revocation: RevocationChecker(fetcher: .shared))
    let delegates: [(any URLSessionDelegate, Bool)] = [(Deciding(Self.accept), false), (Silent(), true)]
    for (delegate, lacksMethod) in delegates {
      let challenger = try orphan(of: delegate, lacksMethod: lacksMethod)
      #expect(challenger.isNeeded != lacksMethod)
      let answers = Mutex<[Bool]>([])
      challenger.ask(about: evidence, trust, orElse: .accept) { answer in
        let isAccepted = if case .success(.accept) = answer { true } else { false }
        answers.withLock { $0.append(isAccepted) }
      }
      #expect(answers.withLock { $0 } == [lacksMethod])
    }
  }

  // MARK: Caches

  @Test(
    "if the delegate refuses the server, the cache serves no stale response, not even with stale-if-error",
    arguments: [
      (URLSession.AuthChallengeDisposition.rejectProtectionSpace, URLError.Code.serverCertificateUntrusted),
      (.cancelAuthenticationChallenge, .cancelled),
    ])
  func stale(disposition: URLSession.AuthChallengeDisposition, code: URLError.Code) async throws {
    let isAccepting = Atomic(true)
    let delegate = Deciding { challenge, complete in
      guard isAccepting.load(ordering: .relaxed) else { return complete(disposition, nil) }
      Self.accept(challenge, complete)
    }
    try await withServer(tls: server) { _ in
      let fields: Fields = ["Cache-Control": "max-age=0, stale-if-error=1000", "Connection": "close"]
      return Reply(fields: fields, .bytes(Array("stored".utf8)))
    } _: { origin in
      let session = try session(delegate) {
        $0.urlCache = URLCache(inMemory: 1_000_000)
        $0.engine.tls.resumesSessions = false
      }
      #expect(try await text(session, origin.url) == "stored")
      isAccepting.store(false, ordering: .relaxed)
      #expect(try await failure(session, origin.url) == code)
      #expect(origin.requestCount == 1)
      // The response is stored, so the cache serves it if the server can't be reached.
      origin.stop()
      #expect(try await text(session, origin.url) == "stored")
    }
  }

  // MARK: Delegates without the method

  private func isConsulted(_ session: URLSession) -> Bool {
    session.client.evaluatingTrust(TLSConfiguration()).verifier?.isQuick("localhost") == false
  }

  @Test(
    "if a delegate doesn't implement the challenge method, only the session's first TLS handshake waits for the delegate"
  )
  func silent() async throws {
    try await withServer(tls: server) { _ in
      Reply(fields: ["Connection": "close"], .bytes([1]))
    } _: { origin in
      let session = try session(Silent(), trusting: authority.certificatePEM) { $0.engine.tls.resumesSessions = false }
      #expect(isConsulted(session))
      for _ in 0..<2 { #expect(try await failure(session, origin.url) == nil) }
      #expect(!isConsulted(session))
      #expect(try await failure(self.session(Silent()), origin.url) == .serverCertificateHasUnknownRoot)
    }
  }

  @Test("a session keeps calling a delegate that forwards challenges to an object without the challenge method")
  func forwarding() async throws {
    let inner = Silent()
    try await withServer(tls: server) { _ in
      Reply(fields: ["Connection": "close"], .bytes([1]))
    } _: { origin in
      let sessions = Mutex<URLSession?>(nil)
      let outer = Deciding { challenge, complete in
        guard let session = sessions.withLock({ $0 }) else { return complete(.cancelAuthenticationChallenge, nil) }
        inner.urlSession(session, didReceive: challenge, completionHandler: complete)
      }
      let session = try session(outer, trusting: authority.certificatePEM) { $0.engine.tls.resumesSessions = false }
      sessions.withLock { $0 = session }
      for _ in 0..<2 { #expect(try await failure(session, origin.url) == nil) }
      #expect(outer.hosts.count == 2 && isConsulted(session))
      sessions.withLock { $0 = nil }
    }
  }

  @Test("a session without a delegate doesn't delay TLS handshakes for a server trust challenge")
  func none() {
    let plain = URLSession(configuration: .ephemeral)
    #expect(plain.client.evaluatingTrust(TLSConfiguration()).verifier == nil)
    let own = Deciding(Self.accept)
    let unverified = URLSession(configuration: .ephemeral, delegate: own, delegateQueue: nil)
    #expect(unverified.client.evaluatingTrust(TLSConfiguration(verification: .none)).verifier == nil)
  }
}
