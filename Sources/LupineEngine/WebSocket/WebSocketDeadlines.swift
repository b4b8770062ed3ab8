// WebSocketDeadlines: when a connection sends pings, and when it stops waiting for its peer. Time is a parameter.

internal import LupineReactor
internal import LupineWebSocket

/// The deadlines of an open connection: the next ping, the pong for it, and the end after a Close frame.
struct WebSocketDeadlines: Sendable {
  /// What must happen at a deadline.
  enum Expiry: Sendable, Equatable {
    case sendPing
    /// The peer hasn't answered a ping within this time.
    case pongIsMissing(after: Duration)
    case closeIsMissing
    case failureIsDue
  }

  private enum State {
    case idle(ping: Instant?)
    case awaitingPong(until: Instant)
    case closing(until: Instant)
    case failing(until: Instant)
  }

  private let timeouts: WebSocketTimeouts
  private var state: State

  init(_ timeouts: WebSocketTimeouts, openedAt now: Instant) {
    self.timeouts = timeouts
    state = .idle(ping: timeouts.pingInterval.map { now + $0 })
  }

  /// The time at which `expire` must be called, or nil if there is none.
  var next: Instant? {
    switch state {
    case .idle(let ping): ping
    case .awaitingPong(let end), .closing(let end), .failing(let end): end
    }
  }

  /// Records that bytes of the peer have arrived. They prove that the connection works, like a pong.
  mutating func received(at now: Instant) {
    switch state {
    case .idle, .awaitingPong: state = .idle(ping: timeouts.pingInterval.map { now + $0 })
    case .closing, .failing: break
    }
  }

  /// Records that the peer has broken the protocol, and that the connection fails when the messages before have been processed.
  mutating func failing(at now: Instant) { state = .failing(until: now + timeouts.close) }

  /// Records that a Close frame was sent or that the connection has failed, so that only its end is awaited.
  mutating func closing(at now: Instant) {
    if case .closing = state { return }
    state = .closing(until: now + timeouts.close)
  }

  /// Returns what must happen now, or nil if no deadline has passed.
  mutating func expire(at now: Instant) -> Expiry? {
    guard let next, next <= now else { return nil }
    switch state {
    case .idle:
      state = .awaitingPong(until: now + timeouts.pong)
      return .sendPing
    case .awaitingPong: return .pongIsMissing(after: timeouts.pong)
    case .closing: return .closeIsMissing
    case .failing: return .failureIsDue
    }
  }
}
