// TransferState+Answers: the questions to the observer, and the effects of its answers.

import Foundation
import LupineEngine

extension TransferState {
  /// The observer's answer to a question, or an answer that the session has given in place of the observer.
  enum Answer {
    /// The observer accepts the body.
    case accept
    /// The observer doesn't accept the body, or cancels the challenge. The transfer ends with `URLError.cancelled`.
    case refuse
    /// The response that redirects or requires a credential is presented as the final response.
    case present
    /// The request is sent again with this value of Authorization.
    case authorize(String)
    /// The request is sent again with this value of Authorization. The server has accepted the credential, and only the nonce is
    /// stale.
    case reauthorize(String)
    /// The request is sent again, with the fields that the task's authentication adds. `isAttempt` is true if a credential was
    /// chosen.
    case resend(isAttempt: Bool)
    /// The observer rejects the offered authentication scheme. It is asked about the next scheme that the server offers.
    indirect case reject(Unauthorized)
    /// The request is sent with this client certificate, or with none.
    case identify(IdentityChoice)
    /// The redirect is followed: this request, in the engine's form and in the observer's, is sent.
    indirect case follow(EngineRequest, URLRequest)
    /// The redirect is followed: a URLProtocol answers this request.
    indirect case handOver(URLRequest)
    /// After a wait of this duration, there is a network. The request is sent again.
    case networkFound(after: Duration)
    /// The redirect can't be followed as the observer wants, or there was no network in time.
    case fail(URLError)
  }

  // MARK: Questions

  /// Starts a question to the observer, and returns the question's number. Returns nil if the transfer was cancelled, because an
  /// answer would have no effect.
  mutating func ask() -> Int? {
    guard case .received = turn, demand != .canceled else { return nil }
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

  /// Whether an answer to the question still has an effect.
  func awaitsAnswer(to question: Int) -> Bool {
    switch turn {
    case .asking(question), .awaiting(question): demand != .canceled
    default: false
    }
  }

  /// Called with the observer's answer. Only the first answer to the open question has an effect.
  mutating func answered(_ question: Int, _ answer: Answer) -> [Action] {
    switch turn {
    case .asking(question), .awaiting(question): turn = .received
    default: return []
    }
    var actions: [Action] = []
    var discard: Action?
    switch answer {
    case .accept: if isBetweenExchanges { turn = .decided(.end(nil)) }
    case .refuse: actions = refuse()
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

  /// Sends the request again, after the exchange in progress if there is one.
  private mutating func resend() -> Action? {
    guard isBetweenExchanges else { return replace(with: request, from: urlRequest) }
    if let exchange = metrics.last { request = redirects.resend(request, after: exchange) }
    turn = .decided(.submit)
    return nil
  }

  var isBetweenExchanges: Bool {
    if case .none = exchange { true } else { false }
  }

  /// Removes and returns the request's body, so that the body isn't retained as long as the response and its metrics.
  mutating func takeBody() -> RequestBody {
    var body = RequestBody()
    swap(&body, &request.body)
    return body
  }
}
