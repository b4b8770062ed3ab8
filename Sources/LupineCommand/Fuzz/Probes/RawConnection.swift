// RawConnection: a connection to the fuzzed server that carries any bytes, in limited time and memory.

import LupineEngine
import Synchronization

/// A connection that sends given bytes, and receives a limited number of bytes.
final class RawConnection: StreamSink {
  /// The maximum number of bytes received on a connection: 1 MiB. The engine reads no more from the server.
  static let receivedBytesMax = 1024 * 1024

  enum Arrival {
    case bytes([UInt8])
    /// The server has closed the connection.
    case closed
    /// The connection failed before it was open, or was lost afterward.
    case failed(EngineError, wasOpen: Bool)
    /// Nothing arrived in time.
    case timedOut
    /// The server has sent `receivedBytesMax` bytes.
    case full
  }

  private struct State: ~Copyable {
    var handle: StreamHandle?
    var writer: BodyWriter?
    /// The writer of a connection that needs a TLS handshake.
    var tlsWriter: BodyWriter?
    /// The bytes to send once the connection is open.
    var unsent: [UInt8] = []
    var received: [UInt8] = []
    var receivedByteCount = 0
    var ending: Arrival?
    var waiter: CheckedContinuation<Arrival, Never>?
    /// The number of the current call of `receive`, so that an old timer doesn't end a later call.
    var receiveNumber = 0

    /// Removes and returns the received bytes. If there are none, returns the end of the connection, or nil before it.
    mutating func takeArrival() -> Arrival? {
      received.isEmpty ? ending : .bytes(exchange(&received, with: []))
    }
  }

  private let usesTLS: Bool
  private let state = Mutex(State())

  /// Opens a connection to the origin. `timeouts` limits its opening and its whole duration.
  init(to origin: Origin, on engine: Engine, timeouts: Timeouts) {
    usesTLS = origin.scheme == .https
    // Only the scheme https is permitted for streams. TLS starts only if the origin has it.
    let target =
      origin.socketPath.map { Origin(scheme: .https, socketPath: $0) }
      ?? Origin(scheme: .https, host: origin.host, port: origin.port)
    let handle = engine.openStream(to: target, nil, identity: nil, timeouts: timeouts, sink: self)
    handle.extendWindow(by: Self.receivedBytesMax)
    let startsTLS = state.withLock { state in
      if state.ending == nil { state.handle = handle }
      return state.tlsWriter != nil
    }
    if startsTLS { handle.startTLS() }
  }

  func send(_ bytes: [UInt8]) {
    let writer = state.withLock { state in
      if state.writer == nil { state.unsent += bytes }
      return state.writer
    }
    writer?.append(bytes)
  }

  /// Waits for the next bytes, or for the end of the connection, at most for `limit`.
  func receive(within limit: Duration) async -> Arrival {
    let number = state.withLock { state in
      state.receiveNumber += 1
      return state.receiveNumber
    }
    let timer = Task { [weak self] in
      try await Task.sleep(for: limit)
      self?.expire(number)
    }
    defer { timer.cancel() }
    return await withCheckedContinuation { continuation in
      let arrival = state.withLock { state -> Arrival? in
        if let arrival = state.takeArrival() { return arrival }
        state.waiter = continuation
        return nil
      }
      if let arrival { continuation.resume(returning: arrival) }
    }
  }

  func close() { state.withLock { $0.handle.take() }?.cancel() }

  private func expire(_ number: Int) {
    let waiter = state.withLock { $0.receiveNumber == number ? $0.waiter.take() : nil }
    waiter?.resume(returning: .timedOut)
  }

  /// Changes the state, and resumes the waiting call of `receive` if there is something to return.
  private func update(_ change: (inout State) -> Void) {
    let (waiter, arrival) = state.withLock { state -> (CheckedContinuation<Arrival, Never>?, Arrival?) in
      change(&state)
      guard state.waiter != nil, let arrival = state.takeArrival() else { return (nil, nil) }
      return (state.waiter.take(), arrival)
    }
    if let arrival { waiter?.resume(returning: arrival) }
  }

  // MARK: The stream's events

  func connected(_ writer: BodyWriter) {
    guard usesTLS else { return ready(writer) }
    let handle = state.withLock { state in
      state.tlsWriter = writer
      return state.handle
    }
    handle?.startTLS()
  }

  func secured() {
    if let writer = state.withLock({ $0.tlsWriter }) { ready(writer) }
  }

  private func ready(_ writer: BodyWriter) {
    let unsent = state.withLock { state in
      state.writer = writer
      return exchange(&state.unsent, with: [])
    }
    writer.append(unsent)
  }

  func sent(byteCount: UInt64) {}

  func receive(body bytes: borrowing Span<UInt8>) {
    var copy: [UInt8] = []
    copy.append(copying: bytes, 0..<bytes.count)
    update { state in
      state.received += copy
      state.receivedByteCount += copy.count
      if state.receivedByteCount >= Self.receivedBytesMax { state.ending = state.ending ?? .full }
    }
  }

  func receivedEnd() {
    update { $0.ending = $0.ending ?? .closed }
    close()
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    update { state in
      state.handle = nil
      switch result {
      case .success: state.ending = state.ending ?? .closed
      case .failure(let error): state.ending = state.ending ?? .failed(error, wasOpen: state.writer != nil)
      }
    }
  }
}

extension Conversation {
  /// The time after the last expected response in which a server must close, or send the surplus bytes that a probe looks for:
  /// 1 s.
  private static let surplusTimeout = Duration.seconds(1)

  /// Sends the parts of one conversation on a new connection. Each part is sent when the responses to the parts before it are
  /// complete. Ends when the server closes the connection, after `timeout` without bytes, or after four times this duration.
  ///
  /// - Parameters:
  ///   - counts: The number of responses after which the next part is sent, for each part.
  ///   - method: The method of the requests, which matters if it is HEAD.
  static func hold(
    _ parts: [[UInt8]], awaiting counts: [Int], method: String, with origin: Origin, on engine: Engine,
    timeout: Duration
  ) async -> Conversation {
    let timeouts = Timeouts(everyPhase: timeout, total: timeout * 4)
    let connection = RawConnection(to: origin, on: engine, timeouts: timeouts)
    defer { connection.close() }
    var sequence = ResponseSequence(method: method)
    var conversation = Conversation(responses: [], ending: .open)
    let end = ContinuousClock.now + timeout * 4
    receiving: for (index, part) in parts.enumerated() {
      connection.send(part)
      let isLast = index == parts.count - 1
      while isLast || sequence.responses.count < counts[index] {
        guard sequence.failure == nil, .now < end else { break receiving }
        let isComplete = sequence.responses.count >= counts[index]
        switch await connection.receive(within: isComplete ? min(timeout, surplusTimeout) : timeout) {
        case .bytes(let bytes):
          conversation.bytes += bytes
          sequence.receive(bytes)
        case .closed:
          sequence.receiveEnd()
          conversation.ending = .closed
          break receiving
        case .failed(let error, wasOpen: false):
          conversation.ending = .unreachable(error.description)
          break receiving
        case .failed(let error, _) where error.code == .timedOut: break receiving
        case .failed:
          // A server may reset a connection whose request it has refused, so this isn't a sign of a desync.
          conversation.ending = .closed
          break receiving
        case .timedOut, .full: break receiving
        }
      }
    }
    if let failure = sequence.failure { conversation.ending = .malformed(failure) }
    conversation.responses = sequence.responses
    conversation.leftByteCount = sequence.leftByteCount
    return conversation
  }
}
