// Sample: the measurements of one arrival.

#if Bench
  internal import LupineEngine

  /// The times when one arrival was due, sent and done, and its result.
  struct Sample: Sendable {
    /// The index of its scenario.
    let scenario: Int
    let due: Instant
    /// When the engine's loop took the request of an open loop: a request that waits for a busy loop is late, too. Otherwise, when the
    /// generator passed the request to the engine, called the scenario's code or opened the stream.
    let sent: Instant
    let end: Instant
    let result: Result<Scenario.Outcome, Failure>

    /// An error, reduced to its kind, so that errors can be counted.
    struct Failure: Error {
      let kind: String
      /// The engine's error, which states the cause and the remedy, or nil if the error is another one.
      let error: EngineError?
      /// The engine's measurements of the request that failed, or none.
      var metrics: [ExchangeMetrics]

      init(_ error: any Error, metrics: [ExchangeMetrics] = []) {
        self.error = error as? EngineError
        self.metrics = metrics
        kind = self.error?.code.rawValue ?? (error is CancellationError ? "cancelled" : "\(type(of: error))")
      }

      init(kind: String) { (self.kind, error, metrics) = (kind, nil, []) }
    }

    /// The kind of error, or nil if there is none. A status code of 400 or more is an error, too.
    var errorKind: String? {
      switch result {
      case .failure(let failure): failure.kind
      case .success(let outcome): outcome.status.flatMap { $0 >= 400 ? "status \($0)" : nil }
      }
    }
  }

  extension Sample {
    /// Creates the sample of an arrival whose scenario isn't a stream. `passed` is when the generator passed the request to the engine
    /// or called the scenario's code.
    ///
    /// In a closed loop, a request is due when the one before has ended, so it can't be late.
    init(
      scenario: Int, due: Instant, passed: Instant, _ times: Scenario.Times, isOpenLoop: Bool,
      result: Result<Scenario.Outcome, Failure>
    ) {
      let taken = isOpenLoop ? times.start : nil
      self.init(scenario: scenario, due: due, sent: taken ?? passed, end: times.end, result: result)
    }
  }

  /// The parts of a request's duration.
  enum RequestPhase: String, CaseIterable, Sendable {
    case lookup, connect, tls, firstByte, body

    /// The phase's name in reports.
    var name: String {
      switch self {
      case .tls: "TLS"
      case .firstByte: "first byte"
      case .lookup, .connect, .body: rawValue
      }
    }

    /// Returns the start and the end of the phase, or nil if the request didn't pass through it. For example, a request on a reused
    /// connection has no lookup. The first byte is measured from the first byte of the request.
    func times(in metrics: ExchangeMetrics) -> (start: Instant, end: Instant)? {
      let (start, end): (Instant?, Instant?) =
        switch self {
        case .lookup: (metrics.resolveStart, metrics.resolveEnd)
        case .connect: (metrics.connectStart, metrics.tlsStart ?? metrics.connectEnd)
        case .tls: (metrics.tlsStart, metrics.tlsEnd)
        case .firstByte: (metrics.requestStart, metrics.responseStart)
        case .body: (metrics.responseStart, metrics.responseEnd)
        }
      guard let start, let end else { return nil }
      return (start, end)
    }
  }
#endif
