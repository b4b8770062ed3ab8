// PendingVerification: a verifier's decision that is made outside of the handshake, which waits for it.

import Synchronization

/// A decision about a server's certificate that a handshake waits for. It may be made on any thread.
package struct PendingVerification: Sendable {
  let verifier: CertificateVerifier
  /// The data from which the verifier decides.
  package var evidence: CertificateVerifier.Evidence

  package init(verifier: CertificateVerifier, evidence: CertificateVerifier.Evidence) {
    self.verifier = verifier
    self.evidence = evidence
  }

  /// Calls the verifier, which may block, and passes the verdict to `completion`. `completion` is called at most once.
  ///
  /// If the verifier consults another party, `completion` may be called later, on any thread, or never.
  package func decide(_ completion: @escaping @Sendable (Verdict) -> Void) {
    let verdict = Verdict(verifier, evidence)
    guard let consultation = verifier.consultation, let found = verdict.acceptance else { return completion(verdict) }
    // Only the first answer counts. A second one could be mistaken for the answer to a later question, because TLS with the
    // origin may follow TLS with its proxy.
    let isAnswered = Atomic(false)
    consultation(evidence, found) { result in
      guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return }
      completion(Verdict(result: result))
    }
  }
}

/// A verifier's decision, or the error that it threw.
package struct Verdict: Sendable {
  let result: Result<CertificateVerifier.Decision, any Error>

  init(_ verifier: CertificateVerifier, _ evidence: CertificateVerifier.Evidence) {
    result = Result { try verifier.decide(evidence) }
  }

  fileprivate init(result: Result<CertificateVerifier.Decision, any Error>) {
    self.result = result
  }

  /// Creates a verdict that refuses the server because the verifier couldn't be called, with the reason `failure`.
  package init(failure: any Error) {
    result = .failure(failure)
  }

  /// The decision, or nil if it refuses the server. After `asFound`, OpenSSL's result may still refuse the server.
  fileprivate var acceptance: CertificateVerifier.Decision? {
    switch result {
    case .success(.accept): .accept
    case .success(.asFound): .asFound
    case .success(.refuse), .failure: nil
    }
  }

  /// Returns why the server is refused, or nil if it is accepted.
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
  /// There is no decision to wait for, because no certificate has arrived yet, the verifier is quick, or there is no verifier.
  case none
  /// The verifier must be called. Until the verdict, the handshake is stopped (TLS 1.3), or its output is held back (TLS 1.2).
  case pending(PendingVerification)
  /// The verifier has decided.
  case made(Verdict)

  var pending: PendingVerification? {
    if case .pending(let verification) = self { verification } else { nil }
  }
}
