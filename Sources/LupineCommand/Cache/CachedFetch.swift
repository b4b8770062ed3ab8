// CachedFetch: answers one request with --cache from the cache's folder, or sends it and stores the response.

import LupineCache
import LupineCacheStore
import LupineEngine
import Synchronization

/// Executes the request of a fetch with the cache. Either gives the fetch a stored response, or passes on the origin's response and
/// stores it if possible.
final class CachedFetch: ResponseSink {
  private struct State: ~Copyable {
    var machine: CacheMachine
    /// The stored responses to which the machine's indexes refer.
    var records: [RecordReader] = []
    /// Writes the origin's response to the cache, or nil if the response isn't being stored.
    var writer: RecordWriter?
    /// The record that is being written, if the response may be stored.
    var record: CombinedRecord?
    /// Whether the response must end with an error, because the origin's body or the stored part that it completes is wrong.
    var isBroken = false
  }

  private let request: EngineRequest
  private let cached: CacheRequest
  private let fetch: Fetch
  private let cache: CommandCache
  private let engine: Engine
  private let isVerbose: Bool
  private let start = Instant.now
  private let state: Mutex<State>

  init(_ request: EngineRequest, for fetch: Fetch, _ cache: CommandCache, on engine: Engine, isVerbose: Bool) {
    self.request = request
    cached = cache.request(request)
    self.fetch = fetch
    self.cache = cache
    self.engine = engine
    self.isVerbose = isVerbose
    // The command exits after the response, so it validates the stored response before serving it, instead of afterward.
    state = Mutex(State(machine: CacheMachine(cached, .beforeServing, mayWait: false)))
  }

  /// Serves a response from the cache, or sends the request.
  func run() {
    let records = cache.lookup(cached, isDecoded: request.decodesContent)
    perform { state in
      state.records = records
      return state.machine.found(records.map(\.response), now: cache.now)
    }
  }

  /// Passes an event to the machine, and performs its action. `metrics` are those of a preceding request, or nil.
  private func perform(_ metrics: ExchangeMetrics? = nil, _ event: (inout State) -> CacheMachine.Action?) {
    guard let action = state.withLock({ event(&$0) }) else { return }
    switch action {
    case .serve(let served):
      if !serve(served, metrics) { perform { $0.machine.decideWithoutStored(now: cache.now) } }
    case .send: forward(metrics)
    case .lookUp: perform { $0.machine.decideWithoutFiles(now: cache.now) }
    case .fail, .timeOut:
      report(CacheReport.unavailable)
      deliver(ResponseHead(status: 504, fields: ["Content-Length": "0"], isContentDecoded: false), nil) { true }
    case .abort:
      removeStored()
      fetch.finish(.failure(.interruption(at: request.uri.origin)), metrics ?? localMetrics)
    }
  }

  private func forward(_ metrics: ExchangeMetrics?) {
    let part = state.withLock { state in state.machine.forwarding?.completed.map { state.records[$0] } }
    if let part, !isServable(part) { return perform(metrics) { $0.machine.decideWithoutStored(now: cache.now) } }
    guard let fields = state.withLock({ $0.machine.sent(now: cache.now) }) else { return }
    var request = request
    request.fields = fields
    if isVerbose { StandardError.write(VerboseReport.request(request)) }
    fetch.submit(request, to: self, on: engine)
  }

  // MARK: ResponseSink

  func receive(informational head: ResponseHead) { fetch.receive(informational: head) }

  func receive(head: ResponseHead) -> BodyDisposition {
    let received = state.withLock { state -> (CacheMachine.Reception, Forwarding.Reason, [RecordReader])? in
      guard let reason = state.machine.forwarding?.reason,
        let reception = state.machine.received(status: head.status, head.fields, to: cached, now: cache.now)
      else { return nil }
      return (reception, reason, state.records)
    }
    switch received {
    case nil: return fetch.receive(head: head)
    case (.complete(let combination, let index, _), _, let records)?:
      report(CacheReport.completed)
      return complete(records[index], combination)
    case (.withhold(let updates, _), _, let records)?:
      cache.apply(updates, to: records)
      return .discard
    case (.passOn(let updates, let times), let reason, let records)?:
      report(CacheReport.miss(reason))
      cache.apply(updates, to: records)
      cache.invalidate(after: head, to: cached)
      let disposition = fetch.receive(head: head)
      if case .deliver = disposition { store(head, times) }
      return disposition
    }
  }

