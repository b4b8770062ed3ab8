// One request on its way: what is left to send, where the response goes, and by when.

internal import LupineCoding
internal import LupineReactor
internal import LupineWire

/// The state of one request and its response; touched on its loop's thread alone.
final class Exchange {
  let id: ExchangeID
  let request: EngineRequest
  let key: PoolKey
  let sink: any ResponseSink
  /// Whether the sink hears of the end of this turn.
  var isTouched = false
  /// The head as it goes onto the wire.
  private(set) var headBytes: [UInt8]
  private let inbox: Inbox
  private let codingLimits: CodingLimits

  private(set) var phase = Phase.setup
  private var phaseStart: Instant
  /// How long it has waited for a connection before; openings that come to nothing in between don't count.
  private var waited = Duration.zero
  /// The deadline that is set at the loop; it may be too early, never too late.
  var armedDeadline: Instant?

  var metrics: ExchangeMetrics
  /// Its place in the pool's queue; the pool knows whether it still waits.
  var ticket: Ticket?
  var connection: Connection?
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
  private var decoder: ContentDecoder?
  /// Body bytes that were received and not decoded, because the sink had no room.
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

  /// Throws if the request can't be written.
  init(
    id: ExchangeID, request: EngineRequest, key: PoolKey, sink: any ResponseSink, credit: Int,
    codingLimits: CodingLimits, inbox: Inbox, now: Instant
  ) throws(Failure) {
    self.id = id
    self.request = request
    self.key = key
    self.sink = sink
    self.credit = credit
    self.inbox = inbox
    self.codingLimits = codingLimits.within(bodyBytesMax: request.bodyBytesMax)
    headBytes = if let raw = request.rawBytes { raw } else { try Self.write(request.head, key) }
    isExpecting = request.expectsContinue
    expectation = Self.expectation(of: request, isExpecting: isExpecting)
    phaseStart = now
    metrics = ExchangeMetrics(start: now)
    body = try BodySource(
      request.body, coding: request.sentCoding, isFramed: !request.offersUpgrade, of: id, inbox: inbox)
  }

  private static func expectation(of request: EngineRequest, isExpecting: Bool) -> Expectation {
    request.offersUpgrade ? .upgrade : isExpecting ? .waiting : .none
  }

  private static func write(_ head: consuming RequestHead, _ key: PoolKey) throws(Failure) -> [UInt8] {
    var head = head
    key.route.apply(to: &head, origin: key.origin)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    do {
      try HeadSerializer.append(head, to: &bytes)
    } catch {
      throw .wire(error)
    }
    return bytes
  }

  // MARK: Connection

  /// Writes down what opening a connection cost.
  func note(_ opening: OpeningTimes) {
    metrics.resolveStart = opening.resolveStart
    metrics.resolveEnd = opening.resolveEnd
    metrics.connectStart = opening.connectStart
    metrics.connectEnd = opening.connectEnd
    metrics.proxyStart = opening.proxyStart
    metrics.proxyEnd = opening.proxyEnd
    metrics.tlsStart = opening.tlsStart
    metrics.tlsEnd = opening.tlsEnd
  }

  /// Binds the exchange to a connection, until its response is complete.
  func begin(on connection: Connection, now: Instant) {
    self.connection = connection
    metrics.connectionID = UInt64(connection.id.serial)
    metrics.isReusedConnection = connection.useCount > 1
    if connection.useCount == 1 { note(connection.opening) }
    metrics.proxy = key.route.proxy
    metrics.localAddress = connection.localAddress
    metrics.remoteAddress = connection.remoteAddress
    metrics.tls = connection.tlsInfo
    metrics.requestStart = now
    metrics.requestHeadBytes = headBytes.count
    enter(.send, now: now)
  }

  /// Whether a part of the body can be sent, now or when its producer has more.
  var hasBodyToSend: Bool { !body.isExhausted && expectation == .none }

  /// Bytes of the request have left this machine.
  func noteSent() {
    if delivery == .nothingSent { delivery = .sent }
  }

  // MARK: Time

  /// Enters a phase, or counts its time anew if it is the present one.
  func enter(_ phase: Phase, now: Instant) {
    if self.phase == .poolWait, phase != .poolWait { waited += now - phaseStart }
    self.phase = phase
    phaseStart = now
  }

