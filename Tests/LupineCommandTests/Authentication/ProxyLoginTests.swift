// ProxyLoginTests: --proxy-digest, --proxy-anyauth and the other schemes for proxies, with squid and scripted proxies.

import Foundation
import LupineTestSupport
import Testing

// These tests must not run concurrently: while squid 5.7 looks up a user's password for one request, it accepts other requests of
// that user with any password.
@Suite("Logins for proxies by the command", .serialized, .timeLimit(.minutes(10)))
struct ProxyLoginTests {
  private typealias Scripts = LoginTests
  private static let digest = "Digest realm=r, nonce=n, qop=auth"

  private func sent(_ proxy: CannedServer) -> [String] {
    Scripts.authorizations(proxy.requests, field: "Proxy-Authorization")
  }

  @Test(
    "the command authenticates to squid with each scheme that squid permits, for http requests and for tunnels",
    arguments: [
      (TestServer.squidDigest, "--proxy-digest"), (.squidDigest, "--proxy-anyauth"), (.squidLogin, "--proxy-anyauth"),
      (.squidLogin, "--proxy-basic"),
    ])
  func squid(server: TestServer, option: String) async throws {
    try Servers.require()
    let login = [option, "-x", server.authority, "-U", "user:pass"]
    for url in [Servers.nginx, Servers.nginxTLS] {
      let run = try await lupine(login + ["-k", "\(url)/small.txt"])
      #expect(run.status == 0 && run.output == "small\n", "\(run.errors)")
    }
    let ofURL = try await lupine([option, "-x", "http://user:pass@\(server.authority)", "\(Servers.nginx)/small.txt"])
    #expect(ofURL.output == "small\n", "\(ofURL.errors)")
    let environment = "https_proxy=http://user:pass@\(server.authority) no_proxy= NO_PROXY= $lupine"
    #expect(try await shell("\(environment) \(option) -k \(Servers.nginxTLS)/small.txt").output == "small\n")
  }

  @Test(
    "the command authenticates to squid with NTLM or Kerberos, and over TLS with any scheme, for http requests and tunnels",
    arguments: [
      (TestServer.squidNTLM, "--proxy-ntlm", "TESTDOM\\user:pass"),
      (.squidNTLM, "--proxy-anyauth", "TESTDOM\\user:pass"),
      (.squidNegotiate, "--proxy-negotiate", "any:ignored"), (.squidNegotiate, "--proxy-anyauth", ":"),
      (.encryptedProxy, "--proxy-basic", "user:pass"), (.encryptedDigestProxy, "--proxy-digest", "user:pass"),
      (.encryptedNTLMProxy, "--proxy-ntlm", "TESTDOM\\user:pass"), (.encryptedNegotiateProxy, "--proxy-negotiate", ":"),
    ])
  func connections(server: TestServer, option: String, login: String) async throws {
    try Servers.require()
    if server == .squidNegotiate || server == .encryptedNegotiateProxy { try TestServer.requireTicket() }
    // The Kerberos principal and the certificate name this host.
    let proxy = "\(server.isTLSProxy ? "https" : "http")://localhost:\(server.rawValue)"
    for url in [Servers.nginx, Servers.nginxTLS] {
      let run = try await lupine([
        option, "-x", proxy, "-U", login, "--cacert", Servers.authority, "\(url)/small.txt",
      ])
      #expect(run.status == 0 && run.output == "small\n", "\(url): \(run.errors)")
    }
  }

  @Test(
    "if squid refuses a scheme or a password, an http request gets squid's 407, and an https request fails")
  func squidRefuses() async throws {
    try Servers.require()
    for (server, option, login) in [
      (TestServer.squidDigest, "--proxy-basic", "user:pass"), (.squidDigest, "--proxy-digest", "refused:secret"),
      (.squidNTLM, "--proxy-ntlm", "TESTDOM\\user:secret"),
    ] {
      let proxy = [option, "-x", server.authority, "-U", login]
      let plain = try await lupine(proxy + ["-f", "\(Servers.nginx)/small.txt"])
      #expect(
        plain.status == 22 && plain.errors.contains("407"),
        "\(option): status \(plain.status), \(plain.output), \(plain.errors)")
      let tunnel = try await lupine(proxy + ["-k", "\(Servers.nginxTLS)/small.txt"])
      #expect(tunnel.status == 97 && tunnel.hasOneErrorLine && !tunnel.errors.contains("secret"), "\(tunnel.errors)")
    }
  }

  @Test(
    "--proxy-digest and --proxy-anyauth send the proxy's password only after a challenge, and never to the origin")
  func challenged() async throws {
    for (options, challenge, answer) in [
      (["--proxy-digest"], Self.digest, "Digest "), (["--proxy-anyauth"], "Basic realm=r, \(Self.digest)", "Digest "),
      (["--proxy-anyauth"], "Basic realm=r", "Basic dTpw"), (["--proxy-digest"], "Basic realm=r", nil),
      ([], Self.digest, nil),
    ] as [([String], String, String?)] {
      let proxy = try CannedServer(replies: [Scripts.refusal(challenge, status: 407), Scripts.reply])
      let run = try await lupine(
        options + ["-x", "127.0.0.1:\(proxy.port)", "--noproxy", "", "-U", "u:p", "http://a.test/"])
      #expect(run.status == 0 && run.output == (answer == nil ? "refused" : "ok"), "\(run.errors)")
      let values = sent(proxy)
      #expect(values.first == (options.isEmpty ? "Basic dTpw" : "-") && values.count == (answer == nil ? 1 : 2))
      if let answer { #expect(values.last?.hasPrefix(answer) == true, "\(values)") }
      #expect(Scripts.authorizations(proxy.requests).allSatisfy { $0 == "-" })
    }
  }

  @Test("the origin's login doesn't answer a proxy's challenge", arguments: ["Basic realm=r", digest])
  func originsLogin(challenge: String) async throws {
    let proxy = try CannedServer(replies: [Scripts.refusal(challenge, status: 407), Scripts.reply])
    let run = try await lupine([
      "--anyauth", "-u", "u:p", "-x", "127.0.0.1:\(proxy.port)", "--noproxy", "", "http://a.test/",
    ])
    #expect(run.status == 0 && run.output == "refused", "\(run.errors)")
    #expect(sent(proxy) == ["-"] && Scripts.authorizations(proxy.requests) == ["-"])
  }

  @Test("the proxy's login answers only the proxy's challenge, and the origin's login only the origin's challenge")
  func both() async throws {
    let proxy = try CannedServer(replies: [
      Scripts.refusal(Self.digest, status: 407), Scripts.refusal("Digest realm=o, nonce=m, qop=auth"), Scripts.reply,
    ])
    let run = try await lupine([
      "--proxy-digest", "-U", "p:q", "--digest", "-u", "u:v", "-x", "127.0.0.1:\(proxy.port)", "--noproxy", "",
      "http://a.test/x",
    ])
    #expect(run.output == "ok", "\(run.errors)")
    let (outer, inner) = (sent(proxy), Scripts.authorizations(proxy.requests))
    #expect(outer.map { $0.contains("username=\"p\"") } == [false, true, true])
    #expect(inner.map { $0.contains("username=\"u\"") } == [false, false, true])
    #expect(outer.last?.contains("uri=\"http://a.test/x\"") == true && inner.last?.contains("uri=\"/x\"") == true)
  }
}
