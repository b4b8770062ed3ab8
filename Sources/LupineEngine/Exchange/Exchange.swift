// Exchange: the state of one request and its response: bytes to send, delivery of the response, and deadlines.

internal import LupineCoding
internal import LupineReactor
internal import LupineWire

/// One request and its response on an event loop. Used only on that loop's thread.
final class Exchange {
  let id: ExchangeID
  private let submission: Submission
  let key: PoolKey
  /// The properties of the request that determine how the engine treats it. Derived from the request's fields and body.
  let traits: EngineRequest.Traits
  /// Whether the event loop calls the sink's `turnEnded` at the end of this iteration.
  @exclusivity(unchecked) var isTouched = false
  /// The serialized head of the request.
  @exclusivity(unchecked) private(set) var headBytes: [UInt8]
  /// The engine's limits for decoding bodies. The request's `bodyBytesMax` applies in addition.
  private let codingLimits: CodingLimits

  @exclusivity(unchecked) private(set) var phase = Phase.setup
  @exclusivity(unchecked) private var phaseStart: Instant
  /// The total time of the exchange's earlier waits in the pool's queue, excluding failed attempts to open a connection.
  @exclusivity(unchecked) private var waited = Duration.zero
  /// The deadline that is registered with the event loop for the exchange while it has no connection, or nil if none is registered.
  /// It may be earlier than the exchange's actual deadline, but never later.
  @exclusivity(unchecked) var armedDeadline: Instant?

  /// The observation of the exchange, or nil if its call isn't observed.
  let observation: ExchangeObservation?
  /// The measurements of the exchange so far, including those of its connection.
  @exclusivity(unchecked) var metrics: ExchangeMetrics
  /// The ticket that the exchange got when it began to wait in the pool's queue. Only the pool knows whether the exchange is still
  /// waiting.
  @exclusivity(unchecked) var ticket: Ticket?
  @exclusivity(unchecked) var connection: Connection?
  /// The raw stream that the exchange carries. Nil if the exchange is a request.
  let stream: RawStream?
  /// Whether the engine sends a body after the request's head. If false, `body` isn't used.
  private let hasBody: Bool
  @exclusivity(unchecked) var body: BodySource
  /// Whether the request's head includes `Expect: 100-continue`.
  @exclusivity(unchecked) private(set) var isExpecting: Bool
  @exclusivity(unchecked) var requestState: RequestState
  @exclusivity(unchecked) var response = ResponseState.awaitingHead
  @exclusivity(unchecked) var progress = EngineError.Progress.nothingSent

  /// The receive window: the number of decoded body bytes that the sink still accepts.
  @exclusivity(unchecked) var windowBytes: Int
  @exclusivity(unchecked) var isPausedByCaller = false
  /// Whether the response body is decoded before it is delivered.
  @exclusivity(unchecked) private(set) var isDecoding = false
  @exclusivity(unchecked) private var decoder: ContentDecoder?
  /// Received body bytes that haven't been decoded, because the sink's window doesn't permit their delivery yet.
  @exclusivity(unchecked) private var undecoded: [UInt8] = []
  /// Whether the decoder has delivered all output for the bytes passed to it.
  @exclusivity(unchecked) private var isDecoderDry = true

  /// Creates an exchange for a submitted request. The request's head reuses the memory of `headBuffer`.
  ///
  /// The submission is `__shared`, because an initializer would otherwise copy the request, a large value.
  ///
  /// - Throws: `Failure.wire` if the request can't be serialized, or `.coding` if its body can't be encoded.
  init(
    _ submission: __shared Submission, key: PoolKey, codingLimits: CodingLimits, inbox: Inbox,
    headBuffer: consuming [UInt8], now: Instant
  ) throws(Failure) {
    id = submission.id
    self.submission = submission
    windowBytes = submission.windowBytes
    self.codingLimits = codingLimits
    traits = submission.request.traits
    stream = submission.request.streamSink.map { RawStream($0) }
    isExpecting = traits.expectsContinue
    headBytes = try Self.head(
      of: submission.request, traits, isExpecting: traits.expectsContinue, for: key, into: headBuffer)
    self.key = key  // after its last use, so that it is moved
    requestState = RequestState(traits, isExpecting: traits.expectsContinue)
    phaseStart = now
    metrics = ExchangeMetrics(start: now)
    observation = submission.request.callObserver.map { ExchangeObservation($0, start: now) }
    hasBody = !submission.request.body.isEmpty || traits.offersUpgrade
    body = try Self.source(of: submission.request, traits, id, inbox)
  }

