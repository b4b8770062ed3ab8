// ConfigurationTests: unusable TLS settings, which are refused early with a remedy.

import Glibc
import LupineLoopback
import LupineTLS
import Testing

@Suite("TLS settings")
struct ConfigurationTests {
  private func problem(_ configuration: TLSConfiguration) -> TLSError? {
    do {
      _ = try TLSContext(client: configuration)
      return nil
    } catch {
      return error
    }
  }

  @Test("a TLS context can be created with the default settings")
  func defaults() {
    #expect(problem(TLSConfiguration()) == nil)
  }

  @Test(
    "a TLS context can't be created with unreadable trust roots",
    arguments: [
      .file("/nonexistent/ca.pem"), .file("/dev/null"), .directory("/nonexistent/certs"), .pem([]),
      .pem(Array("no certificate".utf8)),
      .der([]), .der([0x30, 0]),
      .pem(Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)),
    ] as [TLSConfiguration.TrustSource])
  func unreadableRoots(roots: TLSConfiguration.TrustSource) throws {
    let error = try #require(problem(TLSConfiguration(trustRoots: [.system, roots])))
    #expect(error.code == .configuration)
    switch roots {
    case .file(let path), .directory(let path): #expect(error.message.contains(path))
    case .pem, .der, .system: break
    }
  }

  @Test("a client's trust roots can be read from a file, and each source may contain several trust roots")
  func rootsFromFile() throws {
    let fixture = try Fixture()
    let other = try ThrowawayAuthority()
    let path = "/tmp/lupine-tls-\(getpid())-\(UInt64.random(in: 0...UInt64.max)).pem"
    let file = try #require(fopen(path, "w"))
    defer { unlink(path) }
    let text = other.certificatePEM + fixture.authority.certificatePEM
    #expect(fwrite(text, 1, text.count, file) == text.count)
    fclose(file)
    for roots in [TLSConfiguration.TrustSource.file(path), .pem(text)] {
      let context = try TLSContext(client: TLSConfiguration(trustRoots: [roots]))
      #expect(try fixture.connected(context).client.info.protocolVersion == "TLSv1.3")
    }
  }

  @Test("a TLS context can't be created with a minimum TLS version above the maximum version")
  func versionsInverted() {
    #expect(problem(TLSConfiguration(minimumVersion: .v1_3, maximumVersion: .v1_2))?.code == .configuration)
  }

  @Test(
    "the name of an application protocol (ALPN) must have 1 to 255 bytes",
    arguments: [(0, false), (1, true), (255, true), (256, false)])
  func protocolNames(count: Int, isUsable: Bool) {
    let name = String(repeating: "x", count: count)
    #expect((problem(TLSConfiguration(applicationProtocols: [name])) == nil) == isUsable)
  }

  @Test(
    "a TLS session refuses a host name that would disable the host check or can't be sent",
    arguments: ["", ".", ".example.com", "a\0b", "a b", "ü.example", "a\nb", String(repeating: "a", count: 254)])
  func hostNames(host: String) throws {
    let context = try TLSContext(client: TLSConfiguration(verification: .none))
    let error = try #require(throws: TLSError.self) { _ = try TLSSession(client: context, host: host, port: 443) }
    #expect(error.code == .configuration)
    #expect(!error.message.contains("\n"))
    #expect(!error.message.contains("\0"))
  }

  @Test("a TLS server context can't be created with the private key of another certificate")
  func foreignKey() throws {
    let authority = try ThrowawayAuthority()
    let one = try authority.issue(names: ["a.example"])
    let two = try authority.issue(names: ["b.example"])
    let error = try #require(throws: TLSError.self) {
      try TLSContext(serverCertificatePEM: one.certificatePEM, privateKeyPEM: two.privateKeyPEM)
    }
    #expect(error.code == .configuration)
  }

  @Test("TLS configurations with different settings are different keys in a Set")
  func hashing() {
    let all: Set = [
      TLSConfiguration(), TLSConfiguration(), TLSConfiguration(verification: .none),
      TLSConfiguration(trustRoots: [.file("a")]), TLSConfiguration(trustRoots: [.directory("a")]),
      TLSConfiguration(minimumVersion: .v1_3), TLSConfiguration(applicationProtocols: []),
    ]
    #expect(all.count == 6)
  }
}
