// Between the loop that receives a response and the task that reads it: at most one window of bytes.

internal import Synchronization

/// Hands one response over piece by piece; grants credit as its reader takes them.
final class ResponseChannel: ResponseSink {
  typealias Next = Result<EngineRequest, EngineError>

  private enum Ending {
    case complete(Fields)
    case failed(EngineError)
  }

  private struct State {
    var handle: ExchangeHandle?
    var isCancelled = false
    /// Kept until the end, so that a body can be read when the engine's owner has let it go.
    var engine: Engine?
    var held: [UInt8] = []
    /// Bytes that the reader has taken and no credit was granted for.
    var takenCount = 0
    var ending: Ending?
    var metrics: [ExchangeMetrics]
    var headWaiter: CheckedContinuation<Result<(ResponseHead, Next?), EngineError>, Never>?
    var bodyWaiter: CheckedContinuation<Void, Never>?
    var endWaiters: [CheckedContinuation<Void, Never>] = []
  }

  private let request: EngineRequest
  private let redirects: RedirectRule?
  private let redirectCount: Int
  private let windowBytes: Int
  private let state: Mutex<State>

  /// `earlier` are the measurements of the requests that have led to this one.
  init(_ request: EngineRequest, redirects: RedirectRule?, earlier: [ExchangeMetrics], windowBytes: Int) {
    self.request = request
    self.redirects = redirects
    redirectCount = earlier.count
    self.windowBytes = windowBytes
    state = Mutex(State(metrics: earlier))
  }

  // MARK: The reader's side

  /// Sends the request; returns when the head has come, with where it redirects to if that is to be followed.
  func begin(on engine: Engine) async throws(EngineError) -> (ResponseHead, Next?) {
    let result = await cancelling {
      await withCheckedContinuation { continuation in
        state.withLock { state in
          state.headWaiter = continuation
          state.engine = engine
        }
        let handle = engine.submit(request, to: self, credit: windowBytes)
        let isCancelled = state.withLock { state in
          state.handle = handle
          return state.isCancelled
        }
        if isCancelled { handle.cancel() }
      }
    }
    return try result.get()
  }

  /// The next piece, or nil at the end.
  func next() async throws(EngineError) -> [UInt8]? {
    while true {
      let (piece, ending, grant) = state.withLock { state -> ([UInt8], Ending?, (ExchangeHandle, Int)?) in
        var piece: [UInt8] = []
        swap(&piece, &state.held)
        state.takenCount += piece.count
        // In halves of the window, so that a reader of small pieces doesn't send a message for each.
        guard state.takenCount * 2 >= windowBytes, state.ending == nil, let handle = state.handle else {
          return (piece, state.ending, nil)
        }
        defer { state.takenCount = 0 }
        return (piece, nil, (handle, state.takenCount))
      }
      if let (handle, count) = grant { handle.grant(count) }
      if !piece.isEmpty { return piece }
      switch ending {
      case .complete: return nil
      case .failed(let error): throw error
      case nil: await somethingNew()
      }
    }
  }

  private func somethingNew() async {
    await cancelling {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          guard state.held.isEmpty, state.ending == nil else { return true }
          precondition(state.bodyWaiter == nil, "a response's body is read by two tasks at once")
          state.bodyWaiter = continuation
          return false
        }
        if isThere { continuation.resume() }
      }
    }
  }

  /// Nobody reads any more.
  func abandon() {
    let handle = state.withLock { $0.ending == nil ? $0.handle : nil }
    handle?.discardBody()
  }

  var trailers: Fields? {
    state.withLock { state in
      if case .complete(let trailers) = state.ending { trailers } else { nil }
    }
  }

  /// The measurements, once the exchange has ended.
  func finalMetrics() async -> [ExchangeMetrics] {
    await cancelling {
      await withCheckedContinuation { continuation in
        let hasEnded = state.withLock { state in
          guard state.ending == nil else { return true }
          state.endWaiters.append(continuation)
          return false
        }
        if hasEnded { continuation.resume() }
      }
    }
    return state.withLock { $0.metrics }
  }

  /// The error of a reader that has no room for the whole body.
  func tooLarge(_ bytesMax: Int) -> EngineError {
    EngineError(
      .bodyTooLarge, .receive, request.uri.origin, cause: .maximum(bytesMax), delivery: .responseBegan)
  }

  private func cancelling<Value: Sendable>(_ body: () async -> Value) async -> Value {
    await withTaskCancellationHandler(operation: body) {
      let handle = state.withLock { state in
        state.isCancelled = true
        return state.handle
      }
      handle?.cancel()
    }
  }

  // MARK: The loop's side

  func receive(head: ResponseHead) -> BodyDisposition {
    let next = redirects.flatMap { $0.target(of: head, for: request, count: redirectCount) }
    let waiter = state.withLock { state in
      state.headWaiter.take()
    }
    waiter?.resume(returning: .success((head, next)))
    return next == nil ? .deliver : .discard
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    let waiter = state.withLock { state in
      state.held.append(copying: bytes, 0..<bytes.count)
      return state.bodyWaiter.take()
    }
    waiter?.resume()
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    // Let go of outside the lock.
    var engine: Engine?
    let (head, body, ends) = state.withLock { state in
      engine = state.engine.take()
      state.metrics.append(metrics)
      state.handle = nil
      switch result {
      case .success(let trailers): state.ending = .complete(trailers)
      case .failure(let error): state.ending = .failed(error)
      }
      defer { state.endWaiters = [] }
      return (state.headWaiter.take(), state.bodyWaiter.take(), state.endWaiters)
    }
    if case .failure(let error) = result { head?.resume(returning: .failure(error)) }
    body?.resume()
    for waiter in ends { waiter.resume() }
    withExtendedLifetime(engine) {}
  }
}
