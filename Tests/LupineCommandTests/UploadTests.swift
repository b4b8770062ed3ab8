// UploadTests: --upload-file, --encode and Expect.

import Foundation
import LupineEngine
import Testing

@Suite("Uploads by the command", .timeLimit(.minutes(10)))
struct UploadTests {
  private static let reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

  @Test(
    "--upload-file sends a file by PUT with its length, and appends the file's name to a URL that ends with a slash")
  func file() async throws {
    let folder = try Folder()
    let path = try folder.write("a b?.txt", "text")
    let server = try CannedServer(replies: Array(repeating: Self.reply, count: 5))
    let places = ["", "/d/", "/d/?q", "/d/e", "/d/#f"]
    for place in places { #expect(try await lupine(["-T", path, server.url + place]).status == 0) }
    let targets = ["/a%20b%3F.txt", "/d/a%20b%3F.txt", "/d/?q", "/d/e", "/d/"]
    for (request, target) in zip(server.requests, targets) {
      #expect(request.hasPrefix("PUT \(target) HTTP/1.1\r\n"), "\(request)")
      #expect(request.hasSuffix("Content-Length: 4\r\n\r\ntext"))
      #expect(!request.contains("Content-Type"))
    }
    #expect(server.requests.count == places.count)
  }

  @Test("-T sends an empty file with Content-Length 0, and -X sets the method")
  func emptyFile() async throws {
    let folder = try Folder()
    let path = try folder.write("f", "")
    let server = try CannedServer(replies: [Self.reply])
    #expect(try await lupine(["-X", "PATCH", "-T", path, server.url + "/"]).status == 0)
    let request = try #require(server.requests.first)
    #expect(request.hasPrefix("PATCH /f HTTP/1.1\r\n") && request.hasSuffix("Content-Length: 0\r\n\r\n"))
  }

  @Test("the command uploads standard input in chunks, and doesn't append a file name to the URL")
  func standardInput() async throws {
    let server = try CannedServer(replies: [Self.reply])
    let run = try await lupine(["-T", "-", server.url + "/d/"], input: "text")
    #expect(run.status == 0, "\(run.errors)")
    let request = try #require(server.requests.first)
    #expect(request.hasPrefix("PUT /d/ HTTP/1.1\r\n"))
    #expect(request.hasSuffix("Transfer-Encoding: chunked\r\n\r\n4\r\ntext\r\n0\r\n\r\n"))
  }

  @Test(
    "the command sends standard input as it arrives, and exits after the response even if standard input hasn't ended")
  func earlyAnswer() async throws {
    let folder = try Folder()
    let server = try CannedServer(
      replies: ["HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nseen"], answersAfter: "first\n")
    // The shell keeps the pipe open for writing, so that it never ends.
    let run = try await shell(
      "mkfifo \(folder.path)/f; exec 3<>\(folder.path)/f; echo first >&3; $lupine -T - \(server.url) <&3")
    #expect(run.status == 0 && run.output == "seen", "\(run.errors)")
  }

  @Test("the command uploads the content of a named pipe in chunks")
  func namedPipe() async throws {
    let folder = try Folder()
    let server = try CannedServer(replies: [Self.reply])
    let run = try await shell(
      "mkfifo \(folder.path)/f; echo text > \(folder.path)/f & $lupine -T \(folder.path)/f \(server.url)/x")
    #expect(run.status == 0, "\(run.errors)")
    #expect(server.requests.first?.hasSuffix("\r\n\r\n5\r\ntext\n\r\n0\r\n\r\n") == true)
  }

  @Test("the command uploads all of 5 MB from standard input")
  func muchInput() async throws {
    try Servers.require()
    let run = try await shell("head -c 5000000 /dev/zero | $lupine -T - \(Servers.apache)/count")
    #expect(run.output.contains("5000000"), "\(run.output) \(run.errors)")
  }

  @Test("after a redirect, the command can send a body from a file again, but not a body from standard input")
  func redirect() async throws {
    let folder = try Folder()
    let path = try folder.write("f", "text")
    let redirect = "HTTP/1.1 307 T\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"
    let server = try CannedServer(replies: [redirect, redirect, Self.reply])
    let run = try await lupine(["-L", "-T", "-", server.url], input: "text")
    #expect(run.status == 65 && run.hasOneErrorLine, "\(run.errors)")
    #expect(try await lupine(["-L", "-T", path, server.url]).status == 0)
    #expect(server.requests[2].hasPrefix("PUT /b HTTP/1.1\r\n") && server.requests[2].hasSuffix("text"))
  }

  @Test("if the command can't read its standard input or upload file, it exits with the expected status and error line")
  func unreadable() async throws {
    let server = try CannedServer(replies: [Self.reply])
    let run = try await shell("$lupine -T - \(server.url) < /tmp; echo $? >&2")
    #expect(run.errors == "lupine: standard input can't be read (read: Is a directory). Check the file.\n26\n")
    let missing = try await lupine(["-T", "/nowhere", server.url])
    #expect(missing.status == 26 && missing.hasOneErrorLine)
    #expect(try await lupine(["-T", "/tmp", server.url]).status == 26)
  }

  @Test("--encode compresses the request's body", arguments: ContentCoding.allCases.map(\.name))
  func coding(name: String) async throws {
    let server = try CannedServer(replies: [Self.reply], answersAfter: "\r\n0\r\n\r\n")
    let run = try await lupine(["--encode", name, "-d", String(repeating: "a", count: 10_000), server.url])
    #expect(run.status == 0, "\(run.errors)")
    let request = try #require(server.requests.first)
    #expect(request.contains("\r\nContent-Encoding: \(name)\r\nTransfer-Encoding: chunked\r\n"))
    #expect(request.utf8.count < 1_000)
  }

  @Test("the body that --encode compresses decodes to the original")
  func roundTrip() async throws {
    try Servers.require()
    let place = "\(Servers.nginx)/uploads/command-\(UUID().uuidString)"
    let run = try await shell(
      "seq 100000 | $lupine --encode gzip -T - \(place) && $lupine --raw \(place) | gunzip | cmp - <<END\n$(seq "
        + "100000)\nEND"
    )
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    #expect(try await lupine(["-X", "DELETE", place]).status == 0)
  }

  @Test("with Expect: 100-continue, the command sends the body after the 100 (Continue) response")
  func leave() async throws {
    try Servers.require()
    let run = try await lupine(["-v", "-H", "Expect: 100-continue", "-d", "12345", "\(Servers.apache)/count"])
    #expect(run.status == 0 && run.output.contains("5"))
    #expect(run.errors.contains("\n< HTTP/1.1 100 Continue\n"))
  }

  @Test("without a 100 (Continue) response, the command sends the body after the time of --expect100-timeout")
  func noLeave() async throws {
    let server = try CannedServer(replies: [Self.reply, Self.reply])
    let expecting = ["-H", "Expect: 100-continue", "-d", "x", server.url]
    let waiting = try await lupine(["--expect100-timeout", "50", "-m", "0.4"] + expecting)
    #expect(waiting.status == 28 && waiting.errors.contains("(phase: awaitContinue)"), "\(waiting.errors)")
    let impatient = try await lupine(["--expect100-timeout", "0.01"] + expecting)
    #expect(impatient.status == 0, "\(impatient.errors)")
  }
}
