// `HTTPCookie`: cookies made from properties and from fields, and the fields made from cookies.

import Foundation
import Synchronization
import Testing

@testable import LupineCookies

@Suite struct HTTPCookieTests {
  /// Creates an HTTPCookie with a default name, value, domain and path. Replaces or adds the properties in `changes`, and
  /// omits the property `missing`.
  private func make(
    _ changes: [HTTPCookiePropertyKey: Any] = [:], without missing: HTTPCookiePropertyKey? = nil
  ) -> HTTPCookie? {
    var properties: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "b", .domain: "example.com", .path: "/"]
    properties.merge(changes) { $1 }
    if let missing { properties[missing] = nil }
    return HTTPCookie(properties: properties)
  }

  // MARK: Properties

  @Test("an HTTPCookie can be created from a name, a value, a domain and a path, and has default values for the rest")
  func fewest() throws {
    let cookie = try #require(make())
    #expect(cookie.name == "a" && cookie.value == "b" && cookie.domain == "example.com" && cookie.path == "/")
    #expect(cookie.expiresDate == nil && cookie.isSessionOnly && !cookie.isSecure && !cookie.isHTTPOnly)
    #expect(cookie.version == 0 && cookie.comment == nil && cookie.commentURL == nil && cookie.portList == nil)
    #expect(cookie.sameSitePolicy == nil)
    #expect(
      cookie.description
        == "<HTTPCookie name:\"a\" value:\"b\" domain:\"example.com\" path:\"/\" expiresDate:nil isSecure:false"
        + " isHTTPOnly:false>")
  }

  @Test("a cookie of version 0 has at most one port, and an empty Comment attribute counts as none")
  func obsolete() throws {
    let cookie = try #require(make([.domain: "example.com", .path: "/", .port: "443, 8443"]))
    #expect(cookie.version == 0 && cookie.portList == [443])
    let url = try URL(checked: "http://example.com/")
    let parsed = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "a=b; Comment; CommentURL"], for: url)
    #expect(parsed.count == 1 && parsed.first?.comment == nil && parsed.first?.commentURL == nil)
  }

  @Test("joined cookies may be separated by a line break, and an address as Domain has no leading dot")
  func joinedLines() throws {
    let url = try URL(checked: "http://example.com/")
    let lines = "a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT,\nb=2; Path=/,\r\n c=3; Domain=1.2.3.4"
    let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": lines], for: url)
    #expect(cookies.map(\.name) == ["a", "b", "c"] && cookies.map(\.value) == ["1", "2", "3"])
    #expect(cookies.last?.domain == "1.2.3.4")
    let split = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "a=1\nb=2"], for: url)
    #expect(split.isEmpty, "only a comma separates cookies")
  }

  @Test("an HTTPCookie that is created from another cookie's properties equals the other cookie")
  func most() throws {
    let date = Date(timeIntervalSince1970: 2_000_000_000)
    let cookie = try #require(
      make([
        .domain: ".Example.COM", .path: "/x", .secure: "TRUE", .expires: date, .version: "1", .comment: "c",
        .commentURL: "https://example.com/c", .port: "80, 8080", .sameSitePolicy: HTTPCookieStringPolicy.sameSiteLax,
      ]))
    #expect(cookie.domain == ".example.com" && cookie.path == "/x" && cookie.isSecure && cookie.expiresDate == date)
    #expect(!cookie.isSessionOnly && cookie.version == 1 && cookie.comment == "c" && cookie.portList == [80, 8080])
    #expect(cookie.commentURL?.absoluteString == "https://example.com/c" && cookie.sameSitePolicy == .sameSiteLax)
    let again = HTTPCookie(properties: try #require(cookie.properties))
    #expect(again == cookie)
  }

  @Test("HTTPCookie.init(properties:) returns nil if a required property is missing or a property is invalid")
  func refused() {
    for key in [HTTPCookiePropertyKey.name, .value, .domain, .path] { #expect(make(without: key) == nil) }
    for bad in ["a;b", "a\nb", "a\r\nX: y", "a\0", "\u{7F}"] {
      #expect(make([.name: bad]) == nil)
      #expect(make([.value: bad]) == nil)
      #expect(make([.path: "/" + bad]) == nil)
    }
    #expect(make([.name: "a=b"]) == nil)
    #expect(make([.name: "", .value: ""]) == nil)
    #expect(make([.path: "x"]) == nil)
    #expect(make([.path: ""]) == nil)
    #expect(make([.domain: ""]) == nil)
    #expect(make([.domain: "."]) == nil)
    #expect(make([.domain: String(repeating: "a", count: 256)]) == nil)
    #expect(make([.value: String(repeating: "a", count: 4096)]) == nil)
    #expect(make([.value: String(repeating: "a", count: 4095)]) != nil)
    #expect(make([.name: 5.5]) == nil)
    #expect(make([.name: "__Secure-a"]) == nil)
    #expect(make([.name: "__Secure-a", .secure: "TRUE"]) != nil)
    #expect(make([.name: "__Host-a", .secure: "TRUE", .path: "/x"]) == nil)
    #expect(make([.name: "__Host-a", .secure: "TRUE", .domain: ".example.com"]) == nil)
    #expect(make([.name: "__Host-a", .secure: "TRUE"]) != nil)
  }

  @Test("a cookie created without a domain property has the host of originURL as its domain")
  func originURL() throws {
    let url = try URL(checked: "https://www.example.com:8443/x")
    #expect(make([.originURL: url], without: .domain)?.domain == "www.example.com")
    #expect(make([.originURL: "http://[::1]/"], without: .domain)?.domain == "::1")
    #expect(make([.originURL: url])?.domain == "example.com")
    #expect(make([.originURL: "nonsense"], without: .domain) == nil)
    #expect(make([.domain: "bücher.example"])?.domain == "xn--bcher-kva.example")
  }

  @Test("a cookie's lifetime is determined by its property discard, else by maximumAge, else by expires")
  func lifetime() throws {
    let text = "Wed, 18 May 2033 03:33:20 GMT"
    #expect(make([.expires: text])?.expiresDate == Date(timeIntervalSince1970: 2_000_000_000))
    #expect(make([.expires: "soon"])?.isSessionOnly == true)
    #expect(make([.expires: text, .discard: "TRUE"])?.isSessionOnly == true)
    #expect(make([.expires: text, .discard: "FALSE"])?.isSessionOnly == false)
    #expect(make([.expires: text, .discard: true])?.isSessionOnly == true)
    for age in ["60" as Any, 60, 60.0, NSNumber(value: 60)] {
      let seconds = try #require(make([.expires: text, .maximumAge: age])?.expiresDate?.timeIntervalSinceNow)
      #expect((1...60).contains(seconds))
    }
    #expect(make([.maximumAge: "0"])?.expiresDate == .distantPast)
    for age in ["inf" as Any, Double.infinity, Double.nan] {
      #expect(make([.maximumAge: age])?.isSessionOnly == true)
    }
    for age in ["1e300" as Any, 1e300] { #expect(make([.maximumAge: age])?.expiresDate == .distantFuture) }
  }

  @Test("a cookie created with the property secure is Secure, unless the property's value is false")
  func secure() {
    for value in ["TRUE" as Any, "FALSE", "", 1, true] { #expect(make([.secure: value])?.isSecure == true) }
    #expect(make([.secure: false])?.isSecure == false)
  }

  @Test(
    "an HTTPCookie that was parsed from Set-Cookie can be created again from its properties",
    arguments: [
      "a=b", "a=b; Domain=example.com; Path=/x; Secure; HttpOnly; SameSite=Strict",
      "__Host-a=\"b\"; Secure; Path=/; Expires=Wed, 09 Jun 2049 10:18:14 GMT", "nameless",
    ])
  func roundTrip(line: String) throws {
    let url = try URL(checked: "https://www.example.com/x/y")
    let cookie = try #require(HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": line], for: url).first)
    let again = HTTPCookie(properties: try #require(cookie.properties))
    #expect(again == cookie)
  }

  @Test("HTTPCookies are equal if all their properties are equal")
  func equality() throws {
    let cookie = try #require(make())
    let same = try #require(make())
    #expect(cookie == same && cookie.hash == same.hash && Set([cookie, same]).count == 1)
    for (key, value) in [
      (HTTPCookiePropertyKey.name, "x"), (.value, "x"), (.domain, "x"), (.path, "/x"), (.secure, "TRUE"),
      (.maximumAge, "60"), (.comment, "x"), (.port, "80"), (.sameSitePolicy, "lax"),
    ] {
      #expect(make([key: value]) != cookie, "\(key.rawValue)")
    }
    #expect(!cookie.isEqual("a=b") && !cookie.isEqual(nil))
  }

  // MARK: Fields

  @Test(
    "a Set-Cookie field with several cookies is split only at commas that are followed by a cookie's name",
    arguments: [
      ("a=b", ["a=b"]),
      ("a=b, c=d", ["a=b", "c=d"]),
      ("a=b,c=d,e=f", ["a=b", "c=d", "e=f"]),
      ("a=b; Path=/, c=d; Path=/x", ["a=b", "c=d"]),
      ("a=b; Expires=Wed, 09 Jun 2049 10:18:14 GMT, c=d", ["a=b", "c=d"]),
      (
        "a=b; Expires=Wed, 09-Jun-2049 10:18:14 GMT; Path=/, c=d; expires=Wednesday, 09-Jun-49 10:18:14 GMT",
        ["a=b", "c=d"]
      ),
      ("a=1,2,3; Path=/", ["a=1,2,3"]),
      ("a=b, c; Path=/", ["a=b, c"]),
      ("a=b, c d=e", ["a=b, c d=e"]),
      ("a=\"b, c\", d=e", ["a=\"b, c\"", "d=e"]),
      ("a=b , c = d", ["a=b", "c=d"]),
      ("a=b,", ["a=b,"]),
      (",a=b", ["a=b"]),
      ("a=b,,c=d", ["a=b,", "c=d"]),
      ("a=b, =c", ["a=b, =c"]),
      ("", []),
    ] as [(String, [String])])
  func joined(value: String, pairs: [String]) throws {
    let cookies = HTTPCookie.cookies(
      withResponseHeaderFields: ["set-cookie": value, "X": "y=z"], for: try URL(checked: "https://example.com/"))
    #expect(cookies.map { "\($0.name)=\($0.value)" } == pairs)
  }

  @Test("HTTPCookie parses cookies for http and https URLs only, and accepts any Domain attribute")
  func foreign() throws {
    let lines = ["Set-Cookie": "a=1; Domain=other.org, b=2; Secure, c=3; Domain=com, d=4; Path=/x"]
    let plain = HTTPCookie.cookies(withResponseHeaderFields: lines, for: try URL(checked: "http://example.com/y/z"))
    #expect(plain.map(\.domain) == [".other.org", "example.com", ".com", "example.com"])
    let secure = HTTPCookie.cookies(withResponseHeaderFields: lines, for: try URL(checked: "https://example.com/y/z"))
    #expect(secure.map(\.name) == ["a", "b", "c", "d"] && secure.map(\.path) == ["/y", "/y", "/y", "/x"])
    #expect(HTTPCookie.cookies(withResponseHeaderFields: lines, for: URL(filePath: "/a")).isEmpty)
    #expect(HTTPCookie.cookies(withResponseHeaderFields: ["Cookie": "a=b"], for: try URL(checked: "http://a/")).isEmpty)
  }

  @Test("several cookies are written to a single Cookie field")
  func requestFields() throws {
    let cookies = try [#require(make()), #require(make([.name: "", .value: "x"])), #require(make([.value: ""]))]
    #expect(HTTPCookie.requestHeaderFields(with: cookies) == ["Cookie": "a=b; x; a="])
    #expect(HTTPCookie.requestHeaderFields(with: []).isEmpty)
  }

  @Test(
    "cookies are appended to the request's existing Cookie field, unless their names are already in the field",
    arguments: [
      (nil, "a=1; b=2; c"), ("", "a=1; b=2; c"), ("x=y", "x=y; a=1; b=2; c"), ("a=9", "a=9; b=2; c"),
      ("a=9; b=8;c=7", "a=9; b=8;c=7; c"), ("b=", "b=; a=1; c"), ("d", "d; a=1; b=2"), ("A=9", "A=9; a=1; b=2; c"),
      ("a=9; b=8; d", nil),
    ] as [(String?, String?)])
  func merged(own: String?, field: String?) throws {
    let cookies = try [("a", "1"), ("b", "2"), ("", "c")].map {
      try #require(make([.name: $0.0, .value: $0.1])).cookie
    }
    let joined = CookieField.joined(cookies, to: own.map { Array($0.utf8) })
    #expect(joined.map { String(decoding: $0, as: UTF8.self) } == field)
  }

  @Test("a Cookie field has at most 8,190 bytes, and cookies that don't fit are left out")
  func fieldLength() throws {
    let sizes = [4000, 4000, 4000, 180, 10]
    let cookies = try sizes.enumerated().map { index, size in
      try #require(make([.name: "\(index)", .value: String(repeating: "x", count: size - 2)])).cookie
    }
    let field = try #require(CookieField.joined(cookies, to: nil))
    #expect(field.count <= 8190)
    #expect(field.split(separator: UInt8(ascii: ";")).count == 3)
    #expect(CookieField.joined(cookies, to: [UInt8](repeating: 120, count: 8189)) == nil)
    // After 8,178 bytes and the separator, there is room for a cookie of 10 bytes.
    #expect(CookieField.joined(cookies, to: [UInt8](repeating: 120, count: 8178))?.count == 8190)
    #expect(CookieField.joined(cookies, to: [UInt8](repeating: 120, count: 8179)) == nil)
  }
}
