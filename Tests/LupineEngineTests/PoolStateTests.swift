// The pool's decisions as tables: what happens, and what it answers.

import LupineReactor
import LupineTLS
import LupineWire
import Testing

@testable import LupineEngine

/// One history: events and answers as text, for a pool of at most 2 connections, 2 of them idle, for 10 s.
///
/// Events: "acquire KEY EXCHANGE", "opened KEY ID", "failed KEY ID", "release KEY ID [REASON]", "evict KEY ID",
/// "cancel KEY EXCHANGE", "at SECONDS", "expire". Asked: "next" (expiry, in seconds), "count" (of connections).
struct PoolHistory: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let limits: PoolLimits
  let lines: [(event: String, answer: String)]

  init(_ name: String, max: Int = 2, idle: Int = 2, _ lines: [(String, String)]) {
    testDescription = name
    limits = PoolLimits(connectionsPerOriginMax: max, idlePerOriginMax: idle, idleTimeout: .seconds(10))
    self.lines = lines
  }
}

extension PoolHistory {
  static let serving = [
    PoolHistory(
      "a connection is opened, used, kept and used again",
      [
        ("acquire a 1", "connect 1"), ("opened a 1", "use 1 by 1"), ("release a 1", ""), ("acquire a 2", "use 1"),
        ("release a 1", ""), ("count", "1"),
      ]),
    PoolHistory(
      "the newest idle connection is used first",
      [
        ("acquire a 1", "connect 1"), ("acquire a 2", "connect 2"), ("opened a 1", "use 1 by 1"),
        ("opened a 2", "use 2 by 2"), ("release a 2", ""), ("at 1", ""), ("release a 1", ""), ("acquire a 3", "use 1"),
        ("acquire a 4", "use 2"),
      ]),
    PoolHistory(
      "beyond the limit exchanges wait, and are served in order",
      [
        ("acquire a 1", "connect 1"), ("acquire a 2", "connect 2"), ("acquire a 3", "wait"), ("acquire a 4", "wait"),
        ("opened a 1", "use 1 by 1"), ("opened a 2", "use 2 by 2"), ("release a 2", "use 2 by 3"),
        ("release a 1", "use 1 by 4"), ("release a 2", ""), ("count", "2"),
      ]),
    PoolHistory(
      "an opened connection serves who waits longest, whoever asked for it",
      [
        ("acquire a 1", "connect 1"), ("acquire a 2", "connect 2"), ("opened a 2", "use 2 by 1"),
        ("opened a 1", "use 1 by 2"),
      ]),
    PoolHistory(
      "a freed connection serves who waits longest, and what was being opened for it is kept",
      [
        ("acquire a 1", "connect 1"), ("opened a 1", "use 1 by 1"), ("acquire a 2", "connect 2"),
        ("release a 1", "use 1 by 2"), ("opened a 2", ""), ("acquire a 3", "use 2"), ("count", "2"),
      ]),
    PoolHistory(
      "a connection that closes makes room for who waits",
      max: 1,
      [
        ("acquire a 1", "connect 1"), ("opened a 1", "use 1 by 1"), ("acquire a 2", "wait"), ("acquire a 3", "wait"),
        ("release a 1 serverAskedForClose", "close 1 serverAskedForClose; connect 2 for 2"),
        ("opened a 2", "use 2 by 2"), ("release a 2 exchangeFailed", "close 2 exchangeFailed; connect 3 for 3"),
        ("count", "1"),
      ]),
    PoolHistory(
      "an exchange that waits already keeps its connection to come when another one closes",
      [
        ("acquire a 1", "connect 1"), ("opened a 1", "use 1 by 1"), ("acquire a 2", "connect 2"),
        ("release a 1 bodyEndsWithClose", "close 1 bodyEndsWithClose"), ("opened a 2", "use 2 by 2"),
      ]),
    PoolHistory(
      "keys have limits, waiters and idle connections of their own",
      max: 1,
      [
        ("acquire a 1", "connect 1"), ("acquire b 2", "connect 2"), ("acquire c 3", "connect 3"),
        ("acquire d 4", "connect 4"), ("acquire a 5", "wait"), ("opened b 2", "use 2 by 2"), ("release b 2", ""),
        ("opened c 3", "use 3 by 3"), ("release c 3", ""), ("opened a 1", "use 1 by 1"), ("acquire d 6", "wait"),
        ("acquire c 7", "use 3"), ("release a 1", "use 1 by 5"), ("opened d 4", "use 4 by 4"), ("count", "4"),
      ]),
  ]

