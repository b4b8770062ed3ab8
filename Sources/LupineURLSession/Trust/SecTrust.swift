// SecTrust: a server's certificates, and the result of their verification by OpenSSL.

import Foundation
package import LupineEngine
import Synchronization

/// A server's certificates from a handshake, for trust evaluation. See also its `af` extensions.
public final class SecTrust: Sendable, CustomStringConvertible {
  private let evidence: CertificateVerifier.Evidence
  private let anchors = Mutex<[SecCertificate]?>(nil)

  init(_ evidence: CertificateVerifier.Evidence) {
    self.evidence = evidence
  }

  /// The host name of the request, which was sent as SNI.
  package var host: String { evidence.host }

  /// The server's certificate and its issuers, each signed by the next one. A valid chain ends in a trust anchor. Other
  /// certificates that the server sent aren't included.
  package var certificates: [SecCertificate] {
    let verification = anchorData.map { evidence.verify(host: nil, anchors: $0) } ?? evidence.verification
    return verification.chain.compactMap { SecCertificate(Data($0)) }
  }

  /// The host, the subjects of its certificates, and the reason if they aren't trusted.
  public var description: String {
    let problem = problem(forHost: host).map { ", not trusted: \($0.description)" } ?? ", trusted"
    return "SecTrust(\(host)\(problem), \(certificates))"
  }

  /// Makes these certificates the only trust anchors, instead of the session's trust roots.
  package func trust(_ certificates: [SecCertificate]) {
    anchors.withLock { $0 = certificates }
  }

  /// Returns the reason why the chain isn't trusted or, if `host` isn't nil, isn't valid for
  /// the host. Returns nil if there is no problem.
  package func problem(forHost host: String?) -> TLSError? {
    if let anchors = anchorData { return evidence.verify(host: host, anchors: anchors).problem }
    // The handshake has verified the chain and the host. A chain that is valid for the host is also valid without a host.
    if host == evidence.host { return evidence.problem }
    if host == nil, evidence.problem == nil { return nil }
    return evidence.verify(host: host).problem
  }

  private var anchorData: [[UInt8]]? {
    anchors.withLock { $0 }?.map { Array($0.data) }
  }
}
