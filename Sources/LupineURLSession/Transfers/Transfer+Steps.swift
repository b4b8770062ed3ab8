// What a transfer does on the session's queue, step by step: it asks, follows, and completes.

import Foundation
import LupineEngine
import Synchronization

extension Transfer {
  func schedule() {
    let isNew = state.withLock { state in
      let isNew = !state.isScheduled
      state.isScheduled = true
      return isNew
    }
    if isNew { delivery.add(self) }
  }

  /// Deals with everything that came, up to a question that isn't answered at once.
  func deliver() {
    while let step = nextStep() { perform(step) }
  }

  private func nextStep() -> Step? {
    state.withLock { state in
      if let step = state.decided.take() { return step }
      // Nobody's answer is waited for once the transfer was cancelled.
      let isOpen = state.question == nil || (state.isCancelled && state.batch.end != nil)
      let step = isOpen ? state.batch.step : nil
      state.isScheduled = step != nil
      return step
    }
  }

  private func perform(_ step: Step) {
    switch step {
    case .sent: tellSent()
    case .head: takeHead()
    case .body: takeBody()
    case .end: takeEnd()
    case .present(let isLast): present(isLast: isLast)
    case .send(let request): send(request)
    case .complete(let error): complete(error)
    }
  }

  private func tellSent() {
    let (observer, count) = state.withLock { state in
      let count = state.batch.sentByteCount.take() ?? 0
      state.sentByteCount = count
      return (state.observer, count)
    }
    observer?.transfer(didSend: count)
  }

  private func takeHead() {
    let (isRedirect, refused) = state.withLock { state -> (Bool, ResponseHead?) in
      guard let head = state.batch.head.take() else { return (true, nil) }
      state.response = HTTPURLResponse(head, to: state.urlRequest)
      return (state.successor != nil, head.status == 401 ? head : nil)
    }
    guard !isRedirect else { return }
    if let refused, authenticate(after: refused) { return }
    present(isLast: false)
  }

  private func takeBody() {
    let (observer, body) = state.withLock { state -> ((any TransferObserver)?, Data) in
      let body = state.batch.takePiece()
      guard !state.isCancelled, state.successor == nil else { return (nil, body) }
      state.receivedByteCount += Int64(body.count)
      return (state.observer, body)
    }
    if let observer { observer.transfer(didReceive: body) } else { grant(body.count) }
  }

  /// Asks what is to become of the response.
  private func present(isLast: Bool) {
    let (observer, response) = state.withLock { ($0.observer, $0.response) }
    guard let observer, let response else { return }
    // The last step is always left to the answer, which knows whether the transfer was cancelled meanwhile.
    guard isLast || observer.decidesOnResponse else { return }
    let question = ask()
    observer.transfer(didReceive: response) { isWanted in
      self.answer(question) {
        if !isWanted { self.abandon() }
        return isLast ? .complete(isWanted ? nil : URLError(.cancelled)) : nil
      }
    }
    holdUntilAnswered(question)
  }

  private func abandon() {
    let handle = state.withLock { state in
      state.isCancelled = true
      return state.handle
    }
    handle?.cancel()
  }

  private func takeEnd() {
    let (successor, failure, isCancelled) = state.withLock { state -> (Successor?, EngineError?, Bool) in
      guard let result = state.batch.end.take() else { preconditionFailure("the transfer has no end") }
      state.performed.append((state.urlRequest, state.response))
      state.handle = nil
      state.isExchanging = false
      if case .replacement(_, let urlRequest) = state.successor {
        state.urlRequest = urlRequest
        state.response = nil
      }
      return (state.successor.take(), result.failure, state.isCancelled)
    }
    switch successor {
    // All of it had come by then, and wasn't handed over.
    case _ where isCancelled && failure == nil: complete(URLError(.cancelled))
    case .failure(let error) where failure == nil: refuse(error)
    case .redirect(let next) where failure == nil: follow(next)
    case .replacement(let request, _): send(request)
    case .failure, .redirect, nil: if let failure { complete(failure) } else { complete(nil as URLError?) }
    }
  }

  private func complete(_ error: EngineError) {
    complete(URLError(error, url: state.withLock { $0.urlRequest.url }))
  }

