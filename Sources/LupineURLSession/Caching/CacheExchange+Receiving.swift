// CacheExchange+Receiving: processes the origin's response to a request that the cache has sent, on the loop's thread.

import Foundation
import LupineCache
import LupineEngine
import Synchronization

/// One attempt of a `CacheExchange` to send its request to the origin.
struct NetworkExchange {
  /// The use of a response that is passed on to the receiver.
  struct Passing {
    /// The response to store, or nil if it won't be stored.
    var stored: PassedResponse?
    /// Whether the receiver receives the body.
    var isDelivered: Bool
  }

  /// How the exchange treats the rest of the response.
  enum Use {
    /// The exchange receives it.
    case receiving
    /// The rest of the body is discarded, and neither passed on nor stored.
    case discarded
    /// The task has canceled the request.
    case canceled
    /// The request is canceled and ends with an error, because the origin's body or the stored beginning is wrong.
    case interrupted
  }

  let attempt: Int
  /// The stored response that the request validates, or nil if it validates none.
  let validated: FoundResponse?
  /// The number of invalidations in the cache's log when the request was sent.
  let invalidationCount: UInt64
  /// The engine's handle for the request. Nil until `submit` has returned.
  var handle: ExchangeHandle?
  private(set) var use = Use.receiving
  /// The stored beginning of the body that the request completes. Until it has been delivered, the engine's window is empty, so
  /// that no byte of the origin's body arrives first. Nil afterward, and if the request completes no stored part.
  var beginning: ServedBody?
  /// The number of bytes by which the task has extended the receive window before `submit` returned the handle. The engine's window
  /// is extended by this number as soon as there is a handle.
  var ungrantedByteCount = 0
  /// Nil until the response's head has arrived, and if the receiver doesn't receive the response.
  var passing: Passing?

  /// Stops receiving the response, and forgets its stored beginning. A canceled request stays canceled.
  mutating func stop(_ new: Use) {
    beginning = nil
    switch use {
    case .receiving, .discarded: use = new
    case .canceled, .interrupted: break
    }
  }

  /// Extends the engine's window. Returns the handle through which the caller must do that. Nil if there is no handle yet.
  mutating func extendWindow(by byteCount: Int) -> ExchangeHandle? {
    if handle == nil { ungrantedByteCount += min(byteCount, .max - ungrantedByteCount) }
    return handle
  }

  /// Lets the response's ``PassedResponse`` decide whether the rest of its body is stored although the receiver doesn't want it.
  mutating func continuesUnwanted() -> Bool {
    guard passing?.stored?.continuesUnwanted() == true else { return false }
    passing?.isDelivered = false
    return true
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
  /// A step of keeping the engine's handle.
  enum KeepStep {
    /// Pause or resume the engine's exchange, then continue with the next step.
    case setPaused(Bool)
    /// The handle is stored. Pass on the other commands that were given before.
    case stored(NetworkExchange)
  }

  /// Stores the engine's handle for an attempt. If the engine's exchange must be paused or resumed first, returns that step
  /// instead.
  /// `isPaused` is whether the latest command to the engine's exchange was to pause.
  ///
  /// Until the handle is stored, no other thread pauses or resumes the engine's exchange. Therefore, the engine gets these commands
  /// in the task's order, even if the task is resumed during a step. Returns nil if the attempt has already ended.
  mutating func keep(_ handle: ExchangeHandle, of attempt: Int, isPaused: Bool) -> KeepStep? {
    guard var network, network.attempt == attempt else { return nil }
    if case .receiving = network.use, self.isPaused != isPaused { return .setPaused(self.isPaused) }
    network.handle = handle
    self.network = network
    return .stored(network)
  }

  /// Stops storing the response that is being received. If `isWanted` is false, the rest of the response's body is also discarded.
  mutating func stopStoring(isWanted: Bool) -> StoppedStoring {
    guard let network else { return StoppedStoring(lead: nil, handle: nil) }
    self.network?.passing?.stored = nil
    if !isWanted {
      self.network?.stop(.discarded)
      machine.discardBody()
    }
    // If a stored response will be served instead, that response can still answer the waiting requests.
    let ended = network.passing == nil ? Lead?.none : lead.take()
    return StoppedStoring(lead: ended, handle: isWanted ? nil : network.handle)
  }
}

extension CacheExchange {
  func receive(head: ResponseHead) -> BodyDisposition {
    let request = cache.received(request)
    let received = state.withLock { state -> (CacheMachine.Reception, NetworkExchange, [FoundResponse])? in
      guard let network = state.network,
        let reception = state.machine.received(status: head.status, head.fields, to: request, now: stores.now)
      else { return nil }
      return (reception, network, state.found)
    }
    switch received {
    case nil: return .discard
    case (.passOn(let updates, let times), let network, let found)?:
      let accepted = accept(head)
      // A server that fails to prove that it knows the password changes no stored response.
      if accepted.isTrusted { stores.apply(updates, to: found, of: key) }
      defer { if network.beginning != nil { passWithoutBeginning() } }
      return pass(head, accepted, times, request, network.invalidationCount)
    case (.complete(let combination, _, let times), let network, _)?:
      // The stored response's cookies were set when it arrived.
      var fields = combination.response.fields
      fields.remove("Set-Cookie")
      for cookie in head.fields.all("Set-Cookie") { fields.append(name: "Set-Cookie", value: cookie) }
      let whole = ResponseHead(status: combination.response.status, fields: fields, isContentDecoded: false)
      return pass(
        whole, accept(whole), times, request, network.invalidationCount, completing: combination,
        after: network.beginning)
    case (.withhold(let updates, let confirmed), _, let found)?:
      // If the server fails to prove that it knows the password, the receiver gets the head instead, without the body.
      let isTrusted = receiver?.confirm(head) ?? true
      if isTrusted {
        stores.apply(updates, to: found, of: key)
      } else {
        state.withLock { $0.machine.passOn() }
        set(NetworkExchange.Passing(stored: nil, isDelivered: false))
      }
      announce(isTrusted ? confirmed : nil, isStored: isTrusted)
      return .discard
    }
  }

