// HTTPCookieStorage: the cookies of sessions, in memory. It is a lock around a CookieJar.

public import Foundation
import Synchronization

/// A thread-safe collection of cookies that sessions and the application share.
///
/// The cookies are kept only in memory, so even those with an expiry date are lost when the process ends. A storage keeps at most
/// 3,300 cookies, 180 of one domain, and 360 of a registrable domain with its subdomains. Beyond these limits, it removes cookies:
/// expired cookies first, then the least recently used. Within a domain, it removes cookies that aren't Secure before Secure
/// cookies.
public final class HTTPCookieStorage: NSObject, Sendable {
  private struct State {
    var jar = CookieJar()
    var policy = HTTPCookie.AcceptPolicy.always
  }

  /// The storage that `URLSessionConfiguration.default` uses.
  public static let shared = HTTPCookieStorage()

  private let state = Mutex(State())
  // The flag is read without the lock, so that requests don't contend for the lock if there are no cookies.
  private let hasNothing = Atomic(true)
  private let now: @Sendable () -> Date

  /// Creates an empty storage that shares no cookies with others. Foundation has no initializer for this.
  public override convenience init() {
    self.init(now: { Date() })
  }

  init(now: @escaping @Sendable () -> Date) {
    self.now = now
    super.init()
  }

  /// The rule that decides which servers may set cookies. `always` by default. A session's configuration can restrict it further.
  public var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { state.withLock { $0.policy } }
    set { state.withLock { $0.policy = newValue } }
  }

  /// A summary with the number of cookies and the accept policy, but without the cookies' values.
  public override var description: String {
    let count = cookies?.count ?? 0
    return "HTTPCookieStorage(\(count) cookie\(count == 1 ? "" : "s"), accepts: \(cookieAcceptPolicy))"
  }

  /// All cookies that haven't expired, oldest first. Never nil.
  public var cookies: [HTTPCookie]? {
    let now = now()
    return state.withLock { $0.jar.all(now: now) }.map(HTTPCookie.init)
  }

  /// Returns the cookies that a request for this URL would send, in the order in which the request would send them. Returns nil if
  /// the URL isn't http or https.
  public func cookies(for url: URL) -> [HTTPCookie]? {
    guard let source = CookieSource(url) else { return nil }
    let now = now()
    return state.withLock { $0.jar.cookies(for: source, now: now) }.map(HTTPCookie.init)
  }

  /// Stores a cookie, and removes the stored cookie with the same name, domain and path. If the new cookie has expired, only
  /// removes the other cookie.
  ///
  /// Does nothing if the accept policy is `never`. Doesn't check whether a server may set the cookie.
  public func setCookie(_ cookie: HTTPCookie) {
    if cookieAcceptPolicy != .never { store([cookie.cookie], isSecure: true) }
  }

  /// Stores those cookies that the server of this URL may set.
  ///
  /// - Parameters:
  ///   - cookies: The cookies, for example from ``HTTPCookie/cookies(withResponseHeaderFields:for:)``.
  ///   - url: The URL of the response. If it is nil, nothing is stored.
  ///   - mainDocumentURL: The URL of the main document, or nil if there is none. Only the policy `onlyFromMainDocumentDomain` uses
  ///     it: it compares this URL with `url`.
  public func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
    guard let source = url.flatMap(CookieSource.init),
      cookieAcceptPolicy.accepts(source, mainDocument: mainDocumentURL)
    else { return }
    let own = cookies.map(\.cookie).filter { cookie in
      guard source.isSecure || !cookie.isSecure, cookie.keepsPrefixPromise else { return false }
      if cookie.isHostOnly { return cookie.domain == source.host }
      return source.matches(domain: cookie.domain) && !PublicSuffixes.system.contains(cookie.domain)
    }
    store(own, isSecure: source.isSecure)
  }

  /// Removes the stored cookie that has the same name, domain and path as `cookie`.
  public func deleteCookie(_ cookie: HTTPCookie) {
    change { $0.remove(cookie.cookie) }
  }

  /// Removes the cookies stored after `date`. For a cookie that replaced another cookie, the time of the replacement counts.
  public func removeCookies(since date: Date) {
    change { $0.removeAll(storedAfter: date) }
  }

  // MARK: Sessions

  /// Whether the storage has no cookies, so that it adds no Cookie field to requests.
  package var isEmpty: Bool { hasNothing.load(ordering: .acquiring) }

  /// Parses the Set-Cookie lines of a response, and stores those cookies that the response's server may set.
  package func store(_ lines: [[UInt8]], from source: CookieSource, mainDocument: URL?) {
    guard cookieAcceptPolicy.accepts(source, mainDocument: mainDocument) else { return }
    let now = now()
    // Done outside the lock, because this may read the list of public suffixes from a file.
    let cookies = lines.compactMap { line in try? Cookie(SetCookie(line), from: source, now: now) }
    store(cookies, isSecure: source.isSecure)
  }

  /// Returns the value of the Cookie field with which a request to this URL is sent. Returns nil if the storage adds no cookies to
  /// the request.
  ///
  /// - Parameter own: The value of the request's existing Cookie field. It is kept and takes precedence over stored cookies with
  ///   the same names.
  package func field(for source: CookieSource, joining own: [UInt8]?) -> [UInt8]? {
    let now = now()
    let cookies = state.withLock { $0.jar.use(for: source, now: now) }
    return CookieField.joined(cookies, to: own)
  }

  private func store(_ cookies: [Cookie], isSecure: Bool) {
    let now = now()
    change { jar in
      for cookie in cookies { try? jar.store(cookie, isSecure: isSecure, now: now) }
    }
  }

  private func change(_ body: (inout CookieJar) -> Void) {
    state.withLock { state in
      body(&state.jar)
      hasNothing.store(state.jar.count == 0, ordering: .releasing)
    }
  }
}

extension HTTPCookie.AcceptPolicy {
  /// Returns whether this policy allows the server of the URL `source` to set cookies. `url` is the URL of the main document, or
  /// nil if there is none.
  package func accepts(_ source: CookieSource, mainDocument url: URL?) -> Bool {
    switch self {
    case .always: return true
    case .never: return false
    case .onlyFromMainDocumentDomain:
      guard let url else { return true }
      guard let document = CookieSource(url) else { return false }
      return source.matches(domain: document.host) || document.matches(domain: source.host)
    }
  }
}

/// Creates values of the Cookie field: cookie-string = cookie-pair *( ";" SP cookie-pair ) (RFC 6265bis §4.2.1)
enum CookieField {
  /// Returns the value of the Cookie field: `own`, followed by those cookies whose names don't occur in `own`. Omits each cookie
  /// with which the field would become longer than `CookieLimits.fieldBytesMax`. Returns nil if no cookie is added to `own`.
  static func joined(_ cookies: [Cookie], to own: [UInt8]?) -> [UInt8]? {
    let taken = own.map(names) ?? []
    var field = own ?? []
    var isChanged = false
    for cookie in cookies where !taken.contains(cookie.name) {
      let pair = cookie.pair
      guard field.count + pair.count + 2 <= CookieLimits.fieldBytesMax else { continue }
      if !field.isEmpty { field += Array("; ".utf8) }
      field += pair
      isChanged = true
    }
    return isChanged ? field : nil
  }

  private static func names(of field: [UInt8]) -> Set<[UInt8]> {
    Set(
      field.split(separator: UInt8(ascii: ";")).map { part in
        let pair = part.drop { $0 == UInt8(ascii: " ") }
        return pair.contains(UInt8(ascii: "=")) ? Array(pair.prefix { $0 != UInt8(ascii: "=") }) : []
      })
  }
}
