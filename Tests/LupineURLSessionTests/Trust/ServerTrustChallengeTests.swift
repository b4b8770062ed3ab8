// ServerTrustChallengeTests: challenges in which a session's delegate decides on a server's certificate.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTLS
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite("Server trust challenges", .timeLimit(.minutes(10)))
struct ServerTrustChallengeTests {
  typealias Completion = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  typealias Decide = @Sendable (URLAuthenticationChallenge, @escaping Completion) -> Void

  /// A session's delegate that passes each authentication challenge to a closure, and records the challenge.
  final class Deciding: NSObject, URLSessionDelegate {
    let challenges = Mutex<[URLAuthenticationChallenge]>([])
    private let decide: Decide

    init(_ decide: @escaping Decide) { self.decide = decide }

    func urlSession(
      _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      challenges.withLock { $0.append(challenge) }
      decide(challenge, completionHandler)
    }

    var spaces: [URLProtectionSpace] { challenges.withLock { $0.map(\.protectionSpace) } }
    var hosts: [String] { spaces.map(\.host) }
  }

  /// A session's delegate that doesn't implement `urlSession(_:didReceive:completionHandler:)`, the method for challenges.
  final class Silent: NSObject, URLSessionDelegate {}

  static func accept(_ challenge: URLAuthenticationChallenge, _ complete: @escaping Completion) {
    complete(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
  }

  let authority: ThrowawayAuthority
  private let identity: ThrowawayAuthority.Identity
  let server: ServerIdentity

  init() throws {
    authority = try ThrowawayAuthority()
    identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM)
  }

