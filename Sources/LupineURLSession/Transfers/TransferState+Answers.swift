// TransferState+Answers: the questions to the observer, and the effects of its answers.

import Foundation
import LupineEngine

extension TransferState {
  /// An answer to a question of the transfer. It comes from the observer, or from the session if the observer isn't asked.
  enum Answer {
    /// Accept the response's body.
    case accept
    /// Refuse the response's body, or cancel the authentication challenge. The transfer then ends with `URLError.cancelled`.
    case refuse
    /// Make the current response the final response, although it is a redirect or requires a credential.
    case present
    /// Send the request again with this value of the Authorization field, because the observer has chosen a credential.
    case authorize(String)
    /// Send the request again with this value of the Authorization field, because the nonce of the previous one was stale. The
    /// server has already accepted the credential.
    case reauthorize(String)
    /// Send the request again, and let the task's authentication add the credential. `isAttempt` is true if the credential was
    /// newly chosen.
    case resend(isAttempt: Bool)
    /// Reject the offered authentication scheme. The observer then receives a challenge for the next scheme that the response
    /// offers.
    indirect case reject(Unauthorized)
    /// Send the request with this client certificate, or without a client certificate.
    case identify(IdentityChoice)
    /// Follow the redirect by sending this request. The two values are the same request in the engine's form and in the observer's
    /// form.
    indirect case follow(EngineRequest, URLRequest)
    /// Follow the redirect by letting a URLProtocol answer this request.
    indirect case handOver(URLRequest)
    /// Send the request again, because the network has a path after a wait of this duration.
    case networkFound(after: Duration)
    /// End the transfer with this error, for example because the redirect that the observer has chosen can't be followed, or
    /// because there was no network within the time limit.
    case fail(URLError)
  }

  // MARK: Questions

  /// Begins a question to the observer, and returns the question's number. Returns nil if the transfer was canceled, so that no
  /// answer is needed.
  mutating func ask() -> Int? {
    guard case .received = turn, !demand.isCanceled else { return nil }
    questionCount += 1
    turn = .asking(questionCount)
    return questionCount
  }

  /// Called after the question has been passed to the observer. Pauses reading the response until the observer answers.
  mutating func asked(_ question: Int) -> Action? {
    guard case .asking(question) = turn else { return nil }
    turn = .awaiting(question)
    return flowAction()
  }

  /// Returns whether an answer to the question with this number would still have an effect.
  func awaitsAnswer(to question: Int) -> Bool {
    switch turn {
    case .asking(question), .awaiting(question): !demand.isCanceled
    default: false
    }
  }

  /// Called with the answer to the question with this number. Only the first answer to the latest question has an effect.
  mutating func answered(_ question: Int, _ answer: Answer) -> [Action] {
    switch turn {
    case .asking(question), .awaiting(question): turn = .received
    default: return []
    }
    var actions: [Action] = []
    var discard: Action?
    switch answer {
    case .accept: if isBetweenExchanges { turn = .decided(.end(nil)) }
    case .refuse: actions = cancelTransfer()
    case .present:
      if case .undecided = body { body = .wanted }
      turn = .decided(.present)
    case .authorize(let value):
      attempts.noteCredential()
      discard = authorize(value)
    case .reauthorize(let value): discard = authorize(value)
    case .resend(let isAttempt):
      if isAttempt { attempts.noteCredential() }
      discard = resend()
    case .reject(var unauthorized):
      unauthorized.rejectedCount += 1
      turn = .decided(.authenticate(unauthorized))
    case .identify(let choice):
      request.identityChoice = choice
      turn = .decided(.submit)
    case .follow(let next, let chosen): discard = supersede(by: .redirect(next, chosen))
    case .handOver(let request): discard = supersede(by: .handover(request))
    case .networkFound(let duration):
      redirects.spend(duration)
      request.timeouts.total = redirects.timeLeft
      turn = .decided(.submit)
    case .fail(let error) where isBetweenExchanges: turn = .decided(.end(error))
    case .fail(let error): discard = supersede(by: .failure(error))
    }
    if let discard { actions.append(discard) }
    if let action = flowAction() { actions.append(action) }
    if let action = requestDelivery() { actions.append(action) }
    return actions
  }

  private mutating func authorize(_ value: String) -> Action? {
    var next = request
    next.fields.remove("Authorization")
    next.fields.append(name: "Authorization", value: value)
    return replace(with: next, from: urlRequest)
  }

  /// Makes the transfer send the request again, after the exchange in progress if there is one. Returns the action that ends this
  /// exchange.
  private mutating func resend() -> Action? {
    guard isBetweenExchanges else { return replace(with: request, from: urlRequest) }
    if let exchange = metrics.last { request = redirects.resend(request, after: exchange) }
    turn = .decided(.submit)
    return nil
  }

  var isBetweenExchanges: Bool {
    if case .none = exchange { true } else { false }
  }

  /// Removes and returns the request's body. Called at the end of the transfer, so that the body is released earlier than the
  /// response and the metrics.
  mutating func takeBody() -> RequestBody {
    let body = request.body
    // A change of the request costs an allocation if the engine still refers to the request.
    if !body.segments.isEmpty { request.body = RequestBody() }
    return body
  }
}
