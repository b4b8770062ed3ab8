// `HTTPCookieStorage`, with a clock that the test sets.

import Foundation
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineCookies

@Suite struct HTTPCookieStorageTests {
  private final class Clock: Sendable {
    private let seconds = Atomic(1_700_000_000)
    var now: Date { Date(timeIntervalSince1970: Double(seconds.load(ordering: .relaxed))) }
    func advance(_ count: Int) { seconds.add(count, ordering: .relaxed) }
  }

  private let clock = Clock()
  private let storage: HTTPCookieStorage
  private let url: URL

  init() throws {
    storage = HTTPCookieStorage { [clock] in clock.now }
    url = try URL(checked: "https://www.example.com/x")
  }

  private func cookie(_ name: String, domain: String = "www.example.com", secure: Bool = false) throws -> HTTPCookie {
    try #require(
      HTTPCookie(properties: [.name: name, .value: "1", .domain: domain, .path: "/", .secure: secure]))
  }

  private var names: [String] { storage.cookies?.map(\.name) ?? [] }

  @Test("a cookie storage can find, replace and delete its cookies")
  func lifecycle() throws {
    #expect(storage.cookies == [] && storage.isEmpty)
    try storage.setCookie(cookie("a"))
    try storage.setCookie(cookie("b", domain: ".example.com"))
    try storage.setCookie(cookie("c", domain: "other.org"))
    #expect(!storage.isEmpty)
    #expect(storage.cookies(for: url)?.map(\.name) == ["a", "b"])
    #expect(storage.cookies(for: try URL(checked: "https://other.org/"))?.map(\.name) == ["c"])
    #expect(storage.cookies(for: URL(filePath: "/x")) == nil)
    let other = try #require(
      HTTPCookie(properties: [.name: "a", .value: "2", .domain: "www.example.com", .path: "/"]))
    storage.setCookie(other)
    #expect(storage.cookies(for: url)?.first?.value == "2")
    try storage.deleteCookie(cookie("a"))
    try storage.deleteCookie(cookie("b"))
    #expect(names == ["b", "c"])
    storage.removeCookies(since: .distantPast)
    #expect(storage.isEmpty && names.isEmpty)
  }

  @Test("a cookie storage no longer returns a cookie once the cookie has expired")
  func time() throws {
    storage.store([Array("a=1; Max-Age=60".utf8)], from: try #require(CookieSource(url)), at: url, mainDocument: nil)
    clock.advance(30)
    let date = clock.now
    clock.advance(29)
    #expect(names == ["a"])
    try storage.setCookie(cookie("b"))
    clock.advance(1)
    #expect(names == ["b"])
    storage.removeCookies(since: date)
    #expect(names.isEmpty)
  }

  @Test("setCookies(_:for:mainDocumentURL:) stores only cookies that a server at the URL may set")
  func forURL() throws {
    let cookies = try [
      cookie("a"), cookie("b", domain: ".example.com"), cookie("c", domain: "example.com"),
      cookie("d", domain: "other.org"), cookie("e", secure: true), cookie("f", domain: ".com"),
    ]
    storage.setCookies(cookies, for: try URL(checked: "http://www.example.com/"), mainDocumentURL: nil)
    #expect(names == ["a", "b"])
    storage.setCookies(cookies, for: nil, mainDocumentURL: nil)
    #expect(names == ["a", "b"])
    storage.setCookies(cookies, for: url, mainDocumentURL: nil)
    #expect(names == ["a", "b", "e"])
    storage.setCookies([try cookie("e")], for: try URL(checked: "http://www.example.com/"), mainDocumentURL: nil)
    #expect(storage.cookies?.last?.isSecure == true)
  }

  @Test("a host that is a public suffix, such as localhost, can set a cookie with its own domain only for itself")
  func publicSuffixes() throws {
    let localhost = try URL(checked: "http://localhost/")
    let lines = ["a=1; Domain=localhost", "b=1; Domain=.localhost", "c=1; Domain=com", "d=1; Domain=x.localhost"]
    for line in lines {
      let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": line], for: localhost)
      storage.setCookies(cookies, for: localhost, mainDocumentURL: nil)
    }
    #expect(names == ["a", "b"] && storage.cookies?.allSatisfy { $0.domain == "localhost" } == true)
    #expect(storage.cookies(for: localhost)?.count == 2)
    #expect(storage.cookies(for: try URL(checked: "http://x.localhost/"))?.count == 0)
  }

  @Test("setCookies(_:for:mainDocumentURL:) doesn't store a cookie that violates the conditions of its name's prefix")
  func prefixes() throws {
    let lines = [
      "__Secure-a=1", "__Host-b=1; Secure; Path=/x", "__Host-c=1; Secure; Path=/; Domain=example.com",
      "__Host-d=1; Secure; Path=/",
    ]
    // The parser of a dictionary's fields doesn't check whether the server may set the cookies.
    let cookies = lines.flatMap { HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": $0], for: url) }
    #expect(cookies.count == lines.count)
    storage.setCookies(cookies, for: url, mainDocumentURL: nil)
    #expect(names == ["__Host-d"])
  }

  @Test("a cookie storage's accept policy decides which cookies it stores")
  func policy() throws {
    #expect(storage.cookieAcceptPolicy == .always)
    let other = try URL(checked: "https://other.org/")
    storage.cookieAcceptPolicy = .never
    try storage.setCookie(cookie("a"))
    storage.setCookies([try cookie("a")], for: url, mainDocumentURL: nil)
    storage.store([Array("a=1".utf8)], from: try #require(CookieSource(url)), at: url, mainDocument: nil)
    #expect(storage.isEmpty)
    storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
    storage.setCookies([try cookie("a")], for: url, mainDocumentURL: other)
    storage.setCookies([try cookie("a")], for: url, mainDocumentURL: try URL(checked: "https://example.com.org/"))
    #expect(storage.isEmpty)
    storage.setCookies([try cookie("a")], for: url, mainDocumentURL: try URL(checked: "https://example.com/"))
    storage.setCookies([try cookie("b")], for: url, mainDocumentURL: try URL(checked: "https://x.www.example.com/"))
    storage.setCookies([try cookie("c")], for: url, mainDocumentURL: nil)
    #expect(names == ["a", "b", "c"])
    storage.cookieAcceptPolicy = .always
    storage.setCookies([try cookie("d")], for: url, mainDocumentURL: other)
    #expect(names == ["a", "b", "c", "d"])
  }

  @Test("a cookie storage returns a cookie with a port list only for URLs whose port is in the list")
  func ports() throws {
    let cookie = HTTPCookie(
      properties: [.name: "a", .value: "1", .domain: "h", .path: "/", .port: "80,8080", .version: "1"])
    storage.setCookie(try #require(cookie))
    #expect(storage.cookies(for: try URL(checked: "http://h/"))?.count == 1)
    #expect(storage.cookies(for: try URL(checked: "http://h:8080/"))?.count == 1)
    #expect(storage.cookies(for: try URL(checked: "https://h/"))?.count == 0)
  }

  @Test("an internationalized domain has the same encoded form in cookies as in URLs")
  func otherScript() throws {
    try storage.setCookie(cookie("a", domain: "bücher.example"))
    #expect(storage.cookies(for: try URL(checked: "https://xn--bcher-kva.example/"))?.map(\.name) == ["a"])
    #expect(storage.cookies(for: try URL(checked: "https://bücher.example/"))?.map(\.name) == ["a"])
  }

  @Test("after its cookies have changed, a cookie storage posts a notification, without holding a lock")
  func notifications() async throws {
    let notified = Recorder<[String]>()
    let observer = NotificationCenter.default.addObserver(
      forName: .NSHTTPCookieManagerCookiesChanged, object: storage, queue: nil
    ) { [storage] _ in
      notified.record(storage.cookies?.map(\.name) ?? [])
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try storage.setCookie(cookie("a"))
    #expect(await notified.next() == ["a"])
    storage.store([Array("b=1".utf8)], from: try #require(CookieSource(url)), at: url, mainDocument: nil)
    #expect(await notified.next() == ["a", "b"])
    try storage.deleteCookie(cookie("a"))
    #expect(await notified.next() == ["b"])
  }

  @Test("after concurrent use, a cookie storage contains the cookies that were set last")
  func threads() async throws {
    let source = try #require(CookieSource(url))
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask { [storage, url] in
          for round in 0..<200 {
            storage.store([Array("t\(task)=\(round)".utf8)], from: source, at: nil, mainDocument: nil)
            _ = storage.field(for: source, at: nil, joining: nil)
            if round % 50 == 0 { _ = storage.cookies(for: url) }
          }
        }
      }
    }
    #expect(storage.cookies?.count == 8)
    #expect(storage.cookies?.allSatisfy { $0.value == "199" } == true)
  }
}
