// CacheExchange: one request of a task, which its session's cache answers or sends to the engine.

import Foundation
import LupineCache
import LupineCacheStore
import LupineEngine
import Synchronization

/// Answers a GET or HEAD request of a task from the session's cache, or sends it to the origin. The task uses this object like an
/// exchange of the engine.
///
/// A `CacheMachine` makes all decisions. This class performs its actions: it reads the stored responses, submits requests, collects
/// the bodies to store, and delivers stored bodies within the task's receive window. A `CacheExchange` without a receiver
/// revalidates a stored response in the background.
final class CacheExchange: ResponseSink, Identifiable, Sendable {
  enum Phase {
    /// The exchange is looking for stored responses in memory and on disk, is about to send the request, or waits because the
    /// response to another request may answer this one too.
    case deciding
    case forwarding(NetworkExchange)
    case serving(ServedBody)
    case ended
  }

  struct State: ~Copyable {
    var machine: CacheMachine
    /// The stored responses that the latest lookup has found. The machine's indexes refer to them.
    var found: [FoundResponse] = []
    var phase = Phase.deciding
    var isPaused = false
    /// The receive window: the number of body bytes that the receiver can currently accept. `Int.max` means no limit.
    var window: Int
    /// The number of times that the request has been sent to the origin.
    var attemptCount = 0
    /// Notifies the other requests that wait for the response to this one. Nil if no request can wait for it.
    var lead: Lead?
    /// The time limit of the lookup in files, of the wait for another request, of reading a stored beginning, or of an unwanted
    /// body.
    var deadline: Deadline?

    /// The stored part of the representation that the request will complete, while the exchange is about to send it. Otherwise nil.
    var completed: FoundResponse.Body? {
      guard case .deciding = phase else { return nil }
      return machine.forwarding?.completed.map { found[$0].body }
    }

    /// The attempt to send the request that is in progress. Nil if there is none.
    var network: NetworkExchange? {
      get { if case .forwarding(let network) = phase { network } else { nil } }
      set { if case .forwarding = phase, let newValue { phase = .forwarding(newValue) } }
    }

    /// The stored body that is being delivered: a whole body, or the beginning of one whose rest the origin sends.
    var served: ServedBody? {
      get { if case .serving(let served) = phase { served } else { network?.beginning } }
      set {
        if case .serving = phase, let newValue { phase = .serving(newValue) } else { network?.beginning = newValue }
      }
    }

    var hasEnded: Bool { if case .ended = phase { true } else { false } }
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
  /// Whether this request may wait for the response to another request for the same URI, and other requests may wait for the
  /// response to this one (request collapsing).
  let isCollapsible: Bool

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
    // Digest credentials are valid for only one request, so a stored response can't be revalidated by a second request.
    let machine = CacheMachine(
      request, SessionCache.hasDigestProof(engineRequest.fields) ? .beforeServing : .inBackground, mayWait: !isStreamed)
    isCollapsible = machine.isCollapsible && !isStreamed
    state = Mutex(State(machine: machine, window: windowBytes))
  }

  var stores: CacheStores { cache.stores }

  /// The request's own limit for waiting for the response to another request: its time limit for the first byte of a response, or
  /// else 20 seconds. The session's `waitMax` also applies.
  var waitMax: Duration { engineRequest.timeouts.firstByte ?? SessionCache.waitMax }

  // MARK: Deciding

  /// Serves a stored response or sends the request to the origin, as the machine decides. Looks for stored responses in memory
  /// first, then in files.
  func decide() { decide(by: stores.foundInMemory(key)) { $0.foundInMemory($1, now: $2) } }

  /// Passes the stored responses that a lookup has found to the machine, and performs its action.
  private func decide(
    by found: [FoundResponse], _ event: (inout CacheMachine, [StoredResponse], _ now: Int64) -> CacheMachine.Action?
  ) {
    perform { state in
      guard let action = event(&state.machine, found.map(\.response), stores.now) else { return nil }
      state.found = found
      return action
    }
  }

