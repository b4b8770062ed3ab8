// SecretTests: spans, metrics and logs contain no secrets.

#if Observability
  import InMemoryLogging
  import InMemoryTracing
  import Logging
  import LupineEngine
  import LupineOrigin
  import LupineTestSupport
  import MetricsTestKit
  import Testing
  import Tracing

  @testable import LupineObservability

  @Suite("Secrets", .timeLimit(.minutes(10))) struct SecretTests {
    @Test(
      "a recorded URL contains neither user information nor the values of signatures",
      arguments: [
        ("https://user:pass@a.example/b", "https://REDACTED:REDACTED@a.example/b"),
        ("https://user@a.example:8443/", "https://REDACTED@a.example:8443/"),
        ("http://a.example/?sig=1&Sig=2&sigs=3&x", "http://a.example/?sig=REDACTED&Sig=2&sigs=3&x"),
        ("http://a.example/?s%69g=1&&sig=&sig", "http://a.example/?s%69g=REDACTED&&sig=REDACTED&sig"),
        ("http://a.example/?a=b?sig=1#x&sig=2", "http://a.example/?a=b?sig=1#x&sig=REDACTED"),
        ("http://a.example/sig=1", "http://a.example/sig=1"),
        (
          "http://a.example/?X-Amz-Signature=1&X-Amz-Credential=2&X-Amz-Security-Token=3&AWSAccessKeyId=4&Signature=5"
            + "&X-Goog-Signature=6&color=blue",
          "http://a.example/?X-Amz-Signature=REDACTED&X-Amz-Credential=REDACTED&X-Amz-Security-Token=REDACTED"
            + "&AWSAccessKeyId=REDACTED&Signature=REDACTED&X-Goog-Signature=REDACTED&color=blue"
        ),
      ])
    func urls(_ url: String, _ expected: String) throws {
      #expect(RecordedURL.text(of: try URI(url)) == expected)
    }

    @Test("spans, metrics and logs of a request contain none of its credentials, and logs not even its path")
    func everything() async throws {
      let recording = Recording()
      try await withServer { request in
        Reply(status: request.path == "/private-1" ? 302 : 500, fields: ["Location": "/private-2?sig=secret-4"])
      } _: { origin in
        let engine = try recording.engine {
          $0.recordsPhases = true
          $0.additionalMetrics = Set(Observability.AdditionalMetric.allCases)
        }
        let url = "http://user:secret-1@127.0.0.1:\(origin.port)/private-1?sig=secret-2"
        let request = EngineRequest(
          method: "POST", uri: try URI(url), fields: ["Cookie": "secret-3"], body: RequestBody("secret-5"))
        _ = try await engine.collect(request, redirects: RedirectRule())
        await engine.shutdown()
      }
      let logs = recording.logs.entries
      let metrics =
        recording.metrics.recorders.map { "\($0.label)\($0.dimensions)" }
        + recording.metrics.meters.map { "\($0.label)\($0.dimensions)" }
      let spans = recording.spans.map { "\($0.operationName)\($0.texts)\($0.events)\($0.errors)\($0.status as Any)" }
      #expect(logs.count == 2 && spans.count == 2 && metrics.count >= 8)
      for text in spans + metrics + logs.map({ "\($0)" }) {
        #expect(!text.contains("secret") && !text.contains("user:"), "\(text)")
      }
      for text in metrics + logs.map({ "\($0)" }) { #expect(!text.contains("private"), "\(text)") }
      #expect(recording.spans[0].texts["url.full"]?.hasSuffix("/private-1?sig=REDACTED") == true)
    }

    @Test("log entries have stable keys and no level above info")
    func logs() async throws {
      let recording = Recording()
      try await withServer { _ in
        Reply(status: 503)
      } _: { origin in
        let engine = try recording.engine()
        var request = EngineRequest(uri: try URI("\(origin.url)/x"))
        request.urlTemplate = "/{x}"
        _ = try await engine.collect(request)
      }
      let unused = try OriginServer.serving { _ in .text("") }
      unused.stop()
      var late = EngineRequest(uri: try URI(unused.url))
      late.urlTemplate = "/{x}"
      let (engine, request) = (try recording.engine(), late)
      await #expect(throws: EngineError.self) { try await engine.collect(request) }
      let entries = recording.logs.entries
      #expect(entries.map(\.level) == [.debug, .info])
      #expect(entries.map(\.message) == ["HTTP request completed", "HTTP request failed"])
      let common: Set = [
        "http.request.method", "server.address", "server.port", "url.template", "http.client.request.duration",
        "error.type",
      ]
      #expect(entries.map { Set($0.metadata.keys) } == [common.union(["http.response.status_code"]), common])
      #expect(entries[0].metadata["error.type"] == "503" && entries[1].metadata["error.type"] == "connection_refused")
    }
  }
#endif
