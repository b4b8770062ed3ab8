// Transfer+Steps: the steps of a transfer, performed on the session's queue, and the questions to the observer.

import Foundation
import LupineEngine
import LupineLogin
import Synchronization

extension Transfer {
  /// Performs all steps that are possible now, on the session's queue. `ReadyTransfers` calls this method once after each action
  /// `deliver` of the state.
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
    case .extendWindow(let byteCount): guarded.withLock { $0.handle }?.extendWindow(by: byteCount)
    case .redirect(let redirect): ask(redirect, observer)
    case .identify(let origin, let authorities): askForIdentity(origin, authorities, observer)
    case .submit(let submission): submit(submission)
    case .awaitNetwork(let wait): awaitNetwork(wait, observer)
    case .handOver(let request): handOver(to: request, observer)
    case .end(let error): end(error, observer)
    }
  }

  private func present(_ response: HTTPURLResponse, isLast: Bool, _ observer: any TransferObserver) {
    // While the exchange is in progress, the step is needed only if the observer's `decidesOnResponse` is true. After the end of
    // the last exchange, the step is always needed, because the observer's answer ends the transfer.
    guard isLast || observer.decidesOnResponse else { return }
    ask { question in
      observer.transfer(didReceive: response) { isAccepted in
        self.apply { $0.answered(question, isAccepted ? .accept : .refuse) }
      }
    }
  }

  private func authenticate(_ unauthorized: TransferState.Unauthorized, _ observer: any TransferObserver) {
    let proxy = client.proxy(for: unauthorized.request)
    switch reaction(to: unauthorized, via: proxy) {
    case .authorize(let value): ask { question in apply { $0.answered(question, .reauthorize(value)) } }
    case .resend: ask { question in apply { $0.answered(question, .resend(isAttempt: false)) } }
    case .stand: leave(unauthorized, observer)
    case .ask(let asked):
      guard let challenge = challenge(asked, unauthorized) else { return leave(unauthorized, observer) }
      ask { question in
        observer.transfer(isAskedFor: challenge) { outcome in
          self.apply { $0.answered(question, TransferState.Answer(outcome, to: unauthorized)) }
        }
      }
    }
  }

  private func reaction(
    to refusal: TransferState.Unauthorized, via proxy: Proxy?
  ) -> TaskAuthentication.Reaction {
    withAuthentication { task, session, _ in
      if refusal.rejectedCount == 0 { return task.reaction(to: refusal.cause, refusal.request, via: proxy, &session) }
      return task.question(of: refusal.cause, refusal.request, via: proxy, session).map { .ask($0) } ?? .stand
    }
  }

  /// Returns the challenge to pass to the delegate after a 401 or 407 response, or nil if the response offers no known scheme.
  private func challenge(
    _ question: AuthenticationQuestion, _ refusal: TransferState.Unauthorized
  ) -> URLAuthenticationChallenge? {
    // A challenge that the delegate keeps doesn't retain the transfer.
    URLAuthenticationChallenge(
      question, rejectedCount: refusal.rejectedCount, previousFailureCount: refusal.failureCount,
      storage: client.settings.credentialStorage, response: refusal.response
    ) { [weak self] offer, credential in
      self?.withAuthentication { task, session, _ in
        task.respond(to: offer, of: question, with: credential, &session)
      } ?? .stand
    }
  }

  /// Called if a request was refused and might succeed with a credential, but the observer receives no challenge. Presents the 401
  /// or 407 response to the observer as the final response. If the request failed without a response, ends the transfer instead.
  private func leave(_ unauthorized: TransferState.Unauthorized, _ observer: any TransferObserver) {
    if let failure = unauthorized.failure {
      ask { question in
        self.apply { $0.answered(question, .fail(URLError(failure, url: $0.urlRequest.url))) }
      }
    } else if let response = unauthorized.response {
      present(response, isLast: false, observer)
    }
  }

  private func ask(_ redirect: TransferState.Redirect, _ observer: any TransferObserver) {
    ask { question in
      observer.transfer(isRedirectedTo: redirect.proposed, by: redirect.response) { chosen in
        if let chosen, redirect.refusal == nil || chosen != redirect.proposed, !redirect.refusesURL(of: chosen),
          observer.isAnsweredByProtocol(chosen)
        {
          let limited = self.client.redirectRule.limited(chosen, after: redirect.proposed)
          return self.apply { $0.answered(question, .handOver(limited)) }
        }
        let answer = TransferState.Answer.reply(to: redirect, chosen: chosen, self.client)
        self.apply { $0.answered(question, answer) }
      }
    }
  }

  /// Asks the observer for a decision: `call` receives the number of the question and calls the observer. Has no effect if the
  /// transfer no longer needs the decision.
  func ask(_ call: (_ question: Int) -> Void) {
    guard let question = guarded.withLock({ $0.state.ask() }) else { return }
    call(question)
    apply { $0.asked(question) }
  }

  private func end(_ error: URLError?, _ observer: any TransferObserver) {
    // The values are released outside the lock, because their deinitializers may call any code.
    let released = guarded.withLock { guarded in
      if !guarded.authentication.isEmpty { client.authentication.withLock { guarded.authentication[0].end(&$0) } }
      return guarded.release()
    }
    observer.transferDidEnd(error)
    withExtendedLifetime(released) {}
  }

  private func handOver(to request: URLRequest, _ observer: any TransferObserver) {
    cache?.storeRedirect()
    let (released, count) = guarded.withLock { ($0.release(), $0.state.redirects.count) }
    observer.transfer(isHandedOverTo: request, redirectCount: count + 1)
    withExtendedLifetime(released) {}
  }

  // MARK: Waiting for a network

  /// Waits until the network has a path for the request, or until the transfer's time limit has passed. Then sends the request, or
  /// ends the transfer with an error.
  private func awaitNetwork(_ wait: TransferState.NetworkWait, _ observer: any TransferObserver) {
    ask { question in
      // If there is a default route but no name server answered, the transfer doesn't wait.
      if wait.failure.code == .resolveFailed {
        if client.isOffline() {
          guarded.withLock { $0.state.unansweredLookupCount = 0 }
        } else if !wait.mayBeTooEarly {
          return apply { $0.answered(question, .fail(URLError(wait.failure, url: wait.url, isOffline: { false }))) }
        }
      }
      if wait.count == 0 { observer.transferAwaitsNetwork() }
      let start = Instant.now
      let pathWait = client.settings.network.waiters.wait(
        attempts: wait.count, limit: wait.limit, until: client.pathCondition(for: currentRequest)
      ) { [weak self] outcome in
        guard let self else { return }
        // The wait that has ended is released outside the lock.
        withExtendedLifetime(self.guarded.withLock { $0.wait.take() }) {}
        switch outcome {
        case .path: self.apply { $0.answered(question, .networkFound(after: .now - start)) }
        case .timedOut:
          self.apply { $0.answered(question, .fail(.noNetworkInTime(wait.url))) }
        }
      }
      guarded.withLock { $0.wait = pathWait }
    }
  }
}

