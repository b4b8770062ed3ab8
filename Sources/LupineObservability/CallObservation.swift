// CallObservation: what the caller's task provides for one call: the parent span, the tracer, the metrics factory and the logger.

#if Observability
  internal import CoreMetrics
  internal import Logging
  internal import LupineEngine
  internal import LupineReactor
  internal import Synchronization
  internal import Tracing

  /// The observation of one call, with the values that were current in the caller's task.
  final class CallObservation: CallObserver {
    private let engine: EngineObservation
    let context: ServiceContext
    /// The tracer, or nil if nothing records spans.
    let tracer: (any Tracer)?
    /// The instrument that adds the context to requests, or nil if there is none.
    let instrument: (any Instrument)?
    /// The metrics factory, or nil if nothing records metrics.
    let metricsFactory: (any MetricsFactory)?
    let logger: Logger
    private let attemptCount = Atomic<Int>(0)
    private let redirectFailure = Mutex<EngineError.Code?>(nil)

    init(_ engine: EngineObservation) {
      self.engine = engine
      context = ServiceContext.current ?? .topLevel
      (tracer, instrument) = engine.tracing
      metricsFactory = engine.callFactory
      logger = engine.settings.logger ?? Logger.current
    }

    var settings: Observability {
      _read { yield engine.settings }
    }

    func attemptBegan(_ request: EngineRequest, at start: Instant) -> any AttemptObserver {
      AttemptObservation(request, of: self, resendCount: attemptCount.add(1, ordering: .relaxed).oldValue, start: start)
    }

    func redirectFailed(_ error: EngineError) { redirectFailure.withLock { $0 = error.code } }

    /// Removes and returns the code of the error of the redirect that the current attempt's response asks for, if it can't be
    /// followed.
    func takeRedirectFailure() -> EngineError.Code? { redirectFailure.withLock { $0.take() } }
  }
#endif
