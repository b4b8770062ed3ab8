// Servers' certificates to evaluate without a network, and pins of them.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTLS
import Synchronization
import Testing

@testable import Lupine

extension SecTrust {
  /// What a server with this certificate, which sends `issuers` along, shows to a client that trusts `roots`.
  static func shown(
    by identity: ThrowawayAuthority.Identity, sending issuers: [UInt8] = [], to host: String = "localhost",
    trusting roots: ThrowawayAuthority
  ) throws -> SecTrust {
    let seen = Mutex<CertificateVerifier.Evidence?>(nil)
    let verifier = CertificateVerifier { evidence in
      seen.withLock { $0 = evidence }
      return .accept
    }
    let configuration = TLSConfiguration(trustRoots: [.pem(roots.certificatePEM)], verifier: verifier)
    var client = try TLSSession(client: TLSContext(client: configuration), host: host, port: 443)
    var server = try TLSSession(
      server: TLSContext(
        serverCertificatePEM: identity.certificatePEM + issuers, privateKeyPEM: identity.privateKeyPEM))
    // The certificate comes with the server's first flight.
    for _ in 0..<2 {
      _ = try client.handshake()
      server.receive(client.output().span.bytes)
      _ = try server.handshake()
      client.receive(server.output().span.bytes)
    }
    return SecTrust(try #require(seen.withLock { $0 }))
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
  /// The first certificate of PEM text.
  static func pem(_ text: [UInt8]) throws -> SecCertificate {
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").dropFirst().prefix { !$0.hasPrefix("-") }
    let data = try #require(Data(base64Encoded: lines.joined()))
    return try #require(SecCertificateCreateWithData(nil, data))
  }
}

/// Why a server wasn't trusted; it is an issue if that isn't what happened.
func trustFailure(
  _ error: (any Error)?, sourceLocation: SourceLocation = #_sourceLocation
) throws -> AFError.ServerTrustFailureReason {
  guard case .serverTrustEvaluationFailed(let reason)? = error as? AFError else {
    Issue.record("no failure of a server's trust: \(String(describing: error))", sourceLocation: sourceLocation)
    throw error ?? CancellationError()
  }
  return reason
}

/// Why an evaluation fails; it is an issue if it doesn't.
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

/// OpenSSL's code, if that is why a server wasn't trusted.
func verdict(_ reason: AFError.ServerTrustFailureReason) -> TLSError.Code? {
  guard case .trustEvaluationFailed(let error) = reason else { return nil }
  return (error as? TLSError)?.code
}
