// Transfer: executes the decisions of a `TransferState`, on the engine and on the session's queue.

import Foundation
import LupineEngine
import Synchronization

/// One task's transfer over HTTP: sends the request, follows redirects, answers challenges and delivers the final response.
///
/// The engine's events arrive on a loop's thread, and only change the state. All received events are delivered on the session's
/// queue, with one hop for all transfers (``ReadyTransfers``). Only the state makes decisions. No method of the engine or of the
/// observer is called under the lock.
final class Transfer: TaskTransfer, ResponseSink {
  /// A request that was sent, for the metrics.
  struct Attempt: Sendable {
    let request: URLRequest
    let response: HTTPURLResponse?
    let metrics: ExchangeMetrics
  }

  private struct Guarded {
    var state: TransferState
    /// The handle of the latest exchange, or nil until the exchange was submitted.
    var handle: ExchangeHandle?
    /// The observer, or nil after the end. The observer retains the transfer.
    var observer: (any TransferObserver)?
    /// The task's use of Digest, or nil before the first Digest challenge in the session.
    var authentication: TaskAuthentication?
  }

  private let client: EngineClient
  private let delivery: ReadyTransfers
  private let windowBytes: Int?
  /// The length of the request's body in bytes, or nil if it is unknown. Redirects that drop the body aren't considered.
  let bodyByteCount: UInt64?
  private let guarded: Mutex<Guarded>

  /// Creates a transfer for a converted request. Nothing is sent until `send` is called.
  ///
  /// - Parameters:
  ///   - request: The request to send.
  ///   - urlRequest: The same request in the form that the observer knows.
  ///   - client: The session's engine.
  ///   - delivery: The set of transfers on whose queue the observer is called.
  ///   - windowBytes: The maximum number of body bytes to deliver before `grant` permits more, or nil for no limit.
  ///   - observer: The task.
  init(
    _ request: EngineRequest, from urlRequest: URLRequest, client: EngineClient, delivery: ReadyTransfers,
    windowBytes: Int?, observer: any TransferObserver
  ) {
    self.client = client
    self.delivery = delivery
    self.windowBytes = windowBytes
    bodyByteCount = request.body.byteCount
    guarded = Mutex(
      Guarded(
        state: TransferState(
          request, from: urlRequest, redirectRule: client.redirectRule, windowBytes: windowBytes),
        observer: observer))
  }

  // MARK: Events from the task

  func send() {
    if let submission = guarded.withLock({ $0.state.start() }) { submit(submission) }
  }

  func cancel() { apply { $0.cancel() } }

  func setSuspended(_ isSuspended: Bool, change: Int) { apply { $0.setSuspended(isSuspended, change: change) } }

  func grant(_ byteCount: Int) { apply { $0.grant(byteCount) } }

  /// Discards the rest of the body. The transfer ends as if the entire body had been received.
  func discardBody() { apply { $0.discardBody() } }

  /// Discards the rest of the body and sends another request, whose response replaces the current one. Only for an observer that
  /// decides about the response.
  func sendInstead(_ urlRequest: URLRequest) throws(URLError) {
    let request = try client.convert(urlRequest)
    apply { $0.replace(with: request, from: urlRequest) }
  }

  // MARK: Properties

  var currentRequest: URLRequest { guarded.withLock { $0.state.urlRequest } }
  var response: URLResponse? { httpResponse }
  var httpResponse: HTTPURLResponse? { guarded.withLock { $0.state.response } }
  var receivedByteCount: Int64 { guarded.withLock { $0.state.receivedByteCount } }
  /// The number of bytes of the request's body that were sent. It never decreases: if the body is sent again, because of a
  /// redirect, a challenge or a stale connection, only bytes beyond the earlier count are added.
  var sentByteCount: Int64 { guarded.withLock { $0.state.sentByteCount } }
  /// The requests that were sent, in order.
  var attempts: [Attempt] {
    guarded.withLock { guarded in
      zip(guarded.state.performed, guarded.state.metrics).map { Attempt(request: $0.0, response: $0.1, metrics: $1) }
    }
  }

  // MARK: Events from the engine, on the loop's thread

