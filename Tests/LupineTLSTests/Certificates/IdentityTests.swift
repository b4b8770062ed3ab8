// IdentityTests: the formats of client certificates and keys, errors for unusable ones, and the server's view of them.

import Glibc
import LupineLoopback
import LupineTLS
import LupineTestSupport
import Testing

@Suite("The client's certificate")
struct IdentityTests {
  typealias Vectors = IdentityVectors

  private func problem(_ make: () throws(TLSError) -> TLSIdentity) -> TLSError? {
    do {
      _ = try make()
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "the private key of a client certificate can be read in each format, encrypted or not",
    arguments: [
      (Vectors.rsaCertificate, Vectors.rsaPKCS8, nil), (Vectors.rsaCertificate, Vectors.rsaPKCS1, nil),
      (Vectors.rsaCertificate, Vectors.rsaPKCS1Encrypted, "sesame"), (Vectors.ecCertificate, Vectors.ecPKCS8, nil),
      (Vectors.ecCertificate, Vectors.ecSEC1, nil), (Vectors.ecCertificate, Vectors.ecSEC1Encrypted, "sesame"),
      (Vectors.ecCertificate, Vectors.ecPKCS8Encrypted, "sesame"), (Vectors.ecCertificate, Vectors.ecPKCS8, "unneeded"),
    ] as [([UInt8], [UInt8], String?)])
  func pem(certificate: [UInt8], key: [UInt8], password: String?) throws {
    let identity = try TLSIdentity(certificatePEM: certificate, privateKeyPEM: key, password: password)
    _ = try TLSContext(client: TLSConfiguration(identity: identity))
  }

  @Test(
    "the error for an encrypted private key states whether the password is missing or wrong",
    arguments: [Vectors.ecSEC1Encrypted, Vectors.ecPKCS8Encrypted])
  func passwords(key: [UInt8]) throws {
    let missing = try #require(
      problem { () throws(TLSError) in try TLSIdentity(certificatePEM: Vectors.ecCertificate, privateKeyPEM: key) })
    #expect(missing.code == .configuration)
    #expect(missing.message.contains("no password was given"))
    for wrong in ["Sesame", "", String(repeating: "long", count: 1000)] {
      let error = try #require(
        problem { () throws(TLSError) in
          try TLSIdentity(certificatePEM: Vectors.ecCertificate, privateKeyPEM: key, password: wrong)
        })
      #expect(error.code == .configuration)
      #expect(error.message.contains("password doesn't decrypt the private key"))
    }
  }

  @Test("if a private key belongs to another certificate, the error contains the given certificate's subject")
  func mismatch() throws {
    let error = try #require(
      problem { () throws(TLSError) in
        try TLSIdentity(certificatePEM: Vectors.rsaCertificate, privateKeyPEM: Vectors.ecPKCS8)
      })
    #expect(error.code == .configuration)
    #expect(error.message.contains("CN=Lupine RSA client"))
    #expect(error.message.contains("doesn't belong"))
  }

  @Test("a TLS identity can't be created from text without a certificate or without a private key")
  func nothing() {
    for (certificate, key) in [([], Vectors.ecPKCS8), (Vectors.ecCertificate, []), (Vectors.ecPKCS8, Vectors.ecPKCS8)] {
      let error = problem { () throws(TLSError) in try TLSIdentity(certificatePEM: certificate, privateKeyPEM: key) }
      #expect(error?.code == .configuration)
    }
  }

  @Test("a client certificate and its key can be read from two files or from one")
  func files() throws {
    let certificate = try TemporaryFile(Vectors.ecCertificate)
    let key = try TemporaryFile(Vectors.ecPKCS8Encrypted)
    let both = try TemporaryFile(Vectors.ecPKCS8 + Vectors.ecCertificate)
    let archive = try TemporaryFile(Vectors.modernArchive)
    let read: Set = [
      try TLSIdentity(certificateFile: certificate.path, privateKeyFile: key.path, password: "sesame"),
      try TLSIdentity(certificateFile: both.path),
      try TLSIdentity(pkcs12File: archive.path, password: "sesame"),
    ]
    #expect(read.count == 1)
  }

  @Test("if a certificate or key file is missing or unsuitable, the error contains its path")
  func unreadableFiles() throws {
    for path in ["/nonexistent/client.pem", "/tmp", "/dev/zero"] {
      let error = try #require(problem { () throws(TLSError) in try TLSIdentity(certificateFile: path) })
      #expect(error.code == .configuration)
      #expect(error.message.contains(path))
    }
  }

  @Test("a file with a client certificate has at most 1 MiB")
  func longFiles() throws {
    let bytes = Vectors.ecPKCS8 + Vectors.ecCertificate
    let longest = bytes + [UInt8](repeating: 0x20, count: (1 << 20) - bytes.count)
    let (file, longer) = (try TemporaryFile(longest), try TemporaryFile(longest + [0x20]))
    #expect(try TLSIdentity(certificateFile: file.path) == TLSIdentity(certificatePEM: bytes, privateKeyPEM: bytes))
    let error = problem { () throws(TLSError) in try TLSIdentity(certificateFile: longer.path) }
    #expect(error?.code == .configuration && error?.message.contains("more than 1048576 bytes") == true)
  }

  @Test(
    "the client can open PKCS#12 archives with old and with new algorithms",
    arguments: [
      (Vectors.modernArchive, "sesame"), (Vectors.legacyArchive, "sesame"), (Vectors.tripleDESArchive, "sesame"),
      (Vectors.archiveWithoutPassword, ""),
    ])
  func archives(bytes: [UInt8], password: String) throws {
    let opened = try TLSIdentity(pkcs12: bytes, password: password)
    #expect(try opened == TLSIdentity(certificatePEM: Vectors.ecCertificate, privateKeyPEM: Vectors.ecSEC1))
    _ = try TLSContext(client: TLSConfiguration(identity: opened))
  }

  @Test(
    "a wrong password for a PKCS#12 archive causes the error for a wrong password",
    arguments: [Vectors.modernArchive, Vectors.legacyArchive],
    ["", "Sesame", "sesame "])
  func wrongArchivePassword(bytes: [UInt8], password: String) throws {
    let error = try #require(
      problem { () throws(TLSError) in try TLSIdentity(pkcs12: bytes, password: password) })
    #expect(error.code == .configuration)
    #expect(error.message.contains("password is wrong"))
  }

  // This test runs in a separate process, because it changes the environment, which other threads may read at the same time.
  @Test("if OpenSSL's legacy provider is missing, the error for a PKCS#12 archive with RC2 states a remedy")
  func missingLegacyProvider() async {
    await #expect(processExitsWith: .success) {
      setenv("OPENSSL_MODULES", "/nonexistent", 1)
      _ = try TLSIdentity(pkcs12: IdentityVectors.modernArchive, password: "sesame")
      let error = #expect(throws: TLSError.self) {
        try TLSIdentity(pkcs12: IdentityVectors.legacyArchive, password: "sesame")
      }
      #expect(error?.code == .configuration)
      #expect(error?.message.contains("legacy provider") == true)
      #expect(error?.message.contains("openssl pkcs12 -legacy") == true)
    }
  }

  @Test(
    "a TLS identity can't be created from a PKCS#12 archive without a private key, or from a file that isn't an archive"
  )
  func uselessArchives() throws {
    let certificateOnly = try #require(
      problem { () throws(TLSError) in try TLSIdentity(pkcs12: Vectors.archiveWithoutKey, password: "sesame") })
    #expect(certificateOnly.message.contains("no certificate with a private key"))
    let text = try #require(
      problem { () throws(TLSError) in try TLSIdentity(pkcs12: Vectors.ecCertificate, password: "sesame") })
    #expect(text.message.contains("aren't a PKCS#12 archive"))
    let zero = try #require(
      problem { () throws(TLSError) in try TLSIdentity(pkcs12: Vectors.modernArchive, password: "sesame\0x") })
    #expect(zero.message.contains("NUL"))
  }

  @Test("a TLS identity can't be created from a PKCS#12 archive that is truncated at any byte")
  func cutArchives() {
    for count in 0..<Vectors.modernArchive.count {
      let cut = Array(Vectors.modernArchive.prefix(count))
      #expect(
        problem { () throws(TLSError) in try TLSIdentity(pkcs12: cut, password: "sesame") }?.code == .configuration)
    }
  }

  @Test("neither the description nor a dump of a TLS identity contains the private key or the password")
  func printing() throws {
    let identity = try TLSIdentity(
      certificatePEM: Vectors.ecCertificate, privateKeyPEM: Vectors.ecSEC1Encrypted, password: "sesame")
    var dumped = ""
    dump(TLSConfiguration(identity: identity), to: &dumped)
    for text in ["\(identity)", String(reflecting: identity), dumped, "\(TLSConfiguration(identity: identity))"] {
      #expect(text.contains("CN=Lupine EC client"))
      #expect(!text.contains("sesame"))
      #expect(!text.contains("0x"))
      #expect(!text.contains("PRIVATE"))
    }
  }

  @Test("TLS identities with the same content are equal, and so are TLS configurations with such identities")
  func equality() throws {
    let ec = try TLSIdentity(certificatePEM: Vectors.ecCertificate, privateKeyPEM: Vectors.ecSEC1)
    let again = try TLSIdentity(certificatePEM: Vectors.ecCertificate, privateKeyPEM: Vectors.ecPKCS8)
    let rsa = try TLSIdentity(certificatePEM: Vectors.rsaCertificate, privateKeyPEM: Vectors.rsaPKCS1)
    #expect(ec == again)
    #expect(ec.hashValue == again.hashValue)
    #expect(ec != rsa)
    #expect(TLSConfiguration(identity: ec) == TLSConfiguration(identity: again))
    #expect(TLSConfiguration(identity: ec) != TLSConfiguration(identity: rsa))
    #expect(TLSConfiguration(identity: ec) != TLSConfiguration())
  }

  @Test(
    "a server that requires a client certificate receives the certificate together with its chain",
    arguments: [TLSVersion.v1_2, .v1_3])
  func shown(version: TLSVersion) throws {
    let clients = try ThrowawayAuthority(commonName: "Clients' CA")
    let intermediate = try clients.issueAuthority()
    let client = try intermediate.issue(commonName: "a client", purpose: .client)
    let fixture = try Fixture(versions: version...version, clientAuthorityPEM: clients.certificatePEM)
    var configuration = fixture.trusting
    configuration.identity = try TLSIdentity(
      certificatePEM: client.certificatePEM + intermediate.certificatePEM, privateKeyPEM: client.privateKeyPEM)
    let context = try TLSContext(client: configuration)
    for isResumed in [false, true] {
      let (client, server) = try fixture.connected(context)
      try server.write([1])
      client.receive(server.output())
      try client.read()
      #expect(client.info.isResumed == isResumed)
      #expect(server.info.certificateChain.count == (isResumed ? 1 : 2))
    }
  }

  @Test(
    "a server that requires a client certificate refuses a missing certificate, and one of another authority",
    arguments: [TLSVersion.v1_2, .v1_3])
  func refused(version: TLSVersion) throws {
    let clients = try ThrowawayAuthority(commonName: "Clients' CA")
    let stranger = try ThrowawayAuthority(commonName: "Strangers' CA").issue(purpose: .client)
    let fixture = try Fixture(versions: version...version, clientAuthorityPEM: clients.certificatePEM)
    let foreign = try TLSIdentity(certificatePEM: stranger.certificatePEM, privateKeyPEM: stranger.privateKeyPEM)
    for identity in [nil, foreign] {
      var configuration = fixture.trusting
      configuration.identity = identity
      let client = try Endpoint(client: configuration)
      let server = try Endpoint(server: fixture.server)
      let outcome = try shakeHands(client, server)
      #expect(outcome.server != nil)
      var error = outcome.client
      if error == nil {
        // In TLS 1.3 the client's handshake ends before the server has verified its certificate.
        client.receive(server.output())
        error = #expect(throws: TLSError.self) { try client.read() }
      }
      guard case .alert = error?.code else {
        Issue.record("unexpected error: \(String(describing: error))")
        continue
      }
      #expect(error?.message.contains("identity") == true)
    }
  }
}
