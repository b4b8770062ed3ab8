// TransferState+Events: the events from the engine, or from the session's cache, on any thread.

import Foundation
import LupineEngine
import LupineLogin

extension TransferState {
  /// Called when the head of a final response (not 1xx) has been received. Returns whether the engine must deliver the body.
  ///
  /// - Parameters:
  ///   - head: The response's head.
  ///   - verdict: Whether the response can be trusted, must be refused, or requires that the request be sent again.
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

  /// Returns the redirect that the redirect rule refuses with `error`. The observer can then choose another request, or make the
  /// redirect response the final response. Returns nil after too many redirects, or if the response has no valid Location field.
  private func redirection(refused error: EngineError, _ head: ResponseHead) -> Redirection? {
    guard error.code != .tooManyRedirects, let location = head.fields.first("Location"),
      let url = URL(unambiguous: location, relativeTo: urlRequest.url),
      let next = redirects.rule?.rewritten(request, after: head.status, staysAtOrigin: false)
    else { return nil }
    return Redirection(next: next, refusal: error, refusedURL: url.absoluteURL)
  }

  /// Called when the engine has received bytes of the response's body.
  mutating func receive(body bytes: borrowing Span<UInt8>) {
    batch.append(body: bytes, in: isStreamed ? .shared : nil)
  }

  /// Called with a piece of a response's body that comes from the session's cache.
  mutating func receive(piece: Data) { batch.append(piece) }

  /// Called when the session's cache has answered the request that is being submitted with a complete stored response. No exchange
  /// takes place.
  mutating func served(_ head: ResponseHead, _ body: Data, _ metrics: ExchangeMetrics) -> Action? {
    if case .deliver = receive(head), !body.isEmpty { receive(piece: body) }
    return exchangeEnded(.success, metrics)
  }

  /// Called at the end of an iteration of the engine's event loop. `byteCount` is the number of bytes of the request's body that
  /// were sent so far.
  mutating func turnEnded(sent byteCount: UInt64) -> Action? {
    noteSent(byteCount)
    return requestDelivery()
  }

  /// Called when the exchange with the engine or the cache has ended.
  ///
  /// - Parameters:
  ///   - outcome: Success, or the error with which the exchange has failed.
  ///   - exchangeMetrics: The measurements of the exchange.
  ///   - identityRequest: If the request wasn't sent because the observer must choose a client certificate first, the names of the
  ///     authorities whose certificates the server accepts. Otherwise nil.
  mutating func exchangeEnded(
    _ outcome: TransferBatch.Outcome, _ exchangeMetrics: ExchangeMetrics, identityRequest: [[UInt8]]? = nil
  ) -> Action? {
    if let authorities = identityRequest, awaitsResponse {
      // The request wasn't sent, so this isn't one of the task's requests. The metrics of the next exchange include opening the
      // connection.
      unsent = [exchangeMetrics]
      request = redirects.resend(request, after: exchangeMetrics)
      return identityRequested(from: authorities)
    }
    batch.end = outcome
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

  /// Called when the server requests a client certificate that was issued by one of these authorities. The request will be sent
  /// after the observer has chosen a certificate or none.
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