  static let ending = [
    PoolHistory(
      "a failure to open ends the exchange that asked, and no other",
      max: 2,
      [
        ("acquire a 1", "connect 1"), ("acquire a 2", "connect 2"), ("acquire a 3", "wait"),
        ("failed a 2", "fail 2; connect 3 for 3"), ("opened a 1", "use 1 by 1"), ("failed a 3", "fail 3"),
        ("count", "1"),
      ]),
    PoolHistory(
      "a failure to open a connection that nobody needs any more fails nobody",
      [
        ("acquire a 1", "connect 1"), ("opened a 1", "use 1 by 1"), ("acquire a 2", "connect 2"),
        ("release a 1", "use 1 by 2"), ("failed a 2", ""), ("count", "1"),
      ]),
    PoolHistory(
      "whoever came while a needless connection was opened isn't failed by it, but gets its own",
      [
        ("acquire a 1", "connect 1"), ("opened a 1", "use 1 by 1"), ("acquire a 2", "connect 2"),
        ("release a 1", "use 1 by 2"), ("acquire a 3", "wait"), ("failed a 2", "connect 3 for 3"),
        ("opened a 3", "use 3 by 3"),
      ]),
    PoolHistory(
      "cancelling the only one who needs it gives a connection up",
      [
        ("acquire a 1", "connect 1"), ("cancel a 1", "close 1 exchangeFailed"), ("count", "0"), ("opened a 1", ""),
        ("failed a 1", ""), ("count", "0"),
      ]),
    PoolHistory(
      "a connection whose asker is cancelled goes to who waits longest without one",
      max: 1,
      [
        ("acquire a 1", "connect 1"), ("acquire a 2", "wait"), ("acquire a 3", "wait"), ("cancel a 1", ""),
        ("failed a 1", "fail 2; connect 2 for 3"), ("cancel a 3", "close 2 exchangeFailed"), ("count", "0"),
      ]),
    PoolHistory(
      "cancelling one that has no connection to come closes none",
      max: 1,
      [
        ("acquire a 1", "connect 1"), ("acquire a 2", "wait"), ("cancel a 2", ""), ("opened a 1", "use 1 by 1"),
        ("release a 1", ""), ("count", "1"),
      ]),
    PoolHistory(
      "cancelling twice, or what was served already, does nothing",
      [
        ("acquire a 1", "connect 1"), ("opened a 1", "use 1 by 1"), ("cancel a 1", ""), ("acquire a 2", "connect 2"),
        ("cancel a 2", "close 2 exchangeFailed"), ("cancel a 2", ""), ("cancel b 1", ""), ("count", "1"),
      ]),
  ]

  static let resting = [
    PoolHistory(
      "idle connections beyond their limit close, the oldest first",
      max: 3, idle: 1,
      [
        ("acquire a 1", "connect 1"), ("acquire a 2", "connect 2"), ("opened a 1", "use 1 by 1"),
        ("opened a 2", "use 2 by 2"), ("release a 1", ""), ("release a 2", "close 1 idleLimit"), ("count", "1"),
        ("acquire a 3", "use 2"),
      ]),
    PoolHistory(
      "with an idle limit of 0 nothing is kept",
      idle: 0,
      [
        ("acquire a 1", "connect 1"), ("opened a 1", "use 1 by 1"), ("release a 1", "close 1 idleLimit"),
        ("count", "0"), ("next", "-"),
      ]),
    PoolHistory(
      "idle connections close when their time is over, and not before",
      [
        ("next", "-"), ("acquire a 1", "connect 1"), ("acquire a 2", "connect 2"), ("opened a 1", "use 1 by 1"),
        ("opened a 2", "use 2 by 2"), ("at 5", ""), ("release a 1", ""), ("at 8", ""), ("release a 2", ""),
        ("next", "15"), ("at 14", ""), ("expire", ""), ("at 15", ""), ("expire", "close 1 idleTimeout"), ("next", "18"),
        ("at 99", ""), ("expire", "close 2 idleTimeout"), ("next", "-"), ("count", "0"),
      ]),
    PoolHistory(
      "each use starts the idle time anew, and a busy connection has none",
      [
        ("acquire a 1", "connect 1"), ("opened a 1", "use 1 by 1"), ("release a 1", ""), ("at 9", ""),
        ("acquire a 2", "use 1"), ("next", "-"), ("at 50", ""), ("expire", ""), ("release a 1", ""), ("next", "60"),
        ("at 59", ""), ("expire", ""), ("count", "1"),
      ]),
    PoolHistory(
      "a connection that nobody needed when it was opened has its idle time too",
      [
        ("acquire a 1", "connect 1"), ("opened a 1", "use 1 by 1"), ("acquire a 2", "connect 2"),
        ("release a 1", "use 1 by 2"), ("at 3", ""), ("opened a 2", ""), ("next", "13"), ("at 13", ""),
        ("expire", "close 2 idleTimeout"),
      ]),
    PoolHistory(
      "an idle connection whose peer has closed isn't given out",
      [
        ("acquire a 1", "connect 1"), ("opened a 1", "use 1 by 1"), ("release a 1", ""),
        ("evict a 1", "close 1 closedByPeer"), ("count", "0"), ("acquire a 2", "connect 2"),
      ]),
    PoolHistory(
      "all keys' idle times are looked at",
      [
        ("acquire a 1", "connect 1"), ("acquire b 2", "connect 2"), ("opened a 1", "use 1 by 1"),
        ("opened b 2", "use 2 by 2"), ("at 4", ""), ("release b 2", ""), ("at 6", ""), ("release a 1", ""),
        ("next", "14"), ("at 14", ""), ("expire", "close 2 idleTimeout"), ("at 16", ""),
        ("expire", "close 1 idleTimeout"), ("count", "0"),
      ]),
  ]
}

