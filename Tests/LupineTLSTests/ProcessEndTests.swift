// That OpenSSL outlives everything that may use it while the process ends.

import Glibc
import LupineTLS
import Testing

@Suite struct ProcessEndTests {
  /// What a process may do first of all with OpenSSL.
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

  @Test("whatever is called first, OpenSSL works until the process is gone", arguments: FirstCall.allCases)
  func lastsToTheEnd(first: FirstCall) async {
    await #expect(processExitsWith: .exitCode(7)) { [first = first as FirstCall] in
      // Called last, since it is registered before anything of OpenSSL's may be.
      atexit { _exit((try? TLSContext(client: TLSConfiguration())) == nil ? 8 : 7) }
      try first.make()
      exit(0)
    }
  }
}
