// The one place that talks to the engine: it converts a URLRequest once, and follows a response to its end.

import Foundation
import LupineEngine
import Synchronization

/// A session's engine. It starts with the first request, since many sessions never send one.
package final class EngineClient: Sendable {
  let settings: URLSessionConfiguration.Snapshot
  /// What every request has that doesn't have such fields of its own.
  private let sessionFields: Fields
  /// The times of requests that say none.
  private let timeouts: Timeouts
  private struct State {
    var engine: Engine?
    var evaluation: ServerTrustEvaluation?
  }
  private let state = Mutex(State())

  init(_ settings: URLSessionConfiguration.Snapshot) {
    self.settings = settings
    sessionFields = settings.additionalFields ?? Fields()
    timeouts = settings.timeouts(everyPhase: settings.timeoutIntervalForRequest)
  }

  /// How many bytes of a body may be ahead of who takes them.
  package var windowBytes: Int { settings.engine.windowBytes }

  /// The redirects that are followed.
  let redirectRule = RedirectRule()

  /// Converts a request. Throws a `URLError` if its URL can't be requested.
  func convert(_ request: URLRequest, body: RequestBody? = nil) throws(URLError) -> EngineRequest {
    let uri = try uri(of: request)
    var fields = request.fields
    fields.appendMissing(sessionFields)
    try apply(request.explicitCachePolicy ?? settings.cachePolicy, to: &fields, of: request.url)
    addContentType(of: request, to: &fields)
    return EngineRequest(
      method: request.httpMethod ?? "GET", uri: uri, fields: fields, body: body ?? RequestBody(of: request),
      timeouts: request.explicitTimeoutInterval.map { settings.timeouts(everyPhase: $0) } ?? timeouts)
  }

  /// Says of a POST's bytes that they are a form if nobody says what they are, as Foundation does.
  private func addContentType(of request: URLRequest, to fields: inout Fields) {
    guard request.httpMethod == "POST", case .data(let data) = request.body, !data.isEmpty,
      !fields.contains("Content-Type")
    else { return }
    fields.append(name: "Content-Type", value: "application/x-www-form-urlencoded")
  }

  /// Does what a cache policy asks for where nothing is stored.
  private func apply(_ policy: URLRequest.CachePolicy, to fields: inout Fields, of url: URL?) throws(URLError) {
    switch policy {
    case .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .returnCacheDataElseLoad, .reloadRevalidatingCacheData:
      break
    case .returnCacheDataDontLoad:
      let text = "\(ReadableText.url(url)) isn't cached, and the cache policy forbids loading it. Use another policy."
      throw URLError(.resourceUnavailable, userInfo: [NSLocalizedDescriptionKey: text])
    case .reloadIgnoringLocalAndRemoteCacheData:
      // The latter for caches of HTTP/1.0 (RFC 9111 §5.4).
      for name in ["Cache-Control", "Pragma"] where !fields.contains(name) {
        fields.append(name: name, value: "no-cache")
      }
    }
  }

  /// A redirected request as the user has changed it.
  ///
  /// Fields of the session's go with it as far as the redirect's rule has left them. What the rule would drop on the way to
  /// another origin doesn't go to one that the user chose either, unless the user has set it anew.
  func adjust(_ next: EngineRequest, from proposed: URLRequest, to chosen: URLRequest) throws -> EngineRequest {
    var request = next
    request.uri = try uri(of: chosen)
    request.method = chosen.httpMethod ?? "GET"
    request.fields = Fields()
    let isElsewhere = request.uri.origin != next.uri.origin
    for field in chosen.fields {
      if isElsewhere, RedirectRule.isBoundToOrigin(field.name), proposed.fields.first(field.name) == field.value {
        continue
      }
      request.fields.append(name: field.name, value: field.value)
    }
    for field in sessionFields where !chosen.fields.contains(field.name) && next.fields.contains(field.name) {
      if isElsewhere, RedirectRule.isBoundToOrigin(field.name) { continue }
      request.fields.append(name: field.name, value: field.value)
    }
    // What the URL's user information or a challenge has made, which nobody was shown, stays at its origin.
    if !isElsewhere, !request.fields.contains("Authorization"), !proposed.fields.contains("Authorization"),
      let value = next.fields.first("Authorization")
    {
      request.fields.append(name: "Authorization", value: value)
    }
    addContentType(of: chosen, to: &request.fields)
    if chosen.body != proposed.body {
      request.body = RequestBody(of: chosen)
    } else if request.method != next.method, ["GET", "HEAD"].contains(request.method) {
      // An upload's body belongs to the method that was to carry it.
      request.body = RequestBody()
    }
    return request
  }

  private func uri(of request: URLRequest) throws(URLError) -> URI {
    guard let url = request.url else { throw URLError(.badURL) }
    do {
      return try URI(url.absoluteString)
    } catch {
      throw URLError(error, url: url)
    }
  }

  /// Lets the engine go, when no further request will come: whoever still has a task of the session's keeps no threads.
  func close() { _ = state.withLock { $0.engine.take() } }

  /// Evaluates the trust of servers by `evaluation`. Returns false if there is one already, or if the engine has started
  /// without one.
  package func evaluateTrust(by evaluation: @escaping ServerTrustEvaluation) -> Bool {
    state.withLock { state in
      guard state.engine == nil, state.evaluation == nil else { return false }
      state.evaluation = evaluation
      return true
    }
  }

  /// Hands a request to the engine. Throws a `URLError` if the engine can't be started.
  func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, credit: Int
  ) throws(URLError) -> ExchangeHandle {
    try startedEngine().submit(request, to: sink, credit: credit)
  }

  private func startedEngine() throws(URLError) -> Engine {
    do {
      return try state.withLock { state throws(SystemError) in
        if let engine = state.engine { return engine }
        var configuration = settings.engine
        if let evaluation = state.evaluation {
          configuration.tls.verifier = CertificateVerifier(evaluation, after: configuration.tls.verifier)
        }
        let started = try Engine(configuration: configuration)
        state.engine = started
        return started
      }
    } catch {
      throw URLError(error)
    }
  }
}

extension URLSessionConfiguration.Snapshot {
  fileprivate func timeouts(everyPhase interval: TimeInterval) -> Timeouts {
    Timeouts(everyPhase: Duration(timeout: interval), total: Duration(timeout: timeoutIntervalForResource))
  }
}

extension Duration {
  /// Seconds as Foundation counts them; what isn't a finite number above zero is no limit.
  fileprivate init?(timeout seconds: TimeInterval) {
    // A hundred years keeps far away from the clock's end.
    guard seconds > 0, seconds.isFinite else { return nil }
    self = .seconds(min(seconds, 100 * 365 * 24 * 60 * 60))
  }
}
