// ConnectionTests: options for connections: proxies, addresses for names, Unix sockets, and the local address.

import Foundation
@testable import LupineCommand
import LupineEngine
import Testing

@Suite("Connection options of the command", .timeLimit(.minutes(10)))
struct ConnectionTests {
  init() throws { try Servers.require() }

  private static let page = "\(Servers.nginx)/small.txt"
  private static let securePage = "\(Servers.nginxTLS)/small.txt"

  static let proxies: [(arguments: [String], shown: String)] = [
    (["-x", Servers.httpProxy, page], "* forwarded by the proxy http://\(Servers.httpProxy)\n"),
    (["-x", Servers.httpProxy, "-k", securePage], "* through a tunnel by the proxy http://\(Servers.httpProxy)\n"),
    (
      ["-x", Servers.httpProxyWithLogin, "-U", "user:pass", page],
      "* forwarded by the proxy http://\(Servers.httpProxyWithLogin)\n"
    ),
    (
      ["-x", "http://u:p@" + Servers.httpProxyWithLogin, "-U", "user:pass", "-k", securePage],
      "* through a tunnel by the proxy http://\(Servers.httpProxyWithLogin)\n"
    ),
    (
      ["-x", "http://user:p%61ss@" + Servers.httpProxyWithLogin, page],
      "* forwarded by the proxy http://\(Servers.httpProxyWithLogin)\n"
    ),
    (["--socks5", Servers.socksProxy, page], "* through a tunnel by the proxy socks5://\(Servers.socksProxy)\n"),
    (
      ["--socks5-hostname", Servers.socksProxy, "-k", securePage],
      "* through a tunnel by the proxy socks5h://\(Servers.socksProxy)\n"
    ),
    (
      ["--socks5", Servers.socksProxyWithLogin, "-U", "user:pass", page],
      "* through a tunnel by the proxy socks5://\(Servers.socksProxyWithLogin)\n"
    ),
    (
      ["-x", "nothing.invalid", "-x", "socks5h://user:pass@" + Servers.socksProxyWithLogin, page],
      "* through a tunnel by the proxy socks5h://\(Servers.socksProxyWithLogin)\n"
    ),
  ]

  @Test("if the command line contains several proxy options, the last one applies", arguments: proxies)
  func proxy(arguments: [String], shown: String) async throws {
    let run = try await lupine(["-v"] + arguments)
    #expect(run.status == 0 && run.output == "small\n", "\(run.errors)")
    #expect(run.errors.contains(shown), "\(run.errors)")
  }

  // Command lines for sh, and whether the request uses the proxy. Nothing listens at the proxy's address.
  static let bypasses: [(line: String, isProxied: Bool)] = [
    ("http_proxy=127.0.0.1:1 $lupine", true),
    ("http_proxy=127.0.0.1:1 $lupine -x ''", false),
    ("http_proxy=127.0.0.1:1 $lupine --noproxy '*'", false),
    ("http_proxy=127.0.0.1:1 no_proxy=127.0.0.1 $lupine", false),
    ("http_proxy=127.0.0.1:1 no_proxy=127.0.0.1 $lupine --noproxy ''", true),
    ("http_proxy=127.0.0.1:1 NO_PROXY=127.0.0.1 $lupine --noproxy other.test", true),
    ("$lupine -x 127.0.0.1:1", true),
    ("$lupine -x 127.0.0.1:1 --noproxy other.test,127.0.0.0/8", false),
    ("no_proxy=127.0.0.1 $lupine -x 127.0.0.1:1", false),
    ("NO_PROXY=127.0.0.1 $lupine -x 127.0.0.1:1 --noproxy ''", true),
  ]

  @Test(
    "the command's --proxy and --noproxy options take precedence over the corresponding environment variables",
    arguments: bypasses
  )
  func exceptions(line: String, isProxied: Bool) async throws {
    let run = try await shell("unset no_proxy NO_PROXY; \(line) \(Self.page)")
    #expect(run.status == (isProxied ? 7 : 0), "\(run.errors)")
    #expect(run.output == (isProxied ? "" : "small\n"))
  }

  @Test("an invalid URL in a proxy environment variable causes the expected exit status and one line of error output")
  func malformedVariable() async throws {
    let run = try await shell("unset no_proxy NO_PROXY; http_proxy=http://secret@:1 $lupine \(Self.page)")
    #expect(run.status == 5 && run.hasOneErrorLine)
    #expect(
      run.errors.contains("http_proxy: the host is neither a name nor an address") && !run.errors.contains("secret"))
  }

  @Test(
    "the last --resolve entry for a name replaces the DNS lookup of the name, and takes precedence over an entry for *")
  func overrides() async throws {
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    let server = try CannedServer(replies: [reply, reply])
    let port = server.port
    let named = [
      "--resolve", "Some.Test:\(port):127.0.0.1,[::1]", "--resolve", "*:\(port):192.0.2.1", "http://some.test:\(port)",
    ]
    let run = try await lupine(["--resolve", "some.test:\(port):192.0.2.1"] + named)
    #expect(run.output == "ok", "\(run.errors)")
    let any = try await lupine(["--resolve", "*:\(port):127.0.0.1", "http://other.test:\(port)"])
    #expect(any.output == "ok", "\(any.errors)")
    #expect(server.requests.map { $0.contains("Host: some.test:\(port)\r\n") } == [true, false])
  }

  @Test("--unix-socket connects to the socket for every host, even if the environment sets a proxy")
  func unixSocket() async throws {
    let run = try await shell(
      "http_proxy=127.0.0.1:1 $lupine -v --unix-socket \(Servers.nginxSocket) http://any.test/small.txt")
    #expect(run.output == "small\n")
    #expect(run.errors.contains("> Host: any.test\n") && run.errors.contains("unix:\(Servers.nginxSocket)"))
    let missing = try await lupine(["--unix-socket", "/nowhere", "http://any.test/"])
    #expect(missing.status == 7 && missing.errors.contains("(connect: No such file or directory)"))
  }

  @Test("--abstract-unix-socket connects to an abstract Unix socket, without a file in the file system")
  func abstractSocket() async throws {
    let name = "lupine-" + UUID().uuidString
    let server = try CannedServer(abstractName: name, replies: ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"])
    let run = try await lupine(["--abstract-unix-socket", name, "http://any.test/"])
    #expect(run.output == "ok", "\(run.errors)")
    #expect(server.requests.count == 1)
    let file = try await lupine(["--unix-socket", "@" + name, "http://any.test/"])
    #expect(file.status == 7 && file.errors.contains("No such file"))
  }

  @Test("--interface makes connections from the given local address or interface")
  func source() async throws {
    let run = try await lupine(["-v", "--interface", "127.0.0.2", Self.page])
    #expect(run.output == "small\n" && run.errors.contains(" from 127.0.0.2:"))
    #expect(try await lupine(["--interface", "lo", Self.page]).output == "small\n")
  }
}
