// ExitStatusTests: each exit status, and its error message in one line.

import Foundation
import Testing

@Suite("The command's exit status", .timeLimit(.minutes(10)))
struct ExitStatusTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let status: Int32
    /// The expected end of the line on standard error, after `lupine: `.
    let message: String
    let arguments: [String]

    init(_ status: Int32, _ message: String, _ arguments: String...) {
      (self.status, self.message, self.arguments) = (status, message, arguments)
    }

    var testDescription: String { "\(status): \(arguments.joined(separator: " "))" }
  }

  init() throws { try Servers.require() }

  static let cases = [
    Case(2, "a URL is missing: see lupine --help"),
    Case(2, "The scheme \"ftp\" isn't supported. Use http or https.", "ftp://localhost"),
    Case(2, "Use only letters, digits and !#$%&'*+-.^_`|~.", "-X", "G T", Servers.nginx),
    Case(6, "the host name doesn't exist, or has no address. Check its spelling.", "http://nothing.invalid"),
    Case(
      5, "the host name doesn't exist, or has no address. Check its spelling. This is the proxy's host name.", "-x",
      "nothing.invalid", Servers.nginx),
    Case(7, "no server listens on the port. Check host and port, and that the server is running.", "127.0.0.1:1"),
    Case(
      22, "/status/418: the server responded with 418 I'M A TEAPOT. Omit --fail to read the response body.", "--fail",
      "\(Servers.httpbin)/status/418"),
    Case(
      23,
      "/dev/full can't be written (write: No space left on device). Check the path and the free disk space. "
        + "/dev/full remains empty.", "-o", "/dev/full", "\(Servers.nginx)/small.txt"),
    Case(
      23, "/nowhere/f can't be written (open: No such file or directory). Check the path and the free disk space.",
      "-o",
      "/nowhere/f", "\(Servers.nginx)/small.txt"),
    Case(26, "/nowhere can't be read (open: No such file or directory). Check the file.", "-d", "@/nowhere", "a"),
    Case(26, "/tmp can't be read (read: Is a directory). Check the file.", "-F", "a=@/tmp", "a"),
    Case(
      28, "the request didn't finish within 0.25 s (phase: firstByte). Raise --max-time.", "-m", ".25",
      "\(Servers.httpbin)/delay/5"),
    Case(
      28, "the request didn't finish within 5 s (phase: receive). Raise --max-time.", "-m", "5", "-o",
      "/dev/null",
      "\(Servers.nginx)/slow"),
    Case(35, "localhost supports no TLS version that is allowed here.", "-k", "https://localhost:28447"),
    Case(35, "Check the port, or use http instead of https.", "https://127.0.0.1:28082"),
    Case(
      35, "localhost supports no TLS version that is allowed here", "-k", "--tlsv1.3", Servers.tls12Only),
    Case(
      35, "Use --tlsv1.2, --tlsv1.3 and --tls-max.", "-k", "--tls-max", "1.2", Servers.tls13Only),
    Case(
      45,
      "(setsockopt(SO_BINDTODEVICE, no0): No such device). Check the address and the network. Set the "
        + "interface with --interface.",
      "--interface", "no0", Servers.nginx),
    Case(
      45,
      "(bind to 192.0.2.1: Cannot assign requested address). Check the address and the network. Set the "
        + "interface with --interface.",
      "--interface", "192.0.2.1", Servers.nginx),
    Case(47, "redirected more than 20 times.", "-L", "\(Servers.httpbin)/redirect/21"),
    Case(52, "The server closed the connection without a response.", "\(Servers.nginx)/empty"),
    Case(
      58,
      "The identity file /nowhere can't be opened: No such file or directory. Check the path and its permissions. "
        + "The options are --cert, --cert-type, --key and --pass.", "-E", "/nowhere", Servers.clients),
    Case(
      58, "The PKCS#12 archive's password is wrong", "--cert-type", "P12", "-E",
      Servers.clientArchive + ":wrong", Servers.clients),
    Case(59, "OpenSSL has no cipher \"x\"", "--ciphers", "x", Servers.nginxTLS),
    Case(59, "OpenSSL has no TLS 1.3 suite \"x\"", "--tls13-ciphers", "x", Servers.nginxTLS),
    Case(59, "OpenSSL has no group \"x\"", "--curves", "P-256:x", Servers.nginxTLS),
    Case(60, "was issued by an unknown authority", "\(Servers.nginxTLS)/small.txt"),
    Case(60, "expired on 2021-01-01", "--cacert", Servers.authority, "https://localhost:28444"),
    Case(60, "isn't for localhost but for wrong.example.", "--cacert", Servers.authority, "https://localhost:28445"),
    Case(60, "is self-signed", "--cacert", Servers.authority, "https://localhost:28446"),
    Case(77, "The trust roots can't be read from /nowhere", "--cacert", "/nowhere", Servers.nginxTLS),
    Case(82, "The revocation lists can't be read from /nowhere", "--crlfile", "/nowhere", Servers.nginxTLS),
    Case(77, "The directory of trust roots /nowhere can't be opened", "--capath", "/nowhere", Servers.nginxTLS),
    Case(
      91, "localhost stapled no OCSP response", "--cert-status", "--cacert", Servers.authority, Servers.nginxTLS),
    Case(
      91, "the certificate was revoked on 2025-01-01", "--cert-status", "--cacert", Servers.authority,
      Servers.revokedStaple),
    Case(
      97, "the proxy requires credentials (407). It offers Basic.", "-x", Servers.httpProxyWithLogin, "-k",
      Servers.nginxTLS),
    Case(
      97, "the proxy requires authentication", "--socks5", Servers.socksProxyWithLogin,
      Servers.nginx),
  ]

  @Test("each error causes the expected exit status of the command, and one line of error output", arguments: cases)
  func error(_ one: Case) async throws {
    let run = try await lupine(one.arguments)
    #expect(run.status == one.status)
    #expect(run.hasOneErrorLine && run.errors.hasPrefix("lupine: "), "\(run.errors)")
    // If no name server can be reached, it is unknown whether the name exists.
    let hasNoAnswer =
      run.errors.contains("the host lookup failed (") && one.message.hasPrefix("the host name doesn't exist")
    #expect(run.errors.contains(one.message) || hasNoAnswer, "\(run.errors)")
    #expect(run.output.isEmpty || one.arguments.contains("-o"))
  }

  static let replies: [(Int32, String, String)] = [
    (18, "3 bytes before the end of the response body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"),
    (18, "before the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"),
    (56, "The response isn't HTTP", "SSH-2.0-x\r\n"),
    (56, "after 12 bytes of the response head", "HTTP/1.1 200"),
    (56, "Content-Length is \"x", "HTTP/1.1 200 OK\r\nContent-Length: x\u{C2}\u{9B}\r\n\r\n"),
    (56, "the redirect target isn't a valid URL", "HTTP/1.1 302 F\r\nLocation: gopher://x\r\n\r\n"),
    (61, "To receive it undecoded, pass --raw.", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot gzip at all"),
    (61, "more than 5 content codings", "HTTP/1.1 200 OK\r\nContent-Encoding: a,b,c,d,e,f\r\n\r\nx"),
  ]

  @Test("the command writes a body with an unknown content coding as received")
  func unknownCoding() async throws {
    let server = try CannedServer(replies: ["HTTP/1.1 200 OK\r\nContent-Encoding: zip\r\n\r\nx"])
    let run = try await lupine([server.url])
    #expect(run.status == 0 && run.errors.isEmpty && run.output == "x")
  }

  @Test("each malformed response causes the expected exit status and one line of error output", arguments: replies)
  func brokenReply(status: Int32, message: String, reply: String) async throws {
    let server = try CannedServer(replies: [reply])
    let run = try await lupine(["-L", server.url])
    #expect(run.status == status)
    #expect(run.hasOneErrorLine && run.errors.contains(message), "\(run.errors)")
    // The reply contains a C1 control character, which a terminal would interpret.
    #expect(!run.errors.unicodeScalars.contains("\u{9B}"))
  }

  @Test("connecting to a server that doesn't accept connections fails at the time of --connect-timeout")
  func connectTimeout() async throws {
    let server = try CannedServer(replies: [], isDeaf: true)
    // The first connection fills the queue. The kernel drops the SYN of the next one.
    async let first = lupine(["-m", "0.5", server.url])
    async let second = lupine(["-m", "0.5", server.url])
    let statuses = try await [first.status, second.status]
    #expect(statuses == [28, 28])
    let third = try await lupine(["--connect-timeout", "0.3", server.url])
    #expect(third.status == 28)
    #expect(
      third.errors.hasSuffix(
        "no connection was established within 0.3 s. Check host, port and firewall, and that the server accepts "
          + "connections, or raise the connect timeout. The option is --connect-timeout.\n"
      ))
  }

  @Test("the command accepts a certificate of an unknown authority with --insecure or with the authority's file")
  func insecure() async throws {
    #expect(try await lupine(["-k", "\(Servers.nginxTLS)/small.txt"]).output == "small\n")
    #expect(try await lupine(["--cacert", Servers.authority, "\(Servers.nginxTLS)/small.txt"]).output == "small\n")
  }

  @Test("the time limit of --max-time includes the time for redirects")
  func totalTime() async throws {
    let url = "\(Servers.httpbin)/redirect-to?url=/delay/5"
    let run = try await lupine(["-L", "-m", "0.6", url])
    #expect(run.status == 28 && run.errors.contains("within 0.6 s"))
  }

  @Test("if the reader of the command's output closes the pipe, the command ends without an error message")
  func closedPipe() async throws {
    let run = try await shell("{ $lupine \(Servers.nginx)/big.bin; echo $? >&2; } | head -c 5 >/dev/null")
    #expect(run.errors == "23\n")
  }

  @Test("if standard output is closed, the command doesn't write the body to any other descriptor")
  func closedOutput() async throws {
    let run = try await shell("$lupine \(Servers.nginx)/small.txt >&-; echo $? >&2")
    #expect(run.errors.hasSuffix("(write: Bad file descriptor). Check the path and the free disk space.\n23\n"))
  }

  @Test("--help and --version write their text to standard output")
  func help() async throws {
    let help = try await lupine(["--help"])
    #expect(help.status == 0 && help.errors.isEmpty)
    for word in [
      "-X, --request METHOD", "--connect-timeout SECONDS", "  52  the server closed", "-U, --proxy-user USER:PASSWORD",
      "-u, --user USER:PASSWORD", "--oauth2-bearer TOKEN", "-n, --netrc", "  94  NTLM or Negotiate",
    ] {
      #expect(help.output.contains(word))
    }
    for headline in ["Request", "Response", "Login", "Proxy", "Connection", "TLS", "Reports", "Exit status"] {
      #expect(help.output.contains("\n\n\(headline):\n"))
    }
    #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 120 })
    #expect(try await lupine(["-V"]).output == "lupine 0.1.0\n")
  }
}
