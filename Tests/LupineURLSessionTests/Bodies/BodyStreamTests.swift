// BodyStream: request bodies from an InputStream, sent completely and once, with a length or chunked, and the errors.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct BodyStreamTests {
  private func request(_ stream: InputStream?, length: String? = nil) throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: "http://h.example/")))
    request.httpMethod = "POST"
    request.httpBodyStream = stream
    if let length { request.setValue(length, forHTTPHeaderField: "Content-Length") }
    return request
  }

  /// Sends the request, and returns the server's report, such as "10 true": the Content-Length or the transfer coding, and
  /// whether the received body equals `expected`.
  private func send(_ request: URLRequest, expecting expected: Data) async throws -> String {
    try await withServer { request in
      let framing = request.fields.first("Content-Length") ?? request.fields.first("Transfer-Encoding") ?? "none"
      return .text("\(framing) \(Data(request.body) == expected)")
    } _: { server in
      let engine = try Engine()
      let sent = EngineRequest(method: "POST", uri: try URI(server.url), body: RequestBody(of: request))
      return String(decoding: try await engine.collect(sent).body, as: UTF8.self)
    }
  }

  @Test("a request sends its body stream's bytes unchanged, and a request without a stream sends an empty body")
  func bytes() async throws {
    var request = try request(nil)
    #expect(try await send(request, expecting: Data()) == "0 true")
    request.httpBody = Pattern.data(10)
    #expect(try await send(request, expecting: Pattern.data(10)) == "10 true")
  }

  @Test(
    "a request without a Content-Length field sends its body stream in chunks, whatever the stream's size",
    arguments: [0, 1, 65_536, 65_537, 1_000_000])
  func chunked(byteCount: Int) async throws {
    let data = Pattern.data(byteCount)
    let stream = InputStream(data: data)
    #expect(try await send(try request(stream), expecting: data) == "chunked true")
  }

  @Test("a request with a Content-Length field sends its body stream with that length")
  func length() async throws {
    let data = Pattern.data(100_000)
    let stream = InputStream(data: data)
    #expect(try await send(try request(stream, length: "100000"), expecting: data) == "100000 true")
  }

  @Test(
    "a request with a malformed Content-Length field sends its body stream in chunks",
    arguments: ["+5", "-5", "5 ", "", "99999999999999999999"])
  func malformedLength(length: String) async throws {
    let stream = InputStream(data: Pattern.data(5))
    #expect(try await send(try request(stream, length: length), expecting: Pattern.data(5)) == "chunked true")
  }

  @Test(
    "a request fails if its body stream has more or fewer bytes than its Content-Length", arguments: ["4", "6"])
  func wrongLength(length: String) async throws {
    let stream = InputStream(data: Pattern.data(5))
    let error = await #expect(throws: EngineError.self) {
      try await send(try request(stream, length: length), expecting: Data())
    }
    #expect(error?.code == .bodyUnreadable)
  }

  @Test("a request sends a file's body stream from the stream's current position to its end")
  func file() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-tests-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "body")
    let data = Pattern.data(200_000)
    try data.write(to: file)
    let stream = try #require(InputStream(url: file))
    stream.open()
    #expect(try stream.readBytes(upToCount: 1000) == [UInt8](data.prefix(1000)))
    #expect(try await send(try request(stream), expecting: data.dropFirst(1000)) == "chunked true")
  }

  @Test("a request fails if its body stream can't be read")
  func unreadable() async throws {
    let stream = try #require(InputStream(fileAtPath: "/nonexistent/lupine"))
    let error = await #expect(throws: EngineError.self) {
      try await send(try request(stream), expecting: Data())
    }
    #expect(error?.code == .bodyUnreadable)
  }

  @Test("reading a body stream again stops the first reader and starts over, or fails if the stream can't be reopened")
  func secondReading() async throws {
    let once = BodyStream.box(PatternStream(1000))
    var first = try await once.open()
    #expect(try await once.read(upToCount: 10, &first).count == 10)
    let error = await #expect(throws: URLError.self) { _ = try await once.open() }
    #expect(error?.code == .requestBodyStreamExhausted)

    let again = BodyStream.box(PatternStream(1000, canReopen: true))
    var stale = try await again.open()
    _ = try await again.read(upToCount: 10, &stale)
    var fresh = try await again.open()
    await #expect(throws: CancellationError.self) { _ = try await again.read(upToCount: 10, &stale) }
    again.close(stale)
    #expect(try await again.read(upToCount: 2000, &fresh).count == 1000)
    #expect(fresh.byteCount == 1000)
  }

  @Test("wrapping an InputStream a second time returns the same BodyStream while the first BodyStream is in use")
  func boxes() throws {
    let stream = PatternStream(1)
    weak var box: BodyStream?
    do {
      let first = BodyStream.box(stream)
      #expect(BodyStream.box(stream) === first && BodyStream.box(PatternStream(1)) !== first)
      box = first
    }
    #expect(box == nil)
    #expect(BodyStream.box(stream) == BodyStream.box(stream))
  }

  @Test("resending a request with a consumed body stream fails instead of sending an empty body")
  func exhausted() async throws {
    let request = try request(InputStream(data: Pattern.data(5)))
    #expect(try await send(request, expecting: Pattern.data(5)) == "chunked true")
    let error = await #expect(throws: EngineError.self) { try await send(request, expecting: Data()) }
    guard case .producer(let cause) = error?.cause else {
      Issue.record("unexpected error: \(String(describing: error))")
      return
    }
    #expect((cause as? URLError)?.code == .requestBodyStreamExhausted)
  }
}
