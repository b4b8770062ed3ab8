// WebSocketChannelState: the decisions of a WebSocketChannel: events in, actions out, without locks or I/O.

internal import LupineCoding
internal import LupineReactor
internal import LupineWebSocket

/// The state of a WebSocket channel: the protocol, received messages, and callers that wait.
struct WebSocketChannelState: ~Copyable, Sendable {
  typealias Completion = WebSocketChannel.Completion
  typealias Receiver = WebSocketChannel.Receiver
  typealias Ending = WebSocketChannel.Ending

  /// What the channel must do after it has released its lock.
  enum Action: Sendable {
    case opened(@Sendable () -> Void)
    case call(Completion, Ending?)
    case deliver(Receiver, Result<WebSocketMessage, Ending>)
    case extendWindow(Int)
    case closeTransport
    case end(Ending)
  }

  /// The maximum size of the received messages that no caller has taken: 256 KiB, the engine's default window. Beyond it, bytes stay
  /// unparsed, until the window is used up and TCP stops the server. The limit may be exceeded by one message.
  private static let unreadBytesMax = 256 << 10
  /// The number of parsed bytes by which the window is extended at least, unless half of the window is less: 16 KiB.
  private static let extensionBytesMin = 16 << 10
  /// The assumed size of a message in addition to its bytes, so that empty messages count too: 64 bytes.
  private static let messageOverheadBytes = 64
  /// The number of taken messages, or parsed bytes, at the start of a buffer from which on they are removed.
  private static let removedCountMin = 4096

  /// The protocol, after the opening handshake.
  private var connection: WebSocketConnection?
  private var deadlines: WebSocketDeadlines?
  var timeouts: WebSocketTimeouts
  var tracer: (@Sendable (FrameTrace) -> Void)?
  var limits: WebSocketLimits {
    didSet { connection?.limits = limits }
  }
  var writer: BodyWriter?
  /// The closure that the writer calls when it has room again. Created once, because most messages need none.
  var whenRoom: (@Sendable () -> Void)?
  var timer: Task<Void, Never>?
  var timerDeadline: Instant?

  /// Messages and pings that were sent before the connection was open.
  private var early: [(message: WebSocketMessage?, completion: Completion)] = []
  /// Sends that wait until the output has room.
  private var blockedSends: [Completion] = []
  private var pings: [(number: UInt32, completion: Completion)] = []
  private var pingCount: UInt32 = 0
  private var isOutputAbandoned = false

  private var input: [UInt8] = []
  /// The number of bytes at the start of `input` that have been parsed.
  private var parsedCount = 0
  /// The number of parsed bytes by which the window hasn't been extended yet.
  private var unextendedBytes = 0
  private var messages: [WebSocketMessage] = []
  /// The number of elements at the start of `messages` that have been taken.
  private var takenCount = 0
  private var unreadBytes = 0
  private var receivers: [Receiver] = []
  private var isDiscarding = false
  /// Whether the caller has stopped the owner from passing on bytes.
  private var isReadingPaused = false
  private var hasTransportEnded = false
  private var ending: Ending?
  /// The server's violation of the protocol, which ends the connection when the caller has processed the messages before it.
  private var pendingError: WebSocketError?
  /// The end that the owner hasn't been notified of, because messages before it haven't been taken.
  private var heldEnding: Ending?
  /// The time at which the owner is notified of `heldEnding` even if no further message has been taken.
  private var heldEndingDeadline: Instant?
  private(set) var transport: WebSocketChannel.Transport?

  private(set) var receivedByteCount: Int64 = 0
  private(set) var sentByteCount: Int64 = 0

  private var actions: [Action] = []
  private var isDelivering = false

  init(_ limits: WebSocketLimits, _ timeouts: WebSocketTimeouts) {
    self.limits = limits
    self.timeouts = timeouts
  }

  // MARK: Actions