  /// When the exchange is over at the latest, as things stand. While it is paused, its pauses are the caller's.
  var deadline: Instant? {
    // A connection that is being opened for it has its own deadlines.
    let isOpening = [.resolve, .connect, .proxy, .tls].contains(phase)
    let isOurs = isOpening || isHeld || isAwaitingProducer || isHandedOver || isDiscarding
    let passed = phase == .poolWait ? waited : .zero
    let phaseEnd = isOurs ? nil : request.timeouts.limit(of: phase).map { phaseStart + ($0 - passed) }
    let totalEnd = request.timeouts.total.map { metrics.start + $0 }
    guard let phaseEnd, let totalEnd else { return phaseEnd ?? totalEnd }
    return min(phaseEnd, totalEnd)
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
  /// used again behind them.
  func isRestShort(_ byteCountMax: Int) -> Bool {
    switch framing {
    case .none, .chunked: true
    case .length(let length): length - metrics.responseBodyBytes <= UInt64(byteCountMax)
    case .untilClose: false
    }
  }

  /// Whether its owner has suspended it, or the sink has no room for the body; a head needs no room.
  var isHeld: Bool { isPaused || (hasHead && credit <= 0) }

  /// Hands the head over. Throws if the body is wanted and has a coding that can't be decoded.
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
        codings = try ContentCoding.list(list, layersMax: codingLimits.layersMax)
      }
      // Applied behind the content codings, so undone first; they are the message's, whoever decodes the content.
      codings += transferCodings.map { $0 == .gzip ? .gzip : .deflate }
      if !codings.isEmpty { decoder = try ContentDecoder(codings, limits: codingLimits) }
    } catch {
      throw .coding(error)
    }
    return .deliver
  }

  /// Decodes and hands over as much as the sink has room for, and keeps the rest.
  func receive(body bytes: borrowing Span<UInt8>, scratch: inout [UInt8]) throws(Failure) {
    metrics.responseBodyBytes += UInt64(bytes.count)
    guard !hasKept else {
      undecoded.append(copying: bytes, 0..<bytes.count)
      return
    }
    let used = try deliver(bytes, scratch: &scratch)
    if used < bytes.count { undecoded.append(copying: bytes, used..<bytes.count) }
  }

  /// Goes on with what was kept, as far as the sink has room; returns whether nothing is left.
  func deliverKept(scratch: inout [UInt8]) throws(Failure) -> Bool {
    if hasKept {
      var kept: [UInt8] = []
      swap(&kept, &undecoded)
      let used = try deliver(kept.span, scratch: &scratch)
      if used < kept.count { undecoded = Array(kept[used...]) }
    }
    return !hasKept
  }

  /// Whether body bytes are kept for which the sink had no room.
  var hasKept: Bool { !undecoded.isEmpty || !isDecoderDry }

  /// The body has ended: the coded stream has to be complete too.
  func finishBody() throws(Failure) {
    do {
      try decoder?.finish()
    } catch {
      throw .coding(error)
    }
  }

  private func deliver(_ bytes: borrowing Span<UInt8>, scratch: inout [UInt8]) throws(Failure) -> Int {
    guard decoder != nil else {
      let count = min(bytes.count, isPaused ? 0 : max(credit, 0))
      if count > 0 { try handOver(bytes.extracting(0..<count)) }
      return count
    }
    var used = 0
    isDecoderDry = false
    while !isHeld, !isDecoderDry {
      // Decoded into the buffer's end, so that no more comes out than the sink has room for.
      let room = min(credit, scratch.count)
      let start = scratch.count - room
      let progress = try decode(bytes.extracting(used..<bytes.count), into: &scratch, at: start)
      used += progress.consumed
      isDecoderDry = progress.produced < room
      if progress.produced > 0 { try handOver(scratch.span.extracting(start..<start + progress.produced)) }
    }
    return used
  }

  private func decode(
    _ bytes: borrowing Span<UInt8>, into scratch: inout [UInt8], at start: Int
  ) throws(Failure) -> CodingProgress {
    do {
      guard let progress = try decoder?.decode(bytes.bytes, into: &scratch, at: start) else {
        preconditionFailure("no decoder")
      }
      return progress
    } catch {
      throw .coding(error)
    }
  }

  private func handOver(_ bytes: borrowing Span<UInt8>) throws(Failure) {
    metrics.decodedBodyBytes += UInt64(bytes.count)
    let bytesMax = request.bodyBytesMax
    guard metrics.decodedBodyBytes <= UInt64(clamping: bytesMax) else { throw .bodyTooLarge(bytesMax) }
    if credit != .max { credit -= bytes.count }
    sink.receive(body: bytes)
  }

  /// Makes the exchange ready to be sent again: as it was, or without the expectation that the server can't meet.
  func rewind(isExpecting: Bool, now: Instant) throws(Failure) {
    body.abandon()
    body = try BodySource(
      request.body, coding: request.sentCoding, isFramed: !request.offersUpgrade, of: id, inbox: inbox)
    if self.isExpecting, !isExpecting {
      self.isExpecting = false
      headBytes = try Self.write(request.head(isExpecting: false), key)
    }
    expectation = Self.expectation(of: request, isExpecting: self.isExpecting)
    isHandedOver = false
    hasHead = false
    isDiscarding = false
    isAwaitingProducer = false
    delivery = .nothingSent
    connection = nil
    decoder = nil
    var fresh = ExchangeMetrics(start: metrics.start)
    fresh.replayCount = metrics.replayCount + 1
    metrics = fresh
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
