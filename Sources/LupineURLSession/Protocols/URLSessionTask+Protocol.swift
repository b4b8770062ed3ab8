// URLSessionTask+Protocol: chooses the URLProtocol for a task, and creates the request and the body that the protocol receives.

import Foundation
import LupineEngine
import Synchronization

extension URLSessionTask {
  /// The object that the URL protocols of the task's session share, or nil if there is none.
  package var protocolContext: (any AnyObject & Sendable)? { session?.client.settings.protocolContext }

  /// The request for which a URL protocol is being chosen or created, or nil if none has been considered yet.
  var protocolRequest: URLRequest? { options?.state.withLock { $0.protocolRequest } }

  /// Creates the transfer of the URL protocol that answers the request. Returns nil if none does.
  func makeProtocolTransfer(
    _ request: URLRequest, in session: URLSession, redirectCount: Int = 0, after predecessor: (any TaskTransfer)? = nil
  ) throws -> ProtocolTransfer? {
    let classes = session.client.settings.protocolClasses
    guard !classes.isEmpty || URLProtocol.hasRegisteredClass else { return nil }
    let types = classes.compactMap { $0 as? URLProtocol.Type }
    var request = request
    let rule = session.client.redirectRule
    for field in session.client.settings.additionalFields ?? Fields() where !request.fields.contains(field.name) {
      // After a redirect, the origin may be a different one, which isn't meant to receive these fields.
      if redirectCount > 0, rule.isBoundToOrigin(field.name) { continue }
      request.fields.append(name: field.name, value: field.value)
    }
    // A server's redirect that keeps the method keeps the body too (RFC 9110 §15.4).
    if redirectCount == 0 || predecessor != nil && request.httpMethod == firstRequest?.httpMethod {
      switch content {
      case .data(let data): request.httpBody = data
      case .file(let url):
        _ = try RequestBody(ofFile: url)
        request.httpBodyStream = InputStream(url: url)
      case .stream, nil: break
      }
    }
    makeOptions().state.withLock { [request] in $0.protocolRequest = request }
    guard let type = URLProtocol.answering(self, among: types) else { return nil }
    let canonical = type.canonicalRequest(for: request)
    makeOptions().state.withLock { $0.protocolRequest = canonical }
    return ProtocolTransfer(
      canonical, by: type, redirectCount: redirectCount, after: predecessor, delivery: delivery(of: session),
      windowBytes: windowBytes, task: self)
  }

  func isAnsweredByProtocol(_ request: URLRequest) -> Bool {
    guard let session else { return false }
    let classes = session.client.settings.protocolClasses
    guard !classes.isEmpty || URLProtocol.hasRegisteredClass else { return false }
    makeOptions().state.withLock { $0.protocolRequest = request }
    return URLProtocol.answering(self, among: classes.compactMap { $0 as? URLProtocol.Type }) != nil
  }

  func transfer(isHandedOverTo request: URLRequest, redirectCount count: Int) {
    guard let session else { return }
    do {
      let next =
        try makeProtocolTransfer(request, in: session, redirectCount: count, after: transfer)
        ?? makeTransfer(request, in: session)
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

  /// Creates the transfer for a request to which a URL protocol has redirected: with another URL protocol if one answers the
  /// request, or else over the network.
  func makeTransfer(afterRedirectTo request: URLRequest, count: Int) throws -> any TaskTransfer {
    guard let session else { throw URLError(.cancelled) }
    return try makeProtocolTransfer(request, in: session, redirectCount: count) ?? makeTransfer(request, in: session)
  }

  /// The maximum number of redirects, which is the same for URL protocols as for servers.
  var redirectCountMax: Int { session?.client.redirectRule.countMax ?? 0 }

  /// Passes a challenge from a URL protocol to the delegate.
  func ask(
    _ challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    tellDelegate(or: { answer(.performDefaultHandling, nil) }) { session, delegate in
      delegate.urlSession(session, task: self, didReceive: challenge, completionHandler: answer)
    }
  }
}
