// CookieDate: parses the dates of Expires attributes (RFC 6265bis §5.1.1). Each part of a date is recognized by its format.
// Unlike in an HTTP-date, the parts may come in any order, except that the day precedes the year.

import Foundation
import LupineWire

/// Parses the dates in the Expires attributes of Set-Cookie lines.
enum CookieDate {
  /// Parses the date in an Expires attribute. Returns nil if a part of the date is missing or out of range, or if the calendar has
  /// no such day.
  static func parse(_ text: some Collection<UInt8>) -> Date? {
    var parts = Parts()
    // cookie-date = *delimiter date-token-list *delimiter
    for token in text.split(whereSeparator: isDelimiter) { parts.take(Array(token)) }
    return parts.date
  }

  // delimiter = %x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E
  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }
}

/// The parts of a date that the parser has found: time, day, month and year. The parser compares each token of the text with the
/// missing parts, in this order, and stores it as the first part that it matches.
private struct Parts {
  private var time: (hour: Int, minute: Int, second: Int)?
  private var day: Int?
  private var month: Int?
  private var year: Int?

  mutating func take(_ token: [UInt8]) {
    if time == nil, let found = Self.time(token) {
      time = found
    } else if day == nil, let found = Self.number(token[...], digits: 1...2) {
      day = found
    } else if month == nil, let found = Self.month(token) {
      month = found
    } else if year == nil, let found = Self.number(token[...], digits: 2...4) {
      year = found
    }
  }

  /// The date that consists of the parsed parts. Nil unless all parts are present and in range, and the calendar has such a day
  /// (RFC 6265bis §5.1.1, steps 3 to 6).
  var date: Date? {
    guard let time, let day, let month, var year else { return nil }
    switch year {
    case 70...99: year += 1900
    case 0...69: year += 2000
    default: break
    }
    guard year >= 1601, time.second <= 59,
      let date = CalendarTime(
        year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    else { return nil }
    return Date(timeIntervalSince1970: Double(date.secondsSince1970))
  }

  // hms-time [ non-digit *OCTET ]; hms-time = time-field ":" time-field ":" time-field; time-field = 1*2DIGIT
  private static func time(_ token: [UInt8]) -> (hour: Int, minute: Int, second: Int)? {
    let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3, fields[0].count <= 2, fields[1].count <= 2,
      fields[0].allSatisfy(isDigit), fields[1].allSatisfy(isDigit),
      let hour = number(fields[0], digits: 1...2), let minute = number(fields[1], digits: 1...2),
      let second = number(fields[2], digits: 1...2)
    else { return nil }
    return (hour, minute, second)
  }

  // n*mDIGIT [ non-digit *OCTET ]
  private static func number(_ token: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
    let found = token.prefix(while: isDigit)
    guard digits.contains(found.count) else { return nil }
    return found.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  // month = ( "jan" / "feb" / … / "dec" ) *OCTET, in any case
  private static func month(_ token: [UInt8]) -> Int? {
    let start = token.prefix(3).map { $0 | 0x20 }
    return monthNames.firstIndex { start.elementsEqual($0.utf8) }.map { $0 + 1 }
  }

  private static let monthNames = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
