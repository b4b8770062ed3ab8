// SpanTests: the spans of the engine's requests.

#if Observability
  import InMemoryLogging
  import InMemoryTracing
  import Logging
  import LupineEngine
  import LupineOrigin
  import LupineTestSupport
  import MetricsTestKit
  import Synchronization
  import Testing
  import Tracing

  @testable import LupineObservability

  @Suite("Spans", .timeLimit(.minutes(10))) struct SpanTests {
    private let recording = Recording()

    @Test("a successful request has a client span with OpenTelemetry's attributes, and no others")
    func success() async throws {
      try await withServer { _ in
        .text("hello")
      } _: { origin in
        let response = try await recording.engine().collect(EngineRequest(uri: try URI("\(origin.url)/a?b=c#d")))
        let peer = try #require(response.metrics.first?.remoteAddress)
        let span = try #require(recording.spans.first)
        #expect(recording.spans.count == 1)
        #expect(span.operationName == "GET" && span.kind == .client && span.status == nil && span.parentSpanID == nil)
        #expect(
          span.texts == [
            "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": "\(origin.port)",
            "url.full": "\(origin.url)/a?b=c#d", "http.response.status_code": "200",
            "network.protocol.version": "1.1", "network.peer.address": "127.0.0.1",
            "network.peer.port": "\(peer.port)",
          ])
        #expect(span.events.isEmpty && span.errors.isEmpty)
      }
    }

    @Test("a response with 4xx or 5xx is an error with its status code as error.type", arguments: [404, 500, 200, 304])
    func statuses(_ status: Int) async throws {
      try await withServer { _ in
        Reply(status: status)
      } _: { origin in
        _ = try await recording.engine().collect(EngineRequest(uri: try URI("\(origin.url)/")))
        let span = try #require(recording.spans.first)
        #expect(span.isError == (status >= 400) && span.status?.message == nil)
        #expect(span.errorType == (status >= 400 ? "\(status)" : nil) && span.statusCode == "\(status)")
      }
    }

    @Test("the span's name is the method and the template, and an unknown method is recorded as _OTHER")
    func names() async throws {
      try await withServer { _ in
        .text("")
      } _: { origin in
        let engine = try recording.engine { $0.knownMethods = ["GET", "Frob"] }
        for (method, template) in [("GET", "/users/{id}"), ("POST", nil), ("Frob", nil), ("get", "/x")] {
          var request = EngineRequest(method: method, uri: try URI("\(origin.url)/users/7"))
          request.urlTemplate = template
          _ = try await engine.collect(request)
        }
        let spans = recording.spans
        #expect(spans.map(\.operationName) == ["GET /users/{id}", "HTTP", "Frob", "HTTP /x"])
        #expect(spans.map { $0.texts["http.request.method"] } == ["GET", "_OTHER", "Frob", "_OTHER"])
        #expect(spans.map { $0.texts["http.request.method_original"] } == [nil, "POST", nil, "get"])
        #expect(spans.map { $0.texts["url.template"] } == ["/users/{id}", nil, nil, "/x"])
      }
    }

    @Test("each redirect has a separate span with the caller's parent, a resend count and no template")
    func redirects() async throws {
      try await withServer { request in
        request.path == "/2"
          ? .text("end") : Reply(status: 302, fields: ["Location": request.path == "/0" ? "/1" : "/2"])
      } _: { origin in
        var request = EngineRequest(uri: try URI("\(origin.url)/0"))
        request.urlTemplate = "/{step}"
        let parent = recording.tracer.startSpan("server", context: .topLevel)
        try await ServiceContext.withValue(parent.context) { [request] in
          _ = try await recording.engine().collect(request, redirects: RedirectRule())
        }
        let spans = recording.spans
        #expect(spans.map(\.operationName) == ["GET /{step}", "GET", "GET"])
        #expect(spans.map(\.statusCode) == ["302", "302", "200"] && spans.allSatisfy { !$0.isError })
        #expect(spans.map(\.resendCount) == [nil, "1", "2"])
        #expect(spans.allSatisfy { $0.parentSpanID == parent.context.inMemorySpanContext?.spanID })
      }
    }

    @Test("the last span of too many redirects is an error, although its status code isn't")
    func tooManyRedirects() async throws {
      try await withServer { _ in
        Reply(status: 302, fields: ["Location": "/"])
      } _: { origin in
        var rule = RedirectRule()
        rule.countMax = 1
        let (engine, once) = (try recording.engine(), rule)
        let request = EngineRequest(uri: try URI("\(origin.url)/"))
        await #expect(throws: EngineError.self) { try await engine.execute(request, redirects: once) }
        #expect(recording.spans.map(\.errorType) == [nil, "too_many_redirects"])
        #expect(recording.spans.map(\.isError) == [false, true])
      }
    }

    @Test("a replay after a lost connection has a separate span, and its own traceparent")
    func replay() async throws {
      let parents = Mutex<[String?]>([])
      let origin = try OriginServer { peer in
        while let request = try peer.readRequest() {
          let count = parents.withLock {
            $0.append(request.fields.first("traceparent")); return $0.count
          }
          if count == 2 { return }
          try peer.respond(body: Array("ok".utf8))
        }
      }
      defer { origin.stop() }
      let engine = try recording.engine()
      for _ in 0..<2 { _ = try await engine.collect(EngineRequest(uri: try URI("\(origin.url)/"))) }
      let spans = recording.spans
      #expect(spans.map(\.resendCount) == [nil, nil, "1"])
      #expect(spans.map(\.errorType) == [nil, "connection_lost", nil])
      #expect(spans.map(\.statusCode) == ["200", nil, "200"])
      #expect(parents.withLock { $0 } == spans.map(\.parentField))
      #expect(spans[2].startInstant.nanosecondsSinceEpoch > spans[1].startInstant.nanosecondsSinceEpoch)
    }

    @Test("a request that is repeated without its expectation has two spans")
    func expectation() async throws {
      let origin = try OriginServer { peer in
        while let request = try peer.readHead() {
          if request.fields.contains("Expect") {
            try peer.respond(status: 417)
          } else {
            var request = request
            try peer.readBody(of: &request)
            try peer.respond()
          }
        }
      }
      defer { origin.stop() }
      let request = EngineRequest(
        method: "PUT", uri: try URI("\(origin.url)/"), fields: ["Expect": "100-continue"], body: RequestBody("body"))
      _ = try await recording.engine().collect(request)
      #expect(recording.spans.map(\.statusCode) == ["417", "200"])
      #expect(recording.spans.map(\.resendCount) == [nil, "1"])
    }

    @Test("a request that its caller cancels has neither an error status nor an error.type")
    func cancellation() async throws {
      let arrived = Gate()
      try await withServer { _ in
        arrived.open()
        return .hold
      } _: { origin in
        let engine = try recording.engine()
        let request = EngineRequest(uri: try URI("\(origin.url)/"))
        let task = Task { try await engine.collect(request) }
        await arrived.wait()
        task.cancel()
        await #expect(throws: EngineError.self) { try await task.value }
        let span = try #require(recording.spans.first)
        #expect(span.status == nil && span.errorType == nil && span.statusCode == nil)
        #expect(recording.logs.entries.map(\.message) == ["HTTP request cancelled"])
      }
    }

    @Test("a request that fails before it is sent has a span with the kind of the error")
    func failures() async throws {
      let unused = try OriginServer.serving { _ in .text("") }
      unused.stop()
      let engine = try recording.engine()
      let invalid = EngineRequest(method: "G T", uri: try URI(unused.url))
      for request in [EngineRequest(uri: try URI("\(unused.url)/")), invalid] {
        await #expect(throws: EngineError.self) { try await engine.collect(request) }
      }
      await engine.shutdown(isGraceful: false)
      let late = EngineRequest(uri: try URI(unused.url))
      await #expect(throws: EngineError.self) { try await engine.collect(late) }
      #expect(recording.spans.map(\.errorType) == ["connection_refused", "invalid_request", "shut_down"])
      #expect(recording.spans.allSatisfy { $0.isError && $0.texts["network.peer.address"] == nil })
      #expect(recording.logs.entries.map(\.level) == [.info, .info, .info])
    }

    @Test("a response that is incomplete is an error with its status code")
    func truncated() async throws {
      let origin = try OriginServer { peer in
        guard try peer.readRequest() != nil else { return }
        try peer.send("HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nabc")
      }
      defer { origin.stop() }
      let engine = try recording.engine()
      let request = EngineRequest(uri: try URI("\(origin.url)/"))
      await #expect(throws: EngineError.self) { try await engine.collect(request) }
      let span = try #require(recording.spans.first)
      #expect(span.isError && span.errorType == "connection_lost" && span.statusCode == "200")
      #expect(span.texts["network.protocol.version"] == "1.0")
    }

    @Test("through a proxy, the server is the origin and the peer is the proxy")
    func proxy() async throws {
      try await withServer { _ in
        .text("from the proxy")
      } _: { proxy in
        let place = try Proxy(.http, host: "127.0.0.1", port: proxy.port)
        let engine = try recording.engine(configuring: { $0.proxy = .fixed(place) })
        _ = try await engine.collect(EngineRequest(uri: try URI("http://origin.example/path")))
        let span = try #require(recording.spans.first)
        #expect(span.texts["server.address"] == "origin.example" && span.texts["server.port"] == "80")
        #expect(span.texts["network.peer.port"] == "\(proxy.port)")
        #expect(span.texts["url.full"] == "http://origin.example/path")
      }
    }

    @Test("the span of a request that switches protocols ends with the response head")
    func upgrade() async throws {
      let origin = try OriginServer { peer in
        guard try peer.readHead() != nil else { return }
        try peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n")
        _ = try peer.awaitClose()
      }
      defer { origin.stop() }
      let engine = try recording.engine()
      let request = EngineRequest(uri: try URI("\(origin.url)/"), fields: ["Upgrade": "echo", "Connection": "upgrade"])
      let response = try await engine.execute(request)
      #expect(response.head.status == 101 && recording.spans.map(\.statusCode) == ["101"])
      await engine.shutdown(isGraceful: false)
      #expect(recording.spans.count == 1)
    }

    @Test("phases are recorded only on demand: as events in order, without those of a reused connection")
    func phases() async throws {
      let identity = try ServerIdentity.throwaway()
      let origin = try OriginServer.serving(tls: identity) { _ in .text("") }
      defer { origin.stop() }
      let engine = try recording.engine {
        $0.recordsPhases = true
      } configuring: {
        $0.tls.trustRoots = [.pem(identity.authorityPEM)]
      }
      for _ in 0..<2 { _ = try await engine.collect(EngineRequest(uri: try URI("\(origin.url)/"))) }
      let events = recording.spans.map(\.events)
      #expect(
        events.map { $0.map(\.name) } == [
          ["lupine.name_looked_up", "lupine.tls_established", "lupine.connected", "lupine.first_byte"],
          ["lupine.first_byte"],
        ])
      for (span, events) in zip(recording.spans, events) {
        let times =
          [span.startInstant.nanosecondsSinceEpoch] + events.map(\.nanosecondsSinceEpoch)
          + [span.endInstant.nanosecondsSinceEpoch]
        #expect(times == times.sorted())
      }
    }

    @Test("a Host field of the caller names the server, and so does the path of a Unix socket")
    func servers() throws {
      var request = EngineRequest(uri: try URI("http://127.0.0.1:8080/"), fields: ["Host": "api.example:81"])
      #expect(ServerAddress(request).dimensions.map { $0.1 } == ["api.example", "81"])
      request.fields = ["Host": "a b"]
      #expect(ServerAddress(request).dimensions.map { $0.1 } == ["127.0.0.1", "8080"])
      let socket = ServerAddress(try URI("http+unix://%2Frun%2Fx.sock/").origin)
      #expect(socket.host == "/run/x.sock" && socket.port == nil)
    }
  }
#endif
