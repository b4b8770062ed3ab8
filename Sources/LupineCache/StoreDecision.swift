// StoreDecision: decides whether a response is stored (RFC 9111 §3).

package import LupineWire

/// The cache's decision on whether to store a response from the origin.
package enum StoreDecision: Sendable, Equatable {
  /// The reason why the cache doesn't store a response.
  package enum Refusal: Sendable, Hashable {
    /// The cache stores only responses to GET requests without content, and those to POST that say that they are the current
    /// representation of the URI. The request isn't one of them.
    case method
    /// The request has no-store, or the response has no-store without must-understand.
    case noStore
    /// The status code is one that this cache never stores, or the response has must-understand and the cache doesn't understand
    /// its status code.
    case status
    /// Neither a Cache-Control directive, the Expires field nor the status code permits storing the response.
    case notCacheable
    /// The response's Vary prevents storing it: no later request could match it, or it names too many fields or fields whose values
    /// are too long.
    case vary(SelectingFields.Failure)
  }

  /// Store the response once its body has arrived completely, and remove the stored responses that it supersedes.
  ///
  /// The writer of the store ensures that an incomplete body is never stored (RFC 9111 §3.3).
  case store(StoredResponse)
  case refuse(Refusal)

  /// Decides from the head of a response whether the cache stores the response. A 206 is stored only if `storesParts` is true: the
  /// owner then combines parts of the same version, and never stores one whose body isn't as long as its Content-Range says.
  package init(
    _ request: CacheRequest, status: Int, fields: Fields, times: ExchangeTimes,
    bodyForm: StoredResponse.BodyForm = .received, storesParts: Bool = false
  ) {
    let directives = CacheControl(fields)
    let isRepresentation = request.method == "POST" && status == 200 && request.isLocated(by: fields)
    guard isRepresentation || request.method == "GET" && request.content == .none else {
      self = .refuse(.method)
      return
    }
    let mustUnderstand = directives.flags.contains(.mustUnderstand)
    // A part of a coded representation is of no use without the rest.
    let isPart =
      storesParts && status == 206 && request.fields.contains("Range") && StoredPart(fields) != nil
      && bodyForm == .received && !fields.contains("Content-Encoding")
    guard isPart || Self.isStorable(status), !mustUnderstand || Self.understands(status) else {
      self = .refuse(.status)
      return
    }
    // If both must-understand and no-store are present, a cache that implements must-understand ignores no-store (RFC 9111
    // §5.2.2.3).
    let forbids = directives.flags.contains(.noStore) && !mustUnderstand
    guard !forbids, !CacheControl(request: request.fields).flags.contains(.noStore) else {
      self = .refuse(.noStore)
      return
    }
    let isCacheable =
      !directives.flags.isDisjoint(with: [.isPublic, .isPrivate]) || directives.maxAge != .absent
      || fields.contains("Expires") || FreshnessLifetime.allowsHeuristic(status)
    guard isCacheable else {
      self = .refuse(.notCacheable)
      return
    }
    do throws(SelectingFields.Failure) {
      let response = StoredResponse(
        status: status, fields: fields.storable(receivedAt: times.response), times: times,
        partition: request.partition(of: fields),
        selectingFields: try SelectingFields(vary: fields, of: request), bodyForm: bodyForm)
      // A response to POST needs explicit freshness (RFC 9110 §9.3.3).
      self = isRepresentation && !response.lifetime.isExplicit ? .refuse(.notCacheable) : .store(response)
    } catch {
      self = .refuse(.vary(error))
    }
  }

  /// Returns whether a response with the status code can answer other requests for the URI.
  ///
  /// The response must be final. It must not depend on the request's credentials for the origin (401) or a proxy (407), or on its
  /// Range (206, 416), conditions (304, 412) or expectation (417). If a 401 were stored, the cache would serve it for the same
  /// request with credentials. Caches must not store 428, 429, 431 and 511 (RFC 6585).
  private static func isStorable(_ status: Int) -> Bool {
    switch status {
    case ..<200, 206, 304, 401, 407, 412, 416, 417, 428, 429, 431, 511: false
    default: true
    }
  }

  /// Returns whether the cache understands the status code, as must-understand requires: it implements the code's requirements for
  /// caches (RFC 9111 §5.2.2.3).
  private static func understands(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 403, 404, 405, 410, 414, 500, 501, 502, 503, 504: true
    default: false
    }
  }
}