  /// The request as the caller submitted it.
  var request: EngineRequest {
    _read { yield submission.request }
  }

  /// The receiver of the response.
  var sink: any ResponseSink {
    _read { yield submission.sink }
  }

  /// The channel that receives the server's bytes in place of the sink, because the connection has switched to WebSocket.
  var openWebSocket: WebSocketChannel? {
    if case .upgraded = response { request.webSocket } else { nil }
  }

  private static func head(
    of request: EngineRequest, _ traits: EngineRequest.Traits, isExpecting: Bool, for key: PoolKey,
    into buffer: consuming [UInt8]
  ) throws(Failure) -> [UInt8] {
    if let raw = request.rawBytes { return raw }
    do {
      return try request.writeHead(traits, isExpecting: isExpecting, for: key, into: buffer)
    } catch {
      throw .wire(error)
    }
  }

  private static func source(
    of request: EngineRequest, _ traits: EngineRequest.Traits, _ id: ExchangeID, _ inbox: Inbox
  ) throws(Failure) -> BodySource {
    try BodySource(
      request.body, coding: request.sentCoding(traits),
      isFramed: !traits.offersUpgrade && request.streamSink == nil, of: id, inbox: inbox)
  }

  /// Returns the buffer of the request's head for reuse. Call this only after the exchange has ended.
  func giveUpHeadBuffer() -> [UInt8] { Swift.exchange(&headBytes, with: []) }

  // MARK: Connection

  /// Records the times of a failed attempt to open a connection.
  func note(_ opening: OpeningTimes) {
    metrics.connection = ConnectionRecord(id: nil, opening: opening)
  }

  /// Records the connection of an exchange that ends before its request is sent.
  func noteUnsent(on connection: Connection) {
    metrics.connection = connection.record
    metrics.isReusedConnection = connection.mayBeStale
  }

  /// Assigns a connection to the exchange until its response is complete.
  func begin(on connection: Connection, now: Instant) {
    self.connection = connection
    metrics.connection = connection.record
    metrics.isReusedConnection = connection.mayBeStale
    metrics.requestStart = now
    metrics.requestHeadBytes = headBytes.count
    enter(.send, now: now)
  }

  /// Whether the request body has bytes left to send, now or after its producer has written more.
  var hasBodyToSend: Bool {
    hasBody && (requestState == .sending || requestState == .awaitingProducer) && !body.isExhausted
  }

  /// Whether the entire request body has been read from its source.
  var isBodyExhausted: Bool { !hasBody || body.isExhausted }

  /// Notifies the producer of the request body that the engine needs no more bytes.
  func abandonBody() {
    if hasBody { body.abandon() }
  }

  /// Called when the final response has arrived. If the server hasn't permitted the request body (with `100 Continue` or `101`),
  /// the engine doesn't send the body.
  func refuseBody() {
    switch requestState {
    case .awaitingContinue, .awaitingUpgrade: requestState = .refused
    case .sending, .awaitingProducer, .refused: break
    }
  }

  /// Records that bytes of the request have been passed to the kernel.
  func noteSent() {
    if progress == .nothingSent { progress = .sent }
  }

  // MARK: Time

  /// Moves the exchange to `phase`, and restarts the time of that phase even if the exchange is already in it.
  func enter(_ phase: Phase, now: Instant) {
    if self.phase == .poolWait, phase != .poolWait {
      let total = waited + (now - phaseStart)
      waited = total
    }
    self.phase = phase
    phaseStart = now
  }

