// TransferState+Steps: the steps that the session's queue performs, the decisions that it requests
// from the observer, and the observer's answers.

import Foundation
import LupineEngine
import LupineLogin

extension TransferState {
  /// A step that a transfer performs on the session's queue.
  enum Step {
    /// Notify the observer of the total number of bytes of the request's body that were sent so far.
    case notifySent(Int64)
    /// Ask the observer for a credential if the response has a challenge that can be answered. Otherwise, present the response as
    /// the final response.
    indirect case authenticate(Unauthorized)
    /// Ask the observer whether it accepts the response's body. While the exchange is in progress (`isLast` is false), skip this
    /// step unless the observer's `decidesOnResponse` is true.
    case present(HTTPURLResponse, isLast: Bool)
    /// Deliver a piece of the response's body to the observer.
    case deliver(Data)
    /// Extend the exchange's receive window by this number of bytes, because the observer has returned from pieces of a body that
    /// isn't streamed.
    case extendWindow(Int)
    /// Ask the observer which request to send after the redirect.
    indirect case redirect(Redirect)
    /// Ask the observer for a client certificate for this origin, issued by one of these authorities.
    case identify(Origin, authorities: [[UInt8]])
    /// Submit a request to the engine or the session's cache.
    indirect case submit(Submission)
    /// Wait for a network, then send the request again.
    indirect case awaitNetwork(NetworkWait)
    /// Notify the observer that the transfer has ended. This is the last step, unless a URLProtocol takes over.
    case end(URLError?)
    /// End this transfer, and let a URLProtocol answer the request in another transfer. This is the last step.
    indirect case handOver(URLRequest)
  }

  /// The numbers of credentials that were sent to the origin and to the proxy. They are counted separately, because if the proxy
  /// refuses a credential, those for the origin may still be valid, and vice versa.
  struct CredentialAttempts {
    enum Party { case origin, proxy }

    private var counts = (origin: 0, proxy: 0)
    /// The party, origin or proxy, that has refused the request most recently.
    private var party = Party.origin

    /// The number of credentials that were sent, both to the origin and to the proxy.
    var total: Int { counts.origin + counts.proxy }

    /// Records that the origin or the proxy has refused the request. Returns the number of credentials that were already sent to
    /// it.
    mutating func refused(by party: Party) -> Int {
      self.party = party
      return party == .origin ? counts.origin : counts.proxy
    }

    /// Records that a credential was chosen for the origin or proxy that has refused the request most recently.
    mutating func noteCredential() {
      switch party {
      case .origin: counts.origin += 1
      case .proxy: counts.proxy += 1
      }
    }
  }

  /// A 401 or 407 response, or an equivalent failure of the exchange, after which the request may succeed with a credential.
  struct Unauthorized {
    let cause: AuthenticationRefusal
    let request: EngineRequest
    let response: HTTPURLResponse?
    /// The number of credentials that the server or proxy has refused so far.
    let failureCount: Int
    /// The number of offered authentication schemes that the observer has rejected so far.
    var rejectedCount = 0
  }

  /// A redirect response about which the observer decides.
  struct Redirect {
    /// The next request that the redirect rule proposes.
    let next: EngineRequest
    /// The same request in the form in which the observer receives it.
    let proposed: URLRequest
    let response: HTTPURLResponse
    /// The error if the redirect rule refuses the redirect. Nil if the redirect can be followed as proposed.
    let refusal: EngineError?
    /// The URL of the request that was redirected.
    let url: URL?

    /// Returns whether the redirect rule refuses the URL of the request that the observer has chosen.
    func refusesURL(of chosen: URLRequest) -> Bool {
      refusal?.code != .bodyNotReplayable
        && RedirectProposal(proposed.url, refusal: refusal).refusal(of: chosen.url) != nil
    }
  }

  /// A request that couldn't be sent because there was no network. The transfer waits until there is one.
  struct NetworkWait {
    let failure: EngineError
    /// The number of times that the transfer has already waited for a network.
    let count: Int
    /// The number of consecutive attempts that failed because no name server answered, including the latest attempt.
    let unansweredLookupCount: Int
    /// The maximum time to wait for a network. Nil for no limit.
    let limit: Duration?
    /// The URL of the request that couldn't be sent.
    let url: URL?

    /// The maximum number of consecutive failed lookups after which the transfer still tries again: 3, within about one second.
    /// When a network has just come up, its name servers may not answer yet. After a further failure, the transfer fails.
    static let unansweredLookupsMax = 3

