// SessionCache: connects a session with its URLCache: the session's partition, the requests in flight, and invalidation.

import Foundation
import LupineCache
import LupineEngine
import Synchronization

/// Connects one session with its `URLCache`. A response that was requested with credentials, or that sets cookies, is served only
/// in the session that received it. So is a response that depends on the session's own trust in servers, or on its own route.
final class SessionCache: Sendable {
  /// The maximum time for which a request waits for the response to another request: 20 s, as in Chrome. Afterward, the waiting
  /// request is sent too.
  static let waitMax = Duration.seconds(20)

  /// The maximum size, in bytes, of a body that is stored while the task receives it piece by piece, within a receive window: 1
  /// MiB. Such a task limits how much of the body is in memory, so the cache must not collect all of a long body in memory.
  static let streamedBytesMax = 1 << 20

  /// The maximum duration of a revalidation in the background: one minute. No task can cancel the revalidation, so without this
  /// limit, a server that sends the body very slowly could keep it running forever.
  static let revalidationTimeMax = Duration.seconds(60)

  /// The maximum time, in milliseconds, for looking up stored responses in files, and then for reading the stored beginning that
  /// the request completes: 5,000 each. If it takes longer, for example because a network share stalls, the request is sent to the
  /// origin as if no response were stored in files.
  static let lookupMillisecondsMax = 5_000

  private static let sessionCount = Atomic(0)

  let stores: CacheStores
  /// The name of the session, unique in the process. It is part of the names of the cache partitions that only this session uses.
  /// Responses in these partitions are never written to files.
  let name: String
  /// The name under which the session's requests without credentials are known to the cache.
  private let anonymousUser: String
  let waitMax: Duration
  /// Whether the session shares no responses with other users of the cache.
  private let isIsolated: Atomic<Bool>
  /// Returns whether the session itself may decide about the trust in a host's servers. Nil until `isolateHosts` is called.
  private let decidesOnHost = Mutex<(@Sendable (String) -> Bool)?>(nil)
  /// Whether `decidesOnHost` isn't nil. Read without the lock.
  private let decidesOnHosts = Atomic(false)
  private let flights = Mutex(FlightTable<CacheExchange>())

  /// Creates the object through which a session uses its cache's stores. If `isIsolated` is true, the session shares no responses
  /// with other users of the cache.
  init(_ stores: CacheStores, waitMax: Duration = SessionCache.waitMax, isIsolated: Bool = false) {
    self.stores = stores
    self.waitMax = waitMax
    self.isIsolated = Atomic(isIsolated)
    name = "session \(Self.sessionCount.add(1, ordering: .relaxed).newValue)"
    anonymousUser = Self.user(name, [nil, nil, nil], [])
  }

  /// The maximum size, in bytes, of a response body that the session stores. `isStreamed` is true for a body that the task's user
  /// reads piece by piece.
  func storedBytesMax(isStreamed: Bool) -> Int {
    min(stores.responseBytesMax, isStreamed ? Self.streamedBytesMax : .max)
  }

  // MARK: Sharing

  /// From now on, shares no responses with other users of the cache. Called when the session's delegate has decided about the trust
  /// in a server, before a response of that server arrives. The delegate can't be asked about the server of a stored response.
  func isolate() { isIsolated.store(true, ordering: .releasing) }

  /// Shares no responses for https URLs of the hosts for which `decides` returns true. Called before the session's first request.
  func isolateHosts(where decides: @escaping @Sendable (String) -> Bool) {
    decidesOnHost.withLock { $0 = decides }
    decidesOnHosts.store(true, ordering: .releasing)
  }

  private func isolates(_ uri: URI) -> Bool {
    if isIsolated.load(ordering: .acquiring) { return true }
    guard decidesOnHosts.load(ordering: .acquiring), uri.origin.scheme == .https else { return false }
    return decidesOnHost.withLock { $0 }?(uri.origin.host) ?? false
  }

  /// Returns the request as it counts for its response: isolated, if the session's delegate has decided about the server's trust
  /// since the request was created. Called when the response's head has arrived.
  func received(_ request: CacheRequest) -> CacheRequest {
    guard !request.isIsolated, isolates(request.uri) else { return request }
    var isolated = request
    isolated.isIsolated = true
    return isolated
  }

  // MARK: Requests

