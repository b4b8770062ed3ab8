// RecordingTests: real exchanges recorded as HAR without credentials, and replayed without a network.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTesting
import LupineURLSession
import Testing

@Suite(.timeLimit(.minutes(10))) struct RecordingTests {
  /// A mock service's reply: to a login, with a redirect, or with bytes that aren't text, depending on the path.
  private static func serve(_ request: ReceivedRequest) -> Reply {
    switch request.path.split(separator: "?").first {
    case "/moved": Reply(status: 302, fields: ["Location": "/item?id=7&access_token=s3cret-query"])
    case "/unreadable":
      Reply(fields: ["Content-Type": "application/json"], .bytes(Array(#"{"access_token":"s3cret-unreadable","#.utf8)))
    case "/repeated":
      Reply(
        fields: ["Content-Type": "application/json"],
        .bytes(
          Array(#"{"a": {"access_token": "s3cret-1"}, "a": 1, "b": [{"p\u0061ssword" : "s3cret-2"}], "b": {}}"#.utf8)))
    case "/utf-16":
      Reply(
        fields: ["Content-Type": "application/json"],
        .bytes(Array(#"{"access_token": "s3cret"}"#.data(using: .utf16LittleEndian) ?? Data())))
    case "/text":
      Reply(fields: ["Content-Type": "text/plain"], .bytes(Array(#"[{"token": "s3cret", "user": "ada"}]"#.utf8)))
    case "/bytes": Reply(fields: ["Content-Type": "application/octet-stream"], .bytes([0xFF, 0xFE, 0]))
    case "/login":
      Reply(
        fields: ["Content-Type": "application/json", "Set-Cookie": "sid=s3cret-cookie; Path=/"],
        .bytes(Array(#"{"user":"ada","access_token":"s3cret-json"}"#.utf8)))
    default: Reply(fields: ["Content-Type": "text/plain"], .coded(Array("item".utf8), .gzip))
    }
  }

  private func record(
    _ recording: Recording, _ body: (URLSession, OriginServer) async throws -> Void
  ) async throws -> HTTPArchive {
    try await withServer(Self.serve) { origin in
      let session = URLSession(configuration: recording.configuration())
      defer { session.invalidateAndCancel() }
      try await body(session, origin)
    }
    return recording.archive
  }

  @Test("a recorded HTTP archive (HAR) contains every exchange in order, and no credentials")
  func credentials() async throws {
    let archive = try await record(Recording()) { session, origin in
      var request = origin.request("/login?api_key=s3cret-key", "POST")
      request.setValue("Bearer s3cret-bearer", forHTTPHeaderField: "Authorization")
      request.setValue("a=s3cret-a", forHTTPHeaderField: "Cookie")
      request.setValue("s3cret-api", forHTTPHeaderField: "X-Api-Key")
      request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
      let (data, _) = try await session.upload(for: request, from: Data("user=ada&password=s3cret-form".utf8))
      #expect(String(decoding: data, as: UTF8.self).contains("s3cret-json"))
      var user = origin.request("/moved#s3cret-fragment")
      let address = origin.url.replacingOccurrences(of: "//", with: "//s3cret-user:s3cret-password@")
      user.url = URL(string: address + "/moved")
      let (item, response) = try await session.data(for: user)
      #expect(item == Data("item".utf8) && response.url?.path == "/item")
    }
    let text = String(decoding: try archive.jsonData(), as: UTF8.self)
    #expect(!text.contains("s3cret"), "\(text)")
    #expect(archive.entries.map(\.request.method) == ["POST", "GET", "GET"])
    #expect(archive.entries.map(\.response.status) == [200, 302, 200])
    #expect(archive.entries[0].request.postData?.text == "user=ada&password=REMOVED")
    #expect(archive.entries[0].response.content.text == #"{"access_token":"REMOVED","user":"ada"}"#)
    #expect(archive.entries[0].request.cookies.map(\.name) == ["a"])
    #expect(archive.entries[1].response.redirectURL == "/item?id=7&access_token=REMOVED")
    #expect(archive.entries[2].response.content.text == "item")
  }

  @Test("the recorder removes a JSON body that can't be parsed, and a multipart body, from a HAR archive entirely")
  func unreadable() async throws {
    let archive = try await record(Recording()) { session, origin in
      var request = origin.request("/unreadable", "POST")
      request.setValue("multipart/form-data; boundary=b", forHTTPHeaderField: "Content-Type")
      let part = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ns3cret\r\n--b--\r\n"
      _ = try await session.upload(for: request, from: Data(part.utf8))
      request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
      _ = try await session.upload(
        for: request, from: Data("user%5Bpassword%5D=s3cret&user[name]=ada&token[]=s3cret".utf8))
    }
    #expect(archive.entries.first?.request.postData?.text == Redaction.replacement)
    #expect(archive.entries.last?.request.postData?.text == "user%5Bpassword%5D=REMOVED&user[name]=ada&token[]=REMOVED")
    #expect(archive.entries.first?.response.content.text == Redaction.replacement)
  }

  @Test("the recorder removes secret values from JSON whose objects repeat a key, and from JSON in UTF-16")
  func hiddenKeys() async throws {
    let archive = try await record(Recording()) { session, origin in
      for path in ["/repeated", "/utf-16"] { _ = try await session.data(for: origin.request(path)) }
    }
    let texts = archive.entries.map { $0.response.content.text ?? "" }
    #expect(texts.allSatisfy { !$0.contains("s3cret") }, "\(texts)")
    #expect(texts.last == #"{"access_token":"REMOVED"}"#)
  }

  @Test("secret values are removed from forms and JSON without Content-Type, and from JSON labeled as text")
  func unlabeled() async throws {
    let bodies = ["user=ada&password=s3cret", #"{"password": "s3cret"}"#, "a note & nothing else"]
    let archive = try await record(Recording()) { session, origin in
      for body in bodies {
        var request = origin.request("/text", "POST")
        request.httpBody = Data(body.utf8)
        _ = try await session.data(for: request)
      }
    }
    #expect(
      archive.entries.map(\.request.postData?.text) == [
        "user=ada&password=REMOVED", #"{"password":"REMOVED"}"#, "a note & nothing else",
      ])
    for entry in archive.entries { #expect(entry.response.content.text == #"[{"token":"REMOVED","user":"ada"}]"#) }
  }

  @Test("a recorded archive is written as JSON in the format HAR 1.2, and can be read again")
  func file() async throws {
    let archive = try await record(Recording()) { session, origin in
      _ = try await session.data(for: origin.request("/bytes"))
    }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).har")
    defer { try? FileManager.default.removeItem(at: file) }
    try archive.write(to: file)
    #expect(try HTTPArchive(contentsOf: file) == archive)
    let json = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    let log = try #require(json["log"] as? [String: Any])
    #expect(log["version"] as? String == "1.2" && (log["creator"] as? [String: Any])?["name"] as? String == "Lupine")
    #expect(archive.entries.first?.response.content.encoding == "base64")
  }

  @Test("a recorded archive can be replayed without a network, including redirects and repeated requests")
  func replay() async throws {
    var base = ""
    let archive = try await record(Recording()) { session, origin in
      base = origin.url
      for path in ["/moved", "/bytes", "/login?api_key=s3cret", "/item?id=7&access_token=x"] {
        _ = try await session.data(for: origin.request(path))
      }
    }
    let stubs = Stubs(replaying: archive)
    let session = URLSession(configuration: stubs.configuration())
    defer { session.invalidateAndCancel() }
    func text(_ path: String) async throws -> Data {
      try await session.data(from: try #require(URL(string: base + path))).0
    }
    #expect(try await text("/moved") == Data("item".utf8))
    #expect(try await text("/bytes") == Data([0xFF, 0xFE, 0]))
    #expect(try await text("/login?api_key=another").count > 0)
    await #expect(throws: (any Error).self) { try await text("/unknown") }
  }

  @Test("a recorded session sends no secrets to another origin after a redirect")
  func secretsOfRedirect() async throws {
    let received = Notes()
    let names = ["Authorization", "Cookie", "X-Api-Key", "X-Session"]
    try await withServer { request in
      received.add("other \(names.filter { request.fields.contains($0) })")
      return .text("there")
    } _: { other in
      try await withServer { [url = other.url] request in
        received.add("first \(names.filter { request.fields.contains($0) })")
        return Reply(status: 307, fields: ["Location": url])
      } _: { first in
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = [
          "Authorization": "Bearer session", "X-Api-Key": "session", "X-Session": "s",
        ]
        configuration.redirectRule.secretFields = ["X-Api-Key"]
        let session = URLSession(configuration: Recording().configuration(from: configuration))
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(for: first.request())
        #expect(data == Data("there".utf8))
      }
    }
    #expect(
      received.all == [#"first ["Authorization", "X-Api-Key", "X-Session"]"#, #"other ["X-Session"]"#])
  }

  @Test("a recorded session doesn't follow a redirect to a local file, and the recording contains no file")
  func redirectToFile() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).txt")
    try Data("local".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let recording = Recording()
    try await withServer { _ in
      Reply(status: 302, fields: ["Location": file.absoluteString])
    } _: { origin in
      let session = URLSession(configuration: recording.configuration())
      defer { session.invalidateAndCancel() }
      #expect(await code { try await session.data(for: origin.request()) } == .badServerResponse)
    }
    #expect(recording.archive.entries.map(\.response.status) == [302])
  }

  @Test(
    "a recorded session refuses redirects from https to http and to a Unix socket, even if the delegate adds a query")
  func refusedRedirects() async throws {
    final class AddingQuery: NSObject, URLSessionTaskDelegate, Sendable {
      func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
      ) {
        var changed = request
        changed.url = request.url.flatMap { URL(string: "\($0.absoluteString)?a=b") }
        completionHandler(changed)
      }
    }
    let identity = try ServerIdentity.throwaway()
    let recording = Recording()
    try await withServer { _ in
      .text("in clear")
    } _: { plain in
      for (target, expected) in [
        (plain.url, URLError.Code.redirectToNonExistentLocation),
        ("http+unix://%2Frun%2Flupine%2Fsocket/", .badServerResponse),
      ] {
        try await withServer(tls: identity) { _ in
          Reply(status: 302, fields: ["Location": target])
        } _: { secure in
          let configuration = URLSessionConfiguration.ephemeral
          configuration.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
          let session = URLSession(configuration: recording.configuration(from: configuration))
          defer { session.invalidateAndCancel() }
          for delegate in [nil, AddingQuery()] {
            let request = secure.request()
            #expect(await code { try await session.data(for: request, delegate: delegate) } == expected)
          }
        }
      }
      #expect(plain.connectionCount == 0)
    }
    #expect(recording.archive.entries.map(\.response.status) == [302, 302, 302, 302])
  }

  @Test("a truncated response is recorded as a failure, so that it isn't replayed as a complete response")
  func truncated() async throws {
    let recording = Recording()
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
    }
    defer { origin.stop() }
    let session = URLSession(configuration: recording.configuration())
    defer { session.invalidateAndCancel() }
    #expect(await code { try await session.data(for: origin.request()) } == .networkConnectionLost)
    #expect(recording.archive.entries.map(\.response.status) == [0])
    #expect(recording.archive.entries.map(\.response.content.size) == [0])
  }

  @Test("a streamed upload is sent to the server and recorded with its body")
  func streamedUpload() async throws {
    let recording = Recording()
    try await withServer {
      .text("\($0.method) \(String(decoding: $0.body, as: UTF8.self))")
    } _: { origin in
      let session = URLSession(configuration: recording.configuration())
      defer { session.invalidateAndCancel() }
      var sent = origin.request("/", "PUT")
      sent.httpBodyStream = InputStream(data: Data("stream".utf8))
      let final = sent
      let (data, _) = try await session.data(for: final)
      #expect(data == Data("PUT stream".utf8))
    }
    #expect(recording.archive.entries.map(\.request.postData?.text) == ["stream"])
  }

  @Test("a HAR archive that another program wrote can be read, even with unknown fields or without optional ones")
  func foreign() async throws {
    let json = """
      {"log": {"version": "1.2", "pages": [], "creator": {"name": "browser", "version": "9"}, "entries": [
        {"_priority": "High", "request": {"method": "GET", "url": "https://h.example/a", "httpVersion": "HTTP/2",
          "cookies": [], "headers": [], "queryString": [], "headersSize": -1, "bodySize": 0},
         "response": {"status": 200, "statusText": "", "httpVersion": "HTTP/2", "cookies": [],
          "headers": [{"name": "content-encoding", "value": "br"}, {"name": "x", "value": "y"}],
          "content": {"size": 2, "mimeType": "text/plain", "text": "hi"}, "redirectURL": "", "headersSize": -1,
          "bodySize": 2, "_transferSize": 9}}]}}
      """
    let archive = try JSONDecoder().decode(HTTPArchive.self, from: Data(json.utf8))
    let session = URLSession(configuration: Stubs(replaying: archive).configuration())
    defer { session.invalidateAndCancel() }
    let (data, response) = try await session.data(from: try #require(URL(string: "https://h.example/a")))
    #expect(data == Data("hi".utf8) && (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X") == "y")
  }

  @Test("a request that failed is recorded in the archive without a response, and replayed as a lost connection")
  func failure() async throws {
    let recording = Recording()
    let session = URLSession(configuration: recording.configuration())
    defer { session.invalidateAndCancel() }
    let address = try #require(URL(string: "http://127.0.0.1:1/"))
    #expect(await code { try await session.data(from: address) } == .cannotConnectToHost)
    #expect(recording.archive.entries.map(\.response.status) == [0])
    let replayed = URLSession(configuration: Stubs(replaying: recording.archive).configuration())
    defer { replayed.invalidateAndCancel() }
    #expect(await code { try await replayed.data(from: address) } == .networkConnectionLost)
  }
}
