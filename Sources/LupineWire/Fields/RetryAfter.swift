// RetryAfter: parses the Retry-After field (RFC 9110 §10.2.3).

/// The time that a server asks clients to wait before the next request. Servers send it with 503, 429 and redirects.
public enum RetryAfter: Sendable, Hashable {
  /// A delay in seconds, counted from the time of the response, in 0...`Limits.delaySecondsMax`.
  case delay(seconds: Int64)
  /// The time before which clients shouldn't send another request.
  case date(HTTPDate)

  /// Parses the value of a Retry-After field. Returns nil if it is neither a number nor a date.
  ///
  /// - Parameters:
  ///   - text: The field value. A delay above `Limits.delaySecondsMax` counts as that limit.
  ///   - now: The current time in seconds since 1970. It determines only the century of an RFC 850 date.
  public init?(_ text: String, now: Int64) {
    // Retry-After = HTTP-date / delay-seconds; delay-seconds = 1*DIGIT
    if let seconds = Digits.value(of: Array(text.utf8)[...], atMost: Limits.delaySecondsMax) {
      self = .delay(seconds: seconds)
    } else if let date = HTTPDate(text, now: now) {
      self = .date(date)
    } else {
      return nil
    }
  }

  /// Returns the number of seconds to wait after `now`, the time of the response in seconds since 1970. The result is 0 if the date
  /// has passed, and at most `Limits.delaySecondsMax`.
  public func delaySeconds(now: Int64) -> Int64 {
    switch self {
    case .delay(let seconds): return seconds
    case .date(let date):
      let (difference, overflow) = date.secondsSince1970.subtractingReportingOverflow(now)
      // The difference overflows only for an extreme `now`. If `now` is far in the past, the wait is the maximum. If it is far
      // in the future, the wait is 0.
      if overflow { return now < 0 ? Limits.delaySecondsMax : 0 }
      return min(max(difference, 0), Limits.delaySecondsMax)
    }
  }
}

extension ResponseHead {
  /// Returns the response's parsed Retry-After field, or nil if the field is missing or malformed.
  ///
  /// `now`, in seconds since 1970, determines only the century of an RFC 850 date.
  public func retryAfter(now: Int64) -> RetryAfter? {
    fields.first("Retry-After").flatMap { RetryAfter($0, now: now) }
  }
}
