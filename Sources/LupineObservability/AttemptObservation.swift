// AttemptObservation: the span, the metrics and the log entry of one request on the wire.

#if Observability
  internal import CoreMetrics
  internal import Logging
  internal import LupineEngine
  internal import LupineReactor
  internal import LupineWire
  internal import Tracing

  /// The observation of one request on the wire, from its start to the end of its response.
  final class AttemptObservation: AttemptObserver {
    private let call: CallObservation
    private let method: RecordedMethod
    private let server: ServerAddress
    private let template: String?
    private let resendCount: Int
    private let start: Instant
    private let clock: SpanClock
    private let span: (any Span)?
    private let activeRequests: Meter?
    /// The fields that propagate the span's context.
    let fields: Fields

    init(_ request: EngineRequest, of call: CallObservation, resendCount: Int, start: Instant) {
      self.call = call
      self.resendCount = resendCount
      self.start = start
      let method = RecordedMethod(request.method, known: call.settings.knownMethods)
      let (server, template) = (ServerAddress(request), request.urlTemplate)
      (self.method, self.server, self.template) = (method, server, template)
      let clock = SpanClock()
      self.clock = clock
      let name = template.map { "\(method.spanName) \($0)" } ?? method.spanName
      span = call.tracer?.startSpan(name, context: call.context, ofKind: .client, at: clock.timestamp(of: start))
      let context = span?.context ?? call.context
      fields = call.instrument.map { InjectedFields.fields(for: context, request, $0) } ?? Fields()
      activeRequests = AttemptObservation.activeRequests(of: call) {
        method.dimensions + server.dimensions + [("url.scheme", request.uri.origin.scheme.rawValue)]
          + (template.map { [("url.template", $0)] } ?? [])
      }
      activeRequests?.increment()
      guard let span, span.isRecording else { return }
      span.updateAttributes { attributes in
        // `startSpan` takes no attributes. Those that samplers need are therefore set first.
        attributes["http.request.method"] = method.name
        attributes["server.address"] = server.host
        if let port = server.port { attributes["server.port"] = port }
        attributes["url.full"] = RecordedURL.text(of: request.uri)
        if let original = method.original { attributes["http.request.method_original"] = original }
        if let template { attributes["url.template"] = template }
        if resendCount > 0 { attributes["http.request.resend_count"] = resendCount }
      }
    }

    private static func activeRequests(of call: CallObservation, _ dimensions: () -> [(String, String)]) -> Meter? {
      guard call.settings.additionalMetrics.contains(.activeRequests), let factory = call.metricsFactory else {
        return nil
      }
      return Meter(label: "http.client.active_requests", dimensions: dimensions(), factory: factory)
    }

    func attemptEnded(_ outcome: AttemptOutcome) {
      let failure = AttemptFailure(outcome, redirect: call.takeRedirectFailure())
      if let span { end(span, outcome, failure) }
      activeRequests?.decrement()
      if let factory = call.metricsFactory { record(outcome, failure, factory) }
      log(outcome, failure)
    }

    // MARK: Spans

    private func end(_ span: any Span, _ outcome: AttemptOutcome, _ failure: AttemptFailure?) {
      if span.isRecording {
        span.updateAttributes { attributes in
          if let status = outcome.status { attributes["http.response.status_code"] = status }
          if let version = outcome.protocolVersion { attributes["network.protocol.version"] = version }
          if let peer = outcome.metrics.remoteAddress {
            attributes["network.peer.address"] = peer.host
            if peer.socketPath == nil { attributes["network.peer.port"] = Int(peer.port) }
          }
          if let failure { attributes["error.type"] = failure.type }
        }
        // The message would only repeat error.type.
        if failure != nil { span.setStatus(SpanStatus(code: .error)) }
        if call.settings.recordsPhases {
          for (name, instant) in outcome.metrics.phases where instant >= start {
            span.addEvent(SpanEvent(name: name, at: clock.timestamp(of: instant)))
          }
        }
      }
      span.end(at: clock.timestamp(of: outcome.end))
    }

    // MARK: Metrics

    private func record(_ outcome: AttemptOutcome, _ failure: AttemptFailure?, _ factory: any MetricsFactory) {
      var dimensions = method.dimensions + server.dimensions
      if let status = outcome.status { dimensions.append(("http.response.status_code", "\(status)")) }
      if let version = outcome.protocolVersion { dimensions.append(("network.protocol.version", version)) }
      if let failure { dimensions.append(("error.type", failure.type)) }
      if let template { dimensions.append(("url.template", template)) }
      Recorder(label: "http.client.request.duration", dimensions: dimensions, factory: factory)
        .record((outcome.end - start).inSeconds)
      guard call.settings.additionalMetrics.contains(.bodySizes), outcome.metrics.requestStart != nil else { return }
      Recorder(label: "http.client.request.body.size", dimensions: dimensions, factory: factory)
        .record(Int64(clamping: outcome.metrics.requestBodyBytes))
      guard outcome.status != nil else { return }
      Recorder(label: "http.client.response.body.size", dimensions: dimensions, factory: factory)
        .record(Int64(clamping: outcome.metrics.responseBodyBytes))
    }

    // MARK: Logs

    private func log(_ outcome: AttemptOutcome, _ failure: AttemptFailure?) {
      switch (outcome.error?.code, failure) {
      case (.cancelled?, nil): call.logger.debug("HTTP request cancelled", metadata: metadata(outcome, failure))
      case (_, let failure?) where !failure.isStatus:
        call.logger.info("HTTP request failed", metadata: metadata(outcome, failure))
      default: call.logger.debug("HTTP request completed", metadata: metadata(outcome, failure))
      }
    }

    // The path isn't logged, because it may contain secrets.
    private func metadata(_ outcome: AttemptOutcome, _ failure: AttemptFailure?) -> Logger.Metadata {
      var metadata: Logger.Metadata = [
        "http.request.method": "\(method.name)", "server.address": "\(server.host)",
        "http.client.request.duration": "\((outcome.end - start).inSeconds)",
      ]
      if let port = server.port { metadata["server.port"] = "\(port)" }
      if let template { metadata["url.template"] = "\(template)" }
      if let status = outcome.status { metadata["http.response.status_code"] = "\(status)" }
      if let failure { metadata["error.type"] = "\(failure.type)" }
      if resendCount > 0 { metadata["http.request.resend_count"] = "\(resendCount)" }
      return metadata
    }
  }

  /// Converts instants of the engine's clock to the time of day. The result doesn't jump when the system's time is set.
  struct SpanClock {
    private let now = Instant.now
    private let time = DefaultTracerClock.now.nanosecondsSinceEpoch

    func timestamp(of instant: Instant) -> DefaultTracerClock.Timestamp {
      DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: time &+ instant.nanoseconds &- now.nanoseconds)
    }
  }

  extension AttemptOutcome {
    /// The version of HTTP in the response, or nil if there is none.
    fileprivate var protocolVersion: String? { minorVersion.map { $0 == 0 ? "1.0" : "1.1" } }
  }

  extension ExchangeMetrics {
    /// The names and the times of the ends of phases, in order.
    fileprivate var phases: [(String, Instant)] {
      let phases = [
        ("lupine.name_looked_up", resolveEnd), ("lupine.proxy_ready", proxyEnd), ("lupine.tls_established", tlsEnd),
        ("lupine.connected", connectEnd), ("lupine.first_byte", responseStart),
      ]
      return phases.compactMap { name, instant in instant.map { (name, $0) } }
    }
  }
#endif
