// StreamTransfer: carries out the actions of a `StreamTaskState`, and passes it the engine's events.

import Dispatch
import Foundation
import LupineEngine
import Synchronization

/// The connection of a stream task, with the task's operations. Captured streams use it after the task has completed.
final class StreamTransfer: TaskTransfer, StreamSink {
  typealias ReadHandler = @Sendable (Data?, Bool, (any Error)?) -> Void
  typealias WriteHandler = @Sendable ((any Error)?) -> Void

  /// The thread on which an operation's handler is called.
  enum Caller {
    /// The delegate queue.
    case task
    /// The thread that has caused the completion, for the blocking methods of captured streams.
    case stream
  }

  /// An event of the connection that concerns its task.
  enum Event {
    case readClosed
    case writeClosed
    /// The task has passed the connection on to streams. No event follows.
    case captured
    /// The connection has ended. No event follows.
    case ended(URLError?)
  }

  private struct Guarded: ~Copyable {
    var state = StreamTaskState()
    /// Actions that wait for those before them, which another thread is carrying out.
    var actions: [StreamTaskState.Action] = []
    var isPerforming = false
    var operationCount = 0
    /// The handlers of the operations. That of a write ignores the bytes and the end of a read.
    var handlers: [StreamTaskState.OperationID: (ReadHandler, Caller)] = [:]
    /// Receives the events for the task, from the task's start to its completion.
    var report: (@Sendable (Event) -> Void)?
    var handle: StreamHandle?
    var writer: BodyWriter?
    var metrics: ExchangeMetrics?
    var receivedByteCount: Int64 = 0
    var sentByteCount: Int64 = 0
  }

  private let origin: Origin
  private let client: EngineClient
  private let delivery: SerialQueue
  private let guarded = Mutex(Guarded())
  let currentRequest: URLRequest

  /// Creates the connection of a task without opening it. `request` represents it in the metrics.
  init(to origin: Origin, _ request: URLRequest, client: EngineClient, delivery: SerialQueue) {
    self.origin = origin
    self.client = client
    self.delivery = delivery
    currentRequest = request
  }

  // MARK: Operations

  func read(
    minLength: Int, maxLength: Int, timeout: TimeInterval, by caller: Caller = .task, _ handler: @escaping ReadHandler
  ) {
    add((handler, caller)) { state, id in
      state.read(id, minLength: minLength, maxLength: maxLength, timeout: timeout, isStreams: caller == .stream)
    }
  }

  func write(_ data: Data, timeout: TimeInterval, by caller: Caller = .task, _ handler: @escaping WriteHandler) {
    add(({ _, _, error in handler(error) }, caller)) { state, id in
      state.write(id, data, timeout: timeout, isStreams: caller == .stream)
    }
  }

  func closeRead(by caller: Caller = .task) { apply { $0.closeRead(isStreams: caller == .stream) } }

  func closeWrite(by caller: Caller = .task) { apply { $0.closeWrite(isStreams: caller == .stream) } }

  func startSecureConnection() { add(nil) { $0.secure($1) } }

  func captureStreams() { add(nil) { $0.capture($1) } }

  private func add(
    _ handler: (ReadHandler, Caller)?,
    _ event: (inout StreamTaskState, StreamTaskState.OperationID) -> [StreamTaskState.Action]
  ) {
    perform { guarded in
      guarded.operationCount += 1
      if let handler { guarded.handlers[guarded.operationCount] = handler }
      return event(&guarded.state, guarded.operationCount)
    }
  }

  // MARK: Events of the task

  /// Sets the closure that receives the events on the delegate queue. Called before `send`.
  func attach(_ report: @escaping @Sendable (Event) -> Void) { guarded.withLock { $0.report = report } }

  func send() { apply { $0.start() } }

  func cancel() { apply { $0.cancel() } }

  func setSuspended(_ isSuspended: Bool, change: Int) { apply { $0.setSuspended(isSuspended, change: change) } }

  /// Fails the operations of a task that completes without having used this connection.
  func taskEnded(_ error: URLError?) { apply { $0.taskEnded(error.map { .connection($0) } ?? .cancelled) } }

  func extendWindow(by byteCount: Int) {}

  func setStreamingObserver(_ observer: any TransferObserver) {}

  // MARK: Events of the engine, on the loop's thread

  func connected(_ writer: BodyWriter) {
    guarded.withLock { $0.writer = writer }
    apply { $0.connected() }
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    var data = Data()
    data.append(copying: bytes, 0..<bytes.count)
    perform { guarded in
      guarded.receivedByteCount += Int64(data.count)
      return guarded.state.received(data)
    }
  }

  func sent(byteCount: UInt64) {
    perform { guarded in
      guarded.sentByteCount = Int64(clamping: byteCount)
      return guarded.state.sent(byteCount)
    }
  }