    /// Whether the latest attempt may have been too early: shortly before the network came up, or before the network's name servers
    /// answered.
    var mayBeTooEarly: Bool { count > 0 && unansweredLookupCount <= Self.unansweredLookupsMax }
  }

  // MARK: Steps

  /// Returns the next step to perform, or nil if the transfer must wait for another event first. Called only when the previous step
  /// has been performed.
  mutating func nextStep() -> Step? {
    if !isStreamed, let byteCount = takeExtension() { return .extendWindow(byteCount) }
    // Most calls of `takeStep` return a step, so `canStep` needn't be read before the first one.
    repeat {
      if let step = takeStep() { return step }
    } while canStep
    isDelivering = false
    return nil
  }

  /// Returns the step for the next decision or event. Returns nil if there is none, or if it needs no step.
  private mutating func takeStep() -> Step? {
    switch turn {
    case .ended: return nil
    case .decided(let decision):
      turn = .received
      return step(decision)
    case .received: break
    case .asking, .awaiting:
      guard canStep else { return nil }
      // The transfer was canceled, so the observer's decision isn't needed.
      turn = .received
    }
    switch batch.nextPart {
    case .identityRequest: return batch.identityRequest.take().map { identityStep($0) }
    case .sentByteCount:
      sentByteCount = batch.sentByteCount.take() ?? 0
      return .notifySent(sentByteCount)
    case .head: return headStep()
    case .piece: return pieceStep(batch.takePiece())
    case .end: return batch.end.take().flatMap { endStep($0) }
    case nil: return nil
    }
  }

  private mutating func step(_ decision: Decision) -> Step? {
    switch decision {
    case .present:
      if let response { return .present(response, isLast: isBetweenExchanges) }
      return isBetweenExchanges ? end(nil) : nil
    case .submit: return .submit(submission())
    case .authenticate(let unauthorized): return .authenticate(unauthorized)
    case .end(let error): return end(error)
    }
  }

  private mutating func headStep() -> Step? {
    guard let head = batch.head.take() else { return nil }
    response = urlRequest.url.map { url in
      HTTPURLResponse(url: url, statusCode: head.status, fields: head.fields, isContentDecoded: head.isContentDecoded)
    }
    switch body {
    case .superseded: return nil
    case .undecided(let redirection):
      guard !demand.isCanceled, let response else { return nil }
      return redirectStep(redirection, response)
    case .wanted, .discarded: break
    }
    if head.status == 401 || head.status == 407 {
      let failureCount = attempts.refused(by: head.status == 407 ? .proxy : .origin)
      return .authenticate(
        Unauthorized(cause: .response(head), request: request, response: response, failureCount: failureCount))
    }
    return response.map { .present($0, isLast: false) }
  }

  private mutating func pieceStep(_ piece: Data) -> Step? {
    if case .superseded = body { return nil }
    guard !demand.isCanceled else { return nil }
    receivedByteCount += Int64(piece.count)
    // The observer has processed the piece when the next step begins.
    if !isStreamed { consumedByteCount += piece.count }
    return .deliver(piece)
  }

  /// Returns the step after the end of the exchange. Called when all events before the end have been processed.
  private mutating func endStep(_ outcome: TransferBatch.Outcome) -> Step? {
    if waitsForConnectivity, case .failure(let failure) = outcome, !demand.isCanceled, case .wanted = body,
      failure.mayBeLackOfNetwork
    {
      return waitStep(failure)
    }
    performed.append((urlRequest, response))
    exchange = .none
    switch body {
    // This response isn't the final one, even if the transfer now ends with an error.
    case .superseded, .undecided: response = nil
    case .wanted, .discarded: break
    }
    switch (body, outcome) {
    // The whole response was received before the cancellation, but it hasn't been delivered completely.
    case (_, .success) where demand.isCanceled: return end(URLError(.cancelled))
    // In the superseded cases, a failure of the exchange is ignored, because the rest of its response isn't needed.
    case (.superseded(.failure(let error)), _): return end(demand.isCanceled ? URLError(.cancelled) : error)
    case (.superseded(.redirect(let next, let chosen)), _):
      if demand.isCanceled { return end(URLError(.cancelled)) }
      follow(next, chosen)
      return .submit(submission())
    case (.superseded(.handover(let request)), _):
      if demand.isCanceled { return end(URLError(.cancelled)) }
      turn = .ended
      return .handOver(request)
    case (.superseded(.replacement(let request, let urlRequest)), _):
      self.urlRequest = urlRequest
      if demand.isCanceled { return end(URLError(.cancelled)) }
      if let exchange = metrics.last { self.request = redirects.resend(request, after: exchange) }
      return .submit(submission())
    case (_, .failure(let failure)):
      if !demand.isCanceled, let cause = AuthenticationRefusal(failure) {
        return .authenticate(
          Unauthorized(
            cause: cause, request: request, response: urlRequest.url.flatMap(cause.response),
            failureCount: attempts.refused(by: cause.party)))
      }
      return end(URLError(failure, url: urlRequest.url))
    case (.wanted, .success), (.discarded, .success), (.undecided, .success): return end(nil)
    }
  }

