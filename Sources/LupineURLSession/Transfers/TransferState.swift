// TransferState: the state machine of one task's transfer. It takes events and returns actions and steps, without locks, I/O or
// callbacks.

import Foundation
import LupineEngine

/// The state machine of one task's transfer. It decides which requests to send, which events to deliver, what to ask the observer,
/// and when the transfer ends.
///
/// A transfer has one exchange at a time. Events come from the task, from the engine, and from the session's queue, which performs
/// one step after another. A question to the observer stops the steps until the observer answers. In the meantime, the transfer
/// doesn't read the response. The state consists mainly of the exchange's state (`Exchange`), the state that the task has requested
/// (`Demand`), and the next step on the session's queue (`Turn`).
struct TransferState: Sendable {
  /// A command that the transfer must execute after it has released the lock.
  enum Action: Equatable {
    /// Perform steps on the session's queue until `nextStep` returns nil.
    case deliver
    /// Stop reading the exchange's response, then call `flowChanged`.
    case pause(exchange: Int)
    /// Continue reading the exchange's response, then call `flowChanged`.
    case resume(exchange: Int)
    /// End the exchange without reading the rest of the response's body.
    case discardBody
    /// Extend the exchange's receive window by this number of bytes of the response's body.
    case extendWindow(Int)
    /// Cancel the exchange.
    case cancel
  }

  /// A request to submit to the engine.
  struct Submission {
    let exchange: Int
    let request: EngineRequest
    /// Whether the session's stored cookies are added to the request.
    let handlesCookies: Bool
  }

  /// The state of the exchange that the engine performs for the transfer.
  enum Exchange {
    /// There is no exchange: before the first exchange, between two exchanges, and after the last one.
    case none
    /// The exchange has been submitted, but `submit` hasn't returned its handle yet. Commands wait for the handle.
    case submitting
    /// The exchange has a handle and accepts commands.
    case active(Flow)
  }

  /// Whether the engine reads the exchange's response. Only one thread at a time pauses or resumes reading, so that the commands
  /// are executed in order.
  enum Flow {
    case reading, pausing, paused, resuming
  }

  /// The state that the task has requested for the transfer.
  enum Demand {
    case running, suspended, canceled
  }

  /// The way in which the response's body is handled.
  enum Body {
    /// The transfer delivers the pieces of the body.
    case wanted
    /// The transfer delivers the pieces that have already arrived, and discards the rest.
    case discarded
    /// The transfer stores the pieces until the observer has decided about the redirect. If the redirect isn't followed, it
    /// delivers them.
    indirect case undecided(Redirection)
    /// The transfer drops the pieces, because the response isn't the final one.
    indirect case superseded(Successor)
  }

  /// A redirect about which the observer must decide.
  struct Redirection {
    /// The request to send next, according to the redirect rule.
    let next: EngineRequest
    /// The error because of which the redirect can't be followed as proposed. Nil if it can be followed.
    var refusal: EngineError?
    /// The URL to which the refused redirect leads. Nil if the redirect isn't refused.
    var refusedURL: URL?
  }

  /// The transfer's next action after the exchange in progress, whose response isn't the final one.
  enum Successor {
    /// Sends the request of a redirect that the observer follows: first in the engine's form, then in the observer's form.
    case redirect(EngineRequest, URLRequest)
    /// Lets a URLProtocol answer the request of a redirect that the observer follows. This transfer ends, and another transfer uses
    /// the URLProtocol.
    case handover(URLRequest)
    /// Ends with an error.
    case failure(URLError)
    /// Sends a request that isn't from a redirect: the same request with a credential, or another request instead of it.
    case replacement(EngineRequest, URLRequest)
  }

  /// The transfer's next action on the session's queue.
  enum Turn {
    /// Processes the engine's events in order.
    case received
    /// Executes a decision before anything else.
    case decided(Decision)
    /// Passes a question with this number to the observer.
    case asking(Int)
    /// Waits for the observer's answer to the question with this number.
    case awaiting(Int)
    /// Does nothing, because the observer has been notified of the end.
    case ended
  }

  /// A decision to execute on the session's queue.
  enum Decision {
    /// Present the response to the observer as the final response, although it redirects or requires a credential.
    case present
    /// Send the request.
    case submit
    /// Ask the observer for a credential for the next authentication scheme that the response offers.
    indirect case authenticate(Unauthorized)
    /// End the transfer, with an error or with success (nil).
    case end(URLError?)
  }

  /// Whether a delivery on the session's queue has been requested and hasn't ended.
  enum Hop {
    case none, requested
  }

