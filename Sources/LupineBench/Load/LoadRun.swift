// LoadRun: one run of a load test: the thread that sends, and the results that arrive on other threads.

#if Bench
  internal import LupineEngine
  @_spi(Loop) internal import LupineReactor
  internal import Synchronization

  final class LoadRun: Sendable {
    fileprivate struct State {
      var measurements: Measurements
      var inFlight = 0
      /// The number of requests in flight without those of the warm-up.
      var measuredInFlight = 0
      /// The requests in flight that the generator passed late to the engine or to the scenario's code, by the numbers of their arrivals.
      /// If they don't end, they are late nevertheless.
      var lateInFlight: [Int: SentRequest] = [:]
      /// The number of arrivals, including those of the warm-up.
      var arrivals = 0
      var rotation: ScenarioRotation
      /// The time after which arrivals are measured, and the time after which none follow.
      var measuredFrom = Instant(nanoseconds: 0)
      var end = Instant(nanoseconds: 0)
      var isStopped = false
      /// The time at which the wait for responses ends after a stop.
      var drainEnd = LoadRun.never
      /// Whether the number of requests has ended the load.
      var hasSentAll = false
      /// The number of measured requests that have ended before the end of the load.
      var endedInTime = 0
      /// When the last measured request has ended.
      var lastEnd = Instant(nanoseconds: 0)
      /// Whether the report has been made, so that later results are ignored.
      var isOver = false
      /// The streams in flight, by the numbers of their arrivals.
      var streams: [Int: LoadStream] = [:]
      /// The tasks of the sending thread for streams, with their times.
      var streamTasks = DeadlineQueue<StreamTask>()
      var hasEndedStreams = false
    }

    /// A task of the sending thread for the stream with this number.
    fileprivate enum StreamTask: Hashable {
      case sendMessage(Int)
      case end(Int)
    }

    private let test: LoadTest
    private let state: Mutex<State>
    /// The shortest time from when a task of a stream is set until it is due, or nil if there are no such tasks.
    private let streamPause: Duration?

    init(_ test: LoadTest) {
      self.test = test
      let rotation = ScenarioRotation(weights: test.scenarios.map(\.weight))
      let hasStreams = test.scenarios.contains(where: \.isStream)
      let measurements = Measurements(
        scenarioCount: test.scenarios.count, hasStreams: hasStreams, duration: test.plan.duration)
      state = Mutex(State(measurements: measurements, rotation: rotation))
      streamPause = test.scenarios.compactMap { $0.streamSetting?.taskPauseMin }.min()
    }

    /// The longest wait for responses after `stop`: 1 s, because a user waits for the report.
    private static let stoppedDrainLimit = Duration.seconds(1)

    /// Ends the load: no more requests are sent, and responses are awaited only for a short time.
    func stop() {
      state.withLock { state in
        let now = Instant.now
        state.isStopped = true
        state.end = min(state.end, now)
        state.drainEnd = min(state.drainEnd, now + Self.stoppedDrainLimit)
      }
    }

    /// Sends all requests, waits for their results, and returns the report. Blocks the calling thread meanwhile.
    func run() -> LoadReport {
      let start = Instant.now
      let measuredFrom = start + test.plan.warmUp
      let end = start + test.plan.duration
      state.withLock { state in
        state.measuredFrom = measuredFrom
        state.end = end
        state.lastEnd = measuredFrom
      }
      var clock = SecondClock(from: measuredFrom, watching: test.watchedProcess)
      let startOfUse = ProcessUsage.ofGenerator(now: start)
      switch test.plan.loop {
      case .open(let stages, let spacing):
        send(ArrivalSchedule(stages, spacing: spacing), from: start, &clock)
        // The time after the last request belongs to the load, too: ten requests at one per second take ten seconds, not nine.
        wait(until: end, target: stages.last?.rate ?? 0, &clock) { $0.isStopped }
      case .closed(let count, _):
        for _ in 0..<count { launchNext(due: .now) }
        wait(until: end, &clock) { $0.isStopped }
      }
      let sentAll = Instant.now
      // If the number of requests ended the load, the last streams may be held until its planned end.
      let lastEnd = streamPause == nil ? sentAll : max(sentAll, state.withLock { $0.end })
      wait(until: lastEnd + test.plan.drainLimit, &clock) { $0.inFlight == 0 || .now >= $0.drainEnd }
      return report(sentAll, startOfUse, &clock)
    }

    private func send(_ schedule: ArrivalSchedule, from start: Instant, _ clock: inout SecondClock) {
      var rest = schedule
      while let offset = rest.next() {
        let due = start + offset
        while true {
          let now = Instant.now
          if clock.isDue(now) { endSecond(now, target: schedule.rate(at: now - start), &clock) }
          runStreamTasks(now)
          if now >= due { break }
          if state.withLock({ $0.isStopped }) { return }
          let wake = min(max(due, now + Self.pauseMin), now + Self.stopInterval)
          Thread.sleep(until: min(wake, clock.next, nextStreamTask(now)))
        }
        guard launchNext(due: due) else { return }
      }
    }

    private func wait(
      until limit: Instant, target: Double = 0, _ clock: inout SecondClock, for isDone: (State) -> Bool
    ) {
      while !state.withLock({ isDone($0) }) {
        let now = Instant.now
        if clock.isDue(now) { endSecond(now, target: target, &clock) }
        runStreamTasks(now)
        if now >= limit { return }
        // The results come from other threads, which shouldn't have to wake this one for each of them.
        Thread.sleep(until: min(limit, clock.next, nextStreamTask(now), now + Self.checkInterval))
      }
    }

    /// The shortest pause of the sending thread: 50 µs, the system's default timer slack. Above 20,000 requests per second, it sends
    /// several requests together, because waking two threads for each request costs more than the request.
    private static let pauseMin = Duration.microseconds(50)
    /// The interval at which the sending thread checks whether the load was stopped: 100 ms.
    private static let stopInterval = Duration.milliseconds(100)
    private static let never = Instant(nanoseconds: .max)
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
      /// The number of arrivals of the scenario before.
      let numberInScenario: Int
      let due: Instant
      /// When the generator passed it to the engine or to the scenario's code.
      let time: Instant
      let isMeasured: Bool

      var isLate: Bool { due + Measurements.lateness < time }
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
      let scenario = test.scenarios[request.scenario]
      guard let setting = scenario.streamSetting else {
        if request.isLate, request.isMeasured { state.withLock { $0.lateInFlight[request.number] = request } }
        return scenario.start(request.numberInScenario) { self.finish(request, $0, $1) }
      }
      let stream = LoadStream(
        setting,
        LoadStream.Observer(
          onEvent: { stream, event, time in self.receive(event, of: stream, request, at: time) },
          onAnswer: { time in
            guard request.isMeasured else { return }
            self.state.withLock { state in
              guard !state.isOver else { return }
              state.measurements.noteLatency(
                request.scenario, due: request.due, sent: request.time, end: time, isAnswered: true)
            }
          },
          onEnd: { self.finish(request, $0) }))
      state.withLock { state in
        if request.isMeasured { state.measurements.noteSent(due: request.due, sent: request.time) }
        state.streams[request.number] = stream
        if let hold = setting.hold { state.streamTasks.set(.end(request.number), to: request.time + hold) }
      }
      stream.start(request.numberInScenario)
    }

    private func finish(
      _ request: SentRequest, _ result: Result<Scenario.Outcome, Sample.Failure>, _ times: Scenario.Times
    ) {
      state.withLock { state in
        guard !state.isOver else { return }
        state.inFlight -= 1
        guard request.isMeasured else { return }
        state.measuredInFlight -= 1
        if request.isLate { state.lateInFlight[request.number] = nil }
        state.noteEnd(at: times.end)
        state.measurements.add(
          Sample(
            scenario: request.scenario, due: request.due, passed: request.time, times, isOpenLoop: test.plan.isOpen,
            result: result))
      }
      if case .closed = test.plan.loop { launchNext(due: .now) }
    }

    // MARK: Streams

    private func receive(_ event: StreamEvent, of stream: LoadStream, _ request: SentRequest, at time: Instant) {
      state.withLock { state in
        guard !state.isOver else { return }
        let isMeasured =
          switch event {
          case .opened: request.isMeasured
          // The echo of a message of the warm-up isn't measured, like its message.
          case .received(let echo?): time - state.measuredFrom > echo.sinceSent
          case .events, .message, .unsentMessage, .received: time >= state.measuredFrom
          }
        state.measurements.add(event, at: time, isMeasured: isMeasured)
        // The stream sends the first message itself, when it is open.
        if case .opened = event, case .echoes(_, let every) = stream.setting.format {
          state.streamTasks.set(.sendMessage(request.number), to: time + every)
        }
      }
    }

    private func finish(_ request: SentRequest, _ end: LoadStream.End) {
      state.withLock { state in
        state.streams[request.number] = nil
        state.streamTasks.remove(.end(request.number))
        state.streamTasks.remove(.sendMessage(request.number))
        guard !state.isOver else { return }
        state.inFlight -= 1
        if let ending = end.ending {
          state.measurements.end(ending, after: end.time - request.due, isMeasured: request.isMeasured)
        }
        guard request.isMeasured else { return }
        state.measuredInFlight -= 1
        let sample = Sample(
          scenario: request.scenario, due: request.due, sent: request.time, end: end.time, result: end.result)
        // How late it was opened has been noted then. An arrival that failed before its first event has waited until then. A response
        // without an event has no such time.
        if !end.isAnswered, case .failure(let failure) = end.result, failure.error != nil {
          state.measurements.noteLatency(
            request.scenario, due: request.due, sent: request.time, end: end.time, isAnswered: false)
        }
        // The generator closes these streams itself, when the load is over.
        state.noteEnd(at: end.ending == .closed ? min(end.time, state.end) : end.time)
        state.measurements.noteEnd(sample)
      }
      if case .closed = test.plan.loop { launchNext(due: .now) }
    }

    /// Sends the messages that are due, and ends the streams whose time has passed.
    private func runStreamTasks(_ now: Instant) {
      guard streamPause != nil else { return }
      for stream in state.withLock({ $0.takeStreamsToEnd(now) }) { stream.end() }
      while let (task, stream, due) = state.withLock({ $0.takeStreamTask(now) }) {
        switch task {
        case .sendMessage: stream.sendMessage(due: due)
        case .end: stream.end()
        }
      }
    }

    /// The time of the next task of a stream. Another thread may set tasks after this call, but none that is due earlier.
    private func nextStreamTask(_ now: Instant) -> Instant {
      guard let streamPause else { return Self.never }
      let (next, end) = state.withLock { ($0.streamTasks.earliest, $0.hasEndedStreams ? Self.never : $0.end) }
      return min(next ?? Self.never, end, now + streamPause)
    }

    // MARK: Seconds and the end

    private func endSecond(_ now: Instant, target: Double, _ clock: inout SecondClock) {
      let (length, own, watched) = clock.end(now)
      let progress = state.withLock { state in
        let (row, latencies) = state.measurements.endSecond(
          at: now - state.measuredFrom, length: length, target: target, inFlight: state.inFlight,
          usage: own, watched: watched)
        return LoadProgress(row, latencies, of: state.measurements, duration: state.end - state.measuredFrom)
      }
      test.onSecond(progress)
    }

    private func report(
      _ sentAll: Instant, _ startOfUse: ProcessUsage?, _ clock: inout SecondClock
    ) -> LoadReport {
      let now = Instant.now
      let (target, measuredFrom) = state.withLock { ($0.measurements.seconds.last?.target ?? 0, $0.measuredFrom) }
      // An interruption may precede the measured part.
      if now > measuredFrom { endSecond(now, target: target, &clock) }
      let use = startOfUse.flatMap { earlier in ProcessUsage.ofGenerator(now: now)?.share(since: earlier) }
      let (report, streams) = state.withLock { state -> (LoadReport, [LoadStream]) in
        state.isOver = true
        for request in state.lateInFlight.values { state.measurements.noteSent(due: request.due, sent: request.time) }
        let endOfLoad = min(sentAll, state.end)
        let duration = max(.zero, endOfLoad - state.measuredFrom)
        let open = state.measurements.streams
        let report = LoadReport(
          test.plan, scenarioNames: test.scenarios.map(\.name), state.measurements,
          unfinishedCount: state.measuredInFlight - (open?.measuredOpenCount ?? 0),
          connectionsOpenedInAdvance: test.connectionsOpenedInAdvance, duration: duration,
          rate: state.rate(test.plan, endOfLoad: endOfLoad),
          streamDuration: open?.lastEvent.map { max($0 - state.measuredFrom, duration) } ?? duration,
          startTime: TimeOfDay.seconds - (now - state.measuredFrom).seconds, use: use,
          streamFormats: test.scenarios.compactMap { $0.streamSetting?.format })
        defer { state.streams = [:] }
        return (report, Array(state.streams.values))
      }
      for stream in streams { stream.cancel() }
      return report
    }
  }

  extension LoadRun.State {
    /// Notes when a measured request has ended.
    fileprivate mutating func noteEnd(at time: Instant) {
      lastEnd = max(lastEnd, time)
      if time <= end { endedInTime += 1 }
    }

    /// Returns the completed requests per second. Those that end after the load's time don't count, because a server that is too slow
    /// would otherwise seem to complete as many as it receives. If the number of requests ended the load, all of them count, and the
    /// time ends with the last one, or in an open loop when the next one would have been due.
    fileprivate func rate(_ plan: LoadPlan, endOfLoad: Instant) -> Double {
      let last = plan.isOpen ? max(lastEnd, endOfLoad) : lastEnd
      let seconds = ((hasSentAll ? last : endOfLoad) - measuredFrom).seconds
      return seconds > 0 ? Double(hasSentAll ? measurements.all.completed : endedInTime) / seconds : 0
    }

    /// Returns the streams that must be closed because the load is over. Returns them once.
    fileprivate mutating func takeStreamsToEnd(_ now: Instant) -> [LoadStream] {
      guard now >= end, !hasEndedStreams else { return [] }
      hasEndedStreams = true
      return streams.values.filter(\.setting.closesAtEnd)
    }

    /// Returns the next task of a stream that is due, with the time when it was. Sets the task that follows it.
    fileprivate mutating func takeStreamTask(
      _ now: Instant
    ) -> (task: LoadRun.StreamTask, stream: LoadStream, due: Instant)? {
      while let due = streamTasks.earliest, let task = streamTasks.popExpired(now: now) {
        switch task {
        case .end(let number):
          if let stream = streams[number] { return (task, stream, due) }
        case .sendMessage(let number):
          guard let stream = streams[number], case .echoes(_, let every) = stream.setting.format else { continue }
          streamTasks.set(task, to: due + every)
          return (task, stream, due)
        }
      }
      return nil
    }

    fileprivate mutating func arrive(_ due: Instant, _ now: Instant, _ plan: LoadPlan) -> LoadRun.Arrival {
      guard !isStopped, !isOver else { return .end }
      if case .closed = plan.loop, due >= end { return .end }
      let isMeasured = due >= measuredFrom
      if isMeasured {
        if let max = plan.requestsMax, measurements.dueCount >= max {
          (isStopped, hasSentAll) = (true, true)
          return .end
        }
        measurements.noteDue()
      }
      if plan.isOpen, inFlight >= plan.inFlightMax {
        if isMeasured { measurements.noteUnsent() }
        return .skip
      }
      inFlight += 1
      if isMeasured { measuredInFlight += 1 }
      defer { arrivals += 1 }
      let (scenario, numberInScenario) = rotation.next()
      return .send(
        LoadRun.SentRequest(
          scenario: scenario, number: arrivals, numberInScenario: numberInScenario, due: due, time: now,
          isMeasured: isMeasured))
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

    /// Ends the second. Returns its length, and the use of the processor in it of this process and of the watched one.
    mutating func end(_ now: Instant) -> (length: Duration, own: ProcessUsage.Share?, watched: ProcessUsage.Share?) {
      let (own, other) = (ProcessUsage.ofGenerator(now: now), watched.flatMap { ProcessUsage(of: $0, now: now) })
      defer {
        (previous, ownUsage, watchedUsage) = (now, own, other)
        while next <= now { next = next + .seconds(1) }
      }
      return (
        now - previous, ownUsage.flatMap { earlier in own?.share(since: earlier) },
        watchedUsage.flatMap { earlier in other?.share(since: earlier) }
      )
    }
  }
#endif
