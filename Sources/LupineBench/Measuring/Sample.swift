// Sample: the measurements of one arrival.

#if Bench
  internal import LupineEngine

  /// The times when one arrival was due, sent and done, and its result.
  struct Sample: Sendable {
    /// The index of its scenario.
    let scenario: Int
    let due: Instant
    /// When the generator passed the request to the engine, or called the scenario's code.
    let sent: Instant
    let end: Instant
    let result: Result<Scenario.Outcome, Failure>

    /// An error, reduced to its kind, so that errors can be counted.
    struct Failure: Error, Hashable {
      let kind: String

      init(_ error: any Error) {
        kind =
          (error as? EngineError)?.code.rawValue ?? (error is CancellationError ? "cancelled" : "\(type(of: error))")
      }

      init(kind: String) { self.kind = kind }
    }

    /// The kind of error, or nil if there is none. A status code of 400 or more is an error, too.
    var errorKind: String? {
      switch result {
      case .failure(let failure): failure.kind
      case .success(let outcome): outcome.status.flatMap { $0 >= 400 ? "status \($0)" : nil }
      }
    }
  }

  /// The parts of a request's duration.
  enum RequestPhase: String, CaseIterable, Sendable {
    case lookup, connect, tls, firstByte, body

    /// The phase's name in reports.
    var name: String {
      switch self {
      case .lookup: "lookup"
      case .connect: "connect"
      case .tls: "TLS"
      case .firstByte: "first byte"
      case .body: "body"
      }
    }

    /// Returns the duration of the phase, or nil if the request didn't pass through it. For example, a request on a reused connection
    /// has no lookup. The first byte is measured from the first byte of the request.
    func duration(in metrics: ExchangeMetrics) -> Duration? {
      switch self {
      case .lookup: distance(metrics.resolveStart, metrics.resolveEnd)
      case .connect: distance(metrics.connectStart, metrics.tlsStart ?? metrics.connectEnd)
      case .tls: distance(metrics.tlsStart, metrics.tlsEnd)
      case .firstByte: distance(metrics.requestStart, metrics.responseStart)
      case .body: distance(metrics.responseStart, metrics.responseEnd)
      }
    }

    private func distance(_ start: Instant?, _ end: Instant?) -> Duration? {
      guard let start, let end else { return nil }
      return end - start
    }
  }
#endif
