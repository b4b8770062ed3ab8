// ProcessEndTests: OpenSSL remains usable until the process has ended.

import Glibc
import LupineLoopback
import LupineTLS
import Testing

@Suite struct ProcessEndTests {
  /// The call of Lupine that is the first to use OpenSSL in a process, and therefore initializes it.
  enum FirstCall: String, CaseIterable, Codable, Sendable {
    case context, pemIdentity, pkcs12Identity, certificate, throwawayAuthority

    func make() throws {
      switch self {
      case .context: _ = try TLSContext(client: TLSConfiguration())
      case .pemIdentity:
        _ = try TLSIdentity(
          certificatePEM: IdentityVectors.ecCertificate, privateKeyPEM: IdentityVectors.ecPKCS8Encrypted,
          password: IdentityVectors.password)
      case .pkcs12Identity:
        _ = try TLSIdentity(pkcs12: IdentityVectors.modernArchive, password: IdentityVectors.password)
      case .certificate: _ = publicKey(ofCertificate: Array(0..<100))
      case .throwawayAuthority: _ = try ThrowawayAuthority()
      }
    }
  }

  @Test(
    "OpenSSL works until the process has ended, whichever call of Lupine initialized OpenSSL",
    arguments: FirstCall.allCases)
  func lastsToTheEnd(first: FirstCall) async {
    await #expect(processExitsWith: .exitCode(7)) { [first = first as FirstCall] in
      // This function is registered before any of OpenSSL's exit handlers, so it runs after them.
      atexit { _exit((try? TLSContext(client: TLSConfiguration())) == nil ? 8 : 7) }
      try first.make()
      exit(0)
    }
  }
}
