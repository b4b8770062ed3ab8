// PropagationTests: the fields that propagate a span's context, and the values that come from the caller's task.

#if Observability
  import CoreMetrics
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

  @Suite("Propagation", .timeLimit(.minutes(10))) struct PropagationTests {
    private let recording = Recording()

    /// Sends a request with these fields. Returns the fields that the server has received.
    private func received(_ fields: Fields) async throws -> Fields {
      let received = Mutex(Fields())
      try await withServer { request in
        received.withLock { $0 = request.fields }
        return .text("")
      } _: { origin in
        _ = try await recording.engine().collect(EngineRequest(uri: try URI("\(origin.url)/"), fields: fields))
      }
      return received.withLock { $0 }
    }

    @Test("the request carries its span's context; a tracer can add neither framing fields nor malformed ones")
    func injected() async throws {
      let fields = try await received(["A": "b"])
      let span = try #require(recording.spans.first)
      #expect(fields.all("traceparent") == [span.parentField] && fields.all("tracestate") == ["own"])
      #expect(fields.first("A") == "b" && fields.first("Content-Length") == nil)
      #expect(fields.first("baggage") == nil && fields.first("Injected") == nil)
    }

    @Test("fields that the caller has set aren't changed, and the state of another trace isn't added to them")
    func callersFields() async throws {
      let fields = try await received(["Traceparent": "the caller's"])
      #expect(fields.all("traceparent") == ["the caller's"] && fields.first("tracestate") == nil)
      let others = try await received(["tracestate": "the caller's"])
      #expect(others.all("tracestate") == ["the caller's"] && others.all("traceparent").count == 1)
    }

    @Test("the tracer, the metrics factory, the logger and the parent are those of the task that makes the request")
    func taskLocals() async throws {
      try await withServer { _ in
        .text("")
      } _: { origin in
        var configuration = EngineConfiguration()
        configuration.observability = Observability()
        let engine = try Engine(configuration: configuration)
        let request = EngineRequest(uri: try URI("\(origin.url)/"))
        let parent = recording.tracer.startSpan("server", context: .topLevel)
        try await withTracer(recording.tracer) {
          try await withMetricsFactory(recording.metrics) {
            try await withLogger(recording.logger) { _ in
              try await ServiceContext.withValue(parent.context) { _ = try await engine.collect(request) }
            }
          }
        }
        // This request is made without any back end.
        _ = try await engine.collect(request)
        #expect(recording.spans.map(\.parentSpanID) == [parent.context.inMemorySpanContext?.spanID])
        #expect(recording.values("http.client.request.duration").count == 1)
        #expect(recording.logs.entries.count == 1)
      }
    }

    @Test("requests of many tasks at once keep their own parents, and each sends the context of its span")
    func concurrency() async throws {
      let sent = Mutex<[String: String]>([:])
      try await withServer { request in
        sent.withLock { $0[request.path] = request.fields.first("traceparent") ?? "" }
        return .text("")
      } _: { origin in
        let engine = try recording.engine(configuring: {
          $0.loopCount = 2; $0.loopsPerOrigin = 2
        })
        let uri = origin.url
        try await withThrowingTaskGroup { group in
          for number in 0..<repetitions(of: 20) {
            group.addTask {
              let parent = recording.tracer.startSpan("parent \(number)", context: .topLevel)
              try await ServiceContext.withValue(parent.context) {
                for step in 0..<10 {
                  var request = EngineRequest(uri: try URI("\(uri)/\(number)-\(step)"))
                  request.urlTemplate = "/\(number)-\(step)"
                  _ = try await engine.collect(request)
                }
              }
              parent.end()
            }
          }
          try await group.waitForAll()
        }
        let spans = recording.spans
        let parents = Dictionary(
          uniqueKeysWithValues: spans.filter { $0.kind != .client }.map { ($0.operationName, $0) })
        let sent = sent.withLock { $0 }
        #expect(parents.count == repetitions(of: 20) && sent.count == parents.count * 10)
        for span in spans where span.kind == .client {
          let path = try #require(span.texts["url.template"])
          let parent = try #require(parents["parent \(path.dropFirst().prefix { $0 != "-" })"])
          #expect(span.parentSpanID == parent.spanID && span.traceID == parent.traceID)
          #expect(sent[path] == span.parentField && span.resendCount == nil)
        }
      }
    }
  }
#endif
