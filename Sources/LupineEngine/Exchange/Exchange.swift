// One request on its way: what is left to send, where the response goes, and by when.

internal import LupineCoding
internal import LupineReactor
internal import LupineWire

/// The state of one request and its response; touched on its loop's thread alone.
final class Exchange {
  let id: ExchangeID
  private let submission: Submission
  let key: PoolKey
  let sink: any ResponseSink
  /// How the request is treated, by its fields.
  let manner: EngineRequest.Manner
  /// Whether its sink has heard of its end.
  var hasEnded = false
  /// Whether the sink hears of the end of this turn.
  var isTouched = false
  /// The head as it goes onto the wire.
  private(set) var headBytes: [UInt8]
  private let inbox: Inbox
  /// Those of the engine; the request's own limit comes on top.
  private let codingLimits: CodingLimits

  private(set) var phase = Phase.setup
  private var phaseStart: Instant
  /// How long it has waited for a connection before; openings that come to nothing in between don't count.
  private var waited = Duration.zero
  /// The deadline that is set at the loop while there is no connection; it may be too early, never too late.
  var armedDeadline: Instant?

  /// What was measured so far; `finalMetrics` has the connection, too.
  var metrics: ExchangeMetrics
  private var record: ConnectionRecord?
  /// Its place in the pool's queue; the pool knows whether it still waits.
  var ticket: Ticket?
  var connection: Connection?
  /// Whether there is anything to send behind the head; if not, `body` needn't be looked at.
  private let hasBody: Bool
  var body: BodySource
  /// Whether the body may be sent.
  var expectation: Expectation
  /// Whether the head that is sent has `Expect: 100-continue`.
  private(set) var isExpecting: Bool
  /// Whether HTTP has ended on its connection. What is said and heard then has its own times.
  var isHandedOver = false
  /// Whether the final response's head has come.
  private(set) var hasHead = false
  private var framing = BodyFraming.none
  /// Whether the rest of the response is only read for the connection's sake.
  var isDiscarding = false
  /// Whether the body's producer is waited for, in which time the server isn't to blame.
  var isAwaitingProducer = false
  var delivery = EngineError.Delivery.nothingSent

  /// How many decoded bytes the sink will still take.
  var credit: Int
  var isPaused = false
  /// Whether the body goes through a decoder.
  private(set) var isDecoding = false
  private var decoder: ContentDecoder?
  /// Whether body bytes are kept for which the sink had no room: as they came, or in the decoder.
  private(set) var hasKept = false
  private var undecoded: [UInt8] = []
  private var isDecoderDry = true

  /// What became of `Expect: 100-continue`.
  enum Expectation {
    /// There is none, or it has been met.
    case none
    /// The server's leave is waited for.
    case waiting
    /// The body belongs to another protocol, and waits for the server to switch to it.
    case upgrade
    /// The response came without it, so that the body isn't sent.
    case refused
  }

  /// Throws if the request can't be written. The head takes the room of `headBuffer`.
  ///
  /// The submission is shared: of one that it consumed, an initialiser would copy the request, a large value.
  init(
    _ submission: __shared Submission, key: PoolKey, codingLimits: CodingLimits, inbox: Inbox,
    headBuffer: consuming [UInt8], now: Instant
  ) throws(Failure) {
    id = submission.id
    self.submission = submission
    self.key = key
    sink = submission.sink
    credit = submission.credit
    self.inbox = inbox
    self.codingLimits = codingLimits
    manner = submission.request.manner
    isExpecting = manner.expectsContinue
    headBytes = try Self.head(
      of: submission.request, manner, isExpecting: manner.expectsContinue, for: key, into: headBuffer)
    expectation = manner.offersUpgrade ? .upgrade : manner.expectsContinue ? .waiting : .none
    phaseStart = now
    metrics = ExchangeMetrics(start: now)
    hasBody = !submission.request.body.isEmpty || manner.offersUpgrade
    body = try Self.source(of: submission.request, manner, id, inbox)
  }

  /// What is asked for.
  var request: EngineRequest {
    _read { yield submission.request }
  }

  private static func head(
    of request: EngineRequest, _ manner: EngineRequest.Manner, isExpecting: Bool, for key: PoolKey,
    into buffer: consuming [UInt8]
  ) throws(Failure) -> [UInt8] {
    if let raw = request.rawBytes { return raw }
    do {
      return try request.writeHead(manner, isExpecting: isExpecting, for: key, into: buffer)
    } catch {
      throw .wire(error)
    }
  }

