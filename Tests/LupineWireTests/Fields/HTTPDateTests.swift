// HTTPDateTests: strict parsing of the three date formats (RFC 9110 §5.6.7) and of Retry-After (§10.2.3).

import LupineTestSupport
import LupineWire
import Testing

/// The current time for the parser of dates, in seconds since 1970: 2026-01-15 12:00:00 GMT.
private let now: Int64 = 1_768_478_400

@Suite("HTTPDate")
struct HTTPDateTests {
  @Test(
    "the parser accepts a valid HTTP date in each of its formats",
    arguments: [
      // The example of RFC 9110 §5.6.7 in its three formats.
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed Nov 16 08:49:37 1994", 784_975_777),
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
      ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648), ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
      // Leap years: every 4th, not every 100th, every 400th.
      ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
      ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
      ("Tue, 31 Dec 2024 00:00:00 GMT", 1_735_603_200),
      // A leap second equals the first second of the next minute.
      ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
      // The day name of an RFC 850 date isn't checked.
      ("Monday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ] as [(String, Int64)])
  func read(text: String, seconds: Int64) {
    #expect(HTTPDate(text, now: now)?.secondsSince1970 == seconds)
  }

  @Test(
    "the parser refuses a value that isn't exactly an HTTP date",
    arguments: [
      "", " ", "0", "784111777", "Sun", "Sun,", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
      // Dates with wrong letter case, white space or number of digits.
      "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 NOV 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 gmt", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
      "Sun,06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
      "Sun, 006 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 01994 08:49:37 GMT",
      "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
      "Sun, 06\tNov 1994 08:49:37 GMT", "Sun, 06 November 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
      "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
      "Sun Nov 06  08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov  6 08:49:37 1994 GMT",
      // Dates with other time zones, languages or digits.
      "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 EST",
      "Sun, 06 Nov 1994 08:49:37", "So, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Okt 1994 08:49:37 GMT",
      "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun, 0６ Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
      "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT\0",
      // Days and times that don't exist, and wrong day names.
      "Sun, 00 Nov 1994 08:49:37 GMT", "Wed, 31 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 00:00:00 GMT",
      "Mon, 29 Feb 2100 00:00:00 GMT", "Mon, 30 Feb 2024 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
      "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:60 GMT", "Sun, 06 Nov 1994 23:59:61 GMT",
      "Mon, 06 Nov 1994 08:49:37 GMT", "Mon Nov  6 08:49:37 1994", "Sat, 01 Jan 0000 00:00:00 GMT",
      "Fri, 31 Dec 9999 23:59:60 GMT", "Sunday, 31-Nov-94 08:49:37 GMT", "Sunday, 29-Feb-23 00:00:00 GMT",
    ])
  func refused(text: String) {
    #expect(HTTPDate(text, now: now) == nil)
  }

  @Test(
    "the parser takes the two-digit year of an RFC 850 date as at most 50 years in the future",
    arguments: [
      // The current time is 2026-01-15 12:00:00 GMT.
      ("15-Jan-76 12:00:00", now, "2076"), ("15-Jan-76 12:00:01", now, "1976"), ("14-Jan-76 23:59:59", now, "2076"),
      ("31-Dec-75 23:59:59", now, "2075"), ("01-Jan-77 00:00:00", now, "1977"), ("01-Jan-00 00:00:00", now, "2000"),
      ("15-Jan-26 12:00:01", now, "2026"), ("01-Jan-99 00:00:00", now, "1999"), ("29-Feb-76 00:00:00", now, "1976"),
      // In 2090, the two-digit year 10 is in the next century.
      ("01-Jan-10 00:00:00", 3_786_912_000, "2110"), ("01-Jan-41 00:00:00", 3_786_912_000, "2041"),
      // The clock is set to an extreme value.
      ("01-Jan-70 00:00:00", .max, "9970"), ("01-Jan-30 00:00:00", .min, "0030"),
    ] as [(String, Int64, String)])
  func century(date: String, now: Int64, year: String) throws {
    let read = try #require(HTTPDate("Monday, \(date) GMT", now: now))
    #expect(read.description.split(separator: " ")[3] == year)
  }

  @Test("writing and parsing an HTTP date yields the same date, for every day of 400 years and many seconds of a day")
  func roundTrip() {
    // With a sanitizer, every tenth day.
    for seconds in stride(from: Int64(43_199), to: 12_622_780_800, by: 86_400 * testsDivisor) {
      expectRoundTrip(seconds)
    }
    for second in stride(from: Int64(0), to: 86_400, by: 7 * testsDivisor) { expectRoundTrip(1_709_164_800 + second) }
  }

  // This function is called 160,000 times, and #expect would cost more than the round trip itself.
  private func expectRoundTrip(_ seconds: Int64) {
    guard let date = HTTPDate(secondsSince1970: seconds), let read = HTTPDate(date.description, now: 0), read == date
    else {
      Issue.record("\(seconds) s since 1970 don't survive the round trip")
      return
    }
  }

  @Test("the HTTP dates of consecutive days are in ascending order, and have the right names of the days of the week")
  func order() throws {
    let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    for day in 0..<1000 {
      let date = try #require(HTTPDate(secondsSince1970: Int64(day) * 86_400))
      let next = try #require(HTTPDate(secondsSince1970: Int64(day + 1) * 86_400 - 1))
      #expect(date.description.prefix(3) == names[day % 7])
      #expect(date < next && date.description.prefix(16) == next.description.prefix(16))
    }
  }

  @Test("HTTPDate can't represent points in time outside of the years 1 to 9999")
  func bounds() {
    for seconds in [Int64.min, -62_135_596_801, 253_402_300_800, .max] {
      #expect(HTTPDate(secondsSince1970: seconds) == nil)
    }
    #expect(HTTPDate(secondsSince1970: -62_135_596_800)?.description == "Mon, 01 Jan 0001 00:00:00 GMT")
    #expect(HTTPDate(secondsSince1970: 253_402_300_799)?.description == "Fri, 31 Dec 9999 23:59:59 GMT")
  }
}

@Suite("Retry-After")
struct RetryAfterTests {
  @Test(
    "the parser reads Retry-After as a delay or a date, and converts it to seconds",
    arguments: [
      ("0", 0), ("120", 120), ("007", 7), ("2147483648", 2_147_483_648), ("2147483649", 2_147_483_648),
      ("99999999999999999999999", 2_147_483_648), ("Thu, 15 Jan 2026 12:01:40 GMT", 100),
      ("Thursday, 15-Jan-26 12:01:40 GMT", 100), ("Thu Jan 15 12:01:40 2026", 100),
      ("Thu, 15 Jan 2026 12:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 2_147_483_648),
    ] as [(String, Int64)])
  func read(text: String, seconds: Int64) {
    #expect(RetryAfter(text, now: now)?.delaySeconds(now: now) == seconds)
  }

  @Test(
    "the parser refuses a Retry-After value that is neither a delay nor a date",
    arguments: ["", " ", "-1", "+1", "1.5", "1 ", " 1", "0x10", "1s", "1,2", "١", "soon", "Sun, 06 Nov 1994"])
  func refused(text: String) {
    #expect(RetryAfter(text, now: now) == nil)
  }

  @Test("if the clock has an extreme value, the delay from a Retry-After date doesn't overflow")
  func extremes() throws {
    let date = try #require(RetryAfter("Thu, 15 Jan 2026 12:00:00 GMT", now: now))
    #expect(date.delaySeconds(now: .min) == Limits.delaySecondsMax)
    #expect(date.delaySeconds(now: .max) == 0)
    let early = try #require(RetryAfter("Mon, 01 Jan 0001 00:00:00 GMT", now: now))
    #expect(early.delaySeconds(now: .max) == 0)
    #expect(early.delaySeconds(now: .min) == Limits.delaySecondsMax)
  }

  @Test("a response head returns the delay in its Retry-After field")
  func field() throws {
    for (line, expected) in [("Retry-After: 5\r\n", 5), ("retry-after: x\r\n", nil), ("", nil)] as [(String, Int64?)] {
      var connection = ClientConnection(limits: Limits())
      connection.start(method: "GET", closes: false)
      var cursor = 0
      let bytes = "HTTP/1.1 503 Busy\r\n\(line)Content-Length: 0\r\n\r\n".latin1
      guard case .head(let head, _, _) = try connection.receive(bytes.span, at: &cursor) else {
        Issue.record("no response head")
        return
      }
      #expect(head.retryAfter(now: now) == expected.map { .delay(seconds: $0) })
    }
  }
}
