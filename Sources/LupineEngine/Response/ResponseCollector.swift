// ResponseCollector: collects a complete response for one caller.

internal import LupineReactor
internal import Synchronization

/// Collects a response in memory. When the exchange has ended, resumes the waiting caller, exactly once.
final class ResponseCollector: ResponseSink {
  /// A complete response. If the response is a redirect to follow, also the redirected request, or the error if it can't be
  /// followed.
  struct Collected {
    let head: ResponseHead
    let body: [UInt8]
    let trailers: Fields
    let next: Result<EngineRequest, EngineError>?
  }

  typealias Outcome = (Result<Collected, EngineError>, ExchangeMetrics)

  private struct State {
    var handle: ExchangeHandle?
    var isCancelled = false
    var head: ResponseHead?
    var next: Result<EngineRequest, EngineError>?
    var body: [UInt8] = []
    var outcome: Outcome?
    var caller: SuspendedTask?
  }

  /// A request whose redirects are followed, with the redirects that led to this request.
  struct Redirecting {
    let chain: RedirectChain
    let request: EngineRequest
  }

  private let redirecting: Redirecting?
  private let shard: LoopShard
  /// Whether the caller runs on the event loop's thread, so that resuming the caller doesn't wake another thread.
  private let isOnLoop: Bool
  private let state = Mutex(State())

  init(on shard: LoopShard, redirecting: Redirecting?) {
    self.shard = shard
    self.redirecting = redirecting
    isOnLoop = shard.loop.isCurrent
  }

  nonisolated(nonsending) func run(_ request: EngineRequest, by engine: Engine) async -> Outcome {
    await withTaskCancellationHandler {
      await SuspendedTask.suspend { caller in
        state.withLock { $0.caller = caller }
        let handle = engine.submit(request, to: self, on: shard)
        let isCancelled = state.withLock { state in
          state.handle = handle
          return state.isCancelled
        }
        if isCancelled { handle.cancel() }
      }
    } onCancel: {
      let handle = state.withLock { state in
        state.isCancelled = true
        return state.handle
      }
      handle?.cancel()
    }
    guard let outcome = state.withLock({ $0.outcome.take() }) else {
      preconditionFailure("a response ended without a result")
    }
    return outcome
  }

  func receive(head: ResponseHead) -> BodyDisposition {
    let next = redirecting.flatMap { $0.chain.outcome(of: head, to: $0.request) }
    state.withLock { state in
      state.head = head
      if let next { state.next = next }
    }
    return next == nil ? .deliver : .discard
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    state.withLock { state in
      state.body.append(copying: bytes, 0..<bytes.count)
    }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    // `finish` is the last call, so the entire state can be moved out.
    let caller = state.withLock { state in
      let collected = result.map { trailers -> Collected in
        guard let head = state.head.take() else { preconditionFailure("a response ended without a head") }
        var body: [UInt8] = []
        swap(&body, &state.body)
        return Collected(head: head, body: body, trailers: trailers, next: state.next.take())
      }
      state.outcome = (collected, metrics)
      return state.caller.take()
    }
    guard let caller else { return }
    if isOnLoop { caller.resume() } else { shard.resumptions.resume(caller) }
  }
}