  func receive(head: ResponseHead) -> BodyDisposition {
    storeCookies(of: head)
    let isTrusted = guarded.withLock { $0.authentication }?.verify(head.fields) ?? true
    return guarded.withLock { $0.state.receive(head, isTrusted: isTrusted) }
  }

  private func storeCookies(of head: ResponseHead) {
    guard client.wantsCookies(of: head) else { return }
    let (uri, urlRequest) = guarded.withLock { ($0.state.request.uri, $0.state.urlRequest) }
    guard urlRequest.httpShouldHandleCookies else { return }
    client.storeCookies(of: head, from: uri, mainDocument: urlRequest.mainDocumentURL)
  }

  func receive(body bytes: borrowing Span<UInt8>) { guarded.withLock { $0.state.receive(body: bytes) } }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    apply { $0.exchangeEnded(result, metrics) }
  }

  func turnEnded(sentBodyByteCount: UInt64) { apply { $0.turnEnded(sent: sentBodyByteCount) } }

  // MARK: Actions

  /// Passes an event to the state, and executes the action that it returns.
  private func apply(_ event: (inout TransferState) -> TransferState.Action?) {
    let (action, handle) = guarded.withLock { (event(&$0.state), $0.handle) }
    if let action { perform(action, handle) }
  }

  /// Passes an event to the state, and executes the actions that it returns.
  private func apply(_ event: (inout TransferState) -> [TransferState.Action]) {
    let (actions, handle) = guarded.withLock { (event(&$0.state), $0.handle) }
    for action in actions { perform(action, handle) }
  }

  private func perform(_ action: TransferState.Action, _ handle: ExchangeHandle?) {
    switch action {
    case .deliver: delivery.add(self)
    case .pause(let exchange):
      handle?.pause()
      apply { $0.flowChanged(exchange: exchange) }
    case .resume(let exchange):
      handle?.resume()
      apply { $0.flowChanged(exchange: exchange) }
    case .discardBody: handle?.discardBody()
    case .grant(let byteCount): handle?.extendWindow(by: byteCount)
    case .cancel: handle?.cancel()
    }
  }

  private func submit(_ submission: TransferState.Submission) {
    do throws(URLError) {
      var request = submission.request
      if submission.handlesCookies { client.addCookies(to: &request) }
      if client.authentication.isUsed { authentication.prepare(&request) }
      let handle = try client.submit(consume request, to: self, windowBytes: windowBytes ?? .max)
      keep(handle, of: submission.exchange)
    } catch {
      apply { $0.submissionFailed(error) }
    }
  }

  /// Stores the handle of an exchange, unless the exchange has already ended, and executes the commands that waited for it.
  private func keep(_ handle: ExchangeHandle, of exchange: Int) {
    let actions = guarded.withLock { guarded -> [TransferState.Action] in
      guard let actions = guarded.state.submitted(exchange) else { return [] }
      guarded.handle = handle
      return actions
    }
    for action in actions { perform(action, handle) }
  }

  /// The task's use of Digest. It is created on first use, so that other tasks don't pay for it.
  private var authentication: TaskAuthentication {
    guarded.withLock { guarded in
      if let authentication = guarded.authentication { return authentication }
      let new = TaskAuthentication(client.authentication, storage: client.settings.credentialStorage)
      guarded.authentication = new
      return new
    }
  }

  // MARK: Steps, on the session's queue

  /// Performs all steps that are possible now. `ReadyTransfers` calls this method once for each `deliver` action.
  func deliver() {
    while let (step, observer) = nextStep() { perform(step, observer) }
  }

  private func nextStep() -> (TransferState.Step, any TransferObserver)? {
    guarded.withLock { guarded in
      guard let observer = guarded.observer, let step = guarded.state.nextStep() else { return nil }
      return (step, observer)
    }
  }

  private func perform(_ step: TransferState.Step, _ observer: any TransferObserver) {
    switch step {
    case .notifySent(let byteCount): observer.transfer(didSend: byteCount)
    case .authenticate(let unauthorized): authenticate(unauthorized, observer)
    case .present(let response, let isLast): present(response, isLast: isLast, observer)
    case .deliver(let piece): observer.transfer(didReceive: piece)
    case .redirect(let redirect): ask(redirect, observer)
    case .submit(let submission): submit(submission)
    case .end(let error): end(error, observer)
    }
  }

  private func present(_ response: HTTPURLResponse, isLast: Bool, _ observer: any TransferObserver) {
    // After the last exchange, the observer's answer ends the transfer.
    guard isLast || observer.decidesOnResponse else { return }
    ask { question in
      observer.transfer(didReceive: response) { isAccepted in
        self.apply { $0.answered(question, isAccepted ? .accept : .refuse) }
      }
    }
  }

  private func authenticate(_ unauthorized: TransferState.Unauthorized, _ observer: any TransferObserver) {
    let (head, request) = (unauthorized.head, unauthorized.request)
    if let value = authentication.renewed(afterStatus: head.status, head.fields, to: request) {
      return ask { question in self.apply { $0.answered(question, .reauthorize(value)) } }
    }
    let challenge = URLAuthenticationChallenge(
      status: head.status, fields: head.fields, from: request.uri, previousFailureCount: unauthorized.failureCount,
      storage: client.settings.credentialStorage, response: unauthorized.response, digest: (authentication, request))
    guard let challenge else {
      if let response = unauthorized.response { present(response, isLast: false, observer) }
      return
    }
    ask { question in
      observer.transfer(isAskedFor: challenge) { outcome in
        self.apply { $0.answered(question, TransferState.Answer(outcome)) }
      }
    }
  }

  private func ask(_ redirect: TransferState.Redirect, _ observer: any TransferObserver) {
    ask { question in
      observer.transfer(isRedirectedTo: redirect.proposed, by: redirect.response) { chosen in
        let answer = TransferState.Answer(to: redirect, chosen: chosen, self.client)
        self.apply { $0.answered(question, answer) }
      }
    }
  }

  /// Calls `call` to request a decision from the observer, unless the state no longer needs the decision.
  private func ask(_ call: (_ question: Int) -> Void) {
    guard let question = guarded.withLock({ $0.state.ask() }) else { return }
    call(question)
    apply { $0.asked(question) }
  }

  private func end(_ error: URLError?, _ observer: any TransferObserver) {
    // The values are released outside the lock, because their deinitializers may call anything.
    let released = guarded.withLock { ($0.observer.take(), $0.handle.take(), $0.state.takeBody()) }
    observer.transferDidEnd(error)
    _ = released
  }
}