  /// The receiver's answer to the head of the origin's response.
  private typealias Acceptance = (disposition: BodyDisposition, isTrusted: Bool)

  private func accept(_ head: ResponseHead) -> Acceptance { receiver?.accept(head) ?? (.discard, true) }

  /// Passes the origin's response, which the receiver has accepted, on to the receiver. `request` is the request as it counts for
  /// this response. If the response completes a stored part, `beginning` is the stored body, which precedes the one that the origin
  /// sends.
  private func pass(
    _ head: ResponseHead, _ accepted: Acceptance, _ times: ExchangeTimes, _ request: CacheRequest,
    _ invalidationCount: UInt64, completing combination: StoredResponse.Combination? = nil,
    after beginning: ServedBody? = nil
  ) -> BodyDisposition {
    let (disposition, isTrusted) = accepted
    let isWanted = if case .deliver = disposition { true } else { false }
    var (response, prefix) = (StoredResponse?.none, Data())
    if case .data(let data)? = beginning?.body { prefix = data }
    if isTrusted, combination.map({ $0.response.bodyByteCount <= storedBytesMax }) ?? true {
      response = cache.responseToStore(
        head, to: request, times, isWanted: isWanted || receiver == nil, isDecidedLater: isWanted,
        byteCountMax: storedBytesMax)
    } else if isTrusted, isWanted, let part = combination?.part, part.bodyByteCount <= storedBytesMax {
      // The whole is too long to be collected in memory. The store adds the rest to the stored part.
      (response, prefix) = (part, Data())
    }
    let stored = response.flatMap { response in
      url.map { url in
        PassedResponse(
          response, to: request, at: url, cache, byteCountMax: storedBytesMax, invalidationCount: invalidationCount,
          prefix: prefix)
      }
    }
    set(NetworkExchange.Passing(stored: stored, isDelivered: isWanted))
    announce(response)
    if combination != nil { isWanted ? passBeginning() : passWithoutBeginning() }
    return response == nil ? disposition : .deliver
  }

  /// Delivers the stored beginning of the body to the receiver, and lets the origin's body follow.
  private func passBeginning() {
    state.withLock { $0.served?.isBusy = false }
    advance()
  }

  /// Lets the origin's body arrive without the stored beginning. Called if the body belongs to another response, or if the receiver
  /// doesn't want it.
  private func passWithoutBeginning() {
    state.withLock { state in
      state.machine.discardBody()
      state.served?.body = .data(Data())
    }
    passBeginning()
  }

  /// Ends a response whose stored beginning or rest is wrong with an error. The receiver gets the error when the engine has
  /// canceled the request.
  func interrupt() {
    let handle = state.withLock { state in
      state.network?.passing = nil
      state.network?.stop(.interrupted)
      return state.network?.handle
    }
    handle?.cancel()
  }

  private func set(_ passing: NetworkExchange.Passing) {
    state.withLock { state in
      state.network?.passing = passing
      // The receiver may have discarded the body in the meantime.
      if case .discarded? = state.network?.use { state.network?.passing?.stored = nil }
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

  func receive(body bytes: borrowing Span<UInt8>) {
    let byteCount = bytes.count
    let (passing, isExpected) = state.withLock { state -> (NetworkExchange.Passing?, Bool) in
      guard let network = state.network else { return (nil, true) }
      return (network.passing, state.machine.received(byteCount: byteCount))
    }
    guard let passing else { return }
    guard isExpected else {
      stores.removeAll(for: key)
      return interrupt()
    }
    if let stored = passing.stored, !stored.append(bytes) {
      if isCollapsible { cache.note(key, isShared: false) }
      state.withLock { $0.stopStoring(isWanted: passing.isDelivered) }.complete()
    }
    if passing.isDelivered { receiver?.receive(body: bytes) }
  }

  func turnEnded(sentBodyByteCount: UInt64) { receiver?.turnEnded(sentBodyByteCount: sentBodyByteCount) }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    let network = state.withLock { state -> NetworkExchange? in
      defer { if state.network != nil { state.phase = .deciding } }
      return state.network
    }
    guard let network else { return }
    var outcome = FlightTable<CacheExchange>.Outcome.failed
    var ending = CacheMachine.Ending.complete
    if case .failure(let failure) = result {
      ending = permitsStale(after: failure) ? .outage : .failed
      if network.passing == nil, failure.code == .cancelled || failure.code == .shutDown { outcome = .canceled }
    }
    switch network.use {
    case .interrupted: return end(.failure(.interruption(at: request.uri.origin)), metrics, .canceled)
    case .canceled: return end(result, metrics, .canceled)
    case .receiving, .discarded: break
    }
    var isPassedOn = false
    perform(metrics) { state in
      let action = state.machine.ended(ending, now: stores.now)
      isPassedOn = action == nil
      return action
    }
    guard isPassedOn else { return }
    if case .complete = ending, let passing = network.passing, let stored = passing.stored {
      keep(stored, of: network, isFinal: passing.isDelivered)
    }
    end(result, metrics, outcome)
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
      storable.store(network.validated?.content?.with(response: proposed.response, data: proposed.data) ?? proposed)
    }
  }

  func end(
    _ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics, _ outcome: FlightTable<CacheExchange>.Outcome
  ) {
    // The task may have canceled the exchange after its response ended.
    guard let lead = takeEnd() else { return }
    lead?.end(outcome)
    receiver?.finish(result, metrics)
  }
}
