// URLSessionTask+Protocol: chooses the URLProtocol for a task, and creates the request and the body that the protocol receives.

import Foundation
import LupineEngine
import Synchronization

extension URLSessionTask {
  /// The object that the session passes to its URLProtocol objects, such as the rules of stubs. Nil if there is none.
  package var protocolContext: (any AnyObject & Sendable)? { session?.client.settings.protocolContext }

  /// The request that was most recently passed to a URLProtocol class or object of this task. Nil if there has been none.
  package internal(set) var protocolRequest: URLRequest? {
    get { option { $0.protocolRequest } }
    set { changeOptions { $0.protocolRequest = newValue } }
  }

  /// Creates a transfer in which a URLProtocol answers the request. Returns nil if no URLProtocol class answers the request.
  func makeProtocolTransfer(
    _ request: URLRequest, in session: URLSession, after history: RedirectHistory = RedirectHistory(),
    predecessor: (any TaskTransfer)? = nil
  ) throws -> ProtocolTransfer? {
    guard let types = protocolTypes(of: session) else { return nil }
    var request = request
    let rule = session.client.redirectRule
    for field in session.client.settings.additionalFields ?? Fields() where !request.fields.contains(field.name) {
      // Fields that are bound to the first origin must not be sent to another origin.
      if history.hasLeftOrigin, rule.isBoundToOrigin(field.name) { continue }
      request.fields.append(name: field.name, value: field.value)
    }
    var awaitsStream = false
    if history.keepsBody {
      switch content {
      case .data(let data): request.httpBody = data
      case .file(let url):
        _ = try RequestBody(ofFile: url)
        request.httpBodyStream = InputStream(url: url)
      case .stream: awaitsStream = true
      // The stream was already read for the request before the redirect, and can't be read again. So the delegate must provide a
      // new one.
      case nil: awaitsStream = history.count > 0 && request.httpBodyStream.map { $0.streamStatus != .notOpen } ?? false
      }
    }
    protocolRequest = request
    guard let type = URLProtocol.answering(self, among: types) else { return nil }
    let canonical = type.canonicalRequest(for: request)
    protocolRequest = canonical
    return ProtocolTransfer(
      canonical, by: type, history: history, after: predecessor, awaitsStream: awaitsStream,
      delivery: delivery(of: session), task: self)
  }

  func isAnsweredByProtocol(_ request: URLRequest) -> Bool {
    guard let session, let types = protocolTypes(of: session) else { return false }
    protocolRequest = request
    return URLProtocol.answering(self, among: types) != nil
  }

  /// Returns the URLProtocol classes of the session's configuration. Returns nil if neither the configuration contains a class nor
  /// one is registered, so that no class can answer a request.
  private func protocolTypes(of session: URLSession) -> [URLProtocol.Type]? {
    guard !session.client.settings.protocolClasses.isEmpty || URLProtocol.hasRegisteredClass else { return nil }
    return session.client.settings.protocolClasses.compactMap { $0 as? URLProtocol.Type }
  }

  /// Returns whether the session's delegate has replaced the task's body in the request that follows a redirect.
  private func isBodyReplaced(in request: URLRequest) -> Bool {
    content != nil && !request.body.isEmpty && request.body != firstRequest?.body
  }

  func transfer(isHandedOverTo request: URLRequest, redirectCount count: Int) {
    guard let session else { return }
    // The redirect may have led to another origin. If a server's redirect keeps the method, the body is kept too (RFC 9110 §15.4).
    let history = RedirectHistory(
      count: count, hasLeftOrigin: true, httpURL: transfer?.currentRequest.url, presentsIdentity: false,
      keepsBody: request.httpMethod == firstRequest?.httpMethod && !isBodyReplaced(in: request))
    do {
      let next =
        try makeProtocolTransfer(request, in: session, after: history, predecessor: transfer)
        ?? makeTransfer(request, in: session, after: history)
      let (state, change) = mutableState.withLock { state in
        state.stage = .transferring(next)
        return (state.state, state.suspensionChangeCount)
      }
      if state == .suspended { next.setSuspended(true, change: change) }
      if state == .canceling { next.cancel() }
      next.send()
    } catch {
      transferDidEnd(error as? URLError ?? URLError(.unknown))
    }
  }

  /// Creates the transfer for the request that follows a redirect reported by a URLProtocol. If a URLProtocol class answers the new
  /// request, the transfer uses that class. Otherwise the request is sent over the network.
  ///
  /// `sent` is the request to which the redirect was the response. If `request` has the same body as `sent`, the task's body is
  /// sent again from its start. Otherwise, the body of `request` is sent.
  func makeTransfer(
    afterRedirectTo request: URLRequest, from sent: URLRequest, _ history: RedirectHistory
  ) throws -> any TaskTransfer {
    guard let session else { throw URLError(.cancelled) }
    var (request, history) = (request, history)
    // A redirect that changes the method to GET or HEAD removes the body, even if the URL protocol hasn't removed it.
    if request.httpMethod != sent.httpMethod, request.httpMethod == "GET" || request.httpMethod == "HEAD" {
      request.httpBody = nil
    }
    history.add(from: sent, to: request)
    if history.keepsBody, content != nil { request.httpBody = nil }
    return try makeProtocolTransfer(request, in: session, after: history)
      ?? makeTransfer(request, in: session, after: history)
  }

  /// The session's rule for redirects. It applies to redirects from URL protocols as to those from servers.
  var redirectRule: RedirectRule { session?.client.redirectRule ?? RedirectRule() }

  /// Passes an authentication challenge to the task's delegate or, if it has none, to the session's delegate. `answer` receives the
  /// delegate's decision.
  func ask(
    _ challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let (session, delegates) = notified else { return answer(.performDefaultHandling, nil) }
    // The task's own delegate, or the internal one for its completion handler.
    let own = delegates.session === session.delegates?.session ? nil : delegates.task
    let call = { @Sendable in
      guard let own else { return self.askSession(session, challenge, answer: answer) }
      own.urlSession(session, task: self, didReceive: challenge, completionHandler: answer)
    }
    guard deliversOnDelegateQueue else { return session.delivery.perform { call() } }
    session.delivery.assertCurrent()
    call()
  }

  /// Passes an authentication challenge to the session's delegate. As in Foundation, a challenge that concerns a connection goes to
  /// the session's method if the delegate implements it, and otherwise, like any other challenge, to the task's method.
  ///
  /// The delegates of Alamofire's sessions implement the session's method only for the certificates of servers.
  func askSession(
    _ session: URLSession, _ challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let delegates = session.delegates else { return answer(.performDefaultHandling, nil) }
    let askTaskMethod = { @Sendable in
      guard let delegate = delegates.task else { return answer(.performDefaultHandling, nil) }
      delegate.urlSession(session, task: self, didReceive: challenge, completionHandler: answer)
    }
    guard challenge.protectionSpace.isOfConnection, delegates.trust == nil, !delegates.lacks(.sessionChallenge) else {
      return askTaskMethod()
    }
    delegates.session.urlSession(session, didReceive: challenge) { disposition, credential in
      // Only this call shows whether the delegate implements the method.
      if delegates.lacks(.sessionChallenge) { askTaskMethod() } else { answer(disposition, credential) }
    }
  }
}
