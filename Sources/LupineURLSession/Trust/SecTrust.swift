// SecTrust: a server's certificates, and OpenSSL's verification of them.

import Foundation
package import LupineEngine
import Synchronization

/// The certificates that a server sent in a handshake, for evaluation. Alamofire's additions are under `af`.
public final class SecTrust: Sendable, CustomStringConvertible {
  private let evidence: CertificateVerifier.Evidence
  private let anchors = Mutex<[SecCertificate]?>(nil)

  init(_ evidence: CertificateVerifier.Evidence) {
    self.evidence = evidence
  }

  /// The host name of the request, which the certificate must match.
  package var host: String { evidence.host }

  /// The server's certificate followed by its issuers, each signed by the next. A valid chain ends in a trusted
  /// certificate. Further certificates from the server, and those related by name only, are left out.
  package var certificates: [SecCertificate] {
    let verification = anchorData.map { evidence.verify(host: nil, anchors: $0) } ?? evidence.verification
    return verification.chain.compactMap { SecCertificate(Data($0)) }
  }

  /// The host, the subjects of its certificates, and the reason if they aren't trusted.
  public var description: String {
    let problem = problem(forHost: host).map { ", not trusted: \($0.description)" } ?? ", trusted"
    return "SecTrust(\(host)\(problem), \(certificates))"
  }

  /// Trusts only these certificates from now on, instead of the session's trust roots.
  package func trust(_ certificates: [SecCertificate]) {
    anchors.withLock { $0 = certificates }
  }

  /// Returns the reason why the chain isn't trusted or doesn't match `host`, or nil if it is trusted. A nil `host` isn't
  /// checked.
  package func problem(forHost host: String?) -> TLSError? {
    if let anchors = anchorData { return evidence.verify(host: host, anchors: anchors).problem }
    // The handshake has already verified the chain and the host, so a good result is also good without the host.
    if host == evidence.host { return evidence.problem }
    if host == nil, evidence.problem == nil { return nil }
    return evidence.verify(host: host).problem
  }

  private var anchorData: [[UInt8]]? {
    anchors.withLock { $0 }?.map { Array($0.data) }
  }
}