extension TransferState.Answer {
  fileprivate init(_ outcome: URLAuthenticationChallenge.Outcome) {
    self =
      switch outcome {
      case .authorize(let value): .authorize(value)
      case .stand: .present
      case .cancel: .refuse
      }
  }

  /// Creates the answer to a redirect. `chosen` is the observer's request, or nil to present the response.
  fileprivate init(to redirect: TransferState.Redirect, chosen: URLRequest?, _ client: EngineClient) {
    let (next, proposed) = (redirect.next, redirect.proposed)
    guard let chosen else {
      self = .present
      return
    }
    if let error = redirect.refusal,
      !next.body.isReplayable || Self.isLed(to: chosen.url, by: proposed.url, refusedWith: error)
    {
      self = .fail(URLError(error, url: redirect.url))
      return
    }
    do {
      self = .follow(chosen == proposed ? next : try client.adjust(next, from: proposed, to: chosen), chosen)
    } catch {
      self = .fail(error as? URLError ?? URLError(.unknown))
    }
  }

  /// Returns whether the chosen URL is refused for the same reason as the proposed one: it is the same URL, or it has the scheme
  /// for which the proposed URL was refused (http after https, or a Unix socket). A handler that only adds a query hasn't decided
  /// to send a request unencrypted, but a handler that changes the scheme has.
  private static func isLed(to chosen: URL?, by proposed: URL?, refusedWith error: EngineError) -> Bool {
    let (scheme, proposedScheme) = (chosen?.scheme?.lowercased() ?? "", proposed?.scheme?.lowercased() ?? "")
    let isForItsScheme = error.code == .redirectRefused && scheme == proposedScheme
    return chosen == proposed || isForItsScheme || (scheme.hasSuffix("+unix") && proposedScheme.hasSuffix("+unix"))
  }
}
