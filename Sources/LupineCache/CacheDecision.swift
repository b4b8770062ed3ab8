// CacheDecision: decides how to answer a request, given the stored responses for its URI (RFC 9111 §4).

package import LupineWire

/// A stored response that the cache serves for a request, and the reason why it may be served.
package struct CacheHit: Sendable, Equatable {
  package enum Reason: Sendable, Hashable {
    case fresh
    /// The caller's cache policy accepts stored responses of any age.
    case policy
    /// The stored response is stale, but the request accepts stale responses (max-stale).
    case maxStale
    /// The stored response is stale, but the origin allows serving it while it is being revalidated (stale-while-revalidate, RFC
    /// 5861 §3).
    case staleWhileRevalidate
  }

  /// The index of the response to serve in the array of stored responses.
  package let index: Int
  package let reason: Reason
  package let response: ServedResponse
}

/// A request that the cache sends to the origin, with the conditions that it adds, and the reason why.
package struct Forwarding: Sendable, Equatable {
  package enum Reason: Sendable, Hashable {
    /// The cache can't answer the request, because its method is neither GET nor HEAD, or because it has content.
    case method
    /// The caller's cache policy forbids the use of stored responses, or requires their validation.
    case policy
    /// The cache has no response for the request's URI, or none that this session may read.
    case nothingStored
    /// The cache has responses for the request's URI, but the request has other values in the fields that their Vary names.
    case noVariant
    /// The stored response that the request selects is stale.
    case stale
    /// The stored response that the request selects must be validated, because it has no-cache or has been invalidated.
    case validationRequired
    /// A Cache-Control directive in the request, such as no-cache, forbids the use of the stored response.
    case requestDirective
    /// The request has conditions or ranges that only the origin can evaluate.
    case conditions
  }

  package let reason: Reason
  /// The fields of the request to send: the caller's fields, and the conditions that the cache adds.
  package let fields: Fields
  /// The indexes of the stored responses whose validators (ETag or Last-Modified) are in the conditions that the cache adds. Empty
  /// if the cache adds no conditions.
  package let nominated: [Int]
  /// The index of the stored response that the request selects, or nil if there is none. The cache may serve this response if the
  /// origin fails.
  package let selected: Int?
  /// The index of the stored part of the representation that the request asks to complete, or nil. The request has Range and
  /// If-Range, so that the origin sends the rest if the part is of the current version, and everything otherwise.
  package var completed: Int?
}

/// The cache's decision on how to answer a request.
package enum CacheDecision: Sendable, Equatable {
  case serve(CacheHit)
  /// Serve the stored response, and send a GET request that revalidates it at the same time. The origin's response to that request
  /// updates the cache.
  case serveWhileRevalidating(CacheHit, Forwarding)
  case forward(Forwarding)
  /// Answer with a 504 (Gateway Timeout), because the caller accepts only a stored response and the cache has none that it may
  /// serve (RFC 9111 §5.2.1.7).
  case gatewayTimeout

  /// Decides how to answer a request. `stored` contains the cache's responses for the request's URI. `now` is the current time in
  /// seconds since 1970.
  package init(_ request: CacheRequest, stored: [StoredResponse], now: Int64) {
    self = CacheChoice(request: request, stored: stored, now: now).decision
  }
}

