// PoolLoadTests: the pool with 100,000 waiters, connections or origins. Any linear search would take minutes here.

import LupineReactor
import LupineTestSupport
import LupineWire
import Testing

@testable import LupineEngine

@Suite("The connection pool under load", .timeLimit(.minutes(10)))
struct PoolLoadTests {
  private static let count = repetitions(of: 100_000)

  @Test(
    "of 100,000 requests waiting for one pooled connection, half can be cancelled, and the others get it in order")
  func waiters() throws {
    var pool = PoolState(Self.limits(perOrigin: 1))
    let now = Instant(nanoseconds: 0)
    var tickets: [Ticket] = []
    var connection: ConnectionID?
    for exchange in 0..<UInt64(Self.count) {
      guard case .wait(let ticket, let actions) = pool.acquire(Self.key(0), for: exchange, now: now) else {
        throw Unexpected(what: "exchange \(exchange) doesn't wait")
      }
      tickets.append(ticket)
      if case .connect(let id, _) = actions.first { connection = id }
    }
    guard case .refused = pool.acquire(Self.key(1), for: .max, now: now) else {
      throw Unexpected(what: "it isn't refused")
    }
    // In reverse order, so that earlier waiters stay in the queue for as long as possible.
    for ticket in tickets.enumerated().filter({ $0.offset % 2 == 1 }).map(\.element).reversed() {
      #expect(pool.cancel(ticket).isEmpty)
    }
    let id = try #require(connection)
    var released = pool.opened(id, now: now)
    for exchange in stride(from: 0, to: UInt64(Self.count), by: 2) {
      guard released == .use(by: exchange) else { throw Unexpected(what: "\(released) in place of \(exchange)") }
      released = pool.release(id, closing: nil, now: now)
    }
    #expect(released == .idle)
    #expect(pool.counters().total.reused == Self.count / 2 - 1)
  }

  @Test(
    "if the pool allows one connection, 100,000 requests to different origins get a connection one by one, in order")
  func origins() throws {
    var pool = PoolState(Self.limits(inAll: 1))
    let now = Instant(nanoseconds: 0)
    var connection: ConnectionID?
    for exchange in 0..<UInt64(Self.count) {
      guard case .wait(_, let actions) = pool.acquire(Self.key(exchange), for: exchange, now: now) else {
        throw Unexpected(what: "exchange \(exchange) doesn't wait")
      }
      if case .connect(let id, _) = actions.first { connection = id }
    }
    for exchange in 0..<UInt64(Self.count) {
      let id = try #require(connection)
      guard pool.opened(id, now: now) == .use(by: exchange) else { throw Unexpected(what: "\(exchange) isn't served") }
      let released = pool.release(id, closing: nil, now: now)
      guard exchange + 1 < Self.count else { break }
      guard case .actions(let actions) = released, actions.count == 2, actions[0] == .close(id, .totalLimit),
        case .connect(let next, exchange + 1) = actions[1]
      else { throw Unexpected(what: "\(released) after \(exchange)") }
      connection = next
    }
    #expect(pool.origins.count == pool.limits.originsRememberedMax)
  }

  @Test("the connection pool can open 100,000 connections, let them become idle, and evict or expire them")
  func connections() throws {
    var pool = PoolState(Self.limits())
    var now = Instant(nanoseconds: 0)
    var ids: [ConnectionID] = []
    for exchange in 0..<UInt64(Self.count) {
      guard case .wait(_, let actions) = pool.acquire(Self.key(exchange % 50_000), for: exchange, now: now),
        case .connect(let id, _) = actions.first
      else { throw Unexpected(what: "nothing is opened for \(exchange)") }
      ids.append(id)
    }
    for id in ids {
      guard case .use = pool.opened(id, now: now) else { throw Unexpected(what: "no exchange is served") }
    }
    for id in ids {
      now = now + .microseconds(1)
      guard pool.release(id, closing: nil, now: now) == .idle else { throw Unexpected(what: "it isn't idle") }
      guard pool.nextDeadline != nil else { throw Unexpected(what: "nothing expires") }
    }
    for index in stride(from: 1, to: ids.count, by: 2) {
      guard pool.evict(ids[index], .closedByPeer).count == 1 else { throw Unexpected(what: "it isn't closed") }
    }
    var expired: [PoolState.Action] = []
    while let next = pool.nextDeadline { expired += pool.expire(now: next) }
    #expect(expired == stride(from: 0, to: ids.count, by: 2).map { .close(ids[$0], .idleTimeout) })
    #expect(pool.connectionCount == 0)
  }

  @Test("while 100,000 requests wait for a file descriptor and retry, the connection pool can cancel them one by one")
  func descriptors() throws {
    var pool = PoolState(Self.limits(perOrigin: 1_000))
    var now = Instant(nanoseconds: 0)
    var tickets: [Ticket] = []
    var opening: [ConnectionID] = []
    for exchange in 0..<UInt64(Self.count) {
      guard case .wait(let ticket, let actions) = pool.acquire(Self.key(exchange % 100), for: exchange, now: now) else {
        throw Unexpected(what: "exchange \(exchange) doesn't wait")
      }
      tickets.append(ticket)
      if case .connect(let id, _) = actions.first { opening.append(id) }
    }
    for id in opening {
      guard pool.openingFailed(id, because: .outOfDescriptors, now: now).count == 1 else {
        throw Unexpected(what: "another attempt is made at once")
      }
    }
    for ticket in tickets.reversed() {
      guard let next = pool.nextDeadline else { throw Unexpected(what: "no further attempt is scheduled") }
      now = next
      guard case .connect(let id, for: 0) = pool.expire(now: now).first else {
        throw Unexpected(what: "no attempt is made")
      }
      guard pool.openingFailed(id, because: .outOfDescriptors, now: now) == [.wait(0)] else {
        throw Unexpected(what: "the exchange doesn't wait")
      }
      guard pool.cancel(ticket).isEmpty else { throw Unexpected(what: "the cancellation had an effect") }
    }
    #expect(pool.nextDeadline == nil)
  }

  private struct Unexpected: Error {
    let what: String
  }

  private static func limits(perOrigin: Int = .max, inAll: Int = .max) -> PoolLimits {
    var limits = PoolLimits()
    limits.connectionsPerOriginMax = perOrigin
    limits.connectionsMax = inAll
    limits.idlePerOriginMax = .max
    limits.idleMax = .max
    limits.waitersMax = count
    return limits
  }

  private static func key(_ number: UInt64) -> PoolKey {
    PoolKey(origin: Origin(scheme: .http, host: "host-\(number)", port: 80), tls: nil)
  }
}
