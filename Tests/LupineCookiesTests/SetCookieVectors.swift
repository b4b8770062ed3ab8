// `SetCookieVector`: Set-Cookie lines, each with the cookie that it gives or the reason for its refusal.

import Foundation
import Testing

@testable import LupineCookies

/// A test vector: a Set-Cookie line, and the cookie that the parser returns for the line, or the reason for its refusal.
struct SetCookieVector: Sendable, CustomTestStringConvertible {
  let title: String
  let line: [UInt8]
  let url: String
  let outcome: Result<String, CookieRefusal>

  /// Creates a vector whose line is parsed to the cookie that `kept` describes, in the format of `text(_:)`.
  init(_ title: String, _ line: String, from url: String = Self.page, _ kept: String) {
    self.init(title, bytes: Array(line.utf8), from: url, .success(kept))
  }

  init(_ title: String, _ line: String, from url: String = Self.page, refused: CookieRefusal) {
    self.init(title, bytes: Array(line.utf8), from: url, .failure(refused))
  }

  init(_ title: String, bytes: [UInt8], from url: String = Self.page, _ outcome: Result<String, CookieRefusal>) {
    (self.title, self.url, self.outcome) = (title, url, outcome)
    line = bytes
  }

  static let page = "https://www.example.com/dir/page?query/with/slashes"
  /// The time at which the client receives the Set-Cookie lines: 2023-11-14 22:13:20 GMT.
  static let now = Date(timeIntervalSince1970: 1_700_000_000)
  static let suffixes = PublicSuffixes(
    list: Array("// a comment\ncom\nuk\nco.uk\nio\ngithub.io\n*.ck\n!www.ck\njp\n*.kobe.jp\n!city.kobe.jp\n".utf8))

  var testDescription: String { title }

  /// Parses the Set-Cookie line. Returns the cookie in the format of `text(_:)`, or the reason for its refusal.
  func result() throws -> Result<String, CookieRefusal> {
    let source = try #require(try CookieSource(URL(checked: url)))
    do throws(CookieRefusal) {
      let cookie = try Cookie(
        SetCookie(line), from: source, now: Self.now, isPublicSuffix: { Self.suffixes.contains($0) })
      return .success(Self.text(cookie))
    } catch {
      return .failure(error)
    }
  }

  /// Returns a cookie's description: the name-value pair, the domain (with a leading dot unless the cookie is host-only), the
  /// path, the flags, SameSite, and the number of seconds until the cookie expires.
  static func text(_ cookie: Cookie) -> String {
    var text = String(decoding: cookie.pair, as: UTF8.self)
    text += " \(cookie.isHostOnly ? "" : ".")\(cookie.domain)\(cookie.path)"
    if cookie.isSecure { text += " secure" }
    if cookie.isHTTPOnly { text += " httponly" }
    if let sameSite = cookie.sameSite { text += " \(sameSite.rawValue)" }
    if let expires = cookie.expires {
      text += expires == .distantPast ? " gone" : " \(Int(expires.timeIntervalSince(now)))"
    }
    return text
  }
}

extension SetCookieVector {
  static let all = pairs + limits + attributes + lifetimes + domains + paths + security + prefixes

  private static func long(_ count: Int) -> String { String(repeating: "x", count: count) }

