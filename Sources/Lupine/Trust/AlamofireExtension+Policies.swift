// The `af` extensions of policies and result codes, and the evaluation of trust objects by policies.

public import LupineURLSession

extension SecPolicy: AlamofireExtended {}
extension SecTrustResultType: AlamofireExtended {}
extension OSStatus: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == SecPolicy {
  /// A policy that requires a valid certificate chain, but accepts certificates for any host.
  public static var `default`: SecPolicy { SecPolicyCreateSSL(true, nil) }

  /// Returns a policy that requires a certificate chain that is valid for `hostname`.
  public static func hostname(_ hostname: String) -> SecPolicy { SecPolicyCreateSSL(true, hostname) }

  /// Returns a policy that requires a valid certificate chain without revoked certificates.
  ///
  /// - Throws: `AFError.ServerTrustFailureReason.revocationPolicyCreationFailed` if the options contain no method, or contain
  ///   an unknown bit.
  public static func revocation(options: RevocationTrustEvaluator.Options) throws -> SecPolicy {
    guard let policy = SecPolicyCreateRevocation(options.rawValue) else {
      throw AFError.serverTrustEvaluationFailed(reason: .revocationPolicyCreationFailed)
    }
    return policy
  }
}

extension AlamofireExtension where ExtendedType == OSStatus {
  /// Whether this status code is `errSecSuccess`.
  public var isSuccess: Bool { type == errSecSuccess }
}

extension AlamofireExtension where ExtendedType == SecTrustResultType {
  /// Whether this result means that the certificates are trusted.
  public var isSuccess: Bool { type == .unspecified || type == .proceed }
}

extension AlamofireExtension where ExtendedType == SecTrust {
  /// Makes `policy` the only policy by which this trust object is evaluated, and returns the object. Never throws in Lupine.
  public func apply(policy: SecPolicy) throws -> SecTrust {
    type.apply([policy])
    return type
  }

  /// Makes `policy` the trust object's only policy, and throws `AFError.serverTrustEvaluationFailed` with the reason
  /// `.trustEvaluationFailed` if the certificates aren't trusted under it.
  public func evaluate(afterApplying policy: SecPolicy) throws { try apply(policy: policy).af.evaluate() }

  /// Makes `policy` the trust object's only policy. If the certificates aren't trusted under it, throws the error that
  /// `errorProducer` returns.
  public func validate(
    policy: SecPolicy, errorProducer: (_ status: OSStatus, _ result: SecTrustResultType) -> any Error
  ) throws {
    try apply(policy: policy).af.validate(errorProducer: errorProducer)
  }

  /// Throws the error that `errorProducer` returns if the trust object's certificates aren't trusted.
  public func validate(errorProducer: (_ status: OSStatus, _ result: SecTrustResultType) -> any Error) throws {
    let (status, result) = SecTrust.codes(of: type.policyProblem)
    guard status.af.isSuccess, result.af.isSuccess else { throw errorProducer(status, result) }
  }
}
