// ForwardingOutcome: the answer to the caller and the changes of stored responses that follow from the origin's response to a
// forwarded request (RFC 9111 §4.3.3 to §4.3.5, §4.2.4, RFC 5861 §4).

package import LupineWire

/// A change of one stored response's metadata after the origin has responded.
package struct StoredUpdate: Sendable, Equatable {
  package enum Change: Sendable, Equatable {
    case replace(StoredResponse)
    /// Remove the stored response, for example because the new metadata has no-store.
    case remove
    /// Mark the stored response as invalidated, so that the cache validates it before serving it again.
    case invalidate
  }

  /// The index of the stored response to change, in the array of stored responses.
  package let index: Int
  package let change: Change
}

/// The result of a request that the cache forwarded to the origin: the answer for the caller, and the changes of stored responses.
package struct ForwardingOutcome: Sendable, Equatable {
  package enum Answer: Sendable, Equatable {
    /// Return the origin's response, or the error, to the caller. `StoreDecision` decides whether to store the response.
    case passOn
    /// Serve the stored response at this index, because the origin has confirmed it with a 304.
    case serveValidated(index: Int, ServedResponse)
    /// Serve the stored response at this index although it may be stale, because the origin failed (RFC 5861 §4).
    case serveStale(index: Int, ServedResponse)
    /// Send the request again without the cache's conditions, because the 304 doesn't identify any of the stored responses.
    case sendWithoutConditions
  }

  package let answer: Answer
  package let updates: [StoredUpdate]

  /// Determines the outcome of a request to the origin for which a final response has arrived.
  package init(
    of forwarding: Forwarding, for request: CacheRequest, stored: [StoredResponse], status: Int, fields: Fields,
    times: ExchangeTimes
  ) {
    let now = times.response
    switch status {
    case 304:
      self.init(notModified: fields, forwarding, request, stored, times)
    case 500, 502, 503, 504:
      self.init(fallback: forwarding, request, stored, now)
    case 200 where request.method == "HEAD":
      let comparison = HeadComparison(fields: fields, request: request, times: times)
      self.init(answer: .passOn, updates: comparison.updates(of: stored), for: request)
    default:
      self.init(answer: .passOn, updates: [])
    }
  }

  /// Determines the outcome of a request to the origin that failed before a response arrived.
  package init(ofFailure forwarding: Forwarding, for request: CacheRequest, stored: [StoredResponse], now: Int64) {
    self.init(fallback: forwarding, request, stored, now)
  }

  private init(answer: Answer, updates: [StoredUpdate]) {
    self.answer = answer
    self.updates = updates
  }

  /// Creates an outcome. Discards the updates if the request has the directive no-store, so that the cache stores no part of the
  /// response (RFC 9111 §5.2.1.5).
  private init(answer: Answer, updates: [StoredUpdate], for request: CacheRequest) {
    let mayStore = !CacheControl(request: request.fields).flags.contains(.noStore)
    self.init(answer: answer, updates: mayStore ? updates : [])
  }

  /// Creates the outcome of a failed request or an error response: serves the selected stored response if that is allowed, and
  /// otherwise returns the error or the error response to the caller.
  private init(
    fallback forwarding: Forwarding, _ request: CacheRequest, _ stored: [StoredResponse], _ now: Int64
  ) {
    guard let index = forwarding.selected, stored[index].allowsUse(afterErrorFor: request, now: now),
      let response = ServedResponse(stored[index], to: request, now: now)
    else {
      self.init(answer: .passOn, updates: [])
      return
    }
    self.init(answer: .serveStale(index: index, response), updates: [])
  }

  private init(
    notModified fields: Fields, _ forwarding: Forwarding, _ request: CacheRequest, _ stored: [StoredResponse],
    _ times: ExchangeTimes
  ) {
    // If the cache has added no conditions, the 304 answers the caller's own conditions, so the caller gets it.
    let isCallers = forwarding.nominated.isEmpty
    let candidates =
      isCallers ? stored.indices.filter { stored[$0].isSelectable(for: request) } : forwarding.nominated
    let identified = Self.identified(by: fields, to: request, among: candidates, of: stored)
    let updates = identified.map { index in
      StoredUpdate(index: index, change: stored[index].freshened(by: fields, to: request, times: times))
    }
    guard !isCallers else {
      self.init(answer: .passOn, updates: updates, for: request)
      return
    }
    // A 304 without a validator refers to the nominated response if there is exactly one. Otherwise it is ambiguous.
    let isAnonymous = !fields.contains("ETag") && !fields.contains("Last-Modified")
    let best =
      stored.preferred(among: identified)
      ?? Self.confirmed(by: fields, to: request, among: candidates, of: stored)
    guard let index = best ?? (isAnonymous && candidates.count == 1 ? candidates[0] : nil) else {
      self.init(answer: .sendWithoutConditions, updates: updates, for: request)
      return
    }
    let confirmed = updates.first { $0.index == index }?.change.response ?? stored[index]
    let response = ServedResponse(validated: confirmed, to: request, now: times.response)
    self.init(answer: .serveValidated(index: index, response), updates: updates, for: request)
  }

  /// Returns the indexes of the stored responses that a 304 with these fields updates (RFC 9111 §4.3.4). Only the indexes in
  /// `candidates` are considered.
  private static func identified(
    by fields: Fields, to request: CacheRequest, among candidates: [Int], of stored: [StoredResponse]
  ) -> [Int] {
    let tag = EntityTag(fields)
    if let tag, tag.strength == .strong {
      return candidates.filter { stored[$0].entityTag?.matchesStrongly(tag) ?? false }
    }
    // Variants may share a weak tag or a date, so only responses that can be selected for this request are considered.
    let selectable = candidates.filter { stored[$0].isSelectable(for: request) }
    let matching: [Int]
    if let tag {
      matching = selectable.filter { stored[$0].entityTag?.matchesWeakly(tag) ?? false }
    } else if let modified = fields.valueSlice("last-modified") {
      matching = selectable.filter { index in
        stored[index].lastModified.map { $0 == CacheDate.value(of: modified, now: $0) } ?? false
      }
    } else {
      return selectable.count == 1 && !stored[selectable[0]].hasValidator ? selectable : []
    }
    return stored.preferred(among: matching).map { [$0] } ?? []
  }

  /// Returns the index of the stored response that a 304 confirms but doesn't update. This is the response that the request
  /// selects, if its weak tag and the strong tag of the 304 differ only in `W/`. Otherwise, returns nil.
  ///
  /// nginx weakens the tag of a response that it compresses, but not the tag of a 304. The origin has compared the tags weakly, as
  /// If-None-Match requires, so the stored response is valid. But a 304 with a strong tag must not update a response without this
  /// strong tag (RFC 9111 §4.3.4).
  private static func confirmed(
    by fields: Fields, to request: CacheRequest, among candidates: [Int], of stored: [StoredResponse]
  ) -> Int? {
    guard let tag = EntityTag(fields), tag.strength == .strong else { return nil }
    let matching = candidates.filter { index in
      stored[index].isSelectable(for: request) && (stored[index].entityTag.map { tag.matchesWeakly($0) } ?? false)
    }
    return stored.preferred(among: matching)
  }
}

