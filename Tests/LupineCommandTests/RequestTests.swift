// RequestTests: the request that is sent for each option.

import Foundation
import Glibc
@testable import LupineCommand
import LupineEngine
import LupineTestSupport
import Testing

@Suite("Requests that the command sends", .timeLimit(.minutes(10)))
struct RequestTests {
  private static let usual = [
    "User-Agent: lupine/0.1.0", "Accept: */*", "Accept-Encoding: \(AcceptEncoding.command)",
  ]

  /// A request that the command has sent: the lines of its head, without Host, and its body.
  private struct Sent {
    var head: [String]
    let body: String
  }

  private func send(_ arguments: [String], input: String = "") async throws -> Sent {
    let server = try CannedServer(replies: ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
    let run = try await lupine(arguments + [server.url + "/p?q"], input: input)
    #expect(run.status == 0, "\(run.errors)")
    let request = try #require(server.requests.first)
    let end = try #require(request.range(of: "\r\n\r\n"))
    let head = request[..<end.lowerBound].split(separator: "\r\n").map { String($0) }
    return Sent(head: head.filter { $0 != "Host: 127.0.0.1:\(server.port)" }, body: String(request[end.upperBound...]))
  }

  @Test("the command sends a GET request with the default fields")
  func plain() async throws {
    let sent = try await send([])
    #expect(sent.head == ["GET /p?q HTTP/1.1"] + Self.usual)
    #expect(sent.body.isEmpty)
  }

  @Test("-H can replace or remove a default field, and can send a field twice")
  func fields() async throws {
    let sent = try await send([
      "-H", "Accept: a/b", "-H", "user-agent:", "-H", "X: 1", "-H", "X: 2", "-H", "Y;", "-H", "Host: foo.test", "--raw",
    ])
    #expect(sent.head == ["GET /p?q HTTP/1.1", "Host: foo.test", "Accept: a/b", "X: 1", "X: 2", "Y: "])
  }

  @Test("-X sends the given method exactly as written")
  func method() async throws {
    #expect(try await send(["-X", "pUrGe"]).head.first == "pUrGe /p?q HTTP/1.1")
    #expect(try await send(["-X", "PUT", "-d", "a"]).head.first == "PUT /p?q HTTP/1.1")
  }

  @Test("the command joins the values of several --data options, and removes line ends and NULs from files")
  func data() async throws {
    let folder = try Folder()
    let file = try folder.write("f", "b=2\r\n&c\0=3\n")
    let sent = try await send(["-d", "a=1", "-d", "@\(file)", "-d", "@-"], input: "d=é\n")
    #expect(sent.body == "a=1&b=2&c=3&d=é")
    #expect(
      sent.head == ["POST /p?q HTTP/1.1"] + Self.usual
        + ["Content-Type: application/x-www-form-urlencoded", "Content-Length: 16"])
  }

  @Test("an empty --data sends a POST with an empty body, and -H can replace the media type")
  func emptyData() async throws {
    let sent = try await send(["-d", "", "-H", "content-type: a/b"])
    #expect(sent.head == ["POST /p?q HTTP/1.1"] + Self.usual + ["content-type: a/b", "Content-Length: 0"])
  }

  @Test("--json sends JSON from an argument or a file unchanged")
  func json() async throws {
    let folder = try Folder()
    let file = try folder.write("f", "[1,\r\n2]\n")
    let sent = try await send(["--json", "@\(file)"])
    #expect(sent.body == "[1,\r\n2]\n")
    #expect(
      sent.head == [
        "POST /p?q HTTP/1.1", "User-Agent: lupine/0.1.0", "Accept: application/json",
        "Accept-Encoding: \(AcceptEncoding.command)", "Content-Type: application/json", "Content-Length: 8",
      ])
  }

  @Test("-F sends a multipart form with parts for text, files and the text in files, and escapes the names")
  func form() async throws {
    let folder = try Folder()
    let plain = try folder.write("p.txt", "text\n")
    let odd = try folder.write("q\"x;y", "odd")
    let sent = try await send(
      [
        "-F", "a=1;2", "-F", "n\"\r\n=@\"\(folder.path)/q\\\"x;y\"", "-F", "g=<\(plain)",
        "-F", "h=@\(plain);type=text/csv;charset=utf-8;filename=é.csv", "-F", "i=@\(plain)", "-F", "j=@-",
      ], input: "in")
    #expect(odd.hasSuffix("q\"x;y"))
    let type = try #require(sent.head.first { $0.hasPrefix("Content-Type: multipart/form-data; boundary=") })
    let boundary = "--" + type.dropFirst("Content-Type: multipart/form-data; boundary=".count)
    #expect(boundary.count == "--lupine-".count + 32)
    #expect(sent.head.last == "Content-Length: \(sent.body.utf8.count)")
    let parts = [
      "Content-Disposition: form-data; name=\"a\"\r\n\r\n1;2",
      "Content-Disposition: form-data; name=\"n%22%0D%0A\"; filename=\"q%22x;y\"\r\n"
        + "Content-Type: application/octet-stream\r\n\r\nodd",
      "Content-Disposition: form-data; name=\"g\"\r\n\r\ntext\n",
      "Content-Disposition: form-data; name=\"h\"; filename=\"é.csv\"\r\n"
        + "Content-Type: text/csv;charset=utf-8\r\n\r\ntext\n",
      "Content-Disposition: form-data; name=\"i\"; filename=\"p.txt\"\r\nContent-Type: text/plain\r\n\r\ntext\n",
      "Content-Disposition: form-data; name=\"j\"; filename=\"-\"\r\nContent-Type: application/octet-stream\r\n\r\nin",
    ]
    #expect(sent.body == parts.map { "\(boundary)\r\n\($0)\r\n" }.joined() + boundary + "--\r\n")
  }

  @Test("each multipart form has a new boundary, which is also added to a Content-Type field set by the user")
  func boundary() async throws {
    var types: Set<String> = []
    for _ in 0..<2 {
      let sent = try await send(["-F", "a=b", "-H", "Content-Type: multipart/mixed"])
      types.formUnion(sent.head.filter { $0.hasPrefix("Content-Type: multipart/mixed; boundary=lupine-") })
    }
    #expect(types.count == 2)
  }

  @Test("the command doesn't read a file in a multipart form before it sends the file's part")
  func streamedFile() throws {
    let folder = try Folder()
    let path = try folder.write("f", "")
    let byteCount: UInt64 = 1 << 40  // a sparse file, far larger than memory
    #expect(truncate(path, off_t(byteCount)) == 0)
    let body = try MultipartForm([FormField("a=@\(path)"), FormField("b=<\(path)")], boundary: "x").body
    let files = body.segments.filter { if case .file(path, byteCount) = $0 { true } else { false } }
    #expect(files.count == 2)
    #expect((try #require(body.byteCount)) > 2 * byteCount)
  }

  @Test("the command sends credentials in the URL with Basic, unless an Authorization field is given")
  func credentials() async throws {
    let server = try CannedServer(replies: Array(repeating: "HTTP/1.1 204 No\r\n\r\n", count: 2))
    let url = "u%40:p@127.0.0.1:\(server.port)"
    #expect(try await lupine([url]).status == 0)
    #expect(try await lupine([url, "-H", "Authorization:"]).status == 0)
    #expect(server.requests[0].contains("Authorization: Basic dUA6cA==\r\n"))
    #expect(!server.requests[1].contains("Authorization"))
  }
}
