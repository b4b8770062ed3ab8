// `WebSocketRequest`: a request that opens a WebSocket connection and exchanges messages.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the superclass is. The added state is constant or protected by the Mutex.
/// A request that opens a WebSocket connection (RFC 6455), passes its messages to handlers, and sends messages.
///
/// The first handler resumes the request. Slow handlers cause backpressure: the next message is received when all handlers have
/// returned. Adapters change the request of the opening handshake. If the connection fails, retriers may open another one.
public final class WebSocketRequest: Request, @unchecked Sendable {
  private struct SocketState: ~Copyable {
    var handlers: [WebSocketHandler] = []
    /// Whether the request was resumed before it has a handler, so that events are kept, and messages aren't received, until then.
    var awaitsHandler = false
    /// The events that are kept for the first handler: at most the start and the end of the latest attempt's connection.
    var keptEvents: [WebSocketEvent] = []
    /// Messages that were sent before the task was created.
    var early: [@Sendable (Result<URLSessionWebSocketTask, any Error>) -> Void] = []
    /// The task to which messages are passed, or nil before it is created and after the request has ended.
    var task: URLSessionWebSocketTask?
    /// The code and the reason with which the caller has closed the connection.
    var closing: (code: URLSessionWebSocketTask.CloseCode, reason: Data?)?
  }

  /// The value from which each attempt of the request creates its `URLRequest`.
  public let convertible: any URLRequestConvertible
  /// The settings of the request.
  public let configuration: Configuration

  private let socketState = Mutex(SocketState())
  /// A group that each handler enters when an event occurs, and leaves when it has processed the event.
  private let handlersAtWork = DispatchGroup()

