// RandomHistoryTests: over random histories of one URI, all decisions are those of the naive implementation.

import LupineTestSupport
import LupineWire
import Testing

@testable import LupineCache

@Suite struct RandomHistoryTests {
  @Test(
    "the cache's decisions over random histories agree with a naive implementation of RFC 9111",
    arguments: 0..<repetitions(of: 400)
  )
  func histories(_ seed: Int) throws {
    var history = History(seed: UInt64(seed))
    for step in 0..<60 {
      try history.step()
      if let difference = history.difference {
        Issue.record("seed \(seed), step \(step): \(difference)")
        return
      }
    }
    #expect(history.hits + history.forwarded > 0)
  }
}

/// The stored responses for one URI, in the real cache and in the naive implementation, and random events that change both.
private struct History {
  private var random: SplitMix64
  private var now = 0
  private var version = 0
  private var stored: [StoredResponse] = []
  private var naive: [NaiveResponse] = []
  private(set) var hits = 0
  private(set) var forwarded = 0
  private(set) var difference: String?

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  mutating func step() throws {
    now += random.number(0...30)
    let method = random.number(0...9) == 0 ? random.pick(["HEAD", "POST"]) : "GET"
    let policy = random.number(0...3) == 0 ? random.pick(CachePolicyName.allCases) : .automatic
    let session = random.pick(["a", "b"])
    let message = request()
    var request = CacheRequest(
      method: method, uri: try URI("https://a.test/"), fields: message.fields, session: session)
    request.policy = policy.policy
    let decision = CacheDecision(request, stored: stored, now: start + Int64(now))
    let expected = NaiveCache.decide(
      message, method: method, policy: policy, session: session, naive, now: now)
    check(decision.word == expected.word, "\(decision.word), naive \(expected.word): \(message)")
    check(decision.hit?.index == expected.index, "served \(String(describing: decision.hit?.index))")
    if let hit = decision.hit {
      hits += 1
      let age = NaiveCache.age(naive[hit.index], now: now)
      check(hit.response.fields.all("Age") == ["\(age)"], "Age \(hit.response.fields.all("Age")), naive \(age)")
    }
    if case .forward(let forwarding) = decision {
      forwarded += 1
      answer(forwarding, to: request, message)
    }
  }

  private mutating func check(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition, difference == nil { difference = text() }
  }

  private mutating func answer(_ forwarding: Forwarding, to request: CacheRequest, _ message: Message) {
    let sent = now
    now += random.number(0...3)
    let times = ExchangeTimes(request: start + Int64(sent), response: start + Int64(now))
    if request.method == "POST" { return invalidate(request) }
    // Only a server that has one of the entity tags answers 304.
    if let tag = forwarding.nominated.first.flatMap({ naive[$0].response["etag"] }), random.number(0...2) > 0 {
      return confirm(forwarding, request, message, tag)
    }
    let status = random.pick([200, 200, 200, 404, 302, 206, 103])
    let response = self.response()
    let decision = StoreDecision(request, status: status, fields: response.fields, times: times)
    let stores = NaiveCache.stores(message, method: request.method, status: status, response)
    check((decision.stored != nil) == stores, "stored \(decision), naive \(stores)")
    guard let new = decision.stored else { return }
    let isPersonal = message["cookie"] != nil || response["set-cookie"] != nil
    let record = NaiveResponse(
      request: message, status: status, response: response, sent: sent, received: now,
      session: isPersonal ? request.session : nil)
    let superseded = stored.indices.filter { stored[$0].isSuperseded(by: new, to: request) }
    let naiveSuperseded = naive.indices.filter {
      naive[$0].session == record.session && NaiveCache.matches(message, request.session, naive[$0])
    }
    check(superseded == naiveSuperseded, "superseded \(superseded), naive \(naiveSuperseded)")
    for index in superseded.reversed() {
      stored.remove(at: index)
      naive.remove(at: index)
    }
    stored.append(new)
    naive.append(record)
  }

  private mutating func invalidate(_ request: CacheRequest) {
    let status = random.pick([200, 303, 404, 500])
    let targets = Invalidation.targets(of: request, status: status, fields: Fields())
    check(targets.isEmpty == (status >= 400), "invalidates \(targets) after \(status)")
    guard !targets.isEmpty else { return }
    for index in stored.indices { stored[index].state = .invalidated }
    for index in naive.indices { naive[index].mustValidate = true }
  }

