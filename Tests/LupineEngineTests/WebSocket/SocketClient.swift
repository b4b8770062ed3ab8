// SocketClient: a WebSocket on the engine for tests, with a server and a clock.

import LupineEngine
import LupineOrigin
import LupineReactor
import LupineTestSupport
import LupineWebSocket
import Synchronization

/// A WebSocket connection of an engine, without redirects.
final class SocketClient: ResponseSink {
  let channel: WebSocketChannel
  let heads = Recorder<Result<WebSocketAgreement, WebSocketHandshakeError>>()
  let endings = Recorder<WebSocketChannel.Ending>()
  /// The codes of the exchange's error, or nil if it succeeded.
  let ends = Recorder<EngineError.Code?>()
  private let opening: WebSocketOpening
  private let handle = Mutex<ExchangeHandle?>(nil)
  private let engine: Engine

  init(
    _ engine: Engine, _ url: String, subprotocols: [String] = [], deflate: DeflateOffer? = nil,
    limits: WebSocketLimits = WebSocketLimits(), timeouts: WebSocketTimeouts = WebSocketTimeouts(),
    timer: WebSocketChannel.Timer = .continuous, windowBytes: Int = 64 * 1024
  ) throws {
    self.engine = engine
    channel = WebSocketChannel(limits: limits, timeouts: timeouts, timer: timer)
    opening = WebSocketOpening(subprotocols: subprotocols, deflate: deflate)
    var request = EngineRequest(uri: try URI(url))
    channel.connect(
      to: WebSocketChannel.Transport(
        windowBytes: windowBytes,
        extendWindow: { [weak self] count in self?.handle.withLock { $0 }?.extendWindow(by: count) },
        close: { [weak self] in self?.handle.withLock { $0 }?.discardBody() },
        onEnd: { [endings] in endings.record($0) }))
    opening.prepare(&request, for: channel)
    // The lock is held so that the handle is known when the first bytes arrive.
    handle.withLock { $0 = engine.submit(request, to: self, windowBytes: windowBytes) }
  }

  func cancel() { handle.withLock { $0 }?.cancel() }

  func receive(head: ResponseHead) -> BodyDisposition {
    let result = Result { () throws(WebSocketHandshakeError) in try opening.check(status: head.status, head.fields) }
    if case .success(let agreement) = result { channel.open(agreement) }
    heads.record(result)
    if case .success = result { return .deliver } else { return .discard }
  }

  /// Does nothing. The engine passes the frames to the channel.
  func receive(body bytes: borrowing Span<UInt8>) {}

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    channel.transportEnded()
    if case .failure(let error) = result { ends.record(error.code) } else { ends.record(nil) }
  }

  // MARK: Async forms

  func send(_ message: WebSocketMessage) async -> WebSocketChannel.Ending? {
    await withCheckedContinuation { continuation in
      channel.send(message) { continuation.resume(returning: $0) }
    }
  }

  func ping() async -> WebSocketChannel.Ending? {
    await withCheckedContinuation { continuation in channel.ping { continuation.resume(returning: $0) } }
  }

  func receive() async -> Result<WebSocketMessage, WebSocketChannel.Ending> {
    await withCheckedContinuation { continuation in channel.receive { continuation.resume(returning: $0) } }
  }
}

/// Calls `body` with a server whose connections `handler` serves, and with an engine.
func withSocketServer<Value>(
  tls: ServerIdentity? = nil, _ handler: @escaping @Sendable (Peer) throws -> Void,
  _ body: (OriginServer, Engine) async throws -> Value
) async throws -> Value {
  let origin = try OriginServer(tls: tls, handler: handler)
  defer { origin.stop() }
  let engine = try Engine()
  defer { withExtendedLifetime(engine) {} }
  return try await body(origin, engine)
}

/// A clock whose time a test sets.
final class ManualTimer: Sendable {
  private struct State {
    var now = Instant.now
    var sleepers: [(Instant, CheckedContinuation<Void, Never>)] = []
    var passedCount = 0
    var hasEnded = false
  }

  private let state = Mutex(State())
  /// How often a deadline was awaited that had passed already.
  var passedCount: Int { state.withLock { $0.passedCount } }
  let deadlines = Recorder<Duration>()

  var timer: WebSocketChannel.Timer {
    WebSocketChannel.Timer(now: { self.state.withLock { $0.now } }) { deadline in
      await withCheckedContinuation { continuation in
        let (rest, sleeps) = self.state.withLock { state in
          let sleeps = deadline > state.now && !state.hasEnded
          if sleeps { state.sleepers.append((deadline, continuation)) } else { state.passedCount += 1 }
          return (deadline - state.now, sleeps)
        }
        self.deadlines.record(rest)
        if !sleeps { continuation.resume() }
      }
    }
  }

  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now + duration
      let due = state.sleepers.filter { $0.0 <= state.now }
      state.sleepers.removeAll { $0.0 <= state.now }
      return due
    }
    for (_, continuation) in due { continuation.resume() }
  }

  /// Ends all waiting, also that of tasks that begin to wait later.
  func end() {
    let sleepers = state.withLock { state in
      defer { (state.sleepers, state.hasEnded) = ([], true) }
      return state.sleepers
    }
    for (_, continuation) in sleepers { continuation.resume() }
  }
}