extension TransferState.Unauthorized {
  /// The error with which the exchange has failed. Nil if the server sent a response.
  fileprivate var failure: EngineError? {
    switch cause {
    case .response: nil
    case .tunnel(_, let failure), .missingConnection(let failure): failure
    }
  }
}

extension TransferState.Answer {
  /// Converts the outcome of an authentication challenge to an answer for the transfer. `refusal` is the response or failure that
  /// caused the challenge. It is nil if the server requested a client certificate in a TLS handshake.
  init(_ outcome: URLAuthenticationChallenge.Outcome, to refusal: TransferState.Unauthorized? = nil) {
    self =
      switch outcome {
      case .authorize(let value): .authorize(value)
      case .resend: .resend(isAttempt: true)
      case .identify(let choice, _): .identify(choice)
      case .reject: refusal.map { .reject($0) } ?? .present
      case .stand: refusal?.failure.map { .fail(URLError($0, url: refusal?.response?.url)) } ?? .present
      case .cancel: .refuse
      }
  }

  /// Returns the answer to a redirect. `chosen` is the request that the observer wants to send, or nil if the redirect response
  /// becomes the final response.
  fileprivate static func reply(
    to redirect: TransferState.Redirect, chosen: URLRequest?, _ client: EngineClient
  ) -> Self {
    let (next, proposed) = (redirect.next, redirect.proposed)
    guard let chosen else { return .present }
    if let error = redirect.refusal, !next.body.isReplayable || redirect.refusesURL(of: chosen) {
      return .fail(URLError(error, url: redirect.url))
    }
    do {
      return .follow(chosen == proposed ? next : try client.adjust(next, from: proposed, to: chosen), chosen)
    } catch {
      return .fail(error as? URLError ?? URLError(.unknown))
    }
  }
}
