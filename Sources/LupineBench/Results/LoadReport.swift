// LoadReport: the results of a load test.

#if Bench
  /// The results of a load test.
  ///
  /// Latencies come in two kinds. Since due: from the time at which the plan wanted the request to be sent until its response was
  /// complete. This is what a user feels, and it contains the pauses of the server and of the generator. Since sent: from the time at
  /// which the engine's loop took the request. Without a closed loop's coordinated omission, both are almost the same.
  public struct LoadReport: Sendable {
    /// The quantiles that the reports show.
    static let quantiles = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999]

    let plan: LoadPlan
    let scenarioNames: [String]
    let measurements: Measurements
    /// The duration of the measurement without the warm-up and without the wait for the last responses.
    public let duration: Duration
    /// Completed requests per second. If the time ended the load, only the requests that ended in this time count. If the number of
    /// requests ended it, all of them count, until the last one ended.
    public let rate: Double
    /// The time at which the measurement began, in seconds since 1970.
    let startTime: Double
    /// The duration in which events of streams arrived: at least `duration`, and until the last event.
    let streamDuration: Duration
    /// The generator's use of the processor during the test: 1 is one core in full use. Nil if it can't be read.
    let use: ProcessUsage.Share?
    /// The formats of the scenarios that are streams.
    let streamFormats: [StreamFormat]
    private let unfinishedCount: Int
    /// The number of connections that were opened before the test.
    let connectionsOpenedInAdvance: Int

    init(
      _ plan: LoadPlan, scenarioNames: [String], _ measurements: Measurements, unfinishedCount: Int,
      connectionsOpenedInAdvance: Int = 0, duration: Duration, rate: Double? = nil, streamDuration: Duration? = nil,
      startTime: Double = 0, use: ProcessUsage.Share?, streamFormats: [StreamFormat] = []
    ) {
      self.streamFormats = streamFormats
      self.connectionsOpenedInAdvance = connectionsOpenedInAdvance
      self.startTime = startTime
      self.streamDuration = streamDuration ?? duration
      self.rate = rate ?? (duration > .zero ? Double(measurements.all.completed) / duration.seconds : 0)
      (self.plan, self.scenarioNames, self.measurements) = (plan, scenarioNames, measurements)
      (self.unfinishedCount, self.duration, self.use) = (unfinishedCount, duration, use)
    }

    /// The number of requests that were due. Streams count as requests, and messages don't.
    public var dueCount: Int { measurements.dueCount }
    /// The number of requests that were due but not sent, because `inFlightMax` requests were in flight. The latencies don't contain
    /// them.
    public var unsentCount: Int { measurements.unsentCount }
    /// The number of requests that have ended, with a response or an error.
    public var completedCount: Int { measurements.all.completed }
    /// The errors by kind: the code of an `EngineError`, the type of another error, `status 503` for responses with a status code of
    /// 400 or more, and `unfinished` for requests without a response when the test ended.
    public var errors: [String: Int] {
      var errors = measurements.all.errors
      if unfinishedCount > 0 { errors["unfinished"] = unfinishedCount }
      return errors
    }
    /// The number of errors divided by the number of requests sent, from 0 to 1.
    public var errorShare: Double {
      let sent = dueCount - unsentCount
      return sent == 0 ? 0 : Double(errors.values.reduce(0, +)) / Double(sent)
    }
    /// The number of connections that measured requests have opened, or that were opened for them before the test.
    public var openedConnectionCount: Int { measurements.openedConnections + connectionsOpenedInAdvance }
    /// The number of requests that the generator sent more than 5 ms after they were due. Of a request without an end, only the time
    /// is known at which the generator passed it to the engine.
    public var lateCount: Int { measurements.lateCount }
    /// The share of the requests sent that were sent late, from 0 to 1. If the test has WebSockets, the share of their messages that
    /// were sent late, if it is larger.
    public var lateShare: Double {
      let messages = measurements.streams.map { ($0.lateMessageCount, $0.messageCount) } ?? (0, 0)
      let shares = [(lateCount, dueCount - unsentCount), messages].map { $1 == 0 ? 0 : Double($0) / Double($1) }
      return max(shares[0], shares[1])
    }

    /// Events, lines or received messages of streams per second.
    public var eventRate: Double {
      let seconds = streamDuration.seconds
      return seconds > 0 ? Double(measurements.streams?.eventCount ?? 0) / seconds : 0
    }
    /// The number of open streams whose connection was lost in the middle, or whose server broke the protocol.
    public var cutCount: Int { measurements.streams?.count(.cut) ?? 0 }
    /// The number of streams that were opened.
    public var openedStreamCount: Int { measurements.streams?.openedCount ?? 0 }

    /// Returns the gap between two events of a stream that a share of all gaps didn't exceed, such as 0.99.
    public func gapQuantile(_ share: Double) -> Duration { measurements.streams?.gaps.quantile(share) ?? .zero }

    /// Returns the latency since due that a share of all echoes didn't exceed, such as 0.99.
    public func echoQuantile(_ share: Double) -> Duration {
      measurements.streams?.echoesSinceDue.quantile(share) ?? .zero
    }

    /// Returns the latency since due that a share of all requests didn't exceed, such as 0.99.
    public func quantile(_ share: Double) -> Duration { measurements.all.sinceDue.quantile(share) }

    /// Returns the latency since sent that a share of all requests didn't exceed, such as 0.99.
    public func quantileSinceSent(_ share: Double) -> Duration { measurements.all.sinceSent.quantile(share) }

    /// The share of late requests above which a test is invalid: 1 %. Then the 99th percentile may be the generator's own delay.
    public static let lateShareMax = 0.01

    /// The use of the processor below which the generator itself isn't the bottleneck: half a core. The thread that is the bottleneck
    /// uses a core in full.
    private static let busyCoresMin = 0.5

    /// Why the latencies don't describe the server, or nil if they do: the generator sent late, because it was the bottleneck, or
    /// because other programs used the processors.
    public var invalidity: String? {
      guard lateShare > Self.lateShareMax else { return nil }
      let finding =
        "the generator sent \((lateShare * 100).text(1)) % of the requests or messages more than 5 ms late. "
      guard let cores = busiestCores, cores < Self.busyCoresMin else {
        return finding + "Reduce the rate, use more cores, or run the generator on another machine"
      }
      return finding + "It used at most \((cores * 100).text(0)) % of a core, so other programs used the processors. "
        + "Stop them, or run the generator on another machine"
    }

    /// The generator's highest use of the processor in a second. Nil if the load was shorter than a second: the wait for the last
    /// responses, in which the generator is idle, would reduce the figure.
    private var busiestCores: Double? {
      duration < .seconds(1) ? nil : wholeSeconds.compactMap { $0.usage?.cores }.max() ?? use?.cores
    }

    /// The rows of whole seconds. The last one may be a few milliseconds long, so that its rates would be arbitrary.
    var wholeSeconds: [SecondRow] { measurements.seconds.filter { $0.length > .milliseconds(500) } }

    /// The watched process's use of the processor while it ran, and its memory at the end. Nil if none was watched.
    var watchedUse: ProcessUsage.Share? {
      let rows = measurements.seconds.compactMap { row in row.watched.map { (length: row.length.seconds, use: $0) } }
      guard let last = rows.last else { return nil }
      let (time, spent) = rows.reduce((0, 0)) { ($0.0 + $1.length, $0.1 + $1.length * $1.use.cores) }
      return ProcessUsage.Share(cores: time > 0 ? spent / time : 0, residentBytes: last.use.residentBytes)
    }
  }
#endif
