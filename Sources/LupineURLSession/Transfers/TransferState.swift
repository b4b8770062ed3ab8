// TransferState: the state machine of one task's transfer. It takes events and returns actions and steps, without locks, I/O or
// callbacks.

import Foundation
import LupineEngine

/// Decides about one task's transfer: the requests to send, the events to deliver, the questions to the observer, and the end.
///
/// A transfer has one exchange at a time. Events come from the task, from the engine, and from the session's queue, which
/// performs one step after another. A question to the observer stops the steps until the observer answers. In the meantime,
/// reading is paused. The state consists mainly of the exchange's state (`Exchange`), the state that the task has requested
/// (`Demand`), and the next step on the session's queue (`Turn`).
struct TransferState: Sendable {
  /// A command to execute after the lock was released.
  enum Action: Equatable {
    /// Perform steps on the session's queue until `nextStep` returns nil.
    case deliver
    /// Stop reading the exchange, then call `flowChanged`.
    case pause(exchange: Int)
    /// Continue reading the exchange, then call `flowChanged`.
    case resume(exchange: Int)
    /// End the exchange without the rest of its body.
    case discardBody
    /// Extend the receive window by this many bytes of the body.
    case extendWindow(Int)
    /// Cancel the exchange.
    case cancel
  }

  /// A request to submit to the engine.
  struct Submission {
    let exchange: Int
    let request: EngineRequest
    /// Whether stored cookies are added to the request.
    let handlesCookies: Bool
  }

  /// The state of the exchange that the engine performs for the transfer.
  enum Exchange {
    /// There is no exchange: before the first, between two, and after the last.
    case none
    /// `submit` hasn't returned the handle yet. Commands wait for the handle.
    case submitting
    /// The exchange accepts commands.
    case active(Flow)
  }

  /// Whether the engine reads from the connection. Only one thread at a time changes this, so that changes can't overtake each
  /// other.
  enum Flow {
    case reading, pausing, paused, resuming
  }

  /// The state that the task has requested.
  enum Demand {
    case running, suspended, canceled
  }

  /// The way in which the response's body is handled.
  enum Body {
    /// Pieces are delivered.
    case wanted
    /// The pieces that have already arrived are delivered. The rest is discarded.
    case discarded
    /// Pieces are kept until the observer has decided about the redirect. If the redirect isn't followed, the pieces are
    /// delivered.
    indirect case undecided(Redirection)
    /// Pieces are dropped, because the response isn't the final one.
    indirect case superseded(Successor)
  }

  /// A redirect that the observer decides on.
  struct Redirection {
    /// The request to send next, by the redirect rule.
    let next: EngineRequest
    /// The reason why the redirect can't be followed as proposed, or nil if it can.
    var refusal: EngineError?
    /// The target of a refused redirect, or nil if the redirect isn't refused.
    var refusedURL: URL?
  }

  /// The next step after the exchange in progress, whose response isn't the final one.
  enum Successor {
    /// The request of a redirect that the observer follows.
    case redirect(EngineRequest, URLRequest)
    /// The request of a redirect that the observer follows, and that a URLProtocol answers. This transfer ends, and the
    /// protocol's transfer takes over.
    case handover(URLRequest)
    /// The end of the transfer with an error.
    case failure(URLError)
    /// A request that isn't from a redirect: the same request with a credential, or a request in its place.
    case replacement(EngineRequest, URLRequest)
  }

  /// The next step on the session's queue.
  enum Turn {
    /// Process the engine's events in order.
    case received
    /// Execute a decision before anything else.
    case decided(Decision)
    /// Pass a question with this number to the observer.
    case asking(Int)
    /// Wait for the observer's answer to the question with this number.
    case awaiting(Int)
    /// Do nothing, because the observer has been notified of the end.
    case ended
  }

  /// A decision to execute on the session's queue.
  enum Decision {
    /// Present the response to the observer, although it redirects or requires a credential.
    case present
    /// Send the request.
    case submit
    /// Ask the observer for a credential for the next authentication scheme that the response offers.
    indirect case authenticate(Unauthorized)
    /// End the transfer.
    case end(URLError?)
  }

  /// The state of the delivery on the session's queue: whether one has been requested and hasn't ended.
  enum Hop {
    case none, requested
  }

  /// The receive window: the maximum number of body bytes in flight between the engine and the observer, or nil for no limit.
  var windowBytes: Int?

  var exchange = Exchange.none
  /// The number of the latest exchange.
  var exchangeCount = 0
  var body = Body.wanted
  /// The number of body bytes that the observer has processed, but by which the engine's receive window hasn't been extended yet.
  var consumedByteCount = 0
  var demand = Demand.running
  /// The highest `change` number that `setSuspended` has received. A call with a lower number has no effect.
  var latestChange = 0
  var turn = Turn.received
  /// The number of the latest question.
  var questionCount = 0
  var hop = Hop.none
  var batch = TransferBatch()

  /// The latest request, in the form for the engine. `urlRequest` is the same request in the form for the observer.
  var request: EngineRequest
  var urlRequest: URLRequest
  /// The latest response's head, or nil if there is none.
  var response: HTTPURLResponse?
  var receivedByteCount: Int64 = 0
  var sentByteCount: Int64 = 0
  /// Whether a request that can't be sent for lack of a network waits for a network.
  let waitsForConnectivity: Bool
  /// The number of times that the transfer has waited for a network.
  var waitCount = 0
  /// The number of consecutive lookups that failed although there was a network.
  var unansweredLookupCount = 0
  /// The redirects followed so far, and the time left for further exchanges.
  var redirects: RedirectChain
  /// The credentials sent for the current URL.
  var attempts = CredentialAttempts()
  /// The measurements of the exchanges that have ended.
  var metrics: ShortList<ExchangeMetrics> = []
  /// The measurements of the latest exchange that ended before the request was sent, because the observer chooses a client
  /// certificate. Empty again after the exchange that sends it. An array, because an optional would enlarge each transfer.
  var unsent: [ExchangeMetrics] = []
  /// The requests and responses of the exchanges that have ended. An exchange is added once its end has been processed.
  var performed: ShortList<(URLRequest, HTTPURLResponse?)> = []

