// TransferState+Steps: the steps that the session's queue performs, the decisions that it requests
// from the observer, and the observer's answers.

import Foundation
import LupineEngine

extension TransferState {
  /// One step to perform on the session's queue.
  enum Step {
    /// Notify the observer of the total number of bytes of the request's body that were sent.
    case notifySent(Int64)
    /// If the response has a challenge, request a credential from the observer. Otherwise, present the response.
    indirect case authenticate(Unauthorized)
    /// Request the observer's decision whether it accepts the body. If the exchange hasn't ended, skip the step unless the
    /// observer makes such decisions.
    case present(HTTPURLResponse, isLast: Bool)
    /// Deliver a piece of the body.
    case deliver(Data)
    /// Request from the observer the request that follows the redirect.
    indirect case redirect(Redirect)
    /// Submit a request to the engine.
    indirect case submit(Submission)
    /// Notify the observer of the end. Always the last step.
    case end(URLError?)
  }

  /// A response with status code 401.
  struct Unauthorized {
    let head: ResponseHead
    let request: EngineRequest
    let response: HTTPURLResponse?
    /// The number of credentials that the server has refused.
    let failureCount: Int
  }

  /// A response that redirects.
  struct Redirect {
    /// The request to send next according to the redirect rule.
    let next: EngineRequest
    /// The same request in the form that the observer sees.
    let proposed: URLRequest
    let response: HTTPURLResponse
    /// The error because of which the redirect can't be followed as proposed, or nil if it can be followed.
    let refusal: EngineError?
    /// The URL of the request that was redirected.
    let url: URL?
  }

  /// The observer's answer when a decision was requested.
  enum Answer {
    /// The observer accepts the body.
    case accept
    /// The observer doesn't accept the body, or cancels the challenge. The transfer ends with `URLError.cancelled`.
    case refuse
    /// The response that redirects or requires a credential is presented as the final response.
    case present
    /// The request is sent again with this value of Authorization.
    case authorize(String)
    /// The request is sent again with this value of Authorization. The server has
    /// accepted the credential, and only its nonce is stale.
    case reauthorize(String)
    /// The redirect is followed with this request.
    indirect case follow(EngineRequest, URLRequest)
    /// The redirect can't be followed in the way that the observer has chosen.
    case fail(URLError)
  }

  // MARK: Steps

  /// Returns the next step, or nil if no step is possible before another event.
  mutating func nextStep() -> Step? {
    while canStep {
      if let step = takeStep() { return step }
    }
    hop = .none
    return nil
  }

  private mutating func takeStep() -> Step? {
    switch turn {
    case .ended: return nil
    case .decided(let decision):
      turn = .received
      return step(decision)
    case .received: break
    // The transfer was cancelled, so the decision isn't needed.
    case .asking, .awaiting: turn = .received
    }
    switch batch.nextPart {
    case .sentByteCount:
      sentByteCount = batch.sentByteCount.take() ?? 0
      return .notifySent(sentByteCount)
    case .head: return headStep()
    case .piece: return pieceStep(batch.takePiece())
    case .end: return batch.end.take().flatMap { endStep($0.failure) }
    case nil: return nil
    }
  }

  private mutating func step(_ decision: Decision) -> Step? {
    switch decision {
    case .present:
      if let response { return .present(response, isLast: isBetweenExchanges) }
      return isBetweenExchanges ? end(nil) : nil
    case .submit: return .submit(submission())
    case .end(let error): return end(error)
    }
  }

  private mutating func headStep() -> Step? {
    guard let head = batch.head.take() else { return nil }
    response = urlRequest.url.map {
      HTTPURLResponse(url: $0, statusCode: head.status, fields: head.fields, isContentDecoded: head.isContentDecoded)
    }
    // The decision about a redirect is made at the end of its exchange.
    if case .superseded = body { return nil }
    if head.status == 401 {
      return .authenticate(
        Unauthorized(head: head, request: request, response: response, failureCount: challengeCount))
    }
    return response.map { .present($0, isLast: false) }
  }

  private mutating func pieceStep(_ piece: Data) -> Step? {
    if case .superseded = body { return nil }
    guard demand != .canceled else { return nil }
    receivedByteCount += Int64(piece.count)
    return .deliver(piece)
  }

  /// Returns the step for the end of the exchange, after everything that arrived before it.
  private mutating func endStep(_ failure: EngineError?) -> Step? {
    performed.append((urlRequest, response))
    exchange = .none
    switch (body, failure) {
    // The whole response had arrived before the cancellation, and wasn't delivered.
    case (_, nil) where demand == .canceled: return end(URLError(.cancelled))
    case (.superseded(.refusedRedirect(let error)), nil): return refusedRedirectStep(error)
    case (.superseded(.untrusted), nil): return end(URLError(wrongDigestProofFrom: urlRequest.url))
    case (.superseded(.redirect(let next)), nil): return redirectStep(next, urlRequest.redirected(to: next), nil)
    // A failure is ignored, because the rest of the response isn't needed.
    case (.superseded(.replacement(let request, let urlRequest)), _):
      self.urlRequest = urlRequest
      response = nil
      if demand == .canceled { return end(URLError(.cancelled)) }
      if let exchange = metrics.last { self.request = redirects.resend(request, after: exchange) }
      return .submit(submission())
    case (_, let failure?): return end(URLError(failure, url: urlRequest.url))
    case (.wanted, nil), (.discarded, nil): return end(nil)
    }
  }

