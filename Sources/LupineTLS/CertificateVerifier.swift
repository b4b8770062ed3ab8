// The application's own word on a server's certificate.

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

  let decide: @Sendable (Evidence) -> Decision

  /// Makes a verifier of a closure, which several loops may call at the same time.
  public init(_ decide: @escaping @Sendable (Evidence) -> Decision) {
    self.decide = decide
  }
}

extension CertificateVerifier: Hashable {
  /// Whether both are the same object.
  public static func == (left: CertificateVerifier, right: CertificateVerifier) -> Bool { left === right }

  /// Takes the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
