// CacheDate: parses dates of stored responses without regard to case (RFC 9111 §4.2), and converts times to seconds.

internal import LupineWire

/// Parses the dates in a response's fields, from which the cache calculates ages and freshness lifetimes.
enum CacheDate {
  /// Parses the date in the first field line with this name. Returns nil if there is no such line, or if its value doesn't have
  /// one of the three forms of HTTP-date. Only the time zone GMT is accepted.
  ///
  /// `name` must be lowercase ASCII.
  static func value(of name: StaticString, in fields: Fields, now: Int64) -> Int64? {
    fields.valueSlice(name).flatMap { value(of: $0, now: now) }
  }

  /// Parses an HTTP-date without regard to case, as caches should (RFC 9111 §4.2). A day name that doesn't match the date is ignored,
  /// as in browsers, because the date itself is complete.
  static func value(of value: ArraySlice<UInt8>, now: Int64) -> Int64? {
    HTTPDate(value, now: now, ignoringCase: true, ignoringDayName: true)?.secondsSince1970
  }
}

/// The times when a request was sent and when the head of its response arrived, in whole seconds since 1970, in UTC.
package struct ExchangeTimes: Sendable, Hashable {
  /// The time when the request was sent, in seconds since 1970.
  package let request: Int64
  /// The time when the response's head arrived, in seconds since 1970.
  package let response: Int64

  /// Creates the times from two readings of a clock, which may have been set back in between. A time outside the years 1 to 9999 is
  /// replaced by the nearest time within them, so that differences can't overflow.
  package init(request: Int64, response: Int64) {
    self.response = Self.clamped(response)
    self.request = min(Self.clamped(request), self.response)
  }

  static func clamped(_ seconds: Int64) -> Int64 {
    min(max(seconds, CalendarTime.secondsRange.lowerBound), CalendarTime.secondsRange.upperBound)
  }
}
