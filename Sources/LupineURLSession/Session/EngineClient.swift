// EngineClient: a session's engine. It converts each `URLRequest` to an `EngineRequest` and submits it.

import Foundation
import LupineEngine
import LupineLogin
import Synchronization

/// Sends the requests of one session through an engine. The engine starts with the first request, because many sessions never send
/// a request.
package final class EngineClient: CacheUpstream, Sendable {
  let settings: URLSessionConfiguration.Snapshot
  /// The observer of the session's engine, or nil if there is none.
  let observer: (any EngineObserver)?
  /// The authentication state that all tasks of the session share.
  let authentication = SessionAuthentication()
  /// The credentials that tasks may send without asking the delegate.
  let knownCredentials: KnownCredentials
  /// The object through which the session uses its cache. Nil if the session has no cache.
  let cache: SessionCache?
  /// The client certificates that the session's delegates have chosen for origins.
  let identities = SessionIdentities()
  /// The header fields that the session adds to each request that doesn't already have them.
  private let sessionFields: Fields
  /// The connection settings for requests that don't set any. If nil, the engine's settings apply.
  private let connection: ConnectionSettings?
  /// Whether `connection` isn't nil. Swift copies the large settings several times in order to compare them with nil.
  private let hasConnection: Bool
  /// The session's timeouts, for requests that don't set any.
  private let timeouts: Timeouts
  private struct State: ~Copyable {
    var engine: Engine?
    var evaluation: ServerTrustEvaluation?
    /// The object that asks the session's delegate whether to trust a server. Nil if the delegate doesn't decide about trust.
    var trustConsultant: (any ServerTrustConsultant)?
    /// The revocation checker for the trust evaluation and for the delegate. It is created only once, because its fetcher has a
    /// separate engine.
    var revocation: RevocationChecker?
    /// The combined certificate verifiers, starting with the oldest. Each one combines the verifier in a request's TLS settings
    /// (`own`) with the session's trust evaluation and delegate. Requests with equal settings must get the same combined verifier,
    /// because only requests with the same verifier share connections.
    var verifiers: [(own: CertificateVerifier?, combined: CertificateVerifier)] = []
  }
  private let state = Mutex(State())
  private let iterations: any IterationObserver

  /// Creates a client without starting its engine.
  ///
  /// - Parameters:
  ///   - settings: The settings of the session.
  ///   - iterations: The object that is notified when an iteration of one of the engine's event loops begins or ends.
  init(_ settings: URLSessionConfiguration.Snapshot, iterations: any IterationObserver) {
    var settings = settings
    if settings.background.identifier != nil, settings.background.isDiscretionary {
      settings.engine.pool.connectionsPerOriginMax = 1
    }
    self.settings = settings
    observer = settings.engine.observer
    self.iterations = iterations
    knownCredentials = KnownCredentials(settings.credentialStorage)
    let isIsolated = settings.engine.hasOwnTrustOrRoute
    cache = settings.cache.current.map { SessionCache($0.stores, isIsolated: isIsolated) }
    var fields = settings.additionalFields ?? Fields()
    if settings.addsDefaultFields { fields.appendMissing(Self.defaultFields) }
    sessionFields = fields
    connection = settings.network.connectionSettings(nil)
    hasConnection = connection != nil
    timeouts = settings.requestTimeouts
  }

  /// The value of the Accept-Encoding field: the content codings that the engine decodes, in order of preference. The weights
  /// decrease by 0.1 from 1.0 (RFC 9110 §12.4.2).
  package static let acceptEncoding = ContentCoding.allCases.enumerated()
    .map { index, coding in "\(coding.name);q=\(index == 0 ? "1.0" : "0.\(10 - index)")" }
    .joined(separator: ", ")

  /// The fields that Foundation sends by default: Accept for all media types, Accept-Encoding with the codings that the engine
  /// decodes, and User-Agent with the program's name.
  private static let defaultFields: Fields = [
    "Accept": "*/*", "Accept-Encoding": acceptEncoding,
    "User-Agent":
      "\(ProcessInfo.processInfo.processName.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })"
      + " (unknown version) Lupine",
  ]

  /// The receive window of each response, in bytes: the maximum number of received body bytes that the caller hasn't processed yet.
  package var windowBytes: Int { settings.engine.windowBytes }

  /// The session's rule that decides which redirects are followed, and which fields the next request keeps.
  var redirectRule: RedirectRule { settings.redirectRule }

  /// Converts a task's request to a request for the engine. If `body` isn't nil, it replaces the request's body. `isElsewhere` is
  /// true if a redirect has led to an origin other than that of the first request. In this case, the session's fields that the
  /// redirect rule binds to an origin aren't added. Throws a `URLError` if the URL can't be requested. Also throws one if the cache
  /// policy requires a cached response but `isCached` is false because no cache answers the request.
  func convert(
    _ request: URLRequest, body: RequestBody? = nil, isCached: Bool = false, isElsewhere: Bool = false
  ) throws(URLError) -> EngineRequest {
    let uri = try uri(of: request)
    var fields = fieldsWithDefaults(of: request, isElsewhere: isElsewhere)
    switch policy(of: request) {
    case .returnCacheDataDontLoad where !isCached: throw URLError(notCached: request.url)
    case .reloadIgnoringLocalAndRemoteCacheData: fields.appendMissing(Self.reloadFields)
    default: break
    }
    addContentType(of: request, to: &fields)
    let body = body ?? RequestBody(of: request)
    guard body.isEmpty || request.httpMethod != "GET" else {
      let text = "\(ReadableText.url(request.url)): a GET request can't have a body. Use another method."
      throw URLError(.dataLengthExceedsMaximum, text)
    }
    var converted = EngineRequest(
      method: request.httpMethod ?? "GET", uri: uri, fields: fields, body: body,
      timeouts: request.explicitTimeoutInterval.map { settings.timeouts(everyPhase: $0) } ?? timeouts)
    if let options = request.options {
      apply(options, to: &converted)
    } else if hasConnection {
      converted.connection = connection
    }
    return converted
  }

  /// Returns the request's fields, and the session's fields that the request doesn't have.
  private func fieldsWithDefaults(of request: URLRequest, isElsewhere: Bool) -> Fields {
    var fields = request.fields
    // Most requests have no fields, so that no names need to be compared.
    if fields.isEmpty, !isElsewhere { return sessionFields }
    // A range of compressed bytes can't be decoded. Many servers also ignore Range in a response that they compress.
    let refusesCodings = fields.contains("Range") && hasDefaultCodings && !fields.contains("Accept-Encoding")
    fields.appendMissing(isElsewhere ? unboundSessionFields : sessionFields)
    if refusesCodings { fields.remove("Accept-Encoding") }
    return fields
  }

  /// Whether the session adds its default Accept-Encoding to requests, because the configuration doesn't have this field.
  private var hasDefaultCodings: Bool {
    settings.addsDefaultFields && settings.additionalFields?.contains("Accept-Encoding") != true
  }

  /// The session's fields without those, such as Authorization, that the redirect rule binds to an origin.
  private var unboundSessionFields: Fields {
    var unbound = sessionFields
    for field in sessionFields where redirectRule.isBoundToOrigin(field.name) { unbound.remove(field.name) }
    return unbound
  }

  /// Adds the Content-Type of a form to a POST or PUT request that has a body but no Content-Type, as Foundation does.
  private func addContentType(of request: URLRequest, to fields: inout Fields) {
    // The body is checked first, because most requests have none.
    guard !request.body.isEmpty, request.httpMethod == "POST" || request.httpMethod == "PUT" else { return }
    guard !fields.contains("Content-Type") else { return }
    fields.append(name: "Content-Type", value: "application/x-www-form-urlencoded")
  }

  private func policy(of request: URLRequest) -> URLRequest.CachePolicy {
    request.explicitCachePolicy ?? settings.cachePolicy
  }

  /// The fields that prevent caches between client and origin from answering. `Pragma` is for HTTP/1.0 caches (RFC 9111 §5.4).
  private static let reloadFields: Fields = ["Cache-Control": "no-cache", "Pragma": "no-cache"]

  /// Returns the request to send after a redirect, with the changes that the delegate has made.
  ///
  /// The request has the session's fields, except for those that the redirect rule has removed. If the delegate has chosen another
  /// origin than the proposed one, the fields that the rule binds to an origin are also removed, unless the delegate has changed
  /// their values.
  ///
  /// - Parameters:
  ///   - next: The request that the redirect rule proposes.
  ///   - proposed: The same request in the form in which the delegate received it.
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
    // The opening handshake of a WebSocket isn't part of the proposed request either.
    if next.needsTunnel { WebSocketOpening.copyFields(from: next, to: &request) }
    // An Authorization field that was added after a challenge, or from the URL's user information, isn't part of the proposed
    // request that the delegate saw. Therefore, the delegate couldn't remove it. It is sent only to the same origin.
    if !isElsewhere, !request.fields.contains("Authorization"), !proposed.fields.contains("Authorization"),
      let value = next.fields.first("Authorization")
    {
      request.fields.append(name: "Authorization", value: value)
    }
    addContentType(of: chosen, to: &request.fields)
    if policy(of: chosen) == .reloadIgnoringLocalAndRemoteCacheData { request.fields.appendMissing(Self.reloadFields) }
    if chosen.options != proposed.options || chosen.explicitTimeoutInterval != proposed.explicitTimeoutInterval {
      request.timeouts = chosen.explicitTimeoutInterval.map { settings.timeouts(everyPhase: $0) } ?? timeouts
      request.timeouts.total = next.timeouts.total
      request.bodyBytesMax = .max
      request.priority = next.priority
      apply(chosen.options ?? RequestOptions(), to: &request)
    }
    if chosen.body != proposed.body {
      request.body = RequestBody(of: chosen)
    } else if request.method != next.method, ["GET", "HEAD"].contains(request.method) {
      // The upload's body must be sent only with the original method.
      request.body = RequestBody()
    }
    return request
  }

  private func uri(of request: URLRequest) throws(URLError) -> URI {
    if let parsedURL = request.parsedURL { return parsedURL.uri }
    guard let url = request.url else { throw URLError.missingURL }
    do {
      return try URI(url.absoluteString)
    } catch {
      throw URLError(error, url: url)
    }
  }

  /// Releases the engine after the session's last request. Otherwise, the engine's threads would continue to run while a task
  /// outlives the session.
  func close() { withExtendedLifetime(state.withLock { $0.engine.take() }) {} }

  /// Removes the cookies, credentials and cached responses from the session's storages. Also clears the session's authentication
  /// state and the client certificates that its delegates have chosen.
  func removeStoredData() {
    settings.cookieStorage?.removeCookies(since: .distantPast)
    if let storage = settings.credentialStorage {
      // Without this option, synchronizable credentials would remain.
      let options: [String: AnyObject] = [NSURLCredentialStorageRemoveSynchronizableCredentials: NSNumber(value: true)]
      for (space, credentials) in storage.allCredentials {
        for credential in credentials.values { storage.remove(credential, for: space, options: options) }
      }
    }
    identities.removeAll()
    authentication.withLock { $0.removeAll() }
    settings.cache.current?.removeAllCachedResponses()
  }

  /// Replaces the engine, so that later requests open new connections. The old engine closes its connections when the requests that
  /// it is executing have ended.
  func renewConnections() {
    state.withLock { $0.engine.take() }?.retire()
  }

  /// Sets the trust evaluation, which the session's TLS handshakes perform in addition to the default verification of certificates.
  ///
  /// - Returns: True if the evaluation was set. False, without any effect, if another evaluation is already set, or if the engine
  ///   has already started.
  package func evaluateTrust(by evaluation: ServerTrustEvaluation) -> Bool {
    let isSet = state.withLock { state in
      guard state.engine == nil, state.evaluation == nil else { return false }
      state.evaluation = evaluation
      return true
    }
    if isSet { cache?.isolateHosts(where: evaluation.mayDecide) }
    return isSet
  }

  /// Sets the object that decides during the session's TLS handshakes whether to trust a server. Must be called before the first
  /// request.
  func consult(_ consultant: any ServerTrustConsultant) { state.withLock { $0.trustConsultant = consultant } }

  /// Returns the proxy through which the engine would send the request. Returns nil if the request is sent directly to the origin.
  func proxy(for request: EngineRequest) -> Proxy? {
    try? startedEngine().proxy(for: request)
  }

  /// Submits a request to the engine, after starting the engine if necessary. Throws a `URLError` if the engine can't be started.
  func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, windowBytes: Int
  ) throws(URLError) -> ExchangeHandle {
    try startedEngine().submit(request, to: sink, windowBytes: windowBytes)
  }

  /// Opens a connection for a stream task, after starting the engine if necessary. Throws a `URLError` if the engine can't be started.
  func openStream(to origin: Origin, sink: any StreamSink) throws(URLError) -> StreamHandle {
    let identity: IdentityChoice? =
      if identities.isUsed, case .chosen(let choice) = identities.known(about: origin) { choice } else { nil }
    return try startedEngine().openStream(to: origin, connection, identity: identity, timeouts: timeouts, sink: sink)
  }

  /// The maximum number of combined verifiers in `verifiers`: 16. Most programs need only a few.
  private static let verifiersMax = 16

  /// Returns the TLS settings with a verifier that also performs the session's trust evaluation and asks the session's delegate, in
  /// addition to the verifier in `tls`. If the session has neither evaluation nor delegate, returns `tls` unchanged.
  func evaluatingTrust(_ tls: TLSConfiguration) -> TLSConfiguration {
    state.withLock { state in
      var tls = tls
      addEvaluation(to: &tls, &state)
      return tls
    }
  }

  private func addEvaluation(to tls: inout TLSConfiguration, _ state: inout State) {
    // If verification is turned off, the delegate isn't asked. A trust evaluation is added nevertheless, but it can't be performed,
    // so that each connection fails.
    guard state.evaluation != nil || (state.trustConsultant != nil && tls.verification == .full) else { return }
    tls.requestsStapleForVerifier = state.evaluation?.usesStaple ?? false
    let own = tls.verifier
    if let known = state.verifiers.first(where: { $0.own == own }) {
      tls.verifier = known.combined
      return
    }
    let revocation = state.revocation ?? RevocationChecker(fetcher: RevocationFetcher(settings.engine))
    state.revocation = revocation
    let combined = CertificateVerifier(
      state.evaluation, after: own, before: state.trustConsultant, revocation: revocation,
      consultantHasDecided: { [cache] in cache?.isolate() })
    if state.verifiers.count == Self.verifiersMax { state.verifiers.removeFirst() }
    state.verifiers.append((own, combined))
    tls.verifier = combined
  }

  /// Returns the task executor of the engine's first event loop. Starts the engine if necessary.
  func executor() throws(URLError) -> any TaskExecutor { try startedEngine().executor }

  private func startedEngine() throws(URLError) -> Engine {
    do {
      return try state.withLock { state throws(SystemError) in
        if let engine = state.engine { return engine }
        var configuration = settings.engine
        addEvaluation(to: &configuration.tls, &state)
        // If a server requests a client certificate and the settings contain none, the delegate is asked for one.
        configuration.reportsIdentityRequests = true
        let started = try Engine(configuration: configuration, observer: iterations)
        state.engine = started
        return started
      }
    } catch {
      throw URLError(error)
    }
  }
}

extension URLSessionConfiguration.Snapshot {
  /// The time limits of a request that has none.
  fileprivate var requestTimeouts: Timeouts {
    guard var own = timeouts else { return timeouts(everyPhase: timeoutIntervalForRequest) }
    if let limit = Duration(timeout: timeoutIntervalForResource) { own.total = min(own.total ?? limit, limit) }
    return own
  }

  fileprivate func timeouts(everyPhase interval: TimeInterval) -> Timeouts {
    Timeouts(everyPhase: Duration(timeout: interval), total: Duration(timeout: timeoutIntervalForResource))
  }
}
