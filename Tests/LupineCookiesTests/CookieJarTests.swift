// `CookieJar`: the requests with which a cookie is sent, the order of cookies, and replacement, expiry and limits.

import Foundation
import Testing

@testable import LupineCookies

@Suite struct CookieJarTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)

  /// A cookie jar with a clock that the test sets.
  private struct Bench {
    var jar = CookieJar()
    var now = CookieJarTests.start

    /// Stores the cookie of a Set-Cookie line received from the URL. Returns the reason if the cookie jar refuses the cookie.
    @discardableResult
    mutating func set(_ line: String, from url: String = "https://www.example.com/") throws -> CookieRefusal? {
      let source = try #require(try CookieSource(URL(checked: url)))
      do throws(CookieRefusal) {
        let cookie = try Cookie(
          SetCookie(Array(line.utf8)), from: source, now: now,
          isPublicSuffix: { SetCookieVector.suffixes.contains($0) })
        try jar.store(cookie, isSecure: source.isSecure, now: now, suffixes: SetCookieVector.suffixes)
        return nil
      } catch {
        return error
      }
    }

    /// Returns the Cookie field for a request to the URL, without updating the cookies' time of last use.
    func sent(to url: String) throws -> String {
      let source = try #require(try CookieSource(URL(checked: url)))
      return text(jar.cookies(for: source, now: now))
    }

    /// Returns the Cookie field for a request to the URL, and updates the cookies' time of last use.
    @discardableResult
    mutating func use(_ url: String) throws -> String {
      let source = try #require(try CookieSource(URL(checked: url)))
      return text(jar.use(for: source, now: now))
    }

    var all: String { text(jar.all(now: now)) }

    private func text(_ cookies: [Cookie]) -> String {
      cookies.map { String(decoding: $0.pair, as: UTF8.self) }.joined(separator: "; ")
    }
  }

  // MARK: Matching requests

  @Test(
    "a cookie is sent only to its domain and path, and only over https if it is Secure",
    arguments: [
      ("a=b", "https://www.example.com/", true), ("a=b", "http://www.example.com:8080/x?y", true),
      ("a=b", "https://example.com/", false), ("a=b", "https://x.www.example.com/", false),
      ("a=b", "https://WWW.example.com/", true), ("a=b", "https://www.example.com./", false),
      ("a=b; Domain=example.com", "https://example.com/", true),
      ("a=b; Domain=example.com", "https://x.y.example.com/", true),
      ("a=b; Domain=example.com", "https://myexample.com/", false),
      ("a=b; Domain=example.com", "https://com/", false),
      ("a=b; Domain=example.com", "https://example.com.org/", false),
      ("a=b; Domain=www.example.com", "https://example.com/", false),
      ("a=b; Path=/x", "https://www.example.com/x", true), ("a=b; Path=/x", "https://www.example.com/x/", true),
      ("a=b; Path=/x", "https://www.example.com/x/y", true), ("a=b; Path=/x", "https://www.example.com/xy", false),
      ("a=b; Path=/x", "https://www.example.com/", false), ("a=b; Path=/x", "https://www.example.com/X", false),
      ("a=b; Path=/x", "https://www.example.com/x?y", true), ("a=b; Path=/x/", "https://www.example.com/x", false),
      ("a=b; Path=/x/", "https://www.example.com/x/y", true), ("a=b; Path=/x", "https://www.example.com/y/x", false),
      ("a=b; Path=/x", "https://www.example.com/x%2Fy", false), ("a=b; Path=/é", "https://www.example.com/é", false),
      ("a=b; Path=/%C3%A9", "https://www.example.com/é/x", true),
      ("a=b; Secure", "https://www.example.com/", true), ("a=b; Secure", "http://www.example.com/", false),
      ("a=b; HttpOnly; SameSite=Strict", "http://www.example.com/", true),
    ])
  func reach(line: String, url: String, isSent: Bool) throws {
    var bench = Bench()
    #expect(try bench.set(line) == nil)
    #expect(try bench.sent(to: url) == (isSent ? "a=b" : ""))
  }

  @Test("a cookie set by an IP address is sent only to that address")
  func addresses() throws {
    var bench = Bench()
    #expect(try bench.set("a=b; Domain=127.0.0.1", from: "http://127.0.0.1/") == nil)
    #expect(try bench.set("c=d", from: "http://[::1]:8080/") == nil)
    #expect(try bench.sent(to: "http://127.0.0.1:99/") == "a=b")
    #expect(try bench.sent(to: "http://1.127.0.0.1/").isEmpty)
    #expect(try bench.sent(to: "http://[::1]/") == "c=d")
    #expect(try bench.sent(to: "http://[::2]/").isEmpty)
  }

  @Test("cookies of a Unix socket are sent neither to another Unix socket nor to localhost")
  func sockets() throws {
    var bench = Bench()
    #expect(try bench.set("a=b", from: "http+unix://%2Frun%2Fa.sock/") == nil)
    #expect(try bench.sent(to: "http+unix://%2Frun%2Fa.sock/x") == "a=b")
    #expect(try bench.sent(to: "http+unix://%2Frun%2Fb.sock/x").isEmpty)
    #expect(try bench.sent(to: "http://localhost/").isEmpty)
  }

  @Test("cookies with longer paths are sent first, and cookies with equally long paths in the order of their creation")
  func order() throws {
    var bench = Bench()
    try bench.set("a=1; Path=/")
    try bench.set("b=1; Path=/x/y")
    try bench.set("c=1; Path=/; Domain=example.com")
    try bench.set("d=1; Path=/x")
    try bench.set("e=1; Path=/x/y")
    #expect(try bench.sent(to: "https://www.example.com/x/y/z") == "b=1; e=1; d=1; a=1; c=1")
    // A new value doesn't change a cookie's position.
    try bench.set("a=2; Path=/")
    #expect(try bench.sent(to: "https://www.example.com/x/y/z") == "b=1; e=1; d=1; a=2; c=1")
    #expect(bench.all == "a=2; b=1; c=1; d=1; e=1")
  }

  @Test("a cookie replaces the stored one with the same name, domain, host-only flag and path")
  func identity() throws {
    var bench = Bench()
    for line in ["a=1", "A=2", "a=3; Path=/x", "a=4; Domain=www.example.com", "a=5; Domain=example.com"] {
      try bench.set(line)
    }
    #expect(bench.jar.count == 5)
    for line in ["a=6; HttpOnly", "A=7", "a=8; Path=/x", "a=9; Domain=.WWW.example.com", "a=0; Domain=example.com"] {
      try bench.set(line)
    }
    #expect(bench.all == "a=6; A=7; a=8; a=9; a=0")
    #expect(try bench.sent(to: "https://www.example.com/x") == "a=8; a=6; A=7; a=9; a=0")
  }

  @Test("cookies without a name replace each other, and only their value is sent")
  func nameless() throws {
    var bench = Bench()
    try bench.set("one")
    try bench.set("=two")
    try bench.set("a=")
    #expect(try bench.sent(to: "https://www.example.com/") == "two; a=")
  }

  // MARK: Expiry

  @Test("a cookie with an expiry date expires on that date, and a session cookie doesn't expire")
  func expiry() throws {
    var bench = Bench()
    try bench.set("a=1; Max-Age=60")
    try bench.set("b=1; Expires=Tue, 14 Nov 2023 22:15:20 GMT")
    try bench.set("c=1")
    #expect(bench.all == "a=1; b=1; c=1")
    bench.now += 59.9
    #expect(bench.all == "a=1; b=1; c=1")
    bench.now += 0.1
    #expect(bench.all == "b=1; c=1")
    #expect(try bench.sent(to: "https://www.example.com/") == "b=1; c=1")
    bench.now += 60
    #expect(try bench.use("https://www.example.com/") == "c=1")
    bench.now += 100 * 365 * 86_400
    #expect(bench.all == "c=1")
  }

  @Test("the cookie jar limits a cookie's lifetime to 400 days")
  func longest() throws {
    var bench = Bench()
    try bench.set("a=1; Max-Age=99999999999")
    try bench.set("b=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT")
    bench.now += 400 * 86_400 - 1
    #expect(bench.all == "a=1; b=1")
    bench.now += 1
    #expect(bench.all.isEmpty)
  }

  @Test(
    "setting an expired cookie removes only the stored cookie that it would replace",
    arguments: ["a=; Max-Age=0", "a=x; Max-Age=-5", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"])
  func removal(line: String) throws {
    var bench = Bench()
    try bench.set("a=1")
    try bench.set("a=2; Path=/x")
    try bench.set("b=3")
    try bench.set(line)
    #expect(bench.all == "a=2; b=3" && bench.jar.count == 2)
    try bench.set(line)
    #expect(bench.jar.count == 2)
  }

  @Test("a cookie jar can remove the cookies that were stored or replaced after a date")
  func removeSince() throws {
    var bench = Bench()
    try bench.set("a=1")
    try bench.set("b=1", from: "https://other.com/")
    bench.now += 10
    let date = bench.now
    bench.now += 10
    try bench.set("c=1")
    try bench.set("b=2", from: "https://other.com/")
    bench.jar.removeAll(storedAfter: date)
    #expect(bench.all == "a=1" && bench.jar.count == 1)
    bench.jar.removeAll(storedAfter: .distantPast)
    #expect(bench.jar.count == 0)
  }

  @Test("a cookie jar counts its changes, but not that a cookie is used, or is stored again without a difference")
  func changes() throws {
    var bench = Bench()
    try bench.set("a=1")
    let stored = bench.jar.changeCount
    #expect(stored > 0)
    try bench.set("a=1")
    try bench.use("https://www.example.com/")
    try bench.set("b=1; Max-Age=0")
    let date = bench.now
    bench.jar.removeAll(storedAfter: date)
    #expect(bench.jar.changeCount == stored && bench.all == "a=1")
    try bench.set("a=2")
    let replaced = bench.jar.changeCount
    #expect(replaced > stored)
    try bench.set("a=2; Secure")
    let secured = bench.jar.changeCount
    #expect(secured > replaced)
    try bench.set("a=2; Max-Age=0")
    #expect(bench.jar.changeCount > secured && bench.all == "")
  }

  // MARK: Secure cookies

  @Test(
    "a cookie set over http can neither shadow nor replace a Secure cookie",
    arguments: [
      ("a=evil", "http://www.example.com/", CookieRefusal.coversSecure),
      ("a=evil; Path=/login", "http://www.example.com/", .coversSecure),
      ("a=evil; Domain=example.com", "http://www.example.com/", .coversSecure),
      ("a=evil; Domain=example.com; Path=/login/x", "http://evil.example.com/", .coversSecure),
      ("a=evil; Path=/", "http://x.www.example.com/", .coversSecure),
      ("a=; Max-Age=0", "http://www.example.com/", .coversSecure),
      ("a=evil; Secure", "http://www.example.com/", .notSecure),
      ("a=fine", "https://www.example.com/", nil),
      ("A=fine", "http://www.example.com/", nil),
      ("a=fine", "http://sibling.example.com/", nil),
      ("a=fine", "http://example.org/", nil),
    ])
  func secureIsLeftAlone(line: String, url: String, refusal: CookieRefusal?) throws {
    var bench = Bench()
    try bench.set("a=1; Secure; Path=/")
    #expect(try bench.set(line, from: url) == refusal)
    if refusal != nil { #expect(bench.all == "a=1") }
  }

  @Test("a cookie can be set over http if the Secure cookie with the same name has a longer path or has expired")
  func notCovered() throws {
    var bench = Bench()
    try bench.set("a=1; Secure; Path=/login; Max-Age=60")
    #expect(try bench.set("a=2; Path=/", from: "http://www.example.com/") == nil)
    #expect(try bench.set("a=3; Path=/login", from: "http://www.example.com/") == .coversSecure)
    bench.now += 60
    #expect(try bench.set("a=3; Path=/login", from: "http://www.example.com/") == nil)
  }

  // MARK: Limits

  @Test("a domain has at most 180 cookies, without counting those of its parent domain")
  func perDomain() throws {
    var bench = Bench()
    try bench.set("other=1", from: "https://example.com/")
    for number in 0..<200 { try bench.set("a\(number)=1") }
    #expect(bench.jar.count == 181)
    #expect(bench.all.hasPrefix("other=1; a20=1; ") && bench.all.hasSuffix("; a199=1"))
  }

  @Test("above a domain's cookie limit, the cookie jar removes the least recently used cookie first")
  func leastRecentlyUsed() throws {
    var bench = Bench()
    try bench.set("first=1; Path=/first")
    try bench.set("second=1; Path=/second")
    for number in 0..<178 { try bench.set("a\(number)=1; Path=/\(number)") }
    try bench.use("https://www.example.com/first")
    try bench.set("new=1; Path=/new")
    #expect(try bench.sent(to: "https://www.example.com/first") == "first=1")
    #expect(try bench.sent(to: "https://www.example.com/second").isEmpty)
    // `sent(to:)` doesn't update the time of last use.
    #expect(try bench.sent(to: "https://www.example.com/0") == "a0=1")
    try bench.set("newer=1; Path=/new")
    #expect(try bench.sent(to: "https://www.example.com/0").isEmpty)
  }

  @Test("above a domain's cookie limit, the cookie jar removes expired cookies first, then cookies that aren't Secure")
  func priorities() throws {
    var bench = Bench()
    try bench.set("session=1; Secure; Path=/s")
    try bench.set("short=1; Max-Age=10; Secure; Path=/s")
    for number in 0..<178 { try bench.set("a\(number)=1; Path=/\(number)") }
    bench.now += 10
    try bench.set("b=1; Path=/b")
    #expect(bench.jar.count == 180)
    #expect(try bench.sent(to: "https://www.example.com/0") == "a0=1")
    // Cookies set without TLS displace only cookies that aren't Secure.
    for number in 0..<1000 { try bench.set("c\(number)=1", from: "http://www.example.com/") }
    #expect(bench.jar.count == 180)
    #expect(try bench.use("https://www.example.com/s").hasPrefix("session=1; c"))
  }

  @Test("a domain has at most 180 cookies, even if all of them are Secure")
  func onlySecure() throws {
    var bench = Bench()
    for number in 0..<200 { try bench.set("a\(number)=1; Secure") }
    #expect(bench.jar.count == 180)
    #expect(bench.all.hasPrefix("a20=1; ") && bench.all.hasSuffix("; a199=1"))
  }

  @Test("a registrable domain has at most 360 cookies, so that 20 subdomains can't evict the cookies of other sites")
  func perRegistrableDomain() throws {
    var bench = Bench()
    for number in 0..<100 { try bench.set("other=\(number)", from: "https://h\(number).com/") }
    try bench.set("shop=1; Domain=example.co.uk", from: "https://shop.example.co.uk/")
    for domain in 0..<20 {
      for number in 0..<180 { try bench.set("a\(number)=1", from: "https://x\(domain).example.co.uk/") }
    }
    #expect(bench.jar.count == 460)
    for number in 0..<100 { #expect(try bench.sent(to: "https://h\(number).com/") == "other=\(number)") }
    // The jar evicts cookies of the subdomains with the most cookies, even if another subdomain's cookies are older.
    #expect(try bench.sent(to: "https://shop.example.co.uk/") == "shop=1")
    #expect(try bench.sent(to: "https://x19.example.co.uk/").hasSuffix("a179=1"))
  }

  @Test(
    "above a registrable domain's limit, the cookie jar removes expired cookies first, then cookies that aren't Secure")
  func prioritiesOfSite() throws {
    var bench = Bench()
    for number in 0..<100 { try bench.set("s\(number)=1; Secure", from: "https://www.example.com/") }
    for number in 0..<100 { try bench.set("e\(number)=1; Max-Age=10", from: "https://old.example.com/") }
    for number in 0..<160 { try bench.set("a\(number)=1", from: "https://new.example.com/") }
    bench.now += 10
    try bench.set("b=1", from: "https://b.example.com/")
    #expect(bench.jar.count == 261)
    // Each of these subdomains has fewer cookies than the one with Secure cookies.
    for domain in 0..<50 {
      for number in 0..<10 { try bench.set("c\(number)=1", from: "http://c\(domain).example.com/") }
    }
    #expect(bench.jar.count == 360)
    #expect(try bench.sent(to: "https://www.example.com/").split(separator: ";").count == 100)
  }

  @Test("each domain below a public suffix, the suffix itself and each IP address has a separate cookie limit")
  func strangers() throws {
    var bench = Bench()
    let hosts = ["a.github.io", "b.github.io", "github.io", "10.0.0.1", "10.1.0.1", "[::1]"]
    for host in hosts {
      for number in 0..<150 { try bench.set("a\(number)=1", from: "https://\(host)/") }
    }
    #expect(bench.jar.count == 900)
  }

  @Test(
    "above 3,300 cookies, the cookie jar removes expired cookies, or else all but the 3,000 most recently used cookies")
  func total() throws {
    var bench = Bench()
    try bench.set("short=1; Max-Age=10", from: "https://short.com/")
    for number in 0..<3299 { try bench.set("a=\(number)", from: "https://h\(number).com/") }
    #expect(bench.jar.count == 3300)
    bench.now += 10
    try bench.set("a=new", from: "https://new.com/")
    #expect(bench.jar.count == 3300)
    #expect(try bench.use("https://h0.com/") == "a=0")
    try bench.set("a=newer", from: "https://newer.com/")
    #expect(bench.jar.count == 3000)
    #expect(try bench.sent(to: "https://h0.com/") == "a=0")
    #expect(try bench.sent(to: "https://h301.com/").isEmpty)
    #expect(try bench.sent(to: "https://h302.com/") == "a=302")
    #expect(try bench.sent(to: "https://newer.com/") == "a=newer")
  }

  @Test("while a Secure cookie is stored, a server can't set a cookie with the same name over http")
  func secureNames() throws {
    var bench = Bench()
    try bench.set("a=1; Secure", from: "https://one.com/")
    try bench.set("a=1; Secure", from: "https://two.com/")
    try bench.set("a=; Secure; Max-Age=0", from: "https://one.com/")
    #expect(try bench.set("a=2", from: "http://one.com/") == nil)
    #expect(try bench.set("a=2", from: "http://two.com/") == .coversSecure)
    // Over https, a cookie that isn't Secure replaces the Secure cookie.
    try bench.set("a=3", from: "https://two.com/")
    #expect(try bench.set("a=2", from: "http://two.com/") == nil)
  }

  @Test("the cookie jar neither stores nor sends cookies for host names longer than 255 bytes")
  func longHost() throws {
    let long = Array(repeating: "a", count: 20_000).joined(separator: ".")
    #expect(try CookieSource(URL(checked: "https://\(long).com/")) == nil)
    let longest = String(repeating: "a.", count: 126) + "com"
    let source = try #require(try CookieSource(URL(checked: "https://\(longest)/")))
    #expect(source.host.utf8.count == 255 && source.domains.count == 127)
  }

  @Test(
    "the cookie jar neither stores nor sends cookies for URLs with schemes other than http and https",
    arguments: ["file:///a", "ftp://a/", "data:,a", "mailto:a@b"])
  func otherSchemes(url: String) throws {
    #expect(try CookieSource(URL(checked: url)) == nil)
  }
}
