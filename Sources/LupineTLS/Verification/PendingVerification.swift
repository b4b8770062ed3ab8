// PendingVerification: a verifier's decision that is made outside of the handshake, which waits for it.

import Synchronization

/// A verifier's decision about a server's certificate, for which a handshake waits. The decision may be made on any thread.
package struct PendingVerification: Sendable {
  let verifier: CertificateVerifier
  /// The data from which the verifier decides whether to accept the server's certificate.
  package var evidence: CertificateVerifier.Evidence

  package init(verifier: CertificateVerifier, evidence: CertificateVerifier.Evidence) {
    self.verifier = verifier
    self.evidence = evidence
  }

  /// Calls the certificate verifier, which may block, and passes the verdict to `completion`.
  ///
  /// `completion` is called at most once. If the verifier consults another party, such as a session's delegate, `completion` may be
  /// called later, on any thread, or never.
  package func decide(_ completion: @escaping @Sendable (Verdict) -> Void) {
    let verdict = Verdict(verifier, evidence)
    guard let consultation = verifier.consultation, let found = verdict.acceptance else { return completion(verdict) }
    // Only the first answer counts. A second answer could be mistaken for the answer to a later question, because TLS with the
    // origin may follow TLS with its proxy.
    let isAnswered = Atomic(false)
    consultation(evidence, found) { result in
      guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return }
      completion(Verdict(result: result))
    }
  }
}

/// A certificate verifier's decision, or the error that the verifier threw.
package struct Verdict: Sendable {
  let result: Result<CertificateVerifier.Decision, any Error>

  init(_ verifier: CertificateVerifier, _ evidence: CertificateVerifier.Evidence) {
    result = Result { try verifier.decide(evidence) }
  }

  fileprivate init(result: Result<CertificateVerifier.Decision, any Error>) {
    self.result = result
  }

  /// Creates a verdict that refuses the server, because the certificate verifier couldn't be called. `failure` is the reason.
  package init(failure: any Error) {
    result = .failure(failure)
  }

  /// The verifier's decision if it is `.accept` or `.asFound`, or nil if the verifier refuses the server. After `.asFound`,
  /// OpenSSL's result may still refuse the server.
  fileprivate var acceptance: CertificateVerifier.Decision? {
    switch result {
    case .success(.accept): .accept
    case .success(.asFound): .asFound
    case .success(.refuse), .failure: nil
    }
  }

  /// Returns the error with which the handshake refuses the server, or nil if the server is accepted.
  ///
  /// - Parameters:
  ///   - problem: The reason why OpenSSL refuses the certificate, or nil if OpenSSL accepts it.
  ///   - host: The server's host.
  func refusal(afterProblem problem: TLSError?, host: String) -> TLSError? {
    switch result {
    case .success(.asFound): problem
    case .success(.accept): nil
    case .success(.refuse(let reason)): .refusedByVerifier(host: host, reason: reason)
    case .failure(let error): .refusedByVerifier(host: host, reason: "\(error)", error: error)
    }
  }
}

/// The progress of the verifier's decision in a handshake.
enum Judgement {
  /// The handshake isn't waiting for a decision: no certificate has arrived yet, the verifier is quick, or there is no verifier.
  case none
  /// The verifier must be called. Until its verdict, the handshake is stopped (TLS 1.3), or the session's output is held back (TLS
  /// 1.2).
  case pending(PendingVerification)
  /// The verifier has decided about the server's certificate.
  case made(Verdict)

  var pending: PendingVerification? {
    if case .pending(let verification) = self { verification } else { nil }
  }
}