  /// Passes an event to the machine, unless the exchange has ended, and performs the machine's action. `metrics` are those of a
  /// preceding request to the origin, or nil if no request was sent.
  func perform(_ metrics: ExchangeMetrics? = nil, _ event: (inout State) -> CacheMachine.Action?) {
    let performed = state.withLock {
      state -> (CacheMachine.Action, [FoundResponse], released: ([FoundResponse], Deadline?))? in
      let old = state.found
      guard !state.hasEnded, let action = event(&state) else { return nil }
      state.phase = .deciding
      // Only the file of a response that is served now stays open.
      defer { state.found = state.found.map(\.closed) }
      return (action, state.found, (old, state.deadline.take()))
    }
    // The responses of an earlier lookup, which can own objects of the program, and the limit of the step that has ended are
    // released outside the lock.
    guard let (action, found, _) = performed else { return }
    perform(action, found, metrics)
  }

  // Not inlined, because each use of the method above would contain a copy.
  @inline(never)
  private func perform(_ action: CacheMachine.Action, _ found: [FoundResponse], _ metrics: ExchangeMetrics?) {
    switch action {
    case .lookUp(let isLimited): return lookUp(isLimited)
    case .send(_, let mayWait): mayWait ? cache.join(self) : forward()
    case .serve(let served): serve(served, found, metrics)
    case .fail: fail(URLError(notCached: url))
    case .abort:
      stores.removeAll(for: key)
      end(.failure(.interruption(at: request.uri.origin)), metrics ?? localMetrics, .failed)
    // The request's Cache-Control has only-if-cached (RFC 9111 §5.2.1.7).
    case .timeOut:
      deliver(ResponseHead(status: 504, fields: ["Content-Length": "0"], isContentDecoded: false), .data(Data()), nil)
    }
  }

  /// Looks for stored responses in files.
  private func lookUp(_ isLimited: Bool) {
    guard stores.mayHaveFiles(of: key) else { return decideWithoutFiles() }
    if isLimited { setDeadline(.milliseconds(SessionCache.lookupMillisecondsMax)) { $0.decideWithoutFiles() } }
    stores.onQueue {
      self.decide(by: self.stores.found(self.key)) { $0.found($1, now: $2) }
    }
  }

  private func decideWithoutFiles() { perform { $0.machine.decideWithoutFiles(now: stores.now) } }

  /// Sends the request to the origin without conditional fields, as if no response were stored. Called if the chosen stored
  /// response can't be read.
  func decideWithoutStored() { perform { $0.machine.decideWithoutStored(now: stores.now) } }

  /// Stops waiting for the response to another request after a time limit.
  func limitWait(_ limit: Duration) {
    setDeadline(limit) { exchange in
      if exchange.cache.leave(exchange) { exchange.endWaiting() }
    } unless: {
      // The wait has ended, or this request is sent in the leader's place: a later step may have set its own limit.
      !$0.machine.mayBeWaiting || $0.lead != nil
    }
  }

  /// Calls `passed` after a time limit, unless the step that it limits has ended before, or `hasEnded` returns true now.
  private func setDeadline(
    _ limit: Duration, _ passed: @escaping @Sendable (CacheExchange) -> Void,
    unless hasEnded: (borrowing State) -> Bool = { _ in false }
  ) {
    let deadline = Deadline(after: limit) { [weak self] in
      if let self { passed(self) }
    }
    // The previous limit is released outside the lock.
    let old = state.withLock { state -> Deadline? in
      guard !hasEnded(state) else { return nil }
      return exchange(&state.deadline, with: deadline)
    }
    withExtendedLifetime(old) {}
  }

