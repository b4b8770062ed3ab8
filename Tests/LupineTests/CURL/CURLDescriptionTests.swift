// cURLDescription: the format of a request's curl command, and the arguments that bash passes from it to curl.

import Foundation
import LupineEngine
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CURLDescriptionTests {
  private func request(
    _ url: String = "https://example.org/", method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: Data? = nil
  ) throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.method = method
    request.headers = headers
    request.httpBody = body
    return request
  }

  @Test("in the curl command, each option is on its own line, and the URL is last")
  func format() throws {
    let request = try request(
      "https://example.org/a?b=c&d", method: .post, headers: ["X-Own": "a \"b\"", "Accept": "*/*"],
      body: Data(#"{"a":"\"b"}"#.utf8))
    let description = cURLDescription(of: request, configuration: ["User-Agent": "me", "accept": "text/html"])
    #expect(
      description == #"""
        $ curl -v \
        	-X POST \
        	-H "User-Agent: me" \
        	-H "Accept: */*" \
        	-H "X-Own: a \"b\"" \
        	-d "{\"a\":\"\\\"b\"}" \
        	"https://example.org/a?b=c&d"
        """#)
  }

  @Test("in the curl command, -u passes the credential, unless its user name contains a colon")
  func credential() throws {
    let request = try request(headers: ["X": "y"])
    let credential = URLCredential(user: "u", password: "p:$x", persistence: .none)
    #expect(
      cURLDescription(of: request, configuration: [:], credential: credential, cookies: "a=b")
        == #"""
        $ curl -v \
        	-X GET \
        	-u "u:p:\$x" \
        	-b "a=b" \
        	-H "X: y" \
        	"https://example.org/"
        """#)
    let colon = URLCredential(user: "u:v", password: "p", persistence: .none)
    #expect(!cURLDescription(of: request, configuration: [:], credential: colon).contains("-u"))
  }

  @Test("a handler for curl commands that is added while a request is being adapted is called once, with the result")
  func commandDuringAdaptation() async throws {
    try await withSession { session in
      let (commands, pending) = (Recorder<String>(), Recorder<@Sendable () -> Void>())
      let adapter = Adapter { request, _, completion in
        var adapted = request
        adapted.headers.add(name: "X-Adapted", value: "yes")
        pending.record { [adapted] in completion(.success(adapted)) }
      }
      let request = session.request("http://127.0.0.1:1/", interceptor: adapter)
      async let outcome = request.outcome()
      let adapt = try #require(await pending.next())
      request.cURLDescription { commands.record($0) }
      await session.rootQueue.drain()
      adapt()
      _ = await outcome
      await session.rootQueue.drain()
      commands.record("end")
      let calls = await commands.first(2)
      #expect(calls[0].contains("X-Adapted") && calls[1] == "end")
    }
  }

  @Test("cURLDescription returns a message instead of a curl command if the request has no URL")
  func noURL() throws {
    var request = try request()
    request.url = nil
    #expect(cURLDescription(of: request, configuration: [:]).hasPrefix("The request has no URL"))
  }

  @Test(
    "the curl command uses --head for HEAD, --globoff for brackets in the URL, and a semicolon for an empty field")
  func curlSpecialties() async throws {
    let head = try await words(of: request(method: .head))
    #expect(head == ["-v", "-X", "HEAD", "--head", "https://example.org/"].map { Data($0.utf8) })
    let brackets = try await words(of: request("http://[::1]/"))
    #expect(brackets.suffix(2) == ["--globoff", "http://[::1]/"].map { Data($0.utf8) })
    let field = try await words(of: request(headers: ["X-Empty": ""]))
    #expect(field[4] == Data("X-Empty;".utf8))
  }

  @Test(
    "curl never mistakes the URL in the curl command for an option or a file name",
    arguments: [
      ("-K/tmp/evil", ["--url", "-K/tmp/evil"]), ("--config=/tmp/evil", ["--url", "--config=/tmp/evil"]),
      ("-", ["--url", "-"]), ("@/tmp/evil", ["http://@/tmp/evil"]), ("example.org/-x", ["example.org/-x"]),
      ("https://example.org/@x", ["https://example.org/@x"]),
    ])
  func hostileURL(url: String, last: [String]) async throws {
    let words = try await words(of: request(url))
    #expect(words == (["-v", "-X", "GET"] + last).map { Data($0.utf8) })
  }

  @Test("the curl command omits a field whose name begins with @, because curl would read a file with that name")
  func hostileFieldName() async throws {
    let words = try await words(of: request(headers: ["@/tmp/evil": "x", "@": "", "X": "@/tmp/evil", "-K": "y"]))
    #expect(
      words == ["-v", "-X", "GET", "-H", "X: @/tmp/evil", "-H", "-K: y", "https://example.org/"].map { Data($0.utf8) })
  }

  @Test(
    "curl never mistakes a method, user name or cookie in the curl command for an option or a file name",
    arguments: ["-K/tmp/evil", "@/tmp/evil"])
  func hostileArguments(text: String) throws {
    let description = try cURLDescription(
      of: request(method: HTTPMethod(rawValue: text)), configuration: [:],
      credential: URLCredential(user: text, password: text, persistence: .none), cookies: "\(text)=\(text)")
    let cookie = "\(text)=\(text)"
    // With -b, curl would read the file after an @.
    let cookieOption = text.hasPrefix("@") ? "-H \"Cookie: \(cookie)\"" : "-b \"\(cookie)\""
    // Each text follows an option, so curl takes the text as that option's value.
    #expect(
      description == """
        $ curl -v \\
        \t-X "\(text)" \\
        \t-u "\(text):\(text)" \\
        \t\(cookieOption) \\
        \t"https://example.org/"
        """)
    let nameless = try cURLDescription(of: request(), configuration: [:], cookies: text)
    #expect(nameless.contains("-H \"Cookie: \(text)\"") && !nameless.contains("-b"))
  }

  @Test("the curl command passes the cookies with -b, unless curl would ignore them or read a file")
  func cookies() throws {
    let request = try request(headers: ["X": "y"])
    #expect(
      cURLDescription(of: request, configuration: [:], cookies: "a=\"b c\"; d=$e")
        == #"""
        $ curl -v \
        	-X GET \
        	-b "a=\"b c\"; d=\$e" \
        	-H "X: y" \
        	"https://example.org/"
        """#)
    let nameless = cURLDescription(of: request, configuration: [:], cookies: "file")
    #expect(nameless.contains("-H \"Cookie: file\"") && !nameless.contains("-b"))
    // curl would read the file "name=1".
    let fileName = cURLDescription(of: request, configuration: [:], cookies: "@name=1; a=2")
    #expect(fileName.contains("-H \"Cookie: @name=1; a=2\"") && !fileName.contains("-b"))
    let merged = cURLDescription(of: request, configuration: ["Cookie": "z=1"], cookies: "z=1; a=2")
    #expect(merged.contains("-H \"Cookie: z=1; a=2\"") && !merged.contains("-b"))
  }

  static let texts = [
    "plain", "a b", "\"", "\\", "\\\\\"", "$HOME", "${HOME}", "$(id)", "`id`", "!", "!!", "a!b\"c!", "'", "it's",
    "line\nbreak\n", "tab\tand\rreturn", "\u{1B}[31m", "\u{7F}", "a\u{9B}2J\u{85}b", "\u{202E}a\u{2069}", "a\u{2028}b",
    "%s%d%%", "é€😃", "\\x41", "\\\n", "*", "~", "-d",
    "@file",
    "<(id)", ";id", "&", "|", "#", "$'\\x41'", "a\u{301}", "\t'!\\", "\\!", "$",
  ]

  @Test("the curl command contains no character with which a request could control a terminal", arguments: texts)
  func harmless(text: String) throws {
    let credential = URLCredential(user: text, password: text, persistence: .none)
    let request = try request(method: HTTPMethod(rawValue: text), headers: ["X": text], body: Data(text.utf8))
    let command = cURLDescription(of: request, configuration: [:], credential: credential, cookies: "a=\(text)")
    // Each word begins in a separate line, after a tab.
    let shown = command.replacing("\n", with: "").replacing("\t", with: "").unicodeScalars
    #expect(!shown.contains { $0.controlsTerminal }, "\(command)")
  }

  @Test("the curl command quotes a body's text so that the shell passes the text to curl unchanged", arguments: texts)
  func bodyText(text: String) async throws {
    let words = try await words(of: request(method: .post, body: Data(text.utf8)))
    #expect(words[3] == Data((text.hasPrefix("@") ? "--data-raw" : "-d").utf8))
    #expect(words[4] == Data(text.utf8))
    #expect(words.count == 6)
  }

  @Test(
    "the curl command quotes fields and the method so that the shell passes them to curl unchanged", arguments: texts)
  func fieldAndMethod(text: String) async throws {
    let words = try await words(of: request(method: HTTPMethod(rawValue: text), headers: ["X": text]))
    #expect(words == ["-v", "-X", text, "-H", "X: \(text)", "https://example.org/"].map { Data($0.utf8) })
  }

  @Test(
    "the curl command passes a body that isn't valid text to curl unchanged",
    arguments: [
      [0xFF], [0x00], [0xFF, 0x00, 0x41], [0x40, 0xFF], [0x40, 0x00], [0x2D, 0x00], [0xFE, 0x34, 0x35], [0x00, 0x31],
      [0xFF, 0x0A], [0xC3], Array(1...255), Array(0...255),
    ] as [[UInt8]])
  func bodyBytes(bytes: [UInt8]) async throws {
    let words = try await words(of: request(method: .post, body: Data(bytes)))
    let name: String
    switch (bytes.contains(0), bytes.first) {
    case (false, 0x40): name = "--data-raw"
    default: name = "--data-binary"
    }
    #expect(words[3] == Data(name.utf8))
    #expect(words[4] == Data(bytes))
  }

  @Test(
    "the curl command passes a body of 128 KiB or more through printf, because the body is too long for an argument",
    arguments: [131_071, 131_072, 300_000])
  func longBody(count: Int) async throws {
    let body = Data(repeating: UInt8(ascii: "%"), count: count)
    let words = try await words(of: request(method: .post, body: body))
    #expect(words[3] == Data((count < 131_072 ? "-d" : "--data-binary").utf8))
    #expect(words[4] == body)
  }

  /// Returns the arguments that bash passes to curl when it runs the request's curl command.
  ///
  /// A shell function replaces curl, and writes each argument as a line of hex digits. For a process substitution, it writes
  /// the content instead of the file name.
  private func words(of request: URLRequest) async throws -> [Data] {
    let command = cURLDescription(of: request, configuration: [:]).dropFirst(2)
    let function = """
      curl() {
        for word in "$@"; do
          case $word in
          @/dev/fd/*) cat "${word#@}" ;;
          *) printf %s "$word" ;;
          esac | od -An -v -tx1 | tr -d ' \\n'
          echo
        done
      }

      """
    let (status, printed) = try await ChildProcess.run(
      ["/bin/bash", "--norc", "-s"], input: function + command + "\n")
    #expect(status == 0)
    return try String(decoding: printed, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast().map { try bytes(ofHex: $0) }
  }

  private func bytes(ofHex digits: Substring) throws -> Data {
    var data = Data()
    var rest = digits
    while !rest.isEmpty {
      data.append(try #require(UInt8(rest.prefix(2), radix: 16)))
      rest = rest.dropFirst(2)
    }
    return data
  }
}