  private static func source(
    of request: EngineRequest, _ manner: EngineRequest.Manner, _ id: ExchangeID, _ inbox: Inbox
  ) throws(Failure) -> BodySource {
    try BodySource(
      request.body, coding: request.sentCoding(manner), isFramed: !manner.offersUpgrade, of: id, inbox: inbox)
  }

  /// Gives the head's memory to another exchange; for one that has ended.
  func takeHeadBuffer() -> [UInt8] {
    var buffer: [UInt8] = []
    swap(&buffer, &headBytes)
    return buffer
  }

  // MARK: Connection

  /// Writes down what it cost to open a connection in vain.
  func note(_ opening: OpeningTimes) {
    record = ConnectionRecord(id: nil, opening: opening)
  }

  /// Binds the exchange to a connection, until its response is complete.
  func begin(on connection: Connection, now: Instant) {
    self.connection = connection
    record = connection.record
    metrics.isReusedConnection = connection.isKept
    metrics.requestStart = now
    metrics.requestHeadBytes = headBytes.count
    enter(.send, now: now)
  }

  /// What it has cost, once it has ended.
  var finalMetrics: ExchangeMetrics {
    var metrics = metrics
    metrics.connection = record
    return metrics
  }

  /// Whether a part of the body can be sent, now or when its producer has more.
  var hasBodyToSend: Bool { hasBody && expectation == .none && !body.isExhausted }

  /// Whether everything was taken from the body.
  var isBodyExhausted: Bool { !hasBody || body.isExhausted }

  /// A producer hears that nobody takes its bytes any more.
  func abandonBody() {
    if hasBody { body.abandon() }
  }

  /// Bytes of the request have left this machine.
  func noteSent() {
    if delivery == .nothingSent { delivery = .sent }
  }

  // MARK: Time

  /// Enters a phase, or counts its time anew if it is the present one.
  func enter(_ phase: Phase, now: Instant) {
    if self.phase == .poolWait, phase != .poolWait {
      let total = waited + (now - phaseStart)
      waited = total
    }
    self.phase = phase
    phaseStart = now
  }

  /// When the exchange is over at the latest, as things stand. While it is paused, its pauses are the caller's.
  var deadline: Instant? {
    // A connection that is being opened for it has its own deadlines.
    let isOpening =
      switch phase {
      case .resolve, .connect, .proxy, .tls: true
      default: false
      }
    // As long as bytes wait to be sent, it is the server that is waited for.
    let isProducers = isAwaitingProducer && connection?.transport.unsentCount == 0
    let isOurs = isOpening || isHeld || isProducers || isHandedOver || isDiscarding
    var phaseEnd: Instant?
    if !isOurs, let limit = request.timeouts.limit(of: phase) {
      phaseEnd = phaseStart + (phase == .poolWait ? limit - waited : limit)
    }
    guard let total = request.timeouts.total else { return phaseEnd }
    let totalEnd = metrics.start + total
    return min(phaseEnd ?? totalEnd, totalEnd)
  }

  /// The limit that a passed deadline belongs to.
  func passedLimit(now: Instant) -> EngineError.Cause {
    if let total = request.timeouts.total, hasPassedTotal(now: now) { return .totalLimit(total) }
    return .limit(request.timeouts.limit(of: phase) ?? .zero)
  }

  /// Whether the time for the whole exchange is over.
  func hasPassedTotal(now: Instant) -> Bool {
    request.timeouts.total.map { metrics.start + $0 <= now } ?? false
  }

  // MARK: Response

  /// Whether at most `byteCountMax` bytes of the body are left, as far as its framing tells, and the connection can be
  /// used again behind them. What is left of a chunked body takes a byte at least.
  func isRestShort(_ byteCountMax: Int) -> Bool {
    switch framing {
    case .none: true
    case .chunked: byteCountMax > 0
    case .length(let length): length - metrics.responseBodyBytes <= UInt64(byteCountMax)
    case .untilClose: false
    }
  }

  /// Whether its owner has suspended it, or the sink has no room for the body; a head needs no room.
  var isHeld: Bool { isPaused || (hasHead && credit <= 0) }

