// HTTPDate: writes IMF-fixdate and parses all three forms of HTTP-date (RFC 9110 §5.6.7).

/// A date and time as in fields such as Date and Last-Modified, in whole seconds.
///
/// The year is in 1...9999. The time zone is always GMT.
public struct HTTPDate: Sendable, Hashable {
  /// Seconds since 1970-01-01 00:00:00 GMT, without leap seconds. Negative for earlier dates.
  public let secondsSince1970: Int64

  /// Creates a date. Returns nil for a time outside the years 1 to 9999, which the format can't represent.
  public init?(secondsSince1970: Int64) {
    guard CalendarTime.secondsRange.contains(secondsSince1970) else { return nil }
    self.secondsSince1970 = secondsSince1970
  }

  /// Parses any of the three forms of an HTTP-date. Returns nil for any other text.
  ///
  /// Case, white space and the number of digits must match the grammar. The day must exist, and the day name must match the date if
  /// the year has four digits (RFC 5322 §3.3).
  ///
  /// - Parameters:
  ///   - text: The field value.
  ///   - now: The current time in seconds since 1970. It determines the century of an RFC 850 date, whose year has two digits. The
  ///     century is the latest in which the date is at most 50 years in the future.
  public init?(_ text: String, now: Int64) {
    self.init(Array(text.utf8)[...], now: now, ignoringCase: false)
  }

  /// Parses any of the three forms of an HTTP-date in a field value.
  ///
  /// `ignoringCase` permits names of days and months, and GMT, in any case. `ignoringDayName` permits a day name that doesn't match
  /// the date. In all other respects, this is the initializer with a string.
  package init?(_ value: ArraySlice<UInt8>, now: Int64, ignoringCase: Bool, ignoringDayName: Bool = false) {
    var reader = DateReader(value, ignoringCase: ignoringCase, ignoringDayName: ignoringDayName)
    guard let time = reader.imfFixdate() ?? reader.asctimeDate() ?? reader.rfc850Date(now: now) else { return nil }
    self.init(secondsSince1970: time.secondsSince1970)
  }
}

extension HTTPDate: Comparable {
  /// Returns whether the left date is earlier than the right date.
  public static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.secondsSince1970 < right.secondsSince1970 }
}

extension HTTPDate: CustomStringConvertible {
  /// The date in IMF-fixdate, the form that senders must use: `Sun, 06 Nov 1994 08:49:37 GMT`.
  public var description: String {
    let time = CalendarTime(secondsSince1970: secondsSince1970)
    let (day, month) = ("\(DateReader.dayNames[time.weekday])".prefix(3), DateReader.monthNames[time.month - 1])
    let clock = "\(padded(time.hour, 2)):\(padded(time.minute, 2)):\(padded(time.second, 2))"
    return "\(day), \(padded(time.day, 2)) \(month) \(padded(time.year, 4)) \(clock) GMT"
  }

  private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

/// A date of the Gregorian calendar with a time of day.
package struct CalendarTime {
  /// The times that this type can represent, in seconds since 1970: from 0001-01-01 00:00:00 to 9999-12-31 23:59:59.
  package static let secondsRange: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  let year: Int
  let month: Int  // 1...12
  let day: Int  // 1...31
  let hour: Int
  let minute: Int
  let second: Int  // 60 in a leap second

  private static let monthStarts = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]
  private static let dayOf1970 = 719_162  // days from 0001-01-01, a Monday

  /// Creates a date with a time of day. Returns nil if the day or the time of day doesn't exist.
  package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    guard 1...9999 ~= year, 1...12 ~= month, 1...Self.length(ofMonth: month, year) ~= day, 0...23 ~= hour,
      0...59 ~= minute, 0...59 ~= second || (hour, minute, second) == (23, 59, 60)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
    (self.hour, self.minute, self.second) = (hour, minute, second)
  }

  /// Converts a time in seconds since 1970, which must be in `secondsRange`.
  init(secondsSince1970: Int64) {
    let seconds = Int(secondsSince1970) + Self.dayOf1970 * 86_400
    var days = seconds / 86_400
    // Divides the days into cycles of 400, 100, 4 and 1 years. `min` keeps the last day of a 400-year cycle, or of a leap year,
    // within its cycle.
    let cycles = days / 146_097
    days %= 146_097
    let centuries = min(days / 36_524, 3)
    days -= centuries * 36_524
    let olympiads = days / 1461
    days %= 1461
    let years = min(days / 365, 3)
    days -= years * 365
    let year = cycles * 400 + centuries * 100 + olympiads * 4 + years + 1
    let month = (1...12).last { Self.start(ofMonth: $0, year) <= days } ?? 1
    (self.year, self.month, day) = (year, month, days - Self.start(ofMonth: month, year) + 1)
    (hour, minute, second) = (seconds % 86_400 / 3600, seconds % 3600 / 60, seconds % 60)
  }

  package var secondsSince1970: Int64 {
    Int64((daysSinceYear1 - Self.dayOf1970) * 86_400 + hour * 3600 + minute * 60 + second)
  }

  /// The day of the week, 0 for Monday.
  var weekday: Int { daysSinceYear1 % 7 }

  private var daysSinceYear1: Int {
    let past = year - 1
    return past * 365 + past / 4 - past / 100 + past / 400 + Self.start(ofMonth: month, year) + day - 1
  }

  private static func start(ofMonth month: Int, _ year: Int) -> Int {
    monthStarts[month - 1] + (month > 2 && isLeap(year) ? 1 : 0)
  }

  private static func length(ofMonth month: Int, _ year: Int) -> Int {
    monthStarts[month] - monthStarts[month - 1] + (month == 2 && isLeap(year) ? 1 : 0)
  }

  private static func isLeap(_ year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }
}

