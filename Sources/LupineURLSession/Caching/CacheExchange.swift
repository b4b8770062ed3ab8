// CacheExchange: one request of a task, which its session's cache answers or sends to the engine.

import Foundation
import LupineCache
import LupineEngine
import Synchronization

/// Answers a GET or HEAD request of a task from the session's cache, or sends it to the origin. The task uses this object like an
/// exchange of the engine.
///
/// `CacheDecision`, `StoreDecision` and `ForwardingOutcome` make all decisions, without side effects. This class acts on the
/// decisions: it reads the stored responses, submits requests, collects the bodies to store, and delivers stored bodies within the
/// task's receive window. A `CacheExchange` without a receiver revalidates a stored response in the background.
final class CacheExchange: ResponseSink, Identifiable, Sendable {
  enum Phase {
    /// The exchange is looking for stored responses in memory and on disk.
    case deciding
    /// The exchange is about to send the request, or waits because the response to another request may answer this one too.
    case waiting(Forwarding, [FoundResponse])
    case forwarding(NetworkExchange)
    case serving(ServedBody)
    case ended
  }

  struct State {
    var phase = Phase.deciding
    var isPaused = false
    /// The receive window: the number of body bytes that the receiver can currently accept. `Int.max` means no limit.
    var window: Int
    /// The number of the lookup on disk that is in progress, or nil if there is none.
    var lookup: Int?
    var lookupCount = 0
    /// Whether the request has already waited for the response to another request. If true, the request won't wait again.
    var hasWaited = false
    /// The number of times that the request has been sent to the origin.
    var attemptCount = 0
    /// Notifies the other requests that wait for the response to this one. Nil if no request can wait for it.
    var lead: Lead?
  }

  private static let count = Atomic<UInt64>(0)

  let id = CacheExchange.count.add(1, ordering: .relaxed).newValue
  /// The key under which responses to the request are stored and found.
  let key: CacheKey
  let request: CacheRequest
  let cache: SessionCache
  /// The object that receives the response, usually a task's `Transfer`. Nil for a revalidation in the background.
  let receiver: (any CacheReceiver)?
  let url: URL?
  let start = Instant.now
  let state: Mutex<State>
  let engineRequest: EngineRequest
  private let upstream: any CacheUpstream
  /// Whether the exchange can read a body that the receiver doesn't accept. The receiver doesn't extend the receive window for such
  /// a body, so the window must be large enough for all of it.
  private let readsUnwantedBodies: Bool
  /// Whether the receiver's user reads the body piece by piece and may pause for any length of time. To limit the memory in use,
  /// the exchange doesn't collect such a body if it is long, and no other request waits for this exchange.
  let isStreamed: Bool

  /// - Parameters:
  ///   - request: The request in the form that the cache's decisions use.
  ///   - engineRequest: The same request in the form that the engine sends.
  ///   - url: The URL of the response.
  ///   - cache: The cache of the session.
  ///   - upstream: The session's engine, which sends the request to the origin.
  ///   - windowBytes: The initial receive window in bytes. `Int.max` means no limit.
  ///   - isStreamed: Whether the receiver's user reads the body piece by piece.
  ///   - receiver: The object that receives the response, or nil for a revalidation in the background.
  init(
    _ request: CacheRequest, _ engineRequest: EngineRequest, url: URL?, cache: SessionCache,
    upstream: any CacheUpstream,
    windowBytes: Int, isStreamed: Bool, receiver: (any CacheReceiver)?
  ) {
    self.request = request
    self.engineRequest = engineRequest
    self.url = url
    self.cache = cache
    self.upstream = upstream
    self.receiver = receiver
    key = request.uri.cacheKey
    self.isStreamed = isStreamed
    readsUnwantedBodies = !isStreamed && windowBytes > PassedResponse.unwantedBytesMax
    state = Mutex(State(window: windowBytes))
  }

  var stores: CacheStores { cache.stores }
  /// The maximum time for which this request waits for the response to another request: the request's time limit for the first byte
  /// of a response, or else 20 seconds.
  var waitMax: Duration { engineRequest.timeouts.firstByte ?? SessionCache.waitMax }

