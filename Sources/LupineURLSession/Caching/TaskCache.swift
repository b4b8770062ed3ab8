// TaskCache: the object through which one task uses its session's cache.

import Foundation
import LupineCache
import LupineEngine
import Synchronization

/// Connects one task with its session's cache. Tasks of a session without a cache don't have this object.
///
/// If a response for the task's URL may be stored, or if the cache must answer the request, a ``CacheExchange`` stands between the
/// task and the engine. All other requests go to the engine directly. This object then looks only at the head of the response, and
/// collects the body if the response can be stored.
final class TaskCache: Sendable {
  /// Whether the cache answers a task's requests. With either value, a request with an unsafe method, such as POST, invalidates
  /// stored responses.
  enum Scope {
    /// The cache answers the task's requests. Used for data tasks.
    case requests
    /// The cache doesn't answer the task's requests. Used for downloads and uploads.
    case invalidation
  }

  /// A request that was sent to the origin without a ``CacheExchange``, because no response for its URL was stored.
  private struct SentRequest {
    let request: EngineRequest
    let policy: URLRequest.CachePolicy
    /// The number of the session's Digest authentication that has computed the request's proof, or nil.
    let digest: UInt64?
    /// The time when the request was sent, in seconds since 1970.
    let time: Int64
    /// The number of invalidations in the cache's log when the request was sent.
    let invalidationCount: UInt64
    /// The number of responses that the cache had stored when the request was sent.
    let storedCount: Int
    /// Whether the receive window is large enough for a body that the task doesn't accept. The task doesn't extend it.
    let readsUnwantedBodies: Bool
    /// The head of the response, if only a decision of the task's delegate can make the response reusable.
    var undecidedHead: ResponseHead?

    /// Whether the request's policy accepts a stored response of any age. Then any response is worth storing.
    var acceptsAnyAge: Bool { policy == .returnCacheDataElseLoad || policy == .returnCacheDataDontLoad }
  }

  /// The response to a `SentRequest` that will be stored once it is complete.
  private struct IncomingResponse {
    let sent: SentRequest
    let request: CacheRequest
    let url: URL
    var passed: PassedResponse
    /// The exchange whose body must be discarded if it becomes too long. Nil while the task accepts the body.
    var discarding: ExchangeHandle?
  }

  private struct State {
    var storable: StorableResponse?
    var isServed = false
    var sent: SentRequest?
    var incoming: IncomingResponse?
    /// The number of responses that have begun. It identifies the response whose body is read although the task doesn't accept it.
    var responseCount = 0
  }

  private let session: SessionCache
  private let scope: Scope
  /// Whether the task's user reads the body piece by piece, and the task's delegate decides about caching. The task doesn't keep such
  /// a body, so this object collects it.
  private let collectsForDecision: Bool
  private let isStreamed: Bool
  private let state = Mutex(State())

  init(_ session: SessionCache, _ scope: Scope, isStreamed: Bool = false, collectsForDecision: Bool = false) {
    self.session = session
    self.scope = scope
    self.isStreamed = isStreamed
    self.collectsForDecision = collectsForDecision
  }

  private var stores: CacheStores { session.stores }

  /// Whether the task's latest response comes from the cache instead of the origin.
  var isServed: Bool { state.withLock { $0.isServed } }

  /// Records that the task receives a new response, and whether it comes from the cache. Discards the task's previous response if
  /// that response hasn't been stored.
  func note(isServed: Bool) {
    let old = state.withLock { state in
      state.isServed = isServed
      state.responseCount += 1
      return state.storable.take()
    }
    // The previous response is released outside the lock, because its release may wake requests that wait for it.
    _ = old
  }

  func keep(_ storable: StorableResponse) { state.withLock { $0.storable = storable } }

  /// Called before the task sends a request. Stores the previous response if it is a redirect, and forgets it otherwise.
  func prepareForRequest() {
    storeRedirect()
    state.withLock { state in
      state.sent = nil
      state.incoming = nil
    }
  }

  /// Stores the latest response if it is a complete redirect whose body isn't too long. Called before the task sends its next
  /// request. The delegate isn't asked, because a redirect isn't the task's final response. Other responses that aren't final, such
  /// as a 401 after which the task sends a credential, aren't stored.
  func storeRedirect() {
    guard let storable = takeStorable(), storable.isRedirect else { return }
    // A longer body is received completely only if it arrives before the task follows the redirect. Time must not decide.
    let isShort = storable.proposed.data.count <= PassedResponse.unwantedBytesMax
    storable.store(isShort ? storable.proposed : nil)
  }

