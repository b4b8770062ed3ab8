// CallTests: an engine's and a session's calls with the types of swift-http-types, with a server.

#if HTTPTypes
  import Foundation
  import HTTPTypes
  import LupineEngine
  import LupineHTTPTypes
  import LupineHTTPTypesFoundation
  import LupineOrigin
  import LupineURLSession
  import Testing

  @Suite("Calls with swift-http-types", .timeLimit(.minutes(5)))
  struct CallTests {
    private static let echo = "X-Echo"

    /// A server that responds with the request's line, its body and its X-Echo fields, byte for byte.
    private func server() throws -> OriginServer {
      try OriginServer { peer in
        while let request = try peer.readRequest() {
          let status = ["/redirect": 302, "/missing": 404][request.path] ?? 200
          let body = Array("\(request.method) \(request.target) ".utf8) + request.body
          var head = Array("HTTP/1.1 \(status) X\r\nLocation: /target\r\nContent-Length: \(body.count)\r\n".utf8)
          for position in request.fields.positions(of: Self.echo) {
            head += Array("\(Self.echo): ".utf8) + request.fields.valueBytes(at: position) + Array("\r\n".utf8)
          }
          try peer.send(head + Array("\r\n".utf8) + body)
        }
      }
    }

    private func request(_ origin: OriginServer, _ path: String, _ method: HTTPRequest.Method = .get) throws
      -> HTTPRequest
    {
      let name = try #require(HTTPField.Name(Self.echo))
      var fields = HTTPFields()
      fields.append(HTTPField(name: name, value: [0xE9]))
      fields.append(HTTPField(name: name, value: "2"))
      return HTTPRequest(
        method: method, scheme: "http", authority: "127.0.0.1:\(origin.port)", path: path, headerFields: fields)
    }

    private func check(_ response: HTTPResponse, _ status: Int = 200) throws {
      #expect(response.status.code == status)
      let fields = response.headerFields[fields: try #require(HTTPField.Name(Self.echo))]
      #expect(fields.map { $0.withUnsafeBytesOfValue { Array($0) } } == [[0xE9], [0x32]])
    }

    @Test("an engine collects a response, sends a body and follows redirects if asked")
    func collect() async throws {
      let origin = try server()
      defer { origin.stop() }
      let engine = try Engine()
      let (response, body) = try await engine.collect(
        try request(origin, "/p?q", .post), body: RequestBody("text"))
      try check(response)
      #expect(String(decoding: body, as: UTF8.self) == "POST /p?q text")
      try check(try await engine.collect(try request(origin, "/missing")).response, 404)
      #expect(try await engine.collect(try request(origin, "/redirect")).response.status.code == 302)
      let (_, target) = try await engine.collect(try request(origin, "/redirect"), redirects: RedirectRule())
      #expect(String(decoding: target, as: UTF8.self) == "GET /target ")
      let error = await #expect(throws: EngineError.self) {
        try await engine.collect(try request(origin, "/"), bodyBytesMax: 3)
      }
      #expect(error?.code == .bodyTooLarge)
    }

    @Test("an engine streams a response, and its time limits apply")
    func execute() async throws {
      let origin = try server()
      defer { origin.stop() }
      let engine = try Engine()
      let (response, body) = try await engine.execute(try request(origin, "/", .put), body: RequestBody("text"))
      try check(response)
      #expect(String(decoding: try await body.collect(), as: UTF8.self) == "PUT / text")
      var limits = Timeouts()
      limits.total = .zero
      let error = await #expect(throws: EngineError.self) {
        try await engine.execute(try request(origin, "/"), timeouts: limits)
      }
      #expect(error?.code == .timedOut)
      await #expect(throws: HTTPTypesError.malformedPath("@b.test/")) {
        try await engine.execute(try request(origin, "@b.test/"))
      }
    }

    @Test("a session loads, uploads, downloads and streams")
    func session() async throws {
      let origin = try server()
      defer { origin.stop() }
      let session = URLSession(configuration: .ephemeral)
      let (data, first) = try await session.data(for: try request(origin, "/p?q=%41"))
      try check(first)
      #expect(String(decoding: data, as: UTF8.self) == "GET /p?q=%41 ")
      let (echo, second) = try await session.upload(for: try request(origin, "/u", .put), from: Data("text".utf8))
      try check(second)
      #expect(String(decoding: echo, as: UTF8.self) == "PUT /u text")
      let (file, third) = try await session.download(for: try request(origin, "/missing"))
      defer { try? FileManager.default.removeItem(at: file) }
      try check(third, 404)
      #expect(try Data(contentsOf: file) == Data("GET /missing ".utf8))
      let (fromFile, _) = try await session.upload(for: try request(origin, "/f", .post), fromFile: file)
      #expect(String(decoding: fromFile, as: UTF8.self) == "POST /f GET /missing ")
      let (bytes, fourth) = try await session.bytes(for: try request(origin, "/b"))
      try check(fourth)
      var text: [UInt8] = []
      for try await byte in bytes { text.append(byte) }
      #expect(String(decoding: text, as: UTF8.self) == "GET /b ")
    }

    @Test("redirects in a cycle end at the first repetition in an engine and in a session, if their rule says so")
    func cycle() async throws {
      let origin = try OriginServer.serving { request in
        Reply(status: 302, fields: ["Location": request.path == "/a" ? "/b" : "/a"])
      }
      defer { origin.stop() }
      var rule = RedirectRule()
      rule.allowsCycles = false
      let engine = try Engine()
      let error = await #expect(throws: EngineError.self) {
        try await engine.collect(try request(origin, "/a"), redirects: rule)
      }
      #expect(error?.code == .tooManyRedirects && origin.requestCount == 2)
      let streamed = await #expect(throws: EngineError.self) {
        try await engine.execute(try request(origin, "/a"), redirects: rule)
      }
      #expect(streamed?.code == .tooManyRedirects && origin.requestCount == 4)
      let configuration = URLSessionConfiguration.ephemeral
      configuration.redirectRule = rule
      let failure = await #expect(throws: URLError.self) {
        try await URLSession(configuration: configuration).data(for: try request(origin, "/a"))
      }
      #expect(failure?.code == .httpTooManyRedirects && origin.requestCount == 6)
    }

    @Test("the response to a file: URL of a session has no status, which is an error")
    func notHTTP() throws {
      let url = try #require(URL(string: "file:///a"))
      let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
      #expect(throws: HTTPTypesError.notHTTP) { try HTTPResponse(response) }
    }
  }
#endif