  /// Returns the step in which the transfer waits for a network. Removes the failed attempt from the metrics, because there may be
  /// thousands of such attempts.
  private mutating func waitStep(_ failure: EngineError) -> Step {
    exchange = .none
    if let exchange = metrics.popLast() { request = redirects.resend(request, after: exchange) }
    defer { waitCount += 1 }
    unansweredLookupCount = failure.code == .resolveFailed ? unansweredLookupCount + 1 : 0
    return .awaitNetwork(
      NetworkWait(
        failure: failure, count: waitCount, unansweredLookupCount: unansweredLookupCount, limit: redirects.timeLeft,
        url: urlRequest.url))
  }

  private mutating func end(_ error: URLError?) -> Step {
    turn = .ended
    return .end(error)
  }

  private mutating func identityStep(_ authorities: [[UInt8]]) -> Step {
    exchange = .none
    guard !demand.isCanceled else { return end(URLError(.cancelled)) }
    return .identify(request.uri.origin, authorities: authorities)
  }

  // MARK: Redirects

  private func redirectStep(_ redirection: Redirection, _ response: HTTPURLResponse) -> Step {
    var proposed = urlRequest.redirected(to: redirection.next)
    if let url = redirection.refusedURL { proposed.url = url }
    return .redirect(
      Redirect(
        next: redirection.next, proposed: proposed, response: response, refusal: redirection.refusal,
        url: urlRequest.url))
  }

  private mutating func follow(_ next: EngineRequest, _ chosen: URLRequest) {
    var next = next
    next.presentsIdentity =
      request.presentsIdentity && RedirectRule.keepsIdentity(from: request.uri.origin, to: next.uri.origin)
    if next.uri.origin != request.uri.origin { next.identityChoice = nil }
    if let exchange = metrics.last { request = redirects.follow(next, from: request, after: exchange) }
    urlRequest = chosen
    // No credential has been refused for the new URL yet.
    attempts = CredentialAttempts()
  }

  /// Discards the rest of the response. After the end of the exchange, the transfer continues with `successor`.
  mutating func supersede(by successor: Successor) -> Action? {
    body = .superseded(successor)
    return discardAction
  }
}

extension AuthenticationRefusal {
  /// The party, origin or proxy, that has refused the request.
  fileprivate var party: TransferState.CredentialAttempts.Party {
    switch self {
    case .response(let head): head.status == 407 ? .proxy : .origin
    case .tunnel: .proxy
    case .missingConnection: .origin
    }
  }

  /// If a proxy has refused to open a tunnel and requires a credential, returns a 407 response with which to create the challenge.
  /// Otherwise returns nil. This response never becomes the task's response.
  fileprivate func response(_ url: URL) -> HTTPURLResponse? {
    guard case .tunnel = self else { return nil }
    return HTTPURLResponse(url: url, statusCode: 407, httpVersion: nil, headerFields: nil)
  }
}

extension URLRequest {
  /// Returns the request to send after a redirect: a copy of this request with the URL, the method and the body of `next`. Fields
  /// that `next` doesn't have are removed.
  func redirected(to next: EngineRequest) -> URLRequest {
    var request = self
    request.url = URL(string: next.uri.description)
    if request.httpMethod != next.method { request.httpMethod = next.method }
    if next.body.isEmpty { request.httpBody = nil }
    if request.options?.own.urlTemplate != nil { request.lupine.urlTemplate = nil }
    for field in fields where !next.fields.contains(field.name) { request.fields.remove(field.name) }
    return request
  }
}

extension EngineError {
  /// Whether the request may have failed because there is no network. Nothing was sent, because there is no route, no permitted
  /// route, or no answer from a name server.
  fileprivate var mayBeLackOfNetwork: Bool {
    guard progress == .nothingSent else { return false }
    return switch (code, cause) {
    case (.connectFailed, .system(let error)): error.isNoNetwork
    case (.resolveFailed, .resolve(let error)): error.kind == .temporary
    case (.addressRefused, .refusal(.cellular)): true
    default: false
    }
  }
}
