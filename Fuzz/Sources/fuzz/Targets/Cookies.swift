// Set-Cookie lines and the cookie jar: cookies are only sent to servers that may receive them.

import Foundation
@testable import Lupine
@testable import LupineCookies
@testable import LupineURLSession

extension FuzzTarget {
  /// Fuzzes the cookie jar. The input consists of Set-Cookie lines. The first byte of each line selects the server that sends the
  /// line.
  static let cookies = FuzzTarget(
    name: "cookies", summary: "cookies are only sent to servers that RFC 6265 allows, and stay within the limits"
  ) { bytes in
    var jar = CookieJar()
    let now = Date(timeIntervalSince1970: 1_700_000_000)
    for line in Input(bytes).lines {
      guard let first = line.first else { continue }
      let source = sources[Int(first) % sources.count]
      _ = JoinedSetCookie.lines(of: line)
      guard let parsed = try? SetCookie(line.dropFirst()) else { continue }
      check(parsed, line)
      guard
        let cookie = try? Cookie(parsed, from: source, now: now, isPublicSuffix: { ["test", "co.test"].contains($0) })
      else { continue }
      check(cookie, source, now)
      try? jar.store(cookie, isSecure: source.isSecure, now: now)
      hold(jar.count <= CookieLimits.totalMax, "\(jar.count) cookies")
    }
    for source in sources { checkSent(jar.cookies(for: source, now: now), source, now) }
  }

  private static let sources = [
    "http://a.test/", "https://a.test/dir/page", "http://b.a.test/dir/", "https://x.b.a.test:8443/dir/sub/page?q",
    "http://other.test/", "https://co.test/", "http://10.0.0.1/dir/x", "http://[fd00::1]/", "http://xa.test/dirt",
  ].compactMap { URL(string: $0).flatMap(CookieSource.init) }

  private static func check(_ parsed: SetCookie, _ line: [UInt8]) {
    hold(parsed.name.count + parsed.value.count <= CookieLimits.pairBytesMax, "a long pair")
    hold(!parsed.name.isEmpty || !parsed.value.isEmpty, "an empty cookie")
    hold(
      (parsed.name + parsed.value).allSatisfy { ($0 >= 0x20 || $0 == 0x09) && $0 != 0x7F && $0 != 0x3B }, "\(parsed)")
    hold(!parsed.name.contains(0x3D), "an equals sign in a name")
    hold(parsed.maxAge.map { 0...CookieLimits.ageSecondsMax ~= $0 } ?? true, "\(parsed)")
  }

  private static func check(_ cookie: Cookie, _ source: CookieSource, _ now: Date) {
    let latest = now.addingTimeInterval(Double(CookieLimits.ageSecondsMax))
    hold(cookie.expires.map { $0 <= latest } ?? true, "lives too long: \(cookie)")
    hold(cookie.path.utf8.first == 0x2F, "the path \(cookie.path)")
    hold(source.isSecure || !cookie.isSecure, "Secure by \(source)")
    hold(isDomain(cookie.domain, of: source.host), "\(cookie.domain) by \(source.host)")
    hold(!["test", "co.test"].contains(cookie.domain) || cookie.isHostOnly, "for a whole registry: \(cookie)")
    // `HTTPCookie`, the public type, has the same properties.
    let kept = HTTPCookie(cookie)
    hold(kept.isSecure == cookie.isSecure && kept.path == cookie.path, "\(kept)")
    if let again = kept.properties.flatMap(HTTPCookie.init(properties:)) {
      hold(again.name == kept.name && again.value == kept.value && again.path == kept.path, "\(again), not \(kept)")
    }
  }

  private static func checkSent(_ cookies: [Cookie], _ source: CookieSource, _ now: Date) {
    hold(cookies.count <= CookieLimits.perDomainMax * source.domains.count, "\(cookies.count) cookies")
    for cookie in cookies {
      hold(cookie.isHostOnly ? cookie.domain == source.host : isDomain(cookie.domain, of: source.host), "\(cookie)")
      hold(isPath(cookie.path, of: source.path), "\(cookie.path) is sent to \(source.path)")
      hold(source.isSecure || !cookie.isSecure, "sent in clear: \(cookie)")
      hold(cookie.expires.map { $0 > now } ?? true, "sent too late: \(cookie)")
    }
    for (cookie, next) in zip(cookies, cookies.dropFirst()) {
      hold(cookie.path.utf8.count >= next.path.utf8.count, "a shorter path goes first")
    }
  }

  // Domain matching (RFC 6265bis §5.1.3), in a second implementation for comparison.
  private static func isDomain(_ domain: String, of host: String) -> Bool {
    if domain == host { return true }
    let isAddress = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
    return !isAddress && Array(host.utf8).suffix(domain.utf8.count + 1) == Array(".\(domain)".utf8)
  }

  // Path matching (RFC 6265bis §5.1.4), in a second implementation for comparison.
  private static func isPath(_ path: String, of request: String) -> Bool {
    let (path, request) = (Array(path.utf8), Array(request.utf8))
    guard request.starts(with: path) else { return false }
    return path.count == request.count || path.last == 0x2F || request[path.count] == 0x2F
  }
}
