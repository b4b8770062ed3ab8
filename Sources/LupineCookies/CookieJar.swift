// CookieJar: the cookies of a storage (RFC 6265bis §5.7, §5.8). Time is a parameter, and the caller does the locking.

import Foundation

/// The cookies in a storage. Their number is limited by `CookieLimits`.
struct CookieJar: Sendable {
  private struct Entry: Sendable {
    let cookie: Cookie
    /// The cookie's sequence number, which is greater than that of all older cookies. A cookie that replaces another cookie takes
    /// over its sequence number, like the creation time in RFC 6265bis (§5.7, step 23).
    let order: UInt64
    /// The sequence number of the cookie's latest use, which is when it was stored or when a request last sent it. Each use of any
    /// cookie gets a new, higher number.
    var lastUse: UInt64
    /// The time when this cookie was stored, or when it replaced another cookie.
    let stored: Date

    func isEvictedBefore(_ other: Self) -> Bool {
      if cookie.isSecure != other.cookie.isSecure { return !cookie.isSecure }
      return lastUse < other.lastUse
    }
  }

  // The entries by domain. No list is empty.
  private var entries: [String: [Entry]] = [:]
  /// The number of stored Secure cookies with each name. `coversSecure` compares a new cookie with the stored cookies only if there
  /// is a Secure cookie with the same name.
  private var secureNames: [[UInt8]: Int] = [:]
  private var ticks: UInt64 = 0
  /// The number of stored cookies, including expired cookies that haven't been removed yet.
  private(set) var count = 0
  /// The number of changes so far: stored, replaced and removed cookies. Storing an equal cookie again isn't a change.
  private(set) var changeCount: UInt64 = 0

  // MARK: Storing

  /// Stores a cookie and removes the cookie that it replaces. If the new cookie has expired, only removes the replaced cookie.
  ///
  /// - Parameters:
  ///   - cookie: The new cookie.
  ///   - isSecure: Whether the cookie was received over https or set by the application. If false, `store` throws
  ///     `CookieRefusal.coversSecure` if the cookie would shadow a Secure cookie (RFC 6265bis §5.7, step 16).
  ///   - now: The current time.
  ///   - suffixes: The public suffixes. Evaluated only if the storage has more cookies than one registrable domain may have.
  mutating func store(
    _ cookie: Cookie, isSecure: Bool, now: Date, suffixes: @autoclosure () -> PublicSuffixes = .system
  ) throws(CookieRefusal) {
    guard isSecure || cookie.isSecure || !coversSecure(cookie, now) else { throw .coversSecure }
    let changeCountBefore = changeCount
    let old = take(cookie)
    guard !cookie.isExpired(at: now) else { return }
    changeCount = old?.cookie == cookie ? changeCountBefore : changeCountBefore + 1
    let order = old?.order ?? tick()
    entries[cookie.domain, default: []].append(Entry(cookie: cookie, order: order, lastUse: tick(), stored: now))
    count += 1
    if cookie.isSecure { secureNames[cookie.name, default: 0] += 1 }
    evict(from: cookie.domain, now, suffixes)
  }

  /// Returns whether a request could send both `new` and a stored Secure cookie with the same name. That is possible if their
  /// domains are equal or one contains the other, and if the new cookie's path is equal to the stored cookie's path or below it.
  private func coversSecure(_ new: Cookie, _ now: Date) -> Bool {
    secureNames[new.name] != nil
      && entries.contains { domain, entries in
        (domain == new.domain || CookieSource.isBelow(domain, new.domain) || CookieSource.isBelow(new.domain, domain))
          && entries.contains {
            $0.cookie.isSecure && $0.cookie.name == new.name && CookieSource.isPath(new.path, at: $0.cookie.path)
              && !$0.cookie.isExpired(at: now)
          }
      }
  }

  // MARK: Removing

  /// Removes the stored cookie that has the same name, domain, host-only flag and path as `cookie`.
  mutating func remove(_ cookie: Cookie) { _ = take(cookie) }

  /// Removes the cookies that were stored after `date`.
  mutating func removeAll(storedAfter date: Date) {
    for domain in Array(entries.keys) { keep(in: domain) { $0.stored <= date } }
  }

  private mutating func take(_ cookie: Cookie) -> Entry? {
    guard let index = entries[cookie.domain]?.firstIndex(where: { $0.cookie.isSame(as: cookie) }) else { return nil }
    return remove(at: index, of: cookie.domain)
  }

  @discardableResult
  private mutating func remove(at index: Int, of domain: String) -> Entry? {
    let entry = entries[domain]?.remove(at: index)
    if entries[domain]?.isEmpty == true { entries[domain] = nil }
    if let entry { forget(entry) }
    return entry
  }

  private mutating func keep(in domain: String, _ isKept: (Entry) -> Bool) {
    guard let all = entries[domain] else { return }
    var kept: [Entry] = []
    for entry in all {
      if isKept(entry) { kept.append(entry) } else { forget(entry) }
    }
    entries[domain] = kept.isEmpty ? nil : kept
  }

