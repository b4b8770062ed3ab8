// LoadPlan: how many requests a load test sends, and when.

#if Bench
  /// The load of a test: how many requests are sent, and when.
  public struct LoadPlan: Sendable, Hashable {
    /// The rule by which requests are sent.
    public enum Loop: Sendable, Hashable {
      /// Requests are sent at the times that the stages give, whether or not earlier responses have arrived: an open loop. A slow
      /// server receives as many requests as a fast one, so that its pauses become visible in the latencies.
      case open([RateStage], Spacing)
      /// A fixed number of requests is always in flight: a closed loop. Each response is followed by the next request. A slow server
      /// receives fewer requests, so the latencies hide its pauses.
      case closed(inFlight: Int, Duration)
    }

    /// The limit on requests in flight unless the caller sets another: 10,000. Each needs a separate connection while it waits.
    public static let inFlightMaxDefault = 10_000

    /// The rule by which requests are sent.
    public var loop: Loop
    /// The time from the start during which requests are sent, but not measured. Zero by default.
    public var warmUp = Duration.zero
    /// The number of measured requests after which the test ends, or nil (the default) for no limit.
    public var requestsMax: Int?
    /// The number of requests in flight at which an open loop sends no more. Requests that are due then are counted as not sent.
    /// `inFlightMaxDefault` by default.
    public var inFlightMax = Self.inFlightMaxDefault
    /// The time for which the test waits for responses after the end of the load (of streams, at least after its planned end).
    /// Requests without a response then count as errors of the kind `unfinished`, and the test ignores their later results. Streams
    /// that are still open are closed, and count as open at the end. 30 s by default.
    public var drainLimit = Duration.seconds(30)

    /// Creates a plan with the defaults above.
    public init(_ loop: Loop) { self.loop = loop }

    /// Creates a plan with a constant rate in requests per second and even spacing.
    public init(rate: Double, for duration: Duration) {
      self.init(.open([RateStage(duration: duration, rate: rate)], .even))
    }

    /// Whether requests are sent whether or not earlier responses have arrived.
    var isOpen: Bool { if case .open = loop { true } else { false } }

    /// The planned duration, including the warm-up.
    public var duration: Duration {
      switch loop {
      case .open(let stages, _): stages.reduce(.zero) { $0 + $1.duration }
      case .closed(_, let duration): duration
      }
    }
  }
#endif
