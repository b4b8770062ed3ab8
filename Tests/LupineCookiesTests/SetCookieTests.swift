// Set-Cookie lines parsed to cookies: tables of vectors, and random mutations of them.

import Foundation
import LupineTestSupport
import Testing

@testable import LupineCookies

@Suite struct SetCookieTests {
  @Test(
    "the Set-Cookie parser returns the expected cookie for each valid line, and refuses each invalid line",
    arguments: SetCookieVector.all)
  func vector(_ vector: SetCookieVector) throws {
    #expect(try vector.result() == vector.outcome)
  }

  @Test("the parser reads the dates of cookies in the same way as browsers", arguments: CookieDateVectors.all)
  func date(text: String, seconds: Int?) {
    #expect(CookieDate.parse(text.utf8).map { Int($0.timeIntervalSince1970) } == seconds)
  }

  @Test(
    "cookie dates of consecutive days are parsed as times exactly one day apart, also around leap years",
    arguments: [1600, 1896, 1968, 1996, 2096, 9990])
  func days(from start: Int) throws {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    var previous = try #require(CookieDate.parse("1 Jan \(start + 1) 00:00:00".utf8))
    var count = 1
    for year in start + 1...start + 9 {
      for month in months {
        for day in 1...31 {
          guard let date = CookieDate.parse("\(day) \(month) \(year) 00:00:00".utf8), date > previous else { continue }
          if date.timeIntervalSince(previous) != 86_400 { Issue.record("\(day) \(month) \(year)") }
          previous = date
          count += 1
        }
      }
    }
    // Nine years have two leap years, or one around 1900 and 2100.
    #expect(count == 9 * 365 + ([1896, 2096].contains(start) ? 1 : 2))
  }

  @Test(
    "parsing a randomly mutated Set-Cookie line terminates, and a parsed cookie is within the size limits",
    arguments: [1, 2, 3, 4])
  func mutations(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let source = try #require(CookieSource(URL(checked: "https://www.example.com/dir/page")))
    let lines = SetCookieVector.all.map(\.line) + CookieDateVectors.all.map { Array("a=b;expires=\($0.text)".utf8) }
    let telling = Array("=;,. \t\"/-:0123456789aSdDpPmM_GT\0\n\u{7F}".utf8)
    var keptCount = 0
    let count = repetitions(of: 5000)
    for _ in 0..<count {
      let line = random.mutation(of: lines[Int.random(in: lines.indices, using: &random)], inserting: telling)
      for part in JoinedSetCookie.lines(of: line) { _ = try? SetCookie(part) }
      guard let parsed = try? SetCookie(line) else { continue }
      let cookie = try? Cookie(
        parsed, from: source, now: SetCookieVector.now, isPublicSuffix: { SetCookieVector.suffixes.contains($0) })
      guard let cookie else { continue }
      keptCount += 1
      let isSound =
        (1...4096).contains(cookie.name.count + cookie.value.count)
        && !cookie.pair.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F || $0 == UInt8(ascii: ";") }
        && ["www.example.com", "example.com"].contains(cookie.domain) && cookie.path.hasPrefix("/")
        // A byte that isn't UTF-8 becomes U+FFFD, which has three bytes.
        && cookie.path.utf8.count <= 3 * 1024
        && (cookie.expires ?? .distantPast) <= SetCookieVector.now.addingTimeInterval(400 * 86_400)
      if !isSound { Issue.record("\(SetCookieVector.text(cookie)) from \(line)") }
    }
    #expect(keptCount > count / 10)
  }
}
