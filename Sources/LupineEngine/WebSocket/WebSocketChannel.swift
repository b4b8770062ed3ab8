// WebSocketChannel: passes messages between a caller and the loop of an upgraded connection, with backpressure in both directions.

internal import LupineCoding
package import LupineReactor
package import LupineWebSocket
internal import Synchronization

/// A WebSocket connection as its user sees it: messages to send and to receive, pings, and the end. Thread-safe.
///
/// The channel is created before its connection; messages sent in the meantime are kept. The engine passes the bytes of the upgraded
/// connection to `receive(bytes:)`. All closures are called one at a time, without a lock, in the order of their causes.
package final class WebSocketChannel: Sendable {
  /// How the connection has ended.
  package enum Ending: Error, Equatable {
    /// The server has sent a Close frame, first or in reply.
    case closed(WebSocketClose)
    /// The server has broken the protocol or a limit, or didn't answer a ping.
    case failed(WebSocketError)
    /// The connection ended without a Close frame.
    case lost
    /// The caller has closed the connection or wants no more messages. Only calls of `send`, `ping` and `receive` end this way.
    case discarded
  }

  /// Called with nil after success, or with the reason why the connection can't be used.
  package typealias Completion = @Sendable (Ending?) -> Void
  package typealias Receiver = @Sendable (Result<WebSocketMessage, Ending>) -> Void

  /// The owner's connection to the server.
  package struct Transport: Sendable {
    /// The number of bytes that the owner may pass on before the first call of `extendWindow`.
    var windowBytes: Int
    /// Permits the owner to pass on as many bytes more. Called when half of the window or 16 KiB have been parsed, because each call
    /// wakes the loop.
    var extendWindow: @Sendable (Int) -> Void
    /// Closes the connection, because the server hasn't done so in time.
    var close: @Sendable () -> Void
    /// Called once, when the connection has ended and all received messages have been parsed and taken, or if no message is taken
    /// for `WebSocketTimeouts.untakenMessages`.
    var onEnd: @Sendable (Ending) -> Void

    package init(
      windowBytes: Int, extendWindow: @escaping @Sendable (Int) -> Void, close: @escaping @Sendable () -> Void,
      onEnd: @escaping @Sendable (Ending) -> Void
    ) {
      self.windowBytes = windowBytes
      self.extendWindow = extendWindow
      self.close = close
      self.onEnd = onEnd
    }
  }

  /// The source of time, which tests replace.
  package struct Timer: Sendable {
    var now: @Sendable () -> Instant
    var sleep: @Sendable (_ deadline: Instant) async -> Void

    package init(
      now: @escaping @Sendable () -> Instant,
      sleep: @escaping @Sendable (_ deadline: Instant) async -> Void
    ) {
      self.now = now
      self.sleep = sleep
    }

    package static let continuous = Timer(now: { .now }, sleep: { try? await Task.sleep(for: $0 - .now) })
  }

  private let timer: Timer
  private let state: Mutex<WebSocketChannelState>
  private let loopResumptions = AtomicLazyReference<Resumptions>()

  /// Creates a channel whose connection isn't open yet. `connect` must be called before anything is received.
  package init(
    limits: WebSocketLimits, timeouts: WebSocketTimeouts = WebSocketTimeouts(), timer: Timer = .continuous
  ) {
    state = Mutex(WebSocketChannelState(limits, timeouts))
    self.timer = timer
  }

  deinit { state.withLock { $0.timer?.cancel() } }

  // MARK: The caller's side

  /// Sends a message. Calls `completion` when the message has been buffered and fewer than 64 KiB are waiting to be sent.
  package func send(_ message: WebSocketMessage, completion: @escaping Completion) {
    perform { $0.send(message, completion) }
  }

  /// Sends a message. Returns the result, or nil if the message waits for the connection to open or for room. The completion that
  /// `later` returns is then called as in `send(_:completion:)`. `later` is called while a lock is held.
  package func send(_ message: WebSocketMessage, later: () -> Completion) -> Result<Void, Ending>? {
    perform { $0.send(message, later: later) }
  }

  /// Sends a ping. Calls `completion` when the pong arrives.
  package func ping(completion: @escaping Completion) { perform { $0.ping(completion) } }

  /// Calls `receiver` with the next message. Several calls get the messages in their order.
  package func receive(_ receiver: @escaping Receiver) { perform { $0.receive(receiver, at: timer.now()) } }

  /// Takes the next message. Returns it, or nil if none has arrived. The receiver that `later` returns is then called as in
  /// `receive(_:)`. `later` is called while a lock is held.
  package func receive(later: () -> Receiver) -> Result<WebSocketMessage, Ending>? {
    perform { $0.receive(at: timer.now(), later: later) }
  }

  /// Sends a Close frame. The connection ends when the server answers, or after `WebSocketTimeouts.close`. Returns false if the
  /// connection isn't open. If `isDiscarding` is true, discards the messages that haven't been taken and those that still arrive.
  @discardableResult
  package func close(_ close: WebSocketClose, discarding isDiscarding: Bool = true) -> Bool {
    perform { $0.close(close, discarding: isDiscarding, at: timer.now()) }
  }

  /// Whether the connection was closed by either side, was lost or has failed. False before it is open.
  package var isEnding: Bool { state.withLock { $0.isEnding } }

  /// Sets whether the caller has stopped the owner from reading, so that the pong for a ping can't arrive. `isPaused` is called while
  /// a lock is held, so that the latest of several calls has the latest value.
  package func setReadingPaused(_ isPaused: () -> Bool) {
    state.withLock { $0.setReadingPaused(isPaused(), at: timer.now()) }
  }

  /// Discards the messages that haven't been taken and those that still arrive, because the caller wants none.
  package func discard() { perform { $0.discard(at: timer.now()) } }

  /// The limits for messages that arrive from now on.
  package var limits: WebSocketLimits {
    get { state.withLock { $0.limits } }
    set { state.withLock { $0.limits = newValue } }
  }

  /// The time limits, which have no effect if they are set after `open`.
  package var timeouts: WebSocketTimeouts {
    get { state.withLock { $0.timeouts } }
    set { state.withLock { $0.timeouts = newValue } }
  }

  /// The numbers of bytes that were received and sent after the opening handshake.
  package var byteCounts: (received: Int64, sent: Int64) {
    state.withLock { ($0.receivedByteCount, $0.sentByteCount) }
  }

  /// Resumes together the Swift tasks whose messages arrive in one iteration of the connection's loop. Nil before the connection has
  /// switched to WebSocket, and on the loop's thread.
  package var resumptions: Resumptions? { loopResumptions.load()?.forThisThread }

  /// Sets a closure that is called with the header of each frame, while a lock is held. Has no effect after `open`.
  package func trace(_ tracer: @escaping @Sendable (FrameTrace) -> Void) { state.withLock { $0.tracer = tracer } }

  // MARK: The owner's side

  /// Sets the owner's connection to the server.
  package func connect(to transport: Transport) { state.withLock { $0.connect(to: transport) } }

  /// Sends the connection's bytes to `writer` from now on.
  package func attach(_ writer: BodyWriter) {
    writer.onAbandon { [weak self] in self?.perform { $0.outputAbandoned() } }
    let whenRoom: @Sendable () -> Void = { [weak self] in self?.perform { $0.outputTaken() } }
    perform { ($0.writer, $0.whenRoom) = (writer, whenRoom) }
  }

  /// Begins the exchange of messages after the opening handshake. `onOpen` is called when the channel can be closed, and before
  /// messages are delivered.
  package func open(_ agreement: WebSocketAgreement, then onOpen: @escaping @Sendable () -> Void = {}) {
    let now = timer.now()
    perform { $0.open(agreement, at: now, then: onOpen) }
  }

  /// Called when the connection has switched to WebSocket, with the object that resumes Swift tasks after an iteration of its loop.
  func use(_ resumptions: Resumptions) { _ = loopResumptions.storeIfNil(resumptions) }

  /// Processes bytes that the server has sent after its response head. They are kept until `open` is called.
  package func receive(bytes: borrowing Span<UInt8>) {
    perform { $0.receive(bytes, at: timer.now()) }
  }

  /// Called when the connection has ended, for whatever reason, and no more bytes follow.
  package func transportEnded() { perform { $0.transportEnded(at: timer.now()) } }

  // MARK: Actions

  private func perform<Value>(_ event: (inout WebSocketChannelState) -> Value) -> Value {
    let (value, isFirst) = state.withLock { state -> (Value, Bool) in
      let value = event(&state)
      write(&state)
      arm(&state)
      return (value, state.beginDelivery())
    }
    if isFirst { performActions() }
    return value
  }

  // Not inlined, because each use of `perform` would contain a copy.
  @inline(never)
  private func performActions() {
    var actions: [WebSocketChannelState.Action] = []
    while state.withLock({ $0.takeActions(into: &actions) }) {
      for action in actions { perform(action) }
      actions.removeAll(keepingCapacity: true)
    }
  }

  private func perform(_ action: WebSocketChannelState.Action) {
    switch action {
    case .opened(let onOpen): onOpen()
    case .call(let completion, let ending): completion(ending)
    case .deliver(let receiver, let result): receiver(result)
    case .extendWindow(let byteCount): transport?.extendWindow(byteCount)
    case .closeTransport: transport?.close()
    case .end(let ending): transport?.onEnd(ending)
    }
  }

  private var transport: Transport? { state.withLock { $0.transport } }

  /// Passes the bytes to send to the loop. Called with the lock, so that the bytes stay in order.
  private func write(_ state: inout WebSocketChannelState) {
    guard let writer = state.writer else { return }
    let bytes = state.takeOutput()
    if !bytes.isEmpty {
      if !writer.append(bytes, whenRoom: state.whenRoom) { state.outputIsBacklogged() }
    }
    if state.isOutputComplete { writer.end() }
  }

  /// Starts a timer if a deadline is earlier than the one that is awaited.
  private func arm(_ state: inout WebSocketChannelState) {
    guard let next = state.nextDeadline else { return }
    if state.timer != nil, let armed = state.timerDeadline, armed <= next { return }
    state.timer?.cancel()
    state.timerDeadline = next
    state.timer = Task { [weak self, timer] in
      await timer.sleep(next)
      guard !Task.isCancelled else { return }
      self?.perform { state in
        (state.timer, state.timerDeadline) = (nil, nil)
        state.expire(at: timer.now())
      }
    }
  }
}
