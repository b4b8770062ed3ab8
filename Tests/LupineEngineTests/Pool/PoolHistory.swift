// PoolHistory: runs a history of the pool written as text, a list of events with the expected answers.

import LupineReactor
import LupineTLS
import LupineWire
import Testing

@testable import LupineEngine

/// A sequence of events for the connection pool, and the pool's expected answers. By default, the pool allows 2 connections per
/// origin and closes idle connections after 10 s.
///
/// Events: "acquire KEY EXCHANGE [LEVEL]", "opened ID", "failed ID [descriptors]", "release ID [REASON]", "release ID for SECONDS"
/// (the time for which the server permits the connection to be idle), "detach ID", "evict ID", "cancel EXCHANGE", "at SECONDS",
/// "expire", "shutdown", "withdraw ID", "prewarm KEY COUNT". Queries: "next" (the deadline, in seconds), "count" (of connections), "waiter ID", "drained", "total",
/// and "origins".
struct PoolHistory: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let limits: PoolLimits
  let lines: [(event: String, answer: String)]

  init(
    _ name: String, max: Int = 2, total: Int = .max, idle: Int = 2, idleInAll: Int = .max, waiters: Int = 100,
    age: Duration? = nil, jitter: Double = 0, uses: Int? = nil, remembered: Int = 10, _ lines: [(String, String)]
  ) {
    testDescription = name
    var limits = PoolLimits()
    limits.connectionsPerOriginMax = max
    limits.connectionsMax = total
    limits.idlePerOriginMax = idle
    limits.idleMax = idleInAll
    limits.idleTimeout = .seconds(10)
    limits.connectionAgeMax = age
    limits.connectionAgeJitter = jitter
    limits.usesPerConnectionMax = uses
    limits.waitersMax = waiters
    limits.originsRememberedMax = remembered
    self.limits = limits
    self.lines = lines
  }

  func run() throws {
    var run = PoolRun(limits)
    for (number, line) in lines.enumerated() {
      let answer = try run.answer(line.event)
      #expect(answer == line.answer, "line \(number + 1): \(line.event)")
    }
  }

  // The keys a, b and c differ in host or port. The key d has a's host with TLS, and e and f differ from d in TLS settings.
  static func key(_ letter: String) -> PoolKey {
    switch letter {
    case "c": PoolKey(origin: Origin(scheme: .http, host: "a", port: 8080), tls: nil)
    case "d": PoolKey(origin: Origin(scheme: .https, host: "a", port: 80), tls: TLSConfiguration())
    case "e": PoolKey(origin: Origin(scheme: .https, host: "a", port: 80), tls: TLSConfiguration(verification: .none))
    case "f":
      PoolKey(origin: Origin(scheme: .https, host: "a", port: 80), tls: TLSConfiguration(trustRoots: [.pem([1])]))
    default: PoolKey(origin: Origin(scheme: .http, host: letter, port: 80), tls: nil)
    }
  }
}

/// A connection pool, and the connections and waiters that the history's names refer to.
private struct PoolRun {
  private var pool: PoolState
  private var now = Instant(nanoseconds: 0)
  private var connections: [String: ConnectionID] = [:]
  private var tickets: [String: Ticket] = [:]

  init(_ limits: PoolLimits) {
    pool = PoolState(limits)
  }

