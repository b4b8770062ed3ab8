// Simulation: drives a shard through one schedule, in place of the kernel and the clock.

@testable import LupineEngine
@testable import LupineReactor
@testable import LupineTLS
@testable import LupineWire

/// One simulated run: executes a schedule with the engine's event loop in virtual time.
final class Simulation {
  let world: World
  private let network: SimulatedNetwork
  private let resolver = SimulatedResolver()
  private let callers = SimulatedCallers()
  private var shard: Shard?
  private var sinks: [SimulatedSink] = []
  private var unjudged: [SimulatedSink] = []
  private var cancelled: Set<Int> = []
  private var discarded: Set<Int> = []
  /// The numbers of the requests that must end in the next iteration of the loop. `pausing` contains those whose pause takes effect
  /// then.
  private var awaitedEnds: Set<Int> = []
  private var pausing: Set<Int> = []
  /// The distinct outcomes of the run's requests: success, an error code, or the phase in which a request timed out.
  private(set) var endings: Set<String> = []
  private var wakeUp: Instant?
  private var turnCount = 0
  private var idleTurnCount = 0
  private var isShutDown = false

  /// The number of loop iterations after which the run fails. It is far more than any schedule needs.
  private static let turnsMax = 200_000
  /// The number of consecutive loop iterations without any effect after which the run fails. A few are normal, because an event
  /// occurs without a cause with a probability of 3 %.
  private let idleTurnsMax: Int

  init(
    seed: UInt64, tape: DecisionTape? = nil, idleTurnsMax: Int = 40, trace: ((String) -> Void)? = nil
  ) {
    self.idleTurnsMax = idleTurnsMax
    let schedule = Schedule(seed: seed, tape: tape)
    world = World(schedule, trace: trace)
    network = SimulatedNetwork(world)
    let configuration = schedule.configuration
    shard = Shard(
      configuration, proxyRules: configuration.proxy.rules(environment: [:]), network: network,
      resolver: resolver.service(), tlsContexts: TLSContexts(), inbox: callers.inbox)
  }

  func run() {
    plan()
    while !isOver, step() {}
    if !isShutDown, world.violations.isEmpty {
      end()
    }
    tearDown()
  }

  private var isOver: Bool { isShutDown || !world.violations.isEmpty }

  // MARK: The callers' actions

  private func plan() {
    for plan in world.schedule.requests { add(plan) }
    for sink in sinks {
      if let leader = sink.plan.follows {
        sink.follow(sinks[leader])
      } else {
        world.agenda.after(sink.plan.start) { [world] in
          world.note("request \(sink.plan.number): submitted: \(sink.plan.method), origin \(sink.plan.origin)")
          sink.submit()
        }
      }
      for (time, act) in sink.plan.acts { world.agenda.after(time) { [unowned self] in perform(act, sink) } }
    }
    if let time = world.schedule.shutDownTime { world.agenda.after(time) { [unowned self] in shutDown() } }
  }

  private func add(_ plan: PlannedRequest) {
    do {
      let request = try plan.engineRequest(world.schedule.origins[plan.origin].origin, world.executor)
      let sink = SimulatedSink(plan, request, id: callers.inbox.nextExchangeID(), callers)
      sinks.append(sink)
      unjudged.append(sink)
    } catch {
      preconditionFailure("request \(plan.number) can't be created: \(error)")
    }
  }

  private func perform(_ act: PlannedRequest.Act, _ sink: SimulatedSink) {
    guard sink.isSubmitted, !sink.isFinished else { return }
    let number = sink.plan.number
    world.note("request \(number): \(act)")
    switch act {
    case .cancel:
      cancelled.insert(number)
      awaitedEnds.insert(number)
      callers.inbox.send(.cancel(sink.id))
    case .discardBody:
      discarded.insert(number)
      callers.inbox.send(.discardBody(sink.id))
    case .pause:
      pausing.insert(number)
      sink.setPaused(true)
    case .resume:
      pausing.remove(number)
      sink.setPaused(false)
    case .extendWindow(let count): sink.extendWindow(by: count)
    }
  }

  private func shutDown() {
    world.note("shut down")
    callers.release()
    awaitedEnds.formUnion(sinks.filter { $0.isSubmitted && !$0.isFinished }.map(\.plan.number))
    callers.inbox.send(.shutDown(isGraceful: false, completion: nil))
  }

  // MARK: The loop

  /// Runs an iteration of the loop if there is work. Otherwise, advances the clock to the next event. Returns false if there is no
  /// event.
  private func step() -> Bool {
    // A resumed task may schedule an action, and an action may resume a task.
    world.agenda.runDue()
    world.executor.run(world.agenda)
    resolver.answer(world)
    let isBusy = shard?.gather() ?? false
    let events = network.poll()
    let isDue = wakeUp.map { $0 <= world.agenda.now } ?? false
    let isWoken = callers.takeWake()
    if !events.isEmpty || isDue || isWoken || isBusy {
      turn(events)
      return true
    }
    guard let next = [wakeUp.map(late), world.agenda.earliest].compactMap(\.self).min() else { return false }
    idleTurnCount = 0
    world.agenda.advance(to: next)
    return true
  }

  /// Returns `time` or a slightly later time. A poller waits for whole milliseconds, and other programs use the processor.
  private func late(_ time: Instant) -> Instant {
    world.random.chance(50) ? time : time + .microseconds(world.random.number(1...1_500))
  }

