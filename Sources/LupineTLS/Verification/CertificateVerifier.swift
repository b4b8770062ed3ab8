// CertificateVerifier: a closure of the application that decides on a server's certificate.

import CLupineOpenSSL

/// Decides whether a server's certificate is accepted, after OpenSSL's verification, for example to pin keys or to accept a
/// certificate that OpenSSL refuses. Two verifiers are equal only if they are the same object.
///
/// The handshake waits for the verifier until the time limit of the TLS handshake. The engine calls the verifier on a separate
/// thread, so it may block without delaying other connections. It isn't called for a resumed session: the same verifier accepted
/// the session's certificate before, because sessions are only resumed under an equal configuration.
public final class CertificateVerifier: Sendable {
  /// The data from which a verifier decides whether to accept a server's certificate.
  public struct Evidence: Sendable {
    /// The host that the certificate must match: the host of the URL, or `TLSConfiguration.serverName` if it is set.
    public let host: String
    /// The server's port, or 0 for certificates that come from no handshake.
    package let port: UInt16
    /// Whether the server that presented the certificates is a proxy instead of an origin.
    package let isProxy: Bool
    /// The certificates in DER as received, the server's own first. They are unverified.
    public let sentChain: [[UInt8]]
    /// The chain in DER that OpenSSL built, from the server's own certificate to a trust root. It ends early if the
    /// verification failed.
    public let builtChain: [[UInt8]]
    /// The reason why OpenSSL refuses the certificate, or nil if OpenSSL accepts it. OpenSSL reports only the first reason.
    public let problem: TLSError?
    /// The OCSP response in DER that the server stapled. Nil if the server stapled none, or if the client requested none. The
    /// response is unverified.
    public internal(set) var stapledResponse: [UInt8]?
    /// The parsed certificates of `sentChain`.
    let certificates: [Certificate]
    let terms: VerificationTerms
  }

  /// A verifier's decision on a server's certificate.
  public enum Decision: Sendable, Hashable {
    /// Continues the handshake, even if OpenSSL refuses the certificate.
    case accept
    /// Ends the handshake with `TLSError.Code.refusedByVerifier`. The error's message contains the reason.
    case refuse(reason: String)
    /// Follows OpenSSL's result: if the evidence has a `problem`, ends the handshake with it, and otherwise continues.
    case asFound
  }

  /// Calls another party, such as a session's delegate, for the final decision. The closure itself must not block.
  ///
  /// `found` is the decision of `decide`: `.accept` or `.asFound`. The other party calls `answer` with the final decision, on any
  /// thread. Only the first call counts. Without an answer, the handshake ends at its time limit.
  package typealias Consultation =
    @Sendable (
      _ evidence: Evidence, _ found: Decision, _ answer: @escaping @Sendable (Result<Decision, any Error>) -> Void
    ) -> Void

  package let decide: @Sendable (Evidence) throws -> Decision
  /// Returns whether `decide` never blocks for this host and needs no `consultation`. If so, `decide` is called on the event loop,
  /// and its decision is final.
  package let isQuick: @Sendable (_ host: String) -> Bool
  /// Called for the final decision after `decide`, unless `decide` has refused the certificate. If nil, the decision of `decide`
  /// is final.
  let consultation: Consultation?

  /// Creates a verifier from a closure. Several threads may call the closure at the same time.
  ///
  /// An error that the closure throws refuses the certificate, as `Decision.refuse` does. It becomes the
  /// `verifierError` of the `TLSError`.
  public convenience init(_ decide: @escaping @Sendable (Evidence) throws -> Decision) {
    self.init(isQuick: { _ in false }, decide)
  }

  /// Creates a verifier. If `isQuick` returns true for a host, `decide` is called on the event loop. `isQuick` itself must not
  /// block.
  package init(
    isQuick: @escaping @Sendable (_ host: String) -> Bool, consultation: Consultation? = nil,
    _ decide: @escaping @Sendable (Evidence) throws -> Decision
  ) {
    self.isQuick = isQuick
    self.consultation = consultation
    self.decide = decide
  }
}

extension CertificateVerifier.Evidence {
  /// The result of verifying a server's certificates.
  public struct Verification: Sendable {
    /// The chain in DER, from the server's own certificate up to the last certificate whose key signed its predecessor. If
    /// there is no `problem`, the chain ends in a trusted certificate.
    public let chain: [[UInt8]]
    /// The reason why the certificates are refused, or nil if they are accepted. Only the first reason is reported.
    public let problem: TLSError?
  }

  /// OpenSSL's result during the handshake, with the part of `builtChain` that is linked by valid signatures.
  public var verification: Verification {
    guard problem != nil else { return Verification(chain: builtChain, problem: nil) }
    return Verification(chain: linked(builtChain.compactMap { Certificate(der: $0) }).map(\.der), problem: problem)
  }

  /// Verifies the server's certificates again with the current time.
  ///
  /// OpenSSL compares the host before it checks signatures and dates. A `problem` with `.hostMismatch` therefore
  /// doesn't mean that the other checks would succeed.
  ///
  /// - Parameters:
  ///   - host: The name or address that the certificate must match, or nil to accept any name.
  ///   - anchors: Certificates in DER that are trusted in place of the configuration's trust roots, including
  ///     intermediate certificates, or nil to use the trust roots.
  public func verify(host: String?, anchors: [[UInt8]]? = nil) -> Verification {
    do throws(TLSError) {
      return try terms.verify(
        certificates, name: try host.map { host throws(TLSError) in try PeerName(host: host) },
        shownAs: host ?? self.host, anchors: try anchors.map { anchors throws(TLSError) in try Self.read(anchors) })
    } catch {
      return Verification(chain: [], problem: error)
    }
  }

  private static func read(_ anchors: [[UInt8]]) throws(TLSError) -> [Certificate] {
    try anchors.map { bytes throws(TLSError) in
      guard let certificate = Certificate(der: bytes) else {
        ERR_clear_error()
        throw .configuration(
          "The anchor's \(bytes.count) bytes aren't a single DER certificate. Pass each certificate separately.")
      }
      return certificate
    }
  }
}

extension CertificateVerifier: Hashable {
  /// Returns whether both references are to the same object.
  public static func == (left: CertificateVerifier, right: CertificateVerifier) -> Bool { left === right }

  /// Hashes the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
