// FreshnessTests: lifetimes and ages (RFC 9111 §4.2, §5.1, §5.3).

import LupineWire
import Testing

@testable import LupineCache

@Suite struct FreshnessTests {
  /// A response's fields besides Date, and its expected freshness lifetime.
  struct Lifetime: Sendable, CustomTestStringConvertible {
    let lines: [String]
    var status = 200
    /// The time in the Date field, in seconds after the time at which the response is received.
    var sent: Int64 = 0
    let lifetime: FreshnessLifetime

    var testDescription: String { "\(status) \(lines), sent \(sent)" }
  }

  @Test(
    "a response's freshness lifetime is max-age, else from Expires, else a tenth of the time since Last-Modified",
    arguments: [
      Lifetime(lines: ["Cache-Control: max-age=60"], lifetime: .maxAge(60)),
      Lifetime(lines: ["Cache-Control: MAX-AGE=\"60\""], lifetime: .maxAge(60)),
      Lifetime(lines: ["Cache-Control: max-age=0060"], lifetime: .maxAge(60)),
      Lifetime(lines: ["Cache-Control: max-age=60", "Expires: 0"], lifetime: .maxAge(60)),
      Lifetime(lines: ["Cache-Control: s-maxage=60", "Expires: \(date(7))"], lifetime: .expires(7)),
      Lifetime(lines: ["CDN-Cache-Control: max-age=60"], lifetime: .unknown),
      Lifetime(lines: ["Cache-Control: max-age=2147483649"], lifetime: .maxAge(2_147_483_648)),
      Lifetime(lines: ["Cache-Control: max-age=99999999999999999999999"], lifetime: .maxAge(2_147_483_648)),
      // A quoted string isn't searched for directives.
      Lifetime(lines: ["Cache-Control: x=\"max-age=3600\", max-age=60"], lifetime: .maxAge(60)),
      Lifetime(lines: ["Cache-Control: max-age=\"60\", x=\"max-age=3600\""], lifetime: .maxAge(60)),
      // If a directive or a field is repeated, the first value is used.
      Lifetime(lines: ["Cache-Control: max-age=60, max-age=3600"], lifetime: .maxAge(60)),
      Lifetime(lines: ["Cache-Control: max-age=60", "Cache-Control: max-age=1"], lifetime: .maxAge(60)),
      Lifetime(lines: ["Expires: \(date(7))", "Expires: \(date(9))"], lifetime: .expires(7)),
      // A response with an invalid lifetime is stale.
      Lifetime(lines: ["Cache-Control: max-age", "Expires: \(date(60))"], lifetime: .invalid),
      Lifetime(lines: ["Cache-Control: max-age=", "Expires: \(date(60))"], lifetime: .invalid),
      Lifetime(lines: ["Cache-Control: max-age=-1", "Expires: \(date(60))"], lifetime: .invalid),
      Lifetime(lines: ["Cache-Control: max-age=1.5", "Expires: \(date(60))"], lifetime: .invalid),
      Lifetime(lines: ["Cache-Control: max-age=60a", "Expires: \(date(60))"], lifetime: .invalid),
      Lifetime(lines: ["Cache-Control: max-age=60; public", "Expires: \(date(60))"], lifetime: .invalid),
      Lifetime(lines: ["Cache-Control: max-age='60'", "Expires: \(date(60))"], lifetime: .invalid),
      Lifetime(lines: ["Cache-Control: max-age =60", "Expires: \(date(60))"], lifetime: .invalid),
      Lifetime(lines: ["Cache-Control: max-age= 60", "Expires: \(date(60))"], lifetime: .invalid),
      Lifetime(lines: ["Expires: 0"], lifetime: .invalid),
      Lifetime(lines: ["Expires: Thu, 18 Aug 2050 02:01:18 UTC"], lifetime: .invalid),
      Lifetime(lines: ["Expires: Thu, 18 Aug 2050 02:01:18 +0000"], lifetime: .invalid),
      Lifetime(lines: ["Expires: Thu, 18 Aug 2050 2:01:18 GMT"], lifetime: .invalid),
      Lifetime(lines: ["Expires: 18 Aug 2050 02:01:18 GMT"], lifetime: .invalid),
      Lifetime(lines: ["Expires: Thu, 18 Aug 50 02:01:18 GMT"], lifetime: .invalid),
      Lifetime(lines: ["Expires: Thu, 18-Aug-2050 02:01:18 GMT"], lifetime: .invalid),
      Lifetime(lines: ["Expires: Thu, 18  Aug  2050 02:01:18 GMT"], lifetime: .invalid),
      Lifetime(lines: ["Expires: Thu 18 Aug 2050 02:01:18 GMT"], lifetime: .invalid),
      Lifetime(lines: ["Expires: \(date(-60))"], lifetime: .expires(0)),
      Lifetime(lines: ["Expires: \(date(60))"], sent: -30, lifetime: .expires(90)),
      // Dates in all of HTTP's formats, with any letter case.
      Lifetime(lines: ["Expires: Tue, 14 Nov 2023 22:14:20 GMT"], lifetime: .expires(60)),
      Lifetime(lines: ["Expires: tUE, 14 nOV 2023 22:14:20 gmt"], lifetime: .expires(60)),
      Lifetime(lines: ["Expires: Tuesday, 14-Nov-23 22:14:20 GMT"], lifetime: .expires(60)),
      Lifetime(lines: ["Expires: Tue Nov 14 22:14:20 2023"], lifetime: .expires(60)),
      // A wrong day name doesn't matter.
      Lifetime(lines: ["Expires: Mon Nov 14 22:14:20 2023"], lifetime: .expires(60)),
      Lifetime(lines: ["Expires: Mon, 14 Nov 2023 22:14:20 GMT"], lifetime: .expires(60)),
      // A heuristic lifetime is used only if there is no explicit one, and the status code or the directive public allows it.
      Lifetime(lines: ["Last-Modified: \(date(-1000))"], lifetime: .heuristic(100)),
      Lifetime(lines: ["Last-Modified: \(date(-1000))"], sent: -500, lifetime: .heuristic(50)),
      Lifetime(lines: ["Last-Modified: \(date(-10_000_000))"], lifetime: .heuristic(86_400)),
      Lifetime(lines: ["Last-Modified: \(date(1000))"], lifetime: .heuristic(0)),
      Lifetime(lines: ["Last-Modified: \(date(-1000))", "Expires: 0"], lifetime: .invalid),
      Lifetime(lines: ["Last-Modified: \(date(-1000))", "Cache-Control: max-age=x"], lifetime: .invalid),
      Lifetime(lines: ["Last-Modified: yesterday"], lifetime: .unknown),
      Lifetime(lines: ["Last-Modified: \(date(-1000))"], status: 404, lifetime: .heuristic(100)),
      Lifetime(lines: ["Last-Modified: \(date(-1000))", "Cache-Control: private"], status: 302, lifetime: .unknown),
      Lifetime(
        lines: ["Last-Modified: \(date(-1000))", "Cache-Control: public"], status: 302, lifetime: .heuristic(100)),
      Lifetime(lines: [], lifetime: .unknown),
    ])
  func lifetime(_ row: Lifetime) throws {
    let response = try stored(row.lines + ["Date: \(date(row.sent))"], status: row.status)
    #expect(response.lifetime == row.lifetime)
  }