  /// Starts to write the origin's response to the cache. Does nothing if the response must not be stored, or if it belongs to one
  /// user because of credentials or cookies.
  private func store(_ head: ResponseHead, _ times: ExchangeTimes) {
    let decision = StoreDecision(
      cached, status: head.status, fields: head.fields, times: times,
      bodyForm: head.isContentDecoded ? .decoded : .received, storesParts: true)
    switch decision {
    case .refuse(let reason):
      report(CacheReport.notStored(reason))
      if decision.outdatesStored(status: head.status) {
        cache.store.removeAll(for: cached.uri.cacheKey.text) { $0.isOutdated(byResponseTo: cached) }
      }
    case .store(let response):
      let whole = response.withAnnouncedBody
      guard response.partition == .anonymous else {
        report(CacheReport.personal)
        return cache.store.removeAll(for: cached.uri.cacheKey.text) { $0.isOutdated(by: whole, to: cached) }
      }
      let combined = cache.store.record(
        of: whole, uri: cached.uri.cacheKey.text, bodyBytesMax: UInt64(clamping: CommandCache.capacity))
      begin(combined, or: whole)
    }
  }

  /// Starts to write a record to the cache, or only the received response if it can't be combined with the stored parts.
  private func begin(_ record: CombinedRecord, or received: StoredResponse) {
    state.withLock { state in
      for record in [record, CombinedRecord(received)] where state.writer == nil {
        state.record = record
        state.writer = try? record.begin(
          in: cache.store, uri: cached.uri.cacheKey.text, id: .random(in: .min ... .max))
      }
    }
  }

  /// Writes the head of a completed response and the stored beginning of its body. The body of the origin's response follows. Like
  /// each write to the output, this blocks the loop's thread, which has no other request to serve.
  private func complete(_ part: RecordReader, _ combination: StoredResponse.Combination) -> BodyDisposition {
    let whole = ResponseHead(
      status: combination.response.status, fields: combination.response.fields, isContentDecoded: false)
    guard case .deliver = fetch.receive(head: whole) else {
      state.withLock { $0.machine.discardBody() }
      return .discard
    }
    guard deliver(combination.prefix, of: part) else {
      interrupt()
      return .deliver
    }
    // A long beginning isn't copied in vain: after a failed write, the fetch cancels the request.
    if !fetch.isRefused { begin(CombinedRecord(combination, of: part), or: combination.part) }
    return .deliver
  }

  /// Ends the response with an error when the engine has canceled the request.
  private func interrupt() {
    state.withLock { ($0.isBroken, $0.writer) = (true, nil) }
    fetch.handle?.cancel()
  }

  /// Removes the URI's stored responses, because the server sends ranges of another length than it announces.
  private func removeStored() { cache.store.removeAll(for: cached.uri.cacheKey.text) { _ in true } }

  /// The metrics of a response without a request to the origin.
  private var localMetrics: ExchangeMetrics {
    ExchangeMetrics(cachedResponseRequestedAt: start, servedAt: .now, bodyBytes: 0)
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    let byteCount = bytes.count
    let (isBroken, isExpected) = state.withLock { ($0.isBroken, $0.machine.received(byteCount: byteCount)) }
    if !isExpected { removeStored() }
    guard !isBroken, isExpected else { return interrupt() }
    state.withLock { state in
      do throws(DiskStoreError) {
        try state.writer?.append(bytes)
      } catch {
        // The body exceeds the cache's capacity, or the disk is full. The fetch continues, but the response isn't stored.
        state.writer = nil
      }
    }
    fetch.receive(body: bytes)
  }

