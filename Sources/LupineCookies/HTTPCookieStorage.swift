// HTTPCookieStorage: the cookies of sessions, in memory. It is a lock around a CookieJar.

public import Foundation
import Synchronization

extension NSNotification.Name {
  /// Posted after the cookies of an ``HTTPCookieStorage`` have changed, for example because a response has set one. The
  /// notification's object is the storage.
  ///
  /// It is posted on a background queue, about 0.1 s after the change. Several changes within that time cause only one
  /// notification. A cookie that expires, or that is replaced by an equal one, causes none.
  public static let NSHTTPCookieManagerCookiesChanged = NSNotification.Name(
    "NSHTTPCookieManagerCookiesChangedNotification")
}

// Unchecked because the class is open. All state is constant, atomic or protected by the Mutex.
/// A storage of cookies that sessions and the application share. It is thread-safe.
///
/// The cookies are stored only in memory, so even those with an expiry date are lost when the process ends. A program can save them
/// when the notification `NSHTTPCookieManagerCookiesChanged` is posted.
///
/// A storage has at most 3,300 cookies, 180 of one domain, and 360 of a registrable domain with its subdomains. Beyond these
/// limits, it removes the least recently used cookies.
///
/// A subclass can store cookies elsewhere. Sessions get a request's cookies from its method ``cookies(for:)``, and pass a
/// response's permitted cookies to its method ``setCookies(_:for:mainDocumentURL:)``. Sessions call both methods on any thread,
/// including the thread that serves the session's sockets, so the methods must be thread-safe and return quickly.
open class HTTPCookieStorage: NSObject, @unchecked Sendable {
  private struct State: ~Copyable {
    var jar = CookieJar()
    var policy = HTTPCookie.AcceptPolicy.always
  }

  /// The storage used by `URLSessionConfiguration.default`.
  open class var shared: HTTPCookieStorage { sharedStorage }

  private static let sharedStorage = HTTPCookieStorage()

  private let state = Mutex(State())
  // The flag is read without the lock, so that requests don't contend for the lock if there are no cookies.
  private let hasNothing = Atomic(true)
  /// Whether a notification of a change has been scheduled, but hasn't been posted yet.
  private let isNotificationScheduled = Atomic(false)
  private let now: @Sendable () -> Date

  /// Creates an empty cookie storage that is separate from ``shared``. Foundation has no initializer for this.
  public override init() {
    now = { Date() }
    super.init()
  }

  init(now: @escaping @Sendable () -> Date) {
    self.now = now
    super.init()
  }

