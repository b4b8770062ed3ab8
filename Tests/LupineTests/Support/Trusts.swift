// Server certificates evaluated without a network, and functions for tests of trust evaluation.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTLS
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

extension SecTrust {
  /// Returns the SecTrust of a client that trusts `roots`, after a TLS handshake in which the server has sent the certificate of
  /// `identity` and then `issuers`.
  static func shown(
    by identity: ThrowawayAuthority.Identity, sending issuers: [UInt8] = [], to host: String = "localhost",
    trusting roots: ThrowawayAuthority,
    stapling response: [UInt8] = [], revocation: RevocationChecker = RevocationChecker(fetcher: .shared)
  ) throws -> SecTrust {
    let seen = Mutex<CertificateVerifier.Evidence?>(nil)
    let verifier = CertificateVerifier(isQuick: { _ in true }) { evidence in
      seen.withLock { $0 = evidence }
      return .accept
    }
    var configuration = TLSConfiguration(trustRoots: [.pem(roots.certificatePEM)], verifier: verifier)
    configuration.requestsStapleForVerifier = true
    var client = try TLSSession(client: TLSContext(client: configuration), host: host, port: 443)
    var server = try TLSSession(
      server: TLSContext(
        serverCertificatePEM: identity.certificatePEM + issuers, privateKeyPEM: identity.privateKeyPEM,
        stapledResponse: response))
    // Two rounds suffice, because the server's first flight contains the certificate.
    for _ in 0..<2 {
      _ = try client.handshake()
      server.receive(client.output().span.bytes)
      _ = try server.handshake()
      client.receive(server.output().span.bytes)
    }
    return SecTrust(try #require(seen.withLock { $0 }), revocation: revocation)
  }
}

extension TLSSession {
  fileprivate mutating func output() -> [UInt8] {
    var bytes: [UInt8] = []
    drainOutput(into: &bytes)
    return bytes
  }
}

extension SecCertificate {
  /// Returns the first certificate in a PEM text.
  static func pem(_ text: [UInt8]) throws -> SecCertificate {
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").dropFirst().prefix { !$0.hasPrefix("-") }
    let data = try #require(Data(base64Encoded: lines.joined()))
    return try #require(SecCertificateCreateWithData(nil, data))
  }
}

/// Returns the reason in AFError.serverTrustEvaluationFailed. For any other error, records an issue and throws.
func trustFailure(
  _ error: (any Error)?, sourceLocation: SourceLocation = #_sourceLocation
) throws -> AFError.ServerTrustFailureReason {
  guard case .serverTrustEvaluationFailed(let reason)? = error as? AFError else {
    Issue.record("not a server trust failure: \(String(describing: error))", sourceLocation: sourceLocation)
    throw error ?? CancellationError()
  }
  return reason
}

/// Evaluates the trust, and returns the reason for which the evaluator refuses the server. Records an issue and throws if the
/// evaluator accepts the server.
func trustFailure(
  of evaluator: some ServerTrustEvaluating, _ trust: SecTrust, _ host: String = "localhost",
  sourceLocation: SourceLocation = #_sourceLocation
) throws -> AFError.ServerTrustFailureReason {
  do {
    try evaluator.evaluate(trust, forHost: host)
  } catch {
    return try trustFailure(error, sourceLocation: sourceLocation)
  }
  return try trustFailure(nil, sourceLocation: sourceLocation)
}

/// Returns OpenSSL's error code if the reason is an error from OpenSSL, and nil for any other reason.
func verdict(_ reason: AFError.ServerTrustFailureReason) -> TLSError.Code? {
  guard case .trustEvaluationFailed(let error) = reason else { return nil }
  return (error as? TLSError)?.code
}
