// Fetch: a request with its response, and the sink that decides how to handle the response when its head arrives.

import LupineEngine
import LupineWebSocket
import Synchronization

/// Executes one request of the command, and writes its response. Doesn't follow redirects itself.
final class Fetch: ResponseSink {
  /// The request that the command must send after the current one.
  enum Next: Sendable {
    /// The request to which a redirect leads.
    case redirect(EngineRequest)
    /// The same request, with other credentials or on another connection.
    case resend(EngineRequest)
  }

  /// The outcome of one exchange. `result` is the request to send next, nil if a response was written, or an error.
  struct Outcome: Sendable {
    let result: Result<Next?, CommandError>
    let metrics: ExchangeMetrics
  }

  /// How the fetch treats the body of the response.
  private enum Disposition {
    case undecided
    case writing(ProgressBar?)
    /// The body is an event stream, whose events are written as lines of JSON.
    case printing(EventPrinter)
    /// The connection has switched to WebSocket, and the run exchanges messages.
    case exchanging(SocketRun)
    /// The fetch reads the body to its end and discards it, so that the next request can reuse the connection.
    case skipping(Next)
    case refused(CommandError)
  }

  private struct State: ~Copyable {
    var disposition = Disposition.undecided
    /// The engine's handle for the latest request.
    var handle: ExchangeHandle?
  }

  /// The request without the credentials that `authentication` adds. The requests that the command sends next are derived from it.
  private let request: EngineRequest
  /// The request as the command sends it, with the credentials.
  private let sent: EngineRequest
  private let proxy: Proxy?
  private let options: Options
  /// The redirects that led to this request.
  private let chain: RedirectChain
  private let authentication: RunAuthentication
  private let output: Output
  /// The WebSocket connection that the request opens, or nil if it opens none.
  private let socket: SocketRun?
  private let state = Mutex(State())
  private let outcome = Awaited<Outcome>()

  init(
    _ request: EngineRequest, as sent: EngineRequest, via proxy: Proxy?, _ options: Options, _ chain: RedirectChain,
    _ authentication: RunAuthentication, output: Output, socket: SocketRun? = nil
  ) {
    self.request = request
    self.sent = sent
    self.proxy = proxy
    self.options = options
    self.chain = chain
    self.authentication = authentication
    self.output = output
    self.socket = socket
  }

  /// Executes the request with the engine, or lets the cache answer it. Returns the outcome.
  func run(on engine: Engine, _ cache: CommandCache?) async -> Outcome {
    if let cache {
      CachedFetch(sent, for: self, cache, on: engine, isVerbose: options.isVerbose).run()
    } else {
      submit(sent, to: self, on: engine)
    }
    let outcome = await outcome.value()
    guard case .exchanging(let socket) = state.withLock({ $0.disposition }) else { return outcome }
    let error = await socket.result()
    guard let error, case .success = outcome.result else { return outcome }
    return Outcome(result: .failure(error), metrics: outcome.metrics)
  }

  /// Sends a request of this fetch. The engine delivers the response to `sink`.
  func submit(_ request: EngineRequest, to sink: any ResponseSink, on engine: Engine) {
    // The lock is held so that the handle is known when the first event arrives. The engine calls `finish` within `submit` only
    // after a shutdown, and the command shuts down no engine that fetches.
    state.withLock { state in
      let handle = engine.submit(request, to: sink, windowBytes: socket == nil ? .max : Self.socketWindowBytes)
      if case .refused = state.disposition { handle.cancel() }
      state.handle = handle
    }
  }

  /// The engine's handle for the latest request, or nil if none has been sent.
  var handle: ExchangeHandle? { state.withLock { $0.handle } }

  /// Whether the fetch has refused the rest of the response, for example because the output can't be written.
  var isRefused: Bool { state.withLock { if case .refused = $0.disposition { true } else { false } } }

  /// The receive window of a WebSocket connection: 256 KiB, as in a session.
  private static let socketWindowBytes = 256 * 1024

