// ProtocolClient: the client of a URLProtocol, which passes the protocol's reports to the task's transfer.

import Foundation

/// The client of a ``URLProtocol``, which passes the events that the URL protocol reports to the task's transfer. It references the
/// transfer weakly, because the transfer retains the URL protocol.
final class ProtocolClient: NSObject, URLProtocolClient, Sendable {
  private let add: @Sendable (ProtocolTransfer.Event) -> Void

  init(_ transfer: ProtocolTransfer) { add = { [weak transfer] in transfer?.add($0) } }

  func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
    report(ProtocolTransfer.Redirect(request: request, response: redirectResponse))
  }

  /// Reports a redirect with its body and, if the session's redirect rule refuses the redirect, the rule's error.
  func report(_ redirect: ProtocolTransfer.Redirect) { add(.redirect(redirect)) }

  func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
    add(.response(cachedResponse.response))
    add(.body(cachedResponse.data))
    add(.end(nil))
  }

  func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
  ) { add(.response(response)) }

  func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { add(.body(data)) }

  func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { add(.end(nil)) }

  func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) { add(.end(error)) }

  func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
    add(.challenge(challenge))
  }

  func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
}
