// TLSTests: the effects of the TLS options: client certificates, versions, ciphers, stapling, key logs.

import Foundation
import Testing

@Suite("TLS options of the command", .timeLimit(.minutes(10)))
struct TLSTests {
  init() throws { try Servers.require() }

  private static let trust = ["--cacert", Servers.authority]

  static let identities: [[String]] = [
    ["-E", Servers.clientCertificate, "--key", Servers.clientKey],
    ["--cert-type", "p12", "--cert", Servers.clientArchive + ":password"],
    ["-E", Servers.clientArchive, "--cert-type", "P12", "--pass", "password"],
    ["-E", Servers.clientArchive + ":wrong", "--cert-type", "P12", "--pass", "password"],
  ]

  @Test("the command sends the client certificate of --cert to the server", arguments: identities)
  func identity(arguments: [String]) async throws {
    let run = try await lupine(Self.trust + arguments + [Servers.clients])
    #expect(run.status == 0 && run.output.contains("CN=client"), "\(run.output) \(run.errors)")
  }

  @Test("--cert accepts a certificate and an encrypted key in the same file, whose name may contain a colon")
  func encryptedKey() async throws {
    let folder = try Folder()
    let run = try await shell(
      """
      cd \(folder.path) && openssl pkey -in \(Servers.clientKey) -aes128 -passout 'pass:a:b' -out key &&
      cat \(Servers.clientCertificate) key > 'c:d' &&
      $lupine --cacert \(Servers.authority) -E 'c\\:d:a:b' \(Servers.clients) &&
      $lupine --cacert \(Servers.authority) -E 'c\\:d' \(Servers.clients)
      """)
    #expect(run.output.contains("CN=client"), "\(run.errors)")
    #expect(run.status == 58 && run.errors.contains("The private key is encrypted"), "\(run.errors)")
  }

  static let settings: [([String], String)] = [
    (["--tlsv1.2", Servers.tls12Only], "* TLSv1.2, "),
    (["--tlsv1.3", Servers.tls13Only], "* TLSv1.3, "),
    (["--tls-max", "1.2", Servers.nginxTLS], "* TLSv1.2, "),
    (["--tls-max", "default", Servers.nginxTLS], "* TLSv1.3, "),
    (
      ["--tls-max", "1.2", "--ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256", Servers.nginxTLS],
      "* TLSv1.2, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, "
    ),
    (
      ["--tls13-ciphers", "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256", Servers.nginxTLS],
      "* TLSv1.3, TLS_CHACHA20_POLY1305_SHA256, "
    ),
    (["--curves", "P-384:X25519", Servers.nginxTLS], ", secp384r1, "),
    (["--cert-status", Servers.goodStaple], "* the stapled OCSP response confirms the certificate\n"),
  ]

  @Test(
    "the command's options set the TLS version, cipher and group, and whether a stapled OCSP response is required",
    arguments: settings)
  func setting(arguments: [String], shown: String) async throws {
    let run = try await lupine(["-v"] + Self.trust + arguments)
    #expect(run.status == 0 && run.errors.contains(shown), "\(run.errors)")
  }

  @Test("the command trusts the certificate authorities in a folder, with or without a file of other authorities")
  func trustFolder() async throws {
    let folder = try Folder()
    let page = "\(Servers.nginxTLS)/small.txt"
    let run = try await shell(
      """
      cd \(folder.path) && $lupine --capath . \(page); echo $? &&
      cp \(Servers.authority) ca.crt && openssl rehash . && $lupine --capath . \(page) &&
      $lupine --capath / --cacert \(Servers.authority) \(page)
      """)
    #expect(run.output == "60\nsmall\nsmall\n", "\(run.errors)")
  }

  @Test("the command refuses a certificate if its authority's revocation list contains it or is outdated")
  func revocationList() async throws {
    let folder = try Folder()
    let pki = String(Servers.authority.dropLast("/ca.crt".count))
    let lupine = "$lupine --cacert \(Servers.authority) --crlfile"
    let run = try await shell(
      """
      cd \(folder.path) && cp \(pki)/ca.crt \(pki)/ca.key . && touch issued &&
      printf '[ca]\\ndefault_ca=a\\n[a]\\ncertificate=ca.crt\\nprivate_key=ca.key\\ndatabase=issued\\ndefault_md=sha256\\n' >ca.cnf &&
      openssl ca -config ca.cnf -gencrl -crldays 2 -out empty.pem 2>/dev/null &&
      printf 'R\\t491231235959Z\\t250101000000Z\\t%s\\tunknown\\t/CN=x\\n' \
        $(openssl x509 -in \(pki)/revoked.crt -noout -serial | cut -d= -f2) >issued &&
      openssl ca -config ca.cnf -gencrl -crldays 2 -out full.pem 2>/dev/null &&
      openssl ca -config ca.cnf -gencrl -crl_lastupdate 20200101000000Z -crl_nextupdate 20200102000000Z -out old.pem \
        2>/dev/null;
      for list in empty full old; do
        for server in \(Servers.nginxTLS) \(Servers.revokedStaple); do
          \(lupine) $list.pem $server/small.txt >/dev/null; echo "$list $?"
        done
      done
      """)
    #expect(run.output == "empty 0\nempty 0\nfull 0\nfull 60\nold 60\nold 60\n", "\(run.errors)")
    #expect(run.errors.contains("certificate revoked") && run.errors.contains("revocationListFile"))
  }

  @Test("the command writes TLS secrets to the file that SSLKEYLOGFILE names, but not if the variable is empty")
  func keyLog() async throws {
    let folder = try Folder()
    let page = "\(Servers.nginxTLS)/small.txt"
    let run = try await shell(
      "cd \(folder.path) && SSLKEYLOGFILE=keys $lupine -k \(page) && SSLKEYLOGFILE= $lupine -k \(page)")
    #expect(run.status == 0 && run.output == "small\nsmall\n", "\(run.errors)")
    #expect(try folder.read("keys").contains("CLIENT_TRAFFIC_SECRET_0 "))
    let unusable = try await shell("SSLKEYLOGFILE=/nowhere/keys $lupine -k \(page)")
    #expect(unusable.status == 23 && unusable.errors.contains("The environment variable SSLKEYLOGFILE names the file."))
  }
}
