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
    case .unusable(let reason): return forward(reason, selected: selected)
    case .usable(let reason):
      guard let response = ServedResponse(stored[selected], to: request, now: now) else {
        return forward(.conditions, selected: selected)
      }
      let hit = CacheHit(index: selected, reason: reason, response: response)
      return reason == .staleWhileRevalidate ? .serveWhileRevalidating(hit, revalidation(of: selected)) : .serve(hit)
    }
  }

  private enum Usability {
    case usable(CacheHit.Reason)
    case unusable(Forwarding.Reason)
  }

  /// Returns why the response may be used without validation, or why not.
  private func usability(of response: StoredResponse) -> Usability {
    if request.policy == .storedElseLoad || request.policy == .storedOnly { return .usable(.policy) }
    let staleness = response.staleness(now: now)
    let isFresh = staleness < 0
    let flags = response.cacheControl.flags
    if response.state == .invalidated || response.cacheControl.noCache == .everything {
      return .unusable(.validationRequired)
    }
    if request.policy == .validate, !(isFresh && flags.contains(.immutable)) { return .unusable(.policy) }
    if directives.noCache != .absent { return .unusable(.requestDirective) }
    switch directives.maxAge {
    case .valid(let seconds) where response.currentAge(now: now) <= seconds: break
    case .absent: break
    case .valid, .invalid: return .unusable(.requestDirective)
    }
    switch directives.minFresh {
    case .valid(let seconds) where response.lifetime.seconds >= response.currentAge(now: now) + seconds: break
    case .absent: break
    case .valid, .invalid: return .unusable(.requestDirective)
    }
    if isFresh { return .usable(.fresh) }

    if flags.contains(.mustRevalidate) { return .unusable(.validationRequired) }
    switch directives.maxStale {
    case .unlimited: return .usable(.maxStale)
    case .seconds(let seconds) where staleness <= seconds: return .usable(.maxStale)
    case .absent, .invalid, .seconds: break
    }
    // With max-age, the client doesn't wish to receive a stale response (RFC 9111 §5.2.1.1).
    if directives.maxAge == .absent, case .valid(let seconds) = response.cacheControl.staleWhileRevalidate,
      staleness <= seconds
    {
      return .usable(.staleWhileRevalidate)
    }
    return .unusable(.stale)
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

  /// Returns the request's fields with the validators of the nominated responses (RFC 9111 §4.3.1): If-None-Match, and
  /// If-Modified-Since if only the selected one is nominated.
  private func conditions(selected: Int?) -> (Fields, nominated: [Int]) {
    let nominated = nominated(selected: selected)
    var fields = request.fields
    let tags = nominated.compactMap { stored[$0].entityTag?.bytes }
    if !tags.isEmpty { fields.append(name: "If-None-Match", valueBytes: Array(tags.joined(separator: ", ".utf8))) }
    if let selected, nominated == [selected], stored[selected].lastModified != nil,
      let date = stored[selected].fields.first("Last-Modified")
    {
      // The date is sent as received: servers often compare it byte by byte.
      fields.append(name: "If-Modified-Since", value: date)
    }
    return (fields, nominated)
  }

  /// Returns the responses whose validators are sent: the selected one, then those of the session's other responses that
  /// have a strong entity tag, the most recent first. Variants can share a weak tag, so it would confirm the wrong one.
  private func nominated(selected: Int?) -> [Int] {
    // If the selected response has no entity tag, a match with the tag of another would hide a new version of it.
    if let selected, stored[selected].entityTag == nil { return stored[selected].lastModified == nil ? [] : [selected] }
    let others = stored.indices.filter { index in
      index != selected && request.mayRead(stored[index].partition) && stored[index].entityTag?.strength == .strong
    }
    let sorted = others.sorted { stored[$1].isPreceded(by: stored[$0]) }
    return Array(((selected.map { [$0] } ?? []) + sorted).prefix(CacheLimits.entityTagsMax))
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