/// The values from which the cache decides how to answer a request, and the steps of this decision.
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
    // Only an origin may evaluate If-Match and If-Unmodified-Since (RFC 9111 §4.3.2).
    guard !request.fields.contains("If-Match"), !request.fields.contains("If-Unmodified-Since") else {
      return forward(.conditions)
    }
    guard let selected = request.selection(among: stored) else {
      if let completion { return .forward(completion) }
      let isReadable = stored.contains { request.mayRead($0.partition) }
      return forward(isReadable ? .noVariant : .nothingStored)
    }
    switch usability(of: stored[selected]) {
    case .unusable(let reason): return forward(reason, selected: selected)
    case .usable(let reason):
      guard let response = ServedResponse(stored[selected], to: request, now: now) else {
        return forward(.conditions, selected: selected)
      }
      // A part can't be validated by a request for the whole representation.
      if stored[selected].isPartial, case .staleWhileRevalidate = reason { return forward(.stale, selected: selected) }
      let hit = CacheHit(index: selected, reason: reason, response: response)
      // After only-if-cached, the cache sends no request for the caller, not even in the background.
      guard reason == .staleWhileRevalidate, !directives.flags.contains(.onlyIfCached) else { return .serve(hit) }
      return .serveWhileRevalidating(hit, revalidation(of: selected))
    }
  }

  private enum Usability {
    case usable(CacheHit.Reason)
    case unusable(Forwarding.Reason)
  }

  /// Returns whether the stored response may be served without validation, and the reason.
  private func usability(of response: StoredResponse) -> Usability {
    let age = response.currentAge(now: now)
    let staleness = age - response.lifetime.seconds
    // response_is_fresh = (freshness_lifetime > current_age)
    let isFresh = staleness < 0
    if request.policy == .storedElseLoad || request.policy == .storedOnly {
      // An error whose lifetime is only estimated must not answer requests of this policy forever.
      let isEstimate = if case .heuristic = response.lifetime { true } else { false }
      return isEstimate && response.status >= 400 && !isFresh ? .unusable(.stale) : .usable(.policy)
    }
    let flags = response.cacheControl.flags
    if response.state == .invalidated || response.cacheControl.noCache == .everything {
      return .unusable(.validationRequired)
    }
    // Without TLS, anyone on the path could have made a forged response immutable (RFC 8246 §3).
    let isImmutable = flags.contains(.immutable) && request.uri.origin.scheme == .https
    if request.policy == .validate, !(isFresh && isImmutable) { return .unusable(.policy) }
    if directives.noCache != .absent { return .unusable(.requestDirective) }
    switch directives.maxAge {
    case .valid(let seconds) where age <= seconds: break
    case .absent: break
    case .valid, .invalid: return .unusable(.requestDirective)
    }
    switch directives.minFresh {
    case .valid(let seconds) where response.lifetime.seconds >= age + seconds: break
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
    // A client that sends max-age doesn't accept a stale response (RFC 9111 §5.2.1.1).
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
    // The cache adds no conditions to a HEAD request or to a range request, because a head or a part of a representation can't
    // replace a stored response. It also adds none if the caller has set conditions, so that the caller gets the 304.
    let addsConditions =
      request.method == "GET" && request.isServable && request.policy != .reload && !request.hasOwnConditions
      && !request.fields.contains("Range")
    guard addsConditions else {
      return Forwarding(reason: reason, fields: request.fields, nominated: [], selected: selected)
    }
    let (fields, nominated) = conditions(selected: selected)
    return Forwarding(reason: reason, fields: fields, nominated: nominated, selected: selected)
  }

  /// The request for the rest of the representation, if its beginning is stored with a strong entity tag (RFC 9111 §3.3). Nil if
  /// the owner can't complete it, if nothing suitable is stored, or if the caller has set conditions or directives.
  private var completion: Forwarding? {
    guard request.completedBytesMax > 0, request.method == "GET", request.policy == .automatic,
      !request.hasOwnConditions,
      !["Range", "Cache-Control", "Pragma"].contains(where: request.fields.contains)
    else { return nil }
    // Responses of different partitions aren't combined.
    let partition = request.partition(of: Fields())
    let beginnings = stored.indices.filter { index in
      stored[index].part?.range.lowerBound == 0 && stored[index].entityTag?.strength == .strong
        && stored[index].state == .valid && stored[index].partition == partition
        && stored[index].selectingFields.match(request)
    }
    guard let preferred = stored.preferred(among: beginnings), let tag = stored[preferred].entityTag else { return nil }
    let completable = beginnings.filter { index in
      stored[index].isSameVersion(as: stored[preferred]) && stored[index].bodyByteCount <= request.completedBytesMax
    }
    // Of the beginnings of the preferred version, the longest leaves the least to be sent.
    guard let index = completable.max(by: { stored[$0].bodyByteCount < stored[$1].bodyByteCount }),
      let part = stored[index].part
    else { return nil }
    var fields = request.fields
    fields.append(name: "Range", value: "bytes=\(part.range.upperBound)-")
    fields.append(name: "If-Range", valueBytes: tag.bytes)
    return Forwarding(reason: .nothingStored, fields: fields, nominated: [], selected: nil, completed: index)
  }

  /// Returns the background request that revalidates the stored response at `selected`, while the cache serves that stale response.
  /// No caller waits for the background request, so it has the cache's conditions in place of the caller's range and conditions.
  private func revalidation(of selected: Int) -> Forwarding {
    CacheChoice(request: request.independent, stored: stored, now: now).forwarding(.stale, selected: selected)
  }

  /// Returns the request's fields with the conditions that the cache adds, and the indexes of the nominated responses, whose
  /// validators these conditions contain (RFC 9111 §4.3.1). The conditions are If-None-Match, and also If-Modified-Since if only
  /// the selected response is nominated.
  private func conditions(selected: Int?) -> (Fields, nominated: [Int]) {
    let nominated = nominated(selected: selected)
    var fields = request.fields
    let tags = nominated.compactMap { stored[$0].entityTag?.bytes }
    if !tags.isEmpty { fields.append(name: "If-None-Match", valueBytes: Array(tags.joined(separator: ", ".utf8))) }
    if let selected, nominated == [selected], stored[selected].lastModified != nil,
      let date = stored[selected].fields.first("Last-Modified")
    {
      // The date is sent as received, because servers often compare it byte by byte.
      fields.append(name: "If-Modified-Since", value: date)
    }
    return (fields, nominated)
  }

  /// Returns the indexes of the stored responses whose validators the cache sends, at most `CacheLimits.entityTagsMax`.
  ///
  /// The selected response comes first. The other responses that the session may read and that have a strong entity tag follow,
  /// most recent first. Weak tags of other responses aren't sent: variants can share a weak tag, so a match could confirm the wrong
  /// variant.
  private func nominated(selected: Int?) -> [Int] {
    // If the selected response has no entity tag, the cache doesn't send the tags of other responses, because a match with one of
    // them would hide a newer version of the selected response.
    if let selected, stored[selected].entityTag == nil { return stored[selected].lastModified == nil ? [] : [selected] }
    let others = stored.indices.filter { index in
      index != selected && request.mayRead(stored[index].partition) && !stored[index].isPartial
        && stored[index].entityTag?.strength == .strong
    }
    let sorted = others.sorted { stored[$1].isPreceded(by: stored[$0]) }
    return Array(((selected.map { [$0] } ?? []) + sorted).prefix(CacheLimits.entityTagsMax))
  }
}

extension CacheRequest {
  /// Returns the index of the stored response that this request selects, regardless of its freshness. Returns nil if it selects
  /// none (RFC 9111 §4, §4.1).
  package func selection(among stored: [StoredResponse]) -> Int? {
    stored.preferred(among: stored.indices.lazy.filter { stored[$0].isSelectable(for: self) })
  }
}
