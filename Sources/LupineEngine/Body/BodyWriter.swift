// The pipe from whoever produces a body to the loop that sends it.

internal import Synchronization

/// Takes a body's bytes from its producer, no faster than they are sent. It may be used from any thread.
public final class BodyWriter: Sendable {
  /// How many bytes are held before `write` waits: 64 KiB, as much as is handed to the kernel at a time.
  static let heldBytesMax = 64 * 1024

  private enum Ending {
    case finished
    case failed(any Error)
    /// The exchange has ended; nobody takes bytes any more.
    case abandoned
  }

  private struct State {
    var held: [UInt8] = []
    var ending: Ending?
    /// Whether the loop wants to hear of more.
    var isAwaited = false
    var writers: [CheckedContinuation<Void, Never>] = []
    var onAbandon: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  /// Tells the loop that there is something to take; called only if it waits for that.
  private let notify: @Sendable () -> Void

  init(notify: @escaping @Sendable () -> Void) {
    self.notify = notify
  }

  /// Writes bytes; returns once there is room for more. Throws `CancellationError` if the exchange has ended.
  public func write(_ bytes: [UInt8]) async throws {
    let isAwaited = try state.withLock { state in
      if state.ending != nil { throw CancellationError() }
      if state.held.isEmpty { state.held = bytes } else { state.held += bytes }
      return !bytes.isEmpty && state.isAwaited.take()
    }
    if isAwaited { notify() }
    await withCheckedContinuation { continuation in
      let hasRoom = state.withLock { state in
        guard state.held.count >= Self.heldBytesMax, state.ending == nil else { return true }
        state.writers.append(continuation)
        return false
      }
      if hasRoom { continuation.resume() }
    }
    try Task.checkCancellation()
  }

  /// Ends the body, with an error if it couldn't be produced; whatever is written behind that is refused.
  func finish(throwing error: (any Error)? = nil) {
    let isAwaited = state.withLock { state in
      guard state.ending == nil else { return false }
      state.ending = error.map { .failed($0) } ?? .finished
      return state.isAwaited.take()
    }
    if isAwaited { notify() }
  }

  /// What is to be done when the exchange ends first.
  func onAbandon(_ body: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if case .abandoned = state.ending { return true }
      state.onAbandon = body
      return false
    }
    if isLate { body() }
  }

  // MARK: The loop's side

  /// What a loop gets.
  enum Taken {
    case bytes([UInt8])
    /// Nothing is there; `notify` will be called when that changes.
    case nothing
    case end
  }

  /// Takes everything that is held.
  func take() throws -> Taken {
    let (taken, writers) = try state.withLock { state -> (Taken, [CheckedContinuation<Void, Never>]) in
      guard state.held.isEmpty else {
        var bytes: [UInt8] = []
        var writers: [CheckedContinuation<Void, Never>] = []
        swap(&bytes, &state.held)
        swap(&writers, &state.writers)
        return (.bytes(bytes), writers)
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

  /// The exchange has ended: whoever writes hears of it.
  func abandon() {
    let (writers, onAbandon) = state.withLock { state in
      state.ending = .abandoned
      state.held = []
      var writers: [CheckedContinuation<Void, Never>] = []
      swap(&writers, &state.writers)
      return (writers, state.onAbandon.take())
    }
    onAbandon?()
    for writer in writers { writer.resume() }
  }
}

extension Bool {
  /// Reads and clears.
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}