  mutating func answer(_ event: String) throws -> String {
    let words = event.split(separator: " ").map(String.init)
    func connection() throws -> ConnectionID { try #require(connections[words[1]], "\(event): unknown connection") }
    switch words[0] {
    case "acquire":
      let priority = try words.count > 3 ? ExchangePriority(level: #require(UInt8(words[3]))) : .normal
      let acquisition = pool.acquire(
        PoolHistory.key(words[1]), for: try #require(UInt64(words[2])), priority, now: now)
      if case .wait(let ticket, _) = acquisition { tickets[words[2]] = ticket }
      return text(acquisition)
    case "opened": return text(pool.opened(try connection(), now: now), words[1])
    case "failed":
      return text(
        pool.openingFailed(try connection(), because: words.count > 2 ? .outOfDescriptors : .unreachable, now: now))
    case "release":
      let reason = try words.count == 3 ? #require(CloseReason(rawValue: words[2]) as CloseReason?) : nil
      let idleTimeMax: Duration? = try words.count > 3 ? .seconds(#require(Int(words[3]))) : nil
      return text(pool.release(try connection(), closing: reason, idleTimeMax: idleTimeMax, now: now), words[1])
    case "detach": return text(pool.detach(try connection()))
    case "evict": return text(pool.evict(try connection(), .closedByPeer))
    case "cancel": return text(pool.cancel(try #require(tickets[words[1]], "\(event): the exchange never waited")))
    case "withdraw": return text(pool.withdraw(try connection()))
    case "prewarm":
      return text(pool.prewarm(PoolHistory.key(words[1]), count: try #require(Int(words[2]))))
    case "expire": return text(pool.expire(now: now))
    case "shutdown": return text(pool.beginShutdown())
    case "at":
      now = Instant(nanoseconds: UInt64(try #require(Double(words[1])) * 1000) * 1_000_000)
      return ""
    case "next":
      guard let next = pool.nextDeadline else { return "-" }
      let seconds = Double(next.nanoseconds / 1_000_000) / 1000
      return seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    case "count": return "\(pool.connectionCount)"
    case "waiter": return pool.waiter(of: try connection()).map(String.init) ?? "-"
    case "drained": return "\(pool.isDrained)"
    case "total": return text(pool.counters().total)
    case "origins":
      return pool.counters().origins.map { "\($0.origin.authority): \(text($0.connections))" }.sorted().joined(
        separator: "; ")
    default: throw UnknownEvent(event: event)
    }
  }

  private struct UnknownEvent: Error {
    let event: String
  }

  private mutating func text(_ acquisition: PoolState.Acquisition) -> String {
    switch acquisition {
    case .use(let id): "use \(id.serial)"
    case .wait(_, let actions): actions.isEmpty ? "wait" : text(actions)
    case .refused(let refusal): "refused \(refusal)"
    }
  }

  private mutating func text(_ released: PoolState.Released, _ id: String) -> String {
    switch released {
    case .idle: "idle"
    case .use(let exchange): "use \(id) by \(exchange)"
    case .actions(let actions): text(actions)
    }
  }

  private mutating func text(_ actions: [PoolState.Action]) -> String {
    actions.map { action in
      switch action {
      case .use(let id, let exchange): return "use \(id.serial) by \(exchange)"
      case .connect(let id, let exchange):
        connections["\(id.serial)"] = id
        return "connect \(id.serial) for \(exchange)"
      case .prewarm(let id, _):
        connections["\(id.serial)"] = id
        return "prewarm \(id.serial)"
      case .wait(let exchange): return "wait \(exchange)"
      case .close(let id, let reason): return "close \(id.serial) \(reason.rawValue)"
      case .abandon(let id): return "abandon \(id.serial)"
      case .fail(let exchange): return "fail \(exchange)"
      case .refuse(let exchange, let refusal): return "refuse \(exchange) \(refusal)"
      }
    }.joined(separator: "; ")
  }

  // Returns the names and values of the counters that aren't 0.
  private func text(_ counters: ConnectionCounters) -> String {
    let numbers = [
      ("idle", counters.idle), ("active", counters.active), ("opening", counters.opening),
      ("waiting", counters.waiting), ("created", counters.created), ("reused", counters.reused),
      ("failed", counters.openingsFailed), ("abandoned", counters.openingsAbandoned),
    ]
    let closed = counters.closed.map { ("\($0.key.rawValue)", $0.value) }.sorted { $0.0 < $1.0 }
    return (numbers.filter { $0.1 > 0 } + closed).map { "\($0.0) \($0.1)" }.joined(separator: " ")
  }
}
