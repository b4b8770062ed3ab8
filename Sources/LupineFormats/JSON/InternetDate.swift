// InternetDate: the usual form of a date in JSON, 2001-02-03T04:05:06Z (RFC 3339 §5.6), without Foundation's general parser.

internal import Foundation

enum InternetDate {
  /// The years for which this calendar is Foundation's. Before 1582, Foundation uses the Julian calendar.
  private static let years = 1600...9999

  /// Returns the date, or nil for any other form.
  static func date(_ text: borrowing Span<UInt8>) -> Date? {
    guard text.count == 20, text[4] == 0x2D, text[7] == 0x2D, text[10] == 0x54, text[13] == 0x3A, text[16] == 0x3A,
      text[19] == 0x5A
    else { return nil }
    guard let century = pair(text, 0), let rest = pair(text, 2), let month = pair(text, 5), let day = pair(text, 8),
      let hour = pair(text, 11), let minute = pair(text, 14), let second = pair(text, 17)
    else { return nil }
    let year = century * 100 + rest
    guard years.contains(year), month >= 1, month <= 12, day >= 1, hour < 24, minute < 60, second < 60 else {
      return nil
    }
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = daysBefore[month - 1] + (isLeapYear && month > 2 ? 1 : 0)
    let length = month == 2 ? (isLeapYear ? 29 : 28) : (month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31)
    guard day <= length else { return nil }
    // Days from 0001-01-01, and from there to 2001-01-01.
    let earlier = year - 1
    let day0 = earlier * 365 + earlier / 4 - earlier / 100 + earlier / 400 + days + day - 1 - 730_485
    return Date(timeIntervalSinceReferenceDate: Double(day0 * 86400 + hour * 3600 + minute * 60 + second))
  }

  /// Calls the closure with the date in this form, in whole seconds. Returns false for a year that isn't in `years`.
  static func write(_ date: Date, _ use: (borrowing Span<UInt8>) -> Void) -> Bool {
    let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
    guard seconds >= first, seconds < end else { return false }
    let (day, time) = Int(seconds - first).quotientAndRemainder(dividingBy: 86400)
    // A cycle of 400 years has 146,097 days. Years are counted from March 1, so that a leap day is the last one of its year.
    // January and February of 1600 belong to the cycle before.
    let cycle = day >= 60 ? (day - 60) / 146_097 : -1
    let dayOfCycle = day - 60 - cycle * 146_097
    let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    // Five months, from March or August on, have 153 days.
    let monthOfYear = (5 * dayOfYear + 2) / 153
    let month = monthOfYear < 10 ? monthOfYear + 3 : monthOfYear - 9
    let year = 1600 + cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0)
    var text = InlineArray<20, UInt8>(repeating: 0)
    func write(_ number: Int, at index: Int, then separator: UInt8?) {
      text[index] = 0x30 + UInt8(number / 10)
      text[index + 1] = 0x30 + UInt8(number % 10)
      if let separator { text[index + 2] = separator }
    }
    write(year / 100, at: 0, then: nil)
    write(year % 100, at: 2, then: 0x2D)
    write(month, at: 5, then: 0x2D)
    write(dayOfYear - (153 * monthOfYear + 2) / 5 + 1, at: 8, then: 0x54)
    write(time / 3600, at: 11, then: 0x3A)
    write(time / 60 % 60, at: 14, then: 0x3A)
    write(time % 60, at: 17, then: 0x5A)
    use(text.span)
    return true
  }

  // The beginnings of the years 1600 and 10,000, in seconds since 2001.
  private static let first = -12_654_403_200.0
  private static let end = 252_423_993_600.0

  private static let daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]

  @inline(__always)
  private static func pair(_ text: borrowing Span<UInt8>, _ index: Int) -> Int? {
    let tens = text[index] &- 0x30
    let units = text[index + 1] &- 0x30
    return tens < 10 && units < 10 ? Int(tens) * 10 + Int(units) : nil
  }
}