extension StoredUpdate.Change {
  /// The response with the new metadata, or nil if the change removes or invalidates the stored response.
  var response: StoredResponse? { if case .replace(let response) = self { response } else { nil } }
}

extension StoredResponse {
  /// Returns whether the cache may serve this stored response instead of an error (RFC 5861 §4). The request or the response must
  /// have a stale-if-error that is at least the response's staleness, and no directive may forbid serving stale responses.
  fileprivate func allowsUse(afterErrorFor request: CacheRequest, now: Int64) -> Bool {
    let directives = CacheControl(request: request.fields)
    guard request.isServable, state == .valid, cacheControl.noCache != .everything, directives.noCache == .absent,
      request.policy == .automatic
    else { return false }
    guard isFresh(now: now) || !cacheControl.flags.contains(.mustRevalidate) else { return false }
    let staleness = staleness(now: now)
    return [directives.staleIfError, cacheControl.staleIfError].contains { limit in
      if case .valid(let seconds) = limit { staleness <= seconds } else { false }
    }
  }
}

/// Compares the origin's response to a HEAD request with the stored responses to GET (RFC 9111 §4.3.5).
private struct HeadComparison {
  let fields: Fields
  let request: CacheRequest
  let times: ExchangeTimes

  func updates(of stored: [StoredResponse]) -> [StoredUpdate] {
    stored.indices.filter { stored[$0].isSelectable(for: request) && stored[$0].status == 200 }.map { index in
      let change =
        matches(stored[index]) ? stored[index].freshened(by: fields, to: request, times: times) : .invalidate
      return StoredUpdate(index: index, change: change)
    }
  }

  /// Returns whether the stored response has the same ETag, Last-Modified and Content-Length as the HEAD response. Ignores fields
  /// that the HEAD response lacks. A HEAD response without validators doesn't match an invalidated response, because it can't
  /// confirm that response.
  private func matches(_ stored: StoredResponse) -> Bool {
    guard stored.state == .valid || fields.contains("ETag") || fields.contains("Last-Modified") else { return false }
    return ["ETag", "Last-Modified", "Content-Length"].allSatisfy { name in
      !fields.contains(name) || fields.valueBytes(name) == stored.fields.valueBytes(name)
    }
  }
}
