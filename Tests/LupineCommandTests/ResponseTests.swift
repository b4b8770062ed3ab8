// ResponseTests: output, files, redirects, codings and the progress bar.

import Foundation
import Glibc
import LupineTestSupport
import Testing

@Suite("Responses that the command writes", .timeLimit(.minutes(10)))
struct ResponseTests {
  init() throws { try Servers.require() }

  @Test("the command writes only the response's body to standard output")
  func body() async throws {
    let run = try await lupine(["\(Servers.nginx)/small.txt"])
    #expect(run.status == 0 && run.output == "small\n" && run.errors.isEmpty)
  }

  @Test("with --include, the command writes the heads of all responses before the body")
  func include() async throws {
    let server = try CannedServer(replies: [
      "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 3\r\n\r\nold",
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.0 200 Fine\r\nA:  b\r\n\r\nnew",
    ])
    let run = try await lupine(["-iL", server.url + "/a"])
    #expect(
      run.output == "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 3\r\n\r\n"
        + "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.0 200 Fine\r\nA: b\r\n\r\nnew")
    #expect(run.status == 0 && run.errors.isEmpty)
  }

  @Test("the command follows redirects only with --location, and a 302 changes POST to GET")
  func location() async throws {
    let reply = "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 3\r\n\r\nold"
    let server = try CannedServer(replies: [reply, reply, "HTTP/1.1 200 OK\r\n\r\nnew"])
    #expect(try await lupine(["-d", "x", server.url]).output == "old")
    #expect(try await lupine(["-L", "-d", "x", server.url]).output == "new")
    #expect(server.requests[2].hasPrefix("GET /b HTTP/1.1\r\n"))
    #expect(!server.requests[2].contains("Content-"))
  }

  @Test("the command follows at most twenty redirects, all on the same connection")
  func redirectLimit() async throws {
    let run = try await lupine(["-L", "\(Servers.httpbin)/redirect/20", "-v"])
    #expect(run.status == 0 && run.output.contains("\"url\""))
    #expect(run.errors.components(separatedBy: "* reused connection").count == 21)
    #expect(try await lupine(["-L", "\(Servers.httpbin)/redirect/21"]).status == 47)
  }

  @Test("the command decodes content codings unless --raw is given", arguments: ["gzip", "brotli", "deflate"])
  func coding(name: String) async throws {
    let decoded = try await lupine(["\(Servers.httpbin)/\(name)"])
    #expect(decoded.status == 0 && decoded.output.contains("\"headers\": {"))
    let raw = try await lupine(["--raw", "\(Servers.httpbin)/\(name)"])
    #expect(raw.status == 0 && !raw.output.contains("\"headers\": {"))
  }

  @Test("the response's body replaces the content of an output file that already exists")
  func file() async throws {
    let folder = try Folder()
    let path = try folder.write("f", String(repeating: "old", count: 100))
    let run = try await lupine(["-o", path, "\(Servers.nginx)/text.txt"])
    #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty)
    let text = try folder.read("f")
    #expect(text.hasPrefix("line 1: lupins fix nitrogen\n") && text.hasSuffix("line 3000: lupins fix nitrogen\n"))
  }

  @Test("the command writes a body of 256 MiB completely to a pipe")
  func big() async throws {
    let run = try await shell("$lupine \(Servers.nginx)/big.bin | wc -c")
    #expect(run.output == "268435456\n" && run.errors.isEmpty)
  }

  @Test("an empty response body creates an empty output file, but an HTTP error with --fail creates no file")
  func emptyFile() async throws {
    let folder = try Folder()
    #expect(try await lupine(["-o", folder.path + "/a", "\(Servers.httpbin)/status/204"]).status == 0)
    #expect(folder.has("a"))
    #expect(try await lupine(["--fail", "-o", folder.path + "/b", "\(Servers.httpbin)/status/404"]).status == 22)
    #expect(!folder.has("b"))
  }

  @Test("after an error during the response, the output file keeps the bytes received, and the error mentions the file")
  func partialFile() async throws {
    let folder = try Folder()
    let server = try CannedServer(replies: ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
    let run = try await lupine(["-o", folder.path + "/f", server.url])
    #expect(run.status == 18 && run.hasOneErrorLine)
    #expect(run.errors.hasSuffix(" \(folder.path)/f keeps the 4 bytes written so far.\n"))
    #expect(try folder.read("f") == "half")
  }

  @Test("the command shows progress only on a terminal, and only if the body is written to a file")
  func progress() async throws {
    let file = try await errorsOnTerminal(["-o", "/dev/null", "\(Servers.nginx)/big.bin"])
    let lines = file.replacing("\r\n", with: "").components(separatedBy: "\r").filter { !$0.isEmpty }
    #expect(lines.count >= 2)
    #expect(lines.dropLast().allSatisfy { $0.count == 59 && $0.contains("% [") })
    #expect(file.contains("\r100% [===============] 256.0 MiB of 256.0 MiB, "))
    #expect(file.hasSuffix("\r\n"))  // a terminal's output of a line feed
    #expect(try await errorsOnTerminal(["\(Servers.nginx)/text.txt"]).isEmpty)
  }

  /// Runs the command with standard error on a terminal of 60 columns, and returns the text that the terminal received.
  private func errorsOnTerminal(_ arguments: [String]) async throws -> String {
    var (main, side): (CInt, CInt) = (-1, -1)
    var size = winsize(ws_row: 20, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&main, &side, nil, nil, &size) == 0)
    let ends = (main: main, side: side)
    // Close-on-exec, because a program that another test starts would keep the terminal open.
    for end in [main, side] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // The text is read while the command runs, because a terminal buffers only about 4 KB, less than a slow command draws.
    async let text = Self.allText(from: ends.main)
    let run: Run
    do {
      // The text ends when no process has this end open.
      defer { close(ends.side) }
      run = try await lupine(arguments, standardError: ends.side)
    }
    #expect(run.status == 0)
    return await text
  }

  /// Reads all bytes of the descriptor on a separate thread, closes the descriptor, and returns the text.
  private static func allText(from descriptor: CInt) async -> String {
    let texts = Recorder<String>()
    Thread.detachNewThread {
      var text: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while case let count = read(descriptor, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
      close(descriptor)
      texts.record(String(decoding: text, as: UTF8.self))
    }
    return await texts.next() ?? ""
  }
}
