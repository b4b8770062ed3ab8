// PoolStateTests: the pool's decisions. Runs the histories and tests what they can't express.

import LupineRandom
import LupineReactor
import LupineTLS
import LupineWire
import Testing

@testable import LupineEngine

@Suite("PoolState")
struct PoolStateTests {
  @Test(arguments: PoolHistory.serving)
  func serving(_ history: PoolHistory) throws { try history.run() }

  @Test(arguments: PoolHistory.ending)
  func ending(_ history: PoolHistory) throws { try history.run() }

  @Test(arguments: PoolHistory.resting)
  func resting(_ history: PoolHistory) throws { try history.run() }

  @Test(arguments: PoolHistory.keptAlive)
  func keptAlive(_ history: PoolHistory) throws { try history.run() }

  @Test(arguments: PoolHistory.retiring)
  func retiring(_ history: PoolHistory) throws { try history.run() }

  @Test(arguments: PoolHistory.withdrawing)
  func withdrawing(_ history: PoolHistory) throws { try history.run() }

  @Test(arguments: PoolHistory.prewarming)
  func prewarming(_ history: PoolHistory) throws { try history.run() }

  @Test(
    "the ages of connections are spread between the limit and the jitter's fraction less, and never exceed the limit",
    arguments: [0.1, 1])
  func jitter(fraction: Double) {
    var limits = PoolLimits()
    (limits.connectionsPerOriginMax, limits.connectionsMax, limits.idlePerOriginMax, limits.idleMax) = (
      200, 200, 200, 200
    )
    (limits.connectionAgeMax, limits.connectionAgeJitter, limits.idleTimeout) = (
      .seconds(100), fraction, .seconds(1_000)
    )
    var pool = PoolState(limits, random: SplitMix64(seed: 1))
    let start = Instant(nanoseconds: 0)
    for action in pool.prewarm(PoolHistory.key("a"), count: 200) {
      guard case .prewarm(let id, _) = action else { continue }
      _ = pool.opened(id, now: start)
    }
    let shortest = 100 * (1 - fraction)
    var ends: [Double] = []
    while let next = pool.nextDeadline {
      let closedCount = pool.expire(now: next).count
      ends += Array(repeating: Double(next.nanoseconds) / 1e9, count: closedCount)
    }
    #expect(ends.count == 200 && ends.allSatisfy { $0 > shortest && $0 <= 100 })
    // Each tenth of the range has connections, so no moment gets most of them.
    let tenths = Set(ends.map { Int(($0 - shortest) / (100 - shortest) * 10) })
    #expect(tenths.isSuperset(of: 0..<10))
  }

  @Test(arguments: PoolHistory.crowded)
  func crowded(_ history: PoolHistory) throws { try history.run() }

  @Test(arguments: PoolHistory.strained)
  func strained(_ history: PoolHistory) throws { try history.run() }

  @Test(arguments: PoolHistory.counting)
  func counting(_ history: PoolHistory) throws { try history.run() }

  @Test(arguments: PoolHistory.shuttingDown)
  func shuttingDown(_ history: PoolHistory) throws { try history.run() }

  @Test("pool keys differ if the scheme, host, port or TLS settings of the requests differ")
  func keys() {
    let keys = ["a", "b", "c", "d", "e", "f"].map(PoolHistory.key)
    #expect(Set(keys).count == keys.count)
    #expect(PoolHistory.key("d") == PoolHistory.key("d"))
  }

  @Test(
    "the connection pool's default limits fit the usual descriptor limit, and allow fewer idle than open connections")
  func defaults() {
    let limits = PoolLimits()
    #expect(limits.connectionsPerOriginMax == 64 && limits.idlePerOriginMax == 64)
    #expect(limits.connectionsMax == 768 && limits.idleMax == 256)
    #expect(limits.idleTimeout == .seconds(60) && limits.connectionAgeMax == nil)
    #expect(limits.usesPerConnectionMax == nil && limits.waitersMax == 100_000)
    #expect(limits.connectionAgeJitter == 0.1 && limits.readyPerOriginMin == 0)
    #expect(limits.originsRememberedMax == 1_000)
  }

  @Test(
    "the pool closes a connection 1 s before the server's idle time ends, or after 0.5 s if that time is 1 s",
    arguments: [
      (1, .milliseconds(500)), (2, .seconds(1)), (3, .seconds(2)), (5, .seconds(4)), (60, .seconds(59)),
      (UInt64.max, .seconds(Int64.max - 1)),
    ] as [(UInt64, Duration)])
  func keepAliveMargin(seconds: UInt64, idleTime: Duration) {
    #expect(PoolLimits.idleTimeMax(keepAliveSeconds: seconds) == idleTime)
  }

