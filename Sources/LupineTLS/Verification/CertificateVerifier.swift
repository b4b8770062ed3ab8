// CertificateVerifier: a closure of the application that decides on a server's certificate.

import CLupineOpenSSL

/// Decides whether to accept a server's certificate after OpenSSL has verified it, for example to pin keys or to accept a
/// certificate that OpenSSL refuses. Two verifiers are equal only if they are the same object.
///
/// The handshake waits for the verifier until the time limit of the TLS handshake. The engine calls the verifier on a separate
/// thread, so it may block without delaying other connections.
///
/// The verifier isn't called for a resumed session. Sessions are resumed only under an equal configuration, so the same verifier
/// has already accepted the session's certificate.
public final class CertificateVerifier: Sendable {
  /// The data from which a verifier decides whether to accept a server's certificate.
  public struct Evidence: Sendable {
    /// The host that the server's certificate must match: the host of the URL, or `TLSConfiguration.serverName` if it is set.
    public let host: String
    /// The port of the server that presented the certificates, or 0 if the certificates don't come from a handshake.
    package let port: UInt16
    /// Whether the server that presented the certificates is a proxy instead of an origin.
    package let isProxy: Bool
    /// The server's certificates in DER as received, the server's own first. They are unverified.
    public let sentChain: [[UInt8]]
    /// The certificate chain that OpenSSL built, in DER, from the server's own certificate to a trust root. If the verification
    /// failed, the chain may end earlier.
    public let builtChain: [[UInt8]]
    /// The reason why OpenSSL refuses the server's certificate, or nil if OpenSSL accepts it. OpenSSL reports only the first
    /// reason.
    public let problem: TLSError?
    /// The OCSP response in DER that the server stapled to its handshake. Nil if the server stapled none, or if the client
    /// requested none. The response is unverified.
    public internal(set) var stapledResponse: [UInt8]?
    /// The parsed certificates of `sentChain`.
    let certificates: [Certificate]
    let terms: VerificationTerms
  }

  /// A verifier's decision on a server's certificate.
  public enum Decision: Sendable, Hashable {
    /// Accepts the server's certificate and continues the handshake, even if OpenSSL refuses the certificate.
    case accept
    /// Refuses the server's certificate: ends the handshake with `TLSError.Code.refusedByVerifier`. The error's message contains
    /// `reason`.
    case refuse(reason: String)
    /// Follows OpenSSL's result. If the evidence has a `problem`, the handshake ends with that error. Otherwise, it continues.
    case asFound
  }

  /// A closure that obtains the final decision from another party, such as a session's delegate. The closure itself must not block.
  ///
  /// `found` is the decision of `decide`: `.accept` or `.asFound`. The other party calls `answer` with the final decision, on any
  /// thread. Only the first call counts. Without an answer, the handshake ends at its time limit.
  package typealias Consultation =
    @Sendable (
      _ evidence: Evidence, _ found: Decision, _ answer: @escaping @Sendable (Result<Decision, any Error>) -> Void
    ) -> Void

  package let decide: @Sendable (Evidence) throws -> Decision
  /// Returns whether `decide` never blocks for this host and needs no `consultation`. If it returns true, `decide` is called on the
  /// event loop, and its decision is final.
  package let isQuick: @Sendable (_ host: String) -> Bool
  /// The closure that obtains the final decision after `decide` has accepted the certificate or left the decision to OpenSSL. If
  /// nil, the decision of `decide` is final.
  let consultation: Consultation?

  /// Creates a verifier from a closure. Several threads may call the closure at the same time.
  ///
  /// If the closure throws an error, the certificate is refused, as with `Decision.refuse`. The error becomes the `verifierError`
  /// of the `TLSError`.
  public convenience init(_ decide: @escaping @Sendable (Evidence) throws -> Decision) {
    self.init(isQuick: { _ in false }, decide)
  }

  /// Creates a certificate verifier. If `isQuick` returns true for a host, `decide` is called on the event loop, so it must not
  /// block for this host. `isQuick` itself must never block.
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
    /// The certificate chain in DER, from the server's own certificate up to the last certificate whose key signed its predecessor.
    /// If there is no `problem`, the chain ends in a trusted certificate.
    public let chain: [[UInt8]]
    /// The reason why the server's certificates are refused, or nil if they are accepted. Only the first reason is reported.
    public let problem: TLSError?
  }

  /// The result of OpenSSL's verification during the handshake. Its chain contains only the part of `builtChain` that is linked by
  /// valid signatures.
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
  /// Returns whether both references are to the same verifier object.
  public static func == (left: CertificateVerifier, right: CertificateVerifier) -> Bool { left === right }

  /// Hashes the identity of the verifier object.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
