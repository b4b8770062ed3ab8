// SchemeTests: --digest, --ntlm, --negotiate and --anyauth, with real and scripted servers.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@Suite("Authentication options of the command", .timeLimit(.minutes(10)))
struct SchemeTests {
  private typealias Scripts = LoginTests
  private static let digestChallenge = "Digest realm=r, nonce=n, qop=auth"

  // MARK: Digest

  @Test(
    "--digest answers a Digest challenge without sending the password, and authenticates later requests to the same origin"
  )
  func digest() async throws {
    let server = try CannedServer(replies: [
      Scripts.refusal(Self.digestChallenge), Scripts.redirect(to: "/b"),
      Scripts.refusal("\(Self.digestChallenge), stale=true"),
      Scripts.reply,
    ])
    let run = try await lupine(["-L", "--digest", "-u", "u:secret", "-d", "text", server.url + "/a"])
    #expect(run.status == 0 && run.output == "ok", "\(run.errors)")
    let sent = Scripts.authorizations(server.requests)
    #expect(sent.map { $0.hasPrefix("Digest username=\"u\", ") } == [false, true, true, true], "\(sent)")
    #expect(sent.map { $0.contains("uri=\"/a\"") } == [false, true, false, false])
    #expect(sent[2].contains("uri=\"/b\"") && sent[2].contains("nc=00000002"))
    #expect(server.requests.allSatisfy { !$0.contains("secret") })
    #expect(server.requests.map { $0.hasSuffix("\r\n\r\ntext") } == [true, true, false, false])
  }

  @Test(
    "httpbin accepts the command's Digest login with the right password, and answers a wrong password with an error status"
  )
  func httpbin() async throws {
    try Servers.require()
    for algorithm in ["MD5", "SHA-256"] {
      let url = "\(Servers.httpbin)/digest-auth/auth/u/p/\(algorithm)"
      let right = try await lupine(["--digest", "-u", "u:p", url])
      #expect(right.status == 0 && right.output.contains("\"authenticated\": true"), "\(right.errors)")
      #expect(try await lupine(["--anyauth", "-u", "u:p", "-f", url]).status == 0)
      #expect(try await lupine(["--digest", "-u", "u:wrong", url]).status == 0)
      #expect(try await lupine(["--digest", "-f", "-u", "u:wrong", url]).status == 22)
    }
  }

  @Test("a response with a wrong rspauth is an error, and the command doesn't write the response's body")
  func forged() async throws {
    let forged = Scripts.reply.replacingOccurrences(
      of: "\r\n\r\n", with: "\r\nAuthentication-Info: rspauth=\"0\", cnonce=\"hidden\"\r\n\r\n")
    let server = try CannedServer(replies: [Scripts.refusal(Self.digestChallenge), forged])
    let run = try await lupine(["-v", "--digest", "-u", "u:p", server.url])
    #expect(run.status == 94 && run.output.isEmpty)
    #expect(run.errors.contains("without proving its identity") && !run.errors.contains("hidden"))
  }

  // MARK: Any scheme

