// Fetch: a request with its response, and the sink that decides how to handle the response when its head arrives.

import LupineEngine
import Synchronization

/// Executes one request without following redirects.
final class Fetch: ResponseSink {
  /// The outcome of the exchange: the request to which a redirect leads, nil if a response was written, or an error.
  struct Outcome: Sendable {
    let result: Result<EngineRequest?, CommandError>
    let metrics: ExchangeMetrics
  }

  /// The treatment of the response's body.
  private enum Disposition {
    case undecided
    case writing(ProgressBar?)
    /// The body of a redirect is discarded up to its end, so that the next request can reuse the connection.
    case skipping(next: EngineRequest)
    case refused(CommandError)
  }

  private struct State {
    var disposition = Disposition.undecided
    var handle: ExchangeHandle?
    var continuation: CheckedContinuation<Outcome, Never>?
  }

  private let request: EngineRequest
  private let options: Options
  /// The redirects that led to this request.
  private let chain: RedirectChain
  private let output: Output
  private let state = Mutex(State())

  init(_ request: EngineRequest, _ options: Options, _ chain: RedirectChain, output: Output) {
    self.request = request
    self.options = options
    self.chain = chain
    self.output = output
  }

  func run(on engine: Engine) async -> Outcome {
    await withCheckedContinuation { continuation in
      state.withLock { $0.continuation = continuation }
      let handle = engine.submit(request, to: self)
      let isRefused = state.withLock { state in
        state.handle = handle
        if case .refused = state.disposition { return true } else { return false }
      }
      if isRefused { handle.cancel() }
    }
  }

  // MARK: ResponseSink

  func receive(informational head: ResponseHead) {
    update { _ throws(CommandError) in try show(head) }
  }

  func receive(head: ResponseHead) -> BodyDisposition {
    update { disposition throws(CommandError) in
      try show(head)
      disposition = try decide(head)
    }
    return state.withLock { state in
      if case .skipping = state.disposition { .discard } else { .deliver }
    }
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    let now = Instant.now
    let handle: ExchangeHandle? = state.withLock { state in
      guard case .writing(var progress) = state.disposition else { return nil }
      do throws(CommandError) {
        // Writes under the lock, because no other code needs the lock during the exchange.
        try output.write(bytes)
        let drawing = progress?.advance(by: bytes.count, now: now) { Terminal.width }
        if let drawing { StandardError.write(drawing) }
        state.disposition = .writing(progress)
        return nil
      } catch {
        state.disposition = .refused(error)
        return state.handle
      }
    }
    handle?.cancel()
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    let (disposition, continuation) = state.withLock { ($0.disposition, $0.continuation) }
    if case .writing(let progress?) = disposition {
      StandardError.write(progress.end(now: .now, width: Terminal.width))
    }
    let verdict: Result<EngineRequest?, CommandError> =
      switch (disposition, result) {
      case (.refused(let error), _): .failure(error)
      case (_, .failure(let error)): .failure(CommandError(error, options))
      case (.skipping(let next), .success): .success(next)
      case (.undecided, .success), (.writing, .success): .success(nil)
      }
    continuation?.resume(returning: Outcome(result: verdict, metrics: metrics))
  }

  // MARK: Decisions

  private func update(_ body: (inout Disposition) throws(CommandError) -> Void) {
    let handle: ExchangeHandle? = state.withLock { state in
      if case .refused = state.disposition { return nil }
      do throws(CommandError) {
        try body(&state.disposition)
        return nil
      } catch {
        state.disposition = .refused(error)
        return state.handle
      }
    }
    handle?.cancel()
  }

  private func show(_ head: ResponseHead) throws(CommandError) {
    if options.isVerbose { StandardError.write(VerboseReport.response(head)) }
    if options.includesHead { try output.write(head.text) }
  }

  private func decide(_ head: ResponseHead) throws(CommandError) -> Disposition {
    do throws(EngineError) {
      if let next = try chain.next(after: head, to: request) { return .skipping(next: next) }
    } catch {
      throw CommandError(error, options)
    }
    guard head.status < 400 || !options.failsOnErrorStatus else {
      throw CommandError(
        .httpError,
        "\(request.uri): the server responded with \(head.status) \(head.reason). Omit --fail to read the response "
          + "body."
      )
    }
    try output.open()
    guard output.path != nil, Terminal.isThere else { return .writing(nil) }
    return .writing(ProgressBar(total: announcedLength(head), now: .now))
  }

  // Returns the announced length, or nil for a coded body, whose decoded length is only known at its end.
  private func announcedLength(_ head: ResponseHead) -> UInt64? {
    let codings = request.decodesContent ? head.fields.list("Content-Encoding") ?? "" : ""
    guard (try? ContentCoding.decodable(codings, limits: CodingLimits()).isEmpty) == true else { return nil }
    return head.fields.first("Content-Length").flatMap { UInt64($0) }
  }
}
