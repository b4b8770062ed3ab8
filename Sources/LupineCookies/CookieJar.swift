// The cookies of a storage (RFC 6265bis §5.7, §5.8). Pure: time is a parameter, and nothing is locked here.

import Foundation

/// A bounded set of cookies.
struct CookieJar: Sendable {
  private struct Entry: Sendable {
    let cookie: Cookie
    /// Rises from cookie to cookie; one that replaces another has the other's, as it has its creation time (step 23).
    let order: UInt64
    /// Rises from use to use, and no two have the same.
    var lastUse: UInt64
    /// When it was stored, or replaced by its successor.
    let stored: Date

    func goesBefore(_ other: Self) -> Bool {
      if cookie.isSecure != other.cookie.isSecure { return !cookie.isSecure }
      return lastUse < other.lastUse
    }
  }

  // By domain; a domain without cookies has no element.
  private var entries: [String: [Entry]] = [:]
  /// How many Secure cookies there are of a name; without any, no domain has to be looked at for one.
  private var secureNames: [[UInt8]: Int] = [:]
  private var ticks: UInt64 = 0
  /// How many cookies there are; expired ones count until they are noticed.
  private(set) var count = 0

  // MARK: Storing

  /// Takes a cookie in, in place of one that it is the same as. An expired one only removes that.
  ///
  /// `isSecure` says whether it came over https or is an application's own; otherwise it is refused if it would cover a
  /// Secure one (step 16). `suffixes` are asked for only if there are more cookies than one registrable domain may have.
  mutating func store(
    _ cookie: Cookie, isSecure: Bool, now: Date, suffixes: @autoclosure () -> PublicSuffixes = .system
  ) throws(CookieRefusal) {
    guard isSecure || cookie.isSecure || !coversSecure(cookie, now) else { throw .coversSecure }
    let old = take(cookie)
    guard !cookie.isExpired(at: now) else { return }
    let order = old?.order ?? tick()
    entries[cookie.domain, default: []].append(Entry(cookie: cookie, order: order, lastUse: tick(), stored: now))
    count += 1
    if cookie.isSecure { secureNames[cookie.name, default: 0] += 1 }
    evict(from: cookie.domain, now, suffixes)
  }

  /// Whether a Secure cookie of that name would be sent where the new one will be: one of a domain above or below, and
  /// of the same path or one above it.
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

  /// Removes the cookie that this one is the same as.
  mutating func remove(_ cookie: Cookie) { _ = take(cookie) }

  /// Removes the cookies that were stored later than that.
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
    guard entry.cookie.isSecure, let sameName = secureNames[entry.cookie.name] else { return }
    secureNames[entry.cookie.name] = sameName > 1 ? sameName - 1 : nil
  }

  /// Makes room (RFC 6265bis §5.7, the end): expired cookies go first; then of a domain with too many those that aren't
  /// Secure; among equals the one that wasn't used for longest.
  private mutating func evict(from domain: String, _ now: Date, _ suffixes: () -> PublicSuffixes) {
    if let all = entries[domain], all.count > CookieLimits.perDomainMax {
      keep(in: domain) { !$0.cookie.isExpired(at: now) }
      while let all = entries[domain], all.count > CookieLimits.perDomainMax,
        let index = all.indices.min(by: { all[$0].goesBefore(all[$1]) })
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

  /// The same for a registrable domain. Among its domains the one with the most cookies gives way, so that none can push a
  /// sibling's few cookies out; but those that aren't Secure go before, whatever their domain.
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
        let all = entries[fullest], let index = all.indices.min(by: { all[$0].goesBefore(all[$1]) })
      else { return }
      remove(at: index, of: fullest)
    }
  }

  // MARK: Asking

  /// The cookies for a request in the order in which they are sent: longer paths first, then in the order in which they
  /// were made (RFC 6265bis §5.8.3, step 2).
  func cookies(for source: CookieSource, now: Date) -> [Cookie] {
    places(for: source, now).compactMap { entries[$0.domain]?[$0.index].cookie }
  }

  /// The same, which counts as their use.
  mutating func use(for source: CookieSource, now: Date) -> [Cookie] {
    let places = places(for: source, now)
    for place in places {
      let lastUse = tick()
      entries[place.domain]?[place.index].lastUse = lastUse
    }
    return places.compactMap { entries[$0.domain]?[$0.index].cookie }
  }

  private func places(for source: CookieSource, _ now: Date) -> [(domain: String, index: Int)] {
    var found: [(domain: String, index: Int, pathLength: Int, order: UInt64)] = []
    for domain in source.domains {
      for (index, entry) in (entries[domain] ?? []).enumerated()
      where entry.cookie.applies(to: source) && !entry.cookie.isExpired(at: now) {
        found.append((domain, index, entry.cookie.path.utf8.count, entry.order))
      }
    }
    found.sort { ($1.pathLength, $0.order) < ($0.pathLength, $1.order) }
    return found.map { ($0.domain, $0.index) }
  }

  /// All cookies that haven't expired, in the order in which they were made.
  func all(now: Date) -> [Cookie] {
    entries.values.joined().filter { !$0.cookie.isExpired(at: now) }.sorted { $0.order < $1.order }.map(\.cookie)
  }

  private mutating func tick() -> UInt64 {
    ticks += 1
    return ticks
  }
}
