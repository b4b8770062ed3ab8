// CachedFetch: answers one request with --cache from the cache's folder, or sends it and stores the response.

import LupineCache
import LupineCacheStore
import LupineEngine
import Synchronization

/// Executes the request of a fetch with the cache. Either gives the fetch a stored response, or passes on the origin's response and
/// stores it if possible.
final class CachedFetch: ResponseSink {
  private enum Use {
    case undecided
    /// The cache passes the origin's response on to the fetch. It also writes the response with `writer` if it stores the response.
    case pass
    /// At the end of the exchange, the cache serves the stored response at this index to the fetch.
    case serve(index: Int, ServedResponse, [StoredUpdate])
    /// At the end of the exchange, the cache sends the request again, without the conditions that it had added.
    case resend
  }

  private struct State {
    var use = Use.undecided
    var requestTime: Int64 = 0
    var forwarding: Forwarding?
    var lookup: CommandCache.Lookup?
    /// Writes the origin's response to the cache, or nil if the response isn't being stored.
    var writer: RecordWriter?
    var response: StoredResponse?
  }

  private let request: EngineRequest
  private let cached: CacheRequest
  private let fetch: Fetch
  private let cache: CommandCache
  private let engine: Engine
  private let isVerbose: Bool
  private let start = Instant.now
  private let state = Mutex(State())

  init(_ request: EngineRequest, for fetch: Fetch, _ cache: CommandCache, on engine: Engine, isVerbose: Bool) {
    self.request = request
    cached = cache.request(request)
    self.fetch = fetch
    self.cache = cache
    self.engine = engine
    self.isVerbose = isVerbose
  }

  /// Serves a response from the cache, or sends the request. Returns the exchange's handle, or nil if the request isn't sent.
  func run() -> ExchangeHandle? {
    let lookup = cache.lookup(cached, isDecoded: request.decodesContent)
    switch lookup.decision {
    case .serve(let hit):
      let isServed = serve(hit.index, hit.response, of: lookup, nil, reporting: CacheReport.hit(hit.reason))
      return isServed ? nil : forwardUnconditionally()
    // The command exits after the response, so it validates the stored response before serving it, instead of afterward.
    case .serveWhileRevalidating(_, let forwarding), .forward(let forwarding): return forward(forwarding, lookup)
    case .gatewayTimeout:
      report(CacheReport.unavailable)
      deliver(ResponseHead(status: 504, fields: ["Content-Length": "0"], isContentDecoded: false), nil) { _ in true }
      return nil
    }
  }

  private func forward(_ forwarding: Forwarding, _ lookup: CommandCache.Lookup) -> ExchangeHandle {
    state.withLock { state in
      state.use = .undecided
      (state.forwarding, state.lookup, state.requestTime) = (forwarding, lookup, cache.now)
    }
    var request = request
    request.fields = forwarding.fields
    if isVerbose { StandardError.write(VerboseReport.request(request)) }
    return engine.submit(request, to: self)
  }

  /// Sends the request as if the cache had no response, because the stored response can't be used.
  private func forwardUnconditionally() -> ExchangeHandle? {
    let nothing = CacheDecision(cached, stored: [], now: cache.now)
    guard case .forward(let forwarding) = nothing else { return nil }
    return forward(forwarding, CommandCache.Lookup(stored: [], ids: [], decision: nothing))
  }

  // MARK: ResponseSink

  func receive(informational head: ResponseHead) { fetch.receive(informational: head) }

  func receive(head: ResponseHead) -> BodyDisposition {
    let (forwarding, lookup, requestTime) = state.withLock { ($0.forwarding, $0.lookup, $0.requestTime) }
    guard let forwarding, let lookup else { return fetch.receive(head: head) }
    let times = ExchangeTimes(request: requestTime, response: cache.now)
    let outcome = ForwardingOutcome(
      of: forwarding, for: cached, stored: lookup.stored, status: head.status, fields: head.fields, times: times)
    switch outcome.answer {
    case .passOn:
      report(CacheReport.miss(forwarding.reason))
      cache.apply(outcome.updates, to: lookup)
      cache.invalidate(after: head, to: cached)
      let disposition = fetch.receive(head: head)
      state.withLock { $0.use = .pass }
      if case .deliver = disposition { store(head, times) }
      return disposition
    case .serveValidated(let index, let served):
      report(CacheReport.revalidated(forwarding.reason))
      state.withLock { $0.use = .serve(index: index, served, outcome.updates) }
    case .serveStale(let index, let served):
      report(CacheReport.staleAfterError)
      state.withLock { $0.use = .serve(index: index, served, outcome.updates) }
    case .sendWithoutConditions:
      cache.apply(outcome.updates, to: lookup)
      state.withLock { $0.use = .resend }
    }
    return .discard
  }

  /// Starts to write the origin's response to the cache. Does nothing if the response must not be stored, or if it belongs to one
  /// user because of credentials or cookies.
  private func store(_ head: ResponseHead, _ times: ExchangeTimes) {
    let decision = StoreDecision(
      cached, status: head.status, fields: head.fields, times: times,
      bodyForm: head.isContentDecoded ? .decoded : .received)
    switch decision {
    case .refuse(let reason):
      report(CacheReport.notStored(reason))
      if decision.outdatesStored(status: head.status) {
        cache.store.removeAll(for: cached.uri.cacheKey.text) { $0.isOutdated(byResponse: head.fields, to: cached) }
      }
    case .store(let response):
      guard response.partition == .anonymous else { return report(CacheReport.personal) }
      state.withLock { state in
        state.response = response
        state.writer = try? cache.store.writer(
          uri: cached.uri.cacheKey.text, response: response, id: .random(in: .min ... .max))
      }
    }
  }

