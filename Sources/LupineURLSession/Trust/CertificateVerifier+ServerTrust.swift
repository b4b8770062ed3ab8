// CertificateVerifier+ServerTrust: trust evaluation by the module Lupine, and the way in which its error reaches the request.

import Foundation
import LupineEngine

/// An evaluation that decides during the TLS handshake whether a server is trusted. The TLS handshake waits for the result.
package struct ServerTrustEvaluation: Sendable {
  /// A closure that returns true if the evaluation for a host never blocks. The evaluation then runs on the event loop, and
  /// otherwise on another thread. The closure itself must not block.
  let isQuick: @Sendable (_ host: String) -> Bool
  /// A closure that returns false if the evaluation never decides about the servers of a host, so that the client trusts them as it
  /// would without an evaluation. The closure must not block.
  package let mayDecide: @Sendable (_ host: String) -> Bool
  /// Whether the evaluation may use a stapled OCSP response. If true, the client requests such a response from servers.
  let usesStaple: Bool
  /// A closure that evaluates the server. Returns true if the server is trusted, or false if there is no evaluator for the host. If
  /// the server isn't trusted, throws the reason.
  let evaluate: @Sendable (_ trust: SecTrust, _ host: String) throws -> Bool

  /// Creates a server trust evaluation from its closures.
  package init(
    isQuick: @escaping @Sendable (_ host: String) -> Bool, mayDecide: @escaping @Sendable (_ host: String) -> Bool,
    usesStaple: Bool, evaluate: @escaping @Sendable (_ trust: SecTrust, _ host: String) throws -> Bool
  ) {
    self.isQuick = isQuick
    self.mayDecide = mayDecide
    self.usesStaple = usesStaple
    self.evaluate = evaluate
  }
}

/// An object that makes the final decision whether to trust a server, after the `ServerTrustEvaluation`. For example, it asks a
/// session's delegate. The TLS handshake waits for the decision.
protocol ServerTrustConsultant: Sendable {
  /// Whether TLS handshakes must wait for this object's decision. Read on event loops, so the property must not block.
  var isNeeded: Bool { get }

  /// Passes the decision about the server to `answer`. If this object isn't needed, passes `found`, the decision that was already
  /// made.
  ///
  /// This object may call `answer` several times, or never. Only the first call of `answer` has an effect.
  func ask(
    about evidence: CertificateVerifier.Evidence, _ trust: SecTrust, orElse found: CertificateVerifier.Decision,
    _ answer: @escaping @Sendable (Result<CertificateVerifier.Decision, any Error>) -> Void
  )
}

/// The error with which an evaluation refuses a server. The engine passes it, with the evaluation's reason, to the request.
private struct ServerTrustRefusal: Error, CustomStringConvertible {
  let reason: any Error
  var description: String { ReadableText.error(reason) }
}

extension CertificateVerifier {
  /// Creates a verifier that calls `own`, `evaluation` and `consultant` in this order, until one has refused the server.
  ///
  /// If `evaluation` returns false or is nil, `own` makes the decision. If `own` is nil, OpenSSL makes it. Then `consultant`
  /// may still accept or refuse the server. `revocation` performs the revocation checks that evaluations and delegates request.
  /// `consultantHasDecided` is called before the handshake continues, if the consultant has changed or confirmed the decision itself.
  convenience init(
    _ evaluation: ServerTrustEvaluation?, after own: CertificateVerifier?,
    before consultant: (any ServerTrustConsultant)?,
    revocation: RevocationChecker, consultantHasDecided: @escaping @Sendable () -> Void
  ) {
    let consultation = consultant.map { consultant -> Consultation in
      { evidence, found, answer in
        consultant.ask(about: evidence, SecTrust(evidence, revocation: revocation), orElse: found) { decision in
          if (try? decision.get()) != found { consultantHasDecided() }
          answer(decision)
        }
      }
    }
    self.init(
      isQuick: { host in
        evaluation?.isQuick(host) ?? true && own?.isQuick(host) ?? true && consultant?.isNeeded != true
      }, consultation: consultation
    ) { evidence in
      let decision = try own?.decide(evidence) ?? .asFound
      if case .refuse = decision { return decision }
      guard let evaluation else { return decision }
      do {
        return try evaluation.evaluate(SecTrust(evidence, revocation: revocation), evidence.host) ? .accept : decision
      } catch {
        throw ServerTrustRefusal(reason: error)
      }
    }
  }
}

extension Error {
  /// The reason why a ``ServerTrustEvaluation`` doesn't trust the server. Nil if the error has another cause.
  package var serverTrustRefusal: (any Error)? {
    guard let error = (self as? URLError)?.userInfo[NSUnderlyingErrorKey] as? EngineError,
      case .tls(let error) = error.cause
    else { return nil }
    return (error.verifierError as? ServerTrustRefusal)?.reason
  }
}
