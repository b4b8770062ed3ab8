// BodyWriter: passes the bytes of a body from its producer to the loop that sends them.

public import LupineWire
internal import Synchronization

/// Accepts the bytes of a request body from its producer, no faster than the engine sends them. Thread-safe.
public final class BodyWriter: Sendable {
  /// The maximum size of the buffer in bytes: 64 KiB, the amount that one send passes to the kernel. When the buffer reaches this
  /// size, `write` waits until the event loop has taken the buffered bytes.
  package static let bufferedBytesMax = 64 * 1024

  private enum Ending {
    case finished
    case failed(any Error)
    /// The exchange has ended, so the event loop takes no more bytes of the request body.
    case abandoned
  }

  /// A caller that waits until the event loop has taken the buffered bytes.
  private enum Waiter {
    case task(CheckedContinuation<Void, Never>)
    case call(@Sendable () -> Void)

    func resume() {
      switch self {
      case .task(let continuation): continuation.resume()
      case .call(let body): body()
      }
    }
  }

  private struct State: ~Copyable {
    var buffered: [UInt8] = []
    var ending: Ending?
    /// Whether the event loop is waiting for bytes of the body. If true, it must be notified when bytes are written or the body
    /// ends.
    var isAwaited = false
    /// The lines of the trailer section, as they are sent.
    var trailerLines: [UInt8] = []
    var writers: [Waiter] = []
    var onAbandon: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  /// Notifies the event loop that bytes were written or that the body has ended. Called only if the event loop is waiting for this.
  private let notify: @Sendable () -> Void
  /// The names of the trailer fields that the request has announced.
  private let trailerNames: [String]

  package init(trailerNames: [String] = [], notify: @escaping @Sendable () -> Void) {
    self.trailerNames = trailerNames
    self.notify = notify
  }

  /// Adds the bytes to the buffer, and then waits while the buffer has 64 KiB or more. Throws `CancellationError` if the exchange
  /// has already ended or the current task is cancelled.
  public func write(_ bytes: [UInt8]) async throws {
    let isAwaited = try state.withLock { state in
      if state.ending != nil { throw CancellationError() }
      if state.buffered.isEmpty { state.buffered = bytes } else { state.buffered += bytes }
      return !bytes.isEmpty && state.isAwaited.testAndClear()
    }
    if isAwaited { notify() }
    await withCheckedContinuation { continuation in
      let hasRoom = state.withLock { state in
        guard state.buffered.count >= Self.bufferedBytesMax, state.ending == nil else { return true }
        state.writers.append(.task(continuation))
        return false
      }
      if hasRoom { continuation.resume() }
    }
    try Task.checkCancellation()
  }

  /// Sets the fields that are sent after the body, when it ends (RFC 9110 §6.5). They replace those of an earlier call. If the body
  /// ends without a call, or is sent without chunks because the connection has switched protocols, no fields are sent.
  ///
  /// - Throws: A `WireError`, without an effect, if a name isn't among the producer's `trailerNames`, if a field isn't permitted after
  ///   the body, such as Authorization or Content-Type, or if a value contains a control character.
  public func setTrailers(_ fields: Fields) throws(WireError) {
    let lines = try TrailerRule.lines(of: fields, announced: trailerNames)
    state.withLock { $0.trailerLines = lines }
  }

  /// Adds the bytes to the buffer without waiting. Returns whether the buffer has fewer than 64 KiB.
  ///
  /// If not, `whenRoom` is called once the event loop has taken the buffered bytes, or the exchange has ended. A caller that passes
  /// nil must limit in another way how much it adds. Has no effect if the exchange or the body has already ended.
  @discardableResult
  package func append(_ bytes: [UInt8], whenRoom: (@Sendable () -> Void)? = nil) -> Bool {
    let (isAwaited, hasRoom) = state.withLock { state -> (Bool, Bool) in
      guard state.ending == nil else { return (false, true) }
      if state.buffered.isEmpty { state.buffered = bytes } else { state.buffered += bytes }
      let hasRoom = state.buffered.count < Self.bufferedBytesMax
      if !hasRoom, let whenRoom { state.writers.append(.call(whenRoom)) }
      return (!bytes.isEmpty && state.isAwaited.testAndClear(), hasRoom)
    }
    if isAwaited { notify() }
    return hasRoom
  }

  /// Marks the request body as complete or, if `error` isn't nil, as failed. Later calls of `write` throw an error.
  package func end(throwing error: (any Error)? = nil) {
    let isAwaited = state.withLock { state in
      guard state.ending == nil else { return false }
      state.ending = error.map { .failed($0) } ?? .finished
      return state.isAwaited.testAndClear()
    }
    if isAwaited { notify() }
  }

  /// Sets the action that is performed if the exchange ends before the body does. If the exchange has already ended, performs the
  /// action immediately.
  package func onAbandon(_ body: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if case .abandoned = state.ending { return true }
      state.onAbandon = body
      return false
    }
    if isLate { body() }
  }

  // MARK: The loop's side

  /// The lines of the trailer section. Call this after `takeBuffered` has returned `.end`.
  var trailerLines: [UInt8] { state.withLock { $0.trailerLines } }

  /// The result of `takeBuffered`: bytes, no bytes at present, or the end of the body.
  package enum Taken {
    case bytes([UInt8])
    /// The buffer is empty. `notify` is called when bytes are written or the body ends.
    case nothing
    case end
  }

  /// Removes all buffered bytes and returns them. If there are none, returns `.nothing` or, at the end of the body, `.end`. Throws
  /// the producer's error if the producer failed.
  package func takeBuffered() throws -> Taken {
    let (taken, writers) = try state.withLock { state -> (Taken, [Waiter]) in
      guard state.buffered.isEmpty else {
        return (.bytes(exchange(&state.buffered, with: [])), exchange(&state.writers, with: []))
      }
      switch state.ending {
      case .failed(let error): throw error
      case .finished, .abandoned: return (.end, [])
      case nil:
        state.isAwaited = true
        return (.nothing, [])
      }
    }
    for writer in writers { writer.resume() }
    return taken
  }

  /// Ends the body because the exchange has ended. Resumes the waiting calls of `write` and performs the action set by `onAbandon`.
  package func abandon() {
    let (writers, onAbandon) = state.withLock { state in
      state.ending = .abandoned
      state.buffered = []
      return (exchange(&state.writers, with: []), state.onAbandon.take())
    }
    onAbandon?()
    for writer in writers { writer.resume() }
  }
}

extension Bool {
  /// Returns the value and sets it to false.
  fileprivate mutating func testAndClear() -> Bool {
    defer { self = false }
    return self
  }
}