  @Test(
    "the connection pool's reasons for closing a connection have different descriptions, which are full sentences",
    arguments: CloseReason.allCases)
  func reasons(_ reason: CloseReason) {
    let others = CloseReason.allCases.filter { $0 != reason }.map(\.description)
    #expect(!others.contains(reason.description))
    #expect(reason.description.hasSuffix("."))
    #expect(reason.description.count > 20)
  }

  @Test("the tables of pool events contain each of the connection pool's reasons for closing a connection")
  func reasonsAreReachable() {
    let answers = PoolHistory.all.flatMap(\.lines).map(\.answer).joined(separator: " ")
    let own: [CloseReason] = [
      .keepAliveLimit, .idleTimeout, .idleLimit, .ageLimit, .usesLimit, .addressWithdrawn, .totalLimit,
      .descriptorsNeeded, .upgraded, .shutdown,
    ]
    for reason in own { #expect(answers.contains(reason.rawValue), "\(reason.rawValue)") }
  }

  @Test("an older idle connection can serve a request even if a newer one has exceeded its server's idle time")
  func fitConnection() {
    let (key, start) = (PoolHistory.key("a"), Instant(nanoseconds: 0))
    var pool = PoolState(PoolLimits())
    var opened: [ConnectionID] = []
    for exchange in [1, 2] as [ExchangeID] {
      guard case .wait(_, let actions) = pool.acquire(key, for: exchange, now: start),
        case .connect(let id, _)? = actions.first
      else {
        Issue.record("no connection was opened for exchange \(exchange)")
        return
      }
      _ = pool.opened(id, now: start)
      opened.append(id)
    }
    _ = pool.release(opened[0], closing: nil, now: start)
    _ = pool.release(opened[1], closing: nil, idleTimeMax: .seconds(2), now: start)
    for seconds in [1, 2, 59] {
      let isFit = pool.hasFitConnection(key, now: start + Duration.seconds(seconds))
      #expect(isFit, "\(seconds) s")
    }
    let isFit = pool.hasFitConnection(key, now: start + Duration.seconds(60))
    #expect(!isFit)
  }

  @Test("adding the connection pool counters of two event loops returns the sums of the counters")
  func addedCounters() {
    var one = PoolState(PoolLimits())
    var other = PoolState(PoolLimits())
    let now = Instant(nanoseconds: 0)
    for key in ["a", "b"] { _ = one.acquire(PoolHistory.key(key), for: 1, now: now) }
    _ = other.acquire(PoolHistory.key("c"), for: 1, now: now)
    var counters = one.counters()
    counters.add(other.counters())
    #expect(counters.total.waiting == 3 && counters.total.opening == 3)
    #expect(counters.origins.map(\.origin.authority).sorted() == ["a", "a:8080", "b"])
  }

  @Test("releasing a closed connection to the connection pool traps, even if another connection has reused its slot")
  func staleName() async {
    await #expect(processExitsWith: .failure) {
      var pool = PoolState(PoolLimits())
      let now = Instant(nanoseconds: 0)
      let key = PoolKey(origin: Origin(scheme: .http, host: "a", port: 80), tls: nil)
      guard case .wait(_, let actions) = pool.acquire(key, for: 1, now: now), case .connect(let id, _) = actions[0]
      else { return }
      guard case .use = pool.opened(id, now: now) else { return }
      guard case .actions = pool.release(id, closing: .exchangeFailed, now: now) else { return }
      // Lets another connection reuse the slot of the closed connection.
      guard case .wait(_, let others) = pool.acquire(key, for: 2, now: now), case .connect(let other, _) = others[0],
        other.slot == id.slot, case .use = pool.opened(other, now: now)
      else { return }
      _ = pool.release(id, closing: nil, now: now)
    }
  }

  @Test("releasing a connection to the connection pool twice traps")
  func doubleRelease() async {
    await #expect(processExitsWith: .failure) {
      var pool = PoolState(PoolLimits())
      let now = Instant(nanoseconds: 0)
      let key = PoolKey(origin: Origin(scheme: .http, host: "a", port: 80), tls: nil)
      guard case .wait(_, let actions) = pool.acquire(key, for: 1, now: now), case .connect(let id, _) = actions[0],
        case .use = pool.opened(id, now: now), case .idle = pool.release(id, closing: nil, now: now)
      else { return }
      _ = pool.release(id, closing: nil, now: now)
    }
  }
}