  private func complete(_ error: URLError?) {
    // Let go of the observer, which holds the transfer, and of the body: a response that is kept holds the transfer for its
    // metrics. Outside the lock, as they may be anybody's.
    let (observer, body) = state.withLock { state in
      var body = RequestBody()
      swap(&body, &state.request.body)
      return (state.observer.take(), body)
    }
    observer?.transferDidComplete(error)
    _ = body
  }

  // MARK: Questions

  /// Begins a question, which is to be put to the observer now; the steps go on once it is answered. Returns its number.
  private func ask() -> Int {
    state.withLock { state in
      state.questionCount += 1
      state.question = Question(number: state.questionCount)
      return state.questionCount
    }
  }

  /// The observer has answered: goes on with the step that is decided on. Only the first answer to a question counts.
  private func answer(_ question: Int, _ decide: () -> Step?) {
    guard state.withLock({ $0.claim(question: question) }) else { return }
    let step = decide()
    let (isWanted, hasWaited) = state.withLock { state in
      // The transfer may have been cancelled meanwhile.
      guard state.question?.number == question else { return (false, false) }
      state.question = nil
      state.decided = step
      defer { state.isWaiting = false }
      return (true, state.isWaiting)
    }
    if hasWaited { steer() }
    if isWanted { schedule() }
  }

  /// If a question wasn't answered at once, what comes meanwhile waits in the kernel.
  private func holdUntilAnswered(_ question: Int) {
    let isWaiting = state.withLock { state in
      state.isWaiting = state.question?.number == question
      return state.isWaiting
    }
    if isWaiting { steer() }
  }

  // MARK: Further exchanges

  private func follow(_ next: EngineRequest) {
    let (observer, response, proposed) = state.withLock { state in
      (state.observer, state.response, state.urlRequest.redirected(to: next))
    }
    guard let observer, let response else { return }
    let question = ask()
    observer.transfer(isRedirectedTo: proposed, by: response) { chosen in
      self.answer(question) { self.step(to: chosen, insteadOf: proposed, next) }
    }
    holdUntilAnswered(question)
  }

  /// The response redirects to where nobody may follow. The observer may take it as it is, or go elsewhere.
  private func refuse(_ error: EngineError) {
    let (observer, response, request, urlRequest) = state.withLock {
      ($0.observer, $0.response, $0.request, $0.urlRequest)
    }
    guard error.code != .tooManyRedirects, let observer, let response,
      let url = response.value(forHTTPHeaderField: "Location").flatMap({ URL(string: $0, relativeTo: response.url) })
    else { return complete(error) }
    let next = client.redirectRule.rewritten(request, after: response.statusCode, staysAtOrigin: false)
    var proposed = urlRequest.redirected(to: next)
    proposed.url = url.absoluteURL
    let question = ask()
    observer.transfer(isRedirectedTo: proposed, by: response) { [proposed] chosen in
      self.answer(question) {
        if let chosen, !next.body.isReplayable || Self.isLed(to: chosen.url, by: proposed.url, refusedWith: error) {
          return .complete(URLError(error, url: urlRequest.url))
        }
        return self.step(to: chosen, insteadOf: proposed, next)
      }
    }
    holdUntilAnswered(question)
  }

  /// Whether the URL that the observer has chosen is refused for the same reason as the proposed one: it is the same URL,
  /// or has the scheme for which that was refused (http after https, or a Unix socket). A handler that adds a query hasn't
  /// decided to send a request in clear; one that changes the scheme has.
  private static func isLed(to chosen: URL?, by proposed: URL?, refusedWith error: EngineError) -> Bool {
    let (scheme, proposedScheme) = (chosen?.scheme?.lowercased() ?? "", proposed?.scheme?.lowercased() ?? "")
    let isForItsScheme = error.code == .redirectRefused && scheme == proposedScheme
    return chosen == proposed || isForItsScheme || (scheme.hasSuffix("+unix") && proposedScheme.hasSuffix("+unix"))
  }

