// `DataStreamRequest`: a request whose response body is delivered in pieces and not stored.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the superclass is. The added state is constant or protected by the Mutex.
/// A request that passes its response body to handlers in pieces, while the body arrives, and doesn't store it.
///
/// Slow handlers cause backpressure: at most `EngineConfiguration.windowBytes` received bytes are buffered for them. After a
/// cancellation, no more pieces are delivered.
public final class DataStreamRequest: Request, @unchecked Sendable {
  /// A closure that accepts or rejects a response. Called on the request's underlying queue with the request and the response head.
  public typealias Validation = @Sendable (URLRequest?, HTTPURLResponse) -> ValidationResult

  private struct Streaming {
    var consumers: [any StreamConsumer] = []
    var validations: [Validation] = []
    /// The event stream of the handlers for events, if the request wasn't created for an event stream.
    var events: EventStream?
  }

  /// The value from which each attempt of the request creates its `URLRequest`.
  public let convertible: any URLRequestConvertible
  /// Whether the request is cancelled if a piece of its response body can't be serialized.
  public let automaticallyCancelOnStreamError: Bool
  /// The event stream for which the request was created, or nil if there is none.
  private let eventStream: EventStream?

  /// A group that each handler enters when the request receives a piece of the body. The handler leaves the group when it has
  /// processed that piece.
  let handlersAtWork = DispatchGroup()
  private let streaming = Mutex(Streaming())

  init(
    _ convertible: any URLRequestConvertible, automaticallyCancelOnStreamError: Bool, session: Session,
    shouldAutomaticallyResume: Bool?, eventStream: EventStream? = nil
  ) {
    self.convertible = convertible
    self.automaticallyCancelOnStreamError = automaticallyCancelOnStreamError
    self.eventStream = eventStream
    super.init(session: session, shouldAutomaticallyResume: shouldAutomaticallyResume)
    // `validateResponse` also checks the response of an event stream.
    if eventStream != nil { didAdd(.validations) }
  }

  override func makeURLRequest() throws -> URLRequest { try convertible.asURLRequest() }

  override func makeTask(_ request: URLRequest, in session: URLSession) -> URLSessionTask {
    let task = session.dataTask(with: request)
    task.windowBytes = session.client.windowBytes
    return task
  }

  override func reset() {
    super.reset()
    eventStream?.startAnew()
    for consumer in consumers { consumer.startAnew() }
  }

  // MARK: The body, on the underlying queue

  var consumers: [any StreamConsumer] { streaming.withLock { $0.consumers } }

  func add(_ consumer: any StreamConsumer) {
    streaming.withLock { $0.consumers.append(consumer) }
  }

  override func didReceive(_ data: Data, from task: URLSessionDataTask, in session: URLSession) {
    didReceive(task.countOfBytesReceived, of: task.countOfBytesExpectedToReceive)
    if let error = eventStream?.check(task.httpResponse) {
      didFail(task, earlyWith: error)
      task.cancel()
    }
    let piece = StreamPiece(data, of: task)
    for consumer in consumers { consumer.take(piece) }
  }

  override func drain(_ body: @escaping @Sendable () -> Void) {
    for consumer in consumers { consumer.endRound() }
    handlersAtWork.notify(queue: underlyingQueue, execute: body)
  }

  /// Makes the request fail with `error`, which a handler threw, unless the request has already failed.
  func fail(with error: any Error) {
    let error = error.asSerializationFailure
    let task = mutableState.withLock { state -> URLSessionTask? in
      guard state.error == nil, state.state != .cancelled else { return nil }
      state.error = error
      return state.runningTask
    }
    if let task { root.perform(.immediate) { self.monitors?.request(self, didFailTask: task, earlyWithError: error) } }
    cancel()
  }

  // MARK: The response head

  /// Adds a handler that decides, after the response head has arrived, whether to continue with the response or to cancel the
  /// request.
  ///
  /// `handler` is called on `queue`. The body isn't read before `handler` has called its completion handler.
  @preconcurrency
  @_disfavoredOverload
  @discardableResult
  public func onHTTPResponse(
    on queue: DispatchQueue = .main,
    perform handler:
      @escaping @Sendable (
        _ response: HTTPURLResponse, _ completionHandler: @escaping @Sendable (ResponseDisposition) -> Void
      ) -> Void
  ) -> Self {
    set(\.responseDecision, to: ResponseDecision(queue: queue, decide: handler))
    didAdd(.responseDecision)
    return self
  }

  /// Calls `handler` on `queue` when the response head has arrived. The body isn't read before `handler` has returned.
  @preconcurrency
  @discardableResult
  public func onHTTPResponse(
    on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (HTTPURLResponse) -> Void
  ) -> Self {
    onHTTPResponse(on: queue) { response, completionHandler in
      handler(response)
      completionHandler(.allow)
    }
  }

  // MARK: Validation

  /// Adds a closure that accepts or rejects the response. After the end of the body, the closures added to this request run in
  /// order, until one of them rejects the response.
  @preconcurrency
  @discardableResult
  public func validate(_ validation: @escaping Validation) -> Self {
    streaming.withLock { $0.validations.append(validation) }
    didAdd(.validations)
    return self
  }

  override func validateResponse(_ response: HTTPURLResponse) -> AFError? {
    let validations = streaming.withLock { $0.validations }
    let (request, monitors) = (request, monitors)
    let refusal = refusal(of: validations) { validation in
      let result = validation(request, response)
      monitors?.request(self, didValidateRequest: request, response: response, withResult: result)
      return result
    }
    return refusal ?? eventStream?.outcome(of: response, to: method)
  }

  // MARK: The event stream

  /// The event stream in the response body. A request that wasn't created for an event stream gets one that only parses.
  var events: EventStream {
    if let eventStream { return eventStream }
    return streaming.withLock { streaming in
      if let events = streaming.events { return events }
      let events = EventStream(nil)
      streaming.events = events
      return events
    }
  }

  /// The ID of the last event that was received, or nil if the request has received no ID. See `ServerSentEvent.id`.
  public var lastEventID: String? {
    let id = (eventStream ?? streaming.withLock { $0.events })?.lastEventID ?? ""
    return id.isEmpty ? nil : id
  }

  private var method: HTTPMethod { lastRequest?.method ?? .get }

  // An event stream isn't sent again by a retrier if that could repeat its effect. It reconnects by itself if no retrier retries it.
  override func askRetriers(dueTo error: AFError, then proceed: @escaping @Sendable (RetryResult) -> Void) -> Bool {
    guard let eventStream, !isCancelled, session != nil else { return callRetriers(dueTo: error, then: proceed) }
    let response = response
    if let refusal = eventStream.refusalToRepeat(method, after: response, dueTo: error) {
      proceed(.doNotRetryWithError(refusal))
      return true
    }
    let decide: @Sendable (RetryResult) -> Void = { [method] result in
      proceed(self.isCancelled ? result : eventStream.decision(after: result, method, response, dueTo: error))
    }
    if !callRetriers(dueTo: error, then: decide) { decide(.doNotRetry) }
    return true
  }
}
