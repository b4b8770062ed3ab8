// SettingsTests: the effect of ciphers, groups, the server name, several trust roots, and the key log.

import Glibc
import LupineLoopback
import LupineTestSupport
import Testing

@testable import LupineTLS

@Suite("Effects of TLS settings")
struct SettingsTests {
  private func problem(_ configuration: TLSConfiguration) -> TLSError? {
    do {
      _ = try TLSContext(client: configuration)
      return nil
    } catch {
      return error
    }
  }

  private func info(_ versions: ClosedRange<TLSVersion>, _ change: (inout TLSConfiguration) -> Void) throws -> TLSInfo {
    let fixture = try Fixture(versions: versions)
    var configuration = fixture.trusting
    change(&configuration)
    return try fixture.connected(TLSContext(client: configuration)).client.info
  }

  @Test("a TLS 1.2 connection uses a cipher from the configured list")
  func cipherList() throws {
    for (list, suite) in [
      ("ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
      ("ECDHE+CHACHA20:!aNULL:!RC4", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
    ] {
      #expect(try info(.v1_2 ... .v1_2) { $0.cipherList = list }.cipherSuite == suite)
    }
  }

  @Test("a TLS 1.3 connection uses the first cipher suite in the configured list")
  func cipherSuites() throws {
    for suite in ["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"] {
      #expect(try info(.v1_3 ... .v1_3) { $0.cipherSuites = [suite] }.cipherSuite == suite)
    }
  }

  @Test(
    "the client offers AES-128-GCM first if the processor supports AES, unless the caller sets an order",
    .enabled(if: TLSContext.prefersAES128))
  func preferredCipher() throws {
    #expect(try info(.v1_3 ... .v1_3) { _ in }.cipherSuite == "TLS_AES_128_GCM_SHA256")
    #expect(try info(.v1_2 ... .v1_2) { _ in }.cipherSuite == "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")
    let suites = ["TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"]
    #expect(try info(.v1_3 ... .v1_3) { $0.cipherSuites = suites }.cipherSuite == suites[0])
  }

  @Test("the TLS key exchange uses the first group in the configured list", arguments: [TLSVersion.v1_2, .v1_3])
  func groups(version: TLSVersion) throws {
    for (names, group) in [(["P-256", "X25519"], "secp256r1"), (["X25519", "P-256"], "x25519")] {
      #expect(try info(version...version) { $0.groups = names }.group == group)
    }
  }

  @Test(
    "by default, the TLS key exchange is a hybrid with ML-KEM, which resists quantum computers",
    .enabled(if: OpenSSL.hasMLKEM, "X25519MLKEM768 needs OpenSSL 3.5, and the tests run with \(OpenSSL.version)"))
  func postQuantum() throws {
    #expect(try info(.v1_3 ... .v1_3) { _ in }.group == "X25519MLKEM768")
    #expect(try info(.v1_3 ... .v1_3) { $0.groups = ["X25519"] }.group == "x25519")
  }

  @Test(
    "if OpenSSL doesn't support part of a cipher list, the error contains the unsupported part",
    arguments: [
      ("ECDHE+AESGCM:ECHDE+CHACHA20", "ECHDE+CHACHA20"), ("nonsense", "nonsense"), ("AES128-SHA\0x", "AES128-SHA\0x"),
    ])
  func unknownCiphers(list: String, part: String) throws {
    let error = try #require(problem(TLSConfiguration(cipherList: list)))
    #expect(error.code == .configuration)
    #expect(error.message.contains("\"\(part)\""))
  }

  @Test(
    "a TLS context can't be created with a cipher list that contains no cipher",
    arguments: ["", ":", "AES128-SHA:!AES128-SHA"])
  func noCiphers(list: String) {
    #expect(problem(TLSConfiguration(cipherList: list))?.message.contains("allows no cipher") == true)
  }

  @Test(
    "if OpenSSL doesn't support a cipher suite or a group, the error contains its name",
    arguments: ["TLS_AES_129", "", "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384", "P-256:P-384", "P-257", "a\0"])
  func unknownNames(name: String) {
    let suites = problem(TLSConfiguration(cipherSuites: ["TLS_AES_128_GCM_SHA256", name]))
    #expect(suites?.message.contains("\"\(name)\"") == true)
    let groups = problem(TLSConfiguration(groups: ["X25519", name]))
    #expect(groups?.message.contains("\"\(name)\"") == true)
  }

  @Test("a TLS context can't be created with empty or repeated names of cipher suites or groups")
  func emptyNames() {
    #expect(problem(TLSConfiguration(cipherSuites: []))?.code == .configuration)
    #expect(problem(TLSConfiguration(groups: []))?.code == .configuration)
    #expect(problem(TLSConfiguration(groups: ["P-256", "P-256"]))?.message.contains("twice") == true)
  }

  @Test("if there is no common cipher suite or group, the error for the server's alert lists the settings to check")
  func nothingInCommon() throws {
    let fixture = try Fixture(versions: .v1_2 ... .v1_2)
    var configuration = fixture.trusting
    configuration.cipherList = "ECDHE-RSA-AES128-GCM-SHA256"
    let outcome = try shakeHands(Endpoint(client: configuration), Endpoint(server: fixture.server))
    #expect(outcome.client?.code == .alert(40))
    #expect(outcome.client?.message.contains("cipher suite") == true)
  }

  @Test("the client uses every configured trust root, but the system's trust roots only if they are included")
  func trustRoots() throws {
    let fixture = try Fixture()
    let other = try ThrowawayAuthority()
    for roots: [TLSConfiguration.TrustSource] in [
      [.system, .pem(fixture.authority.certificatePEM)], [.pem(fixture.authority.certificatePEM), .system],
      [.pem(other.certificatePEM), .pem(fixture.authority.certificatePEM)],
      [.pem(fixture.authority.certificatePEM), .pem(fixture.authority.certificatePEM)],
    ] {
      _ = try fixture.connected(TLSContext(client: TLSConfiguration(trustRoots: roots)))
    }
    let client = try Endpoint(client: TLSConfiguration(trustRoots: [.system, .pem(other.certificatePEM)]))
    #expect(try shakeHands(client, Endpoint(server: fixture.server)).client?.code == .unknownAuthority)
  }

  @Test("a TLS context can't be created with an empty list of trust roots")
  func noTrustRoots() {
    #expect(problem(TLSConfiguration(trustRoots: []))?.message.contains("trustRoots is empty") == true)
  }

  @Test("the client trusts the certificates in a directory prepared by openssl rehash")
  func directory() throws {
    let fixture = try Fixture()
    let directory = "/tmp/lupine-tls-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
    try #require(mkdir(directory, 0o700) == 0)
    let path = directory + "/ca.pem"
    let file = try #require(fopen(path, "w"))
    fwrite(fixture.authority.certificatePEM, 1, fixture.authority.certificatePEM.count, file)
    fclose(file)
    defer { system("rm -r \(directory)") }
    try #require(system("openssl rehash \(directory)") == 0, "apt-get install openssl")
    _ = try fixture.connected(TLSContext(client: TLSConfiguration(trustRoots: [.directory(directory)])))
  }

  @Test("the setting serverName replaces the host in SNI and in the certificate check")
  func serverName() throws {
    let fixture = try Fixture()
    var configuration = fixture.trusting
    configuration.serverName = "localhost"
    let context = try TLSContext(client: configuration)
    let client = try Endpoint(client: context, host: "10.0.0.1")
    _ = try client.handshake()
    let hello = client.output()
    #expect(hello.firstRange(of: Array("localhost".utf8)) != nil)
    #expect(try shakeHands(Endpoint(client: context, host: "10.0.0.1"), Endpoint(server: fixture.server)).client == nil)

    configuration.serverName = "other.example"
    let mismatch = try shakeHands(Endpoint(client: configuration), Endpoint(server: fixture.server))
    #expect(mismatch.client?.code == .hostMismatch)
    #expect(problem(TLSConfiguration(serverName: ""))?.code == .configuration)
  }

  @Test("if the host is an IP address, the client doesn't send SNI", arguments: ["127.0.0.1", "::1"])
  func noSNIForAddresses(host: String) throws {
    let client = try Endpoint(client: TLSConfiguration(verification: .none), host: host)
    _ = try client.handshake()
    #expect(client.output().firstRange(of: Array(host.utf8)) == nil)
  }

  // MARK: Key log

  @Test(
    "several TLS contexts can append whole lines to one key log file at the same time",
    arguments: [TLSVersion.v1_2, .v1_3])
  func keyLog(version: TLSVersion) async throws {
    let file = try TemporaryFile(Array("# kept\n".utf8))
    let fixture = try Fixture(versions: version...version)
    var configuration = fixture.trusting
    configuration.keyLogFile = file.path
    configuration.resumesSessions = false
    try await withThrowingTaskGroup(of: Void.self) { [configuration] group in
      for _ in 0..<4 {
        group.addTask {
          let context = try TLSContext(client: configuration)
          for _ in 0..<10 { _ = try fixture.connected(context) }
        }
      }
      try await group.waitForAll()
    }
    let lines = file.text.split(separator: "\n")
    #expect(lines.first == "# kept")
    // Each line contains a label, the client's random value of 32 bytes, and the secret.
    let labels =
      version == .v1_2
      ? ["CLIENT_RANDOM"]
      : [
        "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0",
        "SERVER_TRAFFIC_SECRET_0", "EXPORTER_SECRET",
      ]
    for line in lines.dropFirst() {
      let parts = line.split(separator: " ").map { String($0) }
      #expect(parts.count == 3)
      #expect(labels.contains(parts[0]), "\(line)")
      #expect(parts.dropFirst().first?.count == 64)
    }
    #expect(lines.count == 1 + 40 * labels.count)
  }

  // This test runs in a separate process, because it changes the environment, which other threads may read at the same time.
  @Test("no environment variable turns the TLS key log on")
  func keyLogEnvironment() async {
    await #expect(processExitsWith: .success) {
      let path = "/tmp/lupine-tls-keys-\(getpid())"
      setenv("SSLKEYLOGFILE", path, 1)
      let fixture = try Fixture()
      _ = try fixture.connected(TLSContext(client: fixture.trusting))
      exit(access(path, F_OK) == 0 ? 1 : 0)
    }
  }

  @Test("only the owner of a TLS key log file can read the file")
  func keyLogMode() throws {
    let file = try TemporaryFile()
    unlink(file.path)
    let fixture = try Fixture()
    var configuration = fixture.trusting
    configuration.keyLogFile = file.path
    _ = try fixture.connected(TLSContext(client: configuration))
    var status = stat()
    #expect(stat(file.path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }

  @Test("a child process doesn't inherit the descriptor of a TLS key log file")
  func keyLogInheritance() throws {
    let file = try TemporaryFile()
    let log = try KeyLog(path: file.path)
    #expect(fcntl(log.descriptor, F_GETFD) & FD_CLOEXEC == FD_CLOEXEC)
    withExtendedLifetime(log) {}
  }

  @Test(
    "if a TLS key log file can't be used, the error contains the file's path", arguments: ["/nonexistent/keys", "/tmp"])
  func keyLogUnusable(path: String) throws {
    let error = try #require(problem(TLSConfiguration(keyLogFile: path)))
    #expect(error.code == .configuration)
    #expect(error.message.contains(path))
  }

  @Test("TLS configurations that differ in any setting are unequal")
  func equality() throws {
    let all: Set = [
      TLSConfiguration(), TLSConfiguration(cipherList: "AESGCM"), TLSConfiguration(cipherSuites: ["a"]),
      TLSConfiguration(groups: ["a"]), TLSConfiguration(serverName: "a"), TLSConfiguration(ocspStapling: .checked),
      TLSConfiguration(resumesSessions: false), TLSConfiguration(keyLogFile: "a"),
      TLSConfiguration(trustRoots: [.system, .system]), TLSConfiguration(trustRoots: [.der([1])]),
      TLSConfiguration(trustRoots: [.der([2])]),
    ]
    #expect(all.count == 11)
  }
}

extension TemporaryFile {
  /// The current content of the file, up to 1 MiB.
  fileprivate var text: String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