  /// What follows the observer's choice of where to go on, if anywhere.
  private func step(to chosen: URLRequest?, insteadOf proposed: URLRequest, _ next: EngineRequest) -> Step {
    guard let chosen else { return .present(isLast: true) }
    do {
      var request = chosen == proposed ? next : try client.adjust(next, from: proposed, to: chosen)
      state.withLock { state in
        request.presentsIdentity =
          state.request.presentsIdentity
          && RedirectRule.keepsIdentity(from: state.request.uri.origin, to: request.uri.origin)
        state.urlRequest = chosen
        state.response = nil
        // Who asks there has refused nothing yet.
        state.challengeCount = 0
        state.redirectCount += 1
      }
      return .send(request)
    } catch {
      return .complete(error as? URLError ?? URLError(.unknown))
    }
  }

  /// Asks for a credential if the server wants one that could be given; returns whether the response waits for that.
  private func authenticate(after head: ResponseHead) -> Bool {
    let (observer, uri, response, count) = state.withLock {
      ($0.observer, $0.request.uri, $0.response, $0.challengeCount)
    }
    let challenge = URLAuthenticationChallenge(
      status: head.status, fields: head.fields, from: uri, previousFailureCount: count,
      storage: client.settings.credentialStorage, response: response)
    guard let observer, let challenge else { return false }
    let question = ask()
    observer.transfer(isAskedFor: challenge) { outcome in
      self.answer(question) { self.step(after: outcome) }
    }
    holdUntilAnswered(question)
    return true
  }

  /// What follows a challenge; nil if it is the end of this exchange.
  private func step(after outcome: URLAuthenticationChallenge.Outcome) -> Step? {
    switch outcome {
    case .stand: return .present(isLast: false)
    case .cancel:
      abandon()
      return nil
    case .authorize(let value):
      state.withLock { state in
        state.challengeCount += 1
        var request = state.request
        request.fields.remove("Authorization")
        request.fields.append(name: "Authorization", value: value)
        state.successor = .replacement(request, state.urlRequest)
      }
      discardBody()
      return nil
    }
  }

  /// Sends another request, in what time the others have left.
  private func send(_ request: EngineRequest) {
    state.withLock { state in
      var total = state.request.timeouts.total
      if let left = total, let latest = state.metrics.last, let end = latest.end {
        total = max(.zero, left - (end - latest.start))
      }
      state.request = request
      state.request.timeouts.total = total
    }
    send()
  }

  /// Sends the request.
  func send() {
    do {
      var (request, handlesCookies, number) = try state.withLock { state in
        // Before the first request or between two, when there is no exchange to cancel.
        if state.isCancelled { throw URLError(.cancelled) }
        state.isExchanging = true
        state.exchange += 1
        (state.owedByteCount, state.isDiscarding) = (0, false)
        return (state.request, state.urlRequest.httpShouldHandleCookies, state.exchange)
      }
      if handlesCookies { client.addCookies(to: &request) }
      let handle = try client.submit(consume request, to: self, credit: windowBytes ?? .max)
      let (isCancelled, isHeld, isDiscarding, owedByteCount) = state.withLock { state in
        // It may have ended before its handle came back here, and another one be under way.
        guard state.isExchanging, state.exchange == number else { return (state.isCancelled, false, false, 0) }
        state.handle = handle
        defer { state.owedByteCount = 0 }
        return (state.isCancelled, state.isHeld, state.isDiscarding, state.owedByteCount)
      }
      if owedByteCount > 0 { handle.grant(owedByteCount) }
      if isDiscarding { handle.discardBody() }
      if isHeld { steer() }
      if isCancelled { handle.cancel() }
    } catch {
      // Told on the session's queue, wherever this is.
      state.withLock { state in
        state.isExchanging = false
        state.decided = .complete(error as? URLError ?? URLError(.unknown))
      }
      schedule()
    }
  }
}

extension URLRequest {
  /// The request that a redirect makes of this one: another URL, and what the rule has dropped is dropped.
  fileprivate func redirected(to next: EngineRequest) -> URLRequest {
    var request = self
    request.url = URL(string: next.uri.description)
    if request.httpMethod != next.method { request.httpMethod = next.method }
    if next.body.isEmpty { request.httpBody = nil }
    for field in fields where !next.fields.contains(field.name) { request.fields.remove(field.name) }
    return request
  }
}

extension HTTPURLResponse {
  /// Creates the response of a received head.
  fileprivate convenience init?(_ head: ResponseHead, to request: URLRequest) {
    guard let url = request.url else { return nil }
    self.init(url: url, statusCode: head.status, fields: head.fields, isContentDecoded: head.isContentDecoded)
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
