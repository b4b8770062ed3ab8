// TransferState: the state machine of one task's transfer. Events in, actions and steps out; no locks, no I/O, no calls.

import Foundation
import LupineEngine

/// Decides about one task's transfer: the requests to send, the events to deliver, the questions to the observer, and the end.
///
/// A transfer has one exchange at a time. Events come from the task, from the engine, and from the session's queue, which
/// takes one step after another. A question to the observer stops the steps until the observer answers; meanwhile, reading
/// is paused. There are three states: that of the exchange (`Exchange`), the one that the task has requested (`Demand`), and
/// the next step on the session's queue (`Turn`).
struct TransferState: Sendable {
  /// A command, to be carried out after the lock was released.
  enum Action: Equatable {
    /// Take steps on the session's queue until `nextStep` returns nil.
    case deliver
    /// Stop reading the exchange, then call `flowChanged`.
    case pause(exchange: Int)
    /// Continue reading the exchange, then call `flowChanged`.
    case resume(exchange: Int)
    /// End the exchange without the rest of its body.
    case discardBody
    /// Permit that many more bytes of the body.
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

  /// The exchange that the engine performs for the transfer.
  enum Exchange {
    /// None before the first, between two, and after the last.
    case none
    /// `submit` hasn't returned the handle yet. Commands wait for it.
    case submitting
    /// Commands are carried out.
    case active(Flow)
  }

  /// Whether the engine reads. One thread at a time changes that, so that changes can't overtake each other.
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
    /// Pieces that have already arrived are delivered, the rest is discarded.
    case discarded
    /// Pieces are dropped, because the response isn't the final one.
    indirect case superseded(Successor)
  }

  /// The step after the exchange in progress.
  enum Successor {
    /// The request to which the response redirects, if the observer agrees.
    case redirect(EngineRequest)
    /// The error with which the redirect is refused, unless the observer chooses another request.
    case refusedRedirect(EngineError)
    /// The end of the transfer with an error, because the server hasn't proven that it knows the password.
    case untrusted
    /// A request that is sent without asking: with a credential, or in place of the first one.
    case replacement(EngineRequest, URLRequest)
  }

  /// The next step on the session's queue.
  enum Turn {
    /// Processes what the engine has reported, in order.
    case received
    /// Carries out a decision, before anything else.
    case decided(Decision)
    /// Asks the observer a question, which has this number.
    case asking(Int)
    /// Waits for the answer to that question.
    case awaiting(Int)
    /// Nothing: the observer has been notified of the end.
    case ended
  }

  /// A decision to carry out on the session's queue.
  enum Decision {
    /// Present the response to the observer, although it redirects or asks for a credential.
    case present
    /// Send the request.
    case submit
    /// End the transfer.
    case end(URLError?)
  }

  /// Whether a delivery has been requested and hasn't ended.
  enum Hop {
    case none, requested
  }

  /// The maximum number of body bytes in flight between the engine and the observer, or nil for no limit.
  let windowBytes: Int?

  var exchange = Exchange.none
  /// The number of the latest exchange.
  var exchangeCount = 0
  var body = Body.wanted
  /// The bytes of the body that the observer has processed and the engine hasn't been granted yet.
  var ungrantedByteCount = 0
  var demand = Demand.running
  /// The number of the latest call to `setSuspended` that had an effect.
  var latestChange = 0
  var turn = Turn.received
  /// The number of the latest question.
  var questionCount = 0
  var hop = Hop.none
  var batch = TransferBatch()

  /// The latest request as the engine gets it, and as the observer knows it.
  var request: EngineRequest
  var urlRequest: URLRequest
  /// The latest response's head.
  var response: HTTPURLResponse?
  var receivedByteCount: Int64 = 0
  var sentByteCount: Int64 = 0
  /// The redirects followed so far, and the time left for further exchanges.
  var redirects: RedirectChain
  /// The number of credentials sent to the current URL.
  var challengeCount = 0
  /// The measurements of the exchanges that have ended.
  var metrics: ShortList<ExchangeMetrics> = []
  /// The requests of those exchanges, and their responses. An exchange is added once its end has been processed.
  var performed: ShortList<(URLRequest, HTTPURLResponse?)> = []