extension StoreDecision {
  /// Returns whether the response isn't stored although it is a newer version of the resource, so that the stored responses for
  /// which `isOutdated` returns true must be removed. True for a response with a status code of 2xx that isn't stored because of
  /// no-store or Vary. A redirect or an error, for example of a captive portal, may be temporary.
  package func outdatesStored(status: Int) -> Bool {
    guard case .refuse(let refusal) = self, (200..<300).contains(status) else { return false }
    return switch refusal {
    case .noStore, .vary: true
    case .method, .status, .notCacheable: false
    }
  }
}

extension StoredResponse {
  /// Returns whether the cache could serve this response for a later request: while it is fresh, after a validation, or while it is
  /// stale if the origin allows that (RFC 5861). Always true if the policy accepts responses of any age.
  package func isReusable(under policy: CachePolicy) -> Bool {
    if policy == .storedElseLoad || policy == .storedOnly || hasValidator { return true }
    guard cacheControl.noCache != .everything else { return false }
    return lifetime.seconds > 0 || cacheControl.staleWhileRevalidate != .absent
      || cacheControl.staleIfError != .absent
  }

  /// Returns whether `new`, a later response to `request`, replaces this stored response. It does if `request` would have selected
  /// the stored response, and both responses belong to the same partition. A part of a representation replaces only the parts that
  /// it contains, if it is of the same version.
  package func isSuperseded(by new: StoredResponse, to request: CacheRequest) -> Bool {
    partition == new.partition && isOutdated(by: new, to: request)
  }

  /// Returns whether `new`, a later response to `request` that isn't stored, has made this stored response outdated. The stored
  /// response may also be one that all sessions share, although `new` belongs to one session: otherwise the older response would
  /// answer the session's next request.
  package func isOutdated(by new: StoredResponse, to request: CacheRequest) -> Bool {
    isOutdated(byResponseTo: request) && !isBeside(new)
  }

  /// Returns whether a later response to `request` has made this stored response outdated, if HTTP's rules don't permit storing the
  /// later one.
  package func isOutdated(byResponseTo request: CacheRequest) -> Bool {
    request.mayRead(partition) && selectingFields.match(request)
  }

  /// Returns whether this stored response is of another version than `other`, and newer: it was requested after the head of `other`
  /// had arrived. `other` can nevertheless be stored later, if its body or the decision to store it took longer. Returns false if
  /// the clock has been set back since this response arrived, because its times can't be compared then.
  package func isNewer(than other: StoredResponse, now: Int64) -> Bool {
    times.request > other.times.response && times.response <= now && !isSameVersion(as: other)
  }
}

extension Fields {
  /// Returns the fields that the cache stores (RFC 9111 §3.1): all fields except those that belong to the connection or to a proxy.
  /// Adds a Date if there is no valid one (RFC 9110 §6.6.1).
  func storable(receivedAt now: Int64) -> Fields {
    let nominated = fieldNamesInConnection
    var stored = filtered { position in
      !isConnectionField(at: position)
        && (nominated.isEmpty || !nominated.contains(FieldList.lowercased(Array(self[position].name.utf8)[...])))
    }
    if CacheDate.value(of: "date", in: stored, now: now) == nil, let date = HTTPDate(secondsSince1970: now) {
      stored.remove("Date")
      stored.append(name: "Date", value: date.description)
    }
    return stored
  }

  /// Returns whether the cache doesn't store the field line at `position` because it belongs to the connection or to a proxy (RFC
  /// 9110 §7.6.1, RFC 9111 §3.1).
  private func isConnectionField(at position: Int) -> Bool {
    isNamed("connection", at: position) || isNamed("keep-alive", at: position)
      || isNamed("proxy-connection", at: position) || isNamed("te", at: position) || isNamed("trailer", at: position)
      || isNamed("transfer-encoding", at: position) || isNamed("upgrade", at: position)
      || isNamed("proxy-authenticate", at: position) || isNamed("proxy-authentication-info", at: position)
      || isNamed("proxy-authorization", at: position)
  }

  /// The names, in lowercase, of the fields that Connection names, so that the cache doesn't store them either. Empty for most
  /// responses, whose Connection has only `keep-alive` or `close`.
  private var fieldNamesInConnection: Set<String> {
    var names: Set<String> = []
    for position in indices where isNamed("connection", at: position) {
      FieldList.forEachMember(of: valueSlice(at: position)) { member in
        guard !FieldList.matches(member, "keep-alive"), !FieldList.matches(member, "close") else { return }
        names.insert(FieldList.lowercased(member))
      }
    }
    // A Connection field must not remove the fields that control the cache.
    return names.isEmpty
      ? names : names.subtracting(["cache-control", "expires", "vary", "date", "age", "etag", "last-modified"])
  }
}
