// CacheDecision: what to do with a request, given the stored responses for its URI (RFC 9111 §4).

package import LupineWire

/// A stored response that is served, and why it may be.
package struct CacheHit: Sendable, Equatable {
  package enum Reason: Sendable, Hashable {
    case fresh
    /// The caller's policy accepts any age.
    case policy
    /// The request accepts stale responses (max-stale).
    case maxStale
    /// The origin allows it while the response is being revalidated (RFC 5861 §3).
    case staleWhileRevalidate
  }

  /// The position of the response among the stored ones.
  package let index: Int
  package let reason: Reason
  package let response: ServedResponse
}

/// A request that is sent to the origin, and what the cache adds to it.
package struct Forwarding: Sendable, Equatable {
  package enum Reason: Sendable, Hashable {
    /// The method, or the content of a GET, can't be answered from the cache.
    case method
    /// The caller's policy excludes stored responses or asks for their validation.
    case policy
    /// There is no stored response for the URI that this session may read.
    case nothingStored
    /// No stored response has the request's values of the fields that Vary names.
    case noVariant
    /// The selected response is stale.
    case stale
    /// The selected response requires validation (no-cache), or has been invalidated.
    case validationRequired
    /// A directive of the request excludes the selected response.
    case requestDirective
    /// The request has conditions or ranges that only the origin can evaluate.
    case conditions
  }

  package let reason: Reason
  /// The fields to send: the request's, with the cache's conditions.
  package let fields: Fields
  /// The positions of the stored responses whose validators are in the conditions, or none if the cache has added no
  /// conditions.
  package let nominated: [Int]
  /// The position of the selected response, which may be used if the origin fails.
  package let selected: Int?
}

/// What to do with a request.
package enum CacheDecision: Sendable, Equatable {
  case serve(CacheHit)
  /// Serve the response and send a GET request at the same time; the origin's answer updates the cache.
  case serveWhileRevalidating(CacheHit, Forwarding)
  case forward(Forwarding)
  /// Answer 504 (Gateway Timeout): the caller accepts only a stored response, and none can be used (RFC 9111 §5.2.1.7).
  case gatewayTimeout

  /// Decides by the stored responses for the request's URI and the time in seconds since 1970.
  package init(_ request: CacheRequest, stored: [StoredResponse], now: Int64) {
    self = CacheChoice(request: request, stored: stored, now: now).decision
  }
}

/// The steps of a decision.
private struct CacheChoice {
  let request: CacheRequest
  let stored: [StoredResponse]
  let now: Int64
  let directives: CacheControl

  init(request: CacheRequest, stored: [StoredResponse], now: Int64) {
    self.request = request
    self.stored = stored
    self.now = now
    directives = CacheControl(request: request.fields)
  }

  var decision: CacheDecision {
    guard request.isServable else { return forward(.method) }
    guard request.policy != .reload else { return forward(.policy) }
    // Only origins evaluate these (RFC 9111 §4.3.2).
    guard !request.fields.contains("If-Match"), !request.fields.contains("If-Unmodified-Since") else {
      return forward(.conditions)
    }
    guard let selected = request.selection(among: stored) else {
      let isReadable = stored.contains { request.mayRead($0.partition) }
      return forward(isReadable ? .noVariant : .nothingStored)
    }
    switch usability(of: stored[selected]) {
    case .failure(let reason): return forward(reason.reason, selected: selected)
    case .success(let reason):
      guard let response = ServedResponse(stored[selected], to: request, now: now) else {
        return forward(.conditions, selected: selected)
      }
      let hit = CacheHit(index: selected, reason: reason, response: response)
      return reason == .staleWhileRevalidate ? .serveWhileRevalidating(hit, revalidation(of: selected)) : .serve(hit)
    }
  }

  private struct Unusable: Error { let reason: Forwarding.Reason }

