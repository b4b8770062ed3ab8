// Answers of a resolver, kept for a while. Pure: time comes in as a parameter.

/// The addresses of names, and which names don't exist.
struct AddressCache: Sendable {
  private struct Entry {
    let answer: NameService.Answer
    let end: Instant
  }

  private let age: Duration
  private let negativeAge: Duration
  private let entriesMax: Int
  private var entries: [String: Entry] = [:]
  /// The least recently used name is the earliest; an instant counts uses here, not time.
  private var order = DeadlineQueue<String>()
  private var useCount: UInt64 = 0

  init(_ configuration: ResolverConfiguration) {
    age = configuration.cacheAge
    negativeAge = configuration.negativeCacheAge
    entriesMax = configuration.cacheEntriesMax
  }

  /// How many names are remembered.
  var count: Int { entries.count }

  /// What is known of a name, or nil.
  mutating func answer(for name: String, now: Instant) -> NameService.Answer? {
    guard let entry = entries[name] else { return nil }
    guard now < entry.end else {
      remove(name)
      return nil
    }
    touch(name)
    return entry.answer
  }

  /// Keeps an answer, as long as its kind is kept. Its age counts from the question, when it was certainly true.
  mutating func store(_ answer: NameService.Answer, for name: String, askedAt start: Instant) {
    remove(name)
    guard entriesMax > 0, let age = age(of: answer), age > .zero else { return }
    if entries.count >= entriesMax, let oldest = order.popExpired(now: Instant(nanoseconds: .max)) {
      entries[oldest] = nil
    }
    entries[name] = Entry(answer: answer, end: start + age)
    touch(name)
  }

  /// Forgets a name.
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
    order.set(name, to: Instant(nanoseconds: useCount))
  }
}