  /// The servers from which the storage accepts cookies. `always` by default. A session's configuration can restrict the policy
  /// further.
  open var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { state.withLock { $0.policy } }
    set { state.withLock { $0.policy = newValue } }
  }

  /// A text for logs that contains the number of cookies and the accept policy, but no cookies' values.
  open override var description: String {
    let count = cookies?.count ?? 0
    return "HTTPCookieStorage(\(count) cookie\(count == 1 ? "" : "s"), accepts: \(cookieAcceptPolicy))"
  }

  /// All stored cookies that haven't expired, oldest first. Never nil.
  open var cookies: [HTTPCookie]? {
    let now = now()
    return state.withLock { $0.jar.all(now: now) }.map(HTTPCookie.init)
  }

  /// Returns the stored cookies that a request to this URL would send, in the order in which it would send them. Returns nil if the
  /// URL isn't http or https.
  open func cookies(for url: URL) -> [HTTPCookie]? {
    guard let source = CookieSource(url) else { return nil }
    let now = now()
    return state.withLock { $0.jar.cookies(for: source, now: now) }.map(HTTPCookie.init)
  }

  /// Stores a cookie, and removes the stored cookie with the same name, domain and path. If the new cookie has expired, only
  /// removes the stored cookie.
  ///
  /// Does nothing if the policy is `never`. Doesn't check whether a server may set the cookie.
  open func setCookie(_ cookie: HTTPCookie) {
    if cookieAcceptPolicy != .never { store([cookie.cookie], isSecure: true) }
  }

  /// Stores the cookies in `cookies` that the server at `url` may set.
  ///
  /// Sessions call an overridden method on the thread of an event loop, for each response that sets cookies, so it must not block.
  ///
  /// - Parameters:
  ///   - cookies: The cookies, for example from ``HTTPCookie/cookies(withResponseHeaderFields:for:)``.
  ///   - url: The URL of the response. If it is nil, nothing is stored.
  ///   - mainDocumentURL: The URL of the main document, or nil if there is none. Only the policy `onlyFromMainDocumentDomain` uses
  ///     it: it compares this URL with `url`.
  open func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
    guard let source = url.flatMap(CookieSource.init),
      cookieAcceptPolicy.accepts(source, mainDocument: mainDocumentURL)
    else { return }
    store(cookies.compactMap { Self.permitted($0.cookie, from: source) }, isSecure: source.isSecure)
  }

  /// Returns the cookie as the server at `source` may set it. Returns nil if the server may not set it.
  private static func permitted(_ cookie: Cookie, from source: CookieSource) -> Cookie? {
    var cookie = cookie
    if !cookie.isHostOnly, PublicSuffixes.system.contains(cookie.domain) {
      // A host that is a public suffix, such as localhost, may set cookies only for itself (RFC 6265bis §5.7, step 9).
      cookie.isHostOnly = true
    }
    guard source.isSecure || !cookie.isSecure, cookie.keepsPrefixPromise else { return nil }
    let isOwn = cookie.isHostOnly ? cookie.domain == source.host : source.matches(domain: cookie.domain)
    return isOwn ? cookie : nil
  }

  /// Removes the stored cookie with the same name, domain and path as `cookie`.
  open func deleteCookie(_ cookie: HTTPCookie) {
    change { $0.remove(cookie.cookie) }
  }

  /// Removes the cookies that were stored after `date`. For a cookie that replaced another one, the time of the replacement counts.
  open func removeCookies(since date: Date) {
    change { $0.removeAll(storedAfter: date) }
  }

  /// Returns all stored cookies that haven't expired, sorted.
  ///
  /// - Parameter sortOrder: The sort descriptors, most important first. If it is empty, the cookies have the order of ``cookies``.
  open func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
    (cookies ?? []).enumerated().sorted { left, right in
      for descriptor in sortOrder {
        switch descriptor.compare(left.element, to: right.element) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      // `sorted` isn't stable, so equal cookies are compared by position.
      return left.offset < right.offset
    }.map(\.element)
  }

  /// Returns the cookie storage of an app group. The same identifier always returns the same storage. Like all storages, it exists
  /// only in the memory of this process, so it isn't shared with other programs.
  ///
  /// - Parameter identifier: The name of the group.
  open class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage {
    groups.withLock { groups in
      if let storage = groups[identifier] { return storage }
      let storage = HTTPCookieStorage()
      groups[identifier] = storage
      return storage
    }
  }
  private static let groups = Mutex<[String: HTTPCookieStorage]>([:])

  // MARK: Sessions

  /// Whether the storage is an instance of a subclass. If so, sessions use its overridden methods.
  private var isSubclass: Bool { type(of: self) != HTTPCookieStorage.self }

  /// Whether the storage has no cookies, so that it adds no Cookie field to requests. Always false for a subclass, which may store
  /// its cookies elsewhere.
  package final var isEmpty: Bool { hasNothing.load(ordering: .acquiring) && !isSubclass }

  /// Parses a response's Set-Cookie lines, and stores the cookies that the response's server may set.
  package final func store(
    _ lines: [[UInt8]], from source: CookieSource, at url: @autoclosure () -> URL?, mainDocument: URL?
  ) {
    guard isSubclass || cookieAcceptPolicy.accepts(source, mainDocument: mainDocument) else { return }
    let now = now()
    // Done outside the lock, because this may read the list of public suffixes from a file.
    let cookies = lines.compactMap { line in try? Cookie(SetCookie(line), from: source, now: now) }
    if isSubclass { return setCookies(cookies.map(HTTPCookie.init), for: url(), mainDocumentURL: mainDocument) }
    store(cookies, isSecure: source.isSecure)
  }

  /// Returns the value of the Cookie field for a request to this URL. Returns nil if the storage adds no cookies to the request.
  ///
  /// - Parameters:
  ///   - source: The parts of the request's URL that determine its cookies.
  ///   - url: The request's URL, which a subclass receives.
  ///   - own: The value of the request's existing Cookie field. Its cookies take precedence over stored cookies with the same
  ///     names.
  package final func field(
    for source: CookieSource, at url: @autoclosure () -> URL?, joining own: [UInt8]?
  ) -> [UInt8]? {
    if isSubclass { return CookieField.joined(url().flatMap(cookies(for:))?.map(\.cookie) ?? [], to: own) }
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
    let hasChanged = state.withLock { state in
      let before = state.jar.changeCount
      body(&state.jar)
      hasNothing.store(state.jar.count == 0, ordering: .releasing)
      return state.jar.changeCount != before
    }
    if hasChanged { scheduleNotification() }
  }

  /// The time between a change and its notification, in seconds. It limits the cost of responses that set cookies: they cause at
  /// most 10 notifications per second.
  private static let notificationDelaySeconds = 0.1

  /// Posts a notification later, unless one is already scheduled. The notification isn't posted on the current thread: this may be
  /// the thread of an event loop, and an observer may block its thread.
  private func scheduleNotification() {
    guard !isNotificationScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.notificationDelaySeconds) {
      // Reset first, so that a change that the observers don't see causes another notification. The exchange acquires, so that
      // they see every change that has found the flag set.
      _ = self.isNotificationScheduled.exchange(false, ordering: .acquiringAndReleasing)
      NotificationCenter.default.post(name: .NSHTTPCookieManagerCookiesChanged, object: self)
    }
  }
}

extension HTTPCookie.AcceptPolicy {
  /// Returns whether this policy allows the server at `source` to set cookies. `url` is the URL of the main document, or nil if
  /// there is none.
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

/// Creates values of the Cookie field: cookie-string = cookie-pair *( ";" SP cookie-pair ) (RFC 6265bis §4.2.1).
enum CookieField {
  /// Appends cookies to `own`, the value of a request's Cookie field, and returns the new value. Returns nil if no cookie is
  /// appended.
  ///
  /// Omits the cookies whose names occur in `own`, and each cookie with which the field would become longer than
  /// `CookieLimits.fieldBytesMax`.
  static func joined(_ cookies: [Cookie], to own: [UInt8]?) -> [UInt8]? {
    let taken = own.map(names) ?? []
    var field = own ?? []
    var isChanged = false
    for cookie in cookies where taken.isEmpty || !taken.contains(cookie.name) {
      guard field.count + cookie.pairByteCount + 2 <= CookieLimits.fieldBytesMax else { continue }
      if !field.isEmpty { field += "; ".utf8 }
      cookie.appendPair(to: &field)
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