  /// Returns why the response may be used without validation, or why not.
  private func usability(of response: StoredResponse) -> Result<CacheHit.Reason, Unusable> {
    func no(_ reason: Forwarding.Reason) -> Result<CacheHit.Reason, Unusable> { .failure(Unusable(reason: reason)) }

    if request.policy == .storedElseLoad || request.policy == .storedOnly { return .success(.policy) }
    let staleness = response.staleness(now: now)
    let isFresh = staleness < 0
    let flags = response.cacheControl.flags
    if response.state == .invalidated || response.cacheControl.noCache == .everything { return no(.validationRequired) }
    if request.policy == .validate, !(isFresh && flags.contains(.immutable)) { return no(.policy) }
    if directives.noCache != .absent { return no(.requestDirective) }
    switch directives.maxAge {
    case .valid(let seconds) where response.currentAge(now: now) <= seconds: break
    case .absent: break
    case .valid, .invalid: return no(.requestDirective)
    }
    switch directives.minFresh {
    case .valid(let seconds) where response.lifetime.seconds >= response.currentAge(now: now) + seconds: break
    case .absent: break
    case .valid, .invalid: return no(.requestDirective)
    }
    if isFresh { return .success(.fresh) }

    if flags.contains(.mustRevalidate) { return no(.validationRequired) }
    switch directives.maxStale {
    case .unlimited: return .success(.maxStale)
    case .seconds(let seconds) where staleness <= seconds: return .success(.maxStale)
    case .absent, .invalid, .seconds: break
    }
    // With max-age, the client doesn't wish to receive a stale response (RFC 9111 §5.2.1.1).
    if directives.maxAge == .absent, case .valid(let seconds) = response.cacheControl.staleWhileRevalidate,
      staleness <= seconds
    {
      return .success(.staleWhileRevalidate)
    }
    return no(.stale)
  }

  private func forward(_ reason: Forwarding.Reason, selected: Int? = nil) -> CacheDecision {
    if request.policy == .storedOnly || directives.flags.contains(.onlyIfCached) { return .gatewayTimeout }
    return .forward(forwarding(reason, selected: selected))
  }

  private func forwarding(_ reason: Forwarding.Reason, selected: Int?) -> Forwarding {
    // A part of a representation or a head can't replace a stored response, and the caller's own conditions stay as they
    // are, so that the caller gets the 304.
    let addsConditions =
      request.method == "GET" && request.isServable && request.policy != .reload && !request.hasOwnConditions
      && !request.fields.contains("Range")
    guard addsConditions else {
      return Forwarding(reason: reason, fields: request.fields, nominated: [], selected: selected)
    }
    let (fields, nominated) = conditions(selected: selected)
    return Forwarding(reason: reason, fields: fields, nominated: nominated, selected: selected)
  }

  /// The background request for a response that is served stale: it isn't for a caller, so it has the conditions of the
  /// cache and neither a range nor the caller's conditions.
  private func revalidation(of selected: Int) -> Forwarding {
    var independent = request
    independent.method = "GET"
    for name in ["If-None-Match", "If-Modified-Since", "If-Range", "Range"] { independent.fields.remove(name) }
    return CacheChoice(request: independent, stored: stored, now: now).forwarding(.stale, selected: selected)
  }

  /// Returns the request's fields with the validators of stored responses (RFC 9111 §4.3.1).
  ///
  /// If-None-Match has the entity tag of the selected response and the strong ones of the others that the session may
  /// read, the most recent first; a weak tag may be shared by variants. If-Modified-Since is sent for a single response.
  private func conditions(selected: Int?) -> (Fields, nominated: [Int]) {
    let readable = stored.indices.filter { request.mayRead(stored[$0].partition) }
      .sorted { first, second in
        if first == selected || second == selected { return first == selected }
        return stored[second].isPreceded(by: stored[first])
      }
    var fields = request.fields
    // If the selected response has no entity tag, a match with the tag of another would hide a new version of it.
    let tagged =
      selected.map { stored[$0].entityTag == nil } == true
      ? []
      : readable.filter { $0 == selected ? stored[$0].entityTag != nil : stored[$0].entityTag?.strength == .strong }
        .prefix(CacheLimits.entityTagsMax)
    if !tagged.isEmpty {
      let tags = tagged.compactMap { stored[$0].entityTag?.bytes }
      fields.append(name: "If-None-Match", valueBytes: Array(tags.joined(separator: ", ".utf8)))
    }
    let nominated = tagged.isEmpty ? selected.map { [$0] } ?? [] : Array(tagged)
    guard nominated.count == 1, nominated[0] == selected, stored[nominated[0]].lastModified != nil,
      let date = stored[nominated[0]].fields.first("Last-Modified")
    else { return (fields, tagged.isEmpty ? [] : nominated) }
    // The date is sent as received: servers often compare it byte by byte.
    fields.append(name: "If-Modified-Since", value: date)
    return (fields, nominated)
  }
}

extension CacheRequest {
  /// Returns the position of the response to use, before its freshness is considered, or nil if none can be selected (RFC
  /// 9111 §4, §4.1).
  package func selection(among stored: [StoredResponse]) -> Int? {
    stored.indices.filter { stored[$0].isSelectable(for: self) }.max { stored[$0].isPreceded(by: stored[$1]) }
  }

  /// Whether the caller validates a response of its own.
  var hasOwnConditions: Bool {
    ["If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range"].contains(
      where: fields.contains)
  }
}