  /// Converts a request to the form that the cache's decisions use.
  ///
  /// - Parameters:
  ///   - request: The request with all fields that the engine sends, including cookies and credentials.
  ///   - policy: The cache policy that the caller has set.
  ///   - ownCookie: The Cookie field that the caller has set, or nil.
  ///   - digest: The number of the session's Digest authentication whose proof is in the Authorization field. Nil if the session
  ///     hasn't computed the proof.
  ///   - identity: The client certificate in the session's settings, or nil.
  ///   - secretFields: The names of the fields that the caller declares secret (`RedirectRule.secretFields`).
  func request(
    _ request: EngineRequest, policy: URLRequest.CachePolicy, ownCookie: String?, digest: UInt64? = nil,
    identity: TLSIdentity?, secretFields: Set<String> = []
  ) -> CacheRequest {
    // Read once, because each access to these properties has a price.
    let (uri, fields) = (request.uri, request.fields)
    // A program can act for several users in one session, so each set of credentials has its own partition.
    // A proof in Digest credentials changes with each request. Its authentication, which has one realm, user name and password,
    // doesn't, so its number takes the place of the proof. The cache can't verify a proof that the program has computed, so that
    // value counts as a whole, and only requests with the same value share responses. No field value contains NUL.
    let authorization = digest.map { "Digest\0\($0)" } ?? fields.first("Authorization")
    let certificate = self.identity(of: request, at: uri, identity).map {
      Data($0.certificateDER).base64EncodedString()
    }
    let secrets =
      secretFields.isEmpty
      ? [] : secretFields.sorted().flatMap { name in fields.all(name).map { "\(name): \($0)" } }
    // Most requests have no credentials, so that nothing needs to be joined.
    let isAnonymous = authorization == nil && ownCookie == nil && certificate == nil && secrets.isEmpty
    let user = isAnonymous ? anonymousUser : Self.user(name, [authorization, ownCookie, certificate], secrets)
    var cached = CacheRequest(method: request.method, uri: uri, fields: fields, session: user)
    if !request.body.isEmpty { cached.content = .present }
    cached.policy = CachePolicy(policy)
    cached.isIsolated = isolates(uri)
    if certificate != nil || !secrets.isEmpty { cached.otherCredentials = .presented }
    return cached
  }

  private static func user(_ session: String, _ credentials: [String?], _ secrets: [String]) -> String {
    ([session] + credentials.map { $0 ?? "" } + secrets).joined(separator: "\n")
  }

  /// Returns the client certificate that the request's connection may present: the one chosen for the request's origin, or else the
  /// one in the request's TLS settings, or else the session's certificate, `identity`. Returns nil if there is none.
  private func identity(of request: EngineRequest, at uri: URI, _ identity: TLSIdentity?) -> TLSIdentity? {
    if let choice = request.identityChoice { return choice.identity }
    guard uri.origin.scheme == .https, request.presentsIdentity else { return nil }
    return request.connection?.tls.map(\.identity) ?? identity
  }

  /// Returns the response, among those stored in memory, that may be served for the request without validation, or nil if there is
  /// none.
  func response(to request: CacheRequest, amongStored found: [FoundResponse]) -> (ResponseHead, Data)? {
    guard !found.isEmpty,
      case .serve(let hit) = CacheDecision(request, stored: found.map(\.response), now: stores.now),
      case .memory(let id, let cached) = found[hit.index].body
    else { return nil }
    stores.memory.use(id)
    return (hit.response.head(of: found[hit.index].response), cached.data.part(hit.response.body))
  }

  /// Returns whether the fields contain Digest credentials, which are valid for only one request.
  static func hasDigestProof(_ fields: Fields) -> Bool {
    fields.first("Authorization")?.prefix(7).lowercased() == "digest "
  }

  /// Decides whether a response that is passed on to a task will be stored, and returns the metadata with which it will be stored,
  /// or nil. If it won't be stored, removes the stored responses that it outdates.
  ///
  /// - Parameters:
  ///   - isWanted: Whether the body is read, so that it can be stored.
  ///   - isDecidedLater: Whether the task's delegate decides about the complete response. Its decision may make the response
  ///     reusable.
  ///   - byteCountMax: The maximum size, in bytes, of a body that is stored.
  func responseToStore(
    _ head: ResponseHead, to request: CacheRequest, _ times: ExchangeTimes, isWanted: Bool, isDecidedLater: Bool,
    byteCountMax: Int
  ) -> StoredResponse? {
    let decision = StoreDecision(
      request, status: head.status, fields: head.fields, times: times,
      bodyForm: head.isContentDecoded ? .decoded : .received, storesParts: true)
    if case .store(let response) = decision, isWanted, response.isWorthStoring {
      let isUseful = isDecidedLater && !response.isRedirect || response.isReusable(under: request.policy)
      if isUseful, head.fields.announcedByteCount <= byteCountMax { return response }
      removeOutdated(by: response, to: request)
    } else if decision.outdatesStored(status: head.status), stores.mayHaveResponses(of: request.uri.cacheKey) {
      stores.removeOutdated(byResponseTo: request)
    }
    return nil
  }

  /// Removes the stored responses that `response` has made outdated. Called if `response` itself won't be stored.
  func removeOutdated(by response: StoredResponse, to request: CacheRequest) {
    if stores.mayHaveResponses(of: request.uri.cacheKey) { stores.removeOutdated(by: response, to: request) }
  }

