// async/await on top of the callback form: one request, the whole response.

internal import LupineReactor
internal import Synchronization

/// A complete response.
public struct EngineResponse: Sendable {
  /// The URI that answered, which differs from the one asked for behind a redirect.
  public let uri: URI
  /// Status and fields.
  public let head: ResponseHead
  /// The whole body, decoded if the request asks for it.
  public let body: [UInt8]
  /// The trailer section, usually empty.
  public let trailers: Fields
  /// One measurement for each request that was sent, in order; more than one behind redirects.
  public let metrics: [ExchangeMetrics]
}

extension Engine {
  /// The largest body that `execute` collects unless the request says otherwise: 64 MiB.
  public static let collectedBytesMax = 64 * 1024 * 1024

  /// Executes a request and collects its response; follows redirects by `redirects`, or none if that is nil.
  ///
  /// A body larger than the request's `bodyBytesMax`, or than `collectedBytesMax` if none was set, is an error. Any
  /// status is a response, also 404 or 500. Cancelling the task ends the exchange with `.cancelled`.
  public func execute(
    _ request: EngineRequest, redirects: RedirectRule? = nil
  ) async throws(EngineError) -> EngineResponse {
    var request = request
    if request.bodyBytesMax == .max { request.bodyBytesMax = Self.collectedBytesMax }
    var metrics: [ExchangeMetrics] = []
    while true {
      let collector = Collector()
      let (result, measured) = await collector.run(request, on: self)
      metrics.append(measured)
      let (head, body, trailers) = try result.get()
      guard let next = try redirects?.next(after: head, to: request, count: metrics.count - 1) else {
        return EngineResponse(uri: request.uri, head: head, body: body, trailers: trailers, metrics: metrics)
      }
      request = next
    }
  }
}

/// Gathers one response and resumes whoever waits for it.
private final class Collector: ResponseSink {
  typealias Outcome = (Result<(ResponseHead, [UInt8], Fields), EngineError>, ExchangeMetrics)

  private struct State {
    var handle: ExchangeHandle?
    var isCancelled = false
    var head: ResponseHead?
    var body: [UInt8] = []
    var continuation: CheckedContinuation<Outcome, Never>?
  }

  private let state = Mutex(State())

  func run(_ request: EngineRequest, on engine: Engine) async -> Outcome {
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

  func receive(head: ResponseHead) {
    state.withLock { $0.head = head }
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    state.withLock { state in
      state.body.append(copying: bytes, 0..<bytes.count)
    }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    let (head, body, continuation) = state.withLock { ($0.head, $0.body, $0.continuation) }
    let outcome = result.map { trailers -> (ResponseHead, [UInt8], Fields) in
      guard let head else { preconditionFailure("a response ended without a head") }
      return (head, body, trailers)
    }
    continuation?.resume(returning: (outcome, metrics))
  }
}