  // MARK: Deciding

  /// Serves a stored response or sends the request to the origin, as `CacheDecision` says. Looks for stored responses in memory
  /// first, then in files.
  func decide() {
    let found = stores.foundInMemory(key)
    let decision = CacheDecision(request, stored: found.map(\.response), now: stores.now)
    guard !decision.isHit, request.policy != .reload, stores.mayHaveFiles(of: key) else {
      return act(on: decision, found)
    }
    let lookup = state.withLock { state in
      state.lookupCount += 1
      state.lookup = state.lookupCount
      return state.lookupCount
    }
    stores.onQueue {
      let found = self.stores.found(self.key)
      guard self.endLookup(lookup) else { return }
      self.act(on: CacheDecision(self.request, stored: found.map(\.response), now: self.stores.now), found)
    }
    // The lookup has no time limit if only a stored response may answer the request.
    guard case .forward = decision else { return }
    let limit = DispatchTimeInterval.milliseconds(SessionCache.lookupMillisecondsMax)
    DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self] in
      if let self, self.endLookup(lookup) { self.act(on: decision, found) }
    }
  }

  /// Ends the lookup in files with this number. Returns false if the lookup has already ended.
  private func endLookup(_ number: Int) -> Bool {
    state.withLock { state in
      guard state.lookup == number else { return false }
      state.lookup = nil
      return true
    }
  }

  private func act(on decision: CacheDecision, _ found: [FoundResponse]) {
    switch decision {
    case .serve(let hit): serve(found[hit.index], hit.response)
    case .serveWhileRevalidating where SessionCache.hasDigestProof(engineRequest.fields):
      // Digest credentials are valid for only one request, so the stored response can't be revalidated by a second request in the
      // background. This request validates the response itself.
      var validated = request
      validated.policy = .validate
      act(on: CacheDecision(validated, stored: found.map(\.response), now: stores.now), found)
    case .serveWhileRevalidating(let hit, let forwarding):
      revalidate(forwarding, found)
      serve(found[hit.index], hit.response)
    case .gatewayTimeout: refuse()
    case .forward(let forwarding):
      let mayWait = state.withLock { state -> Bool? in
        guard case .deciding = state.phase else { return nil }
        state.phase = .waiting(forwarding, found)
        return !state.hasWaited
      }
      guard let mayWait else { return }
      // Without a stored response, nothing suggests that one response can answer several requests.
      if mayWait, !found.isEmpty, isCollapsible, forwarding.isCollapsible { cache.join(self) } else { forward() }
    }
  }

  /// Sends the request to the origin without conditional fields, as if no response were stored. Called if the chosen stored
  /// response can't be read.
  func decideWithoutStored() {
    state.withLock { state in
      if case .ended = state.phase { return }
      (state.phase, state.hasWaited) = (.deciding, true)
    }
    act(on: CacheDecision(request, stored: [], now: stores.now), [])
  }

  /// Ends the exchange if only a stored response may answer the request, but none is stored: with an error, or with status code 504
  /// if the request has Cache-Control: only-if-cached.
  private func refuse() {
    guard request.policy != .storedOnly else {
      let isOpen = state.withLock { state in
        guard case .deciding = state.phase else { return false }
        state.phase = .ended
        return true
      }
      if isOpen { receiver?.fail(URLError(notCached: url)) }
      return
    }
    // The request's Cache-Control has only-if-cached (RFC 9111 §5.2.1.7).
    deliver(ResponseHead(status: 504, fields: ["Content-Length": "0"], isContentDecoded: false), .data(Data()), nil)
  }

  /// Starts a request in the background that revalidates a stale stored response, while the stale response is served.
  private func revalidate(_ forwarding: Forwarding, _ found: [FoundResponse]) {
    var independent = request
    independent.method = "GET"
    for name in CacheRequest.conditionNames + ["Range"] { independent.fields.remove(name) }
    var engineRequest = engineRequest
    engineRequest.method = "GET"
    let limit = SessionCache.revalidationTimeMax
    engineRequest.timeouts.total = min(engineRequest.timeouts.total ?? limit, limit)
    let exchange = CacheExchange(
      independent, engineRequest, url: url, cache: cache, upstream: upstream, windowBytes: .max, isStreamed: false,
      receiver: nil)
    guard let lead = cache.begin(exchange) else { return }
    exchange.state.withLock { $0.phase = .waiting(forwarding, found) }
    exchange.lead(lead)
  }

  // MARK: Waiting for another request

  /// Whether this request may wait for the response to another request for the same URI, and other requests may wait for the
  /// response to this one (request collapsing).
  var isCollapsible: Bool { request.isCollapsible && !isStreamed }

  /// Sends the request to the origin. From now on, other requests may wait for the response, and `lead` notifies them.
  func lead(_ lead: Lead) {
    let isOpen = state.withLock { state in
      guard case .waiting = state.phase else { return false }
      state.lead = lead
      return true
    }
    if isOpen { forward() } else { lead.end(.canceled) }
  }

  /// Looks for stored responses again. Called when this request stops waiting for the response to another request, because that
  /// request has ended or because the response can't answer this one.
  func endWaiting() {
    let isOpen = state.withLock { state in
      guard case .waiting = state.phase else { return false }
      (state.phase, state.hasWaited) = (.deciding, true)
      return true
    }
    if isOpen { decide() }
  }

  // MARK: Commands of the transfer

  func cancel() {
    enum Command { case end(Lead?), cancel(ExchangeHandle?), none }
    let command = state.withLock { state -> Command in
      switch state.phase {
      case .deciding, .waiting, .serving:
        state.phase = .ended
        return .end(state.lead.take())
      case .forwarding(var network):
        network.isCanceled = true
        state.phase = .forwarding(network)
        return .cancel(network.handle)
      case .ended: return .none
      }
    }
    switch command {
    case .end(let lead):
      _ = cache.leave(self)
      lead?.end(.canceled)
      receiver?.finish(
        .failure(EngineError(.cancelled, .setup, request.uri.origin)),
        ExchangeMetrics(cachedResponseRequestedAt: start, servedAt: .now, bodyBytes: 0))
    case .cancel(let handle): handle?.cancel()
    case .none: break
    }
  }

  func setPaused(_ isPaused: Bool) {
    let (handle, lead) = state.withLock { state -> (ExchangeHandle?, Lead?) in
      state.isPaused = isPaused
      guard case .forwarding(let network) = state.phase else { return (nil, nil) }
      return (network.handle, state.lead)
    }
    // A pause may last indefinitely, so the requests that wait for this response stop waiting.
    if isPaused { lead?.end(.failed) }
    if isPaused { handle?.pause() } else { handle?.resume() }
    if !isPaused { advance() }
  }

  /// Discards the rest of the body and doesn't store the response. A redirect with a short body is an exception: the exchange
  /// continues to read the body for up to `unwantedMillisecondsMax`, so that the redirect can be stored.
  func discardBody() {
    enum Command { case none, limitTime(attempt: Int), stop(StoppedStoring) }
    let command = state.withLock { state -> Command in
      switch state.phase {
      case .deciding, .waiting, .ended: return .none
      case .forwarding(var network):
        guard readsUnwantedBodies, network.continuesUnwanted() else {
          return .stop(state.stopStoring(isWanted: false))
        }
        state.phase = .forwarding(network)
        return .limitTime(attempt: network.attempt)
      case .serving(var served):
        served.body = .data(Data())
        state.phase = .serving(served)
        return .none
      }
    }
    switch command {
    case .none: break
    case .stop(let stopped): stopped.complete()
    case .limitTime(let attempt):
      let limit = DispatchTimeInterval.milliseconds(PassedResponse.unwantedMillisecondsMax)
      DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self] in self?.stopReading(attempt) }
    }
    advance()
  }

  /// Stops reading and storing a redirect whose body hasn't been received completely within `unwantedMillisecondsMax`. `attempt` is
  /// the number of the attempt to which the redirect responded.
  private func stopReading(_ attempt: Int) {
    let stopped = state.withLock { state -> StoppedStoring? in
      guard case .forwarding(let network) = state.phase, network.attempt == attempt else { return nil }
      return state.stopStoring(isWanted: false)
    }
    stopped?.complete()
  }

  func extendWindow(by byteCount: Int) {
    let handle = state.withLock { state -> ExchangeHandle? in
      if state.window != .max { state.window += byteCount }
      guard case .forwarding(var network) = state.phase else { return nil }
      if network.handle == nil { network.ungrantedByteCount += byteCount }
      state.phase = .forwarding(network)
      return network.handle
    }
    handle?.extendWindow(by: byteCount)
    advance()
  }

  // MARK: Sending

  /// Submits the request to the engine. The request has conditional fields, such as If-None-Match, if it validates a stored
  /// response.
  func forward() {
    let begun = state.withLock { state -> (NetworkExchange, window: Int)? in
      guard case .waiting(let forwarding, let found) = state.phase else { return nil }
      state.attemptCount += 1
      let network = NetworkExchange(
        attempt: state.attemptCount, forwarding: forwarding, found: found, requestTime: stores.now,
        invalidationCount: stores.invalidations.count)
      state.phase = .forwarding(network)
      return (network, state.window)
    }
    guard let (network, window) = begun else { return }
    var request = engineRequest
    request.fields = network.forwarding.fields
    do throws(URLError) {
      keep(try upstream.submit(request, to: self, windowBytes: window), of: network.attempt)
    } catch {
      let lead = state.withLock { state in
        state.phase = .ended
        return state.lead.take()
      }
      lead?.end(.failed)
      receiver?.fail(error)
    }
  }

  /// Stores the engine's handle for the request, unless the request has already ended. Then passes on the commands, such as a pause
  /// or a cancellation, that were given before the handle existed.
  private func keep(_ handle: ExchangeHandle, of attempt: Int) {
    let pending = state.withLock { state -> (network: NetworkExchange, isPaused: Bool)? in
      guard case .forwarding(var network) = state.phase, network.attempt == attempt else { return nil }
      defer { state.phase = .forwarding(network) }
      network.handle = handle
      return (network, state.isPaused)
    }
    guard let (network, isPaused) = pending else { return }
    if network.isCanceled { return handle.cancel() }
    if network.isDiscarded { return handle.discardBody() }
    if isPaused { handle.pause() }
    if network.ungrantedByteCount > 0 { handle.extendWindow(by: network.ungrantedByteCount) }
  }

  /// The maximum size, in bytes, of a response body that the exchange stores.
  var storedBytesMax: Int { min(stores.responseBytesMax, isStreamed ? SessionCache.streamedBytesMax : .max) }
}

extension CacheDecision {
  /// Whether the cache serves a stored response without waiting for the origin.
  fileprivate var isHit: Bool {
    switch self {
    case .serve, .serveWhileRevalidating: true
    case .forward, .gatewayTimeout: false
    }
  }
}

extension CacheRequest {
  /// The names of the conditional request fields. A caller sets one of them to validate a response that the caller has stored
  /// itself.
  static let conditionNames = ["If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range"]

  /// Whether the request may wait for the response to another request for the same URI. True for a GET without conditional fields,
  /// Range, Cache-Control and Pragma, if its cache policy permits the cache to answer the request.
  fileprivate var isCollapsible: Bool {
    method == "GET" && (policy == .automatic || policy == .storedElseLoad)
      && !(CacheRequest.conditionNames + ["Range", "Cache-Control", "Pragma"]).contains(where: fields.contains)
  }
}

extension Forwarding {
  /// Whether the request may wait, because the response to another request could answer it. False, for example, if a stored
  /// response must be validated for each request.
  fileprivate var isCollapsible: Bool {
    switch reason {
    case .nothingStored, .noVariant, .stale: true
    case .method, .policy, .validationRequired, .requestDirective, .conditions: false
    }
  }
}