  /// Returns whether the caller must now perform actions until `takeActions` returns nil. Only one thread does so at a time, so that
  /// they stay in order.
  mutating func beginDelivery() -> Bool {
    guard !isDelivering, !actions.isEmpty else { return false }
    isDelivering = true
    return true
  }

  /// Moves the actions to perform next into `taken`, which must be empty. Returns false if there are none. The arrays are swapped, so
  /// that their memory is reused.
  mutating func takeActions(into taken: inout [Action]) -> Bool {
    isDelivering = !actions.isEmpty
    swap(&taken, &actions)
    return isDelivering
  }

  // MARK: Sending

  mutating func connect(to transport: WebSocketChannel.Transport) { self.transport = transport }

  /// Whether nothing will be sent after the bytes that `takeOutput` returns next.
  var isOutputComplete: Bool {
    mutating get { connection?.isOpen == false || ending != nil }
  }

  mutating func takeOutput() -> [UInt8] {
    let output = connection?.takeOutput() ?? []
    sentByteCount += Int64(output.count)
    return output
  }

  /// Sends a message. Returns the result, or nil if the completion that `later` returns is called with it later.
  mutating func send(_ message: WebSocketMessage, later: () -> Completion) -> Result<Void, Ending>? {
    guard canSend else { return .failure(sendError) }
    guard connection != nil else {
      early.append((message, later()))
      return nil
    }
    // Compression fails only if memory runs out.
    guard (try? connection?.send(message)) == true else { return .failure(sendError) }
    guard connection?.isBacklogged == true else { return .success(()) }
    blockedSends.append(later())
    return nil
  }

  mutating func send(_ message: WebSocketMessage, _ completion: @escaping Completion) {
    switch send(message, later: { completion }) {
    case .success: actions.append(.call(completion, nil))
    case .failure(let ending): actions.append(.call(completion, ending))
    case nil: break
    }
  }

  mutating func ping(_ completion: @escaping Completion) {
    guard canSend else { return actions.append(.call(completion, sendError)) }
    guard connection != nil else { return early.append((nil, completion)) }
    pingCount &+= 1
    let number = pingCount
    let payload = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    guard connection?.ping(payload) == true else { return actions.append(.call(completion, sendError)) }
    pings.append((number, completion))
  }

  /// Whether the connection can still send, or isn't open yet.
  private var canSend: Bool { ending == nil && !hasTransportEnded && !isOutputAbandoned && !isDiscarding }
  /// The reason why nothing can be sent.
  private var sendError: Ending {
    mutating get { ending ?? (isDiscarding || connection?.isOpen == false ? .discarded : .lost) }
  }

  /// When reading continues, the time for a pong begins again, because the pong may have waited unread.
  mutating func setReadingPaused(_ isPaused: Bool, at now: Instant) {
    if isReadingPaused, !isPaused { deadlines?.received(at: now) }
    isReadingPaused = isPaused
  }

  /// Whether the connection was closed, was lost or has failed.
  var isEnding: Bool {
    mutating get { ending != nil || hasTransportEnded || connection?.isOpen == false }
  }

  mutating func outputIsBacklogged() { connection?.isBacklogged = true }

  mutating func outputTaken() {
    connection?.isBacklogged = false
    for completion in blockedSends { actions.append(.call(completion, isOutputAbandoned ? sendError : nil)) }
    blockedSends = []
  }

  /// Discards the messages that haven't been taken and those that still arrive.
  mutating func discard(at now: Instant) {
    isDiscarding = true
    (messages, takenCount, unreadBytes) = ([], 0, 0)
    connection?.discardMessages()
    failSends()
    endReceivers()
    reportEnding(at: now)
    parseInput(at: now)
  }

  mutating func outputAbandoned() {
    isOutputAbandoned = true
    outputTaken()
  }

  mutating func close(_ close: WebSocketClose, discarding isDiscarding: Bool, at now: Instant) -> Bool {
    guard canSend, connection?.close(close) == true else { return false }
    pendingError = nil
    deadlines?.closing(at: now)
    if isDiscarding { discard(at: now) }
    return true
  }