  /// The connection of a WebSocket, for its messages.
  private var transport: WebSocketChannel.Transport {
    WebSocketChannel.Transport(
      windowBytes: Self.socketWindowBytes, extendWindow: { [weak self] in self?.handle?.extendWindow(by: $0) },
      close: { [weak self] in self?.handle?.discardBody() },
      onEnd: { [socket] in socket?.ended($0) })
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
    // Writing while holding the lock is harmless, because no other code needs the lock during the exchange.
    update { disposition throws(CommandError) in
      switch disposition {
      case .writing(var progress):
        try output.write(bytes)
        let drawing = progress?.advance(by: bytes.count, now: now) { Terminal.width }
        if let drawing { StandardError.write(drawing) }
        disposition = .writing(progress)
      case .printing(var printer):
        // So that the printer's buffers have one owner, and aren't copied when they change.
        disposition = .undecided
        let lines = try printer.lines(bytes)
        disposition = .printing(printer)
        if !lines.isEmpty { try output.write(lines.span) }
      case .undecided, .exchanging, .skipping, .refused: break
      }
    }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    let disposition = state.withLock { $0.disposition }
    if case .writing(let progress?) = disposition {
      StandardError.write(progress.end(now: .now, width: Terminal.width))
    }
    if case .exchanging(let socket) = disposition { socket.channel.transportEnded() }
    let verdict: Result<Next?, CommandError> =
      switch (disposition, result) {
      case (.refused(let error), _): .failure(error)
      // The request is sent again even after a failure, because the server may close the connection after its refusal.
      case (.skipping(.resend(let next)), _): .success(.resend(next))
      case (.undecided, .failure(let error)): answer(to: error)
      case (_, .failure(let error)): .failure(CommandError(error, options))
      case (.skipping(let next), .success): .success(next)
      case (.undecided, .success), (.writing, .success), (.printing, .success), (.exchanging, .success): .success(nil)
      }
    outcome.fill(Outcome(result: verdict, metrics: metrics))
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

  /// Handles the error of a failed exchange. Returns the request to send again with credentials, for example if a proxy refused to
  /// open a tunnel, or the error of the command.
  private func answer(to error: EngineError) -> Result<Next?, CommandError> {
    switch authentication.decide(error, to: request, via: proxy) {
    case .accept: .failure(CommandError(error, options))
    case .resend(let next): .success(.resend(next))
    case .fail(let error): .failure(error)
    }
  }

  private func decide(_ head: ResponseHead) throws(CommandError) -> Disposition {
    switch authentication.decide(head, to: request, via: proxy) {
    case .accept: break
    case .resend(let next): return .skipping(.resend(next))
    case .fail(let error): throw error
    }
    do throws(EngineError) {
      if let next = try chain.next(after: redirecting(head), to: request) { return .skipping(.redirect(next)) }
    } catch {
      throw CommandError(error, options)
    }
    if let socket {
      try output.open()
      try socket.begin(head, of: request.uri, over: transport)
      return .exchanging(socket)
    }
    if options.isEventStream {
      let printer = try EventPrinter(head, of: request.uri)
      try output.open()
      return .printing(printer)
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

  /// Returns the head with the http or https URL of a WebSocket in its Location, because a redirect may name a ws or wss URL.
  private func redirecting(_ head: ResponseHead) -> ResponseHead {
    guard socket != nil, let location = head.fields.first("Location") else { return head }
    let target = OptionParser.httpForm(location)
    guard target != location else { return head }
    return ResponseHead(status: head.status, fields: ["Location": target], isContentDecoded: false)
  }

  // Returns the body's length that the response announces, or nil for a coded body, whose decoded length is only known at its end.
  private func announcedLength(_ head: ResponseHead) -> UInt64? {
    let codings = request.decodesContent ? head.fields.list("Content-Encoding") ?? "" : ""
    guard (try? ContentCoding.decodable(codings, limits: CodingLimits()).isEmpty) == true else { return nil }
    return head.fields.first("Content-Length").flatMap { UInt64($0) }
  }
}