  @Test(
    "--anyauth sends no credentials before a challenge, and then uses the strongest scheme that the server offers",
    arguments: [
      (["--anyauth"], "Basic realm=r, \(digestChallenge)", "Digest "), (["--anyauth"], "Basic realm=r", "Basic dTpw"),
      (["--anyauth"], "Negotiate, Basic realm=r", "Basic dTpw"), (["--anyauth"], "Bearer", nil),
      (["--basic", "--digest"], "\(digestChallenge), Basic realm=r", "Digest "),
      (["--digest"], "Basic realm=r", nil), (["--digest", "--ntlm"], "Basic realm=r, Negotiate", nil),
    ] as [([String], String, String?)])
  func anyScheme(options: [String], challenge: String, answer: String?) async throws {
    for isInURL in [false, true] {
      let server = try CannedServer(replies: [Scripts.refusal(challenge), Scripts.reply])
      let login = isInURL ? [server.url.replacingOccurrences(of: "//", with: "//u:p@")] : ["-u", "u:p", server.url]
      let run = try await lupine(options + login)
      #expect(run.status == 0 && run.output == (answer == nil ? "refused" : "ok"), "\(run.errors)")
      let sent = Scripts.authorizations(server.requests)
      #expect(sent.first == "-" && sent.count == (answer == nil ? 1 : 2))
      if let answer { #expect(sent.last?.hasPrefix(answer) == true, "\(sent)") }
    }
  }

  @Test("with --anyauth and --include, the command writes the head of each response, but only the last body")
  func heads() async throws {
    let server = try CannedServer(replies: [Scripts.refusal("Basic realm=r"), Scripts.reply])
    let run = try await lupine(["-i", "--anyauth", "-u", "u:p", server.url])
    #expect(run.output.hasPrefix("HTTP/1.1 401 U\r\n") && run.output.contains("\r\n\r\nHTTP/1.1 200 OK\r\n"))
    #expect(run.output.hasSuffix("\r\n\r\nok") && !run.output.contains("refused"))
  }

  // MARK: NTLM and Negotiate

  @Test(
    "with NTLM authentication, --ntlm can send a body from standard input, but --anyauth can't",
    arguments: [["--ntlm"], ["--anyauth"]])
  func ntlm(options: [String]) async throws {
    try Servers.require()
    let login = options + ["-u", "TESTDOM\\user:pass"]
    #expect(try await lupine(login + [Servers.ntlm]).output.hasPrefix("TESTDOM\\user sent 0 bytes"))
    let tls = try await lupine(login + ["--cacert", Servers.authority, "-d", "12345", Servers.ntlmTLS])
    #expect(tls.output.hasPrefix("TESTDOM\\user sent 5 bytes"), "\(tls.errors)")
    #expect(try await lupine(options + ["-f", "-u", "TESTDOM\\user:wrong", Servers.ntlm]).status == 22)
    let upload = try await lupine(login + ["-T", "-", Servers.ntlm], input: "123456")
    if options == ["--ntlm"] {
      #expect(upload.output.hasPrefix("TESTDOM\\user sent 6 bytes"), "\(upload.errors)")
    } else {
      #expect(upload.status == 65, "\(upload.errors)")
    }
  }

  @Test("with --ntlm, a server that requires no authentication receives the body in a second request")
  func needlessNTLM() async throws {
    let server = try CannedServer(replies: [Scripts.reply, Scripts.reply])
    let run = try await lupine(["--ntlm", "-u", "u:p", "-d", "text", server.url])
    #expect(run.status == 0 && run.output == "ok", "\(run.errors)")
    #expect(Scripts.authorizations(server.requests).map { $0.hasPrefix("NTLM TlRMTVNTUAAB") } == [true, false])
    #expect(server.requests.map { $0.hasSuffix("\r\n\r\ntext") } == [false, true])
  }

  @Test(
    "with a Kerberos ticket, --negotiate ignores the login given by -u, and --anyauth works with an empty login",
    arguments: [["--negotiate", "-u", ":"], ["--negotiate", "-u", "any:ignored"], ["--anyauth", "-u", ":"]])
  func kerberos(options: [String]) async throws {
    try Servers.require()
    try TestServer.requireTicket()
    // The first two servers authenticate each request, and the others each connection. The last one verifies channel bindings.
    let apache = "http://localhost:\(TestServer.apache.rawValue)"
    let pages = [
      "\(apache)/krb/count", "\(TestServer.apacheTLS.origin)/krb/count", "\(apache)/krb-connection/count",
      "\(TestServer.negotiateTLS.origin)/",
    ]
    let login = options + ["--cacert", Servers.authority, "-d", "12345"]
    for page in pages {
      let run = try await lupine(login + [page])
      #expect(run.status == 0 && run.output.contains(" 5 "), "\(page): \(run.errors)")
    }
    let forbidden = try await lupine(login + ["-f", "\(apache)/krb-other/count"])
    #expect(forbidden.status == 22 && forbidden.output.isEmpty, "\(forbidden.errors)")
  }

  @Test("without a Kerberos ticket, --negotiate prints a one-line error")
  func negotiate() async throws {
    let server = try CannedServer(replies: [Scripts.refusal("Negotiate")])
    let run = try await shell("KRB5CCNAME=FILE:/nowhere $lupine --negotiate -u any:secret \(server.url)")
    #expect(run.status == 94 && run.hasOneErrorLine && run.output.isEmpty, "\(run.errors)")
    #expect(run.errors.hasPrefix("lupine: \(server.url): ") && !run.errors.contains("secret"))
    #expect(Scripts.authorizations(server.requests) == ["-"])
  }

  // MARK: Bodies

  @Test(
    "after a challenge, the command sends a body from a file again with credentials, but can't resend standard input")
  func bodies() async throws {
    let folder = try Folder()
    let path = try folder.write("f", "text")
    let server = try CannedServer(replies: [
      Scripts.refusal(Self.digestChallenge), Scripts.reply, Scripts.refusal(Self.digestChallenge),
    ])
    #expect(try await lupine(["--digest", "-u", "u:p", "-T", path, server.url + "/f"]).output == "ok")
    #expect(server.requests.prefix(2).allSatisfy { $0.hasSuffix("\r\n\r\ntext") })
    let run = try await lupine(["--digest", "-u", "u:p", "-T", "-", server.url], input: "text")
    #expect(run.status == 65 && run.hasOneErrorLine && run.errors.contains("Expect: 100-continue"), "\(run.errors)")
    #expect(server.requests.count == 3)
  }

  @Test(
    "with Expect: 100-continue, the command reads standard input only after the server has accepted the credentials")
  func expectation() async throws {
    let bodies = Recorder<String>()
    let server = try OriginServer { peer in
      guard var request = try peer.readHead() else { return }
      guard request.fields.contains("Authorization") else {
        try peer.send(Scripts.refusal(Self.digestChallenge))
        let ending = try peer.awaitClose()
        return bodies.record("refused after \(ending.byteCount) bytes")
      }
      try peer.send("HTTP/1.1 100 Continue\r\n\r\n")
      try peer.readBody(of: &request)
      bodies.record("sent \(String(decoding: request.body, as: UTF8.self))")
      try peer.send(Scripts.reply)
    }
    defer { server.stop() }
    // The time limit is long, because the command would send the body if it expired before the challenge arrived.
    let run = try await lupine(
      ["--digest", "-u", "u:p", "-T", "-", "-H", "Expect: 100-continue", "--expect100-timeout", "100", server.url],
      input: "text")
    try #require(run.status == 0 && run.output == "ok", "\(run.errors)")
    #expect(await bodies.first(2).sorted() == ["refused after 0 bytes", "sent text"])
  }

  // MARK: Reports

  @Test(
    "the command's verbose output contains no password, token or Digest response",
    arguments: [["--basic"], ["--digest"], ["--anyauth"], ["--ntlm"]])
  func verbose(options: [String]) async throws {
    let challenges = "Basic realm=r, \(Self.digestChallenge)"
    let server = try CannedServer(replies: Array(repeating: Scripts.refusal(challenges), count: 2))
    let run = try await lupine(options + ["-v", "--trace", "-u", "me:secret", server.url])
    #expect(run.status == 0 && run.output == "refused", "\(run.errors)")
    #expect(run.errors.contains("> Authorization: [redacted]\n"))
    for word in ["secret", "bWU6c2VjcmV0", "response=", "TlRMTVNTUA"] { #expect(!run.errors.contains(word), "\(word)") }
    if options == ["--digest"] { #expect(run.errors.contains("* sending the request again with credentials\n")) }
  }
}
