// TransferState: the state machine of one task's transfer. It takes events and returns
// actions and steps, without locks, I/O or calls.

import Foundation
import LupineEngine

/// Decides about one task's transfer: the requests to send, the events to deliver, the questions to the observer, and the end.
///
/// A transfer has one exchange at a time. Events come from the task, from the engine, and from the session's queue, which
/// performs one step after another. A question to the observer stops the steps until the observer answers. In the meantime,
/// reading is paused. There are three states: that of the exchange (`Exchange`), the one that the task has requested (`Demand`),
/// and the next step on the session's queue (`Turn`).
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
    /// Permit this many more bytes of the body.
    case grant(Int)
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
    /// `submit` hasn't returned the handle yet. Commands wait for it.
    case submitting
    /// The exchange accepts commands.
    case active(Flow)
  }

  /// Whether the engine reads. Only one thread at a time changes this, so that changes can't overtake each other.
  enum Flow {
    case reading, pausing, paused, resuming
  }

  /// The state that the task has requested.
  enum Demand {
    case running, suspended, canceled
  }

  /// The use of the response's body.
  enum Body {
    /// Pieces are delivered.
    case wanted
    /// The pieces that have already arrived are delivered. The rest is discarded.
    case discarded
    /// Pieces are dropped, because the response isn't the final one.
    indirect case superseded(Successor)
  }

  /// The successor of the exchange in progress.
  enum Successor {
    /// The request to which the response redirects, if the observer agrees.
    case redirect(EngineRequest)
    /// The error with which the redirect is refused, unless the observer chooses another request.
    case refusedRedirect(EngineError)
    /// The transfer ends with an error, because the server hasn't proven that it knows the password.
    case untrusted
    /// A request that is sent without the observer's decision: with a credential, or instead of the first request.
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
    /// End the transfer.
    case end(URLError?)
  }

  /// Whether a delivery on the session's queue has been requested and hasn't ended.
  enum Hop {
    case none, requested
  }

  /// The maximum number of body bytes in flight between the engine and the observer, or nil for no limit.
  let windowBytes: Int?

  var exchange = Exchange.none
  /// The number of the latest exchange.
  var exchangeCount = 0
  var body = Body.wanted
  /// The number of body bytes that the observer has processed and that the engine hasn't been permitted to send again.
  var ungrantedByteCount = 0
  var demand = Demand.running
  /// The number of the latest call to `setSuspended` that had an effect.
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
  /// The redirects followed so far, and the time left for further exchanges.
  var redirects: RedirectChain
  /// The number of credentials sent to the current URL.
  var challengeCount = 0
  /// The measurements of the exchanges that have ended.
  var metrics: ShortList<ExchangeMetrics> = []
  /// The requests of those exchanges and their responses. An exchange is added once its end has been processed.
  var performed: ShortList<(URLRequest, HTTPURLResponse?)> = []

  init(_ request: EngineRequest, from urlRequest: URLRequest, redirectRule: RedirectRule, windowBytes: Int?) {
    self.request = request
    self.urlRequest = urlRequest
    redirects = RedirectChain(redirectRule, total: request.timeouts.total)
    self.windowBytes = windowBytes
  }

  // MARK: Events from the task

  /// Returns the first request to submit, or nil if the transfer was cancelled before.
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
    // There is no exchange whose end would follow, so the question remains unanswered.
    case .none: turn = .decided(.end(URLError(.cancelled)))
    // `submitted` cancels it.
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

  /// Called when the observer has processed `byteCount` bytes. They are granted to the engine once they amount to half a window,
  /// because a grant per piece would lead to ever smaller pieces.
  mutating func grant(_ byteCount: Int) -> Action? {
    guard let windowBytes else { return nil }
    ungrantedByteCount += byteCount
    guard case .active = exchange, ungrantedByteCount >= windowBytes / 2 else { return nil }
    return .grant(takeUngranted())
  }

  // MARK: Events of submission

  /// Called when the engine has accepted the exchange. Returns nil if the exchange has already
  /// ended, in which case its handle isn't needed.
  mutating func submitted(_ number: Int) -> [Action]? {
    guard number == exchangeCount, case .submitting = exchange else { return nil }
    exchange = .active(.reading)
    if demand == .canceled { return [.cancel] }
    var actions: [Action] = []
    if ungrantedByteCount > 0 { actions.append(.grant(takeUngranted())) }
    switch body {
    case .discarded, .superseded(.replacement): actions.append(.discardBody)
    case .wanted, .superseded: break
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

  // MARK: Events from the engine

  /// Called when the final response's head has arrived. Returns whether to deliver its body.
  ///
  /// - Parameters:
  ///   - head: The head.
  ///   - isTrusted: False if the server claims to know the password of the request's credential but doesn't know it.
  mutating func receive(_ head: ResponseHead, isTrusted: Bool = true) -> BodyDisposition {
    batch.head = head
    guard isTrusted else {
      body = .superseded(.untrusted)
      return .discard
    }
    do throws(EngineError) {
      guard let next = try redirects.next(after: head, to: request) else { return .deliver }
      body = .superseded(.redirect(next))
    } catch {
      body = .superseded(.refusedRedirect(error))
    }
    return .discard
  }

  /// Called when a piece of the body has arrived.
  mutating func receive(body bytes: borrowing Span<UInt8>) { batch.append(body: bytes, windowBytes: windowBytes) }

  /// Called when an iteration of the loop has ended. `byteCount` is the number of bytes of the request's body sent so far.
  mutating func turnEnded(sent byteCount: UInt64) -> Action? {
    noteSent(byteCount)
    return requestDelivery()
  }

  /// Called when the exchange has ended.
  mutating func exchangeEnded(_ result: Result<Fields, EngineError>, _ exchangeMetrics: ExchangeMetrics) -> Action? {
    batch.end = result
    metrics.append(exchangeMetrics)
    noteSent(exchangeMetrics.requestBodyBytes)
    return requestDelivery()
  }

  private mutating func noteSent(_ byteCount: UInt64) {
    let sent = Int64(clamping: byteCount)
    if sent > sentByteCount { batch.sentByteCount = sent }
  }

  // MARK: Common rules

  /// Begins an exchange with the current request.
  mutating func submission() -> Submission {
    exchange = .submitting
    exchangeCount += 1
    body = .wanted
    ungrantedByteCount = 0
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

  private var discardAction: Action? {
    if case .active = exchange { .discardBody } else { nil }
  }

  private mutating func takeUngranted() -> Int {
    defer { ungrantedByteCount = 0 }
    return ungrantedByteCount
  }
}
