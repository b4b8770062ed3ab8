// SessionSpanTests: the spans of sessions' tasks and of requests with Alamofire's API.

#if Observability
  import Foundation
  import InMemoryTracing
  import Lupine
  import LupineEngine
  import LupineLoopback
  import LupineObservability
  import LupineOrigin
  import LupineTestSupport
  import Synchronization
  import Testing
  import Tracing

  @Suite("Spans of sessions", .timeLimit(.minutes(10))) struct SessionSpanTests {
    private let recording = Recording()

    private func configuration(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> URLSessionConfiguration {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.engine.proxy = .none
      configuration.engine.observability = recording.settings
      change(&configuration.engine)
      return configuration
    }

    /// Calls `body` in a task whose parent span is a new one. Returns the ID of that span.
    private func withParent(_ body: () async throws -> Void) async throws -> String? {
      let parent = recording.tracer.startSpan("server", context: .topLevel)
      try await ServiceContext.withValue(parent.context) { try await body() }
      return parent.context.inMemorySpanContext?.spanID
    }

    @Test("the parent of a task's spans is that of the task's creation, wherever the task is resumed")
    func creation() async throws {
      try await withServer { _ in
        .text("hello")
      } _: { origin in
        let url = try #require(URL(string: origin.url))
        let session = URLSession(configuration: configuration())
        let end = Gate()
        let parent = try await withParent {
          let task = session.dataTask(with: url) { _, _, _ in end.open() }
          DispatchQueue.global().async { task.resume() }
          _ = try await session.data(from: url)
        }
        await end.wait()
        #expect(recording.spans.count == 2 && parent != nil)
        #expect(recording.spans.allSatisfy { $0.parentSpanID == parent && $0.resendCount == nil })
      }
    }

    @Test("a template belongs to the first request of a task, and each redirect has a separate span")
    func redirect() async throws {
      try await withServer { request in
        request.path == "/users/7" ? Reply(status: 307, fields: ["Location": "/8"]) : .text("x")
      } _: { origin in
        var request = URLRequest(url: try #require(URL(string: "\(origin.url)/users/7")))
        request.lupine.urlTemplate = "/users/{id}"
        _ = try await URLSession(configuration: configuration()).data(for: request)
        #expect(recording.spans.map(\.operationName) == ["GET /users/{id}", "GET"])
        #expect(recording.spans.map(\.resendCount) == [nil, "1"])
        #expect(recording.spans.map(\.statusCode) == ["307", "200"])
      }
    }

    @Test("a redirect that a session refuses is an error, although its status code isn't")
    func refusedRedirect() async throws {
      try await withServer { _ in
        Reply(status: 302, fields: ["Location": "/"])
      } _: { origin in
        let configuration = configuration()
        configuration.redirectRule.countMax = 0
        let (session, url) = (URLSession(configuration: configuration), try #require(URL(string: origin.url)))
        await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(recording.spans.map(\.errorType) == ["too_many_redirects"])
      }
    }

    @Test("the answer to a Digest challenge has a separate span")
    func digest() async throws {
      try await withServer { request in
        let challenge = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"
        return request.fields.first("Authorization")?.hasPrefix("Digest ") == true
          ? .text("in") : Reply(status: 401, fields: ["WWW-Authenticate": challenge])
      } _: { origin in
        let session = Session(configuration: configuration())
        let parent = try await withParent {
          let text = try await session.request(origin.url).authenticate(username: "u", password: "p")
            .serializingString().value
          #expect(text == "in")
        }
        #expect(recording.spans.map(\.statusCode) == ["401", "200"])
        #expect(recording.spans.map(\.errorType) == ["401", nil] && recording.spans.map(\.resendCount) == [nil, "1"])
        #expect(recording.spans.allSatisfy { $0.parentSpanID == parent })
      }
    }

    @Test("each retry of a request has a separate span with the parent of the request's creation")
    func retries() async throws {
      let count = Atomic(0)
      try await withServer { _ in
        Reply(status: count.add(1, ordering: .relaxed).newValue < 3 ? 503 : 200, fields: [:], .bytes([97]))
      } _: { origin in
        let session = Session(configuration: configuration())
        let policy = RetryPolicy(retryLimit: 5, exponentialBackoffScale: 0.001)
        let parent = try await withParent {
          let request = session.request(origin.url, interceptor: policy) { $0.lupine.urlTemplate = "/" }.validate()
          let data = try await request.serializingData().value
          #expect(data == Data("a".utf8))
        }
        #expect(recording.spans.map(\.statusCode) == ["503", "503", "200"])
        #expect(recording.spans.map(\.resendCount) == [nil, "1", "2"])
        #expect(recording.spans.allSatisfy { $0.parentSpanID == parent && $0.operationName == "GET /" })
      }
    }

    @Test("a task that its caller cancels isn't an error")
    func cancellation() async throws {
      let arrived = Gate()
      try await withServer { _ in
        arrived.open()
        return .hold
      } _: { origin in
        let session = Session(configuration: configuration())
        let request = session.request(origin.url)
        let end = Gate()
        request.response(queue: .global()) { _ in end.open() }
        await arrived.wait()
        request.cancel()
        await end.wait()
        let span = try #require(recording.spans.first)
        #expect(recording.spans.count == 1 && span.status == nil && span.errorType == nil)
        withExtendedLifetime(session) {}
      }
    }

    @Test("a response from the cache has no span")
    func cache() async throws {
      try await withServer { _ in
        Reply(fields: ["Cache-Control": "max-age=1000"], .bytes([97]))
      } _: { origin in
        let configuration = configuration()
        configuration.urlCache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
        let (session, url) = (URLSession(configuration: configuration), try #require(URL(string: origin.url)))
        for _ in 0..<2 {
          let (data, _) = try await session.data(from: url)
          #expect(data == Data("a".utf8))
        }
        #expect(recording.spans.count == 1)
      }
    }

    @Test("a request that waits for the choice of a client certificate has one span")
    func clientCertificate() async throws {
      let authority = try ThrowawayAuthority()
      let identity = try ServerIdentity(
        try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"]), authorityPEM: authority.certificatePEM,
        clientAuthorityPEM: authority.certificatePEM, requiresClientCertificate: false)
      let origin = try OriginServer.serving(tls: identity) { _ in .text("yes") }
      defer { origin.stop() }
      let session = URLSession(configuration: configuration { $0.tls.trustRoots = [.pem(authority.certificatePEM)] })
      _ = try await session.data(from: try #require(URL(string: origin.url)))
      #expect(recording.spans.map(\.statusCode) == ["200"] && recording.spans.map(\.resendCount) == [nil])
    }

    @Test("a session without settings records nothing, and adds no fields")
    func unobserved() async throws {
      let fields = Mutex<Fields?>(nil)
      try await withServer { request in
        fields.withLock { $0 = request.fields }
        return .text("")
      } _: { origin in
        let configuration = configuration { $0.observability = nil }
        let url = try #require(URL(string: origin.url))
        try await withTracer(recording.tracer) {
          _ = try await URLSession(configuration: configuration).data(from: url)
        }
      }
      #expect(recording.spans.isEmpty && fields.withLock { $0?.contains("traceparent") } == false)
    }
  }
#endif
