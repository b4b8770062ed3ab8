// Oracle: decides which outcomes of a request are legal, given the faults that the world has injected.

@testable import LupineEngine
@testable import LupineReactor
@testable import LupineWire

/// Checks whether the outcome of a simulated request is legal, at the end of the loop iteration in which the request ends.
struct Oracle {
  let world: World
  let sink: SimulatedSink
  let wasCancelled: Bool
  let wasDiscarded: Bool

  /// The maximum time by which a request may end after its deadline: the delay until the end of the loop iteration that handles the
  /// deadline.
  static let lateness = Duration.milliseconds(2)

  private var plan: PlannedRequest { sink.plan }

  private func require(_ condition: Bool, _ rule: @autoclosure () -> String) {
    world.require(condition, "request \(plan.number): \(rule())")
  }

  func judge() {
    let record = sink.present
    guard let result = record.result, let metrics = record.metrics, let end = metrics.end else {
      return require(false, "ended without metrics")
    }
    let stream = metrics.localAddress.flatMap { world.ledger.streams[$0.port] }
    check(metrics)
    switch result {
    case .success(let trailers): judgeSuccess(record, trailers, stream)
    case .failure(let error):
      require(!world.schedule.isBenign && !world.isCalm, "failed without a fault: \(error)")
      judge(error, record, metrics, stream, end)
    }
  }

  private func check(_ metrics: ExchangeMetrics) {
    let times = [metrics.start, metrics.requestStart, metrics.responseStart, metrics.responseEnd, metrics.end]
    let known = times.compactMap(\.self)
    require(zip(known, known.dropFirst()).allSatisfy { $0 <= $1 }, "its times aren't in order: \(known)")
    if let total = plan.timeouts.total, let end = metrics.end {
      require(end - metrics.start <= total + Self.lateness, "ended \(end - metrics.start) after its start")
    }
  }

  // MARK: Success

  private func judgeSuccess(_ record: SimulatedSink.Record, _ trailers: Fields, _ stream: SimulatedStream?) {
    guard let index = record.attempt, let attempts = world.ledger.attempts[plan.number],
      attempts.indices.contains(index)
    else { return require(false, "succeeded, but no server has replied") }
    let attempt = attempts[index]
    guard let reply = attempt.reply, attempt.stream === stream else {
      return require(false, "succeeded on another connection than the reply's")
    }
    require(record.status == reply.status, "has the status \(record.status)")
    if wasDiscarded || plan.disposition == .discard { return }
    require(!reply.isMalformed, "succeeded with a malformed response")
    guard let contentCount = attempt.contentCount else {
      return require(false, "succeeded with part of a response")
    }
    require(
      record.receivedCount == contentCount, "succeeded with \(record.receivedCount) bytes of \(contentCount)")
    require(trailers.first("Sum") == (reply.hasTrailer ? "\(plan.number)" : nil), "has wrong trailers")
    require(record.receivedCount <= plan.bodyBytesMax, "received more than its limit")
  }

  // MARK: Failure

  private func judge(
    _ error: EngineError, _ record: SimulatedSink.Record, _ metrics: ExchangeMetrics, _ stream: SimulatedStream?,
    _ end: Instant
  ) {
    let ledger = world.ledger
    let schedule = world.schedule
    let host = schedule.origins[plan.origin].origin.host
    let hosts = [host, Schedule.proxyHost]
    let isCut = stream?.wasCut ?? ledger.streams.values.contains(where: \.wasCut)
    let isLegal =
      switch error.code {
      case .cancelled: wasCancelled || wasDiscarded
      case .hostNotFound: hosts.contains(where: ledger.unknownHosts.contains)
      case .resolveFailed: hosts.contains(where: ledger.failedHosts.contains)
      case .connectionRefused: ledger.wasRefused
      case .connectFailed: ledger.wasUnreachable
      case .outOfResources: ledger.lackedResources
      case .proxyFailed: schedule.proxy != nil && (ledger.hasProxyFailed || isCut)
      case .connectionLost: isCut
      case .malformedResponse: stream?.hasSpokenUnasked == true || hasMalformed(stream)
      case .bodyTooLarge: plan.bodyBytesMax < .max
      case .bodyUnreadable:
        if case .produced(let production) = plan.content { production.failsAt != nil } else { false }
      case .shutDown: schedule.shutDownTime != nil
      case .timedOut: true
      case .invalidRequest, .addressRefused, .tlsFailed, .decodingFailed, .tooManyRedirects, .redirectRefused,
        .bodyNotReplayable, .tooManyWaiting:
        false
      }
    require(isLegal, "failed without a justification: \(error.code), \(error)")
    if error.code == .timedOut { judgeTimeout(error, metrics, stream, end) }
    if error.progress == .nothingSent, let start = metrics.requestStart, let lastSent = stream?.lastSent {
      require(lastSent <= start, "claims that nothing was sent")
    }
  }

  private func hasMalformed(_ stream: SimulatedStream?) -> Bool {
    world.ledger.attempts.values.joined().contains { $0.stream === stream && $0.reply?.isMalformed == true }
  }

  private func judgeTimeout(
    _ error: EngineError, _ metrics: ExchangeMetrics, _ stream: SimulatedStream?, _ end: Instant
  ) {
    switch error.cause {
    case .totalLimit(let limit):
      require(limit == plan.timeouts.total, "reported a total limit that isn't its own")
      require(end - metrics.start >= limit, "ran into its total limit of \(limit) after \(end - metrics.start)")
    case .limit(let limit):
      let isOpening = [.resolve, .connect, .proxy, .tls].contains(error.phase)
      // The resolver's own time limit also applies to a lookup.
      let isShared = error.phase == .resolve && limit == ResolverConfiguration.lookupTimeMax
      require(
        isShared || plan.timeouts.limit(of: error.phase) == limit,
        "reported a limit that isn't its own: \(error)")
      if !isOpening { judge(error.phase, limit, metrics, stream, end) }
    default: require(false, "timed out without a limit")
    }
  }

  private func judge(
    _ phase: Phase, _ limit: Duration, _ metrics: ExchangeMetrics, _ stream: SimulatedStream?, _ end: Instant
  ) {
    let began: Instant? =
      switch phase {
      case .poolWait: metrics.start
      case .send, .firstByte: max(stream?.lastSent ?? metrics.start, metrics.requestStart ?? metrics.start)
      case .receive: stream?.lastRead
      case .setup, .resolve, .connect, .proxy, .tls, .awaitContinue: nil
      }
    guard let began else { return require(false, "ran into a limit in phase \(phase)") }
    require(end - began >= limit, "ran into its limit of \(limit) after \(end - began), in phase \(phase)")
    guard let stream, phase != .poolWait else { return }
    // The engine must have processed everything that arrived before the timeout.
    if let unreadSince = stream.unreadSince, !stream.isReset || phase != .send {
      require(end - unreadSince <= Self.lateness, "timed out in phase \(phase) although data had arrived")
    }
    if phase == .send, stream.isWritable, let taken = stream.lastTaken {
      require(end - taken <= Self.lateness, "timed out while the kernel had room to send")
    }
  }
}