/// Parses the three forms of an HTTP-date, each with a separate method that must match the entire text.
private struct DateReader {
  static let dayNames: [StaticString] = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]
  static let monthNames: [StaticString] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private let text: ArraySlice<UInt8>
  private var rest: ArraySlice<UInt8>
  private let ignoresCase: Bool
  private let ignoresDayName: Bool

  init(_ text: ArraySlice<UInt8>, ignoringCase: Bool, ignoringDayName: Bool) {
    self.text = text
    rest = text
    ignoresCase = ignoringCase
    ignoresDayName = ignoringDayName
  }

  // IMF-fixdate = day-name "," SP day SP month SP year SP time-of-day SP GMT
  mutating func imfFixdate() -> CalendarTime? {
    rest = text
    guard let weekday = dayName(of: 3), skip(", "), let day = number(2), skip(" "), let month = month(), skip(" "),
      let year = number(4), skip(" "), let clock = timeOfDay(), skip(" GMT"), rest.isEmpty
    else { return nil }
    return time(year, month, day, clock, on: weekday)
  }

  // asctime-date = day-name SP month SP ( 2DIGIT / ( SP 1DIGIT )) SP time-of-day SP year
  mutating func asctimeDate() -> CalendarTime? {
    rest = text
    guard let weekday = dayName(of: 3), skip(" "), let month = month(), skip(" "),
      let day = skip(" ") ? number(1) : number(2), skip(" "), let clock = timeOfDay(), skip(" "),
      let year = number(4), rest.isEmpty
    else { return nil }
    return time(year, month, day, clock, on: weekday)
  }

  // rfc850-date = day-name-l "," SP day "-" month "-" 2DIGIT SP time-of-day SP GMT
  mutating func rfc850Date(now: Int64) -> CalendarTime? {
    rest = text
    // The day name isn't compared with the date, because it may be wrong for the century that is chosen for the two-digit year.
    guard dayName(of: nil) != nil, skip(", "), let day = number(2), skip("-"), let month = month(), skip("-"),
      let shortYear = number(2), skip(" "), let clock = timeOfDay(), skip(" GMT"), rest.isEmpty
    else { return nil }
    let range = CalendarTime.secondsRange
    let today = CalendarTime(secondsSince1970: min(max(now, range.lowerBound), range.upperBound))
    // "more than 50 years in the future" (RFC 9110 §5.6.7): compares month, day and time, because years differ in
    // length.
    let isLater =
      (month, day, clock.hour, clock.minute, clock.second)
      > (today.month, today.day, today.hour, today.minute, today.second)
    let last = isLater ? today.year + 49 : today.year + 50
    return time(last - (last - shortYear) % 100, month, day, clock, on: nil)
  }

  private func time(
    _ year: Int, _ month: Int, _ day: Int, _ clock: (hour: Int, minute: Int, second: Int), on weekday: Int?
  ) -> CalendarTime? {
    let time = CalendarTime(
      year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    guard let time, ignoresDayName || weekday == nil || weekday == time.weekday else { return nil }
    return time
  }

  // time-of-day = hour ":" minute ":" second
  private mutating func timeOfDay() -> (hour: Int, minute: Int, second: Int)? {
    guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2) else {
      return nil
    }
    return (hour, minute, second)
  }

  /// Reads a day name and returns the day's number, 0 for Monday. The text must have only the first `letters` letters of the name,
  /// or the full name if `letters` is nil.
  private mutating func dayName(of letters: Int?) -> Int? {
    Self.dayNames.firstIndex { skip($0, letters: letters) }
  }

  private mutating func month() -> Int? {
    Self.monthNames.firstIndex { skip($0) }.map { $0 + 1 }
  }

  private mutating func number(_ digits: Int) -> Int? {
    var number = 0
    for _ in 0..<digits {
      guard let byte = rest.popFirst(), byte &- 0x30 < 10 else { return nil }
      number = number * 10 + Int(byte &- 0x30)
    }
    return number
  }

  /// Skips the first `letters` letters of the expected text, or all of it if `letters` is nil. Returns false if the rest doesn't start
  /// with them.
  private mutating func skip(_ expected: StaticString, letters: Int? = nil) -> Bool {
    let count = letters ?? expected.utf8CodeUnitCount
    guard rest.count >= count else { return false }
    let isEqual = expected.withUTF8Buffer { expected in
      (0..<count).allSatisfy { index in
        let byte = rest[rest.startIndex + index]
        return byte == expected[index] || (ignoresCase && Byte.lowercased(byte) == Byte.lowercased(expected[index]))
      }
    }
    if isEqual { rest = rest.dropFirst(count) }
    return isEqual
  }
}