  private static let pairs: [SetCookieVector] = [
    .init("a name and a value", "a=b", "a=b www.example.com/dir"),
    .init("RFC 6265bis §3.1, first", "SID=31d4d96e407aad42", "SID=31d4d96e407aad42 www.example.com/dir"),
    .init(
      "RFC 6265bis §3.1, second", "SID=31d4d96e407aad42; Path=/; Domain=example.com",
      "SID=31d4d96e407aad42 .example.com/"),
    .init(
      "RFC 6265bis §3.1, third", "SID=31d4d96e407aad42; Path=/; Secure; HttpOnly",
      "SID=31d4d96e407aad42 www.example.com/ secure httponly"),
    .init("the value keeps its equals signs", "a=b=c==", "a=b=c== www.example.com/dir"),
    .init("an empty value", "a=", "a= www.example.com/dir"),
    .init("an empty value and a semicolon", "a=;", "a= www.example.com/dir"),
    .init("white space around name and value", " \t a \t = \t b \t ", "a=b www.example.com/dir"),
    .init("white space within name and value", "a b = c d", "a b=c d www.example.com/dir"),
    .init("a tab within the value", "a=b\tc", "a=b\tc www.example.com/dir"),
    .init("a tab within the name", "a\tb=c", "a\tb=c www.example.com/dir"),
    .init("quotes belong to the value", "a=\"b c\"", "a=\"b c\" www.example.com/dir"),
    .init("quotes don't protect a semicolon", "a=\"b;c\"", "a=\"b www.example.com/dir"),
    .init("one quote", "a=\"", "a=\" www.example.com/dir"),
    .init("a quoted name", "\"a\"=b", "\"a\"=b www.example.com/dir"),
    .init("commas belong to the value", "a=b,c=d", "a=b,c=d www.example.com/dir"),
    .init("a value like a date", "a=Wed, 09 Jun 2021", "a=Wed, 09 Jun 2021 www.example.com/dir"),
    .init("percent-encoding isn't touched", "a=%3B%0A", "a=%3B%0A www.example.com/dir"),
    .init("names differ by case", "A=b", "A=b www.example.com/dir"),
    .init("a name of separators", "(a)/[b]?{c}@=d", "(a)/[b]?{c}@=d www.example.com/dir"),
    .init("a name that starts with a dollar sign is no attribute", "$Version=1", "$Version=1 www.example.com/dir"),
    .init("a name that an attribute has too", "Path=/x", "Path=/x www.example.com/dir"),
    .init("letters of other scripts", "naïve=日本", "naïve=日本 www.example.com/dir"),
    .init(
      "bytes that aren't UTF-8", bytes: Array("a=".utf8) + [0xFF, 0x80],
      .success("a=\u{FFFD}\u{FFFD} www.example.com/dir")),
    .init("a value without a name", "b", "b www.example.com/dir"),
    .init("an empty name", "=b", "b www.example.com/dir"),
    .init("an empty name and an equals sign in the value", "=b=c", refused: .ambiguous),
    .init("an empty name with blanks and an equals sign in the value", " = b = c", refused: .ambiguous),
    .init("an empty name and an equals sign as the value", "==", refused: .ambiguous),
    .init("white space for a name", " =b", "b www.example.com/dir"),
    .init("nothing", "", refused: .empty),
    .init("white space", " \t ", refused: .empty),
    .init("an equals sign", "=", refused: .empty),
    .init("a semicolon", ";", refused: .empty),
    .init("attributes without a cookie", "; Path=/; Secure", refused: .empty),
    .init("only semicolons", ";;;;;;", refused: .empty),
    .init("NUL in the value", "a=b\0c", refused: .controlCharacter),
    .init("NUL at the end", "a=b\0", refused: .controlCharacter),
    .init("a line feed", "a=b\nSet-Cookie: c=d", refused: .controlCharacter),
    .init("a carriage return in an attribute", "a=b; Path=/\r", refused: .controlCharacter),
    .init("ESC in the name", "a\u{1B}=b", refused: .controlCharacter),
    .init("DEL in an unknown attribute", "a=b; x=\u{7F}", refused: .controlCharacter),
  ]

  private static let limits: [SetCookieVector] = [
    .init("4,096 bytes", "a=\(long(4095))", "a=\(long(4095)) www.example.com/dir"),
    .init("4,097 bytes", "a=\(long(4096))", refused: .pairTooLong),
    .init("4,096 bytes of name", "\(long(4096))=", "\(long(4096))= www.example.com/dir"),
    .init("4,097 bytes without a name", long(4097), refused: .pairTooLong),
    .init("white space doesn't count", "a= \(long(4095)) ", "a=\(long(4095)) www.example.com/dir"),
    .init("bytes are counted, not letters", "a=\(String(repeating: "é", count: 2048))", refused: .pairTooLong),
    .init("8,190 bytes of line", "a=b; x=\(long(8183))", "a=b www.example.com/dir"),
    .init("8,191 bytes of line", "a=b; x=\(long(8184))", refused: .lineTooLong),
    .init("1,024 bytes of path", "a=b; path=/\(long(1023))", "a=b www.example.com/\(long(1023))"),
    .init("1,025 bytes of path", "a=b; path=/\(long(1024))", "a=b www.example.com/dir"),
    .init("a path that is too long doesn't undo another", "a=b; path=/x; path=/\(long(1024))", "a=b www.example.com/x"),
    .init("a domain that is too long is none", "a=b; domain=\(long(1025))", "a=b www.example.com/dir"),
    .init("a domain of the longest length", "a=b; domain=\(long(1024))", refused: .otherDomain),
    .init("a flag with a value that is too long", "a=b; secure=\(long(1025))", "a=b www.example.com/dir"),
    .init(
      "a thousand attributes", "a=b" + String(repeating: ";x", count: 1000) + ";secure",
      "a=b www.example.com/dir secure"),
  ]

