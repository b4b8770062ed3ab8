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
    let settings: Observability
    let context: ServiceContext
    /// The tracer, or nil if nothing records spans.
    let tracer: (any Tracer)?
    /// The instrument that adds the context to requests, or nil if there is none.
    let instrument: (any Instrument)?
    /// The metrics factory, or nil if nothing records metrics.
    let metricsFactory: (any MetricsFactory)?
    let logger: Logger
    private let attemptCount = Atomic<Int>(0)
    private let redirectFailure = Mutex<EngineError?>(nil)

    init(_ settings: Observability) {
      self.settings = settings
      context = ServiceContext.current ?? .topLevel
      let tracer = settings.tracer ?? InstrumentationSystem.tracer
      self.tracer = tracer is NoOpTracer ? nil : tracer
      let instrument: any Instrument = settings.tracer ?? InstrumentationSystem.instrument
      self.instrument = instrument is NoOpInstrument || instrument is NoOpTracer ? nil : instrument
      let factory = settings.metricsFactory ?? MetricsSystem.factory
      metricsFactory = factory is NOOPMetricsHandler ? nil : factory
      logger = settings.logger ?? Logger.current
    }

    func attemptBegan(_ request: EngineRequest, at start: Instant) -> any AttemptObserver {
      AttemptObservation(request, of: self, resendCount: attemptCount.add(1, ordering: .relaxed).oldValue, start: start)
    }

    func redirectFailed(_ error: EngineError) { redirectFailure.withLock { $0 = error } }

    /// Removes and returns the error of the redirect that the current attempt's response asks for, if it can't be followed.
    func takeRedirectFailure() -> EngineError? { redirectFailure.withLock { $0.take() } }
  }
#endif