  /// Hands the head over. Throws if the body is wanted and its codings are too many, or unknown and refused.
  func receive(
    head: ResponseHead, framing: BodyFraming, transferCodings: [TransferCoding]
  ) throws(Failure) -> BodyDisposition {
    hasHead = true
    self.framing = framing
    metrics.responseHeadBytes = head.byteCount
    // Asked first: nobody cares how a body is coded that nobody reads, a redirect's for one.
    guard sink.receive(head: head) == .deliver else { return .discard }
    do throws(CodingError) {
      var codings: [ContentCoding] = []
      if request.decodesContent, framing != .none, let list = head.fields.list("Content-Encoding") {
        codings = try ContentCoding.decodable(list, limits: codingLimits)
      }
      // Applied behind the content codings, so undone first; they are the message's, whoever decodes the content.
      for coding in transferCodings { codings.append(coding == .gzip ? .gzip : .deflate) }
      guard !codings.isEmpty else { return .deliver }
      decoder = try ContentDecoder(codings, limits: codingLimits.within(bodyBytesMax: request.bodyBytesMax))
      isDecoding = true
    } catch {
      throw .coding(error)
    }
    return .deliver
  }

  /// Decodes and hands over as much as the sink has room for, and keeps the rest.
  func receive(body bytes: borrowing Span<UInt8>, scratch: inout [UInt8]) throws(Failure) {
    metrics.responseBodyBytes += UInt64(bytes.count)
    let used = hasKept ? 0 : try deliver(bytes, scratch: &scratch)
    if used < bytes.count {
      undecoded.append(copying: bytes, used..<bytes.count)
      hasKept = true
    }
  }

  /// Goes on with what was kept, as far as the sink has room; returns whether nothing is left.
  func deliverKept(scratch: inout [UInt8]) throws(Failure) -> Bool {
    if hasKept {
      var kept: [UInt8] = []
      swap(&kept, &undecoded)
      let used = try deliver(kept.span, scratch: &scratch)
      if used < kept.count { undecoded = Array(kept[used...]) }
      hasKept = used < kept.count || !isDecoderDry
    }
    return !hasKept
  }

  /// The body has ended: the coded stream has to be complete too.
  func finishBody() throws(Failure) {
    guard isDecoding else { return }
    do {
      try decoder?.finish()
    } catch {
      throw .coding(error)
    }
  }

  private func deliver(_ bytes: borrowing Span<UInt8>, scratch: inout [UInt8]) throws(Failure) -> Int {
    guard isDecoding else {
      let count = min(bytes.count, isPaused ? 0 : max(credit, 0))
      if count > 0 {
        let bytesMax = request.bodyBytesMax
        guard metrics.decodedBodyBytes + UInt64(count) <= UInt64(clamping: bytesMax) else {
          throw .bodyTooLarge(bytesMax)
        }
        handOver(bytes.extracting(0..<count))
      }
      return count
    }
    var used = 0
    isDecoderDry = false
    while !isHeld, !isDecoderDry {
      let progress = try decode(bytes.extracting(used..<bytes.count), scratch: &scratch)
      used += progress.consumed
      isDecoderDry = progress.produced == 0
    }
    hasKept = !isDecoderDry
    return used
  }

  /// Decodes and hands over some bytes, no more than the sink has room for.
  private func decode(
    _ bytes: borrowing Span<UInt8>, scratch: inout [UInt8]
  ) throws(Failure) -> CodingProgress {
    do {
      // The decoder knows the limit of the request.
      guard let progress = try decoder?.decode(bytes.bytes, upTo: credit, scratch: &scratch, receive: handOver) else {
        preconditionFailure("no decoder")
      }
      return progress
    } catch {
      throw .coding(error)
    }
  }

  private func handOver(_ bytes: borrowing Span<UInt8>) {
    metrics.decodedBodyBytes += UInt64(bytes.count)
    if credit != .max { credit -= bytes.count }
    sink.receive(body: bytes)
  }

  /// Makes the exchange ready to be sent again: as it was, or without the expectation that the server can't meet.
  func rewind(isExpecting: Bool, now: Instant) throws(Failure) {
    abandonBody()
    body = try Self.source(of: request, manner, id, inbox)
    if self.isExpecting, !isExpecting {
      self.isExpecting = false
      headBytes = try Self.head(of: request, manner, isExpecting: false, for: key, into: [])
    }
    expectation = manner.offersUpgrade ? .upgrade : self.isExpecting ? .waiting : .none
    isHandedOver = false
    hasHead = false
    isDiscarding = false
    isAwaitingProducer = false
    delivery = .nothingSent
    connection = nil
    decoder = nil
    isDecoding = false
    record = nil
    metrics.restart()
    enter(.setup, now: now)
    waited = .zero
  }
}

extension CodingLimits {
  /// The same, with no more decoded bytes than a request accepts.
  func within(bodyBytesMax: Int) -> CodingLimits {
    guard bodyBytesMax < .max else { return self }
    var limits = self
    limits.decodedBytesMax = min(decodedBytesMax ?? .max, UInt64(clamping: bodyBytesMax))
    return limits
  }
}
