// SecPolicy: the rules by which a trust object is evaluated, and the constants of the Security framework.

/// The Security framework's type for a combination of flags, such as `kSecRevocationOCSPMethod`.
public typealias CFOptionFlags = UInt
/// The type of the Security framework's result codes. ``errSecSuccess`` means success.
public typealias OSStatus = Int32

/// A rule for evaluating a ``SecTrust``.
public final class SecPolicy: Sendable, CustomStringConvertible {
  enum Kind: Sendable {
    /// The certificate chain must be valid. If `host` isn't nil, the server's certificate must also match the host.
    case server(host: String?)
    /// The certificate chain must be valid, and none of its certificates may be revoked. The options determine how this is checked.
    case revocation(RevocationOptions)
  }

  let kind: Kind

  init(_ kind: Kind) {
    self.kind = kind
  }

  /// A textual description of the policy's rule.
  public var description: String {
    switch kind {
    case .server(let host?): "SecPolicy(valid for \(host))"
    case .server(nil): "SecPolicy(valid for any host)"
    case .revocation(let options): "SecPolicy(revocation, options \(options.rawValue))"
    }
  }
}

/// Creates a policy that requires a valid certificate chain but accepts any host.
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.server(host: nil)) }

/// Creates a policy that requires a valid certificate chain and, optionally, a certificate for a host.
///
/// - Parameters:
///   - server: Whether the certificate is a server's. If false, `hostname` is ignored.
///   - hostname: The name or address that the certificate must match, or nil to accept any host. No certificate matches an empty
///     name.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: String?) -> SecPolicy {
  SecPolicy(.server(host: server ? hostname : nil))
}

/// Creates a policy that requires a valid certificate chain and checks its certificates for revocation. `revocationFlags` is a
/// combination of `kSecRevocation` constants. Returns nil if a flag is unknown, or if the flags include neither OCSP nor revocation
/// lists.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
  let options = RevocationOptions(rawValue: revocationFlags)
  guard RevocationOptions.all.isSuperset(of: options), !options.isDisjoint(with: [.ocsp, .lists]) else { return nil }
  return SecPolicy(.revocation(options))
}

/// Checks certificates for revocation with OCSP (RFC 6960).
public let kSecRevocationOCSPMethod: CFOptionFlags = RevocationOptions.ocsp.rawValue
/// Checks certificates for revocation with certificate revocation lists (RFC 5280 §5).
public let kSecRevocationCRLMethod: CFOptionFlags = RevocationOptions.lists.rawValue
/// Tries certificate revocation lists before OCSP.
public let kSecRevocationPreferCRL: CFOptionFlags = RevocationOptions.prefersLists.rawValue
/// Refuses a certificate whose revocation status can't be verified.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = RevocationOptions.requiresAnswer.rawValue
/// Fetches nothing over the network, and uses only stapled OCSP responses and cached statuses.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = RevocationOptions.isOffline.rawValue
/// Checks certificates for revocation with OCSP, and then with certificate revocation lists if OCSP provides no status.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = kSecRevocationOCSPMethod | kSecRevocationCRLMethod

/// The result code of a Security function that has succeeded: 0.
public let errSecSuccess: OSStatus = 0
/// The result code of a Security function with an invalid argument: -50.
public let errSecParam: OSStatus = -50

/// The result of evaluating whether a server's certificates are trusted.
public enum SecTrustResultType: UInt32, Sendable {
  /// The certificates haven't been evaluated yet.
  case invalid = 0
  /// The user has accepted the certificates. Evaluations never have this result.
  case proceed = 1
  /// The user has refused the certificates. Evaluations never have this result.
  case deny = 3
  /// The certificates are trusted.
  case unspecified = 4
  /// The certificates aren't trusted, but a caller may accept them nevertheless.
  case recoverableTrustFailure = 5
  /// A certificate of the chain has been revoked.
  case fatalTrustFailure = 6
  /// The evaluation has failed for another reason. Evaluations never have this result.
  case otherError = 7
}
