// TransferState: the state machine of one task's transfer. It takes events and returns actions and steps, without locks, I/O or
// callbacks.

import Foundation
import LupineEngine

/// The state machine of one task's transfer over HTTP. It decides which requests to send, which events to deliver, what to ask the
/// observer, and when the transfer ends.
///
/// A transfer has one exchange at a time. It receives events from the task and from the engine, and performs steps on the session's
/// queue, one after another. While it waits for the observer's answer to a question, it performs no step and reads nothing of the
/// response. Its state consists mainly of the exchange's state (`Exchange`), the state that the task has requested
/// (`TransferDemand`), and the next step on the session's queue (`Turn`).
struct TransferState: Sendable {
  /// A command from the state machine, which the transfer executes after it has released the lock.
  enum Action: Equatable {
    /// Perform steps on the session's queue, until `nextStep` returns nil.
    case deliver
    /// Stop reading the response of this exchange, then call `flowChanged`.
    case pause(exchange: Int)
    /// Continue reading the response of this exchange, then call `flowChanged`.
    case resume(exchange: Int)
    /// Discard the rest of the response's body, and end the exchange.
    case discardBody
    /// Extend the exchange's receive window by this number of bytes.
    case extendWindow(Int)
    /// Cancel the exchange that is in progress.
    case cancel
  }

  /// A request that the transfer must submit to the engine.
  struct Submission {
    let exchange: Int
    let request: EngineRequest
    /// Whether the session adds stored cookies to the request and stores the response's cookies.
    let handlesCookies: Bool
    /// The cache policy that was set for the request. Nil if the session's policy applies.
    let cachePolicy: URLRequest.CachePolicy?
  }

  /// The state of the transfer's exchange with the engine.
  enum Exchange {
    /// No exchange is in progress: before the first exchange, between two exchanges, or after the last one.
    case none
    /// The exchange has been submitted, but `submit` hasn't returned its handle yet. Commands are deferred until there is a handle.
    case submitting
    /// The exchange is in progress. Its handle accepts commands.
    case active(Flow)
  }

  /// Whether the engine reads the exchange's response. Only one thread at a time pauses or resumes reading, so that the engine
  /// receives these commands in order.
  enum Flow {
    case reading, pausing, paused, resuming
  }

  /// The handling of the current response's body.
  enum Body {
    /// The transfer delivers the body to the observer, piece by piece.
    case wanted
    /// The transfer delivers the pieces of the body that were already received, and discards the rest.
    case discarded
    /// The response is a redirect about which the observer is deciding. The transfer stores the pieces of the body, and delivers
    /// them if the redirect isn't followed.
    indirect case undecided(Redirection)
    /// The transfer discards all pieces of the body, because the response isn't the final response.
    indirect case superseded(Successor)
  }

  /// A redirect about which the observer must decide.
  struct Redirection {
    /// The next request that the redirect rule proposes.
    let next: EngineRequest
    /// The error if the redirect rule refuses the redirect. Nil if the redirect can be followed as proposed.
    var refusal: EngineError?
    /// The URL to which a refused redirect leads. Nil if the redirect isn't refused.
    var refusedURL: URL?
  }

  /// The transfer's action after the end of the current exchange, whose response isn't the final response.
  enum Successor {
    /// Follows a redirect by sending this request. The two values are the same request in the engine's form and in the observer's
    /// form.
    case redirect(EngineRequest, URLRequest)
    /// Follows a redirect by letting a URLProtocol answer this request. This transfer ends, and another transfer uses the
    /// URLProtocol.
    case handover(URLRequest)
    /// Ends the transfer with this error.
    case failure(URLError)
    /// Sends this request, which doesn't come from a redirect: the same request with a credential, or another request. The two
    /// values are the engine's form and the observer's form.
    case replacement(EngineRequest, URLRequest)
  }

  /// The transfer's next action on the session's queue.
  enum Turn {
    /// The transfer processes the events that it has received from the engine, in order.
    case received
    /// The transfer executes this decision next. Events that it has already received from the engine wait until then.
    case decided(Decision)
    /// The transfer is passing the question with this number to the observer.
    case asking(Int)
    /// The transfer waits for the observer's answer to the question with this number.
    case awaiting(Int)
    /// The transfer does nothing, because the observer has been notified of the end.
    case ended
  }

  /// A decision that the next step on the session's queue executes.
  enum Decision {
    /// Present the current response to the observer as the final response, although it is a redirect or requires a credential.
    case present
    /// Submit the transfer's request to the engine or the session's cache.
    case submit
    /// Ask the observer for a credential for the next authentication scheme that the response offers.
    indirect case authenticate(Unauthorized)
    /// End the transfer, with an error or with success (nil).
    case end(URLError?)
  }

