// Freshness: the freshness lifetimes and ages of stored responses (RFC 9111 §4.2).

internal import LupineWire

/// A response's freshness lifetime in seconds, counted from the time when the origin generated the response. Each case names the
/// field or the rule that determines the lifetime.
package enum FreshnessLifetime: Sendable, Hashable {
  case maxAge(Int64)
  case expires(Int64)
  /// The response has no explicit lifetime. It is estimated as a tenth of the time between Last-Modified and Date, at most a day.
  case heuristic(Int64)
  /// The response's max-age or Expires is invalid, so the response is stale from the start.
  case invalid
  /// No field of the response determines a lifetime, so the response is stale from the start.
  case unknown

  package var seconds: Int64 {
    switch self {
    case .maxAge(let seconds), .expires(let seconds), .heuristic(let seconds): seconds
    case .invalid, .unknown: 0
    }
  }

  /// Whether max-age or Expires says that the response is fresh for a time.
  package var isExplicit: Bool {
    switch self {
    case .maxAge(let seconds), .expires(let seconds): seconds > 0
    case .heuristic, .invalid, .unknown: false
    }
  }

  /// Determines a response's freshness lifetime (RFC 9111 §4.2.1). Ignores s-maxage, which is for shared caches.
  init(
    status: Int, fields: Fields, cacheControl: CacheControl, date: Int64, lastModified: Int64?, now: Int64
  ) {
    switch cacheControl.maxAge {
    case .valid(let seconds): self = .maxAge(seconds)
    case .invalid: self = .invalid
    case .absent:
      if let expires = fields.valueSlice("expires") {
        // An invalid date, such as "0", is in the past (RFC 9111 §5.3).
        self =
          CacheDate.value(of: expires, now: now).map { .expires(Self.clamped($0 - date)) } ?? .invalid
      } else if let lastModified, Self.allowsHeuristic(status) || cacheControl.flags.contains(.isPublic) {
        let estimate = Self.clamped(date - lastModified) / CacheLimits.heuristicDivisor
        self = .heuristic(min(estimate, CacheLimits.heuristicLifetimeMax))
      } else {
        self = .unknown
      }
    }
  }

  private static func clamped(_ seconds: Int64) -> Int64 { min(max(seconds, 0), CacheLimits.deltaSecondsMax) }

  /// Returns whether a response with this status code is heuristically cacheable: without explicit information, the cache may
  /// estimate its freshness lifetime (RFC 9110 §15.1).
  static func allowsHeuristic(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }
}

extension StoredResponse {
  /// Returns the stored response's current age in seconds (RFC 9111 §4.2.3), in 0...`CacheLimits.deltaSecondsMax`.
  ///
  /// If the clock has been set back to a time before the response arrived, the age is unknown and counts as the maximum.
  package func currentAge(now: Int64) -> Int64 {
    let now = ExchangeTimes.clamped(now)
    guard now >= times.response else { return CacheLimits.deltaSecondsMax }
    let apparentAge = max(0, times.response - date)
    let responseDelay = times.response - times.request
    let correctedAgeValue = receivedAge + responseDelay
    let correctedInitialAge = max(apparentAge, correctedAgeValue)
    let residentTime = now - times.response
    return min(correctedInitialAge + residentTime, CacheLimits.deltaSecondsMax)
  }

  /// Returns the age that the response had when it was sent, in seconds: the first member of the Age field, or 0 if the field is
  /// missing or invalid (RFC 9111 §5.1).
  static func ageValue(_ fields: Fields) -> Int64 {
    fields.valueBytes("Age").flatMap { FieldList.members(of: $0[...]).first }.flatMap(DeltaSeconds.value) ?? 0
  }

  /// Returns the number of seconds by which the stored response's age exceeds its freshness lifetime. The number is negative if the
  /// response is fresh. At 0, the response is already stale.
  package func staleness(now: Int64) -> Int64 { currentAge(now: now) - lifetime.seconds }

  // response_is_fresh = (freshness_lifetime > current_age)
  package func isFresh(now: Int64) -> Bool { staleness(now: now) < 0 }
}
