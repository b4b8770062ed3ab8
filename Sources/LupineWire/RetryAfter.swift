// The Retry-After field (RFC 9110 §10.2.3).

/// How long a server asks to be left alone, as it sends it with 503, 429 and redirects.
public enum RetryAfter: Sendable, Hashable {
  /// That many seconds from the response on, 0...`Limits.delaySecondsMax`.
  case delay(seconds: Int64)
  /// Until then.
  case date(HTTPDate)

  /// Reads a field's value; nil if it is neither a number nor a date.
  ///
  /// A number of seconds that is larger than any sensible one counts as `Limits.delaySecondsMax`. `now` is in seconds
  /// since 1970 and only decides about the century of an RFC 850 date.
  public init?(_ text: String, now: Int64) {
    // Retry-After = HTTP-date / delay-seconds; delay-seconds = 1*DIGIT
    if !text.isEmpty, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }) {
      self = .delay(seconds: min(Int64(text) ?? .max, Limits.delaySecondsMax))
    } else if let date = HTTPDate(text, now: now) {
      self = .date(date)
    } else {
      return nil
    }
  }

  /// How many seconds there are to wait at `now`, in seconds since 1970, if the response came then; 0 if the date has
  /// passed, at most `Limits.delaySecondsMax`.
  public func delaySeconds(now: Int64) -> Int64 {
    switch self {
    case .delay(let seconds): return seconds
    case .date(let date):
      let (difference, overflow) = date.secondsSince1970.subtractingReportingOverflow(now)
      // It overflows only if `now` is far out: in the past for a huge wait, in the future for none.
      if overflow { return now < 0 ? Limits.delaySecondsMax : 0 }
      return min(max(difference, 0), Limits.delaySecondsMax)
    }
  }
}

extension ResponseHead {
  /// What the Retry-After field says, or nil if there is none that can be read.
  ///
  /// `now`, in seconds since 1970, decides about the century of an RFC 850 date.
  public func retryAfter(now: Int64) -> RetryAfter? {
    fields.first("Retry-After").flatMap { RetryAfter($0, now: now) }
  }
}