  private mutating func end(_ error: URLError?) -> Step {
    turn = .ended
    return .end(error)
  }

  // MARK: Redirects

  private mutating func redirectStep(_ next: EngineRequest, _ proposed: URLRequest, _ refusal: EngineError?) -> Step {
    guard let response else { return end(refusal.map { URLError($0, url: urlRequest.url) } ?? URLError(.badURL)) }
    return .redirect(
      Redirect(next: next, proposed: proposed, response: response, refusal: refusal, url: urlRequest.url))
  }

  /// Returns the step for a redirect that the rule forbids. The observer may still present the response or choose another
  /// request, unless there were too many redirects.
  private mutating func refusedRedirectStep(_ error: EngineError) -> Step {
    guard error.code != .tooManyRedirects, let response,
      let url = response.value(forHTTPHeaderField: "Location").flatMap({ URL(string: $0, relativeTo: response.url) })
    else { return end(URLError(error, url: urlRequest.url)) }
    guard let next = redirects.rule?.rewritten(request, after: response.statusCode, staysAtOrigin: false) else {
      return end(URLError(error, url: urlRequest.url))
    }
    var proposed = urlRequest.redirected(to: next)
    proposed.url = url.absoluteURL
    return redirectStep(next, proposed, error)
  }

  private mutating func follow(_ next: EngineRequest, _ chosen: URLRequest) {
    var next = next
    next.presentsIdentity =
      request.presentsIdentity && RedirectRule.keepsIdentity(from: request.uri.origin, to: next.uri.origin)
    if let exchange = metrics.last { request = redirects.follow(next, after: exchange) }
    urlRequest = chosen
    response = nil
    // The new URL hasn't refused a credential yet.
    challengeCount = 0
    turn = .decided(.submit)
  }

  // MARK: Questions

  /// Starts a question to the observer, and returns the question's number. Returns nil if the transfer was cancelled after its
  /// last exchange, because the answer would have no effect.
  mutating func ask() -> Int? {
    guard case .received = turn else { return nil }
    questionCount += 1
    turn = .asking(questionCount)
    return questionCount
  }

  /// Called after the question was passed to the observer. If the observer hasn't answered
  /// immediately, reading is paused until it does.
  mutating func asked(_ question: Int) -> Action? {
    guard case .asking(question) = turn else { return nil }
    turn = .awaiting(question)
    return flowAction()
  }

  /// Called with the observer's answer. Only the first answer to the open question has an effect.
  mutating func answered(_ question: Int, _ answer: Answer) -> [Action] {
    switch turn {
    case .asking(question), .awaiting(question): turn = .received
    default: return []
    }
    var actions: [Action] = []
    switch answer {
    case .accept: if isBetweenExchanges { turn = .decided(.end(nil)) }
    case .refuse: actions = refuse()
    case .present: turn = .decided(.present)
    case .authorize(let value):
      challengeCount += 1
      if let action = authorize(value) { actions.append(action) }
    case .reauthorize(let value): if let action = authorize(value) { actions.append(action) }
    case .follow(let next, let chosen): follow(next, chosen)
    case .fail(let error): turn = .decided(.end(error))
    }
    if let action = flowAction() { actions.append(action) }
    if let action = requestDelivery() { actions.append(action) }
    return actions
  }

  private mutating func refuse() -> [Action] {
    demand = .canceled
    switch exchange {
    case .none:
      turn = .decided(.end(URLError(.cancelled)))
      return []
    case .submitting: return []
    case .active: return [.cancel]
    }
  }

  private mutating func authorize(_ value: String) -> Action? {
    var next = request
    next.fields.remove("Authorization")
    next.fields.append(name: "Authorization", value: value)
    return replace(with: next, from: urlRequest)
  }

  private var isBetweenExchanges: Bool {
    if case .none = exchange { true } else { false }
  }

  /// Removes and returns the request's body, so that it isn't retained as long as the response and its metrics.
  mutating func takeBody() -> RequestBody {
    var body = RequestBody()
    swap(&body, &request.body)
    return body
  }
}

extension URLRequest {
  /// Returns the request with the URL, the method and the body of a redirect, without the fields that the redirect has removed.
  fileprivate func redirected(to next: EngineRequest) -> URLRequest {
    var request = self
    request.url = URL(string: next.uri.description)
    if request.httpMethod != next.method { request.httpMethod = next.method }
    if next.body.isEmpty { request.httpBody = nil }
    for field in fields where !next.fields.contains(field.name) { request.fields.remove(field.name) }
    return request
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
