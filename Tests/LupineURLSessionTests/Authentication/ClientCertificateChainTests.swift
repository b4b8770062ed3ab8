// ClientCertificateChainTests: the intermediate certificates of a client, and the metrics of a task that has waited for the
// choice of a client certificate.

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

@Suite(.timeLimit(.minutes(10))) struct ClientCertificateChainTests {
  /// A session's delegate that answers client certificate challenges with `credential`, if there is one, and records metrics.
  private final class Presenter: NSObject, URLSessionTaskDelegate {
    let metrics = Mutex<[URLSessionTaskMetrics]>([])
    /// The number of requests for a client certificate.
    let count = Atomic(0)
    private let credential: URLCredential?

    init(_ credential: URLCredential?) { self.credential = credential }

    func urlSession(
      _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let isForIdentity = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate
      if isForIdentity { count.add(1, ordering: .relaxed) }
      guard isForIdentity, let credential else { return completionHandler(.performDefaultHandling, nil) }
      completionHandler(.useCredential, credential)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) { self.metrics.withLock { $0.append(metrics) } }
  }

  private func session(
    _ delegate: Presenter, trusting authority: ThrowawayAuthority, version: TLSVersion = .v1_3
  ) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 100
    configuration.urlCache = nil
    configuration.engine.proxy = .none
    configuration.engine.tls.trustRoots = [.pem(authority.certificatePEM)]
    configuration.engine.tls.maximumVersion = version
    return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  /// Returns a TLS identity for a server that requests a client certificate issued by the authority or by its intermediates.
  private func server(_ authority: ThrowawayAuthority, requiresClientCertificate: Bool) throws -> ServerIdentity {
    try ServerIdentity(
      try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"]), authorityPEM: authority.certificatePEM,
      clientAuthorityPEM: authority.certificatePEM, requiresClientCertificate: requiresClientCertificate)
  }

  @Test(
    "the client sends its certificate with the credential's intermediate certificates, or else with the identity's",
    arguments: [TLSVersion.v1_2, .v1_3])
  func intermediates(version: TLSVersion) async throws {
    let authority = try ThrowawayAuthority()
    let (intermediate, stranger) = (try authority.issueAuthority(), try ThrowawayAuthority().issueAuthority())
    let client = try intermediate.issue(commonName: "A client", purpose: .client)
    func identity(sending issuers: [UInt8]) throws -> SecIdentity {
      try SecIdentity(
        certificatePEM: Data(client.certificatePEM + issuers), privateKeyPEM: Data(client.privateKeyPEM))
    }
    let right = try SecCertificate.pem(intermediate.certificatePEM)
    let credentials: [(identity: SecIdentity, certificates: [SecCertificate]?, isAccepted: Bool)] = [
      (try identity(sending: []), [right], true), (try identity(sending: intermediate.certificatePEM), nil, true),
      (try identity(sending: stranger.certificatePEM), [right], true), (try identity(sending: []), nil, false),
      (try identity(sending: intermediate.certificatePEM), [try SecCertificate.pem(stranger.certificatePEM)], false),
    ]
    try await withServer(tls: server(authority, requiresClientCertificate: true)) { _ in
      .text("in")
    } _: { origin in
      let url = try #require(URL(string: origin.url))
      for (index, (identity, certificates, isAccepted)) in credentials.enumerated() {
        let credential = URLCredential(identity: identity, certificates: certificates, persistence: .forSession)
        let session = session(Presenter(credential), trusting: authority, version: version)
        defer { session.invalidateAndCancel() }
        if isAccepted {
          #expect(try await session.data(from: url).0 == Data("in".utf8), "credential \(index)")
        } else {
          let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
          #expect(error?.code == .clientCertificateRejected || error?.code == .networkConnectionLost)
        }
      }
    }
  }

  @Test(
    "the client sends no certificate to a server that it doesn't trust, and doesn't ask the delegate for one",
    arguments: [TLSVersion.v1_2, .v1_3])
  func untrusted(version: TLSVersion) async throws {
    let (authority, other) = (try ThrowawayAuthority(), try ThrowawayAuthority())
    let client = try authority.issue(commonName: "A client", purpose: .client)
    let identity = try SecIdentity(
      certificatePEM: Data(client.certificatePEM), privateKeyPEM: Data(client.privateKeyPEM))
    let delegate = Presenter(URLCredential(identity: identity, certificates: nil, persistence: .forSession))
    try await withServer(tls: server(authority, requiresClientCertificate: true)) { _ in
      .text("never")
    } _: { origin in
      let url = try #require(URL(string: origin.url))
      let session = session(delegate, trusting: other, version: version)
      defer { session.invalidateAndCancel() }
      let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
      #expect(error?.code == .serverCertificateHasUnknownRoot)
      #expect(delegate.count.load(ordering: .relaxed) == 0 && origin.requestCount == 0)
    }
  }

  @Test(
    "a task's metrics include the connection's opening, even if the delegate chose a client certificate meanwhile",
    arguments: [true, false])
  func metrics(presentsCertificate: Bool) async throws {
    let authority = try ThrowawayAuthority()
    let client = try authority.issue(commonName: "A client", purpose: .client)
    let identity = try SecIdentity(
      certificatePEM: Data(client.certificatePEM), privateKeyPEM: Data(client.privateKeyPEM))
    let credential = URLCredential(identity: identity, certificates: nil, persistence: .forSession)
    try await withServer(tls: server(authority, requiresClientCertificate: false)) { _ in
      .text("in")
    } _: { origin in
      let url = try #require(URL(string: origin.url))
      let delegate = Presenter(presentsCertificate ? credential : nil)
      let session = session(delegate, trusting: authority)
      defer { session.invalidateAndCancel() }
      for (index, isReused) in [false, true, true].enumerated() {
        #expect(try await session.data(from: url).0 == Data("in".utf8))
        #expect(await settles { delegate.metrics.withLock { $0.count } > index })
        let metrics = try #require(delegate.metrics.withLock { $0.last })
        #expect(metrics.transactionMetrics.count == 1)
        let transaction = try #require(metrics.transactionMetrics.first)
        #expect(transaction.isReusedConnection == isReused)
        #expect((transaction.connectStartDate == nil) == isReused)
        guard !isReused else { continue }
        let dates = [
          metrics.taskInterval.start, transaction.fetchStartDate, transaction.connectStartDate,
          transaction.secureConnectionStartDate, transaction.secureConnectionEndDate, transaction.requestStartDate,
        ].compactMap(\.self)
        #expect(dates.count == 6 && dates == dates.sorted(), "\(dates)")
      }
      #expect(origin.connectionCount == (presentsCertificate ? 2 : 1))
    }
  }
}
