// The application's own word on a server's certificate.

import CLupineOpenSSL

/// Decides on a server's certificate after OpenSSL has looked at it: to pin keys, or to accept a certificate that OpenSSL
/// doesn't. Two verifiers are equal only if they are the same object.
///
/// It is called on the engine's loop in the middle of a handshake, so that every other connection of the loop waits for
/// it: it must return quickly, and wait for nothing. It isn't called for a resumed session, whose certificate the same
/// verifier accepted before: sessions are resumed only under an equal configuration.
public final class CertificateVerifier: Sendable {
  /// What there is to decide on.
  public struct Evidence: Sendable {
    /// The host of the URL, or `TLSConfiguration.serverName`.
    public let host: String
    /// The certificates in DER as the server sent them, its own first; nothing of them is verified.
    public let sentChain: [[UInt8]]
    /// The chain in DER that OpenSSL built, from the server's own to a trust root, or as far as it came before it failed.
    public let builtChain: [[UInt8]]
    /// Why OpenSSL refuses the certificate; nil if it accepts it. Only the first reason is found.
    public let problem: TLSError?
    /// The certificates of `sentChain`.
    let certificates: [Certificate]
    let terms: VerificationTerms
  }

  /// What is to be done.
  public enum Decision: Sendable, Hashable {
    /// Goes on, also with a certificate that OpenSSL refuses.
    case accept
    /// Ends the handshake with `TLSError.Code.refusedByVerifier`, whose message has the reason.
    case refuse(reason: String)
    /// Does what OpenSSL found: goes on if there is no problem, and ends with that problem if there is.
    case asFound
  }

  package let decide: @Sendable (Evidence) throws -> Decision

  /// Makes a verifier of a closure, which several loops may call at the same time. What it throws refuses the certificate
  /// as `Decision.refuse` does, and is kept as the `verifierError` of the `TLSError`.
  public init(_ decide: @escaping @Sendable (Evidence) throws -> Decision) {
    self.decide = decide
  }
}

extension CertificateVerifier.Evidence {
  /// What another verification of the certificates came to.
  public struct Verification: Sendable {
    /// The chain in DER, the server's own certificate first, as far as each is signed by the next one. Without a problem
    /// it ends in a trusted certificate.
    public let chain: [[UInt8]]
    /// Why the certificates are refused; nil if they are accepted. Only the first reason is found.
    public let problem: TLSError?
  }

  /// What OpenSSL found, with the part of `builtChain` that its signatures hold together.
  public var verification: Verification {
    guard problem != nil else { return Verification(chain: builtChain, problem: nil) }
    return Verification(chain: linked(builtChain.compactMap { Certificate(der: $0) }).map(\.der), problem: problem)
  }

  /// Verifies the certificates again, now. OpenSSL compares the host before it looks at signatures and dates: that
  /// `problem` is `.hostMismatch` doesn't say that the rest is in order.
  ///
  /// - Parameters:
  ///   - host: the name or address that the certificate must have; nil if any will do.
  ///   - anchors: certificates in DER that are trusted as they are, in place of the configuration's trust roots; nil for
  ///     those.
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
        throw .configuration("An anchor's \(bytes.count) bytes aren't one certificate in DER. Pass each on its own.")
      }
      return certificate
    }
  }
}

extension CertificateVerifier: Hashable {
  /// Whether both are the same object.
  public static func == (left: CertificateVerifier, right: CertificateVerifier) -> Bool { left === right }

  /// Takes the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