  /// The current deadline: the end of the phase's time limit or of the total time limit, whichever is earlier. Phase limits don't
  /// apply during pauses for which the server isn't responsible.
  var deadline: Instant? {
    // The phases of opening a connection have separate deadlines. TLS that starts later counts here.
    let isOpening =
      switch phase {
      case .tls where connection != nil: false
      case .resolve, .connect, .proxy, .tls: true
      default: false
      }
    // As long as bytes are unsent, the exchange waits for the server, not for the producer.
    let isProducers = requestState == .awaitingProducer && connection?.transport.unsentCount == 0
    let isTimed =
      switch response {
      case .awaitingHead, .receiving, .securing: true
      case .upgraded, .discarded, .ended: false
      }
    let isOurs = isOpening || isPaused || isProducers || !isTimed
    var phaseEnd: Instant?
    if !isOurs, let limit = request.timeouts.limit(of: phase) {
      phaseEnd = phaseStart + (phase == .poolWait ? limit - waited : limit)
    }
    guard let total = request.timeouts.total else { return phaseEnd }
    let totalEnd = metrics.start + total
    return min(phaseEnd ?? totalEnd, totalEnd)
  }

  /// Returns the time limit that has been exceeded: the total limit if its deadline has passed, and otherwise the limit of the
  /// phase.
  func passedLimit(now: Instant) -> EngineError.Cause {
    if let total = request.timeouts.total, hasPassedTotal(now: now) { return .totalLimit(total) }
    return .limit(request.timeouts.limit(of: phase) ?? .zero)
  }

  /// Whether the time limit of the entire exchange has passed.
  func hasPassedTotal(now: Instant) -> Bool {
    request.timeouts.total.map { metrics.start + $0 <= now } ?? false
  }

  // MARK: Response

  /// Returns whether at most `byteCountMax` bytes of the response body remain and the connection can be reused afterward. The rest
  /// of a chunked body counts as one byte, because its length is unknown.
  func isRestShort(_ byteCountMax: Int) -> Bool {
    guard case .receiving(let framing) = response else { return true }
    return switch framing {
    case .none: true
    case .chunked: byteCountMax > 0
    case .length(let length): length - metrics.responseBodyBytes <= UInt64(clamping: byteCountMax)
    case .untilClose: false
    }
  }

  /// Whether the head of the final response has been received.
  var hasHead: Bool {
    if case .awaitingHead = response { false } else if case .securing = response { false } else { true }
  }

  var isDiscarded: Bool {
    if case .discarded = response { true } else { false }
  }

  /// Whether the sink has been notified that the exchange has ended.
  var hasEnded: Bool {
    if case .ended = response { true } else { false }
  }

  /// Whether received body bytes, in `undecoded` or in the decoder, haven't been delivered to the sink yet.
  var hasPendingBody: Bool { !undecoded.isEmpty || !isDecoderDry }

  /// Whether the delivery of the response is paused, because the caller has paused the exchange or the receive window is used up.
  /// The delivery of a head needs no window.
  var isPaused: Bool { isPausedByCaller || (hasHead && windowBytes <= 0) }

  /// Delivers the response head to the sink, and returns the sink's decision about the body. If the sink wants the body, throws
  /// `Failure.coding` if the body has too many codings or an unknown one, and `.bodyTooLarge` if the head declares a body longer
  /// than the request permits.
  func receive(
    head: consuming ResponseHead, framing: BodyFraming, transferCodings: [TransferCoding]
  ) throws(Failure) -> BodyDisposition {
    response = .receiving(framing)
    metrics.responseHeadBytes = head.byteCount
    let contentCodings = decodedCodings(of: head)
    // If the codings are refused, the body isn't delivered, so the delivered length isn't `Content-Length`.
    head.isContentDecoded = (try? contentCodings.get().isEmpty) != true
    // The sink decides first, because the coding of a discarded body, such as that of a redirect, doesn't matter.
    guard sink.receive(head: head) == .deliver else { return .discard }
    do throws(CodingError) {
      var codings = framing == .none ? [] : try contentCodings.get()
      // Transfer codings are applied after content codings, so they are decoded first. They are
      // always decoded, regardless of `decodesContent`.
      for coding in transferCodings { codings.append(coding == .gzip ? .gzip : .deflate) }
      if !codings.isEmpty {
        decoder = try ContentDecoder(codings, limits: codingLimits.within(bodyBytesMax: request.bodyBytesMax))
        isDecoding = true
      }
    } catch {
      throw .coding(error)
    }
    // The length of a coded body says nothing about the length of the decoded body.
    if !isDecoding, head.declaresBody(longerThan: request.bodyBytesMax, framing) {
      throw .bodyTooLarge(request.bodyBytesMax)
    }
    return .deliver
  }