  /// Returns the complete response that the cache can store, and forgets it. Returns nil if there is none.
  func takeStorable() -> StorableResponse? { state.withLock { $0.storable.take() } }

  func invalidate(after head: ResponseHead, to request: EngineRequest) { session.invalidate(after: head, to: request) }

  // MARK: Sending

  /// Returns an exchange that answers the request from the cache if possible. Returns nil if the request must be sent to the engine:
  /// it bypasses the cache, or no response for its URL is stored. `digest` is the number of the session's Digest authentication that
  /// has computed the request's proof, or nil.
  func exchange(
    for request: EngineRequest, from urlRequest: URLRequest, digest: UInt64?, through client: EngineClient,
    windowBytes: Int, receiver: any CacheReceiver
  ) -> CacheExchange? {
    guard scope == .requests, request.method == "GET" || request.method == "HEAD", request.body.isEmpty,
      !request.fields.contains("Upgrade"), !request.hasOwnServer
    else { return nil }
    let policy = urlRequest.explicitCachePolicy ?? client.settings.cachePolicy
    // Cache-Control may demand a stored response (only-if-cached).
    let mayBeSent = policy != .returnCacheDataDontLoad && !request.fields.contains("Cache-Control")
    guard !mayBeSent || stores.mayHaveResponses(of: request.uri.cacheKey) else {
      let sent = SentRequest(
        request: request, policy: policy, digest: digest, time: stores.now,
        invalidationCount: stores.invalidations.count,
        storedCount: stores.storedCount,
        readsUnwantedBodies: !isStreamed && windowBytes > PassedResponse.unwantedBytesMax)
      state.withLock { $0.sent = sent }
      return nil
    }
    return CacheExchange(
      cacheRequest(request, policy, digest, from: urlRequest, client), request, url: urlRequest.url, cache: session,
      upstream: client, windowBytes: windowBytes, isStreamed: isStreamed, receiver: receiver)
  }

  private func cacheRequest(
    _ request: EngineRequest, _ policy: URLRequest.CachePolicy, _ digest: UInt64?, from urlRequest: URLRequest,
    _ client: EngineClient
  ) -> CacheRequest {
    session.request(
      request, policy: policy, ownCookie: urlRequest.fields.first("Cookie"), digest: digest,
      identity: client.settings.engine.tls.identity,
      secretFields: client.settings.redirectRule.secretFields)
  }

  // MARK: Responses that come from the engine

  /// Decides whether the response is stored once it is complete. Returns whether its body must be delivered to `receive(body:)`.
  /// Called on the loop's thread.
  ///
  /// - Parameters:
  ///   - head: The head of the engine's response to the request for which `exchange` has returned nil.
  ///   - disposition: Whether the task accepts the body.
  ///   - isTrusted: Whether the server has proved that it knows the password in the request's credential.
  ///   - urlRequest: The task's current request.
  func receive(
    _ head: ResponseHead, _ disposition: BodyDisposition, isTrusted: Bool, to urlRequest: () -> URLRequest,
    of client: EngineClient
  ) -> BodyDisposition {
    guard let sent = state.withLock({ $0.sent.take() }), isTrusted, case .deliver = disposition,
      sent.request.method == "GET"
    else { return disposition }
    // A concurrent request may have stored a response, which this one outdates.
    guard
      collectsForDecision || sent.acceptsAnyAge || head.fields.mayAllowReuse
        || stores.storedCount != sent.storedCount && stores.mayHaveResponses(of: sent.request.uri.cacheKey)
    else {
      state.withLock { state in
        state.sent = sent
        state.sent?.undecidedHead = head
      }
      return disposition
    }
    let urlRequest = urlRequest()
    guard let url = urlRequest.url else { return disposition }
    let request = cacheRequest(sent.request, sent.policy, sent.digest, from: urlRequest, client)
    let response = session.responseToStore(
      head, to: request, ExchangeTimes(request: sent.time, response: stores.now), isWanted: true,
      isDecidedLater: collectsForDecision, byteCountMax: storedBytesMax)
    let incoming = response.map { response in
      IncomingResponse(sent: sent, request: request, url: url, passed: PassedResponse(response, isWanted: true))
    }
    state.withLock { state in
      state.incoming = incoming
      if incoming == nil {
        state.sent = sent
        state.sent?.undecidedHead = head
      }
    }
    return disposition
  }

  /// The maximum size, in bytes, of a response body that this object collects.
  private var storedBytesMax: Int { min(stores.responseBytesMax, isStreamed ? SessionCache.streamedBytesMax : .max) }