  func receivedEnd() { apply { $0.receivedEnd() } }

  func secured() { apply { $0.secured() } }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    let failure: StreamFailure? = if case .failure(let error) = result { StreamFailure(error, origin) } else { nil }
    perform { guarded in
      guarded.metrics = metrics
      return guarded.state.ended(failure)
    }
  }

  // MARK: Properties

  /// The host and port of the server.
  var peer: String { origin.authorityForm }
  /// Whether a read can't return more bytes than those that have arrived.
  var isReadingOver: Bool { guarded.withLock { $0.state.isReadingOver } }
  var isOver: Bool { guarded.withLock { $0.state.isOver } }
  /// The number of bytes in memory that have arrived but that no read operation has taken.
  var bufferedByteCount: Int { guarded.withLock { $0.state.unreadByteCount } }

  var response: URLResponse? { nil }
  var receivedByteCount: Int64 { guarded.withLock { $0.receivedByteCount } }
  var sentByteCount: Int64 { guarded.withLock { $0.sentByteCount } }
  var bodyByteCount: UInt64? { nil }
  var measurements: URLSessionTaskMetrics.Values {
    let metrics = guarded.withLock { $0.metrics }
    return URLSessionTaskMetrics.Values(
      metrics.map { [Transfer.Attempt(request: currentRequest, response: nil, metrics: $0)] } ?? [])
  }

  // MARK: Actions

  private func apply(_ event: (inout StreamTaskState) -> [StreamTaskState.Action]) { perform { event(&$0.state) } }

  /// Passes an event to the state, and carries out its actions: in the order of the events, without the lock, one thread at a time.
  private func perform(_ event: (inout Guarded) -> [StreamTaskState.Action]) {
    let isFirst = guarded.withLock { guarded in
      let actions = event(&guarded)
      guarded.actions += actions
      guard !guarded.isPerforming, !guarded.actions.isEmpty else { return false }
      guarded.isPerforming = true
      return true
    }
    guard isFirst else { return }
    while true {
      let actions = guarded.withLock { guarded in
        guarded.isPerforming = !guarded.actions.isEmpty
        return exchange(&guarded.actions, with: [])
      }
      if actions.isEmpty { return }
      for action in actions { perform(action) }
    }
  }

  private func perform(_ action: StreamTaskState.Action) {
    switch action {
    case .connect: connect()
    case .extendWindow(let byteCount): handle?.extendWindow(by: byteCount)
    case .write(let bytes): writer?.append(bytes)
    case .endWriting: writer?.end()
    case .startTLS: handle?.startTLS()
    case .startTimer(let timer, let seconds): start(timer, seconds)
    case .completeRead(let id, let data, let isAtEnd): complete(id, data, isAtEnd, nil)
    case .failRead(let id, let failure): complete(id, nil, false, failure)
    case .completeWrite(let id, let failure): complete(id, nil, false, failure)
    case .notifyReadClosed: report(.readClosed)
    case .notifyWriteClosed: report(.writeClosed)
    case .capture: report(.captured, isLast: true)
    case .close: handle?.close()
    case .cancel: handle?.cancel()
    case .finish(let failure): finish(failure)
    }
  }

  private var handle: StreamHandle? { guarded.withLock { $0.handle } }
  private var writer: BodyWriter? { guarded.withLock { $0.writer } }

  private func connect() {
    do throws(URLError) {
      let handle = try client.openStream(to: origin, sink: self)
      guarded.withLock { $0.handle = handle }
    } catch {
      apply { $0.ended(.connection(error)) }
    }
  }

  private func start(_ timer: StreamTaskState.Timer, _ seconds: TimeInterval) {
    DispatchQueue.global().asyncAfter(deadline: .after(seconds)) { [weak self] in
      self?.apply { $0.expired(timer) }
    }
  }

  private func complete(_ id: StreamTaskState.OperationID, _ data: Data?, _ isAtEnd: Bool, _ failure: StreamFailure?) {
    guard let (handler, caller) = guarded.withLock({ $0.handlers.removeValue(forKey: id) }) else { return }
    let error = failure?.error(peer)
    switch caller {
    case .stream: handler(data, isAtEnd, error)
    case .task: delivery.perform { handler(data, isAtEnd, error) }
    }
  }

  /// Reports an event to the task, unless the last event (`isLast`) was reported before.
  private func report(_ event: Event, isLast: Bool = false) {
    guard let report = guarded.withLock({ isLast ? $0.report.take() : $0.report }) else { return }
    delivery.perform { report(event) }
  }

  private func finish(_ failure: StreamFailure?) {
    guarded.withLock { ($0.handle, $0.writer) = (nil, nil) }
    report(.ended(failure?.error(peer)), isLast: true)
  }
}
