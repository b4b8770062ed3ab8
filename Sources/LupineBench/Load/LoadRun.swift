// LoadRun: one run of a load test: the thread that sends, and the results that arrive on other threads.

#if Bench
  internal import LupineEngine
  internal import Synchronization

  final class LoadRun: Sendable {
    fileprivate struct State {
      var measurements: Measurements
      var inFlight = 0
      /// The number of arrivals, including those of the warm-up.
      var arrivals = 0
      var rotation: ScenarioRotation
      /// The time after which arrivals are measured, and the time after which none follow.
      var measuredFrom = Instant(nanoseconds: 0)
      var end = Instant(nanoseconds: 0)
      var isStopped = false
      /// Whether the report has been made, so that later results are ignored.
      var isOver = false
    }

    private let test: LoadTest
    private let state: Mutex<State>

    init(_ test: LoadTest) {
      self.test = test
      let rotation = ScenarioRotation(weights: test.scenarios.map(\.weight))
      state = Mutex(State(measurements: Measurements(scenarioCount: test.scenarios.count), rotation: rotation))
    }

    /// Ends the load: no more requests are sent.
    func stop() { state.withLock { $0.isStopped = true } }

    /// Sends all requests, waits for their results, and returns the report. Blocks the calling thread meanwhile.
    func run() -> LoadReport {
      let start = Instant.now
      let measuredFrom = start + test.plan.warmUp
      let end = start + test.plan.duration
      state.withLock { state in
        state.measuredFrom = measuredFrom
        state.end = end
      }
      var clock = SecondClock(from: measuredFrom, watching: test.watchedProcess)
      let startOfUse = ProcessUsage.ofGenerator(now: start)
      switch test.plan.loop {
      case .open(let stages, let spacing): send(ArrivalSchedule(stages, spacing: spacing), from: start, &clock)
      case .closed(let count, _):
        for _ in 0..<count { launchNext(due: .now) }
        wait(until: end, &clock) { $0.isStopped }
      }
      let sentAll = Instant.now
      wait(until: sentAll + test.plan.drainLimit, &clock) { $0.inFlight == 0 }
      return report(start, endOfLoad: min(sentAll, max(end, start)), startOfUse, &clock)
    }

    private func send(_ schedule: ArrivalSchedule, from start: Instant, _ clock: inout SecondClock) {
      var rest = schedule
      while let offset = rest.next() {
        let due = start + offset
        while true {
          let now = Instant.now
          if clock.isDue(now) { endSecond(now, target: schedule.rate(at: now - start), &clock) }
          if now >= due { break }
          Thread.sleep(until: min(due, clock.next))
        }
        guard launchNext(due: due) else { return }
      }
    }

    private func wait(until limit: Instant, _ clock: inout SecondClock, for isDone: (State) -> Bool) {
      while !state.withLock({ isDone($0) }) {
        let now = Instant.now
        if clock.isDue(now) { endSecond(now, target: 0, &clock) }
        if now >= limit { return }
        // The results come from other threads, which shouldn't have to wake this one for each of them.
        Thread.sleep(until: min(limit, clock.next, now + Self.checkInterval))
      }
    }

    /// The interval at which the sending thread checks whether all results have arrived: 1 ms.
    private static let checkInterval = Duration.milliseconds(1)

    // MARK: Arrivals

    fileprivate enum Arrival {
      case send(SentRequest)
      case skip
      case end
    }

    fileprivate struct SentRequest {
      /// The index of its scenario.
      let scenario: Int
      /// The number of arrivals before.
      let number: Int
      let due: Instant
      /// When the generator sent it.
      let time: Instant
      let isMeasured: Bool
    }

    /// Sends the next request, or counts it as not sent if too many are in flight. Returns false if the load is over.
    @discardableResult
    private func launchNext(due: Instant) -> Bool {
      let now = Instant.now
      switch state.withLock({ $0.arrive(due, now, test.plan) }) {
      case .end: return false
      case .skip: return true
      case .send(let request):
        launch(request)
        return true
      }
    }

    private func launch(_ request: SentRequest) {
      test.scenarios[request.scenario].start(request.number) { self.finish(request, $0, at: $1) }
    }

    private func finish(
      _ request: SentRequest, _ result: Result<Scenario.Outcome, Sample.Failure>, at end: Instant
    ) {
      state.withLock { state in
        guard !state.isOver else { return }
        state.inFlight -= 1
        guard request.isMeasured else { return }
        state.measurements.add(
          Sample(scenario: request.scenario, due: request.due, sent: request.time, end: end, result: result))
      }
      if case .closed = test.plan.loop { launchNext(due: .now) }
    }

    // MARK: Seconds and the end

    private func endSecond(_ now: Instant, target: Double, _ clock: inout SecondClock) {
      let (own, watched) = clock.read(now)
      let progress = state.withLock { state in
        let time = now - state.measuredFrom
        let latencies = state.measurements.endSecond(
          at: time, length: clock.length(now), target: target, inFlight: state.inFlight, usage: own, watched: watched)
        return LoadProgress(
          time: time, duration: state.end - state.measuredFrom, target: target,
          rate: state.measurements.seconds.last?.rate ?? 0, inFlight: state.inFlight,
          completed: state.measurements.all.completed, errors: state.measurements.all.errorCount,
          unsent: state.measurements.unsentCount, length: clock.length(now), latencies: latencies)
      }
      clock.advance(now)
      test.onSecond(progress)
    }

    private func report(
      _ start: Instant, endOfLoad: Instant, _ startOfUse: ProcessUsage?, _ clock: inout SecondClock
    ) -> LoadReport {
      let now = Instant.now
      endSecond(now, target: state.withLock { $0.measurements.seconds.last?.target ?? 0 }, &clock)
      let use = startOfUse.flatMap { earlier in ProcessUsage.ofGenerator(now: now)?.share(since: earlier) }
      return state.withLock { state in
        state.isOver = true
        return LoadReport(
          test.plan, scenarioNames: test.scenarios.map(\.name), state.measurements, unfinishedCount: state.inFlight,
          duration: endOfLoad - state.measuredFrom, use: use)
      }
    }
  }

  extension LoadRun.State {
    fileprivate mutating func arrive(_ due: Instant, _ now: Instant, _ plan: LoadPlan) -> LoadRun.Arrival {
      guard !isStopped, !isOver else { return .end }
      if case .closed = plan.loop, due >= end { return .end }
      let isMeasured = due >= measuredFrom
      if isMeasured {
        if let max = plan.requestsMax, measurements.dueCount >= max {
          isStopped = true
          return .end
        }
        measurements.noteDue()
      }
      if case .open = plan.loop, inFlight >= plan.inFlightMax {
        if isMeasured { measurements.noteUnsent() }
        return .skip
      }
      if isMeasured { measurements.noteSent(now - due) }
      inFlight += 1
      defer { arrivals += 1 }
      return .send(
        LoadRun.SentRequest(
          scenario: rotation.next(), number: arrivals, due: due, time: now, isMeasured: isMeasured))
    }
  }

  /// The ends of a test's seconds, and the use of the processor in each.
  private struct SecondClock {
    private(set) var next: Instant
    private var previous: Instant
    private let watched: Int32?
    private var ownUsage: ProcessUsage?
    private var watchedUsage: ProcessUsage?

    init(from start: Instant, watching watched: Int32?) {
      (previous, next, self.watched) = (start, start + .seconds(1), watched)
      ownUsage = ProcessUsage.ofGenerator(now: .now)
      watchedUsage = watched.flatMap { ProcessUsage(of: $0, now: .now) }
    }

    func isDue(_ now: Instant) -> Bool { now >= next }

    func length(_ now: Instant) -> Duration { now - previous }

    /// Returns the use since the previous second of this process and of the watched one.
    mutating func read(_ now: Instant) -> (own: ProcessUsage.Share?, watched: ProcessUsage.Share?) {
      let (own, other) = (ProcessUsage.ofGenerator(now: now), watched.flatMap { ProcessUsage(of: $0, now: now) })
      defer { (ownUsage, watchedUsage) = (own, other) }
      return (
        ownUsage.flatMap { earlier in own?.share(since: earlier) },
        watchedUsage.flatMap { earlier in other?.share(since: earlier) }
      )
    }

    mutating func advance(_ now: Instant) {
      previous = now
      while next <= now { next = next + .seconds(1) }
    }
  }
#endif
