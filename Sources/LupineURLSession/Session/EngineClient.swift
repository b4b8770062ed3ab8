// EngineClient: a session's engine. It converts each `URLRequest` to an `EngineRequest` and submits it.

import Foundation
import LupineEngine
import Synchronization

/// The engine of one session. It starts with the first request, because many sessions never send a request.
package final class EngineClient: Sendable {
  let settings: URLSessionConfiguration.Snapshot
  /// The Digest authentications of the session's tasks.
  let authentication = SessionAuthentication()
  /// The fields that each request gets unless it sets them itself.
  private let sessionFields: Fields
  /// The timeouts of requests that don't set any.
  private let timeouts: Timeouts
  private struct State {
    var engine: Engine?
    /// The engines that were replaced while tasks were in progress.
    var retired: [Engine] = []
    var evaluation: ServerTrustEvaluation?
  }
  private let state = Mutex(State())
  /// Whether there are replaced engines. It is read without the lock after each task.
  private let hasRetired = Atomic(false)

  init(_ settings: URLSessionConfiguration.Snapshot) {
    self.settings = settings
    var fields = settings.additionalFields ?? Fields()
    if settings.addsDefaultFields { fields.appendMissing(Self.defaultFields) }
    sessionFields = fields
    timeouts = settings.timeouts(everyPhase: settings.timeoutIntervalForRequest)
  }

  /// The fields that Foundation sends by default: all media types, the codings that are decoded, and the program's name.
  private static let defaultFields: Fields = [
    "Accept": "*/*", "Accept-Encoding": "br;q=1.0, gzip;q=0.9, deflate;q=0.8",
    "User-Agent":
      "\(ProcessInfo.processInfo.processName.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })"
      + " (unknown version) Lupine",
  ]

  /// The maximum number of received body bytes that the caller hasn't processed yet.
  package var windowBytes: Int { settings.engine.windowBytes }

  /// The rule that decides which redirects are followed.
  var redirectRule: RedirectRule { settings.redirectRule }

  /// Converts a request. If `body` isn't nil, it replaces the request's body. Throws a `URLError` if the URL can't be
  /// requested.
  func convert(_ request: URLRequest, body: RequestBody? = nil) throws(URLError) -> EngineRequest {
    let uri = try uri(of: request)
    var fields = request.fields
    fields.appendMissing(sessionFields)
    try apply(request.explicitCachePolicy ?? settings.cachePolicy, to: &fields, of: request.url)
    addContentType(of: request, to: &fields)
    guard request.body.isEmpty || request.httpMethod != "GET" else {
      let text = "\(ReadableText.url(request.url)): a GET request can't have a body. Use another method."
      throw URLError(.dataLengthExceedsMaximum, userInfo: [NSLocalizedDescriptionKey: text])
    }
    return EngineRequest(
      method: request.httpMethod ?? "GET", uri: uri, fields: fields, body: body ?? RequestBody(of: request),
      timeouts: request.explicitTimeoutInterval.map { settings.timeouts(everyPhase: $0) } ?? timeouts)
  }

  /// Adds a Content-Type that declares the body of a POST or PUT as a form if the request
  /// has no Content-Type field, as Foundation does.
  private func addContentType(of request: URLRequest, to fields: inout Fields) {
    guard request.httpMethod == "POST" || request.httpMethod == "PUT" else { return }
    guard !request.body.isEmpty, !fields.contains("Content-Type") else { return }
    fields.append(name: "Content-Type", value: "application/x-www-form-urlencoded")
  }

  /// Applies a cache policy for a client that has no cache: adds the fields that bypass caches on the path, or throws
  /// `URLError.resourceUnavailable` if only a cached response is allowed.
  private func apply(_ policy: URLRequest.CachePolicy, to fields: inout Fields, of url: URL?) throws(URLError) {
    switch policy {
    case .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .returnCacheDataElseLoad, .reloadRevalidatingCacheData:
      break
    case .returnCacheDataDontLoad:
      let text = "\(ReadableText.url(url)) isn't cached, and the cache policy forbids loading it. Use another policy."
      throw URLError(.resourceUnavailable, userInfo: [NSLocalizedDescriptionKey: text])
    case .reloadIgnoringLocalAndRemoteCacheData:
      // `Pragma` is for HTTP/1.0 caches (RFC 9111 §5.4).
      for name in ["Cache-Control", "Pragma"] where !fields.contains(name) {
        fields.append(name: name, value: "no-cache")
      }
    }
  }

  /// Returns the request that follows a redirect, with the delegate's changes applied.
  ///
  /// The session's fields are sent again unless the redirect rule has removed them. If the delegate has chosen another origin,
  /// the fields that the rule removes at a change of origin aren't sent to it either, unless the delegate has set them again.
  ///
  /// - Parameters:
  ///   - next: The request that the redirect rule proposes.
  ///   - proposed: The same request as the delegate received it.
  ///   - chosen: The request that the delegate returned.
  func adjust(_ next: EngineRequest, from proposed: URLRequest, to chosen: URLRequest) throws -> EngineRequest {
    var request = next
    request.uri = try uri(of: chosen)
    request.method = chosen.httpMethod ?? "GET"
    request.fields = Fields()
    let isElsewhere = request.uri.origin != next.uri.origin
    for field in chosen.fields {
      if isElsewhere, redirectRule.isBoundToOrigin(field.name), proposed.fields.first(field.name) == field.value {
        continue
      }
      request.fields.append(name: field.name, value: field.value)
    }
    for field in sessionFields where !chosen.fields.contains(field.name) && next.fields.contains(field.name) {
      if isElsewhere, redirectRule.isBoundToOrigin(field.name) { continue }
      request.fields.append(name: field.name, value: field.value)
    }
    // The proposed request doesn't show an Authorization field that was added because of a challenge or the URL's user
    // information, so the delegate couldn't decide about it. It is sent only to the same origin.
    if !isElsewhere, !request.fields.contains("Authorization"), !proposed.fields.contains("Authorization"),
      let value = next.fields.first("Authorization")
    {
      request.fields.append(name: "Authorization", value: value)
    }
    addContentType(of: chosen, to: &request.fields)
    if chosen.body != proposed.body {
      request.body = RequestBody(of: chosen)
    } else if request.method != next.method, ["GET", "HEAD"].contains(request.method) {
      // The upload's body was meant for the original method.
      request.body = RequestBody()
    }
    return request
  }

  private func uri(of request: URLRequest) throws(URLError) -> URI {
    guard let url = request.url else {
      let text = "The request has no URL. Set one."
      throw URLError(.unsupportedURL, userInfo: [NSLocalizedDescriptionKey: text])
    }
    do {
      return try URI(url.absoluteString)
    } catch {
      throw URLError(error, url: url)
    }
  }

  /// Releases the engine after the last request, so that a task that outlives the session doesn't keep its threads.
  func close() {
    releaseRetired()
    _ = state.withLock { $0.engine.take() }
  }

  /// Replaces the engine, so that later requests open new connections. The old engine is kept for the tasks in progress, until
  /// `releaseRetired` is called.
  func renewConnections() {
    state.withLock { state in
      if let old = state.engine.take() { state.retired.append(old) }
      hasRetired.store(!state.retired.isEmpty, ordering: .relaxed)
    }
  }

  /// Releases replaced engines, which close their connections. Called when no task is in progress.
  func releaseRetired() {
    guard hasRetired.load(ordering: .relaxed) else { return }
    let retired = state.withLock { state in
      hasRetired.store(false, ordering: .relaxed)
      defer { state.retired = [] }
      return state.retired
    }
    // The engines are released outside the lock.
    _ = retired
  }

  /// Sets the trust evaluation of servers.
  ///
  /// - Returns: True if it was set. False, without any effect, if an evaluation is already set or the engine has already started.
  package func evaluateTrust(by evaluation: @escaping ServerTrustEvaluation) -> Bool {
    state.withLock { state in
      guard state.engine == nil, state.evaluation == nil else { return false }
      state.evaluation = evaluation
      return true
    }
  }

  /// Submits a request to the engine, which starts first if necessary. Throws a `URLError` if it can't be started.
  func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, windowBytes: Int
  ) throws(URLError) -> ExchangeHandle {
    try startedEngine().submit(request, to: sink, windowBytes: windowBytes)
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
  /// Converts a timeout in seconds. Returns nil, which means no limit, unless the timeout is finite and positive.
  fileprivate init?(timeout seconds: TimeInterval) {
    // The limit is 100 years, to stay far below the clock's maximum.
    guard seconds > 0, seconds.isFinite else { return nil }
    self = .seconds(min(seconds, 100 * 365 * 24 * 60 * 60))
  }
}