  func turnEnded(sentBodyByteCount: UInt64) { fetch.turnEnded(sentBodyByteCount: sentBodyByteCount) }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    guard !state.withLock({ $0.isBroken }) else {
      return fetch.finish(.failure(.interruption(at: request.uri.origin)), metrics)
    }
    let ending: CacheMachine.Ending =
      switch result {
      case .success: .complete
      case .failure(let error): error.isOutage ? .outage : .failed
      }
    var isPassedOn = false
    perform(metrics) { state in
      let action = state.machine.ended(ending, now: cache.now)
      isPassedOn = action == nil
      return action
    }
    guard isPassedOn else { return }
    commit(isComplete: ending == .complete)
    fetch.finish(result, metrics)
  }

  private func commit(isComplete: Bool) {
    let outcome = state.withLock { state -> (response: StoredResponse, isStored: Bool)? in
      let writer = state.writer.take()
      guard let record = state.record, isComplete else { return nil }
      let response = record.response
      guard let writer else { return (response, false) }
      return (response, (try? record.finish(writer) { isSuperseded($0, by: response) }) != nil)
    }
    guard let (response, isStored) = outcome else { return }
    if isStored { return report(CacheReport.stored) }
    // An older response must not be served after this one. Parts of the same version aren't older.
    cache.store.removeAll(for: cached.uri.cacheKey.text) {
      isSuperseded($0, by: response) && !(response.isPartial && $0.isSameVersion(as: response))
    }
  }

  /// Returns whether `response` replaces the stored response `old`, which isn't newer.
  private func isSuperseded(_ old: StoredResponse, by response: StoredResponse) -> Bool {
    old.isSuperseded(by: response, to: cached) && !old.isNewer(than: response, now: cache.now)
  }

  // MARK: Serving

  /// The maximum size in bytes of a stored body that the cache verifies before it serves any part of the body: 1 MiB. If a longer
  /// body turns out to be damaged, the fetch fails, because it may already have written a part.
  private static let verifiedBytesMax: UInt64 = 1 << 20

  /// Applies the updates, and serves the stored response. If its record is missing or damaged, deletes the record and returns
  /// false.
  private func serve(_ served: CacheMachine.Served, _ metrics: ExchangeMetrics?) -> Bool {
    let records = state.withLock { $0.records }
    let record = records[served.index]
    guard isServable(record) else { return false }
    cache.store.use(record.id)
    report(CacheReport.served(served.reason))
    cache.apply(served.updates, to: records)
    let response = served.response
    let head = ResponseHead(
      status: response.status, fields: response.fields, isContentDecoded: record.response.bodyForm == .decoded)
    let bytes: Range<UInt64> =
      switch response.body {
      case .none: 0..<0
      case .complete: 0..<record.response.bodyByteCount
      case .part(let range): range
      }
    deliver(head, metrics) { deliver(bytes, of: record) }
    return true
  }

  /// Passes bytes of a stored body to the fetch, until it refuses them. If the record is damaged, deletes it and returns false.
  private func deliver(_ bytes: Range<UInt64>, of record: RecordReader) -> Bool {
    do throws(DiskStoreError) {
      try record.read(bytes, while: { !fetch.isRefused }) { fetch.receive(body: $0) }
      return true
    } catch {
      cache.store.remove(record.id)
      return false
    }
  }

  /// Returns whether the record's body can be served. If the body is short and damaged, deletes the record and returns false.
  private func isServable(_ record: RecordReader) -> Bool {
    guard record.response.bodyByteCount <= Self.verifiedBytesMax, !Self.isIntact(record) else { return true }
    cache.store.remove(record.id)
    report(CacheReport.dropped)
    return false
  }

  /// Returns whether all blocks of the record's body can be read and have the right checksums.
  private static func isIntact(_ record: RecordReader) -> Bool {
    for number in 0..<record.blockCount where (try? record.block(number)) == nil { return false }
    return true
  }

  /// Passes a response to the fetch that doesn't come from a connection. `body` passes on the stored body, and returns false if the
  /// body is damaged.
  private func deliver(_ head: ResponseHead, _ metrics: ExchangeMetrics?, body: () -> Bool) {
    let metrics = metrics ?? localMetrics
    guard case .deliver = fetch.receive(head: head) else { return fetch.finish(.success(Fields()), metrics) }
    fetch.finish(body() ? .success(Fields()) : .failure(.interruption(at: request.uri.origin)), metrics)
  }

  private func report(_ line: String) { if isVerbose { StandardError.write("* cache: \(line)\n") } }
}