  // MARK: Receiving

  mutating func open(
    _ agreement: WebSocketAgreement, at now: Instant, then onOpen: @escaping @Sendable () -> Void
  ) {
    // The first action, so that it precedes all messages.
    actions.append(.opened(onOpen))
    connection = WebSocketConnection(deflate: agreement.deflate, limits: limits, random: SystemRandomNumbers())
    connection?.tracer = tracer
    if isDiscarding { connection?.discardMessages() }
    deadlines = WebSocketDeadlines(timeouts, openedAt: now)
    let early = early
    self.early = []
    for (message, completion) in early {
      if let message { send(message, completion) } else { ping(completion) }
    }
    parseInput(at: now)
  }

  mutating func receive(_ receiver: @escaping Receiver, at now: Instant) {
    if let result = take(later: { receiver }) { actions.append(.deliver(receiver, result)) }
    messageTaken(at: now)
  }

  /// Takes the next message. Returns it, or nil if the receiver that `later` returns is called with it later.
  mutating func receive(at now: Instant, later: () -> Receiver) -> Result<WebSocketMessage, Ending>? {
    defer { messageTaken(at: now) }
    return take(later: later)
  }

  private mutating func take(later: () -> Receiver) -> Result<WebSocketMessage, Ending>? {
    if let message = takeMessage() { return .success(message) }
    if isDiscarding || ending != nil { return .failure(sendError) }
    receivers.append(later())
    return nil
  }

  /// Continues after a message was taken, or a receiver waits for one.
  private mutating func messageTaken(at now: Instant) {
    if pendingError != nil, !receivers.isEmpty { return endPending(at: now) }
    reportEnding(at: now)
    if parsedCount < input.count { parseInput(at: now) }
  }

  private mutating func takeMessage() -> WebSocketMessage? {
    guard takenCount < messages.count else { return nil }
    let message = messages[takenCount]
    takenCount += 1
    unreadBytes -= message.byteCount + Self.messageOverheadBytes
    if takenCount == messages.count || takenCount == Self.removedCountMin {
      messages.removeFirst(takenCount)
      takenCount = 0
    }
    return message
  }

  mutating func receive(_ bytes: borrowing Span<UInt8>, at now: Instant) {
    receivedByteCount += Int64(bytes.count)
    deadlines?.received(at: now)
    guard input.isEmpty else {
      input.append(copying: bytes, 0..<bytes.count)
      return parseInput(at: now)
    }
    let count = parse(bytes, at: now)
    if count < bytes.count { input.append(copying: bytes, count..<bytes.count) }
  }

  private mutating func parseInput(at now: Instant) {
    var bytes = exchange(&input, with: [])
    parsedCount += parse(bytes.span.extracting(parsedCount...), at: now)
    if parsedCount == bytes.count {
      (bytes, parsedCount) = ([], 0)
    } else if parsedCount >= Self.removedCountMin {
      bytes.removeFirst(parsedCount)
      parsedCount = 0
    }
    input = bytes
    if hasTransportEnded, input.isEmpty { end(.lost, at: now) }
  }

  /// Parses bytes while there is room for messages. Returns the number of parsed bytes.
  private mutating func parse(_ bytes: borrowing Span<UInt8>, at now: Instant) -> Int {
    var cursor = 0
    do throws(WebSocketError) {
      events: while hasRoom, connection != nil {
        switch try connection?.receive(bytes, at: &cursor) {
        case .message(let message): accept(message)
        case .ping: break
        case .pong(let payload): accept(pong: payload)
        case .close(let close): end(.closed(close), at: now)
        case .needMoreBytes, nil: break events
        }
      }
    } catch {
      // A caller that hasn't asked for the next message may still be answering the previous one. Its answer is sent before the Close
      // frame.
      pendingError = error
      if receivers.isEmpty, !isDiscarding { deadlines?.failing(at: now) } else { endPending(at: now) }
      // The connection ignores all further bytes.
      cursor = bytes.count
    }
    unextendedBytes += cursor
    if unextendedBytes >= min(Self.extensionBytesMin, (transport?.windowBytes ?? 0) / 2), unextendedBytes > 0 {
      actions.append(.extendWindow(unextendedBytes))
      unextendedBytes = 0
    }
    return cursor
  }

