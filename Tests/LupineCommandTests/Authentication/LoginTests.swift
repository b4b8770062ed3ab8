// LoginTests: the logins that --user, --oauth2-bearer and netrc files send, and their hosts.

import Foundation
import Testing

@Suite("Logins that the command sends", .timeLimit(.minutes(10)))
struct LoginTests {
  static let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
  static let basic = "Basic dTpw"  // u:p

  static func redirect(to url: String) -> String {
    "HTTP/1.1 302 F\r\nLocation: \(url)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
  }

  static func refusal(_ challenge: String, status: Int = 401) -> String {
    let field = status == 407 ? "Proxy-Authenticate" : "WWW-Authenticate"
    return "HTTP/1.1 \(status) U\r\n\(field): \(challenge)\r\nContent-Length: 7\r\nConnection: close\r\n\r\nrefused"
  }

  /// Returns the value of each request's Authorization field, or of another field. The value is "-" if a request lacks the field.
  static func authorizations(_ requests: [String], field: String = "Authorization") -> [String] {
    requests.map { request in
      let line = request.components(separatedBy: "\r\n").first { $0.hasPrefix("\(field): ") }
      return line.map { String($0.dropFirst(field.count + 2)) } ?? "-"
    }
  }

  /// Runs the command with one URL, and returns the Authorization value of its request.
  private func sent(_ arguments: [String], userInfo: String = "") async throws -> String? {
    let server = try CannedServer(replies: [Self.reply])
    let run = try await lupine(arguments + ["http://\(userInfo)127.0.0.1:\(server.port)/"])
    #expect(run.status == 0 && run.output == "ok", "\(run.errors)")
    return Self.authorizations(server.requests).first
  }

  @Test("the command sends the login of --user with Basic, in place of a login in the URL")
  func user() async throws {
    #expect(try await sent(["-u", "u:p"]) == Self.basic)
    #expect(try await sent(["--user", "u:p", "--basic"], userInfo: "x:y@") == Self.basic)
    #expect(try await sent(["-u", ":"]) == "Basic Og==")
    #expect(try await sent(["-u", "u:p:q"]) == "Basic dTpwOnE=")
  }

  @Test("the command sends the token of --oauth2-bearer, in place of a login in the URL")
  func token() async throws {
    #expect(try await sent(["--oauth2-bearer", "abc"]) == "Bearer abc")
    #expect(try await sent(["--oauth2-bearer", "abc"], userInfo: "x:y@") == "Bearer abc")
  }

  @Test(
    "an Authorization field set with -H replaces all other credentials, and removing Authorization with -H sends none")
  func field() async throws {
    let folder = try Folder()
    let netrc = try folder.write("n", "machine 127.0.0.1 login u password p")
    for login in [["-u", "u:p"], ["--oauth2-bearer", "a"], ["--netrc-file", netrc], ["--digest", "-u", "u:p"]] {
      #expect(try await sent(login + ["-H", "Authorization: own"], userInfo: "x:y@") == "own")
      #expect(try await sent(login + ["-H", "Authorization:"], userInfo: "x:y@") == "-")
    }
  }

  @Test(
    "the command sends a netrc login only to its host and for the URL's user, and with --netrc no other password of the URL"
  )
  func netrc() async throws {
    let folder = try Folder()
    let own = try folder.write(".netrc", "machine 127.0.0.1 login u password p login v password \"w x\"")
    let other = try folder.write("other", "machine localhost login u password p")
    #expect(try await sent(["--netrc-file", own]) == Self.basic)
    #expect(try await sent(["--netrc-file", own], userInfo: "v:y@") == "Basic djp3IHg=")
    #expect(try await sent(["--netrc-file", own], userInfo: "x:y@") == "-")
    #expect(try await sent(["--netrc-file", own], userInfo: "x@") == "-")
    #expect(try await sent(["--netrc-file", other], userInfo: "x:y@") == "-")
    #expect(try await sent(["--netrc-file", own, "-u", "a:b"]) == "Basic YTpi")
    #expect(try await sent(["--netrc-optional", "--netrc-file", own]) == Self.basic)
    #expect(try await sent(["--netrc-optional", "--netrc-file", own], userInfo: "x:y@") == "Basic eDp5")
    #expect(try await sent(["--netrc-optional", "--netrc-file", own], userInfo: "v@") == "Basic djp3IHg=")
    #expect(try await sent(["--netrc-optional", "--netrc-file", own], userInfo: "x@") == "Basic eDo=")
    #expect(try await sent(["--netrc-optional", "--netrc-file", folder.path + "/missing"]) == "-")

    let server = try CannedServer(replies: [Self.reply, Self.reply, Self.reply])
    for option in ["-n", "--netrc-optional", ""] {
      #expect(try await shell("HOME=\(folder.path) $lupine \(option) \(server.url)").output == "ok")
    }
    #expect(Self.authorizations(server.requests) == [Self.basic, Self.basic, "-"])
  }