  /// Removes the stored responses that a response to an unsafe method invalidates (RFC 9111 §4.4), in all partitions. Responses to
  /// requests for these URIs that are in flight won't be stored. Returns the invalidation of the request's own URI, or nil if there
  /// is none.
  @discardableResult
  func invalidate(after head: ResponseHead, to request: EngineRequest) -> InvalidationLog.Entry? {
    guard !Invalidation.isSafe(request.method) else { return nil }
    let targets = Invalidation.targets(
      of: CacheRequest(method: request.method, uri: request.uri, fields: request.fields, session: name),
      status: head.status, fields: head.fields)
    // The request's own URI is the first.
    return targets.map { target in stores.invalidate(target.cacheKey) }.first
  }

  // MARK: Requests in flight

  /// The number of requests that wait for the response to another request.
  var waiterCount: Int { flights.withLock { $0.waiterCount } }

  /// Sends the request of `exchange`, or lets it wait for the response to another request for the same URI that has already been
  /// sent.
  func join(_ exchange: CacheExchange) {
    switch flights.withLock({ $0.join(exchange.key, exchange) }) {
    case .leads: exchange.lead(Lead(self, exchange.key, exchange.id))
    case .goesAlone: exchange.forward()
    case .waits: exchange.limitWait(min(waitMax, exchange.waitMax))
    }
  }

  /// Remembers whether the latest response for the URI can answer several requests. If it can't, later requests for the URI don't
  /// wait for each other.
  func note(_ key: CacheKey, isShared: Bool) { flights.withLock { $0.note(key, isShared: isShared) } }

  /// Lets later requests for the URI wait for the response to a background revalidation, which the caller is about to send with
  /// `exchange`. Returns the object that notifies those requests, or nil if another request for the URI is already in flight.
  func begin(_ exchange: CacheExchange) -> Lead? {
    flights.withLock { $0.begin(exchange.key, exchange.id) } ? Lead(self, exchange.key, exchange.id) : nil
  }

  /// Removes the exchange from the exchanges that wait for the response to another request. Returns false if it isn't one of them.
  func leave(_ exchange: CacheExchange) -> Bool { flights.withLock { $0.leave(exchange.key, exchange.id) } }

  fileprivate func announce(
    _ key: CacheKey, of leader: UInt64, isServed: @escaping @Sendable (CacheExchange) -> Bool
  ) {
    let released = flights.withLock { $0.announce(key, of: leader, isServed: isServed) }
    for exchange in released { exchange.endWaiting() }
  }

  fileprivate func end(_ key: CacheKey, of leader: UInt64, _ outcome: FlightTable<CacheExchange>.Outcome) {
    let changes = flights.withLock { $0.end(key, of: leader, outcome) }
    for exchange in changes.released { exchange.endWaiting() }
    if let promoted = changes.promoted { promoted.lead(Lead(self, key, promoted.id)) }
  }
}

/// Notifies the requests that wait for the response to another request, the leader. If `end` is never called, these requests
/// stop waiting when this object is deinitialized.
final class Lead: Sendable {
  private let cache: SessionCache
  private let key: CacheKey
  private let leader: UInt64
  private let isOver = Atomic(false)

  init(_ cache: SessionCache, _ key: CacheKey, _ leader: UInt64) {
    self.cache = cache
    self.key = key
    self.leader = leader
  }

  deinit { end(.failed) }

  /// Called when the leader has received the head of its response. Sends the waiting requests that this response can't answer. From
  /// then on, a request waits only if the response can answer it.
  func announce(_ response: StoredResponse, now: Int64) {
    cache.announce(key, of: leader) { waiter in waiter.request.isServed(by: response, now: now) }
  }

  /// Notifies the waiting requests that the leader's request has ended with this outcome. Only the first call has an effect.
  func end(_ outcome: FlightTable<CacheExchange>.Outcome) {
    guard !isOver.exchange(true, ordering: .relaxed) else { return }
    cache.end(key, of: leader, outcome)
  }
}

extension CacheRequest {
  /// Returns whether the cache may answer this request with the stored response without asking the origin.
  func isServed(by response: StoredResponse, now: Int64) -> Bool {
    if case .serve = CacheDecision(self, stored: [response], now: now) { true } else { false }
  }
}

extension CachePolicy {
  /// Converts the cache policy of a URLRequest to the policy for this cache. Caches between client and origin get the policy from
  /// the request's Cache-Control field.
  init(_ policy: URLRequest.CachePolicy) {
    self =
      switch policy {
      case .useProtocolCachePolicy: .automatic
      case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: .reload
      case .returnCacheDataElseLoad: .storedElseLoad
      case .returnCacheDataDontLoad: .storedOnly
      case .reloadRevalidatingCacheData: .validate
      }
  }
}
