// Scenario: what a load test does for each arrival.

#if Bench
  public import LupineEngine

  /// The work of a load test each time a request is due: one request of the engine, a stream, or any asynchronous code.
  public struct Scenario: Sendable {
    /// The result of running a scenario once.
    public struct Outcome: Sendable {
      /// The status code of the response, or nil if the scenario has none. A status code of 400 or more counts as an error.
      public var status: Int?
      /// The number of body bytes received.
      public var receivedBytes: UInt64 = 0
      /// The engine's measurements of each request that the scenario sent. They supply the durations of phases.
      public var metrics: [ExchangeMetrics] = []

      /// Creates the outcome of a scenario that reports nothing but its end.
      public init() {}

      /// Creates the outcome of a scenario that received one response.
      public init(status: Int, receivedBytes: UInt64, metrics: [ExchangeMetrics] = []) {
        (self.status, self.receivedBytes, self.metrics) = (status, receivedBytes, metrics)
      }
    }

    enum Work: Sendable {
      /// The requests to send in turn.
      case requests(@Sendable (_ number: Int) -> EngineRequest, Engine)
      case code(@Sendable (_ number: Int) async throws -> Outcome)
      case stream(StreamSetting)
    }

    /// The name under which the report lists the scenario.
    public let name: String
    /// The scenario's share of all arrivals, relative to the other scenarios' weights.
    public let weight: Int
    let work: Work

    /// Creates a scenario that sends one request of the engine. This costs the least.
    ///
    /// - Parameters:
    ///   - name: The name in the report.
    ///   - weight: The share of arrivals relative to other scenarios, at least 1. 1 by default.
    ///   - engine: The engine that sends the requests. Its pool must allow as many connections as requests may be in flight.
    ///   - request: Returns the request to send. Called with the number of the scenario's arrival, starting at 0, on the thread
    ///     that sends.
    public init(
      _ name: String, weight: Int = 1, on engine: Engine, request: @escaping @Sendable (_ number: Int) -> EngineRequest
    ) {
      self.init(name, weight, .requests(request, engine))
    }

    /// Creates a scenario that runs code, such as several requests of a session. Its latency is the duration of the whole call.
    ///
    /// - Parameters:
    ///   - name: The name in the report.
    ///   - weight: The share of arrivals relative to other scenarios, at least 1. 1 by default.
    ///   - run: The code. Called with the number of the scenario's arrival, starting at 0, in a separate task. An error that it
    ///     throws is counted by its kind: the code of an `EngineError`, or else the error's type.
    public init(
      _ name: String, weight: Int = 1, run: @escaping @Sendable (_ number: Int) async throws -> Outcome
    ) {
      self.init(name, weight, .code(run))
    }

    /// Creates a scenario that opens a stream, and measures its events, lines or echoes. The latency that the report shows for an
    /// arrival is the time to the first event or line, or until a WebSocket is open.
    ///
    /// - Parameters:
    ///   - name: The name in the report.
    ///   - weight: The share of arrivals relative to other scenarios, at least 1. 1 by default.
    ///   - format: What the stream consists of.
    ///   - hold: The time after which the stream is closed, more than zero, or nil (the default) if the server ends it. Streams with
    ///     such a time, and those of echoes, are also closed at the end of the load.
    ///   - engine: The engine that sends the requests. Its pool must allow as many connections as streams may be open.
    ///   - request: Returns the request that opens the stream. Called with the number of the scenario's arrival, starting at 0.
    public init(
      _ name: String, weight: Int = 1, streaming format: StreamFormat, holding hold: Duration? = nil, on engine: Engine,
      request: @escaping @Sendable (_ number: Int) -> EngineRequest
    ) {
      precondition(hold.map { $0 > .zero } ?? true, "a stream is held for more than no time")
      if case .echoes(_, let every) = format {
        precondition(every >= StreamFormat.messageIntervalMin, "messages are at least 1 ms apart")
      }
      self.init(name, weight, .stream(StreamSetting(format: format, hold: hold, request: request, engine: engine)))
    }

    private init(_ name: String, _ weight: Int, _ work: Work) {
      precondition(weight >= 1, "a scenario's weight is at least 1")
      (self.name, self.weight, self.work) = (name, weight, work)
    }
  }

  extension Scenario {
    /// The setting of the scenario's streams, or nil if it has none.
    var streamSetting: StreamSetting? {
      if case .stream(let setting) = work { setting } else { nil }
    }

    var isStream: Bool { streamSetting != nil }

    /// The times of one run of a scenario. `start` is when the engine's loop took its request, or nil for code.
    typealias Times = (start: Instant?, end: Instant)
    typealias Completion = @Sendable (Result<Outcome, Sample.Failure>, Times) -> Void

    /// Starts the scenario, which isn't a stream, for one arrival. `done` is called once with the result, on any thread.
    func start(_ number: Int, done: @escaping Completion) {
      switch work {
      case .stream: preconditionFailure("a stream has more results than one")
      case .requests(let request, let engine): engine.submit(request(number), to: OutcomeSink(done))
      case .code(let run):
        Task {
          let result: Result<Outcome, Sample.Failure>
          do { result = .success(try await run(number)) } catch { result = .failure(Sample.Failure(error)) }
          done(result, (nil, .now))
        }
      }
    }
  }

  /// Receives a response, of which only the status and the measurements are kept.
  ///
  /// Unchecked, because only the thread of the exchange's loop accesses the status.
  private final class OutcomeSink: ResponseSink, @unchecked Sendable {
    private var status: Int?
    private let done: Scenario.Completion

    init(_ done: @escaping Scenario.Completion) { self.done = done }

    func receive(head: ResponseHead) -> BodyDisposition {
      status = head.status
      return .deliver
    }

    func receive(body bytes: borrowing Span<UInt8>) {}

    func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
      let times = (metrics.start as Instant?, metrics.end ?? .now)
      switch result {
      case .success:
        done(
          .success(Scenario.Outcome(status: status ?? 0, receivedBytes: metrics.decodedBodyBytes, metrics: [metrics])),
          times)
      case .failure(let error): done(.failure(Sample.Failure(error, metrics: [metrics])), times)
      }
    }
  }

  /// Assigns arrivals to scenarios by their weights, evenly interleaved: of weights 3 and 1, each four arrivals contain the second
  /// scenario once.
  struct ScenarioRotation {
    private let weights: [Int]
    private let total: Int
    private var credits: [Int]
    /// The number of arrivals so far of each scenario.
    private var counts: [Int]

    init(weights: [Int]) {
      self.weights = weights
      total = weights.reduce(0, +)
      credits = weights.map { _ in 0 }
      counts = credits
    }

    /// Returns the index of the next arrival's scenario, which is the one with the largest deficit, and the number of its arrivals
    /// before. Scenarios that count all arrivals would use only some of their requests, because the rotation is periodic.
    mutating func next() -> (scenario: Int, number: Int) {
      let chosen = weights.count == 1 ? 0 : chooseNext()
      defer { counts[chosen] += 1 }
      return (chosen, counts[chosen])
    }

    private mutating func chooseNext() -> Int {
      var chosen = 0
      for index in weights.indices {
        credits[index] += weights[index]
        if credits[index] > credits[chosen] { chosen = index }
      }
      credits[chosen] -= total
      return chosen
    }
  }
#endif