  init(
    _ convertible: any URLRequestConvertible, _ configuration: Configuration, session: Session,
    shouldAutomaticallyResume: Bool?
  ) {
    self.convertible = convertible
    self.configuration = configuration
    super.init(session: session, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  // MARK: The task

  override func makeURLRequest() throws -> URLRequest { try convertible.asURLRequest() }

  override func makeTask(_ request: URLRequest, in session: URLSession) -> URLSessionTask {
    var request = request
    if let offered = configuration.protocol { request.headers.update(.websocketProtocol(offered)) }
    let task = session.webSocketTask(with: request)
    task.maximumMessageSize = configuration.maximumMessageSize
    task.pingInterval = configuration.pingInterval
    let (early, awaitsHandler) = socketState.withLock { state in
      defer { (state.early, state.keptEvents) = ([], []) }
      state.task = task
      return (state.early, state.awaitsHandler)
    }
    for send in early { send(.success(task)) }
    if !awaitsHandler { beginReceiving(from: task) }
    return task
  }

  override func cancelTask(_ task: URLSessionTask) {
    guard let task = task as? URLSessionWebSocketTask, let closing = socketState.withLock({ $0.closing }) else {
      return task.cancel()
    }
    task.cancel(with: closing.code, reason: closing.reason)
  }

  override func taskDidEnd(with error: AFError?) {
    // The caller has closed the connection, so it isn't an error that the server hasn't answered the Close frame.
    guard (error?.underlyingError as? URLError)?.code == .cancelled, socketState.withLock({ $0.closing != nil }) else {
      return
    }
    mutableState.withLock { $0.error = nil }
  }

  override func cleanup() {
    super.cleanup()
    socketState.withLock { $0.task = nil }
    failEarlySends()
  }

  private func failEarlySends() {
    let early = socketState.withLock { state in
      defer { state.early = [] }
      return state.early
    }
    for send in early { send(.failure(endError)) }
  }

  /// The error of a message that can't be sent, because the request has ended.
  private var endError: any Error {
    if let error { return error }
    return isCancelled ? AFError.explicitlyCancelled as any Error : POSIXError(.ENOTCONN)
  }

  // MARK: Events, on the underlying queue

  private func beginReceiving(from task: URLSessionWebSocketTask) {
    // A handler may take any time for a message, and gets those that arrived before the end.
    task.waitForReceiver()
    receiveNext(from: task)
  }

  private func receiveNext(from task: URLSessionWebSocketTask) {
    task.receive { [weak self, weak task] result in
      // The request's end is reported by its task's end.
      guard let self, let task, case .success(let message) = result else { return }
      deliver(.message(message))
      handlersAtWork.notify(queue: underlyingQueue) { self.receiveNext(from: task) }
    }
  }

  override func didConnect(protocol subprotocol: String?) { deliver(.connected(protocol: subprotocol)) }

  override func didDisconnect(closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?) {
    deliver(.disconnected(closeCode: closeCode, reason: reason))
  }

  private func deliver(_ event: WebSocketEvent) {
    let handlers = socketState.withLock { state in
      if state.awaitsHandler { state.keptEvents.append(event) }
      return state.handlers
    }
    for handler in handlers { handler.take(event, self, handlersAtWork) }
  }

  @discardableResult
  func add(_ handler: WebSocketHandler) -> Self {
    let isLate = socketState.withLock { state in
      if !state.awaitsHandler { state.handlers.append(handler) }
      return state.awaitsHandler
    }
    if isLate { root.perform { self.catchUp(handler) } }
    append { [unowned self] in
      SerializedResponse(error: nil) { [unowned self] _ in
        let completion = Completion(request: request, response: response, metrics: metrics, error: error)
        handler.take(.completed(completion), self, handlersAtWork)
      }
    }
    return self
  }

  /// Adds a handler to a request that was resumed before it had one. The first such handler receives what was kept for it.
  private func catchUp(_ handler: WebSocketHandler) {
    let (events, task) = socketState.withLock { state in
      defer { (state.awaitsHandler, state.keptEvents) = (false, []) }
      state.handlers.append(handler)
      return (state.keptEvents, state.awaitsHandler ? state.task : nil)
    }
    for event in events { handler.take(event, self, handlersAtWork) }
    if let task { beginReceiving(from: task) }
  }

  // MARK: Control

  /// Resumes the request before it has a handler, unless its `shouldAutomaticallyResume` is false, or the caller has already resumed,
  /// suspended or canceled it. What happens before the first handler is added is kept for that handler.
  func resumeAwaitingHandler() {
    guard startsImmediately, state == .initialized else { return }
    socketState.withLock { if $0.handlers.isEmpty { $0.awaitsHandler = true } }
    resume()
  }

  /// Closes the connection with a code. The request's state becomes `.cancelled`, but it has no error.
  ///
  /// Messages that were already sent arrive before. The request ends when the server has answered, or after 5 seconds.
  ///
  /// - Parameters:
  ///   - closeCode: The code to send.
  ///   - reason: A text in UTF-8 of at most 123 bytes, or nil for none.
  /// - Returns: The request.
  @discardableResult
  public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) -> Self {
    cancel(with: nil) { isFirst, _ in
      if isFirst { socketState.withLock { $0.closing = (closeCode, reason) } }
    }
    return self
  }

  /// Cancels the request, which ends the connection without a Close frame. The request's error is
  /// `AFError.explicitlyCancelled`, unless the request has already failed.
  ///
  /// - Returns: The request.
  @discardableResult
  public override func cancel() -> Self { super.cancel() }

  // MARK: Sending

  /// Sends a message. Messages that are sent before the connection is open are sent when it has opened.
  ///
  /// - Parameters:
  ///   - message: The message to send.
  ///   - queue: The queue on which `completionHandler` is called.
  ///   - completionHandler: Called when the message has been buffered, or with an error if the connection or the request has ended
  ///     before.
  public func send(
    _ message: URLSessionWebSocketTask.Message, queue: DispatchQueue = .main,
    completionHandler: @escaping @Sendable (_ result: Result<Void, any Error>) -> Void
  ) {
    let send: @Sendable (Result<URLSessionWebSocketTask, any Error>) -> Void = { result in
      switch result {
      case .success(let task):
        task.send(message) { error in
          queue.async { completionHandler(error.map { .failure($0) } ?? .success(())) }
        }
      case .failure(let error): queue.async { completionHandler(.failure(error)) }
      }
    }
    let task = socketState.withLock { state -> URLSessionWebSocketTask? in
      if state.task == nil { state.early.append(send) }
      return state.task
    }
    if let task { send(.success(task)) } else if isCancelled || isFinished { failEarlySends() }
  }

  /// Sends a ping, and calls `onResponse` on `queue` with the server's answer.
  public func sendPing(
    respondingOn queue: DispatchQueue = .main, onResponse: @escaping @Sendable (PingResponse) -> Void
  ) {
    guard state == .resumed, let task = socketState.withLock({ $0.task }) else {
      return queue.async { onResponse(.unsent) }
    }
    let (start, uptime) = (Date(), DispatchTime.now().uptimeNanoseconds)
    task.sendPing { error in
      let latency = TimeInterval(DispatchTime.now().uptimeNanoseconds - uptime) / 1e9
      let response =
        if let error { PingResponse.error(error) } else {
          PingResponse.pong(PingResponse.Pong(start: start, end: Date(), latency: latency))
        }
      queue.async { onResponse(response) }
    }
  }
}
