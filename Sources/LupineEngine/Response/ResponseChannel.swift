// ResponseChannel: passes a response from its event loop to the task that reads it, with at most one window of bytes in memory.

internal import Synchronization

/// Passes one response from its event loop to the task that reads it, piece by piece. Extends the exchange's receive window as the
/// task takes the pieces.
final class ResponseChannel: ResponseSink {
  typealias Next = Result<EngineRequest, EngineError>
  /// The trailer fields of a complete response, or the error with which the exchange ended.
  private typealias Ending = Result<Fields, EngineError>

  private struct State: ~Copyable {
    var handle: ExchangeHandle?
    /// The engine, which is retained until the exchange ends, so that the body can be
    /// read after the caller has released the engine.
    var engine: Engine?
    var head: (ResponseHead, Next?)?
    var buffered: [UInt8] = []
    /// The number of bytes that the reading task has taken since the receive window was last extended.
    var takenCount = 0
    var ending: Ending?
    var metrics: [ExchangeMetrics]
    var bodyWaiter: CheckedContinuation<Void, Never>?
  }

  private let request: EngineRequest
  private let chain: RedirectChain
  private let windowBytes: Int
  private let state: Mutex<State>
  /// Opened when the head has arrived, or when the exchange has ended without one.
  private let begun = Latch()
  private let end = Latch()

  /// Creates the channel for the response to `request`. `chain` contains the redirects that led to this request, and `earlier` the
  /// metrics of the requests before it.
  init(_ request: EngineRequest, _ chain: RedirectChain, earlier: [ExchangeMetrics], windowBytes: Int) {
    self.request = request
    self.chain = chain
    self.windowBytes = windowBytes
    state = Mutex(State(metrics: earlier))
  }

  // MARK: The reader's side

  /// Sends the request and waits for the response head. Returns the head and, if the response is a redirect to follow, the
  /// redirected request.
  nonisolated(nonsending) func begin(on engine: Engine) async throws(EngineError) -> (ResponseHead, Next?) {
    state.withLock { $0.engine = engine }
    let handle = engine.submit(request, to: self, windowBytes: windowBytes)
    state.withLock { $0.handle = handle }
    await begun.pass { handle.cancel() }
    switch state.withLock({ ($0.head, $0.ending) }) {
    case (let head?, _): return head
    case (nil, .failure(let error)): throw error
    case (nil, .success), (nil, nil): preconditionFailure("a response ended without a head")
    }
  }

  /// Returns the next piece of the body, or nil after the last piece.
  nonisolated(nonsending) func next() async throws(EngineError) -> [UInt8]? {
    while true {
      let (piece, ending, used) = state.withLock { state -> ([UInt8], Ending?, (ExchangeHandle, Int)?) in
        let piece = exchange(&state.buffered, with: [])
        state.takenCount += piece.count
        // The window is extended only after half of it has been read, so that not every small piece causes a message to the
        // loop.
        guard state.takenCount * 2 >= windowBytes, state.ending == nil, let handle = state.handle else {
          return (piece, state.ending, nil)
        }
        defer { state.takenCount = 0 }
        return (piece, nil, (handle, state.takenCount))
      }
      if let (handle, count) = used { handle.extendWindow(by: count) }
      if !piece.isEmpty { return piece }
      switch ending {
      case .success: return nil
      case .failure(let error): throw error
      case nil: await somethingNew()
      }
    }
  }

  private nonisolated(nonsending) func somethingNew() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          guard state.buffered.isEmpty, state.ending == nil else { return true }
          precondition(state.bodyWaiter == nil, "two tasks read the same response body at once")
          state.bodyWaiter = continuation
          return false
        }
        if isThere { continuation.resume() }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Ends the exchange, because no task reads the body any longer.
  func abandon() {
    let handle = state.withLock { $0.ending == nil ? $0.handle : nil }
    handle?.discardBody()
  }

  var trailers: Fields? {
    state.withLock { try? $0.ending?.get() }
  }

  /// Waits until the exchange has ended, and returns the metrics of all requests that were sent.
  nonisolated(nonsending) func finalMetrics() async -> [ExchangeMetrics] {
    await end.pass { self.cancel() }
    return state.withLock { $0.metrics }
  }

  /// Returns the error for a response body with more than `bytesMax` bytes, the limit set by the task that reads the body.
  func tooLarge(_ bytesMax: Int) -> EngineError {
    EngineError(
      .bodyTooLarge, .receive, request.uri.origin, cause: .maximum(bytesMax), progress: .responseBegan)
  }

  private func cancel() {
    let handle = state.withLock { $0.handle }
    handle?.cancel()
  }

  // MARK: The loop's side

  func receive(head: ResponseHead) -> BodyDisposition {
    let next = chain.outcome(of: head, to: request)
    state.withLock { $0.head = (head, next) }
    begun.open()
    return next == nil ? .deliver : .discard
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    let waiter = state.withLock { state in
      state.buffered.append(copying: bytes, 0..<bytes.count)
      return state.bodyWaiter.take()
    }
    waiter?.resume()
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    // The engine is released outside the lock.
    var engine: Engine?
    let (waiter, hasBegun) = state.withLock { state in
      engine = state.engine.take()
      state.metrics.append(metrics)
      state.handle = nil
      state.ending = result
      return (state.bodyWaiter.take(), state.head != nil)
    }
    if !hasBegun { begun.open() }
    waiter?.resume()
    end.open()
    withExtendedLifetime(engine) {}
  }
}
