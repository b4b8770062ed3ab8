// ServerTrustChallenger: lets a session's delegate decide on the certificates of servers, in challenges during the handshake.

import Foundation
import LupineEngine
import Synchronization

/// Asks a session's delegate in TLS handshakes whether to trust the server.
///
/// The delegate's method for challenges has a default implementation, and only a call shows whether the delegate implements the
/// method itself, in one of its forms. Therefore the first handshake calls the method. If it turns out to be the default
/// implementation, later handshakes don't wait for the delegate.
final class ServerTrustChallenger: ServerTrustConsultant {
  private weak let session: URLSession?
  /// The latest value of `isNeeded`, which remains in effect after the session has ended.
  private let wasNeeded: Atomic<Bool>

  /// Creates the challenger of a new session. Returns nil if the session has no delegate, or if its delegate never decides about
  /// trust.
  init?(_ session: URLSession) {
    guard let delegates = session.delegates, delegates.trust.map({ type(of: $0).mayDecideOnTrust }) ?? true else {
      return nil
    }
    self.session = session
    wasNeeded = Atomic(true)
  }

  /// Whether TLS handshakes must wait for the delegate's decision. A handshake may last longer than the session, for example in a
  /// background revalidation. After the session has ended, the value no longer changes, although the delegate can't be called.
  var isNeeded: Bool {
    guard let delegates = session?.delegates else { return wasNeeded.load(ordering: .relaxed) }
    let isNeeded = delegates.trust?.decidesOnTrust ?? !delegates.lacks(.sessionChallenge)
    wasNeeded.store(isNeeded, ordering: .relaxed)
    return isNeeded
  }

  /// Asks the delegate on its queue whether to trust the server. Refuses the server if the delegate is needed but its session has
  /// ended. If the delegate isn't needed, answers with `found`.
  func ask(
    about evidence: CertificateVerifier.Evidence, _ trust: SecTrust, orElse found: CertificateVerifier.Decision,
    _ answer: @escaping @Sendable (Result<CertificateVerifier.Decision, any Error>) -> Void
  ) {
    guard isNeeded else { return answer(.success(found)) }
    guard let session else { return answer(.failure(CanceledTrustChallenge())) }
    let challenge = URLAuthenticationChallenge(about: evidence, trust)
    session.delivery.perform {
      guard let delegate = session.delegates?.session else { return answer(.failure(CanceledTrustChallenge())) }
      delegate.urlSession(session, didReceive: challenge) { disposition, credential in
        answer(challenge.decision(of: disposition, credential, orElse: found))
      }
    }
  }
}

/// The error of a TLS handshake whose challenge the delegate has canceled or can't answer, because its session has ended.
struct CanceledTrustChallenge: Error, CustomStringConvertible {
  var description: String { "the session's delegate canceled the challenge, or the session has ended" }
}

extension URLAuthenticationChallenge {
  /// Creates the challenge with which the session's delegate decides about a server's certificate.
  fileprivate convenience init(about evidence: CertificateVerifier.Evidence, _ trust: SecTrust) {
    self.init(
      protectionSpace: URLProtectionSpace(
        host: evidence.host, port: Int(evidence.port), isProxy: evidence.isProxy, serverTrust: trust),
      proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
  }

  /// Converts the delegate's answer to a decision about the server's certificate.
  ///
  /// The answer accepts the certificate only with a credential for this server's trust object. With any other credential, the
  /// decision is `found`, which was made before.
  fileprivate func decision(
    of disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?,
    orElse found: CertificateVerifier.Decision
  ) -> Result<CertificateVerifier.Decision, any Error> {
    switch disposition {
    case .useCredential:
      let isAccepted = credential?.trust.flatMap { protectionSpace.serverTrust?.hasSameCertificate(as: $0) } ?? false
      return .success(isAccepted ? .accept : found)
    case .performDefaultHandling: return .success(found)
    case .rejectProtectionSpace:
      return .success(
        .refuse(
          reason: "The session's delegate rejected the certificate. To let the trust roots decide, answer with "
            + "performDefaultHandling."))
    case .cancelAuthenticationChallenge: return .failure(CanceledTrustChallenge())
    }
  }
}