  /// The receive window: the maximum number of received body bytes that the observer hasn't processed yet.
  let windowBytes: Int
  /// Whether the observer reports the bytes that it has processed, by `extendWindow(by:)`. If false, the observer has processed a
  /// piece when its method has returned.
  var isStreamed: Bool

  var exchange = Exchange.none
  /// The number of exchanges so far, which is also the number of the latest exchange.
  var exchangeCount = 0
  var body = Body.wanted
  /// The number of body bytes that the observer has processed, but by which the receive window hasn't been extended yet.
  var consumedByteCount = 0
  var demand = TransferDemand()
  var turn = Turn.received
  /// The number of questions to the observer so far, which is also the number of the latest question.
  var questionCount = 0
  /// Whether the transfer has requested a delivery on the session's queue that hasn't ended yet.
  var isDelivering = false
  var batch = TransferBatch()

  /// The latest request in the engine's form. `urlRequest` is the same request as a URLRequest for the observer.
  var request: EngineRequest
  var urlRequest: URLRequest
  /// The head of the latest response. Nil if there is no response yet.
  var response: HTTPURLResponse?
  var receivedByteCount: Int64 = 0
  var sentByteCount: Int64 = 0
  /// Whether the transfer waits for a network if its request can't be sent because there is no network.
  let waitsForConnectivity: Bool
  /// The number of times that the transfer has waited for a network so far.
  var waitCount = 0
  /// The number of consecutive attempts that failed because no name server answered, although there was a network.
  var unansweredLookupCount = 0
  /// The redirects that were followed so far, and the time that is left for further exchanges.
  var redirects: RedirectChain
  /// The numbers of credentials that were sent since the latest redirect.
  var attempts = CredentialAttempts()
  /// The engine's measurements of the exchanges that have ended, oldest first.
  var metrics: ShortList<ExchangeMetrics> = []
  /// The measurements of an exchange that ended without sending the request, because the observer must choose a client certificate
  /// first. Empty again after the exchange that sends the request. This is an array because an optional would take more memory in
  /// each transfer.
  var unsent: [ExchangeMetrics] = []
  /// The requests and responses of the exchanges that have ended, oldest first. An exchange is added when the session's queue
  /// processes its end.
  var performed: ShortList<(URLRequest, HTTPURLResponse?)> = []

  init(
    _ request: EngineRequest, from urlRequest: URLRequest, redirectRule: RedirectRule, redirectCount: Int = 0,
    windowBytes: Int, isStreamed: Bool, waitsForConnectivity: Bool = false
  ) {
    self.waitsForConnectivity = waitsForConnectivity
    self.request = request
    self.urlRequest = urlRequest
    redirects = RedirectChain(redirectRule, total: request.timeouts.total, count: redirectCount)
    self.windowBytes = windowBytes
    self.isStreamed = isStreamed
  }

  // MARK: Events from the task

  /// Returns the first request to submit, or nil if the transfer has already been canceled.
  mutating func start() -> Submission? {
    guard !demand.isCanceled, case .received = turn else { return nil }
    return submission()
  }

  /// Called when the task has been canceled. Has no effect after the first call or after the end of the transfer.
  mutating func cancel() -> [Action] {
    guard !demand.isCanceled, !hasEnded else { return [] }
    var actions = cancelTransfer()
    if let deliver = requestDelivery() { actions.append(deliver) }
    return actions
  }

  /// Called when the task has been suspended or resumed. Has no effect after a call with a higher value of `change`.
  mutating func setSuspended(_ isSuspended: Bool, change: Int) -> Action? {
    demand.setSuspended(isSuspended, change: change) ? flowAction() : nil
  }

  /// Called when the rest of the response's body isn't needed. The transfer then ends as if it had received the entire body.
  mutating func discardBody() -> Action? {
    guard case .wanted = body else { return nil }
    body = .discarded
    return discardAction
  }

  /// Makes the transfer send another request after the end of the current exchange. The response to it becomes the task's response.
  mutating func replace(with request: EngineRequest, from urlRequest: URLRequest) -> Action? {
    body = .superseded(.replacement(request, urlRequest))
    return discardAction
  }

  /// Called when the observer of a streamed body has processed `byteCount` bytes. Has no effect if the body isn't streamed.
  mutating func extendWindow(by byteCount: Int) -> Action? {
    guard isStreamed else { return nil }
    consumedByteCount += byteCount
    return takeExtension().map(Action.extendWindow)
  }

  // MARK: Events of submission