  private mutating func confirm(
    _ forwarding: Forwarding, _ request: CacheRequest, _ message: Message, _ tag: String
  ) {
    var answer = self.response()
    answer["etag"] = tag
    answer["vary"] = nil
    let outcome = ForwardingOutcome(
      of: forwarding, for: request, stored: stored, status: 304, fields: answer.fields,
      times: ExchangeTimes(request: start + Int64(now), response: start + Int64(now)))
    let isStored = NaiveCache.directive("no-store", message) == nil
    let expected = isStored ? NaiveCache.updated(message, request.session, tag: tag, naive) : []
    check(Set(outcome.updates.map(\.index)) == expected, "updated \(outcome.updates.map(\.index)), naive \(expected)")
    let isPersonal = message["cookie"] != nil || answer["set-cookie"] != nil
    check(outcome.answer != .sendWithoutConditions, "the 304 with \(tag) confirms nothing")
    var removed: [Int] = []
    for update in outcome.updates {
      let isKept = NaiveCache.directive("no-store", answer) == nil
      naive[update.index] = NaiveCache.freshen(
        naive[update.index], by: answer, session: isPersonal ? request.session : nil, at: now)
      switch update.change {
      case .replace(let response):
        check(isKept, "kept despite no-store")
        stored[update.index] = response
      case .remove:
        check(!isKept, "removed without no-store")
        removed.append(update.index)
      case .invalidate: check(false, "invalidated by a 304")
      }
    }
    for index in removed.sorted().reversed() {
      stored.remove(at: index)
      naive.remove(at: index)
    }
  }

  private mutating func request() -> Message {
    var message: Message = [:]
    if random.number(0...2) > 0 { message["foo"] = random.pick(["1", "2"]) }
    if random.number(0...4) == 0 { message["cookie"] = "a=b" }
    let seconds = random.number(0...60)
    let directives = [
      "max-age=\(seconds)", "min-fresh=\(seconds)", "max-stale", "max-stale=\(seconds)", "no-cache", "no-store",
      "only-if-cached", "unknown=1",
    ]
    let chosen = directives.filter { _ in random.number(0...11) == 0 }
    if !chosen.isEmpty { message["cache-control"] = chosen.joined(separator: ", ") }
    return message
  }

  private mutating func response() -> Message {
    var message: Message = [:]
    version += 1
    if random.number(0...3) > 0 { message["etag"] = "\"\(version)\"" }
    if random.number(0...1) == 0 { message["vary"] = "foo" }
    if random.number(0...9) == 0 { message["vary"] = "*" }
    if random.number(0...3) == 0 { message["age"] = "\(random.number(0...20))" }
    if random.number(0...2) > 0 { message["date"] = "\(now - random.number(-5...20))" }
    if random.number(0...5) == 0 { message["expires"] = "\(now + random.number(-50...50))" }
    if random.number(0...4) == 0 { message["last-modified"] = "\(now - random.number(0...900))" }
    if random.number(0...9) == 0 { message["set-cookie"] = "a=b" }
    let seconds = random.number(0...60)
    let directives = [
      "max-age=\(seconds)", "max-age=60", "stale-while-revalidate=\(seconds)", "no-cache", "must-revalidate", "public",
      "private", "immutable", "no-store", "s-maxage=9999",
    ]
    let chosen = directives.filter { _ in random.number(0...6) == 0 }
    if !chosen.isEmpty { message["cache-control"] = chosen.joined(separator: ", ") }
    return message
  }
}

extension CachePolicyName {
  fileprivate var policy: CachePolicy {
    switch self {
    case .automatic: .automatic
    case .reload: .reload
    case .storedElseLoad: .storedElseLoad
    case .storedOnly: .storedOnly
    case .validate: .validate
    }
  }
}

extension Message {
  /// The message as HTTP fields, in which numbers of seconds are replaced by HTTP dates.
  fileprivate var fields: Fields {
    var fields = Fields()
    for (name, value) in sorted(by: { $0.key < $1.key }) {
      let isDate = ["date", "expires", "last-modified"].contains(name)
      fields.append(name: name, value: isDate ? date(Int64(value) ?? 0) : value)
    }
    return fields
  }
}
