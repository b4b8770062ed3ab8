// cURLDescription: commands run by bash with the real curl; httpbin has to receive the same request as from Lupine.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CURLRunTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let method: HTTPMethod
    let query: String
    let headers: HTTPHeaders
    let body: Data?
    var testDescription: String { "\(method.rawValue) \(query) with \(body?.count ?? 0) bytes" }
  }

  private static let typed: HTTPHeaders = ["Content-Type": "text/plain; charset=utf-8"]

  @Test(
    "running the curl command sends the same request as Lupine",
    arguments: [
      Case(method: .get, query: "", headers: [:], body: nil),
      Case(
        method: .get, query: "?a=b%20c&list%5B%5D=1&x=$HOME", headers: ["X-Own": "a \"b\" $HOME `id` 'c' \\ !id"],
        body: nil),
      Case(method: .delete, query: "?a=1", headers: ["Authorization": "Bearer abc"], body: nil),
      Case(
        method: .post, query: "", headers: ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"],
        body: Data("a=b&c=%C3%A9".utf8)),
      Case(
        method: .post, query: "?q=1", headers: ["Content-Type": "application/json"],
        body: Data("{\"a\":\"it's \\\"so\\\" $HOME\",\n\"b\":[1,2]}".utf8)),
      Case(method: .put, query: "", headers: typed, body: Data("line\r\n\ttab!\n".utf8)),
      Case(method: .patch, query: "", headers: typed, body: Data("@/etc/hostname".utf8)),
      Case(method: .post, query: "", headers: ["Content-Type": "application/octet-stream"], body: Data(0...255)),
      Case(method: .post, query: "", headers: typed, body: Data(repeating: 0x25, count: 200_000)),
    ])
  func sameRequest(item: Case) async throws {
    let base = try await TestServers.httpbin
    try await withSession { session in
      let request = session.request(base + "/anything" + item.query, method: item.method, headers: item.headers) {
        $0.httpBody = item.body
      }
      let ours = try await request.serializingDecodable(Anything.self).value
      let output = try await run(request.cURLDescription())
      let curls = try JSONDecoder().decode(Anything.self, from: output)
      #expect(curls.method == ours.method && curls.url == ours.url && curls.args == ours.args)
      #expect(curls.form == ours.form && curls.data == ours.data)
      // Accept is the only field that curl adds.
      var fields = curls.headers
      if ours.headers["Accept"] == nil { #expect(fields.removeValue(forKey: "Accept") == "*/*") }
      #expect(fields == ours.headers)
    }
  }

  @Test(
    "running the curl command sends the same cookies as Lupine, with and without a Cookie field in the request",
    arguments: [true, false])
  func sameCookies(hasOwn: Bool) async throws {
    let base = try await TestServers.httpbin
    try await withSession { session in
      _ = await session.request(base + "/cookies/set?a=1&b=$HOME").outcome()
      let request = session.request(base + "/anything", headers: hasOwn ? ["Cookie": "c=3"] : nil)
      let ours = try await request.serializingDecodable(Anything.self).value
      let curls = try JSONDecoder().decode(Anything.self, from: await run(request.cURLDescription()))
      #expect(ours.headers["Cookie"] == (hasOwn ? "c=3; a=1; b=$HOME" : "a=1; b=$HOME"))
      #expect(curls.headers["Cookie"] == ours.headers["Cookie"])
    }
  }

  @Test("running the curl command sends the same credential as Lupine")
  func sameCredential() async throws {
    let base = try await TestServers.httpbin
    try await withSession { session in
      let request = session.request(base + "/basic-auth/u/a%20$HOME").authenticate(username: "u", password: "a $HOME")
      #expect(await request.outcome().response?.statusCode == 200)
      let output = try await run(request.cURLDescription())
      #expect(String(decoding: output, as: UTF8.self).contains("\"authenticated\": true"))
    }
  }

  @Test("no part of a request makes the curl command read a file", arguments: ["-K", "@"])
  func readsNoFile(prefix: String) async throws {
    // The file is valid as a configuration for -K, as a list of URLs after @, as a body, and as fields for -H.
    let file = try TemporaryFile(Array("url = \"stolen\"\nX-Stolen: yes\n".utf8))
    let text = prefix + file.path
    // With -H, everything after @ is the file name, including ": v".
    let named = "\(file.path): v"
    try Data("X-Stolen: yes\n".utf8).write(to: URL(filePath: named))
    defer { try? FileManager.default.removeItem(atPath: named) }
    try await withServer {
      .text(String(decoding: $0.rawHead, as: UTF8.self) + String(decoding: $0.body, as: UTF8.self))
    } _: { origin in
      // After http://, a URL that begins with @ has no host.
      let url = prefix == "@" ? origin.url + file.path : text
      var request = URLRequest(url: try #require(URL(string: url)))
      request.method = .post
      request.headers = ["@\(file.path)": "v", "X": text, "Cookie": text]
      request.httpBody = Data(text.utf8)
      let credential = URLCredential(user: text, password: text, persistence: .none)
      let command = cURLDescription(of: request, configuration: [:], credential: credential)
      // --connect-to makes curl connect to the test's server, whatever the host in the URL.
      let seen = String(decoding: try await run(command + " --connect-to ::127.0.0.1:\(origin.port)"), as: UTF8.self)
      #expect(seen.hasPrefix("POST \(file.path) HTTP/1.1\r\n") && seen.hasSuffix(text))
      #expect(seen.contains("X: \(text)\r\n") && seen.contains("Cookie: \(text)\r\n"))
      #expect(!seen.contains("tolen"))
      #expect(origin.requestCount == 1)
    }
  }

  @Test("the curl command contains the session's header fields, and is delivered after the request has been created")
  func toldWhenBuilt() async throws {
    try await withServer {
      .text(String(decoding: $0.rawHead, as: UTF8.self))
    } _: { origin in
      try await withSession {
        $0.headers = ["X-Session": "s"]
      } _: { session in
        let commands = Recorder<String>()
        let request = session.request(origin.url)
        #expect(request.cURLDescription().hasPrefix("No curl command"))
        request.cURLDescription { commands.record($0) }
        request.cURLDescription(on: .global()) { commands.record($0) }
        _ = await request.outcome()
        let expected = "$ curl -v \\\n\t-X GET \\\n\t-H \"X-Session: s\" \\\n\t\"\(origin.url)\""
        #expect(await commands.first(2) == [expected, expected])
        #expect(request.cURLDescription() == expected)
        request.cURLDescription { commands.record($0) }
        #expect(await commands.next() == expected)
      }
    }
  }

  /// Runs a curl command in bash, as if a user had pasted it at the prompt, and returns curl's standard output.
  private func run(_ command: String) async throws -> Data {
    // History expansion is on by default only in an interactive shell.
    let (status, printed) = try await ChildProcess.run(
      ["/bin/bash", "--norc", "-o", "history", "-o", "histexpand", "-s"],
      input: command.dropFirst("$ ".count) + "\n", errors: .file("/dev/null"))
    #expect(status == 0, "is curl installed?")
    return printed
  }
}
