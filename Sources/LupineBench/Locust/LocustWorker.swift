// LocustWorker: a worker of a Locust master, whose users are requests per second.

#if Bench
  public import LupineEngine
  internal import Synchronization

  /// A worker of Locust's master: it sends as many requests as the master has users, and reports their latencies to the master.
  ///
  /// Each user is a fixed rate in an open loop, like a Locust user with `wait_time = constant_throughput(rate)`. The latencies
  /// are those since due. Locust rounds them to whole milliseconds and two significant digits; `onSecond` receives exact ones.
  public struct LocustWorker: Sendable {
    /// The master's host and port.
    public let master: Origin
    /// The scenarios, with their shares of all arrivals. At least one.
    public let scenarios: [Scenario]
    /// The requests per second of one user.
    public let ratePerUser: Double
    /// Called after each second in which requests ended, on the thread that sends. Does nothing by default.
    public var onSecond: @Sendable (LoadProgress) -> Void = { _ in }
    /// Called when the connection to the master opens, breaks or is opened again, with a line of text. Does nothing by default.
    public var onEvent: @Sendable (String) -> Void = { _ in }

    /// Creates a worker. The port of Locust's master is 5557 by default. Traps if a scenario is a stream, because Locust has no
    /// figures for streams.
    public init(masterHost: String, port: UInt16 = 5557, _ scenarios: [Scenario], ratePerUser: Double = 1)
      throws(URIError)
    {
      precondition(!scenarios.isEmpty && ratePerUser > 0, "a worker needs a scenario and a rate")
      precondition(!scenarios.contains(where: \.isStream), "a worker's scenarios aren't streams")
      let host = masterHost.contains(":") && !masterHost.hasPrefix("[") ? "[\(masterHost)]" : masterHost
      // The engine's raw streams are named by https origins. No TLS is started.
      master = try URI("https://\(host):\(port)/").origin
      (self.scenarios, self.ratePerUser) = (scenarios, ratePerUser)
    }

    /// Works until the master sends `quit` or the task is cancelled.
    ///
    /// - Throws: `SystemError` if the system has no descriptors or threads left.
    public func run() async throws(SystemError) {
      let run = try LocustRun(self)
      try await SendingThread.run({ run.run() }, onCancel: { run.end() })
    }
  }

  /// One run of a worker: the thread that sends, and the connection to the master.
  private final class LocustRun: Sendable {
    fileprivate struct State {
      var dialog: LocustWorkerState
      var statistics: LocustStatistics
      var measurements: Measurements
      var rotation: ScenarioRotation
      var inFlight = 0
      var rate = 0.0
      var nextDue = Instant.now
      var connection: MasterConnection?
      var isEnded = false
    }

    /// The pause before a lost connection is opened again: 1 s.
    private static let reconnectPause = Duration.seconds(1)
    /// The longest sleep, so that a changed rate takes effect soon: 5 ms.
    private static let sleepMax = Duration.milliseconds(5)

    private let worker: LocustWorker
    private let engine: Engine
    private let identity: String
    private let state: Mutex<State>

    init(_ worker: LocustWorker) throws(SystemError) {
      self.worker = worker
      engine = try Engine()
      var random = SystemRandomNumberGenerator()
      identity = "lupine_" + String(random.next(), radix: 16) + String(random.next(), radix: 16)
      let names = worker.scenarios.map(\.name)
      state = Mutex(
        State(
          dialog: LocustWorkerState(now: TimeOfDay.seconds),
          statistics: LocustStatistics(names: names, start: TimeOfDay.seconds),
          measurements: Measurements(scenarioCount: names.count),
          rotation: ScenarioRotation(weights: worker.scenarios.map(\.weight))))
    }

    func end() { state.withLock { $0.isEnded = true } }

    func run() {
      let start = Instant.now
      var (nextTick, nextConnect, second) = (start, start, start)
      var usage = ProcessUsage.ofGenerator(now: start)
      while true {
        let now = Instant.now
        let (isEnded, isConnected) = state.withLock { ($0.isEnded, $0.connection != nil) }
        if isEnded { break }
        if !isConnected, now >= nextConnect {
          nextConnect = now + Self.reconnectPause
          connect()
        }
        while let request = state.withLock({ $0.takeDue(now) }) { launch(request) }
        if now >= nextTick {
          let current = ProcessUsage.ofGenerator(now: now)
          let share = usage.flatMap { earlier in current?.share(since: earlier) }
          usage = current
          endSecond(now, length: now - second, since: start)
          second = now
          nextTick = now + .seconds(1)
          perform(
            state.withLock {
              $0.connection == nil
                ? []
                : $0.dialog.tick(
                  now: TimeOfDay.seconds, cores: share?.cores ?? 0, residentBytes: share?.residentBytes ?? 0)
            })
        }
        let due = state.withLock { $0.rate > 0 ? $0.nextDue : nil }
        Thread.sleep(until: min(now + Self.sleepMax, nextTick, due ?? nextTick))
      }
      state.withLock { $0.connection.take() }?.close()
    }

    private func endSecond(_ now: Instant, length: Duration, since start: Instant) {
      let progress: LoadProgress? = state.withLock { state in
        guard state.inFlight > 0 || state.rate > 0 else { return nil }
        let (row, latencies) = state.measurements.endSecond(
          at: now - start, length: length, target: state.rate, inFlight: state.inFlight, usage: nil, watched: nil)
        state.measurements.removeLastSecond()
        return LoadProgress(row, latencies, of: state.measurements, duration: .zero)
      }
      if let progress { worker.onSecond(progress) }
    }

    // MARK: Requests

    private func launch(_ request: (scenario: Int, number: Int, due: Instant)) {
      let passed = Instant.now
      worker.scenarios[request.scenario].start(request.number) { result, times in
        let sample = Sample(
          scenario: request.scenario, due: request.due, passed: passed, times, isOpenLoop: true, result: result)
        self.state.withLock { state in
          state.inFlight -= 1
          state.measurements.add(sample)
          state.statistics.add(sample, at: TimeOfDay.seconds)
        }
      }
    }

    // MARK: The master

    private func connect() {
      let connection = MasterConnection(self, identity: identity)
      state.withLock { state in
        state.connection = connection
        state.dialog.connecting()
      }
      connection.open(on: engine, to: worker.master)
    }

    fileprivate func connected() { perform(state.withLock { $0.dialog.connected(now: TimeOfDay.seconds) }) }

    fileprivate func ended(_ connection: MasterConnection, _ reason: String) {
      let isEnded = state.withLock { state in
        if state.connection === connection { state.connection = nil }
        return state.isEnded
      }
      guard !isEnded else { return }
      worker.onEvent("the connection to \(worker.master.authority) ended (\(reason)); trying again")
    }

    fileprivate func receive(_ message: [UInt8]) {
      guard case .array(let parts)? = MessagePack(message), parts.count == 3, case .text(let type) = parts[0] else {
        return
      }
      if type == "ack" { worker.onEvent("joined the master \(worker.master.authority)") }
      perform(state.withLock { $0.dialog.receive(type, parts[1], now: TimeOfDay.seconds) })
    }

    private func perform(_ actions: [LocustWorkerState.Action]) {
      for action in actions {
        switch action {
        case .send(let type, let data): send(type, data)
        case .report: send("stats", state.withLock { $0.statistics.report(users: $0.dialog.users) })
        case .setUsers(let users):
          let count = users.values.reduce(0, +)
          worker.onEvent("\(count) users")
          let rate = Double(count) * worker.ratePerUser
          state.withLock { $0.setRate(rate, now: .now) }
        case .reconnect: state.withLock { $0.connection.take() }?.close()
        case .end: end()
        }
      }
    }

    private func send(_ type: String, _ data: MessagePack) {
      var bytes: [UInt8] = []
      MessagePack.array([.text(type), data, .text(identity)]).encode(into: &bytes)
      state.withLock { $0.connection }?.send(bytes)
    }
  }

  extension LocustRun.State {
    /// Returns the next request that is due, or nil if there is none yet.
    fileprivate mutating func takeDue(_ now: Instant) -> (scenario: Int, number: Int, due: Instant)? {
      guard rate > 0, nextDue <= now else { return nil }
      let due = nextDue
      nextDue = due + .seconds(1 / rate)
      inFlight += 1
      let (scenario, number) = rotation.next()
      return (scenario, number, due)
    }

    /// Changes the rate. The next request is due at once if none was due before.
    fileprivate mutating func setRate(_ rate: Double, now: Instant) {
      if self.rate == 0 || nextDue > now + .seconds(1 / max(rate, 1e-9)) { nextDue = now }
      self.rate = rate
    }
  }

  /// The connection to the master: ZMTP on a raw stream of the engine.
  private final class MasterConnection: StreamSink {
    private struct State {
      var zmtp = ZMTP()
      var writer: BodyWriter?
      var handle: StreamHandle?
    }

    private let run: LocustRun
    private let identity: String
    private let state = Mutex(State())

    init(_ run: LocustRun, identity: String) { (self.run, self.identity) = (run, identity) }

    func open(on engine: Engine, to master: Origin) {
      var settings = ConnectionSettings()
      settings.proxy = ProxySettings.none
      let handle = engine.openStream(
        to: master, settings, identity: nil, timeouts: Timeouts(everyPhase: .seconds(10), total: nil), sink: self)
      state.withLock { $0.handle = handle }
      // Messages of the master are short, and are processed as they arrive.
      handle.extendWindow(by: .max)
    }

    func send(_ message: [UInt8]) {
      let writer = state.withLock { $0.zmtp.isReady ? $0.writer : nil }
      writer?.append(ZMTP.message(message))
    }

    func close() { state.withLock { $0.handle }?.cancel() }

    func connected(_ writer: BodyWriter) {
      state.withLock { $0.writer = writer }
      writer.append(ZMTP.greeting + ZMTP.ready(identity: identity))
    }

    func receive(body bytes: borrowing Span<UInt8>) {
      var copy: [UInt8] = []
      copy.append(copying: bytes, 0..<bytes.count)
      let (messages, isNewlyReady) = state.withLock { state in
        let wasReady = state.zmtp.isReady
        let messages = try? state.zmtp.receive(copy)
        return (messages, !wasReady && state.zmtp.isReady)
      }
      guard let messages else { return close() }
      if isNewlyReady { run.connected() }
      for message in messages { run.receive(message) }
    }

    func sent(byteCount: UInt64) {}

    func receivedEnd() { close() }

    func secured() {}

    func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
      state.withLock { $0.handle = nil }
      switch result {
      case .success: run.ended(self, "closed")
      case .failure(let error): run.ended(self, "\(error.code)")
      }
    }
  }
#endif