  /// Returns a session that doesn't trust the certificates of these tests' servers unless `roots` contains their authority.
  func session(
    _ delegate: any URLSessionDelegate, trusting roots: [UInt8]? = nil,
    _ configure: (URLSessionConfiguration) throws -> Void = { _ in }
  ) throws -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 100
    configuration.urlCache = nil
    configuration.engine.proxy = .none
    configuration.engine.tls.trustRoots = [.pem(try roots ?? ThrowawayAuthority().certificatePEM)]
    try configure(configuration)
    return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  func text(_ session: URLSession, _ url: String) async throws -> String {
    let (data, _) = try await session.data(from: try #require(URL(string: url)))
    return String(decoding: data, as: UTF8.self)
  }

  /// Sends a request, and returns the code of its URLError, or nil if the request succeeds.
  func failure(
    _ session: URLSession, _ url: String, timeout: TimeInterval = 100
  ) async throws -> URLError.Code? {
    do {
      var request = URLRequest(url: try #require(URL(string: url)))
      request.timeoutInterval = timeout
      _ = try await session.data(for: request)
      return nil
    } catch let error as URLError {
      return error.code
    }
  }

  // MARK: Decisions

  @Test(
    "a delegate can accept a server that OpenSSL refuses, by answering with a credential for the server's trust",
    arguments: [TLSVersion.v1_2, .v1_3])
  func accepted(version: TLSVersion) async throws {
    let server = try ServerIdentity(identity, authorityPEM: authority.certificatePEM, versions: version...version)
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let delegate = Deciding(Self.accept)
      #expect(try await text(session(delegate), origin.url) == "yes")
      let challenge = try #require(delegate.challenges.withLock { $0.first })
      let space = challenge.protectionSpace
      #expect(space.authenticationMethod == NSURLAuthenticationMethodServerTrust)
      #expect(space.host == "localhost" && space.port == Int(origin.port) && space.protocol == "https")
      #expect(!space.isProxy() && space.realm == nil && challenge.previousFailureCount == 0)
      let trust = try #require(space.serverTrust)
      #expect(!SecTrustEvaluateWithError(trust, nil))
      let own = try SecCertificate.pem(identity.certificatePEM)
      #expect(SecTrustCopyCertificateChain(trust) == [own])
    }
  }

  @Test("an untrusted server is refused with a specific error unless the delegate answers with the server's trust")
  func refused() async throws {
    var other: SecTrust?
    let status = SecTrustCreateWithCertificates(try SecCertificate.pem(authority.certificatePEM), nil, &other)
    #expect(status == errSecSuccess)
    let foreign = URLCredential(trust: try #require(other))
    let password = URLCredential(user: "me", password: "pw", persistence: .none)
    let answers: [(URLSession.AuthChallengeDisposition, URLCredential?, URLError.Code)] = [
      (.performDefaultHandling, nil, .serverCertificateHasUnknownRoot),
      (.useCredential, nil, .serverCertificateHasUnknownRoot),
      (.useCredential, password, .serverCertificateHasUnknownRoot),
      (.useCredential, foreign, .serverCertificateHasUnknownRoot),
      (.rejectProtectionSpace, nil, .serverCertificateUntrusted),
      (.cancelAuthenticationChallenge, nil, .cancelled),
    ]
    try await withServer(tls: server) { _ in
      .text("never")
    } _: { origin in
      for (disposition, credential, code) in answers {
        let delegate = Deciding { _, complete in complete(disposition, credential) }
        let failure = try await self.failure(session(delegate), origin.url)
        #expect(failure == code, "\(disposition)")
        #expect(delegate.hosts == ["localhost"])
      }
      #expect(origin.requestCount == 0)
    }
  }

  @Test("a delegate can refuse a server that OpenSSL accepts, or leave the decision to OpenSSL")
  func trusted() async throws {
    let answers: [(URLSession.AuthChallengeDisposition, URLError.Code?)] = [
      (.performDefaultHandling, nil), (.useCredential, nil), (.rejectProtectionSpace, .serverCertificateUntrusted),
      (.cancelAuthenticationChallenge, .cancelled),
    ]
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      for (disposition, code) in answers {
        let delegate = Deciding { _, complete in complete(disposition, nil) }
        let session = try session(delegate, trusting: authority.certificatePEM)
        #expect(try await failure(session, origin.url) == code, "\(disposition)")
      }
    }
  }

  @Test(
    "a delegate can accept a server's certificate whatever its flaw",
    arguments: [
      (TestServer.selfSigned, URLError.Code.serverCertificateHasUnknownRoot),
      (.wrongHost, .serverCertificateUntrusted), (.expired, .serverCertificateHasBadDate),
    ])
  func flaws(server: TestServer, code: URLError.Code) async throws {
    try server.require()
    let url = server.origin + "/small.txt"
    let trustsServers: (URLSessionConfiguration) -> Void = {
      $0.engine.tls.trustRoots = [.file(TestServer.authorityFile)]
    }
    let strict = try session(Deciding { _, complete in complete(.performDefaultHandling, nil) }, trustsServers)
    #expect(try await failure(strict, url) == code)
    #expect(try await text(session(Deciding(Self.accept), trustsServers), url) == "small\n")
  }

  @Test(
    "the configuration's verifier decides first, and the delegate isn't called for a server that the verifier refuses")
  func verifier() async throws {
    try await withServer(tls: server) { _ in
      .text("never")
    } _: { origin in
      let delegate = Deciding(Self.accept)
      let refusing = try session(delegate) {
        $0.engine.tls.verifier = CertificateVerifier { _ in .refuse(reason: "no") }
      }
      #expect(try await failure(refusing, origin.url) == .serverCertificateUntrusted)
      #expect(delegate.hosts.isEmpty)
      let canceling = Deciding { _, complete in complete(.cancelAuthenticationChallenge, nil) }
      let accepting = try session(canceling) { $0.engine.tls.verifier = CertificateVerifier { _ in .accept } }
      #expect(try await failure(accepting, origin.url) == .cancelled)
      #expect(origin.requestCount == 0)
    }
  }

  // MARK: Extent

  @Test(
    "after a delegate accepts a server, its session reuses connections without a challenge, and other sessions don't")
  func reuse() async throws {
    try await withServer(tls: server) { request in
      request.path == "/close" ? Reply(fields: ["Connection": "close"], .bytes([1])) : .text("yes")
    } _: { origin in
      let delegate = Deciding(Self.accept)
      let accepting = try session(delegate)
      #expect(try await failure(accepting, origin.url + "/close") == nil)
      for _ in 0..<3 { #expect(try await text(accepting, origin.url) == "yes") }
      #expect(delegate.hosts == ["localhost"] && origin.connectionCount == 2)
      let count = origin.requestCount
      let other = Deciding { _, complete in complete(.performDefaultHandling, nil) }
      #expect(try await failure(session(other), origin.url) == .serverCertificateHasUnknownRoot)
      #expect(other.hosts == ["localhost"] && origin.requestCount == count)
    }
  }

  @Test("a redirect to another host causes another server trust challenge")
  func redirect() async throws {
    try await withServer(tls: server) { _ in
      .text("target")
    } _: { target in
      let elsewhere = target.url.replacing("localhost", with: "127.0.0.1")
      try await withServer(tls: server) { _ in
        Reply(status: 302, fields: ["Location": elsewhere])
      } _: { origin in
        let delegate = Deciding(Self.accept)
        let text = try await self.text(session(delegate), origin.url)
        #expect(text == "target")
        #expect(delegate.hosts == ["localhost", "127.0.0.1"])
        let first = Deciding { challenge, complete in
          guard challenge.protectionSpace.host == "localhost" else { return complete(.performDefaultHandling, nil) }
          Self.accept(challenge, complete)
        }
        let failure = try await self.failure(session(first), origin.url)
        #expect(failure == .serverCertificateHasUnknownRoot)
      }
    }
  }

  @Test("an HTTPS proxy causes a separate server trust challenge; accepting the proxy twice doesn't accept the origin")
  func proxy() async throws {
    let inner = server
    let proxy = try OriginServer(tls: try ServerIdentity.throwaway()) { peer in
      guard try peer.readHead() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\n\r\n")
      try peer.startTLS(inner)
      try peer.serve { _ in .text("through") }
    }
    defer { proxy.stop() }
    let usesProxy: (URLSessionConfiguration) throws -> Void = {
      $0.engine.proxy = .fixed(try Proxy(.https, host: "127.0.0.1", port: proxy.port))
    }
    let url = "https://localhost:9/"
    let both = Deciding(Self.accept)
    #expect(try await text(self.session(both, usesProxy), url) == "through")
    #expect(both.spaces.map { $0.isProxy() } == [true, false] && both.hosts == ["127.0.0.1", "localhost"])
    #expect(both.spaces.map(\.port) == [Int(proxy.port), 9])
    #expect(both.spaces.map(\.proxyType) == [NSURLProtectionSpaceHTTPSProxy, nil])

    // The proxy's second answer arrives while the origin's challenge waits.
    let asked = Gate()
    let kept = Mutex<[Completion]>([])
    let twice = Deciding { challenge, complete in
      kept.withLock { $0.append(complete) }
      if challenge.protectionSpace.isProxy() { Self.accept(challenge, complete) } else { asked.open() }
    }
    let session = try session(twice, usesProxy)
    let result = Task { try await failure(session, url) }
    await asked.wait()
    let completions = kept.withLock { $0 }
    try #require(completions.count == 2)
    Self.accept(try #require(twice.challenges.withLock { $0.first }), completions[0])
    completions[1](.performDefaultHandling, nil)
    #expect(try await result.value == .serverCertificateHasUnknownRoot)
  }
}