@Suite("PoolState")
struct PoolStateTests {
  @Test(arguments: PoolHistory.serving)
  func serving(_ history: PoolHistory) throws { try run(history) }

  @Test(arguments: PoolHistory.ending)
  func ending(_ history: PoolHistory) throws { try run(history) }

  @Test(arguments: PoolHistory.resting)
  func resting(_ history: PoolHistory) throws { try run(history) }

  @Test("what differs in scheme, host, port or TLS settings has different keys")
  func keys() {
    let keys = ["a", "b", "c", "d", "e", "f"].map(key)
    #expect(Set(keys).count == keys.count)
    #expect(key("d") == key("d"))
  }

  // a, b and c differ in host and port; d is a's host with TLS, e and f with other settings of it.
  private func key(_ letter: String) -> PoolKey {
    let plain = TLSConfiguration()
    return switch letter {
    case "b": PoolKey(origin: Origin(scheme: .http, host: "b", port: 80), tls: nil)
    case "c": PoolKey(origin: Origin(scheme: .http, host: "a", port: 8080), tls: nil)
    case "d": PoolKey(origin: Origin(scheme: .https, host: "a", port: 80), tls: plain)
    case "e": PoolKey(origin: Origin(scheme: .https, host: "a", port: 80), tls: TLSConfiguration(verification: .none))
    case "f": PoolKey(origin: Origin(scheme: .https, host: "a", port: 80), tls: TLSConfiguration(trustRoots: .pem([1])))
    default: PoolKey(origin: Origin(scheme: .http, host: "a", port: 80), tls: nil)
    }
  }

  private func run(_ history: PoolHistory) throws {
    var pool = PoolState(history.limits)
    var now = Instant(nanoseconds: 0)
    for (number, line) in history.lines.enumerated() {
      let words = line.event.split(separator: " ").map(String.init)
      let id = words.count > 2 ? UInt64(words[2]) ?? 0 : 0
      let answer: String
      switch words[0] {
      case "acquire": answer = text(pool.acquire(key(words[1]), for: id))
      case "opened": answer = text(pool.opened(id, key(words[1]), now: now))
      case "failed": answer = text(pool.openingFailed(id, key(words[1])))
      case "release":
        let reason = words.count > 3 ? CloseReason(rawValue: words[3]) : nil
        answer = text(pool.release(id, key(words[1]), closing: reason, now: now))
      case "evict": answer = text(pool.evict(id, key(words[1]), .closedByPeer))
      case "cancel": answer = text(pool.cancel(id, key(words[1])))
      case "expire": answer = text(pool.expire(now: now))
      case "next":
        answer = pool.nextExpiry.map { "\($0.nanoseconds / 1_000_000_000)" } ?? "-"
      case "count": answer = "\(pool.connectionCount)"
      default:
        now = Instant(nanoseconds: 0) + .seconds(try #require(Int(words[1])))
        answer = ""
      }
      #expect(answer == line.answer, "line \(number + 1): \(line.event)")
    }
  }

  private func text(_ grant: PoolState.Grant) -> String {
    switch grant {
    case .use(let id): "use \(id)"
    case .connect(let id): "connect \(id)"
    case .wait: "wait"
    }
  }

  private func text(_ actions: [PoolState.Action]) -> String {
    actions.map { action in
      switch action {
      case .use(let id, let exchange): "use \(id) by \(exchange)"
      case .connect(let id, let exchange): "connect \(id) for \(exchange)"
      case .close(let id, let reason): "close \(id) \(reason.rawValue)"
      case .fail(let exchange): "fail \(exchange)"
      }
    }.joined(separator: "; ")
  }
}