  @Test("the command fails before any request if the netrc file is missing or malformed, and shows none of its text")
  func unreadableNetrc() async throws {
    let folder = try Folder()
    let missing = try await lupine(["--netrc-file", folder.path + "/missing", "http://127.0.0.1:1/"])
    #expect(missing.status == 26 && missing.hasOneErrorLine)
    let home = try await shell("HOME=\(folder.path) $lupine -n http://127.0.0.1:1/")
    #expect(home.status == 26 && home.errors.contains("/.netrc can't be read (open: No such file or directory)"))
    let homeless = try await shell("unset HOME; $lupine -n http://127.0.0.1:1/")
    #expect(homeless.status == 26 && homeless.errors.contains("--netrc-file"))
    let open = try folder.write("open", "machine h\nlogin u password \"secret\n")
    for options in [[], ["--netrc-optional"]] {
      let run = try await lupine(options + ["--netrc-file", open, "http://127.0.0.1:1/"])
      #expect(run.status == 26 && run.hasOneErrorLine && run.errors.contains("/open, line 2: a quotation mark"))
      #expect(!run.errors.contains("secret"))
    }
    let endless = try await lupine(["--netrc-file", "/dev/zero", "http://127.0.0.1:1/"])
    #expect(endless.status == 26 && endless.errors.contains("has more than 131072 bytes"), "\(endless.errors)")
  }

  // Runs the command with a server that acts as a proxy for all hosts.
  private func through(_ proxy: CannedServer, _ arguments: [String]) async throws -> Run {
    try await lupine(["-L", "-x", "127.0.0.1:\(proxy.port)", "--noproxy", ""] + arguments)
  }

  @Test(
    "the command sends no credentials after a redirect to another origin, nor after a redirect back",
    arguments: [
      ["-u", "u:p"], ["--oauth2-bearer", "secret"], ["--netrc-file", "NETRC"], ["--digest", "-u", "u:p"],
      ["--anyauth", "--netrc-file", "NETRC"],
    ])
  func otherOrigin(arguments: [String]) async throws {
    let folder = try Folder()
    let netrc = try folder.write("n", "machine a.test login u password p default login d password e")
    let isChallenged = ["--digest", "--anyauth"].contains(arguments[0])
    let proxy = try CannedServer(
      replies: (isChallenged ? [Self.refusal("Digest realm=r, nonce=n, qop=auth")] : []) + [
        Self.redirect(to: "http://b.test/"), Self.redirect(to: "http://a.test:81/"),
        Self.redirect(to: "http://a.test/back"), Self.refusal("Digest realm=r, nonce=n, qop=auth"),
      ])
    let run = try await through(proxy, arguments.map { $0 == "NETRC" ? netrc : $0 } + ["http://a.test/"])
    #expect(run.status == 0 && run.output == "refused", "\(run.errors)")
    var sent = Self.authorizations(proxy.requests)[...]
    if isChallenged { #expect(sent.popFirst() == "-") }
    #expect(sent.count == 4 && sent.first != "-" && sent.dropFirst().allSatisfy { $0 == "-" }, "\(sent)")
  }

  @Test("a login that the first origin didn't request isn't sent to it after redirects to another origin and back")
  func unspent() async throws {
    let proxy = try CannedServer(replies: [
      Self.redirect(to: "http://b.test/"), Self.redirect(to: "http://a.test/back"), Self.refusal("Basic realm=r"),
      Self.reply,
    ])
    let run = try await through(proxy, ["--anyauth", "-u", "u:p", "http://a.test/"])
    #expect(run.status == 0 && run.output == "refused", "\(run.errors)")
    #expect(Self.authorizations(proxy.requests) == ["-", "-", "-"])
  }

  @Test(
    "after a redirect to a host in the netrc file, the command sends the host's login, but not to another port of the host"
  )
  func netrcOfRedirect() async throws {
    let folder = try Folder()
    let netrc = try folder.write("n", "machine a.test login u password p machine b.test login v password w")
    let proxy = try CannedServer(replies: [
      Self.redirect(to: "http://b.test/"), Self.redirect(to: "http://b.test/b"),
      Self.redirect(to: "http://b.test:81/"), Self.reply,
    ])
    let run = try await through(proxy, ["--netrc-file", netrc, "http://a.test/"])
    #expect(run.output == "ok", "\(run.errors)")
    #expect(Self.authorizations(proxy.requests) == [Self.basic, "Basic djp3", "Basic djp3", "-"])
  }

  @Test("the command sends refused credentials only once, and then writes the response")
  func refused() async throws {
    let server = try CannedServer(replies: [Self.refusal("Basic realm=r"), Self.refusal("Basic realm=r")])
    let run = try await lupine(["-u", "u:p", server.url])
    #expect(run.status == 0 && run.output == "refused" && server.requests.count == 1)
    let failing = try await lupine(["-f", "-u", "u:secret", server.url])
    #expect(failing.status == 22 && failing.output.isEmpty && !failing.errors.contains("secret"))
  }
}
