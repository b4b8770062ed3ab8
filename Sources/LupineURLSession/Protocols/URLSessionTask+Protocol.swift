// URLSessionTask+Protocol: chooses the URLProtocol for a task, and creates the request and the body that the protocol receives.

import Foundation
import LupineEngine
import Synchronization

extension URLSessionTask {
  /// The object that the protocols of the task's session share, or nil for none.
  package var protocolContext: (any AnyObject & Sendable)? { session?.client.settings.protocolContext }

  /// The request for which a protocol is being chosen or created, or nil if no protocol has been considered yet.
  var protocolRequest: URLRequest? { options?.state.withLock { $0.protocolRequest } }

  /// Returns the transfer of the protocol that answers the request, or nil if no protocol does.
  func makeProtocolTransfer(
    _ request: URLRequest, in session: URLSession, redirectCount: Int = 0
  ) throws -> ProtocolTransfer? {
    let classes = session.client.settings.protocolClasses
    guard !classes.isEmpty || URLProtocol.hasRegisteredClass else { return nil }
    let types = classes.compactMap { $0 as? URLProtocol.Type }
    var request = request
    request.fields.appendMissing(session.client.settings.additionalFields ?? Fields())
    if redirectCount == 0 {
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
      canonical, by: type, redirectCount: redirectCount, delivery: delivery(of: session), windowBytes: windowBytes,
      task: self)
  }

  /// Returns the transfer for the request to which a protocol has redirected: that of a protocol, or one over the network.
  func makeTransfer(afterRedirectTo request: URLRequest, count: Int) throws -> any TaskTransfer {
    guard let session else { throw URLError(.cancelled) }
    return try makeProtocolTransfer(request, in: session, redirectCount: count) ?? makeTransfer(request, in: session)
  }

  /// The maximum number of redirects, which is the same as over the network.
  var redirectCountMax: Int { session?.client.redirectRule.countMax ?? 0 }

  /// Passes a protocol's challenge to the delegate.
  func ask(
    _ challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    tellDelegate(or: { answer(.performDefaultHandling, nil) }) { session, delegate in
      delegate.urlSession(session, task: self, didReceive: challenge, completionHandler: answer)
    }
  }
}
