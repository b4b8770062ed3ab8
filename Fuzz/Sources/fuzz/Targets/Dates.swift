// Dates of fields and cookies, compared with the C library's calendar.

import Foundation
import Glibc
@testable import Lupine
@testable import LupineCookies
@testable import LupineURLSession
@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the parsers of dates. The input consists of a time in eight bytes, followed by text.
  static let dates = FuzzTarget(
    name: "dates", summary: "a parsed date equals the C library's, and a written date is parsed to the same date"
  ) { bytes in
    var input = Input(bytes)
    let now = Int64(bitPattern: input.word())
    let text = String(decoding: input.rest, as: UTF8.self)
    // The time itself, and a time before the year 10000, which is the first year that can't be written.
    for seconds in [now, now % 253_402_300_800] {
      if let date = HTTPDate(secondsSince1970: seconds) { check(date, now) }
    }
    if let date = HTTPDate(text, now: now) { check(date, now) }
    switch RetryAfter(text, now: now) {
    case .delay(let seconds): hold(0...Limits.delaySecondsMax ~= seconds, "\(seconds) seconds")
    case .date(let date): hold(HTTPDate(text, now: now) == date, "\(date)")
    case nil: break
    }
    if let wait = RetryAfter(text, now: now)?.delaySeconds(now: now) {
      hold(0...Limits.delaySecondsMax ~= wait, "\(wait) seconds")
    }
    if let date = CookieDate.parse(input.rest) { checkCookie(date) }
  }

  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private static func check(_ date: HTTPDate, _ now: Int64) {
    let text = date.description
    hold(HTTPDate(text, now: now) == date, "\(text) reads otherwise")
    hold(text.utf8.count == 29 && text.hasSuffix(" GMT"), text)
    var parts = tm()
    // The text is parsed like "Sun, 06 Nov 1994 08:49:37 GMT".
    let words = text.split { " :,".contains($0) }.map(String.init)
    let numbers = words.map { CInt($0) ?? -1 }
    hold(words.count == 8 && months.contains(words[2]), text)
    (parts.tm_mday, parts.tm_year) = (numbers[1], numbers[3] - 1900)
    parts.tm_mon = CInt(months.firstIndex(of: words[2]) ?? 0)
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[4], numbers[5], numbers[6])
    hold(timegm(&parts) == Int(date.secondsSince1970), "\(text) is \(date.secondsSince1970)")
    hold(days[Int(parts.tm_wday)] == words[0], "\(text) isn't that day of the week")
    // A cookie's Expires accepts all dates that HTTP can write, except years before 1601.
    guard parts.tm_year >= 1601 - 1900 else { return }
    let cookies = CookieDate.parse(Array(text.utf8))
    hold(cookies == Date(timeIntervalSince1970: Double(date.secondsSince1970)), "\(text) is another date in a cookie")
  }

  private static func checkCookie(_ date: Date) {
    var seconds = time_t(date.timeIntervalSince1970)
    hold(Double(seconds) == date.timeIntervalSince1970, "\(date) isn't whole")
    var parts = tm()
    gmtime_r(&seconds, &parts)
    hold((1601...9999).contains(Int(parts.tm_year) + 1900), "the year \(parts.tm_year)")
    guard let http = HTTPDate(secondsSince1970: Int64(seconds)) else { return hold(false, "\(date) can't be written") }
    hold(CookieDate.parse(Array(http.description.utf8)) == date, "\(http) is another date")
  }
}
