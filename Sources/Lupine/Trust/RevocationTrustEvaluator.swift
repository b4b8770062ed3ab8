// RevocationTrustEvaluator: refuses servers whose certificates are revoked.

public import LupineURLSession

/// An evaluator that accepts a server whose certificate chain is valid and has no revoked certificate.
///
/// A certificate's revocation is checked with the stapled OCSP response, with a response from the responder that the certificate
/// names, or with a revocation list. By default, a certificate about which there is no verified answer is accepted, for example
/// because the responder is down. With ``Options/requirePositiveResponse``, such a certificate is refused.
public final class RevocationTrustEvaluator: ServerTrustEvaluating {
  /// The methods by which an evaluator checks certificates for revocation, and whether an answer is required for each certificate.
  public struct Options: OptionSet, Sendable {
    /// Checks certificates with revocation lists (CRLs), fetched from the addresses in the certificate.
    public static let crl = Options(rawValue: kSecRevocationCRLMethod)
    /// Fetches nothing: checks certificates only with stapled OCSP responses and cached answers.
    public static let networkAccessDisabled = Options(rawValue: kSecRevocationNetworkAccessDisabled)
    /// Checks certificates with OCSP. The OCSP response is stapled by the server, or fetched from a responder that the certificate
    /// names.
    public static let ocsp = Options(rawValue: kSecRevocationOCSPMethod)
    /// Tries revocation lists before OCSP responders.
    public static let preferCRL = Options(rawValue: kSecRevocationPreferCRL)
    /// Rejects a certificate about which there is no verified answer. This applies to each certificate except the trust anchor.
    public static let requirePositiveResponse = Options(rawValue: kSecRevocationRequirePositiveResponse)
    /// Tries OCSP first, and then revocation lists.
    public static let any = Options(rawValue: kSecRevocationUseAnyAvailableMethod)

    /// The options as flags of the Security framework.
    public let rawValue: CFOptionFlags

    /// Creates options from the Security framework's flags.
    public init(rawValue: CFOptionFlags) {
      self.rawValue = rawValue
    }
  }

  private let performDefaultValidation: Bool
  private let validateHost: Bool
  private let options: Options

  /// Creates an evaluator that rejects revoked certificates.
  ///
  /// - Parameters:
  ///   - performDefaultValidation: Whether the certificate chain is validated first. True by default. The revocation check itself
  ///     also requires a valid chain.
  ///   - validateHost: Whether the chain must be valid for the host. True by default.
  ///   - options: The methods with which certificates are checked, and whether an answer is required. `.any` by default.
  public init(performDefaultValidation: Bool = true, validateHost: Bool = true, options: Options = .any) {
    self.performDefaultValidation = performDefaultValidation
    self.validateHost = validateHost
    self.options = options
  }

  /// Throws `AFError.serverTrustEvaluationFailed` with the reason `.trustEvaluationFailed` if the required validation fails. The
  /// reason is `.revocationCheckFailed` if a certificate of the chain has been revoked, or if no verified answer about a
  /// certificate was received although the options require one.
  public func evaluate(_ trust: SecTrust, forHost host: String) throws {
    if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
    if validateHost { try trust.af.performValidation(forHost: host) }
    trust.apply([try SecPolicy.af.revocation(options: options)])
    guard let problem = trust.policyProblem else { return }
    guard trust.revocationFailure != nil else {
      throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: problem))
    }
    let (status, result) = SecTrust.codes(of: problem)
    throw AFError.serverTrustEvaluationFailed(
      reason: .revocationCheckFailed(
        output: .init(host, trust, status, result), options: options))
  }
}

extension ServerTrustEvaluating where Self == RevocationTrustEvaluator {
  /// An evaluator that rejects revoked certificates, and accepts certificates about which it receives no answer.
  public static var revocationChecking: RevocationTrustEvaluator { RevocationTrustEvaluator() }

  /// An evaluator that rejects revoked certificates. The parameters are those of ``RevocationTrustEvaluator``.
  public static func revocationChecking(
    performDefaultValidation: Bool = true, validateHost: Bool = true,
    options: RevocationTrustEvaluator.Options = .any
  ) -> RevocationTrustEvaluator {
    RevocationTrustEvaluator(
      performDefaultValidation: performDefaultValidation, validateHost: validateHost, options: options)
  }
}