  private func turn(_ events: [Poller.Event]) {
    guard let shard else { return }
    let before = (network.operationCount, callers.callCount, wakeUp)
    let awaited = awaitedEnds
    let (now, pausing) = (world.agenda.now, pausing)
    (awaitedEnds, self.pausing) = ([], [])
    wakeUp = shard.turn(events, fetched: now, now: now)
    turnCount += 1
    let isIdle = before == (network.operationCount, callers.callCount, wakeUp)
    idleTurnCount = isIdle ? idleTurnCount + 1 : 0
    world.require(idleTurnCount < idleTurnsMax, "\(idleTurnCount) iterations in a row had no effect")
    world.require(turnCount < Self.turnsMax, "\(turnCount) iterations without an end")
    for number in pausing { sinks[number].notePaused() }
    isShutDown = callers.isReleased
    if isShutDown {
      world.require(network.isStopped && network.streams.isEmpty, "sockets are left after the shutdown")
    } else {
      let invariants = Invariants(shard: shard, network: network, world: world)
      invariants.checkBehindTurn(wakeUp: wakeUp)
      invariants.noteIdle()
    }
    for number in awaited where !sinks[number].isFinished {
      world.violate("request \(number): continues after its cancellation")
    }
    checkTotals()
    if before.1 != callers.callCount { judge() }
  }

  private func judge() {
    for sink in sinks {
      if let violation = sink.firstViolation { world.violate(violation) }
    }
    let ended = unjudged.filter(\.isFinished)
    unjudged.removeAll(where: \.isFinished)
    for sink in ended {
      let record = sink.present
      guard let result = record.result else { continue }
      note(result, record)
      world.note("request \(sink.plan.number): ends with \(result)")
      Oracle(
        world: world, sink: sink, wasCancelled: cancelled.contains(sink.plan.number),
        wasDiscarded: discarded.contains(sink.plan.number)
      ).judge()
    }
  }

  private func note(_ result: Result<Fields, EngineError>, _ record: SimulatedSink.Record) {
    if record.metrics?.replayCount ?? 0 > 0 { endings.insert("sent again") }
    switch result {
    case .success: endings.insert(record.status == 101 ? "switched" : "success")
    case .failure(let error):
      if case .totalLimit = error.cause {
        endings.insert("total")
      } else {
        endings.insert(error.code == .timedOut ? "timedOut \(error.phase)" : error.code.rawValue)
      }
    }
  }

  private func checkTotals() {
    for sink in unjudged where sink.plan.follows == nil {
      guard let total = sink.plan.timeouts.total, !sink.isFinished, sink.isSubmitted else { continue }
      let start = Instant(nanoseconds: 1_000_000_000) + sink.plan.start
      world.require(
        world.agenda.now - start <= total + Oracle.lateness + Oracle.lateness,
        "request \(sink.plan.number): continues beyond its total limit")
    }
  }

  // MARK: The end of the run

  private func settle() {
    while !isOver, step() {}
  }

  /// Ends all requests. Then checks that nothing is left in the engine, and that it still works.
  private func end() {
    guard let shard else { return }
    let invariants = Invariants(shard: shard, network: network, world: world)
    // Resumes all exchanges that are paused or whose receive window is full.
    world.note("all pauses end, and all windows become unlimited")
    for sink in sinks where !sink.isFinished {
      perform(.resume, sink)
      perform(.extendWindow(.max), sink)
    }
    settle()
    for sink in sinks where !sink.isFinished && !isOver {
      world.require(sink.isSubmitted, "request \(sink.plan.number): was never submitted")
      world.require(
        invariants.isUnlimited(sink.id), "request \(sink.plan.number): continues although it has a limit")
      perform(.cancel, sink)
      settle()
    }
    settle()
    guard !isOver else { return }
    invariants.checkAtRest()
    if !invariants.hasHangingOpenings { probe() }
    guard !isOver else { return }
    shutDown()
    settle()
  }

  /// Turns all faults off, and checks that a request to each origin succeeds.
  private func probe() {
    world.isCalm = true
    for index in world.schedule.origins.indices {
      add(PlannedRequest(probe: sinks.count, origin: index))
      sinks.last?.submit()
    }
    settle()
    for sink in sinks.suffix(world.schedule.origins.count) {
      world.require(sink.isFinished || isOver, "request \(sink.plan.number): a probe doesn't end")
    }
  }

  private func tearDown() {
    weak let left = shard
    shard = nil
    if world.violations.isEmpty {
      world.require(left == nil, "the shard is still retained")
      world.require(network.streams.isEmpty, "sockets are left after the shard's release")
    }
    world.note("the run has ended; the remaining scheduled actions follow")
    // Resumes producers that wait. Otherwise, their tasks would never end.
    while let next = world.agenda.earliest {
      world.agenda.advance(to: next)
      world.agenda.runDue()
      world.executor.run(world.agenda)
    }
  }
}

extension PlannedRequest {
  /// Creates a request to an origin that must succeed, because all faults have been turned off.
  init(probe number: Int, origin: Int) {
    self.number = number
    self.origin = origin
    method = "GET"
    content = .none
    offersUpgrade = false
    expectsContinue = false
    asksForClose = false
    timeouts = Timeouts(everyPhase: .seconds(60), total: nil)
    bodyBytesMax = .max
    windowBytes = .max
    extendsWindowAtOnce = false
    disposition = .deliver
    start = .zero
    follows = nil
    acts = []
  }
}
