// CacheExchange+Receiving: processes the origin's response to a request that the cache has sent, on the loop's thread.

import Foundation
import LupineCache
import LupineEngine
import Synchronization

/// One attempt of a `CacheExchange` to send its request to the origin, and the decision about the origin's response.
struct NetworkExchange {
  /// The use of the origin's response by a `CacheExchange`. Decided when the response's head arrives.
  enum Use {
    case undecided
    /// Passes the origin's response on to the receiver, with the body if `isDelivered` is true. Stores it too, unless the passed
    /// response is nil.
    case pass(PassedResponse?, isDelivered: Bool)
    /// Serves the stored response with this index instead of the origin's response. Before that, waits for the end of the origin's
    /// response, and applies these updates to the stored responses.
    case serve(index: Int, ServedResponse, [StoredUpdate])
    /// Sends the request again without conditional fields such as If-None-Match, after the origin's response has ended.
    case resend
  }

  let attempt: Int
  let forwarding: Forwarding
  let found: [FoundResponse]
  let requestTime: Int64
  /// The number of invalidations in the cache's log when the request was sent.
  let invalidationCount: UInt64
  /// The engine's handle for the request. Nil until `submit` has returned.
  var handle: ExchangeHandle?
  var isCanceled = false
  /// Whether the rest of the response's body is discarded, and neither passed on nor stored.
  var isDiscarded = false
  /// The number of bytes by which the task has extended the receive window before `submit` returned the handle. The engine's window
  /// is extended by this number as soon as there is a handle.
  var ungrantedByteCount = 0
  var use = Use.undecided

  /// Lets the response's ``PassedResponse`` decide whether the rest of its body is stored although the receiver doesn't want it.
  mutating func continuesUnwanted() -> Bool {
    guard case .pass(let passed?, _) = use, passed.continuesUnwanted() else { return false }
    use = .pass(passed, isDelivered: false)
    return true
  }

  /// The stored response that this conditional request validates, with its body. Nil if the request isn't conditional, or if the
  /// stored response isn't in memory.
  var selectedContent: CachedURLResponse? {
    guard let index = forwarding.selected, case .memory(_, let content) = found[index].body else { return nil }
    return content
  }

  mutating func stopStoring() {
    if case .pass(_, let isDelivered) = use { use = .pass(nil, isDelivered: isDelivered) }
  }
}

/// The remaining work after a `CacheExchange` has stopped storing a response. The caller must call `complete` after it has released
/// the exchange's lock.
struct StoppedStoring {
  fileprivate let lead: Lead?
  /// The handle of the engine's exchange whose body must be discarded. Nil if the receiver still accepts the body.
  fileprivate let handle: ExchangeHandle?

  /// Notifies the requests that wait for this response that it can't answer them, and discards the rest of its body.
  func complete() {
    lead?.end(.failed)
    handle?.discardBody()
  }
}

extension CacheExchange.State {
  /// Stops storing the response that is being received. If `isWanted` is false, the rest of the response's body is also discarded.
  mutating func stopStoring(isWanted: Bool) -> StoppedStoring {
    guard case .forwarding(var network) = phase else { return StoppedStoring(lead: nil, handle: nil) }
    network.stopStoring()
    if !isWanted { network.isDiscarded = true }
    phase = .forwarding(network)
    // If a stored response will be served instead, that response can still answer the waiting requests.
    let ended = if case .pass = network.use { lead.take() } else { Lead?.none }
    return StoppedStoring(lead: ended, handle: isWanted ? nil : network.handle)
  }
}

extension CacheExchange {
  func receive(head: ResponseHead) -> BodyDisposition {
    guard case .forwarding(let network) = state.withLock({ $0.phase }) else { return .discard }
    let times = ExchangeTimes(request: network.requestTime, response: stores.now)
    let request = cache.received(request)
    let outcome = ForwardingOutcome(
      of: network.forwarding, for: request, stored: network.found.map(\.response), status: head.status,
      fields: head.fields, times: times)
    switch outcome.answer {
    case .passOn:
      stores.apply(outcome.updates, to: network.found, of: key)
      return pass(head, times, request)
    case .serveValidated(let index, let served):
      return answer(head, with: .serve(index: index, served, outcome.updates)) {
        let new = outcome.updates.first { $0.index == index }?.change.replacement
        return new ?? network.found[index].response
      }
    case .serveStale(let index, let served):
      return answer(head, with: .serve(index: index, served, outcome.updates)) { nil }
    case .sendWithoutConditions:
      stores.apply(outcome.updates, to: network.found, of: key)
      return answer(head, with: .resend) { nil }
    }
  }

  /// Handles the head of an origin's response that isn't passed on to the receiver. After the end of that response, the exchange
  /// serves a stored response or sends the request again, as `use` says. If the server fails to prove that it knows the password,
  /// the receiver gets the origin's head instead, without the body. `served` returns the stored response that will be served, or
  /// nil.
  private func answer(
    _ head: ResponseHead, with use: NetworkExchange.Use, served: () -> StoredResponse?
  ) -> BodyDisposition {
    guard receiver?.confirm(head) ?? true else {
      set(.pass(nil, isDelivered: false))
      announce(nil)
      return .discard
    }
    set(use)
    announce(served(), isStored: true)
    return .discard
  }

