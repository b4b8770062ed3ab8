// TransferState+Events: the events from the engine, or from the session's cache, on any thread.

import Foundation
import LupineEngine
import LupineLogin

extension TransferState {
  /// Called when the head of a final (not 1xx) response has arrived. Returns whether the engine must deliver the body.
  ///
  /// - Parameters:
  ///   - head: The response's head.
  ///   - verdict: Whether the response can be trusted, must be refused, or requires that the request is sent again.
  mutating func receive(_ head: ResponseHead, verdict: ResponseVerdict = .trusted) -> BodyDisposition {
    batch.head = head
    switch verdict {
    case .trusted: break
    case .untrusted:
      body = .superseded(.failure(URLError(untrustedResponseFrom: urlRequest.url)))
      return .discard
    case .resend:
      body = .superseded(.replacement(request, urlRequest))
      return .discard
    }
    do throws(EngineError) {
      guard let next = try redirects.next(after: head, to: request) else { return .deliver }
      body = .undecided(Redirection(next: next))
    } catch {
      guard let redirection = redirection(refused: error, head) else {
        body = .superseded(.failure(URLError(error, url: urlRequest.url)))
        return .discard
      }
      body = .undecided(redirection)
    }
    return .deliver
  }

  /// Returns the redirect that the redirect rule refuses with `error`, so that the observer can choose another request or keep the
  /// response. Returns nil if there were too many redirects, or if the response has no valid Location field.
  private func redirection(refused error: EngineError, _ head: ResponseHead) -> Redirection? {
    guard error.code != .tooManyRedirects, let location = head.fields.first("Location"),
      let url = URL(string: location, relativeTo: urlRequest.url),
      let next = redirects.rule?.rewritten(request, after: head.status, staysAtOrigin: false)
    else { return nil }
    return Redirection(next: next, refusal: error, refusedURL: url.absoluteURL)
  }

  /// Called when bytes of the response's body have arrived.
  mutating func receive(body bytes: borrowing Span<UInt8>) { batch.append(body: bytes, windowBytes: windowBytes) }

  /// Called when a piece of a stored response's body has arrived from the cache.
  mutating func receive(piece: Data) { batch.append(piece) }

  /// Called when an iteration of the engine's event loop has ended. `byteCount` is the number of bytes of the request's body sent
  /// so far.
  mutating func turnEnded(sent byteCount: UInt64) -> Action? {
    noteSent(byteCount)
    return requestDelivery()
  }

  /// Called when the exchange has ended.
  ///
  /// - Parameters:
  ///   - result: The trailer section of the response, or the error with which the exchange has failed.
  ///   - exchangeMetrics: The measurements of the exchange.
  ///   - identityRequest: The authorities whose certificates the server accepts, if the request wasn't sent because the observer
  ///     must choose a certificate first. Otherwise nil.
  mutating func exchangeEnded(
    _ result: Result<Fields, EngineError>, _ exchangeMetrics: ExchangeMetrics, identityRequest: [[UInt8]]? = nil
  ) -> Action? {
    if let authorities = identityRequest, awaitsResponse {
      // Nothing was sent, so this isn't one of the task's requests. The next exchange includes the opening of the connection.
      unsent = [exchangeMetrics]
      request = redirects.resend(request, after: exchangeMetrics)
      return identityRequested(from: authorities)
    }
    batch.end = result
    if let unsent = self.unsent.popLast() {
      var exchangeMetrics = exchangeMetrics
      exchangeMetrics.includeOpening(of: unsent)
      metrics.append(exchangeMetrics)
    } else {
      metrics.append(exchangeMetrics)
    }
    noteSent(exchangeMetrics.requestBodyBytes)
    return requestDelivery()
  }

  /// Called when the server requests a client certificate that one of these authorities has issued. The request will be sent after
  /// the observer has chosen a certificate or none.
  mutating func identityRequested(from authorities: [[UInt8]]) -> Action? {
    batch.identityRequest = authorities
    return requestDelivery()
  }

  /// Whether the transfer still needs the response to the request in progress.
  private var awaitsResponse: Bool {
    if case .superseded = body { false } else { true }
  }

  private mutating func noteSent(_ byteCount: UInt64) {
    let sent = Int64(clamping: byteCount)
    if sent > sentByteCount { batch.sentByteCount = sent }
  }
}
