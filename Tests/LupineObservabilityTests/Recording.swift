// Recording: the in-memory back ends of a test, and the requests that use them.

#if Observability
  import InMemoryLogging
  import InMemoryTracing
  import Logging
  import LupineEngine
  import LupineObservability
  import LupineOrigin
  import LupineTestSupport
  import MetricsTestKit
  import Tracing

  /// A tracer, a metrics factory and a log handler that keep everything in memory.
  struct Recording: Sendable {
    let tracer = TestTracer()
    let metrics = TestMetrics()
    let logs = InMemoryLogHandler()

    /// The logger whose entries are in `logs`, with all levels.
    var logger: Logger {
      var logger = Logger(label: "test") { [logs] _ in logs }
      logger.logLevel = .trace
      return logger
    }

    /// Settings that use the back ends of this recording.
    var settings: Observability {
      var settings = Observability()
      (settings.tracer, settings.metricsFactory, settings.logger) = (tracer, metrics, logger)
      return settings
    }

    /// Creates an engine that is observed with these settings.
    func engine(
      _ change: (inout Observability) -> Void = { _ in },
      configuring configure: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Engine {
      var (configuration, settings) = (EngineConfiguration(), settings)
      change(&settings)
      configuration.proxy = .none
      configuration.observability = settings
      configure(&configuration)
      return try Engine(configuration: configuration)
    }

    /// The finished spans, in the order in which they ended.
    var spans: [FinishedInMemorySpan] { tracer.memory.finishedSpans }

    /// The values of a recorder with this label, for all dimensions, in no particular order.
    func values(_ label: String) -> [Double] { metrics.recorders(label: label).flatMap(\.values) }

    /// The dimensions of the only recorder or meter with this label.
    func dimensions(_ label: String) -> [String: String] {
      let all = metrics.recorders(label: label).map(\.dimensions) + metrics.meters(label: label).map(\.dimensions)
      return Dictionary(all.first ?? []) { first, _ in first }
    }

    /// The number that the meters with this label show, for the dimensions that contain these.
    func number(_ label: String, _ dimensions: [String: String] = [:]) -> Double {
      metrics.meters(label: label).filter { meter in
        let own = Dictionary(meter.dimensions) { first, _ in first }
        return dimensions.allSatisfy { own[$0.key] == $0.value }
      }.compactMap(\.lastValue).reduce(0, +)
    }
  }

  /// A tracer that keeps spans in memory, and propagates their contexts in the fields of W3C Trace Context. It also tries to add
  /// fields that a request must not contain.
  struct TestTracer: Tracer {
    let memory = InMemoryTracer()

    func startSpan<Instant: TracerInstant>(
      _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
      at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> InMemorySpan {
      memory.startSpan(
        operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID, line: line)
    }

    func inject<Carrier, Inject: Injector>(
      _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
      guard let span = context.inMemorySpanContext else { return }
      injector.inject("\(span.traceID)/\(span.spanID)", forKey: "traceparent", into: &carrier)
      injector.inject("own", forKey: "tracestate", into: &carrier)
      injector.inject("7", forKey: "Content-Length", into: &carrier)
      injector.inject("a\r\nInjected: 1", forKey: "baggage", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
      _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    func forceFlush() {}
  }

  extension FinishedInMemorySpan {
    /// All attributes in the form of strings.
    var texts: [String: String] {
      var texts: [String: String] = [:]
      attributes.forEach { key, value in
        texts[key] =
          switch value {
          case .string(let text): text
          case .int64(let number): "\(number)"
          default: "\(value)"
          }
      }
      return texts
    }

    var isError: Bool { status?.code == .error }
    var resendCount: String? { texts["http.request.resend_count"] }
    var errorType: String? { texts["error.type"] }
    var statusCode: String? { texts["http.response.status_code"] }
    var seconds: Double {
      Double(endInstant.nanosecondsSinceEpoch - startInstant.nanosecondsSinceEpoch) / 1_000_000_000
    }
    /// The value of traceparent that the test tracer sends for this span.
    var parentField: String { "\(traceID)/\(spanID)" }
  }

  /// Calls `body` with a server that answers with `reply`.
  func withServer(
    _ reply: @escaping @Sendable (ReceivedRequest) throws -> Reply, _ body: (OriginServer) async throws -> Void
  ) async throws {
    let origin = try OriginServer.serving(reply)
    defer { origin.stop() }
    try await body(origin)
  }
#endif
