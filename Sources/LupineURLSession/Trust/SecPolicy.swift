// SecPolicy: the rules by which a trust object is evaluated, and the constants of the Security framework.

/// The Security framework's type for a combination of flags.
public typealias CFOptionFlags = UInt
/// The type of the Security framework's result codes. ``errSecSuccess`` means success.
public typealias OSStatus = Int32

/// A rule by which a ``SecTrust`` is evaluated.
public final class SecPolicy: Sendable, CustomStringConvertible {
  enum Kind: Sendable {
    /// The chain must be valid and, if `host` isn't nil, its certificate must match the host.
    case server(host: String?)
    /// The chain must be valid, and its certificates are checked for revocation.
    case revocation(RevocationOptions)
  }

  let kind: Kind

  init(_ kind: Kind) {
    self.kind = kind
  }

  /// A textual description of the rule.
  public var description: String {
    switch kind {
    case .server(let host?): "SecPolicy(valid for \(host))"
    case .server(nil): "SecPolicy(valid for any host)"
    case .revocation(let options): "SecPolicy(revocation, options \(options.rawValue))"
    }
  }
}

/// Creates a policy that requires a valid certificate chain, for any host.
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.server(host: nil)) }

/// Creates a policy that requires a valid certificate chain of a server.
///
/// - Parameters:
///   - server: Whether the certificate is a server's. If not, the host isn't compared.
///   - hostname: The name or address that the certificate must match, or nil to accept any.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: String?) -> SecPolicy {
  SecPolicy(.server(host: server ? hostname : nil))
}

/// Creates a policy that requires a valid certificate chain and checks its certificates for revocation. `revocationFlags`
/// combines `kSecRevocation` constants. Returns nil if a flag is unknown, or if neither OCSP nor revocation lists are chosen.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
  let options = RevocationOptions(rawValue: revocationFlags)
  guard RevocationOptions.all.isSuperset(of: options), !options.isDisjoint(with: [.ocsp, .lists]) else { return nil }
  return SecPolicy(.revocation(options))
}

/// Revocation is checked with OCSP (RFC 6960).
public let kSecRevocationOCSPMethod: CFOptionFlags = RevocationOptions.ocsp.rawValue
/// Revocation is checked with certificate revocation lists (RFC 5280 §5).
public let kSecRevocationCRLMethod: CFOptionFlags = RevocationOptions.lists.rawValue
/// Certificate revocation lists are tried before OCSP.
public let kSecRevocationPreferCRL: CFOptionFlags = RevocationOptions.prefersLists.rawValue
/// A certificate whose status can't be verified is refused.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = RevocationOptions.requiresAnswer.rawValue
/// Nothing is fetched: only stapled OCSP responses and cached statuses are used.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = RevocationOptions.isOffline.rawValue
/// Revocation is checked with OCSP, and then with certificate revocation lists if OCSP gives no status.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = kSecRevocationOCSPMethod | kSecRevocationCRLMethod

/// The result code for success: 0.
public let errSecSuccess: OSStatus = 0
/// The result code for an invalid parameter: -50.
public let errSecParam: OSStatus = -50

/// The result of a trust evaluation.
public enum SecTrustResultType: UInt32, Sendable {
  /// The trust hasn't been evaluated.
  case invalid = 0
  /// The user has accepted the certificates. No evaluation has this result.
  case proceed = 1
  /// The user has refused the certificates. No evaluation has this result.
  case deny = 3
  /// The certificates are trusted.
  case unspecified = 4
  /// The certificates aren't trusted, but a caller may accept them.
  case recoverableTrustFailure = 5
  /// A certificate is revoked.
  case fatalTrustFailure = 6
  /// Another failure. No evaluation has this result.
  case otherError = 7
}