  private var hasRoom: Bool {
    isDiscarding || ending != nil || pendingError != nil || !receivers.isEmpty || unreadBytes < Self.unreadBytesMax
  }

  private mutating func accept(_ message: WebSocketMessage) {
    guard receivers.isEmpty else { return actions.append(.deliver(receivers.removeFirst(), .success(message))) }
    messages.append(message)
    unreadBytes += message.byteCount + Self.messageOverheadBytes
  }

  /// Completes the ping with this payload. A server may answer only the latest of several pings (RFC 6455 §5.5.3), so earlier ones
  /// are completed too.
  private mutating func accept(pong payload: [UInt8]) {
    guard payload.count == 4 else { return }
    let number = payload.reduce(0) { $0 << 8 | UInt32($1) }
    guard let index = pings.firstIndex(where: { $0.number == number }) else { return }
    for ping in pings[...index] { actions.append(.call(ping.completion, nil)) }
    pings.removeFirst(index + 1)
  }

  // MARK: Ending

  mutating func transportEnded(at now: Instant) {
    hasTransportEnded = true
    if pendingError != nil { endPending(at: now) }
    failSends()
    if input.isEmpty || connection == nil { end(.lost, at: now) }
    deadlines = nil
    if nextDeadline == nil {
      timer?.cancel()
      (timer, timerDeadline) = (nil, nil)
    }
  }

  var nextDeadline: Instant? {
    guard let held = heldEndingDeadline else { return deadlines?.next }
    return min(deadlines?.next ?? held, held)
  }

  mutating func expire(at now: Instant) {
    if let held = heldEndingDeadline, held <= now { notifyOfEnding() }
    switch deadlines?.expire(at: now) {
    case .sendPing: _ = connection?.ping()
    case .pongIsMissing where isReadingPaused || !input.isEmpty:
      // The pong may be among the bytes that the caller hasn't let the channel read.
      deadlines?.received(at: now)
    case .pongIsMissing(let limit):
      connection?.fail(.pingTimedOut(limit))
      end(.failed(.pingTimedOut(limit)), at: now)
      actions.append(.closeTransport)
      deadlines = nil
    case .failureIsDue: endPending(at: now)
    case .closeIsMissing:
      actions.append(.closeTransport)
      deadlines = nil
    case nil: break
    }
  }

  private mutating func endPending(at now: Instant) {
    guard let error = pendingError.take() else { return }
    connection?.fail(error)
    end(.failed(error), at: now)
  }

  private mutating func end(_ ending: Ending, at now: Instant) {
    guard self.ending == nil else { return }
    self.ending = ending
    deadlines?.closing(at: now)
    failSends()
    endReceivers()
    heldEnding = ending
    reportEnding(at: now)
  }

  /// Notifies the owner of the end as soon as the messages before it have been taken, or after a time without a taken message.
  private mutating func reportEnding(at now: Instant) {
    guard heldEnding != nil else { return }
    if messages.isEmpty { notifyOfEnding() } else { heldEndingDeadline = timeouts.untakenMessages.map { now + $0 } }
  }

  private mutating func notifyOfEnding() {
    heldEndingDeadline = nil
    if let ending = heldEnding.take() { actions.append(.end(ending)) }
  }

  private mutating func failSends() {
    for (_, completion) in early { actions.append(.call(completion, sendError)) }
    for (_, completion) in pings { actions.append(.call(completion, sendError)) }
    (early, pings) = ([], [])
  }

  private mutating func endReceivers() {
    for receiver in receivers { actions.append(.deliver(receiver, .failure(sendError))) }
    receivers = []
  }
}
