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
  /// The head as it goes onto the wire.
  let headBytes: [UInt8]

  private(set) var phase = Phase.setup
  private var phaseStart: Instant
  /// The deadline that is set at the loop; it may be too early, never too late.
  var armedDeadline: Instant?

  var metrics: ExchangeMetrics
  var connection: Connection?
  var body: BodySource
  var delivery = EngineError.Delivery.nothingSent

  /// How many decoded bytes the sink will still take.
  var credit: Int
  var isPaused = false
  private var decoder: ContentDecoder?
  /// Body bytes that were received and not decoded, because the sink had no room.
  private var undecoded: [UInt8] = []
  private var isDecoderDry = true

  init(
    id: ExchangeID, request: EngineRequest, headBytes: [UInt8], key: PoolKey, sink: any ResponseSink, credit: Int,
    now: Instant
  ) {
    self.id = id
    self.request = request
    self.key = key
    self.sink = sink
    self.credit = credit
    self.headBytes = headBytes
    phaseStart = now
    metrics = ExchangeMetrics(start: now)
    body = BodySource(request.body)
  }

  // MARK: Connection

  /// Writes down what opening a connection cost.
  func note(_ opening: OpeningTimes) {
    metrics.resolveStart = opening.resolveStart
    metrics.resolveEnd = opening.resolveEnd
    metrics.connectStart = opening.connectStart
    metrics.connectEnd = opening.connectEnd
    metrics.tlsStart = opening.tlsStart
    metrics.tlsEnd = opening.tlsEnd
  }

  /// Binds the exchange to a connection, until its response is complete.
  func begin(on connection: Connection, now: Instant) {
    self.connection = connection
    metrics.connectionID = connection.id
    metrics.isReusedConnection = connection.useCount > 1
    if connection.useCount == 1 { note(connection.opening) }
    metrics.localAddress = connection.localAddress
    metrics.remoteAddress = connection.remoteAddress
    metrics.tls = connection.tlsInfo
    metrics.requestStart = now
    metrics.requestHeadBytes = headBytes.count
    enter(.send, now: now)
  }

  /// Bytes of the request have left this machine.
  func noteSent() {
    if delivery == .nothingSent { delivery = .sent }
  }

  // MARK: Time

  /// Enters a phase, or counts its time anew if it is the present one.
  func enter(_ phase: Phase, now: Instant) {
    self.phase = phase
    phaseStart = now
  }

  /// When the exchange is over at the latest, as things stand. While it is paused, its pauses are the caller's.
  var deadline: Instant? {
    // A connection that is being opened for it has its own deadlines.
    let isOpening = [.resolve, .connect, .tls].contains(phase)
    let phaseEnd =
      isOpening || isPaused || credit <= 0 ? nil : request.timeouts.limit(of: phase).map { phaseStart + $0 }
    let totalEnd = request.timeouts.total.map { metrics.start + $0 }
    guard let phaseEnd, let totalEnd else { return phaseEnd ?? totalEnd }
    return min(phaseEnd, totalEnd)
  }

  /// The limit that a passed deadline belongs to.
  func passedLimit(now: Instant) -> EngineError.Cause {
    if let total = request.timeouts.total, metrics.start + total <= now { return .totalLimit(total) }
    return .limit(request.timeouts.limit(of: phase) ?? .zero)
  }

  // MARK: Response

  /// Whether the sink has no room, or its owner has suspended it.
  var isHeld: Bool { isPaused || credit <= 0 }

  /// Hands the head over. Throws if the body has a coding that can't be decoded.
  func receive(head: ResponseHead, framing: BodyFraming) throws(Failure) {
    metrics.responseHeadBytes = head.byteCount
    if request.decodesContent, framing != .none, let codings = head.fields.list("Content-Encoding") {
      do throws(CodingError) {
        let list = try ContentCoding.list(codings)
        if !list.isEmpty { decoder = try ContentDecoder(list) }
      } catch {
        throw .coding(error)
      }
    }
    sink.receive(head: head)
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

  /// Makes the exchange ready to be sent again as it was.
  func rewind(now: Instant) {
    body = BodySource(request.body)
    delivery = .nothingSent
    connection = nil
    decoder = nil
    var fresh = ExchangeMetrics(start: metrics.start)
    fresh.replayCount = metrics.replayCount + 1
    metrics = fresh
    enter(.setup, now: now)
  }
}
