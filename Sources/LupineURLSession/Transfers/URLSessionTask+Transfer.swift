// URLSessionTask+Transfer: chooses a task's transfer: over HTTP, or from a local resource.

import Foundation
import LupineEngine

extension URLSessionTask {
  /// Creates a transfer over HTTP. If the engine refuses the URL, but ``LocalContent`` can read it, creates a transfer for a local
  /// resource instead. The engine is tried first, so that the check for local resources doesn't slow HTTP requests.
  ///
  /// `history` describes the earlier redirects, which URLProtocol objects have reported. By default, there are none.
  func makeTransfer(
    _ request: URLRequest, in session: URLSession, after history: RedirectHistory = RedirectHistory()
  ) throws -> any TaskTransfer {
    let body = try history.keepsBody ? makeBody(of: request, isRedirected: history.count > 0) : nil
    do throws(URLError) {
      let cache = session.client.cache.map {
        TaskCache(
          $0, cacheScope, isStreamed: windowBytes != nil,
          collectsForDecision: windowBytes != nil && delegateDecidesOnCaching)
      }
      var converted = try session.client.convert(
        request, body: body, isCached: cache != nil && cacheScope == .requests, isElsewhere: history.hasLeftOrigin)
      if !history.presentsIdentity { converted.presentsIdentity = false }
      if let explicitPriority { converted.priority = explicitPriority }
      if let callObserver { converted.callObserver = callObserver }
      return Transfer(
        converted, from: request, redirectCount: history.count, client: session.client,
        delivery: readyTransfers(of: session), windowBytes: windowBytes, cache: cache, observer: self)
    } catch {
      guard error.code == .unsupportedURL, content == nil, !history.hasUsedHTTP, let url = request.url,
        LocalContent.serves(url)
      else {
        throw error
      }
      return LocalTransfer(
        request, files: session.fileTransfers.queue, delivery: delivery(of: session), windowBytes: windowBytes,
        observer: self)
    }
  }
}