  private static let attributes: [SetCookieVector] = [
    .init("attribute names in any case", "a=b; PATH=/x; sEcUrE; HTTPONLY", "a=b www.example.com/x secure httponly"),
    .init("no white space", "a=b;path=/x;secure", "a=b www.example.com/x secure"),
    .init("much white space", "a=b \t; \t path \t = \t /x \t ; \t secure \t ", "a=b www.example.com/x secure"),
    .init("unknown attributes", "a=b; Version=1; Comment=c; Priority=High; Partitioned; x", "a=b www.example.com/dir"),
    .init("empty attributes", "a=b;;; ;=;=x; secure", "a=b www.example.com/dir secure"),
    .init("a flag with a value", "a=b; secure=no; httponly=0", "a=b www.example.com/dir secure httponly"),
    .init("a flag that is only similar", "a=b; secure1; xhttponly; sec ure", "a=b www.example.com/dir"),
    .init("the Kelvin sign is no k", "a=b; Max-Age=5; Domain=\u{212A}.com", refused: .otherDomain),
    .init("a long s makes no Secure", "a=b; \u{17F}ecure", "a=b www.example.com/dir"),
    .init("SameSite lax", "a=b; SameSite=Lax", "a=b www.example.com/dir lax"),
    .init("SameSite strict", "a=b; samesite=STRICT", "a=b www.example.com/dir strict"),
    .init("SameSite none", "a=b; SameSite=None; Secure", "a=b www.example.com/dir secure none"),
    .init("SameSite of another kind", "a=b; SameSite=Maybe", "a=b www.example.com/dir"),
    .init("SameSite without a value", "a=b; SameSite", "a=b www.example.com/dir"),
    .init("the last SameSite counts", "a=b; SameSite=Lax; SameSite=Maybe", "a=b www.example.com/dir"),
    .init("an attribute in letters of other scripts", "a=b; é=ü; secure", "a=b www.example.com/dir secure"),
  ]