  /// Starts a request in the background that revalidates a stale stored response, while the stale response is served.
  func revalidate(_ forwarding: Forwarding, _ found: [FoundResponse]) {
    var engineRequest = engineRequest
    engineRequest.method = "GET"
    let limit = SessionCache.revalidationTimeMax
    engineRequest.timeouts.total = min(engineRequest.timeouts.total ?? limit, limit)
    let exchange = CacheExchange(
      request.independent, engineRequest, url: url, cache: cache, upstream: upstream, windowBytes: .max,
      isStreamed: false, receiver: nil)
    guard let lead = cache.begin(exchange) else { return }
    exchange.state.withLock { state in
      state.found = found.map(\.closed)
      state.machine.revalidate(forwarding, stored: found.map(\.response))
    }
    exchange.lead(lead)
  }

  /// Ends the exchange with an error, without a response.
  private func fail(_ error: URLError) {
    guard let lead = takeEnd() else { return }
    lead?.end(.failed)
    receiver?.fail(error)
  }

  /// Ends the exchange. Returns the object that must notify the waiting requests, if any, or nil if the exchange has already ended.
  func takeEnd() -> Lead?? {
    state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.phase = .ended
      return .some(state.lead.take())
    }
  }

  // MARK: Waiting for another request

  /// Sends the request to the origin. From now on, other requests may wait for the response, and `lead` notifies them.
  func lead(_ lead: Lead) {
    let isOpen = state.withLock { state in
      guard case .deciding = state.phase, state.machine.forwarding != nil else { return false }
      state.lead = lead
      return true
    }
    if isOpen { forward() } else { lead.end(.canceled) }
  }

  /// Looks for stored responses again. Called when this request stops waiting for the response to another request, because that
  /// request has ended or because the response can't answer this one.
  func endWaiting() {
    let isOpen = state.withLock { state in
      guard case .deciding = state.phase else { return false }
      return state.machine.stopWaiting()
    }
    if isOpen { decide() }
  }

  // MARK: Commands of the transfer

  func cancel() {
    enum Command { case end(Lead?), cancel(ExchangeHandle?), none }
    let command = state.withLock { state -> Command in
      switch state.phase {
      case .deciding, .serving:
        state.phase = .ended
        return .end(state.lead.take())
      case .forwarding(let network):
        state.network?.stop(.canceled)
        return .cancel(network.handle)
      case .ended: return .none
      }
    }
    switch command {
    case .end(let lead):
      _ = cache.leave(self)
      lead?.end(.canceled)
      receiver?.finish(
        .failure(EngineError(.cancelled, .setup, request.uri.origin)), localMetrics)
    case .cancel(let handle): handle?.cancel()
    case .none: break
    }
  }

  func setPaused(_ isPaused: Bool) {
    let (handle, lead) = state.withLock { state -> (ExchangeHandle?, Lead?) in
      state.isPaused = isPaused
      return state.network.map { ($0.handle, state.lead) } ?? (nil, nil)
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
      case .deciding, .ended: return .none
      case .forwarding(let network):
        guard readsUnwantedBodies, state.network?.continuesUnwanted() == true else {
          return .stop(state.stopStoring(isWanted: false))
        }
        return .limitTime(attempt: network.attempt)
      case .serving:
        state.served?.body = .data(Data())
        return .none
      }
    }
    switch command {
    case .none: break
    case .stop(let stopped): stopped.complete()
    case .limitTime(let attempt):
      setDeadline(.milliseconds(PassedResponse.unwantedMillisecondsMax)) { $0.stopReading(attempt) }
    }
    advance()
  }

  /// Stops reading and storing a redirect whose body hasn't been received completely within `unwantedMillisecondsMax`. `attempt` is
  /// the number of the attempt to which the redirect responded.
  private func stopReading(_ attempt: Int) {
    let stopped = state.withLock { state -> StoppedStoring? in
      state.network?.attempt == attempt ? state.stopStoring(isWanted: false) : nil
    }
    stopped?.complete()
  }

  func extendWindow(by byteCount: Int) {
    let handle = state.withLock { state -> ExchangeHandle? in
      if state.window != .max { state.window += byteCount }
      // The origin's body has no window before the stored beginning has been delivered.
      return state.network?.beginning == nil ? state.network?.extendWindow(by: byteCount) : nil
    }
    handle?.extendWindow(by: byteCount)
    advance()
  }

  // MARK: Sending

  /// Sends the request to the origin. If it completes a stored part, opens or reads the part's file first. If that takes as long as
  /// a lookup may take, the request is sent as if no response were stored.
  func forward() {
    switch state.withLock({ $0.completed }) {
    case nil: submit()
    case .memory(let id, let content)?:
      stores.memory.use(id)
      submit(after: .data(content.data))
    case .file(let id, _)?:
      setDeadline(.milliseconds(SessionCache.lookupMillisecondsMax)) { $0.decideWithoutBeginning() }
      stores.onQueueNow {
        let beginning = self.stores.open(id, nil).flatMap { self.body(of: $0) }
        if let beginning { self.submit(after: beginning) } else { self.decideWithoutBeginning() }
      }
    }
  }

  /// Sends the request to the origin as if no response were stored, unless it has been sent, or has ended, in the meantime.
  private func decideWithoutBeginning() {
    perform { $0.completed == nil ? nil : $0.machine.decideWithoutStored(now: stores.now) }
  }

  /// Submits the request to the engine. The request has conditional fields, such as If-None-Match, if it validates a stored
  /// response. `beginning` is the body of the stored part that the request completes, or nil if it completes none.
  private func submit(after beginning: ServedBody.Body? = nil) {
    let submission = state.withLock { state -> (fields: Fields, attempt: Int, window: Int, deadline: Deadline?)? in
      // A beginning that was read too late isn't used.
      guard case .deciding = state.phase, (state.completed == nil) == (beginning == nil) else { return nil }
      let selected = state.machine.forwarding?.selected
      guard let fields = state.machine.sent(now: stores.now) else { return nil }
      state.attemptCount += 1
      state.phase = .forwarding(
        NetworkExchange(
          attempt: state.attemptCount, validated: selected.map { state.found[$0] },
          invalidationCount: stores.invalidations.count,
          beginning: beginning.map { ServedBody(body: $0, metrics: nil) }))
      // The limit of reading the beginning is released outside the lock.
      return (fields, state.attemptCount, beginning == nil ? state.window : 0, state.deadline.take())
    }
    guard let submission else { return }
    var request = engineRequest
    request.fields = submission.fields
    do throws(URLError) {
      keep(try upstream.submit(request, to: self, windowBytes: submission.window), of: submission.attempt)
    } catch {
      fail(error)
    }
  }

  /// Returns the body in a file: its bytes if the exchange may keep that many in memory, and otherwise the file, which is read
  /// block by block. Returns nil if the file is damaged. Called on the queue of the cache's files.
  private func body(of file: RecordReader) -> ServedBody.Body? {
    let byteCount = file.response.bodyByteCount
    guard byteCount <= storedBytesMax else { return .file(file, 0..<byteCount) }
    return stores.contents(of: file).map { .data($0) }
  }

  /// Stores the engine's handle for the request, unless the request has already ended, and passes on the commands, such as a pause
  /// or a cancellation, that were given before the handle was stored.
  private func keep(_ handle: ExchangeHandle, of attempt: Int) {
    var isPaused = false
    while let step = state.withLock({ $0.keep(handle, of: attempt, isPaused: isPaused) }) {
      switch step {
      case .setPaused(let isNowPaused):
        isPaused = isNowPaused
        if isPaused { handle.pause() } else { handle.resume() }
      case .stored(let network):
        switch network.use {
        case .canceled, .interrupted: handle.cancel()
        case .discarded: handle.discardBody()
        case .receiving:
          if network.ungrantedByteCount > 0 { handle.extendWindow(by: network.ungrantedByteCount) }
        }
        return
      }
    }
  }

  /// The metrics of a response without a request to the origin.
  var localMetrics: ExchangeMetrics {
    ExchangeMetrics(cachedResponseRequestedAt: start, servedAt: .now, bodyBytes: 0)
  }

  /// The maximum size, in bytes, of a response body that the exchange stores.
  var storedBytesMax: Int { cache.storedBytesMax(isStreamed: isStreamed) }
}
