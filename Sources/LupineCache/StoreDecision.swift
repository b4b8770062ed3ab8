// StoreDecision: decides whether a response is stored (RFC 9111 §3).

package import LupineWire

/// The decision whether to store a response from the origin.
package enum StoreDecision: Sendable, Equatable {
  /// The reason why a response isn't stored.
  package enum Refusal: Sendable, Hashable {
    /// The request isn't a GET without content.
    case method
    /// The request or the response has no-store.
    case noStore
    /// The status code isn't final, or the cache must understand it to store the response and doesn't.
    case status
    /// Neither a directive nor the status code permits storing the response.
    case notCacheable
    /// Vary prevents every match, or names too many fields or too long ones.
    case vary(SelectingFields.Failure)
  }

  /// Store the response once its body has arrived completely, and remove the responses that it supersedes.
  ///
  /// An incomplete body is never stored (RFC 9111 §3.3); the store's writer ensures this.
  case store(StoredResponse)
  case refuse(Refusal)

  /// Decides by the response's head. 206 responses aren't stored or combined.
  package init(
    _ request: CacheRequest, status: Int, fields: Fields, times: ExchangeTimes,
    bodyForm: StoredResponse.BodyForm = .received
  ) {
    let directives = CacheControl(fields)
    guard request.method == "GET", request.content == .none else {
      self = .refuse(.method)
      return
    }
    let mustUnderstand = directives.flags.contains(.mustUnderstand)
    guard Self.isStorable(status), !mustUnderstand || Self.understands(status) else {
      self = .refuse(.status)
      return
    }
    // A cache that implements must-understand ignores no-store if both are present (RFC 9111 §5.2.2.3).
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
      self = .store(
        StoredResponse(
          status: status, fields: fields.storable(receivedAt: times.response), times: times,
          partition: request.partition(of: fields),
          selectingFields: try SelectingFields(vary: fields, of: request.fields), bodyForm: bodyForm))
    } catch {
      self = .refuse(.vary(error))
    }
  }

  /// Returns whether a response with the status code can answer other requests for the URI: it is final, and doesn't depend on a
  /// proxy (407) or on the request's Range (206, 416), conditions (304, 412) or expectation (417).
  private static func isStorable(_ status: Int) -> Bool {
    status >= 200 && ![206, 304, 407, 412, 416, 417].contains(status)
  }

  /// Returns whether the cache implements the status code's requirements for caches.
  private static func understands(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 414, 500, 501, 502, 503, 504: true
    default: false
    }
  }
}

extension StoredResponse {
  /// Returns whether a new response to the request replaces this one, because the request would have selected it. The response of
  /// a single session doesn't replace one that other sessions can use.
  package func isSuperseded(by new: StoredResponse, to request: CacheRequest) -> Bool {
    partition == new.partition && selectingFields.match(request.fields)
  }
}

extension Fields {
  /// Returns the fields to store (RFC 9111 §3.1): all except those of the connection and of
  /// proxies, and with a valid Date (RFC 9110 §6.6.1).
  func storable(receivedAt now: Int64) -> Fields {
    let excluded = connectionFieldNames
    var stored = Fields()
    for position in indices {
      let name = self[position].name
      if !excluded.contains(name.lowercased()) { stored.append(name: name, valueBytes: valueBytes(at: position)) }
    }
    if CacheDate.value(of: "Date", in: stored, now: now) == nil, let date = HTTPDate(secondsSince1970: now) {
      stored.remove("Date")
      stored.append(name: "Date", value: date.description)
    }
    return stored
  }

  /// The names, in lowercase, of the fields that belong to the connection or to a proxy: those of RFC 9110 §7.6.1 and RFC
  /// 9111 §3.1, and those that Connection names.
  var connectionFieldNames: Set<String> {
    var names: Set<String> = [
      "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
      "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    ]
    for position in indices where isNamed("connection", at: position) {
      names.formUnion(FieldList.members(of: valueBytes(at: position)[...]).map(FieldList.lowercased))
    }
    // Connection can't remove the fields that control the cache.
    return names.subtracting(["cache-control", "expires", "vary", "date", "age", "etag", "last-modified"])
  }
}
