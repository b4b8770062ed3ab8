// Certificates for tests: one in PEM text, and those that a server presents in a handshake without a network.

import Foundation
import LupineEngine
import LupineLoopback
import LupineTLS
import Synchronization
import Testing

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