  private static let lifetimes: [SetCookieVector] = [
    .init("Max-Age", "a=b; Max-Age=60", "a=b www.example.com/dir 60"),
    .init("Max-Age of 0", "a=b; Max-Age=0", "a=b www.example.com/dir gone"),
    .init("Max-Age below 0", "a=b; Max-Age=-1", "a=b www.example.com/dir gone"),
    .init("Max-Age far below 0", "a=b; Max-Age=-99999999999999999999", "a=b www.example.com/dir gone"),
    .init("a minus alone", "a=b; Max-Age=-", "a=b www.example.com/dir"),
    .init("a minus and a word", "a=b; Max-Age=-x", "a=b www.example.com/dir"),
    .init("two minuses", "a=b; Max-Age=--1", "a=b www.example.com/dir"),
    .init("Max-Age of 400 days", "a=b; Max-Age=34560000", "a=b www.example.com/dir 34560000"),
    .init("Max-Age beyond", "a=b; Max-Age=34560001", "a=b www.example.com/dir 34560000"),
    .init(
      "Max-Age of a thousand digits", "a=b; Max-Age=\(String(repeating: "9", count: 1000))",
      "a=b www.example.com/dir 34560000"),
    .init("leading zeros", "a=b; Max-Age=00060", "a=b www.example.com/dir 60"),
    .init("a plus", "a=b; Max-Age=+60", "a=b www.example.com/dir"),
    .init("a fraction", "a=b; Max-Age=1.5", "a=b www.example.com/dir"),
    .init("a word", "a=b; Max-Age=never", "a=b www.example.com/dir"),
    .init("digits of other scripts", "a=b; Max-Age=٣", "a=b www.example.com/dir"),
    .init("an empty Max-Age", "a=b; Max-Age=", "a=b www.example.com/dir"),
    .init("a quoted Max-Age", "a=b; Max-Age=\"60\"", "a=b www.example.com/dir"),
    .init("the last Max-Age counts", "a=b; Max-Age=60; Max-Age=70", "a=b www.example.com/dir 70"),
    .init("a Max-Age that can't be read doesn't count", "a=b; Max-Age=60; Max-Age=x", "a=b www.example.com/dir 60"),
    .init("Expires", "a=b; Expires=Tue, 14 Nov 2023 22:14:20 GMT", "a=b www.example.com/dir 60"),
    .init("Expires in the past", "a=b; Expires=Tue, 14 Nov 2023 22:12:20 GMT", "a=b www.example.com/dir -60"),
    .init("Expires at the epoch", "a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "a=b www.example.com/dir -1700000000"),
    .init("Expires in old form", "a=b; expires=Tuesday, 14-Nov-23 22:14:20 GMT", "a=b www.example.com/dir 60"),
    .init("Expires beyond 400 days", "a=b; Expires=Fri, 31 Dec 9999 23:59:59 GMT", "a=b www.example.com/dir 34560000"),
    .init("Expires that is no date", "a=b; Expires=tomorrow", "a=b www.example.com/dir"),
    .init("Expires without a value", "a=b; Expires", "a=b www.example.com/dir"),
    .init(
      "Max-Age beats Expires", "a=b; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "a=b www.example.com/dir 60"),
    .init(
      "Max-Age beats an earlier Expires", "a=b; Expires=Thu, 01 Jan 2030 00:00:00 GMT; Max-Age=0",
      "a=b www.example.com/dir gone"),
    .init(
      "Expires beats a Max-Age that can't be read", "a=b; Expires=Tue, 14 Nov 2023 22:14:20 GMT; Max-Age=x",
      "a=b www.example.com/dir 60"),
  ]

  private static let domains: [SetCookieVector] = [
    .init("the host as domain", "a=b; Domain=www.example.com", "a=b .www.example.com/dir"),
    .init("the parent domain", "a=b; Domain=example.com", "a=b .example.com/dir"),
    .init("a domain with a leading dot", "a=b; Domain=.example.com", "a=b .example.com/dir"),
    .init("a domain with two leading dots", "a=b; Domain=..example.com", refused: .otherDomain),
    .init("a domain in any case", "a=b; DOMAIN=Example.COM", "a=b .example.com/dir"),
    .init("a domain with white space around it", "a=b; Domain= example.com ", "a=b .example.com/dir"),
    .init("an empty domain", "a=b; Domain=", "a=b www.example.com/dir"),
    .init("a domain without a value", "a=b; Domain", "a=b www.example.com/dir"),
    .init("a dot as domain", "a=b; Domain=.", "a=b www.example.com/dir"),
    .init("the last domain counts", "a=b; Domain=other.org; Domain=example.com", "a=b .example.com/dir"),
    .init("the last domain counts, even if empty", "a=b; Domain=other.org; Domain=", "a=b www.example.com/dir"),
    .init(
      "the last domain counts, even if it is another site's", "a=b; Domain=example.com; Domain=other.org",
      refused: .otherDomain),
    .init("a domain of another site", "a=b; Domain=other.org", refused: .otherDomain),
    .init("a subdomain of the host", "a=b; Domain=x.www.example.com", refused: .otherDomain),
    .init("a sibling domain", "a=b; Domain=api.example.com", refused: .otherDomain),
    .init("a suffix of the host that doesn't start at a dot", "a=b; Domain=ample.com", refused: .otherDomain),
    .init("a domain with a trailing dot", "a=b; Domain=example.com.", refused: .otherDomain),
    .init("a domain with a port", "a=b; Domain=example.com:443", refused: .otherDomain),
    .init("a URL as domain", "a=b; Domain=https://example.com", refused: .otherDomain),
    .init("a domain in quotes", "a=b; Domain=\"example.com\"", refused: .otherDomain),
    .init("two domains", "a=b; Domain=example.com,other.org", refused: .otherDomain),
    .init("a domain in another script", "a=b; Domain=exämple.com", refused: .otherDomain),
    .init("a domain with a look-alike", "a=b; Domain=e\u{445}ample.com", refused: .otherDomain),
    .init("a domain with a wildcard", "a=b; Domain=*.example.com", refused: .otherDomain),
    .init("a top-level domain", "a=b; Domain=com", refused: .publicSuffix),
    .init("a top-level domain with a dot", "a=b; Domain=.com", refused: .publicSuffix),
    .init("a country's registry", "a=b; Domain=co.uk", from: "https://shop.co.uk/", refused: .publicSuffix),
    .init(
      "a domain below a country's registry", "a=b; Domain=shop.co.uk", from: "https://www.shop.co.uk/",
      "a=b .shop.co.uk/"),
    .init("a suffix shared by users", "a=b; Domain=github.io", from: "https://me.github.io/", refused: .publicSuffix),
    .init(
      "a user's domain below a shared suffix", "a=b; Domain=me.github.io", from: "https://x.me.github.io/",
      "a=b .me.github.io/"),
    .init("a suffix by a wildcard rule", "a=b; Domain=x.ck", from: "https://a.x.ck/", refused: .publicSuffix),
    .init("a domain below a wildcard rule", "a=b; Domain=a.x.ck", from: "https://b.a.x.ck/", "a=b .a.x.ck/"),
    .init("an exception to a wildcard rule", "a=b; Domain=www.ck", from: "https://a.www.ck/", "a=b .www.ck/"),
    .init("a deep exception", "a=b; Domain=city.kobe.jp", from: "https://a.city.kobe.jp/", "a=b .city.kobe.jp/"),
    .init("an unlisted top-level domain", "a=b; Domain=test", from: "https://a.test/", refused: .publicSuffix),
    .init(
      "a domain below an unlisted top-level domain", "a=b; Domain=a.test", from: "https://b.a.test/", "a=b .a.test/"),
    .init("a suffix with a trailing dot", "a=b; Domain=com.", from: "https://example.com./", refused: .publicSuffix),
    .init(
      "a domain and a host with trailing dots", "a=b; Domain=example.com.", from: "https://www.example.com./",
      "a=b .example.com./"),
    .init("a suffix after an empty label", "a=b; Domain=..com", from: "https://a..com/", refused: .publicSuffix),
    .init(
      "a host that is a suffix, as its own domain", "a=b; Domain=github.io", from: "https://github.io/",
      "a=b github.io/"),
    .init(
      "a host that is a suffix, with a leading dot", "a=b; Domain=.github.io", from: "https://github.io/",
      "a=b github.io/"),
    .init("localhost as its own domain", "a=b; Domain=localhost", from: "http://localhost:8080/", "a=b localhost/"),
    .init("a host below localhost", "a=b; Domain=localhost", from: "http://a.localhost/", refused: .publicSuffix),
    .init("a host in capitals", "a=b; Domain=example.com", from: "https://WWW.EXAMPLE.com/", "a=b .example.com/"),
    .init("an address as its own domain", "a=b; Domain=127.0.0.1", from: "http://127.0.0.1/", "a=b 127.0.0.1/"),
    .init("an address with a leading dot", "a=b; Domain=.127.0.0.1", from: "http://127.0.0.1/", "a=b 127.0.0.1/"),
    .init("the end of an address", "a=b; Domain=0.0.1", from: "http://127.0.0.1/", refused: .otherDomain),
    .init("the last byte of an address", "a=b; Domain=1", from: "http://127.0.0.1/", refused: .otherDomain),
    .init("the end of a short address", "a=b; Domain=1.1", from: "http://10.1.1/", refused: .otherDomain),
    .init("the end of a hexadecimal address", "a=b; Domain=0.0x1", from: "http://127.0.0x1/", refused: .otherDomain),
    .init("the end of an address with a dot", "a=b; Domain=0.0.1.", from: "http://127.0.0.1./", refused: .otherDomain),
    .init("an IPv6 address", "a=b", from: "http://[::1]/x/y", "a=b ::1/x"),
    .init("an IPv6 address in brackets", "a=b; Domain=[::1]", from: "http://[::1]/", refused: .otherDomain),
    .init("a Unix socket", "a=b", from: "http+unix://%2Frun%2Fa.sock/x/y", "a=b /run/a.sock/x"),
    .init(
      "the end of a socket's path", "a=b; Domain=sock", from: "http+unix://%2Frun%2Fa.sock/", refused: .otherDomain),
    .init(
      "localhost from a socket", "a=b; Domain=localhost", from: "http+unix://%2Frun%2Fa.sock/", refused: .otherDomain),
  ]

  private static let paths: [SetCookieVector] = [
    .init("a path", "a=b; Path=/x/y", "a=b www.example.com/x/y"),
    .init("a path with a trailing slash", "a=b; Path=/x/", "a=b www.example.com/x/"),
    .init("the root as path", "a=b; Path=/", "a=b www.example.com/"),
    .init("a path other than the request's", "a=b; Path=/elsewhere", "a=b www.example.com/elsewhere"),
    .init("a path without a leading slash", "a=b; Path=x", "a=b www.example.com/dir"),
    .init("an empty path", "a=b; Path=", "a=b www.example.com/dir"),
    .init("a path without a value", "a=b; Path", "a=b www.example.com/dir"),
    .init("a path in quotes", "a=b; Path=\"/\"", "a=b www.example.com/dir"),
    .init("a URL as path", "a=b; Path=https://www.example.com/", "a=b www.example.com/dir"),
    .init("the last path counts", "a=b; Path=/x; Path=/y", "a=b www.example.com/y"),
    .init("the last path counts, even if empty", "a=b; Path=/x; Path=", "a=b www.example.com/dir"),
    .init("dot segments in a path stay", "a=b; Path=/x/../y", "a=b www.example.com/x/../y"),
    .init("a path with a query", "a=b; Path=/x?y", "a=b www.example.com/x?y"),
    .init("the case of a path counts", "a=b; Path=/X", "a=b www.example.com/X"),
    .init("default: no path", "a=b", from: "https://example.com", "a=b example.com/"),
    .init("default: the root", "a=b", from: "https://example.com/", "a=b example.com/"),
    .init("default: a page", "a=b", from: "https://example.com/page", "a=b example.com/"),
    .init("default: a folder", "a=b", from: "https://example.com/x/y/", "a=b example.com/x/y"),
    .init("default: two slashes", "a=b", from: "https://example.com//", "a=b example.com/"),
    .init("default: a query with slashes", "a=b", from: "https://example.com/?a/b", "a=b example.com/"),
    .init("default: percent-encoded slashes", "a=b", from: "https://example.com/a%2Fb", "a=b example.com/"),
  ]

  private static let security: [SetCookieVector] = [
    .init("Secure over http", "a=b; Secure", from: "http://example.com/", refused: .notSecure),
    .init("Secure over http to this machine", "a=b; Secure", from: "http://127.0.0.1/", refused: .notSecure),
    .init("Secure over a Unix socket without TLS", "a=b; Secure", from: "http+unix://a/", refused: .notSecure),
    .init("HttpOnly over http", "a=b; HttpOnly", from: "http://example.com/", "a=b example.com/ httponly"),
    .init("SameSite=None over http", "a=b; SameSite=None", from: "http://example.com/", "a=b example.com/ none"),
  ]

  private static let prefixes: [SetCookieVector] = [
    .init("__Secure-", "__Secure-a=b; Secure", "__Secure-a=b www.example.com/dir secure"),
    .init("__Secure- for a domain", "__Secure-a=b; Secure; Domain=example.com", "__Secure-a=b .example.com/dir secure"),
    .init("__Secure- without Secure", "__Secure-a=b", refused: .prefix),
    .init("__Secure- in lowercase", "__secure-a=b", refused: .prefix),
    .init("__Secure- over http", "__Secure-a=b; Secure", from: "http://example.com/", refused: .notSecure),
    .init("__Secure- over http without Secure", "__Secure-a=b", from: "http://example.com/", refused: .prefix),
    .init("__Secure without a hyphen", "__Secure=b", "__Secure=b www.example.com/dir"),
    .init("one underscore", "_Secure-a=b", "_Secure-a=b www.example.com/dir"),
    .init("__Host-", "__Host-a=b; Secure; Path=/", "__Host-a=b www.example.com/ secure"),
    .init("__Host- without Secure", "__Host-a=b; Path=/", refused: .prefix),
    .init("__Host- without Path", "__Host-a=b; Secure", from: "https://example.com/", refused: .prefix),
    .init("__Host- with an empty Path", "__Host-a=b; Secure; Path=", from: "https://example.com/", refused: .prefix),
    .init("__Host- with another path", "__Host-a=b; Secure; Path=/x", refused: .prefix),
    .init("__Host- for a domain", "__Host-a=b; Secure; Path=/; Domain=example.com", refused: .prefix),
    .init("__Host- for its own domain", "__Host-a=b; Secure; Path=/; Domain=www.example.com", refused: .prefix),
    .init("__Host- with an empty Domain", "__Host-a=b; Secure; Path=/; Domain=", "__Host-a=b www.example.com/ secure"),
    .init("__HOST- in capitals", "__HOST-a=b; Secure", refused: .prefix),
    .init("white space before the prefix", "  __Host-a=b", refused: .prefix),
    .init("the prefix as a value without a name", "=__Host-a=b", refused: .prefix),
    .init("the prefix as a value without an equals sign", "__secure-a", refused: .prefix),
    .init("the prefix as the value of a name", "a=__Host-b", "a=__Host-b www.example.com/dir"),
    .init("nothing after the prefix", "__Secure-=b", refused: .prefix),
  ]
}
