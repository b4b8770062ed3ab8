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

  /// The cache's answer to a request of the task.
  enum Answer {
    /// The request must be sent to the engine: it bypasses the cache, or no response for its URL is stored.
    case send
    /// This stored response, which the task has requested at this time, answers the request. Its body is complete, and no request
    /// is sent.
    case serve(ResponseHead, Data, requestedAt: Instant)
    /// This exchange answers the request, with a stored response or the origin's.
    case exchange(CacheExchange)
  }

  /// The maximum size of a stored part that a stream completes: 16 MiB. While the stream reads the part, the server can't send the
  /// rest, and nginx closes the connection after 60 s without progress. A stream that reads 280 KB per second takes that long.
  private static let streamBytesCompletedMax: UInt64 = 16 << 20

  /// A request that was sent to the origin without a ``CacheExchange``, because no response for its URL was stored, or because it
  /// is a POST.
  private struct SentRequest {
    /// The methods of requests that are noted.
    enum Method {
      case get, head, post

      @inline(__always)
      init?(_ name: String) {
        switch name {
        case "GET": self = .get
        case "HEAD": self = .head
        case "POST": self = .post
        default: return nil
        }
      }
    }

    let request: EngineRequest
    let method: Method
    let policy: URLRequest.CachePolicy
    /// The number of the session's Digest authentication that has computed the request's proof, or nil.
    let digest: UInt64?
    /// The time when the request was sent, in seconds since 1970.
    let time: Int64
    /// The number of invalidations in the cache's log when the request was sent.
    var invalidationCount: UInt64
    /// The number of responses that the cache had stored when the request was sent.
    let storedCount: Int
    /// Whether the receive window is large enough for a body that the task doesn't accept. The task doesn't extend it.
    let readsUnwantedBodies: Bool
    /// Whether the response has arrived, and only a decision of the task's delegate can make it reusable.
    var isUndecided = false

    /// Whether the request's policy accepts a stored response of any age. Then any response is worth storing.
    var acceptsAnyAge: Bool { policy == .returnCacheDataElseLoad || policy == .returnCacheDataDontLoad }
  }

  private struct State: ~Copyable {
    var isServed = false
    var sent: SentRequest?
    /// The response to `sent` that will be stored once it is complete.
    var incoming: PassedResponse?
    /// The exchange whose body must be discarded if `incoming` becomes too long. Nil while the task accepts the body.
    var discarding: ExchangeHandle?
    var storable: StorableResponse?
  }

  private let session: SessionCache
  private let scope: Scope
  /// Whether the task's user reads the body piece by piece, and the task's delegate decides about caching. The task doesn't keep
  /// such a body, so this object collects it.
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

  /// Records that the task receives a stored response. Discards the task's previous response if that hasn't been stored.
  func beginServing() { begin(isServed: true) }

  /// Records that the task receives an origin's response, and removes the stored responses that it invalidates. Discards the task's
  /// previous response if that hasn't been stored.
  func begin(_ head: ResponseHead, to request: () -> EngineRequest) {
    let isPost = begin(isServed: false)
    // A GET or HEAD request that was sent without an exchange invalidates nothing.
    if isPost == false { return }
    let entry = session.invalidate(after: head, to: request())
    guard isPost == true else { return }
    state.withLock { state in
      guard let count = state.sent?.invalidationCount, let entry, entry.previous <= count else {
        // Another unsafe request has changed the resource in the meantime, or this one has failed.
        state.sent = nil
        return
      }
      // The response to this POST may be stored although the POST has invalidated its own URI.
      state.sent?.invalidationCount = entry.number
    }
  }

  /// Begins a new response. Returns whether it responds to a POST that was noted, or nil if its request wasn't noted.
  @discardableResult
  private func begin(isServed: Bool) -> Bool? {
    let (old, isPost) = state.withLock { state in
      state.isServed = isServed
      return (state.storable.take(), state.sent.map { $0.method == .post })
    }
    // The previous response is released outside the lock, because its release may wake requests that wait for it.
    withExtendedLifetime(old) {}
    return isPost
  }

  func keep(_ storable: StorableResponse) { state.withLock { $0.storable = storable } }

  /// Called before the task sends another request. Stores the previous response if it is a redirect, and forgets it otherwise.
  func prepareForRequest() {
    let storable = state.withLock { state in
      (state.sent, state.incoming, state.discarding) = (nil, nil, nil)
      return state.storable.take()
    }
    storeRedirect(storable)
  }

  /// Stores the latest response if it is a complete redirect whose body isn't too long. Called before the task sends its next
  /// request. The delegate isn't asked, because a redirect isn't the task's final response. Other responses that aren't final, such
  /// as a 401 after which the task sends a credential, aren't stored.
  func storeRedirect() { storeRedirect(takeStorable()) }

  private func storeRedirect(_ storable: StorableResponse?) {
    guard let storable, storable.isRedirect else { return }
    // A longer body is received completely only if it arrives before the task follows the redirect. Time must not decide.
    let isShort = storable.proposed.data.count <= PassedResponse.unwantedBytesMax
    storable.store(isShort ? storable.proposed : nil)
  }

  /// Returns the complete response that the cache can store, and forgets it. Returns nil if there is none.
  func takeStorable() -> StorableResponse? { state.withLock { $0.storable.take() } }

  // MARK: Sending

  /// Returns the answer to a request that the task is about to send.
  ///
  /// - Parameters:
  ///   - request: The request with all fields that the engine sends.
  ///   - policy: The cache policy that the caller has set, or nil for the session's.
  ///   - urlRequest: The request as the task's user sees it.
  ///   - digest: The number of the session's Digest authentication that has computed the request's proof, or nil.
  func answer(
    to request: EngineRequest, policy: URLRequest.CachePolicy?, from urlRequest: () -> URLRequest, digest: UInt64?,
    through client: EngineClient, windowBytes: Int, receiver: any CacheReceiver
  ) -> Answer {
    guard scope == .requests, let method = SentRequest.Method(request.method) else { return .send }
    let policy = policy ?? client.settings.cachePolicy
    let mayBeSent: Bool
    switch request.cacheUse {
    case .none: return .send
    case .directed: mayBeSent = false
    case .unrestricted: mayBeSent = policy != .returnCacheDataDontLoad
    }
    if method == .post {
      // The response to a POST may be the representation that answers later GET requests (RFC 9110 §9.3.3).
      var head = request
      // Only the head of the request matters for its response, and its body may be large.
      head.body = RequestBody()
      note(head, method, policy, digest, windowBytes)
      return .send
    }
    guard request.body.isEmpty else { return .send }
    let found = stores.foundInMemory(request.uri.cacheKey)
    guard !mayBeSent || !found.isEmpty || stores.mayHaveFiles(of: request.uri.cacheKey) else {
      note(request, method, policy, digest, windowBytes)
      return .send
    }
    let start = Instant.now
    let urlRequest = urlRequest()
    var cached = cacheRequest(request, policy, digest, from: urlRequest, client)
    cached.completedBytesMax = isStreamed ? Self.streamBytesCompletedMax : .max
    // A streamed body is delivered within the receive window.
    if !isStreamed, let (head, body) = session.response(to: cached, amongStored: found) {
      return .serve(head, body, requestedAt: start)
    }
    return .exchange(
      CacheExchange(
        cached, request, url: urlRequest.url, cache: session, upstream: client, windowBytes: windowBytes,
        isStreamed: isStreamed, receiver: receiver))
  }

  /// Notes a request that is sent without an exchange.
  private func note(
    _ request: EngineRequest, _ method: SentRequest.Method, _ policy: URLRequest.CachePolicy, _ digest: UInt64?,
    _ windowBytes: Int
  ) {
    let time = stores.now
    state.withLock { state in
      state.sent = SentRequest(
        request: request, method: method, policy: policy, digest: digest, time: time,
        invalidationCount: stores.invalidations.count, storedCount: stores.storedCount,
        readsUnwantedBodies: !isStreamed && windowBytes > PassedResponse.unwantedBytesMax)
    }
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

  /// Decides whether the response is stored once it is complete. Called on the loop's thread.
  ///
  /// - Parameters:
  ///   - head: The head of the engine's response to the request that was sent.
  ///   - isStorable: Whether the task accepts the body, and the server has proved that it knows the password in the request's
  ///     credential.
  ///   - urlRequest: The task's current request.
  func receive(_ head: ResponseHead, isStorable: Bool, to urlRequest: () -> URLRequest, of client: EngineClient) {
    let isReusable = isStorable && head.fields.mayAllowReuse
    let storable = state.withLock { state -> SentRequest? in
      // Reads single properties, because a copy of the sent request would be retained for each response.
      guard let storedCount = state.sent?.storedCount, let method = state.sent?.method else { return nil }
      let mayBeStored =
        switch method {
        case .get: true
        case .post: isReusable && head.isLocated
        // The cache stores no responses to HEAD.
        case .head: false
        }
      guard isStorable, mayBeStored else {
        state.sent = nil
        return nil
      }
      // A concurrent request may have stored a response, which this one outdates.
      guard
        isReusable || collectsForDecision || state.sent?.acceptsAnyAge == true || stores.storedCount != storedCount
      else {
        state.sent?.isUndecided = true
        return nil
      }
      return state.sent
    }
    guard let sent = storable else { return }
    let isNeeded =
      isReusable || collectsForDecision || sent.acceptsAnyAge
      || stores.mayHaveResponses(of: sent.request.uri.cacheKey)
    let incoming =
      isNeeded ? incoming(head, to: sent, from: urlRequest(), client, isDecidedLater: collectsForDecision) : nil
    state.withLock { state in
      // The task may have discarded the body in the meantime.
      guard state.sent != nil else { return }
      state.incoming = incoming
      state.sent?.isUndecided = incoming == nil
    }
  }

  /// Returns the response in the form in which the cache stores it when its body is complete, or nil if it won't be stored. `body`
  /// is the part of the body that has already arrived.
  private func incoming(
    _ head: ResponseHead, _ body: Data = Data(), to sent: SentRequest, from urlRequest: URLRequest,
    _ client: EngineClient, isDecidedLater: Bool
  ) -> PassedResponse? {
    guard let url = urlRequest.url else { return nil }
    let request = cacheRequest(sent.request, sent.policy, sent.digest, from: urlRequest, client)
    let response = session.responseToStore(
      head, to: request, ExchangeTimes(request: sent.time, response: stores.now), isWanted: true,
      isDecidedLater: isDecidedLater, byteCountMax: storedBytesMax)
    return response.map { response in
      PassedResponse(
        response, to: request, at: url, session, byteCountMax: storedBytesMax,
        invalidationCount: sent.invalidationCount, prefix: body)
    }
  }

  /// The maximum size, in bytes, of a response body that this object collects.
  private var storedBytesMax: Int { session.storedBytesMax(isStreamed: isStreamed) }

  /// Collects a piece of a body that will be stored. Called on the loop's thread.
  func receive(body bytes: borrowing Span<UInt8>) {
    guard let incoming = state.withLock({ $0.incoming }), !incoming.append(bytes) else { return }
    stopCollecting(incoming)
  }

  /// Stops storing a response. Discards the rest of its body if the task doesn't accept it.
  private func stopCollecting(_ incoming: PassedResponse) {
    let discarding = state.withLock { state -> ExchangeHandle? in
      guard state.incoming === incoming else { return nil }
      state.incoming = nil
      return state.discarding.take()
    }
    discarding?.discardBody()
  }

  /// Discards the rest of the body, which the task doesn't accept, and doesn't store the response. A redirect with a short body is
  /// an exception: its body is read for up to `PassedResponse.unwantedMillisecondsMax`, so that the redirect can be stored.
  func discardBody(of handle: ExchangeHandle) {
    let (kept, released) = state.withLock { state -> (PassedResponse?, SentRequest?) in
      guard let incoming = state.incoming, state.sent?.readsUnwantedBodies == true, incoming.continuesUnwanted() else {
        state.incoming = nil
        // `receive` may be about to collect the body, of which a part is missing then. Without `sent`, it doesn't.
        return (nil, state.sent.take())
      }
      state.discarding = handle
      return (incoming, nil)
    }
    withExtendedLifetime(released) {}
    guard let kept else { return handle.discardBody() }
    let limit = DispatchTimeInterval.milliseconds(PassedResponse.unwantedMillisecondsMax)
    DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self, weak kept] in
      if let self, let kept { self.stopCollecting(kept) }
    }
  }

  /// Called when the response of the engine has ended. Keeps a complete response until the task's delegate has decided whether to
  /// store it, or stores a redirect whose body the task didn't accept. Called on the loop's thread.
  func responseEnded(isComplete: Bool) {
    let incoming = state.withLock { state in
      state.discarding = nil
      return state.incoming.take()
    }
    guard let incoming, isComplete else { return }
    let storable = incoming.complete()
    if incoming.isWanted { keep(storable) } else { storable.store(storable.proposed) }
  }

  /// Returns the task's latest response, with this head and this body, in the form in which the cache stores it, although only the
  /// decision of the task's delegate makes it reusable. Returns nil if the cache can't store it.
  func undecided(
    _ head: HTTPURLResponse, _ body: Data, of urlRequest: URLRequest, _ client: EngineClient
  ) -> StorableResponse? {
    guard let sent = state.withLock({ $0.sent.take() }), sent.isUndecided, body.count <= storedBytesMax else {
      return nil
    }
    let head = ResponseHead(
      status: head.statusCode, fields: head.fields, isContentDecoded: head.isContentDecoded)
    return incoming(head, body, to: sent, from: urlRequest, client, isDecidedLater: true)?.complete()
  }
}

extension ResponseHead {
  /// Whether the response names a URI of which it is the representation.
  fileprivate var isLocated: Bool { fields.contains("Content-Location") }
}
