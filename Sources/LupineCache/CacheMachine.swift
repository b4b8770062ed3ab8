// CacheMachine: the course of one request through a cache, from the lookup to the answer (RFC 9111 §4).

package import LupineWire

/// The course of one request through a cache. It takes events and returns actions, without locks, I/O or clock.
///
/// `CacheDecision` decides after a lookup, and `ForwardingOutcome` after the origin has responded or failed. The machine knows
/// which of them applies, and what remains to be done when the origin's response has ended. Its owner performs the actions: it
/// reads stored responses, sends requests, and delivers and stores bodies. Indexes refer to the array of stored responses that the
/// owner has passed to the latest lookup.
package struct CacheMachine: ~Copyable, Sendable {
  /// The way to revalidate a stale response that may be served in the meantime (stale-while-revalidate).
  package enum Revalidation: Sendable {
    /// By a separate request, whose response no caller receives.
    case inBackground
    /// By the caller's request, which is answered afterward.
    case beforeServing
  }

  package enum Action: Sendable, Equatable {
    /// Look for further stored responses in files, and call `found`. If `isLimited` is true, the lookup has a time limit: when it
    /// has passed, call `decideWithoutFiles`. Also call that if there are no files.
    case lookUp(isLimited: Bool)
    case serve(Served)
    /// Send the request to the origin with these fields, and call `sent`. If `mayWait` is true, the response to another request for
    /// the URI may answer this one too, so the owner may first wait for it and then call `stopWaiting`.
    case send(Fields, mayWait: Bool)
    /// Fail, because the caller's policy accepts only a stored response, and none may be served.
    case fail
    /// Answer with a 504 (Gateway Timeout), because the request has only-if-cached, and no stored response may be served.
    case timeOut
    /// End the response that the caller is receiving with an error, because the origin has sent fewer bytes of the rest than it has
    /// announced.
    case abort
  }

  /// A stored response to serve. If its body can't be read, the owner calls `decideWithoutStored`.
  package struct Served: Sendable, Equatable {
    package enum Reason: Sendable, Equatable {
      case hit(CacheHit.Reason)
      /// The origin has confirmed the stored response. It had to be asked for this reason.
      case validated(Forwarding.Reason)
      /// The origin has failed, and the stored response may be served nevertheless (stale-if-error).
      case originFailed
    }

    package let index: Int
    package let response: ServedResponse
    package let reason: Reason
    /// The changes of stored responses to make first.
    package var updates: [StoredUpdate] = []
    /// The request that revalidates the stored response in the background, or nil if it needs none.
    package var revalidation: Forwarding?
  }

  /// The use of an origin's response.
  package enum Reception: Sendable, Equatable {
    /// The caller receives the response. The owner makes these changes of stored responses, and asks `StoreDecision` whether to
    /// store the response.
    case passOn([StoredUpdate], ExchangeTimes)
    /// The caller doesn't receive the response, and the owner discards its body. `confirmed` is the stored response that will
    /// answer the caller and other requests for the URI, or nil if there is none.
    case withhold([StoredUpdate], confirmed: StoredResponse?)
    /// The response is the rest of the representation whose beginning is stored at this index. The caller receives the combined
    /// response, a 200: the prefix of the stored body, and then the body of the response. The owner calls `received(byteCount:)`
    /// with each piece of that body, or `discardBody` if the caller doesn't want it.
    case complete(StoredResponse.Combination, index: Int, ExchangeTimes)
  }

  /// The end of an exchange with the origin.
  package enum Ending: Sendable { case complete, outage, failed }

  private enum Phase {
    /// No lookup has ended yet.
    case begun
    /// A lookup in files is in progress. Without its result, this decision applies.
    case lookingUp(CacheDecision)
    /// The request will be sent.
    case sending(Forwarding)
    case sent(Forwarding, time: Int64)
    /// The origin's response isn't passed on. When it has ended, this stored response is served, or, if it is nil, the request is
    /// sent without the cache's conditions.
    case withheld(Served?)
    /// The caller receives the stored beginning and then the origin's response, of whose body this number of bytes is missing.
    case completing(missing: UInt64)
    /// The caller receives the origin's response or a stored one, or an error.
    case answered
  }

  package let request: CacheRequest
  private let revalidation: Revalidation
  /// Whether the request has waited for the response to another one. It then doesn't wait again.
  private var hasWaited: Bool
  private var stored: [StoredResponse] = []
  private var phase = Phase.begun

  /// - Parameters:
  ///   - request: The caller's request.
  ///   - revalidation: The way to revalidate a stale response that may be served in the meantime.
  ///   - mayWait: Whether the response to another request may answer this one too.
  package init(_ request: CacheRequest, _ revalidation: Revalidation, mayWait: Bool) {
    self.request = request
    self.revalidation = revalidation
    hasWaited = !mayWait || !request.isCollapsible
  }

  /// Whether other requests may wait for the response to this one.
  package var isCollapsible: Bool { request.isCollapsible }

  /// Whether the request waits for the response to another one, or may begin to.
  package var mayBeWaiting: Bool { if case .sending = phase { !hasWaited } else { false } }

  // MARK: Lookup

  /// Called with the stored responses that are in memory. Files may contain others.
  package mutating func foundInMemory(_ stored: [StoredResponse], now: Int64) -> Action? {
    guard case .begun = phase else { return nil }
    self.stored = stored
    let decision = CacheDecision(request, stored: stored, now: now)
    guard !decision.isHit, request.policy != .reload else { return act(on: decision, now) }
    phase = .lookingUp(decision)
    // If only a stored response may answer the request, the lookup has no time limit.
    return .lookUp(isLimited: decision != .gatewayTimeout)
  }

  /// Called with all stored responses.
  package mutating func found(_ stored: [StoredResponse], now: Int64) -> Action? {
    switch phase {
    case .begun, .lookingUp: break
    case .sending, .sent, .withheld, .completing, .answered: return nil
    }
    self.stored = stored
    return act(on: CacheDecision(request, stored: stored, now: now), now)
  }

  /// Called if there are no files to look up, or if the lookup takes too long. Decides by the stored responses in memory.
  package mutating func decideWithoutFiles(now: Int64) -> Action? {
    guard case .lookingUp(let decision) = phase else { return nil }
    return act(on: decision, now)
  }

  /// Called if the stored response to serve can't be read. Decides as if nothing were stored.
  package mutating func decideWithoutStored(now: Int64) -> Action? {
    (stored, hasWaited) = ([], true)
    return act(on: CacheDecision(request, stored: [], now: now), now)
  }

  /// Called when the request stops waiting for the response to another one, which can't answer it or has been stored. Returns false
  /// if it isn't waiting. Otherwise the owner looks up the stored responses again.
  package mutating func stopWaiting() -> Bool {
    guard case .sending = phase else { return false }
    (phase, hasWaited) = (.begun, true)
    return true
  }

  private mutating func act(on decision: CacheDecision, _ now: Int64) -> Action {
    switch decision {
    case .serve(let hit): return serve(hit)
    case .serveWhileRevalidating(let hit, let forwarding):
      if case .inBackground = revalidation { return serve(hit, revalidation: forwarding) }
      var validated = request
      validated.policy = .validate
      guard case .forward(let own) = CacheDecision(validated, stored: stored, now: now) else { return serve(hit) }
      return send(
        Forwarding(reason: .stale, fields: own.fields, nominated: own.nominated, selected: own.selected), mayWait: false
      )
    case .forward(let forwarding):
      // Without a stored response, nothing suggests that one response can answer several requests.
      return send(forwarding, mayWait: !hasWaited && !stored.isEmpty && forwarding.isCollapsible)
    case .gatewayTimeout:
      phase = .answered
      return request.policy == .storedOnly ? .fail : .timeOut
    }
  }

  private mutating func serve(_ hit: CacheHit, revalidation: Forwarding? = nil) -> Action {
    phase = .answered
    return .serve(
      Served(index: hit.index, response: hit.response, reason: .hit(hit.reason), revalidation: revalidation))
  }

  private mutating func send(_ forwarding: Forwarding, mayWait: Bool) -> Action {
    phase = .sending(forwarding)
    return .send(forwarding.fields, mayWait: mayWait)
  }

  // MARK: The origin's response

  /// The request to the origin, from the decision to send it until its response has arrived. Otherwise nil.
  package var forwarding: Forwarding? {
    switch phase {
    case .sending(let forwarding), .sent(let forwarding, _): forwarding
    case .begun, .lookingUp, .withheld, .completing, .answered: nil
    }
  }

  /// Makes this machine the one of a request that revalidates a stored response in the background. `stored` contains the stored
  /// responses to which the forwarding refers.
  package mutating func revalidate(_ forwarding: Forwarding, stored: [StoredResponse]) {
    self.stored = stored
    phase = .sending(forwarding)
  }

  /// Called when the request is sent to the origin. Returns the fields to send, or nil if the request must not be sent.
  package mutating func sent(now: Int64) -> Fields? {
    guard case .sending(let forwarding) = phase else { return nil }
    phase = .sent(forwarding, time: now)
    return forwarding.fields
  }

  /// Called with the head of the origin's final response. `request` is the request as it counts for this response. Returns nil if
  /// no response is awaited.
  package mutating func received(
    status: Int, _ fields: Fields, to request: CacheRequest, now: Int64
  ) -> Reception? {
    guard case .sent(let forwarding, let time) = phase else { return nil }
    let times = ExchangeTimes(request: time, response: now)
    if let index = forwarding.completed, status == 206 || status == 416 {
      guard let combination = stored[index].completion(by: forwarding, for: request, status, fields, times) else {
        phase = .withheld(nil)
        return .withhold([], confirmed: nil)
      }
      phase = .completing(missing: combination.part.bodyByteCount)
      return .complete(combination, index: index, times)
    }
    let outcome = ForwardingOutcome(
      of: forwarding, for: request, stored: stored, status: status, fields: fields, times: times)
    switch outcome.answer {
    case .passOn:
      phase = .answered
      return .passOn(outcome.updates, times)
    case .serveValidated(let index, let response):
      phase = .withheld(
        Served(
          index: index, response: response, reason: .validated(forwarding.reason), updates: outcome.updates))
      let new = outcome.updates.first { $0.index == index }?.change.response
      return .withhold([], confirmed: new ?? stored[index])
    case .serveStale(let index, let response):
      phase = .withheld(
        Served(index: index, response: response, reason: .originFailed, updates: outcome.updates))
      return .withhold([], confirmed: nil)
    case .sendWithoutConditions:
      phase = .withheld(nil)
      return .withhold(outcome.updates, confirmed: nil)
    }
  }

  /// Called if the owner passes the origin's response on although the machine has withheld it, because the response isn't trusted.
  package mutating func passOn() { phase = .answered }

  /// Called with the size of each piece of the origin's body before it is passed on. Returns false if the body is longer than the
  /// missing rest. The owner then ends the response with an error, and removes the URI's stored responses, so that the next request
  /// asks for the whole.
  package mutating func received(byteCount: Int) -> Bool {
    guard case .completing(let missing) = phase else { return true }
    guard UInt64(byteCount) <= missing else { return false }
    phase = .completing(missing: missing - UInt64(byteCount))
    return true
  }

  /// Called if the caller doesn't want the body, or the rest of it. Its length then doesn't matter.
  package mutating func discardBody() { if case .completing = phase { phase = .answered } }

  /// Called when the exchange with the origin has ended. Returns nil if its end is passed on to the caller.
  package mutating func ended(_ ending: Ending, now: Int64) -> Action? {
    switch phase {
    case .withheld(let served?):
      phase = .answered
      return .serve(served)
    case .withheld(nil): return decideWithoutStored(now: now)
    case .sent(let forwarding, _):
      phase = .answered
      guard case .outage = ending else { return nil }
      let outcome = ForwardingOutcome(ofFailure: forwarding, for: request, stored: stored, now: now)
      guard case .serveStale(let index, let response) = outcome.answer else { return nil }
      return .serve(Served(index: index, response: response, reason: .originFailed))
    case .completing(let missing):
      phase = .answered
      if case .complete = ending, missing > 0 { return .abort }
      return nil
    case .begun, .lookingUp, .sending, .answered: return nil
    }
  }
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
  /// Whether the request may wait for the response to another request for the same URI. True for a GET without conditional fields,
  /// Range, Cache-Control and Pragma, if its cache policy permits the cache to answer the request.
  fileprivate var isCollapsible: Bool {
    method == "GET" && (policy == .automatic || policy == .storedElseLoad) && !hasOwnConditions
      && !["Range", "Cache-Control", "Pragma"].contains(where: fields.contains)
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