  private mutating func forget(_ entry: Entry) {
    count -= 1
    changeCount += 1
    guard entry.cookie.isSecure, let sameName = secureNames[entry.cookie.name] else { return }
    secureNames[entry.cookie.name] = sameName > 1 ? sameName - 1 : nil
  }

  /// Evicts cookies if `domain`, its registrable domain or the whole storage has more cookies than its limit (RFC 6265bis §5.7, at
  /// the end).
  ///
  /// Expired cookies are evicted first. Then, in a domain, cookies that aren't Secure are evicted before Secure cookies. Among
  /// otherwise equal cookies, the least recently used ones are evicted first.
  private mutating func evict(from domain: String, _ now: Date, _ suffixes: () -> PublicSuffixes) {
    if let all = entries[domain], all.count > CookieLimits.perDomainMax {
      keep(in: domain) { !$0.cookie.isExpired(at: now) }
      while let all = entries[domain], all.count > CookieLimits.perDomainMax,
        let index = all.indices.min(by: { all[$0].isEvictedBefore(all[$1]) })
      {
        remove(at: index, of: domain)
      }
    }
    if count > CookieLimits.perRegistrableDomainMax, let site = suffixes().registrableDomain(of: domain) {
      evict(fromAllBelow: site, now)
    }
    guard count > CookieLimits.totalMax else { return }
    for domain in Array(entries.keys) { keep(in: domain) { !$0.cookie.isExpired(at: now) } }
    guard count > CookieLimits.totalMax else { return }
    let uses = entries.values.joined().map(\.lastUse).sorted()
    let last = uses[count - CookieLimits.totalKept - 1]
    for domain in Array(entries.keys) { keep(in: domain) { $0.lastUse > last } }
  }

  /// Evicts cookies if the registrable domain `site` and its subdomains together have more cookies than the limit.
  ///
  /// Each evicted cookie belongs to the subdomain with the most cookies, so that a subdomain can't evict the few cookies of another
  /// subdomain. Cookies that aren't Secure are evicted before the Secure cookies of any subdomain.
  private mutating func evict(fromAllBelow site: String, _ now: Date) {
    let domains = entries.keys.filter { $0 == site || CookieSource.isBelow($0, site) }
    func excess() -> Int {
      domains.reduce(-CookieLimits.perRegistrableDomainMax) { $0 + (entries[$1]?.count ?? 0) }
    }
    guard excess() > 0 else { return }
    for domain in domains { keep(in: domain) { !$0.cookie.isExpired(at: now) } }
    while excess() > 0 {
      let hasOthers = domains.contains { entries[$0]?.contains { !$0.cookie.isSecure } ?? false }
      let candidates = domains.filter { domain in
        !hasOthers || entries[domain]?.contains { !$0.cookie.isSecure } ?? false
      }
      guard let fullest = candidates.max(by: { (entries[$0]?.count ?? 0) < (entries[$1]?.count ?? 0) }),
        let all = entries[fullest], let index = all.indices.min(by: { all[$0].isEvictedBefore(all[$1]) })
      else { return }
      remove(at: index, of: fullest)
    }
  }

  // MARK: Lookup

  /// Returns the cookies that a request to this URL sends, in the order in which they are sent: longer paths first, then older
  /// cookies (RFC 6265bis §5.8.3, step 2).
  func cookies(for source: CookieSource, now: Date) -> [Cookie] {
    positions(for: source, now).map { entries.values[$0.domain][$0.index].cookie }
  }

  /// Returns the cookies that a request to this URL sends, as `cookies(for:now:)` does, and marks them as used.
  mutating func use(for source: CookieSource, now: Date) -> [Cookie] {
    positions(for: source, now).map { position in
      let lastUse = tick()
      entries.values[position.domain][position.index].lastUse = lastUse
      return entries.values[position.domain][position.index].cookie
    }
  }

  // The domains are found by their indexes in the dictionary, so that each is hashed only once.
  private typealias Position = (domain: Dictionary<String, [Entry]>.Index, index: Int, pathLength: Int, order: UInt64)

  private func positions(for source: CookieSource, _ now: Date) -> [Position] {
    var found: [Position] = []
    for domain in source.domains {
      guard let domain = entries.index(forKey: domain) else { continue }
      let entries = entries.values[domain]
      // Not `enumerated()`, which would copy each entry twice.
      for index in entries.indices
      where entries[index].cookie.applies(to: source) && !entries[index].cookie.isExpired(at: now) {
        found.append((domain, index, entries[index].cookie.path.utf8.count, entries[index].order))
      }
    }
    found.sort { ($1.pathLength, $0.order) < ($0.pathLength, $1.order) }
    return found
  }

  /// Returns all cookies that haven't expired, oldest first.
  func all(now: Date) -> [Cookie] {
    entries.values.joined().filter { !$0.cookie.isExpired(at: now) }.sorted { $0.order < $1.order }.map(\.cookie)
  }

  private mutating func tick() -> UInt64 {
    ticks += 1
    return ticks
  }
}