  @Test(
    "the cache uses heuristic lifetimes for exactly the status codes that RFC 9110 defines as heuristically cacheable")
  func heuristicStatusCodes() {
    let allowed = (100..<600).filter(FreshnessLifetime.allowsHeuristic)
    #expect(allowed == [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501])
    let lines = ["Last-Modified: \(date(-1000))", "Date: \(date())"]
    let estimated = (200..<600).filter { (try? stored(lines, status: $0))?.lifetime == .heuristic(100) }
    // A 206 without Content-Range isn't stored.
    #expect(estimated == allowed.filter { $0 != 206 })
  }

  /// A response's fields, the duration of its exchange, and its expected age 5 seconds after it was received.
  struct Age: Sendable, CustomTestStringConvertible {
    let lines: [String]
    var delay: Int64 = 0
    let age: Int64

    var testDescription: String { "\(lines), delay \(delay)" }
  }

  @Test(
    "a stored response's age is the larger of its age by Date and its Age plus delay, plus the time in the cache",
    arguments: [
      Age(lines: ["Date: \(date())"], age: 5),
      Age(lines: ["Date: \(date(-30))"], age: 35),
      Age(lines: ["Date: \(date(30))"], age: 5),
      Age(lines: ["Date: \(date())", "Age: 20"], age: 25),
      Age(lines: ["Date: \(date(-30))", "Age: 20"], age: 35),
      Age(lines: ["Date: \(date())", "Age: 20"], delay: 3, age: 28),
      Age(lines: ["Date: \(date())"], delay: 3, age: 8),
      // Without a valid Date, the time at which the response was received is used.
      Age(lines: [], age: 5),
      Age(lines: ["Date: now"], age: 5),
      // The first member of Age is used. An invalid value is ignored.
      Age(lines: ["Age: 20, 90"], age: 25),
      Age(lines: ["Age: 20", "Age: 90"], age: 25),
      Age(lines: ["Age: -20"], age: 5),
      Age(lines: ["Age: 2e1"], age: 5),
      Age(lines: ["Age: \"20\""], age: 5),
      Age(lines: ["Age: 20.0"], age: 5),
      Age(lines: ["Age: 99999999999999999999"], age: 2_147_483_648),
    ])
  func age(_ row: Age) throws {
    let response = try stored(row.lines, delay: row.delay)
    #expect(response.currentAge(now: start + 5) == row.age)
  }

  @Test("a stored response is fresh while its lifetime is greater than its age, and stale afterward")
  func boundary() throws {
    let response = try stored(["Cache-Control: max-age=60"])
    #expect(response.isFresh(now: start + 59))
    #expect(!response.isFresh(now: start + 60))
  }

  @Test("if the clock was set back to before a stored response was received, the response has the maximum age")
  func clockSetBack() throws {
    let response = try stored(["Cache-Control: max-age=60"])
    #expect(response.currentAge(now: start - 1) == CacheLimits.deltaSecondsMax)
    #expect(!response.isFresh(now: start - 1))
  }

  @Test(
    "the calculation of a response's age doesn't overflow, even with the largest and smallest times of the type",
    arguments: [Int64.min, -1, 0, Int64.max])
  func extremeTimes(_ now: Int64) throws {
    for other in [Int64.min, 0, Int64.max] {
      let decision = StoreDecision(
        try .get(), status: 200, fields: Fields(["Cache-Control: max-age=60", "Age: 4294967296"]),
        times: ExchangeTimes(request: other, response: now))
      let response = try #require(decision.stored)
      for time in [Int64.min, 0, Int64.max] {
        #expect((0...CacheLimits.deltaSecondsMax).contains(response.currentAge(now: time)))
      }
    }
  }
}
