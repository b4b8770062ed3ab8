// CacheDate: parses dates of stored responses without regard to case (RFC 9111 §4.2), and converts times to seconds.

internal import LupineWire

/// Parses the dates in a response's fields, from which the cache calculates ages and freshness lifetimes.
enum CacheDate {
  /// Parses the date in the first field line with this name. Returns nil if there is no such line, or if its value doesn't have
  /// one of the three forms of HTTP-date. Only the time zone GMT is accepted.
  static func value(of name: String, in fields: Fields, now: Int64) -> Int64? {
    fields.first(name).flatMap { value(of: $0, now: now) }
  }

  /// Parses an HTTP-date without regard to case, as caches should (RFC 9111 §4.2).
  static func value(of text: String, now: Int64) -> Int64? {
    HTTPDate(text, now: now)?.secondsSince1970 ?? HTTPDate(usualCase(text), now: now)?.secondsSince1970
  }

  /// Returns the text of a date in the case that HTTP-date requires: names capitalized, and GMT in uppercase.
  private static func usualCase(_ text: String) -> String {
    var isFirst = true
    let words = text.unicodeScalars.map { scalar -> Character in
      let isLetter = scalar.isASCII && scalar.properties.isAlphabetic
      defer { isFirst = !isLetter }
      return Character(isFirst ? scalar.uppercased : scalar.lowercased)
    }
    return String(words).replacingSuffix("Gmt", with: "GMT")
  }
}

extension Unicode.Scalar {
  fileprivate var lowercased: Unicode.Scalar {
    (0x41...0x5A).contains(value) ? Unicode.Scalar(UInt8(value) | 0x20) : self
  }

  fileprivate var uppercased: Unicode.Scalar {
    (0x61...0x7A).contains(value) ? Unicode.Scalar(UInt8(value) & ~0x20) : self
  }
}

extension String {
  fileprivate func replacingSuffix(_ suffix: String, with other: String) -> String {
    hasSuffix(suffix) ? dropLast(suffix.count) + other : self
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

  /// The range of times in seconds since 1970 that HTTP-date can represent: the years 1 to 9999.
  private static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  static func clamped(_ seconds: Int64) -> Int64 { min(max(seconds, range.lowerBound), range.upperBound) }
}
