// What evaluators ask of a server's certificates, and where pins come from.

public import Foundation
public import LupineURLSession

extension SecTrust: AlamofireExtended {}
extension SecCertificate: AlamofireExtended {}
extension Array: AlamofireExtended where Element == SecCertificate {}
extension Bundle: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == SecTrust {
  /// The server's own certificate and those that vouch for it, each signed by the next one. If the chain is good, it ends
  /// in a trusted one.
  public var certificates: [SecCertificate] { type.certificates }

  /// The certificates in DER.
  public var certificateData: [Data] { certificates.af.data }

  /// The keys of the certificates.
  public var publicKeys: [SecKey] { certificates.af.publicKeys }

  /// Makes these certificates, and no others, what the chain may end in; each is trusted as it is, also a server's own.
  /// It never throws here.
  public func setAnchorCertificates(_ certificates: [SecCertificate]) throws { type.trust(certificates) }

  /// Throws unless the chain is good and names the host that the session has asked for.
  public func evaluate() throws { try type.evaluate(forHost: type.host) }

  /// Throws unless the chain is good, whatever host it names.
  public func performDefaultValidation(forHost host: String) throws { try type.evaluate(forHost: nil) }

  /// Throws unless the chain is good and names the host.
  public func performValidation(forHost host: String) throws { try type.evaluate(forHost: host) }
}

extension SecTrust {
  /// Throws `trustEvaluationFailed` unless the chain is trusted and, if `host` isn't nil, names it.
  func evaluate(forHost host: String?) throws(AFError) {
    guard let problem = problem(forHost: host) else { return }
    throw .serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: problem))
  }
}

extension AlamofireExtension where ExtendedType == SecCertificate {
  /// The key that is certified.
  public var publicKey: SecKey? { type.publicKey }
}

extension AlamofireExtension where ExtendedType == [SecCertificate] {
  /// The certificates in DER.
  public var data: [Data] { type.map(\.data) }

  /// The certificates' keys.
  public var publicKeys: [SecKey] { type.map(\.publicKey) }
}

extension AlamofireExtension where ExtendedType: Bundle {
  /// The certificates among the bundle's resources: files with one certificate in DER each, by the extensions cer, crt
  /// and der. Others, those in PEM among them, are skipped.
  public var certificates: [SecCertificate] {
    paths(forResourcesOfTypes: [".cer", ".CER", ".crt", ".CRT", ".der", ".DER"]).compactMap { path in
      guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
      return SecCertificate(data)
    }
  }

  /// The keys of the certificates.
  public var publicKeys: [SecKey] { certificates.af.publicKeys }

  /// The paths of the bundle's resources with these extensions, each once, sorted.
  public func paths(forResourcesOfTypes types: [String]) -> [String] {
    Set(types.flatMap { type.paths(forResourcesOfType: $0, inDirectory: nil) }).sorted()
  }
}
