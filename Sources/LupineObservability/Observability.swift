// Observability: what is recorded for an engine's requests, and where.

#if Observability
  public import CoreMetrics
  public import Logging
  public import LupineEngine
  public import Tracing

  /// The settings for the traces, metrics and logs of an engine's requests, by OpenTelemetry's conventions for HTTP clients.
  ///
  /// Each request on the wire has a span, a duration and a log entry: a request that the caller makes, and each redirect, answer to a
  /// challenge, retry and replay that follows from it. The context of the span is added to the request's fields.
  ///
  /// The tracer, the metrics factory, the logger and the parent span (`ServiceContext.current`) are read in the task that makes the
  /// request: where it calls the engine, creates a session's task, or creates a request with Alamofire's API.
  public struct Observability: Sendable {
    /// Metrics that OpenTelemetry hasn't declared stable, or doesn't define.
    public enum AdditionalMetric: Sendable, Hashable, CaseIterable {
      /// `http.client.active_requests`: the number of requests in flight.
      case activeRequests
      /// `http.client.open_connections`: the number of connections, by state: `idle` or `active`.
      case openConnections
      /// `http.client.connection.duration`: for how long each connection was open, in seconds.
      case connectionDuration
      /// `http.client.request.body.size` and `http.client.response.body.size`: bytes on the wire, without framing.
      case bodySizes
      /// `lupine.client.waiting_requests`: the number of requests that wait for a connection.
      case waitingRequests
      /// `lupine.client.opening_connections`: the number of connections being opened.
      case openingConnections
    }

    /// The tracer that records spans. If nil (the default), the tracer that is current where the request is made: that of
    /// `withTracer`, or else the one with which the program has bootstrapped `InstrumentationSystem`.
    public var tracer: (any Tracer)?
    /// The factory that creates metrics. If nil (the default), the factory that is current where the request is made: that of
    /// `withMetricsFactory`, or else the one with which the program has bootstrapped `MetricsSystem`.
    ///
    /// The metrics of connections don't belong to a request. If this property is nil, they use the factory that was current when
    /// `EngineConfiguration.observability` was set.
    public var metricsFactory: (any MetricsFactory)?
    /// The logger for requests. If nil (the default), the task-local `Logger.current` where the request is made. Failures are logged
    /// at the level info, everything else at debug.
    public var logger: Logger?
    /// The metrics that are recorded in addition to `http.client.request.duration`. None by default.
    public var additionalMetrics: Set<AdditionalMetric> = []
    /// Whether each span has an event for each phase of its request, such as the TLS handshake. False by default.
    public var recordsPhases = false
    /// The request methods, case-sensitive, that are recorded by their names. All others are recorded as `_OTHER`.
    ///
    /// By default, the methods in the environment variable `OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS`, separated by commas. If the
    /// variable isn't set or empty, the methods of RFC 9110, PATCH (RFC 5789) and QUERY (RFC 10008).
    public var knownMethods = KnownMethods.current

    /// Creates settings with the default values.
    public init() {}
  }

  extension EngineConfiguration {
    /// The traces, metrics and logs of the engine's requests. If nil (the default), nothing is recorded, at no cost.
    public var observability: Observability? {
      get { (observer as? EngineObservation)?.settings }
      set { observer = newValue.map { EngineObservation($0) } }
    }
  }
#endif
