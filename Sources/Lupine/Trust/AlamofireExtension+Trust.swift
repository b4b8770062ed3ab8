// AlamofireExtension+Trust: the `af` extensions of trust objects, certificates, policies, result codes and bundles, for trust
// evaluators and pinning.

public import Foundation
public import LupineURLSession

extension SecTrust: AlamofireExtended {}
extension SecCertificate: AlamofireExtended {}
extension SecPolicy: AlamofireExtended {}
extension SecTrustResultType: AlamofireExtended {}
extension OSStatus: AlamofireExtended {}
extension Array: AlamofireExtended where Element == SecCertificate {}
extension Bundle: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == SecTrust {
  /// The server's certificate, followed by the certificates of its issuers. Each certificate is signed by the next one. A valid
  /// chain ends in a trust anchor.
  public var certificates: [SecCertificate] { type.certificates }

  /// The DER encodings of the server's certificate and of its issuers' certificates, in this order.
  public var certificateData: [Data] { certificates.af.data }

  /// The public keys of the server's certificate and of its issuers' certificates, in this order.
  public var publicKeys: [SecKey] { certificates.af.publicKeys }

  /// Makes `certificates` the only trust anchors. Each of them is trusted directly, even if it is a server's own certificate. Never
  /// throws in Lupine.
  public func setAnchorCertificates(_ certificates: [SecCertificate]) throws { type.trust(certificates) }

  /// Throws `AFError.serverTrustEvaluationFailed` with the reason `.trustEvaluationFailed` unless the server's certificates are
  /// trusted under all policies of this trust object. If it has no policies, the certificate chain must be valid for the request's
  /// host.
  public func evaluate() throws {
    guard let problem = type.policyProblem else { return }
    throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: problem))
  }

  /// Throws `AFError.serverTrustEvaluationFailed` with the reason `.trustEvaluationFailed` unless the certificate chain is valid.
  /// Doesn't check whether the chain is valid for `host`.
  public func performDefaultValidation(forHost host: String) throws { try type.evaluate(forHost: nil) }

  /// Throws `AFError.serverTrustEvaluationFailed` with the reason `.trustEvaluationFailed` unless the certificate chain is valid
  /// for `host`.
  public func performValidation(forHost host: String) throws { try type.evaluate(forHost: host) }
}

extension SecTrust {
  /// Throws `trustEvaluationFailed` unless the certificate chain is trusted and, if `host` isn't nil, valid for that host.
  func evaluate(forHost host: String?) throws(AFError) {
    guard let problem = problem(forHost: host) else { return }
    throw .serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: problem))
  }
}

extension AlamofireExtension where ExtendedType == SecCertificate {
  /// The public key of this certificate.
  public var publicKey: SecKey? { type.publicKey }
}

extension AlamofireExtension where ExtendedType == [SecCertificate] {
  /// The DER encodings of the certificates in this array.
  public var data: [Data] { type.map(\.data) }

  /// The public keys of the certificates in this array.
  public var publicKeys: [SecKey] { type.map(\.publicKey) }
}

extension AlamofireExtension where ExtendedType: Bundle {
  /// The certificates in the bundle's resource files that have the extension cer, crt or der and contain one DER certificate. Other
  /// files, including PEM files, are skipped.
  public var certificates: [SecCertificate] {
    paths(forResourcesOfTypes: [".cer", ".CER", ".crt", ".CRT", ".der", ".DER"]).compactMap { path in
      guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
      return SecCertificate(data)
    }
  }

  /// The public keys of the certificates in the bundle's resource files.
  public var publicKeys: [SecKey] { certificates.af.publicKeys }

  /// Returns the paths of the bundle's resources whose file extension is in `types`, sorted and without duplicates.
  public func paths(forResourcesOfTypes types: [String]) -> [String] {
    Set(types.flatMap { type.paths(forResourcesOfType: $0, inDirectory: nil) }).sorted()
  }
}

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
