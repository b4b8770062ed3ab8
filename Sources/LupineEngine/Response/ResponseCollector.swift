// ResponseCollector: collects a complete response for one caller.

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

  private struct State: ~Copyable {
    var head: ResponseHead?
    var next: Result<EngineRequest, EngineError>?
    var body: [UInt8] = []
    var outcome: Outcome?
  }

  /// A request whose redirects are followed, with the redirects that led to this request.
  struct Redirecting {
    let chain: RedirectChain
    let request: EngineRequest
  }

  private let redirecting: Redirecting?
  private let shard: LoopShard
  private let end: Latch
  private let state = Mutex(State())

  init(on shard: LoopShard, redirecting: Redirecting?) {
    self.shard = shard
    self.redirecting = redirecting
    end = Latch(shard.resumptions.forThisThread)
  }

  nonisolated(nonsending) func run(_ request: EngineRequest, by engine: Engine) async -> Outcome {
    let handle = engine.submit(request, to: self, on: shard)
    // These closures don't escape, so they allocate no memory, unlike one that is passed to `pass(onCancel:)`.
    await withTaskCancellationHandler {
      await end.pass(onCancel: nil)
    } onCancel: {
      handle.cancel()
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
    state.withLock { state in
      let collected = result.map { trailers -> Collected in
        guard let head = state.head.take() else { preconditionFailure("a response ended without a head") }
        let body = exchange(&state.body, with: [])
        return Collected(head: head, body: body, trailers: trailers, next: state.next.take())
      }
      state.outcome = (collected, metrics)
    }
    end.open()
  }
}