  /// Passes the origin's response on to the receiver. `request` is the request as it counts for this response.
  private func pass(_ head: ResponseHead, _ times: ExchangeTimes, _ request: CacheRequest) -> BodyDisposition {
    let (disposition, isTrusted) = receiver?.accept(head) ?? (.discard, true)
    let isWanted = if case .deliver = disposition { true } else { false }
    let response =
      isTrusted
      ? cache.responseToStore(
        head, to: request, times, isWanted: isWanted || receiver == nil, isDecidedLater: isWanted,
        byteCountMax: storedBytesMax) : nil
    set(.pass(response.flatMap { passed($0, request) }, isDelivered: isWanted))
    announce(response)
    return response == nil ? disposition : .deliver
  }

  private func set(_ use: NetworkExchange.Use) {
    state.withLock { state in
      guard case .forwarding(var network) = state.phase else { return }
      network.use = use
      state.phase = .forwarding(network)
    }
  }

  /// Notifies the requests that wait for this one whether `response` will answer them. Also remembers whether one response of this
  /// URI can answer several requests.
  private func announce(_ response: StoredResponse?, isStored: Bool = false) {
    let lead = state.withLock { $0.lead }
    if isCollapsible {
      let isShared = response.map { request.isServed(by: $0, now: stores.now) } ?? false
      // A response that isn't stored yet may turn out to be too long, or the delegate may refuse to store it.
      if isStored || !isShared { cache.note(key, isShared: isShared) }
    }
    if let response { lead?.announce(response, now: stores.now) } else { lead?.end(.failed) }
  }

  private func passed(_ response: StoredResponse, _ request: CacheRequest) -> PassedResponse? {
    guard let url, case .forwarding(let network) = state.withLock({ $0.phase }) else { return nil }
    return PassedResponse(
      response, to: request, at: url, cache, byteCountMax: storedBytesMax, invalidationCount: network.invalidationCount)
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    let (passed, isDelivered) = state.withLock { state -> (PassedResponse?, Bool) in
      guard case .forwarding(let network) = state.phase, case .pass(let passed, let isDelivered) = network.use else {
        return (nil, false)
      }
      return (passed, isDelivered)
    }
    if let passed, !passed.append(bytes) {
      if isCollapsible { cache.note(key, isShared: false) }
      state.withLock { $0.stopStoring(isWanted: isDelivered) }.complete()
    }
    if isDelivered { receiver?.receive(body: bytes) }
  }

  func turnEnded(sentBodyByteCount: UInt64) { receiver?.turnEnded(sentBodyByteCount: sentBodyByteCount) }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    let ended = state.withLock { state -> NetworkExchange? in
      guard case .forwarding(let network) = state.phase else { return nil }
      state.phase = .deciding
      return network
    }
    guard let network = ended else { return }
    guard !network.isCanceled else { return end(result, metrics, .canceled) }
    switch network.use {
    case .undecided: finish(network, withoutHead: result, metrics)
    case .pass(let passed, let isDelivered):
      let isComplete = if case .success = result { true } else { false }
      if isComplete, let passed { keep(passed, of: network, isFinal: isDelivered) }
      end(result, metrics, .failed)
    case .serve(let index, let served, let updates):
      serve(network.found[index], served, updates.map { ($0, network.found) }, metrics)
    case .resend: decideWithoutStored()
    }
  }

  /// Handles a request to the origin that ended before the response's head arrived. After a network failure, serves a stale stored
  /// response if permitted (stale-if-error, RFC 5861 §4). Otherwise the exchange fails.
  private func finish(
    _ network: NetworkExchange, withoutHead result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics
  ) {
    guard case .failure(let failure) = result, ![.cancelled, .shutDown].contains(failure.code) else {
      return end(result, metrics, .canceled)
    }
    guard permitsStale(after: failure) else { return end(result, metrics, .failed) }
    let outcome = ForwardingOutcome(
      ofFailure: network.forwarding, for: request, stored: network.found.map(\.response), now: stores.now)
    guard case .serveStale(let index, let served) = outcome.answer else { return end(result, metrics, .failed) }
    serve(network.found[index], served, [], metrics)
  }

  /// Returns whether a stale stored response may be served after the request to the origin has failed. True if the origin couldn't
  /// be reached or failed. False if the origin requests a client certificate and none has been chosen yet.
  private func permitsStale(after failure: EngineError) -> Bool {
    failure.isOutage && (failure.requestedAuthorities == nil || engineRequest.identityChoice != nil)
  }

  /// Stores a complete response to the attempt `network`. The task's final response is passed to the receiver instead, because the
  /// task's delegate decides whether to store it.
  private func keep(_ passed: PassedResponse, of network: NetworkExchange, isFinal: Bool) {
    let storable = passed.complete(state.withLock { $0.lead.take() }, isCollapsible: isCollapsible)
    if isFinal, let receiver {
      receiver.keep(storable)
    } else {
      // The delegate isn't asked about this response. Therefore its decision about the stored response that this one replaces still
      // applies.
      let proposed = storable.proposed
      let inherited = network.selectedContent.map {
        CachedURLResponse(
          response: proposed.response, data: proposed.data, userInfo: $0.userInfo, storagePolicy: $0.storagePolicy)
      }
      storable.store(inherited ?? proposed)
    }
  }

  private func end(
    _ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics, _ outcome: FlightTable<CacheExchange>.Outcome
  ) {
    let (isOpen, lead) = state.withLock { state -> (Bool, Lead?) in
      // The task may have canceled the exchange after its response ended.
      if case .ended = state.phase { return (false, nil) }
      state.phase = .ended
      return (true, state.lead.take())
    }
    guard isOpen else { return }
    lead?.end(outcome)
    receiver?.finish(result, metrics)
  }
}

extension StoredUpdate.Change {
  fileprivate var replacement: StoredResponse? { if case .replace(let response) = self { response } else { nil } }
}
