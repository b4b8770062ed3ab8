// Where sessions keep cookies, in memory: what Foundation calls the storage, around a CookieJar.

public import Foundation
import Synchronization

/// Cookies that sessions and applications share; it may be used from any thread.
///
/// They are kept in memory and are gone when the process ends, also those that say when they expire. A storage has at
/// most 3,300 cookies, 180 of one domain, and 360 of a registrable domain with those below it; beyond that those go that
/// weren't used for longest.
public final class HTTPCookieStorage: NSObject, Sendable {
  private struct State {
    var jar = CookieJar()
    var policy = HTTPCookie.AcceptPolicy.always
  }

  /// The storage of the default configurations.
  public static let shared = HTTPCookieStorage()

  private let state = Mutex(State())
  // Outside the lock, so that requests without cookies needn't wait for each other here.
  private let hasNothing = Atomic(true)
  private let now: @Sendable () -> Date

  /// An empty storage of its own, which Foundation has no way to make.
  public override convenience init() {
    self.init(now: { Date() })
  }

  init(now: @escaping @Sendable () -> Date) {
    self.now = now
    super.init()
  }

  /// Which servers may set cookies here; `always` by default. A session's configuration may allow less.
  public var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { state.withLock { $0.policy } }
    set { state.withLock { $0.policy = newValue } }
  }

  /// How many cookies there are, and the policy; no cookie's value is shown.
  public override var description: String {
    "HTTPCookieStorage(\(ReadableText.count(cookies?.count ?? 0, "cookie")), accepts: \(cookieAcceptPolicy))"
  }

  /// All cookies that haven't expired, in the order in which they were made; never nil.
  public var cookies: [HTTPCookie]? {
    let now = now()
    return state.withLock { $0.jar.all(now: now) }.map(HTTPCookie.init)
  }

  /// The cookies that a request for the URL would have, in their order; nil if the URL isn't http or https.
  public func cookies(for url: URL) -> [HTTPCookie]? {
    guard let source = CookieSource(url) else { return nil }
    let now = now()
    return state.withLock { $0.jar.cookies(for: source, now: now) }.map(HTTPCookie.init)
  }

  /// Stores a cookie, in place of one with its name, domain and path; an expired one only removes that.
  ///
  /// Nothing is stored if the policy is `never`. Whether a server might have set it isn't asked.
  public func setCookie(_ cookie: HTTPCookie) {
    if cookieAcceptPolicy != .never { store([cookie.cookie], isSecure: true) }
  }

  /// Stores those of the cookies that the URL's server may set.
  ///
  /// - Parameters:
  ///   - cookies: the cookies, for instance of ``HTTPCookie/cookies(withResponseHeaderFields:for:)``.
  ///   - url: where they came from; nothing is stored without it.
  ///   - mainDocumentURL: what the policy `onlyFromMainDocumentDomain` compares the URL with.
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

  /// Removes the cookie with the name, domain and path of that one.
  public func deleteCookie(_ cookie: HTTPCookie) {
    change { $0.remove(cookie.cookie) }
  }

  /// Removes the cookies that were stored after the date; one that was replaced counts from then.
  public func removeCookies(since date: Date) {
    change { $0.removeAll(storedAfter: date) }
  }

  // MARK: What a session does

  /// Whether there are no cookies, in which case requests needn't be looked at.
  var isEmpty: Bool { hasNothing.load(ordering: .acquiring) }

  /// Stores what a response's Set-Cookie lines set, as far as its server may.
  func store(_ lines: [[UInt8]], from source: CookieSource, mainDocument: URL?) {
    guard cookieAcceptPolicy.accepts(source, mainDocument: mainDocument) else { return }
    let now = now()
    // Outside the lock, since the list of public suffixes may have to be read.
    let cookies = lines.compactMap { line in try? Cookie(SetCookie(line), from: source, now: now) }
    store(cookies, isSecure: source.isSecure)
  }

  /// The value of a request's Cookie field, or nil if nothing is to be added to what it has.
  ///
  /// `own` is the value of a field that the request has already: it is kept, and its cookies stand in for those of the
  /// same names here.
  func field(for source: CookieSource, joining own: [UInt8]?) -> [UInt8]? {
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
  /// Whether a server may set cookies, for a page that was asked for from another one.
  func accepts(_ source: CookieSource, mainDocument url: URL?) -> Bool {
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

/// cookie-string = cookie-pair *( ";" SP cookie-pair ) (RFC 6265bis §4.2.1)
enum CookieField {
  /// A request's own value, if it has one, and behind it the cookies of other names; nil if there are none to add.
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