  /// Called when the engine or the cache has accepted the exchange `number` and returned its handle. Returns the actions to perform
  /// with the handle. Returns nil if the exchange has already ended, so that the handle isn't needed.
  mutating func submitted(_ number: Int) -> [Action]? {
    guard number == exchangeCount, case .submitting = exchange else { return nil }
    exchange = .active(.reading)
    if demand.isCanceled { return [.cancel] }
    var actions: [Action] = []
    // If the body isn't streamed and a delivery is in progress, the observer may still be processing the latest piece. The
    // delivery's next step then extends the window.
    if isStreamed || !isDelivering, let byteCount = takeExtension() { actions.append(.extendWindow(byteCount)) }
    switch body {
    case .discarded, .superseded: actions.append(.discardBody)
    case .wanted, .undecided: break
    }
    if let action = flowAction() { actions.append(action) }
    return actions
  }

  /// Called when the request couldn't be submitted to the engine or the cache. The transfer ends with the error.
  mutating func submissionFailed(_ error: URLError) -> Action? {
    exchange = .none
    turn = .decided(.end(error))
    return requestDelivery()
  }

  /// Called after the action `pause` or `resume` has been executed. Returns the opposite action if it became necessary in the
  /// meantime.
  mutating func flowChanged(exchange number: Int) -> Action? {
    guard number == exchangeCount, case .active(let flow) = exchange else { return nil }
    switch flow {
    case .pausing: exchange = .active(.paused)
    case .resuming: exchange = .active(.reading)
    case .reading, .paused: return nil
    }
    return flowAction()
  }

  // MARK: Common rules

  /// Cancels the transfer. Returns the action that cancels its exchange, if one is in progress.
  mutating func cancelTransfer() -> [Action] {
    demand.cancel()
    switch exchange {
    // There is no exchange to cancel, so the transfer ends now. It awaits no further answer of the observer.
    case .none:
      turn = .decided(.end(URLError(.cancelled)))
      return []
    // The exchange has no handle yet, so `submitted` will cancel it.
    case .submitting: return []
    case .active: return [.cancel]
    }
  }

  /// Begins a new exchange with the current request. Returns the request to submit.
  mutating func submission() -> Submission {
    exchange = .submitting
    exchangeCount += 1
    body = .wanted
    consumedByteCount = 0
    return Submission(
      exchange: exchangeCount, request: request, handlesCookies: urlRequest.httpShouldHandleCookies,
      cachePolicy: urlRequest.explicitCachePolicy)
  }

  /// Returns the action `deliver` if a step can be performed and no delivery has been requested yet. Otherwise returns nil.
  mutating func requestDelivery() -> Action? {
    guard !isDelivering, canStep else { return nil }
    isDelivering = true
    return .deliver
  }

  /// Whether `nextStep` would now return a step.
  var canStep: Bool {
    mutating get {
      switch turn {
      case .received: batch.nextPart != nil
      case .decided: true
      // A canceled transfer doesn't wait for the observer's answer after its exchange has ended.
      case .asking, .awaiting: demand.isCanceled && batch.end != nil
      case .ended: false
      }
    }
  }

  /// Returns the action `pause` or `resume` if reading must be paused or resumed now. Returns nil if neither is necessary, or if
  /// another thread is already executing such an action.
  mutating func flowAction() -> Action? {
    guard !demand.isCanceled, case .active(let flow) = exchange else { return nil }
    switch (flow, isHeld) {
    case (.reading, true):
      exchange = .active(.pausing)
      return .pause(exchange: exchangeCount)
    case (.paused, false):
      exchange = .active(.resuming)
      return .resume(exchange: exchangeCount)
    case (.reading, false), (.paused, true), (.pausing, _), (.resuming, _): return nil
    }
  }

  /// Whether reading the response must be paused, because the task is suspended or the observer hasn't answered a question yet.
  private var isHeld: Bool {
    if case .awaiting = turn { true } else { demand.isSuspended }
  }

  private var hasEnded: Bool {
    if case .ended = turn { true } else { false }
  }

  var discardAction: Action? { if case .active = exchange { .discardBody } else { nil } }

  /// Returns the number of bytes by which the engine's receive window must now be extended, or nil if it needn't be extended yet.
  /// The window is extended only when the processed bytes amount to half of it. If each piece led to an extension, the pieces would
  /// become smaller and smaller. After the end of the exchange, the window isn't extended.
  mutating func takeExtension() -> Int? {
    guard consumedByteCount > 0, consumedByteCount >= windowBytes / 2, case .active = exchange, batch.end == nil else {
      return nil
    }
    defer { consumedByteCount = 0 }
    return consumedByteCount
  }
}
