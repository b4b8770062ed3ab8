// Measurements: adds up the samples of a test. Pure, and in constant memory per second of the test.

#if Bench
  internal import LupineEngine

  /// The sums and histograms of a test: for all arrivals, for each scenario, and for each second.
  struct Measurements: Sendable {
    /// The numbers of one scenario, or of all.
    struct Totals: Sendable {
      var completed = 0
      var errors: [String: Int] = [:]
      /// The description of the first error of each kind, if it is one of the engine.
      var explanations: [String: String] = [:]
      var statuses: [Int: Int] = [:]
      var receivedBytes: UInt64 = 0
      /// From when requests were due until they were done.
      var sinceDue = LatencyHistogram()
      /// From when requests were sent until they were done.
      var sinceSent = LatencyHistogram()
      /// The number of latencies that end with an answer. The others end with an error, such as that of a time limit.
      var answeredCount = 0

      var errorCount: Int { errors.values.reduce(0, +) }

      mutating func noteLatency(due: Instant, sent: Instant, end: Instant, isAnswered: Bool) {
        if isAnswered { answeredCount += 1 }
        sinceDue.record(from: due, to: end)
        sinceSent.record(from: sent, to: end)
      }

      mutating func noteEnd(_ sample: Sample) {
        completed += 1
        if let kind = sample.errorKind { errors[kind, default: 0] += 1 }
        switch sample.result {
        case .success(let outcome):
          if let status = outcome.status { statuses[status, default: 0] += 1 }
          receivedBytes += outcome.receivedBytes
        case .failure(let failure):
          if let error = failure.error, explanations[failure.kind] == nil {
            explanations[failure.kind] = error.description
          }
        }
      }
    }

    /// How late requests count as sent late: 5 ms. The system's timers and scheduler are a hundred times more accurate on an idle
    /// machine, and latencies of interest are rarely shorter.
    static let lateness = Duration.milliseconds(5)

    private(set) var all = Totals()
    /// The numbers of each scenario if there are several. Those of a single one are `all`, so that they aren't counted twice.
    private var parts: [Totals]
    private(set) var phases: [RequestPhase: LatencyHistogram] = [:]
    /// How long after it was due each request was sent.
    private(set) var delays = LatencyHistogram()
    private(set) var lateCount = 0
    private(set) var dueCount = 0
    /// The number of requests that were due but never sent, because too many were in flight.
    private(set) var unsentCount = 0
    /// The number of connections that were opened for requests.
    private(set) var openedConnections = 0
    /// The events of streams, or nil if no scenario is a stream.
    private(set) var streams: StreamTotals?
    private(set) var seconds: [SecondRow] = []
    /// The latencies since due of the current second.
    private var second = LatencyHistogram()
    private var before = SecondRow.Counts()

    /// The most seconds for whose rows memory is reserved: a day, 29 MB, of which the system supplies only what is used. Without it, an
    /// array that grows would be copied, and the memory of a long test would rise in steps.
    private static let secondsReservedMax = 86_400

    init(scenarioCount: Int, hasStreams: Bool = false, duration: Duration = .zero) {
      // The first and the last second may be partial.
      seconds.reserveCapacity(Int(min(duration / .seconds(1), Double(Self.secondsReservedMax))) + 2)
      parts = scenarioCount > 1 ? (0..<scenarioCount).map { _ in Totals() } : []
      streams = hasStreams ? StreamTotals() : nil
    }

    /// The numbers of each scenario.
    var scenarios: [Totals] { parts.isEmpty ? [all] : parts }

    mutating func noteDue() { dueCount += 1 }

    mutating func noteUnsent() { unsentCount += 1 }

    mutating func add(_ sample: Sample) {
      noteSent(due: sample.due, sent: sample.sent)
      let isAnswered = if case .success = sample.result { true } else { false }
      noteLatency(sample.scenario, due: sample.due, sent: sample.sent, end: sample.end, isAnswered: isAnswered)
      noteEnd(sample)
    }

    /// Notes the latency of an arrival of a scenario.
    mutating func noteLatency(_ scenario: Int, due: Instant, sent: Instant, end: Instant, isAnswered: Bool) {
      all.noteLatency(due: due, sent: sent, end: end, isAnswered: isAnswered)
      if !parts.isEmpty { parts[scenario].noteLatency(due: due, sent: sent, end: end, isAnswered: isAnswered) }
      second.record(from: due, to: end)
    }

    mutating func add(_ event: StreamEvent, at now: Instant, isMeasured: Bool) {
      streams?.add(event, at: now, isMeasured: isMeasured)
    }

    /// Notes the end of a stream that was open.
    mutating func end(_ ending: StreamEnding, after duration: Duration, isMeasured: Bool) {
      streams?.end(ending, after: duration, isMeasured: isMeasured)
    }

    /// Notes how late an arrival was sent.
    mutating func noteSent(due: Instant, sent: Instant) {
      delays.record(from: due, to: sent)
      if due + Self.lateness < sent { lateCount += 1 }
    }

    /// Notes the result of an arrival, without its latency.
    mutating func noteEnd(_ sample: Sample) {
      all.noteEnd(sample)
      if !parts.isEmpty { parts[sample.scenario].noteEnd(sample) }
      let exchanges =
        switch sample.result {
        case .success(let outcome): outcome.metrics
        case .failure(let failure): failure.metrics
        }
      // Nil if the connection was reused or couldn't be opened.
      for metrics in exchanges where metrics.connectEnd != nil { openedConnections += 1 }
      guard case .success = sample.result else { return }
      for metrics in exchanges {
        for phase in RequestPhase.allCases {
          guard let (start, end) = phase.times(in: metrics) else { continue }
          phases[phase, default: LatencyHistogram()].record(from: start, to: end)
        }
      }
    }

    /// Ends a second of the test: appends its row, and returns the row with the latencies since due.
    mutating func endSecond(
      at time: Duration, length: Duration, target: Double, inFlight: Int, usage: ProcessUsage.Share?,
      watched: ProcessUsage.Share?
    ) -> (row: SecondRow, latencies: LatencyHistogram) {
      let openCount = streams?.openCount ?? 0
      let streamRow = (streams?.takeSecond()).map { StreamRow($0, openCount: openCount) }
      let now = SecondRow.Counts(
        due: dueCount, unsent: unsentCount, completed: all.completed, errors: all.errorCount,
        receivedBytes: all.receivedBytes)
      let row = SecondRow(
        time: time, length: length, target: target, inFlight: inFlight, counts: now - before,
        p50: second.quantile(0.5), p99: second.quantile(0.99), max: second.max, usage: usage, watched: watched,
        streams: streamRow)
      seconds.append(row)
      before = now
      defer { second.removeAll() }
      return (row, second)
    }

    /// Removes the row of the last second, for tests without an end, whose rows would fill the memory.
    mutating func removeLastSecond() { seconds.removeLast() }
  }

  /// The numbers of one second of a test.
  struct SecondRow: Sendable {
    struct Counts: Sendable {
      var due = 0
      var unsent = 0
      var completed = 0
      var errors = 0
      var receivedBytes: UInt64 = 0

      static func - (left: Counts, right: Counts) -> Counts {
        Counts(
          due: left.due - right.due, unsent: left.unsent - right.unsent, completed: left.completed - right.completed,
          errors: left.errors - right.errors, receivedBytes: left.receivedBytes - right.receivedBytes)
      }
    }

    /// The end of the second, from the start of the measurement.
    let time: Duration
    let length: Duration
    /// The planned rate at this time in requests per second. 0 for a closed loop.
    let target: Double
    let inFlight: Int
    let counts: Counts
    let p50: Duration
    let p99: Duration
    let max: Duration
    /// The generator's use of the processor and of memory, and that of a watched process.
    let usage: ProcessUsage.Share?
    let watched: ProcessUsage.Share?
    /// The streams, or nil if no scenario is a stream.
    let streams: StreamRow?

    /// Completed requests per second.
    var rate: Double { length > .zero ? Double(counts.completed) / (length / .seconds(1)) : 0 }
    /// Events of streams per second.
    var eventRate: Double { length > .zero ? Double(streams?.eventCount ?? 0) / (length / .seconds(1)) : 0 }
  }
#endif
