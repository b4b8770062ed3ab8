// ReportTests: the output of --verbose, --timing and --trace.

import Foundation
import LupineEngine
import LupineTestSupport
import Testing

@testable import LupineCommand

@Suite("Output of --verbose, --timing and --trace", .timeLimit(.minutes(10)))
struct ReportTests {
  @Test("the command's verbose output contains all heads and connections, but no credentials")
  func verbose() async throws {
    let server = try CannedServer(replies: [
      "HTTP/1.1 302 Found\r\nSet-Cookie: secret3\r\nX: a\u{C2}\u{9B}b\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ])
    let run = try await lupine([
      "-vL", "-H", "Cookie: secret1", "-H", "proxy-authorization: secret2",
      "http://me:secret0@127.0.0.1:\(server.port)/a",
    ])
    #expect(run.status == 0 && run.output.isEmpty)
    #expect(!run.errors.contains("secret"))
    // The client's port varies.
    let lines = run.errors.replacing(/from 127\.0\.0\.1:\d+/, with: "from 127.0.0.1:PORT")
      .split(separator: "\n").map { String($0) }
    let expected = [
      "* requesting from \(server.url)", "> GET /a HTTP/1.1", "> Host: 127.0.0.1:\(server.port)",
      "> User-Agent: lupine/0.1.0",
      "> Accept: */*", "> Accept-Encoding: \(AcceptEncoding.command)", "> Cookie: [redacted]",
      "> Authorization: [redacted]", ">",
      "* new connection to 127.0.0.1:\(server.port) from 127.0.0.1:PORT", "< HTTP/1.1 302 Found",
      "< Set-Cookie: [redacted]", "< X: a\\u{9b}b", "< Location: /b", "< Content-Length: 0", "<",
      "* redirected to GET \(server.url)/b",
    ]
    #expect(Array(lines.prefix(expected.count)) == expected)
  }

  @Test("the command escapes text from a server that could control a terminal, with -i, with -v and in errors")
  func hostileText() async throws {
    // U+009B and U+202E; the server sends each scalar as a byte.
    let (control, override) = ("\u{C2}\u{9B}2J", "\u{E2}\u{80}\u{AE}")
    let head =
      "HTTP/1.1 404 a\(control)\r\nX: b\(control)\(override)\tc\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
    let server = try CannedServer(replies: [head + "ok", head + "ok", head + "ok"])
    let included = try await lupine(["-i", server.url])
    #expect(
      included.output == #"HTTP/1.1 404 a\u{9b}2J"# + "\r\n" + #"X: b\u{9b}2J\u{202e}"# + "\tc\r\n"
        + "Content-Length: 2\r\nConnection: close\r\n\r\nok")
    let failing = try await lupine(["-f", server.url])
    #expect(failing.errors.contains(#"responded with 404 a\u{9b}2J"#))
    let verbose = try await lupine(["-v", server.url])
    #expect(verbose.errors.contains(#"< HTTP/1.1 404 a\u{9b}2J"#))
    #expect(verbose.errors.contains(#"< X: b\u{9b}2J\u{202e}"#))
  }

  @Test("the command's verbose output hides the value of each field with credentials, whatever the case of its name")
  func hiddenFields() {
    let names = [
      "authorization", "Proxy-Authorization", "AUTHENTICATION-INFO", "Proxy-Authentication-Info", "cookie",
      "Set-Cookie",
    ]
    var fields = Fields()
    for name in names + ["X"] { fields.append(name: name, value: "value") }
    let head = ResponseHead(status: 200, fields: fields, isContentDecoded: false)
    let lines = VerboseReport.response(head).split(separator: "\n").map { String($0) }
    #expect(Array(lines.dropFirst()) == names.map { "< \($0): [redacted]" } + ["< X: value", "<"])
  }

  @Test("the command's verbose output contains the TLS version and cipher, and whether the certificate was verified")
  func verboseTLS() async throws {
    try Servers.require()
    let url = "\(Servers.nginxTLS)/small.txt"
    let verified = try await lupine(["-v", "--cacert", Servers.authority, url])
    // Which AES cipher comes first depends on the processor.
    let ciphers = "(TLS_AES_128_GCM_SHA256|TLS_AES_256_GCM_SHA384)"
    let summary = try Regex("\\* TLSv1\\.3, \(ciphers), x25519, ALPN http/1\\.1, certificate verified\n")
    #expect(verified.errors.contains(summary))
    #expect(verified.errors.contains("* certificate subject: CN=good\n"))
    let unverified = try await lupine(["-vk", url])
    #expect(unverified.errors.contains(", certificate not verified (--insecure)\n"))
  }

  @Test("--timing prints a table with a row for each phase and property of the request")
  func timing() async throws {
    try Servers.require()
    let run = try await lupine(["--timing", "-k", "\(Servers.nginxTLS)/text.txt"])
    #expect(run.errors.hasPrefix("GET \(Servers.nginxTLS)/text.txt\n"))
    for row in ["lookup", "connect", "tls", "first byte", "total"] {
      #expect(run.errors.contains(try Regex("\n  \(row) +[0-9]+\\.[0-9]{3} +[0-9]+\\.[0-9]{3} ms\n")))
    }
    let length = run.output.utf8.count
    for fact in ["decoded      \(length) body bytes", "reused       no"] {
      #expect(run.errors.contains("\n  \(fact)\n"))
    }
    #expect(run.errors.contains(try Regex("\n  tls          TLSv1\\.3, TLS_AES_(128_GCM_SHA256|256_GCM_SHA384)\n")))
    #expect(run.errors.contains(try Regex("\n  address      (127\\.0\\.0\\.1|\\[::1\\]):28443\n")))
  }

  @Test("if a proxy is used, the table of --timing has a row for the proxy's handshake")
  func timingOfProxy() async throws {
    try Servers.require()
    let run = try await lupine(["--timing", "-k", "-x", Servers.httpProxy, "\(Servers.nginxTLS)/small.txt"])
    #expect(run.errors.contains(try Regex("\n  proxy +[0-9]+\\.[0-9]{3} +[0-9]+\\.[0-9]{3} ms\n")))
  }

  @Test("the command's trace lists the steps of a request in order")
  func trace() async throws {
    let server = try CannedServer(replies: ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
    let run = try await lupine(["--trace", server.url])
    #expect(run.status == 0)
    // The server closes the connection after its response, before or after the request is complete.
    let steps = run.errors.split(separator: "\n").map { String($0).drop { $0 != "m" }.dropFirst(4) }
      .filter { !$0.hasPrefix("connection 1 was closed") }
    let address = "127.0.0.1:\(server.port)"
    let expected = [
      "request 1 started: GET http://\(address)/", "connection 1 to http://\(address) started for request 1",
      "connection 1: 127.0.0.1 is 127.0.0.1", "connection 1 is trying \(address)", "connection 1 is open",
      "request 1 uses new connection 1", "request 1 was sent", "request 1 received status 200", "request 1 is complete",
    ]
    #expect(Array(steps.prefix(expected.count)) == expected.map { $0[...] })
  }

  @Test("the command's trace contains the reason why a connection failed")
  func traceOfFailure() async throws {
    let run = try await lupine(["--trace", "127.0.0.1:1"])
    #expect(run.status == 7)
    #expect(run.errors.contains("  connection 1: attempt failed: connect: Connection refused\n"))
    #expect(run.errors.contains("  request 1 failed: http://127.0.0.1:1: no server listens on the port."))
  }

  @Test("--timing prints its table even if the request has no connection")
  func timingOfNothing() async throws {
    let run = try await lupine(["--timing", "127.0.0.1:1"])
    #expect(run.status == 7)
    #expect(run.errors.contains("\n  tls                    -           -\n"))
    #expect(run.errors.contains("\n  address      -\n"))
  }
}
