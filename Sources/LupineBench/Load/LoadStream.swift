// LoadStream: one stream of a load test: its request, its events or messages, and its end.

#if Bench
  internal import LupineEngine
  internal import LupineWebSocket
  internal import Synchronization

  /// The streams of a scenario.
  struct StreamSetting: Sendable {
    let format: StreamFormat
    /// The time after which a stream is closed, or nil if the server ends it.
    let hold: Duration?
    let request: @Sendable (_ number: Int) -> EngineRequest
    let engine: Engine

    /// The shortest time from when a task of the stream is set until it is due: a message, or the stream's end. Nil if the server ends
    /// the stream without messages.
    var taskPauseMin: Duration? {
      var times = [hold].compactMap(\.self)
      if case .echoes(_, let every) = format { times.append(every) }
      return times.min()
    }

    /// Whether the generator closes the streams at the end of the load, because the server may never do so.
    var closesAtEnd: Bool {
      if case .echoes = format { return true }
      return hold != nil
    }
  }

  /// An open stream. Reports its events on the loop's thread.
  final class LoadStream: ResponseSink {
    /// The end of a stream.
    struct End: Sendable {
      let result: Result<Scenario.Outcome, Sample.Failure>
      /// Nil if the stream was never open.
      let ending: StreamEnding?
      let time: Instant
      /// Whether `onAnswer` was called.
      let isAnswered: Bool
    }

    /// The functions that a stream calls.
    struct Observer: Sendable {
      let onEvent: @Sendable (LoadStream, StreamEvent, Instant) -> Void
      /// Called once, with the first event or line, or when a WebSocket is open.
      let onAnswer: @Sendable (Instant) -> Void
      let onEnd: @Sendable (End) -> Void
    }

    private enum Content {
      case events(EventStreamParser)
      case lines(LineSplitter)
      case messages(WebSocketOpening?)
      /// While a parser is in use, so that its buffers have one owner.
      case inUse
    }

    private struct State {
      var content: Content
      var record = StreamRecord()
      var status: Int?
      var isOpen = false
      var isAnswered = false
      /// Whether the stream closes as soon as nothing is awaited.
      var isEnding = false
      var isClosed = false
      var failure: Sample.Failure?
      var socketEnding: WebSocketChannel.Ending?
      var handle: ExchangeHandle?

      /// Marks the stream as closed and returns true, if it should close, and neither the first event nor an echo is awaited.
      mutating func closesNow() -> Bool {
        guard isEnding, !isClosed, isAnswered, record.unansweredCount == 0 else { return false }
        isClosed = true
        return true
      }
    }

    let setting: StreamSetting
    private let observer: Observer
    private let channel: WebSocketChannel?
    private let state: Mutex<State>

    init(_ setting: StreamSetting, _ observer: Observer) {
      (self.setting, self.observer) = (setting, observer)
      let limits = EventStreamLimits()
      let content: Content =
        switch setting.format {
        case .events: .events(EventStreamParser(limits: limits))
        case .lines: .lines(LineSplitter(.lineFeed, lineBytesMax: limits.lineBytesMax))
        case .echoes: .messages(nil)
        }
      state = Mutex(State(content: content))
      channel = if case .messages = content { WebSocketChannel(limits: WebSocketLimits()) } else { nil }
    }

    /// Sends the request.
    func start(_ number: Int) {
      var request = setting.request(number)
      if let channel {
        let subprotocols = request.fields.all("Sec-WebSocket-Protocol").flatMap { value in
          value.split { $0 == "," || $0 == " " }.map(String.init)
        }
        // Compression would be part of the latency, at both ends.
        let opening = WebSocketOpening(subprotocols: subprotocols, deflate: nil)
        opening.prepare(&request, for: channel)
        state.withLock { $0.content = .messages(opening) }
      }
      // The engine calls `finish` at once if it has been shut down, so the lock isn't held.
      let handle = setting.engine.submit(request, to: self)
      let isClosed = state.withLock { state in
        state.handle = handle
        return state.isClosed
      }
      if isClosed { handle.cancel() }
    }

    /// Closes the stream when its first event and the echoes of its messages have arrived. No more messages are sent.
    func end() {
      let closes = state.withLock { state in
        state.isEnding = true
        return state.closesNow()
      }
      if closes { close() }
    }

    /// Ends the stream at once.
    func cancel() { state.withLock { $0.handle }?.cancel() }

    /// Sends the format's message, unless the stream is about to end or too many messages await an echo.
    func sendMessage(due: Instant) {
      guard let channel, case .echoes(let message, _) = setting.format else { return }
      let now = Instant.now
      let isSent: Bool? = state.withLock { state in
        state.isEnding || !state.isOpen ? nil : state.record.noteMessage(due: due, sent: now)
      }
      guard let isSent else { return }
      observer.onEvent(self, isSent ? .message(delay: now - due) : .unsentMessage, now)
      if isSent { channel.send(.text(message)) { _ in } }
    }

    private func close() {
      if let channel, channel.close(WebSocketClose(.normal)) { return }
      cancel()
    }

    // MARK: ResponseSink

    func receive(head: ResponseHead) -> BodyDisposition {
      let now = Instant.now
      let agreement: WebSocketAgreement?
      do throws(Sample.Failure) {
        agreement = try check(head)
      } catch {
        state.withLock { ($0.status, $0.failure) = (head.status, error) }
        return .discard
      }
      let isOpen = head.status < 300
      state.withLock { ($0.status, $0.isOpen, $0.isAnswered) = (head.status, isOpen, agreement != nil) }
      guard isOpen else { return .discard }
      guard let channel, let agreement else {
        observer.onEvent(self, .opened, now)
        return .deliver
      }
      observer.onAnswer(now)
      observer.onEvent(self, .opened, now)
      channel.connect(
        to: WebSocketChannel.Transport(
          // The window is unlimited, because each message is taken at once.
          windowBytes: .max, extendWindow: { _ in }, close: { [weak self] in self?.cancel() },
          onEnd: { [weak self] ending in self?.state.withLock { $0.socketEnding = ending } }))
      channel.open(agreement)
      receiveNext()
      sendMessage(due: now)
      // The load may have ended while the handshake was in progress.
      if state.withLock({ $0.closesNow() }) { close() }
      return .deliver
    }

    /// Checks the response's head. Returns what a WebSocket's handshake has agreed on, and nil for other streams.
    private func check(_ head: ResponseHead) throws(Sample.Failure) -> WebSocketAgreement? {
      // These errors are counted separately.
      if head.status >= 400 { return nil }
      switch setting.format {
      case .lines: return nil
      case .events:
        let type = head.fields.first("Content-Type") ?? ""
        let essence = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
        guard head.status == 204 || (head.status == 200 && essence == "text/event-stream") else {
          throw Sample.Failure(kind: "not an event stream")
        }
        return nil
      case .echoes:
        guard case .messages(let opening?) = state.withLock({ $0.content }),
          let agreement = try? opening.check(status: head.status, head.fields)
        else { throw Sample.Failure(kind: "not a WebSocket") }
        return agreement
      }
    }

    func receive(body bytes: borrowing Span<UInt8>) {
      let now = Instant.now
      let (events, isFirst, closes) = state.withLock { state -> (StreamEvent?, Bool, Bool) in
        guard !state.isClosed else { return (nil, false, false) }
        let count: Int
        do throws(EventStreamError) {
          count = try Self.count(in: bytes, &state.content)
        } catch {
          (state.failure, state.isClosed) = (Sample.Failure(kind: "\(error)"), true)
          return (nil, false, true)
        }
        guard count > 0 else { return (nil, false, false) }
        let isFirst = !state.isAnswered
        state.isAnswered = true
        return (.events(count: count, gap: state.record.noteEvents(at: now)), isFirst, state.closesNow())
      }
      if isFirst { observer.onAnswer(now) }
      if let events { observer.onEvent(self, events, now) }
      if closes { cancel() }
    }

    /// Returns the number of events or lines that the bytes complete.
    private static func count(
      in bytes: borrowing Span<UInt8>, _ content: inout Content
    ) throws(EventStreamError) -> Int {
      var (count, index) = (0, 0)
      switch content {
      case .events(var parser):
        content = .inUse
        while try parser.next(in: bytes, from: &index) != nil { count += 1 }
        content = .events(parser)
      case .lines(var splitter):
        content = .inUse
        lines: while index < bytes.count {
          switch try splitter.next(in: bytes, from: &index) {
          case .needMoreBytes: break lines
          case .inPiece(let range): if !range.isEmpty { count += 1 }
          case .joined(let line): if !line.isEmpty { count += 1 }
          }
        }
        content = .lines(splitter)
      case .messages, .inUse: break
      }
      return count
    }

    private func receiveNext() {
      channel?.receive { [weak self] result in
        guard let self, case .success = result else { return }
        let now = Instant.now
        let (echo, closes) = state.withLock { ($0.record.noteEcho(at: now), $0.closesNow()) }
        observer.onEvent(self, .received(echo), now)
        receiveNext()
        if closes { close() }
      }
    }

    func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
      let now = metrics.end ?? .now
      // The last line of a body may lack its ending.
      if case (.lines, .success) = (setting.format, result) { receive(body: [UInt8(ascii: "\n")].span) }
      channel?.transportEnded()
      let end = state.withLock { state in
        let success = Scenario.Outcome(
          status: state.status ?? 0, receivedBytes: metrics.decodedBodyBytes, metrics: [metrics])
        var failure = state.failure ?? Self.failure(result, state)
        failure?.metrics = [metrics]
        let ending: StreamEnding? = !state.isOpen ? nil : failure != nil ? .cut : state.isClosed ? .closed : .ended
        return End(
          result: failure.map { .failure($0) } ?? .success(success), ending: ending, time: now,
          isAnswered: state.isAnswered)
      }
      observer.onEnd(end)
    }

    /// The reason why the stream was cut or never open, or nil if it ended properly.
    private static func failure(_ result: Result<Fields, EngineError>, _ state: State) -> Sample.Failure? {
      if state.isClosed { return nil }
      switch (result, state.content, state.socketEnding) {
      case (.failure(let error), _, nil): return Sample.Failure(error)
      case (_, .messages, _) where !state.isOpen: return nil
      case (_, .messages, .closed(let close)?) where [.normal, .goingAway, .noStatus].contains(close.code): return nil
      case (_, .messages, .closed(let close)?): return Sample.Failure(kind: "close code \(close.code.rawValue)")
      case (_, .messages, .failed(let error)?): return Sample.Failure(kind: error.description)
      case (_, .messages, _): return Sample.Failure(kind: "no Close frame")
      case (_, _, _): return nil
      }
    }
  }
#endif
