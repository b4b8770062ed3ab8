// RequestMetricsTests: the metrics of requests and connections.

#if Observability
  import InMemoryTracing
  import LupineEngine
  import LupineOrigin
  import LupineTestSupport
  import MetricsTestKit
  import Testing
  import Tracing

  @testable import LupineObservability

  @Suite("Metrics", .timeLimit(.minutes(10))) struct RequestMetricsTests {
    private let recording = Recording()

    @Test("by default, only the duration is recorded: in seconds, as long as the span")
    func duration() async throws {
      try await withServer { _ in
        Reply(status: 404)
      } _: { origin in
        var request = EngineRequest(method: "FROB", uri: try URI("\(origin.url)/secret"))
        request.urlTemplate = "/{name}"
        _ = try await recording.engine().collect(request)
        #expect(recording.metrics.recorders.count == 1 && recording.metrics.meters.isEmpty)
        #expect(recording.metrics.timers.isEmpty && recording.metrics.counters.isEmpty)
        let (value, span) = (recording.values("http.client.request.duration")[0], recording.spans[0])
        #expect(abs(value - span.seconds) < 1e-9 && value > 0 && value < 600)
        #expect(
          recording.dimensions("http.client.request.duration") == [
            "http.request.method": "_OTHER", "server.address": "127.0.0.1", "server.port": "\(origin.port)",
            "http.response.status_code": "404", "network.protocol.version": "1.1", "error.type": "404",
            "url.template": "/{name}",
          ])
      }
    }

    @Test("the number of active requests rises when a request is sent, and falls at its end")
    func active() async throws {
      let (arrived, finish) = (Gate(), Gate())
      let origin = try OriginServer { peer in
        guard try peer.readRequest() != nil else { return }
        arrived.open()
        try peer.wait(for: finish)
        try peer.respond()
      }
      defer { origin.stop() }
      let engine = try recording.engine { $0.additionalMetrics = [.activeRequests] }
      let request = EngineRequest(uri: try URI("\(origin.url)/"))
      let task = Task { try await engine.collect(request) }
      await arrived.wait()
      #expect(recording.number("http.client.active_requests") == 1)
      #expect(
        recording.dimensions("http.client.active_requests") == [
          "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": "\(origin.port)",
          "url.scheme": "http",
        ])
      finish.open()
      _ = try await task.value
      #expect(recording.number("http.client.active_requests") == 0)
    }

    @Test("body sizes are those on the wire, before decoding")
    func sizes() async throws {
      let body = [UInt8](repeating: 97, count: 10_000)
      try await withServer { _ in
        Reply(.coded(body, .gzip))
      } _: { origin in
        let engine = try recording.engine { $0.additionalMetrics = [.bodySizes] }
        let request = EngineRequest(method: "POST", uri: try URI("\(origin.url)/"), body: RequestBody("12345"))
        let response = try await engine.collect(request)
        #expect(response.body == body)
        #expect(recording.values("http.client.request.body.size") == [5])
        let received = recording.values("http.client.response.body.size")
        #expect(received == [Double(response.metrics[0].responseBodyBytes)] && received[0] < 1_000)
      }
    }

    @Test("connections are counted by state, requests while they wait, and each connection's duration at its end")
    func connections() async throws {
      let (arrived, finish) = (LupineTestSupport.Recorder<Void>(), Gate())
      let origin = try OriginServer { peer in
        while try peer.readRequest() != nil {
          arrived.record(())
          try peer.wait(for: finish)
          try peer.respond()
        }
      }
      defer { origin.stop() }
      let engine = try recording.engine {
        $0.additionalMetrics = Set(Observability.AdditionalMetric.allCases)
      } configuring: {
        $0.pool.connectionsPerOriginMax = 1
      }
      let request = EngineRequest(uri: try URI("\(origin.url)/"))
      let tasks = (0..<3).map { _ in Task { try await engine.collect(request) } }
      _ = await arrived.first(1)
      func open(_ state: String) -> Double {
        recording.number("http.client.open_connections", ["http.connection.state": state])
      }
      #expect(await settles { recording.number("lupine.client.waiting_requests") == 2 })
      #expect(open("active") == 1 && open("idle") == 0)
      #expect(recording.number("lupine.client.opening_connections") == 0)
      #expect(recording.metrics.meters(label: "lupine.client.opening_connections").first?.values.contains(1) == true)
      finish.open()
      for task in tasks { _ = try await task.value }
      #expect(await settles { open("idle") == 1 && open("active") == 0 })
      #expect(recording.number("lupine.client.waiting_requests") == 0)
      #expect(recording.values("http.client.connection.duration").isEmpty)
      await engine.shutdown()
      #expect(open("idle") == 0 && open("active") == 0)
      let duration = recording.values("http.client.connection.duration")
      #expect(duration.count == 1 && duration[0] > 0 && duration[0] < 600)
      let dimensions = [
        "server.address": "127.0.0.1", "server.port": "\(origin.port)", "url.scheme": "http",
        "network.peer.address": "127.0.0.1",
      ]
      #expect(recording.dimensions("http.client.connection.duration") == dimensions)
    }

    @Test("after an immediate shutdown, no connection or waiting request is counted")
    func stop() async throws {
      let arrived = Gate()
      try await withServer { _ in
        arrived.open()
        return .hold
      } _: { origin in
        let engine = try recording.engine {
          $0.additionalMetrics = Set(Observability.AdditionalMetric.allCases)
        } configuring: {
          $0.pool.connectionsPerOriginMax = 1
        }
        let request = EngineRequest(uri: try URI("\(origin.url)/"))
        let tasks = (0..<2).map { _ in Task { try await engine.collect(request) } }
        await arrived.wait()
        await engine.shutdown(isGraceful: false)
        for task in tasks { #expect(await task.result.failure != nil) }
        for label in ["http.client.open_connections", "lupine.client.waiting_requests", "http.client.active_requests"] {
          #expect(recording.number(label) == 0, "\(label)")
        }
      }
    }
  }
#endif
