// LoadTest: the public entry point of the load generator.

#if Bench
  public import LupineEngine

  /// A load test: sends requests as its plan says, and measures their latencies.
  ///
  /// One thread sends the requests of an open loop; the engine's loops and Swift's thread pool do the rest. The memory of a test is
  /// constant, except for about 300 bytes for each second, and what the scenarios use.
  public struct LoadTest: Sendable {
    /// How many requests are sent, and when.
    public var plan: LoadPlan
    /// The scenarios, with their shares of all arrivals. At least one.
    public var scenarios: [Scenario]
    /// The number of a local process whose processor time and memory the report shows for each second, or nil (the default).
    public var watchedProcess: Int32?
    /// The number of connections that were opened for the test before it, such as by `Engine.prewarm`. The report counts them, too. 0
    /// by default.
    public var connectionsOpenedInAdvance = 0
    /// Called after each second with its latencies, in order, on the thread that sends. It must return within milliseconds. Does
    /// nothing by default.
    public var onSecond: @Sendable (LoadProgress) -> Void = { _ in }

    /// Creates a load test.
    public init(_ plan: LoadPlan, _ scenarios: [Scenario]) {
      precondition(!scenarios.isEmpty, "a load test needs a scenario")
      (self.plan, self.scenarios) = (plan, scenarios)
    }

    /// Runs the test and returns its report, after the last response or the plan's `drainLimit`. If the task is cancelled, no more
    /// requests are sent, and after at most a second, the report covers those that were.
    ///
    /// - Throws: `SystemError` if the system has no threads left.
    public func run() async throws(SystemError) -> LoadReport {
      let run = LoadRun(self)
      return try await SendingThread.run({ run.run() }, onCancel: { run.stop() })
    }
  }

  /// The state of a running load test after one more second.
  public struct LoadProgress: Sendable {
    /// The time since the start of the measurement.
    public let time: Duration
    /// The planned duration of the measurement.
    public let duration: Duration
    /// The planned rate in requests per second. 0 for a closed loop.
    public let target: Double
    /// Completed requests per second, in the last second.
    public let rate: Double
    /// The number of requests in flight.
    public let inFlight: Int
    /// The number of requests that have ended since the start of the measurement.
    public let completed: Int
    /// The number of errors since the start of the measurement.
    public let errors: Int
    /// The number of requests that were due but not sent since the start of the measurement.
    public let unsent: Int
    /// The streams, or nil if no scenario is a stream.
    public let streams: Streams?
    /// The length of the last second.
    let length: Duration
    let latencies: LatencyHistogram

    /// Creates the state after a second with this row.
    init(_ row: SecondRow, _ latencies: LatencyHistogram, of measurements: Measurements, duration: Duration) {
      (time, length, target) = (row.time, row.length, row.target)
      (rate, inFlight, streams) = (row.rate, row.inFlight, Streams(row))
      (completed, errors) = (measurements.all.completed, measurements.all.errorCount)
      (unsent, self.duration, self.latencies) = (measurements.unsentCount, duration, latencies)
    }

    /// Returns the latency since due that a share of the last second's requests didn't exceed, such as 0.99.
    public func quantile(_ share: Double) -> Duration { latencies.quantile(share) }

    /// The state of the streams after one more second.
    public struct Streams: Sendable {
      /// The number of open streams.
      public let openCount: Int
      /// Events, lines or received messages per second, in the last second.
      public let eventRate: Double
      /// The gap between events that 99 % of the last second's gaps didn't exceed, or nil if there were none.
      public let gapP99: Duration?
      /// The latency since due that 99 % of the last second's echoes didn't exceed, or nil if there were none.
      public let echoP99: Duration?

      init?(_ row: SecondRow) {
        guard let streams = row.streams else { return nil }
        (openCount, eventRate) = (streams.openCount, row.eventRate)
        (gapP99, echoP99) = (streams.gapP99, streams.echoP99)
      }
    }
  }
#endif
