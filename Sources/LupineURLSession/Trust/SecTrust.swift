// SecTrust: a server's certificates, and the result of their verification by OpenSSL and by policies.

import Foundation
package import LupineEngine
import Synchronization

/// The certificates that a server has sent in a TLS handshake, with methods that evaluate whether to trust the server. The module
/// Lupine has further methods in the `af` extensions.
public final class SecTrust: Sendable, CustomStringConvertible {
  private struct State {
    var anchors: [SecCertificate]?
    var trustsOnlyAnchors = true
    /// The policies that were set. If empty, the certificate chain must be valid for the host of the TLS handshake.
    var policies: [SecPolicy] = []
    var revocationFailure: RevocationFailure?
  }

  private let evidence: CertificateVerifier.Evidence
  private let revocation: RevocationChecker
  private let state = Mutex(State())

  init(_ evidence: CertificateVerifier.Evidence, revocation: RevocationChecker) {
    self.evidence = evidence
    self.revocation = revocation
  }

  /// The host name in the request, which the client has sent in the TLS handshake as SNI. Empty if this trust object was created
  /// from certificates.
  package var host: String { evidence.host }

  /// The host for which the certificate chain must be valid unless a policy names another one. Nil if there was no handshake.
  private var verifiedHost: String? { host.isEmpty ? nil : host }

  /// The server's certificate and its issuers. Each certificate is signed by the next one, and a valid chain ends in a trust
  /// anchor. Other certificates that the server sent aren't included.
  package var certificates: [SecCertificate] {
    verification(forHost: nil).chain.compactMap { SecCertificate(Data($0)) }
  }

  /// Returns whether both objects contain the same server certificate.
  func hasSameCertificate(as other: SecTrust) -> Bool {
    evidence.sentChain.first.map { $0 == other.evidence.sentChain.first } ?? false
  }

  /// A textual description: the host, the subjects of the certificates and, if they aren't trusted, the reason.
  public var description: String {
    let problem = problem(forHost: verifiedHost).map { ", not trusted: \($0.description)" } ?? ", trusted"
    return "SecTrust(\(host)\(problem), \(certificates))".printable
  }

  /// Sets the certificates that are the trust anchors. They replace the session's trust roots unless `trustsOnlyAnchors` is false.
  package func trust(_ certificates: [SecCertificate]) {
    state.withLock { $0.anchors = certificates }
  }

  /// Sets whether the trust anchors replace the session's trust roots. True by default.
  package func setTrustsOnlyAnchors(_ isOnly: Bool) {
    state.withLock { $0.trustsOnlyAnchors = isOnly }
  }

  /// Returns the reason why the certificate chain isn't trusted, or nil if it is trusted. If `host` isn't nil, the chain must also
  /// be valid for that host.
  package func problem(forHost host: String?) -> TLSError? { verification(forHost: host).problem }

  private func verification(forHost host: String?) -> CertificateVerifier.Evidence.Verification {
    let state = state.withLock { $0 }
    guard let anchors = state.anchors?.map({ Array($0.data) }) else { return verificationByRoots(forHost: host) }
    let anchored = evidence.verify(host: host, anchors: anchors)
    guard anchored.problem != nil, !state.trustsOnlyAnchors else { return anchored }
    let rooted = verificationByRoots(forHost: host)
    return rooted.problem == nil ? rooted : anchored
  }

  private func verificationByRoots(forHost host: String?) -> CertificateVerifier.Evidence.Verification {
    // The handshake has already verified the chain and the host. A chain that is valid for the host is also valid for any host.
    if let host, host == verifiedHost { return evidence.verification }
    if host == nil, evidence.problem == nil { return evidence.verification }
    return evidence.verify(host: host)
  }
}

extension SecTrust {
  /// Sets the policies for evaluating the certificate chain with `policyProblem`, in place of earlier policies. An empty list has
  /// the same effect as none.
  package func apply(_ policies: [SecPolicy]) {
    state.withLock { $0.policies = policies }
  }

  /// The first problem that a policy finds in the certificate chain. Nil if the chain is trusted under all policies. If there are
  /// none, the chain must be valid for the host of the TLS handshake.
  ///
  /// If a policy checks revocation, reading this property may block the thread while OCSP responses and revocation lists are
  /// fetched.
  package var policyProblem: (any Error)? {
    let policies = state.withLock { $0.policies }
    for policy in policies.isEmpty ? [SecPolicy(.server(host: verifiedHost))] : policies {
      if let problem = problem(under: policy) { return problem }
    }
    return nil
  }

  /// The failure of the latest revocation check. Nil if the check has succeeded, or if none was performed.
  package var revocationFailure: RevocationFailure? { state.withLock { $0.revocationFailure } }

  private func problem(under policy: SecPolicy) -> (any Error)? {
    switch policy.kind {
    case .server(let host): return problem(forHost: host)
    case .revocation(let options):
      let verification = verification(forHost: nil)
      // A revocation check connects to addresses that the certificates name. Therefore it starts only after the chain is trusted.
      if let problem = verification.problem { return problem }
      let failure = revocation.failure(
        of: RevocationSubject.subjects(ofChain: verification.chain), staple: evidence.stapledResponse, options: options)
      state.withLock { $0.revocationFailure = failure }
      return failure
    }
  }
}