  /// Returns the content codings that the exchange must decode, or an error if Content-Encoding has an unknown coding or too many
  /// codings.
  private func decodedCodings(of head: ResponseHead) -> Result<[ContentCoding], CodingError> {
    guard request.decodesContent, let list = head.fields.list("Content-Encoding") else { return .success([]) }
    return Result { () throws(CodingError) in try ContentCoding.decodable(list, limits: codingLimits) }
  }

  /// Decodes received body bytes and delivers them to the sink, as far as the receive window permits. Stores the remaining bytes in
  /// `undecoded`.
  func receive(body bytes: borrowing Span<UInt8>, scratch: inout [UInt8]) throws(Failure) {
    metrics.responseBodyBytes += UInt64(bytes.count)
    let used = hasPendingBody ? 0 : try deliver(bytes, scratch: &scratch)
    if used < bytes.count {
      undecoded.append(copying: bytes, used..<bytes.count)
    }
  }

  /// Removes and returns the received bytes that weren't delivered, because the window was used up.
  func takeUndelivered() -> [UInt8] { Swift.exchange(&undecoded, with: []) }

  /// Delivers body bytes that were received earlier but not delivered, as far as the receive window permits. Returns whether all of
  /// them were delivered.
  func deliverPending(scratch: inout [UInt8]) throws(Failure) -> Bool {
    if hasPendingBody {
      let pending = Swift.exchange(&undecoded, with: [])
      let used = try deliver(pending.span, scratch: &scratch)
      if used < pending.count { undecoded = Array(pending[used...]) }
    }
    return !hasPendingBody
  }

  /// Throws `Failure.coding` if the response body ended in the middle of its compressed data.
  func checkBodyIsComplete() throws(Failure) {
    guard isDecoding else { return }
    do {
      try decoder?.finish()
    } catch {
      throw .coding(error)
    }
  }

  private func deliver(_ bytes: borrowing Span<UInt8>, scratch: inout [UInt8]) throws(Failure) -> Int {
    guard isDecoding else {
      let count = min(bytes.count, isPausedByCaller ? 0 : max(windowBytes, 0))
      if count > 0 {
        let bytesMax = request.bodyBytesMax
        guard metrics.decodedBodyBytes + UInt64(count) <= UInt64(clamping: bytesMax) else {
          throw .bodyTooLarge(bytesMax)
        }
        deliverDecoded(bytes.extracting(0..<count))
      }
      return count
    }
    var used = 0
    isDecoderDry = false
    while !isPaused, !isDecoderDry {
      let progress = try decode(bytes.extracting(used..<bytes.count), scratch: &scratch)
      used += progress.consumed
      isDecoderDry = progress.produced == 0
    }
    return used
  }

  /// Decodes bytes of the response body and delivers the result, at most as many bytes as the receive window permits.
  private func decode(
    _ bytes: borrowing Span<UInt8>, scratch: inout [UInt8]
  ) throws(Failure) -> CodingProgress {
    do {
      // The decoder enforces the request's `bodyBytesMax`.
      guard
        let progress = try decoder?.decode(bytes.bytes, upTo: windowBytes, scratch: &scratch, receive: deliverDecoded)
      else {
        preconditionFailure("the body has no decoder")
      }
      return progress
    } catch {
      throw .coding(error)
    }
  }

  private func deliverDecoded(_ bytes: borrowing Span<UInt8>) {
    metrics.decodedBodyBytes += UInt64(bytes.count)
    if windowBytes != .max { windowBytes -= bytes.count }
    if let channel = openWebSocket { channel.receive(bytes: bytes) } else { sink.receive(body: bytes) }
  }

  /// Resets the exchange, so that its request can be sent again. If `isExpecting` is false, the new head omits `Expect:
  /// 100-continue`.
  func rewind(isExpecting: Bool, inbox: Inbox, now: Instant) throws(Failure) {
    abandonBody()
    body = try Self.source(of: request, traits, id, inbox)
    if self.isExpecting, !isExpecting {
      self.isExpecting = false
      headBytes = try Self.head(of: request, traits, isExpecting: false, for: key, into: [])
    }
    requestState = RequestState(traits, isExpecting: self.isExpecting)
    response = .awaitingHead
    progress = .nothingSent
    connection = nil
    decoder = nil
    isDecoding = false
    metrics.restart()
    enter(.setup, now: now)
    waited = .zero
  }
}