  /// The receive window: the maximum number of received body bytes that the observer hasn't processed yet. Nil for no limit.
  var windowBytes: Int?

  var exchange = Exchange.none
  /// The number of exchanges so far, which is also the number of the latest exchange.
  var exchangeCount = 0
  var body = Body.wanted
  /// The number of body bytes that the observer has processed, but by which the engine's receive window hasn't been extended yet.
  var consumedByteCount = 0
  var demand = Demand.running
  /// The highest `change` number that was passed to `setSuspended`. A call with a lower number comes too late and has no effect.
  var latestChange = 0
  var turn = Turn.received
  /// The number of questions to the observer so far, which is also the number of the latest question.
  var questionCount = 0
  var hop = Hop.none
  var batch = TransferBatch()

  /// The latest request in the engine's form. `urlRequest` is the same request in the observer's form.
  var request: EngineRequest
  var urlRequest: URLRequest
  /// The head of the latest response. Nil if there is none.
  var response: HTTPURLResponse?
  var receivedByteCount: Int64 = 0
  var sentByteCount: Int64 = 0
  /// Whether the transfer waits for a network if a request can't be sent because there is none.
  let waitsForConnectivity: Bool
  /// The number of times that the transfer has waited for a network.
  var waitCount = 0
  /// The number of consecutive attempts that failed because no name server answered, although there was a network.
  var unansweredLookupCount = 0
  /// The redirects followed so far, and the time left for further exchanges.
  var redirects: RedirectChain
  /// The numbers of credentials sent since the latest redirect.
  var attempts = CredentialAttempts()
  /// The measurements of the exchanges that have ended, oldest first.
  var metrics: ShortList<ExchangeMetrics> = []
  /// The measurements of an exchange that ended before the request was sent, because the observer must choose a client certificate.
  /// Empty again after the exchange that sends the request. This is an array because an optional would take more memory in each
  /// transfer.
  var unsent: [ExchangeMetrics] = []
  /// The requests and responses of the exchanges that have ended, oldest first. An exchange is added when its end is processed on
  /// the session's queue.
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

  /// Called when the task has been cancelled. Only the first call has an effect, and only before the transfer has ended.
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

  /// Called when the task has been suspended or resumed. Has no effect after a call with a higher number `change`.
  mutating func setSuspended(_ isSuspended: Bool, change: Int) -> Action? {
    guard change > latestChange else { return nil }
    latestChange = change
    guard demand != .canceled else { return nil }
    demand = isSuspended ? .suspended : .running
    return flowAction()
  }

  /// Called when the rest of the response's body isn't needed. The transfer ends as if it had received the entire body.
  mutating func discardBody() -> Action? {
    guard case .wanted = body else { return nil }
    body = .discarded
    return discardAction
  }

  /// Called to send another request after the exchange in progress. The response to that request becomes the task's response.
  mutating func replace(with request: EngineRequest, from urlRequest: URLRequest) -> Action? {
    body = .superseded(.replacement(request, urlRequest))
    return discardAction
  }

  /// Called when the observer has processed `byteCount` bytes of the response's body. Extends the engine's receive window only when
  /// the processed bytes amount to half the window, because an extension for each piece would lead to ever smaller pieces.
  mutating func extendWindow(by byteCount: Int) -> Action? {
    guard let windowBytes else { return nil }
    consumedByteCount += byteCount
    guard case .active = exchange, consumedByteCount >= windowBytes / 2 else { return nil }
    return .extendWindow(takeConsumed())
  }

  // MARK: Events of submission

  /// Called when the engine or the cache has accepted the exchange `number` and returned its handle. Returns the actions to perform
  /// with the handle, or nil if the exchange has already ended, so that the handle isn't needed.
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

  /// Called when an exchange couldn't be submitted. The transfer ends with the error.
  mutating func submissionFailed(_ error: URLError) -> Action? {
    exchange = .none
    turn = .decided(.end(error))
    return requestDelivery()
  }

  /// Called after the action `pause` or `resume` has been executed. Returns the opposite action if it has become necessary in the
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

  /// Begins an exchange with the current request. Returns the request to submit.
  mutating func submission() -> Submission {
    exchange = .submitting
    exchangeCount += 1
    body = .wanted
    consumedByteCount = 0
    return Submission(
      exchange: exchangeCount, request: request, handlesCookies: urlRequest.httpShouldHandleCookies)
  }

  /// Returns the action `deliver` if a step is possible and no delivery has been requested yet.
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

  /// Returns the action `pause` or `resume` if it is necessary. Returns nil if it isn't, or if another thread is already executing
  /// one.
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

  /// Whether reading must be paused, because the task is suspended or the observer hasn't answered a question yet.
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