  init(_ request: EngineRequest, from urlRequest: URLRequest, redirectRule: RedirectRule, windowBytes: Int?) {
    self.request = request
    self.urlRequest = urlRequest
    redirects = RedirectChain(redirectRule, total: request.timeouts.total)
    self.windowBytes = windowBytes
  }

  // MARK: Events from the task

  /// Returns the first request to submit, or nil if the transfer was canceled before.
  mutating func start() -> Submission? {
    guard demand != .canceled, case .received = turn else { return nil }
    return submission()
  }

  /// The task was canceled. Only the first cancellation before the end counts.
  mutating func cancel() -> [Action] {
    guard demand != .canceled, !hasEnded else { return [] }
    demand = .canceled
    var actions: [Action] = []
    switch exchange {
    // There is no exchange whose end would follow. A question stays unanswered.
    case .none: turn = .decided(.end(URLError(.cancelled)))
    // `submitted` cancels it.
    case .submitting: break
    case .active: actions = [.cancel]
    }
    if let deliver = requestDelivery() { actions.append(deliver) }
    return actions
  }

  /// The task was suspended, or resumed. Ignored if a call with a higher number came first.
  mutating func setSuspended(_ isSuspended: Bool, change: Int) -> Action? {
    guard change > latestChange else { return nil }
    latestChange = change
    guard demand != .canceled else { return nil }
    demand = isSuspended ? .suspended : .running
    return flowAction()
  }

  /// The rest of the body is of no interest. The exchange ends as if all of it had been received.
  mutating func discardBody() -> Action? {
    guard case .wanted = body else { return nil }
    body = .discarded
    return discardAction
  }

  /// Another request is sent after the exchange in progress. Its response becomes the task's.
  mutating func replace(with request: EngineRequest, from urlRequest: URLRequest) -> Action? {
    body = .superseded(.replacement(request, urlRequest))
    return discardAction
  }

  /// The observer has processed that many bytes. They are granted once they amount to half a window: a grant per piece
  /// would lead to ever smaller pieces.
  mutating func grant(_ byteCount: Int) -> Action? {
    guard let windowBytes else { return nil }
    ungrantedByteCount += byteCount
    guard case .active = exchange, ungrantedByteCount >= windowBytes / 2 else { return nil }
    return .grant(takeUngranted())
  }

  // MARK: Events of submission

  /// The engine has accepted the exchange. Returns nil if it has already ended; its handle is of no use then.
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

  /// The engine couldn't accept the exchange.
  mutating func submissionFailed(_ error: URLError) -> Action? {
    exchange = .none
    turn = .decided(.end(error))
    return requestDelivery()
  }

  /// Called after `pause` or `resume` was carried out. Returns the next change if that one is outdated by now.
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
  ///   - isTrusted: False if the server claims to know the password of the request's credential, and doesn't.
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

  /// A piece of the body has arrived.
  mutating func receive(body bytes: borrowing Span<UInt8>) { batch.append(body: bytes, windowBytes: windowBytes) }

  /// An iteration of the loop has ended. `byteCount` is the number of bytes of the request's body sent so far.
  mutating func turnEnded(sent byteCount: UInt64) -> Action? {
    noteSent(byteCount)
    return requestDelivery()
  }

  /// The exchange has ended.
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

  /// Requests a delivery if a step can be taken and none is requested yet.
  mutating func requestDelivery() -> Action? {
    guard hop == .none, canStep else { return nil }
    hop = .requested
    return .deliver
  }

  /// Whether `nextStep` has something to do.
  var canStep: Bool {
    switch turn {
    case .received: batch.nextPart != nil
    case .decided: true
    // A canceled transfer doesn't wait for an answer once its exchange has ended.
    case .asking, .awaiting: demand == .canceled && batch.end != nil
    case .ended: false
    }
  }

  /// Begins to pause or to resume reading if that is necessary, and no other thread is doing so.
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

  /// Whether reading must be paused: the task is suspended, or a question waits for its answer.
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
