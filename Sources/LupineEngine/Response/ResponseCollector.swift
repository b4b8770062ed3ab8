// Gathers one whole response for whoever awaits it.

internal import Synchronization

/// Collects a response in memory and resumes its caller once.
final class ResponseCollector: ResponseSink {
  /// A complete response, and where it redirects to if that is to be followed.
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
    var continuation: CheckedContinuation<Outcome, Never>?
  }

  private let request: EngineRequest
  private let redirects: RedirectRule?
  private let redirectCount: Int
  private let state = Mutex(State())

  init(_ request: EngineRequest, redirects: RedirectRule?, redirectCount: Int) {
    self.request = request
    self.redirects = redirects
    self.redirectCount = redirectCount
  }

  func run(on engine: Engine) async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { $0.continuation = continuation }
        let handle = engine.submit(request, to: self)
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
  }

  func receive(head: ResponseHead) -> BodyDisposition {
    let next = redirects.flatMap { $0.target(of: head, for: request, count: redirectCount) }
    state.withLock { state in
      state.head = head
      state.next = next
    }
    return next == nil ? .deliver : .discard
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    state.withLock { state in
      state.body.append(copying: bytes, 0..<bytes.count)
    }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    let state = state.withLock { $0 }
    let outcome = result.map { trailers -> Collected in
      guard let head = state.head else { preconditionFailure("a response ended without a head") }
      return Collected(head: head, body: state.body, trailers: trailers, next: state.next)
    }
    state.continuation?.resume(returning: (outcome, metrics))
  }
}

extension RedirectRule {
  /// The request that a response redirects to, or why it isn't followed; nil if the response is to be taken as it is.
  func target(
    of head: ResponseHead, for request: EngineRequest, count: Int
  ) -> Result<EngineRequest, EngineError>? {
    do throws(EngineError) {
      return try next(after: head, to: request, count: count).map { .success($0) }
    } catch {
      return .failure(error)
    }
  }
}