  /// Collects a piece of a body that will be stored. Called on the loop's thread.
  func receive(body bytes: borrowing Span<UInt8>) {
    let stopped = state.withLock { state -> IncomingResponse? in
      // The state's reference to the body is removed before the body is changed. Otherwise the body would be copied.
      guard var incoming = state.incoming.take() else { return nil }
      let byteCountMax =
        incoming.passed.isWanted ? storedBytesMax : min(storedBytesMax, PassedResponse.unwantedBytesMax)
      guard incoming.passed.append(bytes, byteCountMax: byteCountMax) else { return incoming }
      state.incoming = incoming
      return nil
    }
    guard let stopped else { return }
    if let response = stopped.passed.response, stores.mayHaveResponses(of: stopped.request.uri.cacheKey) {
      stores.removeSuperseded(by: response, to: stopped.request)
    }
    stopped.discarding?.discardBody()
  }

  /// Discards the rest of the body, which the task doesn't accept, and doesn't store the response. A redirect with a short body is an
  /// exception: its body is read for up to `PassedResponse.unwantedMillisecondsMax`, so that the redirect can be stored.
  func discardBody(of handle: ExchangeHandle) {
    let kept = state.withLock { state -> Int? in
      guard var incoming = state.incoming.take(), incoming.sent.readsUnwantedBodies,
        incoming.passed.storesRedirectUnwanted()
      else { return nil }
      incoming.discarding = handle
      state.incoming = incoming
      return state.responseCount
    }
    guard let kept else { return handle.discardBody() }
    let limit = DispatchTimeInterval.milliseconds(PassedResponse.unwantedMillisecondsMax)
    DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self] in
      let stopped = self?.state.withLock { $0.responseCount == kept ? $0.incoming.take() : nil }
      stopped?.discarding?.discardBody()
    }
  }

  /// Called when the response of the engine has ended. Keeps a complete response until the task's delegate has decided whether to
  /// store it, or stores a redirect whose body the task didn't accept. Called on the loop's thread.
  func responseEnded(isComplete: Bool) {
    guard let incoming = state.withLock({ $0.incoming.take() }), isComplete, let complete = incoming.passed.complete
    else { return }
    let storable = storable(
      complete.response, complete.body, to: incoming.request, at: incoming.url, incoming.sent.invalidationCount)
    if incoming.passed.isWanted { keep(storable) } else { storable.store(storable.proposed) }
  }

  /// Returns the task's latest response in the form in which the cache stores it, although only the decision of the task's delegate
  /// makes it reusable. Returns nil if the cache can't store it.
  func undecided(_ data: Data, of urlRequest: URLRequest, _ client: EngineClient) -> StorableResponse? {
    guard let sent = state.withLock({ $0.sent.take() }), let head = sent.undecidedHead, let url = urlRequest.url,
      data.count <= storedBytesMax
    else { return nil }
    let request = cacheRequest(sent.request, sent.policy, sent.digest, from: urlRequest, client)
    let response = session.responseToStore(
      head, to: request, ExchangeTimes(request: sent.time, response: stores.now), isWanted: true, isDecidedLater: true,
      byteCountMax: storedBytesMax)
    return response.map {
      storable($0.withBody(byteCount: UInt64(data.count)), data, to: request, at: url, sent.invalidationCount)
    }
  }

  private func storable(
    _ response: StoredResponse, _ body: Data, to request: CacheRequest, at url: URL, _ invalidationCount: UInt64
  ) -> StorableResponse {
    StorableResponse(
      response, HTTPURLResponse(url: url, response), body, to: request, session, nil, isCollapsible: false,
      invalidationCount: invalidationCount)
  }
}

extension Fields {
  /// Whether the fields could make a response reusable: they have a freshness lifetime or a validator. If not, no date and no
  /// directive needs to be parsed.
  fileprivate var mayAllowReuse: Bool {
    for position in 0..<count {
      if isNamed("cache-control", at: position) || isNamed("etag", at: position)
        || isNamed("last-modified", at: position) || isNamed("expires", at: position)
      {
        return true
      }
    }
    return false
  }
}

extension EngineRequest {
  /// Whether the request may be sent to a different server than other requests for the same URL, because of its settings or its
  /// Host field. Such a request bypasses the cache, which finds responses by URL.
  fileprivate var hasOwnServer: Bool {
    // The engine sends the Host field in place of the URL's host (RFC 9110 §7.2).
    if fields.contains("Host") { return true }
    guard let connection else { return false }
    return connection.tls != nil || connection.proxy != nil || !connection.hostOverrides.isEmpty
  }
}
