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
  /// Returns the trust of a client that trusts `roots`, for a server that presents this certificate and then `issuers`.
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
    // The client has the certificate after the server's first flight.
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
  /// Returns the first certificate in PEM text.
  static func pem(_ text: [UInt8]) throws -> SecCertificate {
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").dropFirst().prefix { !$0.hasPrefix("-") }
    let data = try #require(Data(base64Encoded: lines.joined()))
    return try #require(SecCertificateCreateWithData(nil, data))
  }
}

/// Returns the reason why trust evaluation failed. Records an issue and throws for any other error.
func trustFailure(
  _ error: (any Error)?, sourceLocation: SourceLocation = #_sourceLocation
) throws -> AFError.ServerTrustFailureReason {
  guard case .serverTrustEvaluationFailed(let reason)? = error as? AFError else {
    Issue.record("not a server trust failure: \(String(describing: error))", sourceLocation: sourceLocation)
    throw error ?? CancellationError()
  }
  return reason
}

/// Returns the reason why the evaluator rejects the trust. Records an issue and throws if it accepts.
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

/// Returns OpenSSL's code if it is the reason why the server isn't trusted.
func verdict(_ reason: AFError.ServerTrustFailureReason) -> TLSError.Code? {
  guard case .trustEvaluationFailed(let error) = reason else { return nil }
  return (error as? TLSError)?.code
}
