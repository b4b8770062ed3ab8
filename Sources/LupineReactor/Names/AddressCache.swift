// AddressCache: keeps a resolver's answers for a limited time. It reads no clock: callers pass the time.

/// A cache of the results of host lookups: the addresses of hosts, and the names that don't exist.
struct AddressCache: Sendable {
  private struct Entry {
    let answer: NameService.Answer
    let end: Instant
  }

  private let age: Duration
  private let negativeAge: Duration
  private let entriesMax: Int
  private var entries: [String: Entry] = [:]
  /// The cached names, least recently used first. A name's rank is the value of `useCount` at its latest use.
  private var order = RankedQueue<String, UInt64>()
  private var useCount: UInt64 = 0

  init(_ configuration: ResolverConfiguration) {
    age = configuration.cacheAge
    negativeAge = configuration.negativeCacheAge
    entriesMax = configuration.cacheEntriesMax
  }

  /// The number of cached names.
  var count: Int { entries.count }

  /// Returns the cached answer for a name, or nil if there is none or the answer has expired.
  mutating func answer(for name: String, now: Instant) -> NameService.Answer? {
    guard let entry = entries[name] else { return nil }
    guard now < entry.end else {
      remove(name)
      return nil
    }
    touch(name)
    return entry.answer
  }

  /// The time when the cached answer for a name expires, or nil if there is none. It may have passed.
  func end(of name: String) -> Instant? { entries[name]?.end }

  /// Caches an answer, unless it is a temporary failure or the configuration disables caching for its kind. The answer's age counts
  /// from `start`, when the lookup began, because the answer was certainly current only at that time.
  mutating func store(_ answer: NameService.Answer, for name: String, askedAt start: Instant) {
    remove(name)
    guard entriesMax > 0, let age = age(of: answer), age > .zero else { return }
    if entries.count >= entriesMax, let oldest = order.first { remove(oldest) }
    entries[name] = Entry(answer: answer, end: start + age)
    touch(name)
  }

  /// Removes the cached answer for a name.
  mutating func remove(_ name: String) {
    entries[name] = nil
    order.remove(name)
  }

  private func age(of answer: NameService.Answer) -> Duration? {
    switch answer {
    case .success: age
    case .failure(let error): error.kind == .unknownName ? negativeAge : nil
    }
  }

  private mutating func touch(_ name: String) {
    useCount += 1
    order.set(name, to: useCount)
  }
}