  func receive(body bytes: borrowing Span<UInt8>) {
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
    let (use, forwarding, lookup) = state.withLock { ($0.use, $0.forwarding, $0.lookup) }
    switch (use, lookup) {
    case (.serve(let index, let served, let updates), let lookup?):
      if !serve(index, served, of: lookup, metrics, updates) { _ = forwardUnconditionally() }
    case (.resend, _): _ = forwardUnconditionally()
    case (.undecided, let lookup?):
      if let forwarding, case .failure(let error) = result, error.isOutage {
        let outcome = ForwardingOutcome(ofFailure: forwarding, for: cached, stored: lookup.stored, now: cache.now)
        if case .serveStale(let index, let served) = outcome.answer {
          report(CacheReport.staleAfterError)
          if serve(index, served, of: lookup, metrics) { return }
        }
      }
      fetch.finish(result, metrics)
    case (.pass, _), (.undecided, nil), (.serve, nil):
      commit(isComplete: (try? result.get()) != nil)
      fetch.finish(result, metrics)
    }
  }

  private func commit(isComplete: Bool) {
    enum Outcome { case none, stored, failed(StoredResponse) }
    let outcome = state.withLock { state -> Outcome in
      let writer = state.writer.take()
      guard let response = state.response, isComplete else { return .none }
      guard let writer, (try? writer.commit { $0.isSuperseded(by: response, to: cached) }) != nil else {
        return .failed(response)
      }
      return .stored
    }
    switch outcome {
    case .none: break
    case .stored: report(CacheReport.stored)
    case .failed(let response):
      // An older response must not be served after this one.
      cache.store.removeAll(for: cached.uri.cacheKey.text) { $0.isSuperseded(by: response, to: cached) }
    }
  }

  // MARK: Serving

  /// The maximum size in bytes of a stored body that the cache verifies before it serves any part of the body: 1 MiB. If a longer
  /// body turns out to be damaged, the fetch fails, because it may already have written a part.
  private static let verifiedBytesMax: UInt64 = 1 << 20

  /// Reports `line`, applies the updates, and serves the stored response at `index`. If its record is missing or damaged, deletes
  /// the record and returns false.
  private func serve(
    _ index: Int, _ served: ServedResponse, of lookup: CommandCache.Lookup, _ metrics: ExchangeMetrics?,
    _ updates: [StoredUpdate] = [], reporting line: String? = nil
  ) -> Bool {
    let id = lookup.ids[index]
    // The record is opened before the updates, because they replace its file.
    guard let record = cache.store.open(id) else { return drop(id) }
    if record.response.bodyByteCount <= Self.verifiedBytesMax {
      guard Self.isIntact(record) else { return drop(id) }
    }
    if let line { report(line) }
    cache.apply(updates, to: lookup)
    let head = ResponseHead(
      status: served.status, fields: served.fields, isContentDecoded: record.response.bodyForm == .decoded)
    let bytes: Range<UInt64> =
      switch served.body {
      case .none: 0..<0
      case .complete: 0..<record.response.bodyByteCount
      case .part(let range): range
      }
    deliver(head, metrics) { fetch in
      let size = UInt64(RecordFormat.blockByteCount)
      var offset = bytes.lowerBound
      while offset < bytes.upperBound {
        guard let block = try? record.block(offset / size) else {
          cache.store.remove(id)
          return false
        }
        let start = Int(offset % size)
        let end = Int(min(UInt64(block.count), bytes.upperBound - offset + UInt64(start)))
        fetch.receive(body: block.span.extracting(start..<end))
        offset += UInt64(end - start)
      }
      return true
    }
    return true
  }

  /// Deletes the record of a stored response that can't be served, and returns false.
  private func drop(_ id: UInt64) -> Bool {
    cache.store.remove(id)
    report(CacheReport.dropped)
    return false
  }

  /// Returns whether all blocks of the record's body can be read and have the right checksums.
  private static func isIntact(_ record: borrowing RecordReader) -> Bool {
    for number in 0..<record.blockCount where (try? record.block(number)) == nil { return false }
    return true
  }

  /// Passes a response to the fetch that doesn't come from a connection. `body` passes on the stored body, and returns false if the
  /// body is damaged.
  private func deliver(_ head: ResponseHead, _ metrics: ExchangeMetrics?, body: (Fetch) -> Bool) {
    let metrics = metrics ?? ExchangeMetrics(cachedResponseRequestedAt: start, servedAt: .now, bodyBytes: 0)
    guard case .deliver = fetch.receive(head: head) else { return fetch.finish(.success(Fields()), metrics) }
    let isComplete = body(fetch)
    let failure = EngineError(.connectionLost, .receive, request.uri.origin, progress: .responseBegan)
    fetch.finish(isComplete ? .success(Fields()) : .failure(failure), metrics)
  }

  private func report(_ line: String) { if isVerbose { StandardError.write("* cache: \(line)\n") } }
}