  init(
    _ request: EngineRequest, from urlRequest: URLRequest, redirectRule: RedirectRule, redirectCount: Int = 0,
    windowBytes: Int?, waitsForConnectivity: Bool = false
  ) {
    self.waitsForConnectivity = waitsForConnectivity
    self.request = request
    self.urlRequest = urlRequest
    redirects = RedirectChain(redirectRule, total: request.timeouts.total, count: redirectCount)
    self.windowBytes = windowBytes
  }

  // MARK: Events from the task

  /// Returns the first request to submit, or nil if the transfer has already been cancelled.
  mutating func start() -> Submission? {
    guard demand != .canceled, case .received = turn else { return nil }
    return submission()
  }

  /// Called when the task was cancelled. Only the first cancellation before the end has an effect.
  mutating func cancel() -> [Action] {
    guard demand != .canceled, !hasEnded else { return [] }
    demand = .canceled
    var actions: [Action] = []
    switch exchange {
    // There is no exchange to cancel, so the transfer ends now. An open question to the observer remains unanswered.
    case .none: turn = .decided(.end(URLError(.cancelled)))
    // The exchange has no handle yet. `submitted` cancels it.
    case .submitting: break
    case .active: actions = [.cancel]
    }
    if let deliver = requestDelivery() { actions.append(deliver) }
    return actions
  }

  /// Called when the task was suspended or resumed. Ignored if a call with a higher number came first.
  mutating func setSuspended(_ isSuspended: Bool, change: Int) -> Action? {
    guard change > latestChange else { return nil }
    latestChange = change
    guard demand != .canceled else { return nil }
    demand = isSuspended ? .suspended : .running
    return flowAction()
  }

  /// Called when the rest of the body isn't needed. The exchange ends as if the entire body had been received.
  mutating func discardBody() -> Action? {
    guard case .wanted = body else { return nil }
    body = .discarded
    return discardAction
  }

  /// Called to send another request after the exchange in progress. Its response becomes the task's response.
  mutating func replace(with request: EngineRequest, from urlRequest: URLRequest) -> Action? {
    body = .superseded(.replacement(request, urlRequest))
    return discardAction
  }

  /// Called when the observer has processed `byteCount` bytes. The engine's window is extended once the bytes amount to half a
  /// window, because an extension for each piece would lead to ever smaller pieces.
  mutating func extendWindow(by byteCount: Int) -> Action? {
    guard let windowBytes else { return nil }
    consumedByteCount += byteCount
    guard case .active = exchange, consumedByteCount >= windowBytes / 2 else { return nil }
    return .extendWindow(takeConsumed())
  }

  // MARK: Events of submission

  /// Called when the engine has accepted the exchange `number`. Returns the actions to perform on its handle, or nil if the
  /// exchange has already ended and the handle isn't needed.
  mutating func submitted(_ number: Int) -> [Action]? {
    guard number == exchangeCount, case .submitting = exchange else { return nil }
    exchange = .active(.reading)
    if demand == .canceled { return [.cancel] }
    var actions: [Action] = []
    if consumedByteCount > 0 { actions.append(.extendWindow(takeConsumed())) }
    switch body {
    case .discarded, .superseded(.replacement), .superseded(.redirect), .superseded(.handover):
      actions.append(.discardBody)
    case .wanted, .undecided, .superseded(.failure): break
    }
    if let action = flowAction() { actions.append(action) }
    return actions
  }

  /// Called when the engine couldn't accept the exchange.
  mutating func submissionFailed(_ error: URLError) -> Action? {
    exchange = .none
    turn = .decided(.end(error))
    return requestDelivery()
  }

  /// Called after `pause` or `resume` was executed. Returns the next change if the executed one is outdated by now.
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

  /// Begins an exchange with the current request.
  mutating func submission() -> Submission {
    exchange = .submitting
    exchangeCount += 1
    body = .wanted
    consumedByteCount = 0
    return Submission(
      exchange: exchangeCount, request: request, handlesCookies: urlRequest.httpShouldHandleCookies)
  }

  /// Requests a delivery if a step is possible and no delivery has been requested yet.
  mutating func requestDelivery() -> Action? {
    guard hop == .none, canStep else { return nil }
    hop = .requested
    return .deliver
  }

  /// Whether `nextStep` would return a step.
  var canStep: Bool {
    switch turn {
    case .received: batch.nextPart != nil
    case .decided: true
    // A cancelled transfer doesn't wait for an answer once its exchange has ended.
    case .asking, .awaiting: demand == .canceled && batch.end != nil
    case .ended: false
    }
  }

  /// Begins to pause or resume reading if necessary, unless another thread is already doing so.
  mutating func flowAction() -> Action? {
    guard demand != .canceled, case .active(let flow) = exchange else { return nil }
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

  /// Whether reading must be paused, because the task is suspended or its delegate hasn't answered a question yet.
  private var isHeld: Bool {
    if case .awaiting = turn { true } else { demand == .suspended }
  }

  private var hasEnded: Bool {
    if case .ended = turn { true } else { false }
  }

  var discardAction: Action? { if case .active = exchange { .discardBody } else { nil } }

  private mutating func takeConsumed() -> Int {
    defer { consumedByteCount = 0 }
    return consumedByteCount
  }
}
