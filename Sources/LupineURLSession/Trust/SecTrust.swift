// A server's certificates, and what OpenSSL says of them.

import Foundation
package import LupineEngine
import Synchronization

/// A server's certificates from a handshake, for evaluation; see also its `af` extensions.
public final class SecTrust: Sendable, CustomStringConvertible {
  private let evidence: CertificateVerifier.Evidence
  private let anchors = Mutex<[SecCertificate]?>(nil)

  init(_ evidence: CertificateVerifier.Evidence) {
    self.evidence = evidence
  }

  /// The name that the session has asked the server for.
  package var host: String { evidence.host }

  /// The server's own certificate and those that vouch for it, each signed by the next one. If the chain is good, it ends
  /// in a trusted one. What the server has sent besides, or has joined by names only, isn't there.
  package var certificates: [SecCertificate] {
    let verification = anchorData.map { evidence.verify(host: nil, anchors: $0) } ?? evidence.verification
    return verification.chain.compactMap { SecCertificate(Data($0)) }
  }

  /// The host, the subjects of its certificates, and why they aren't trusted if they aren't.
  public var description: String {
    let problem = problem(forHost: host).map { ", not trusted: \($0.description)" } ?? ", trusted"
    return "SecTrust(\(host)\(problem), \(certificates))"
  }

  /// Trusts these alone from now on, in place of the session's trust roots.
  package func trust(_ certificates: [SecCertificate]) {
    anchors.withLock { $0 = certificates }
  }

  /// Returns why the chain isn't trusted or, if `host` isn't nil, doesn't name the host; nil if it is trusted.
  package func problem(forHost host: String?) -> TLSError? {
    if let anchors = anchorData { return evidence.verify(host: host, anchors: anchors).problem }
    // The handshake has looked already: at the host too, so that what it found good is good without it.
    if host == evidence.host { return evidence.problem }
    if host == nil, evidence.problem == nil { return nil }
    return evidence.verify(host: host).problem
  }

  private var anchorData: [[UInt8]]? {
    anchors.withLock { $0 }?.map { Array($0.data) }
  }
}
