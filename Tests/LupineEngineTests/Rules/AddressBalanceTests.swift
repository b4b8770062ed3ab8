// AddressBalanceTests: the order of a name's addresses, and the connections that lose theirs, in virtual time.

import LupineRandom
import LupineReactor
import LupineWire
import Testing

@testable import LupineEngine

/// A distribution of connections over addresses, and the events that change it.
private final class Bench {
  static let key = PoolKey(origin: Origin(scheme: .http, host: "pods", port: 80), tls: nil)
  static let other = PoolKey(origin: Origin(scheme: .https, host: "pods", port: 443), tls: nil)
  static let start = Instant(nanoseconds: 1_000_000_000)
  static let four = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]

  private var balance: AddressBalance

  init(_ balance: AddressBalance) { self.balance = balance }

  static func addresses(_ hosts: [String]) -> [SocketAddress] {
    hosts.compactMap { SocketAddress(numeric: $0, port: 80) }
  }

  var connectionCount: Int { balance.connectionCount }
  var nextRefresh: Instant? { balance.nextRefresh }

  /// Opens a connection to the first address in order, and returns the address.
  func open(_ number: Int, _ hosts: [String] = four, _ key: PoolKey = key) -> String {
    let id = ConnectionID(serial: UInt32(number), slot: number)
    let addresses = Self.addresses(hosts)
    _ = balance.begin(
      id, key, AddressBalance.Name(host: "pods", port: 80), addresses, until: nil, now: Self.start)
    let first = balance.ordered(addresses, for: key, now: Self.start).first
    if let first { balance.use(first, for: id) }
    return first?.host ?? "none"
  }

  func ordered(_ addresses: [SocketAddress], for key: PoolKey, now: Instant) -> [SocketAddress] {
    balance.ordered(addresses, for: key, now: now)
  }

  func use(_ address: SocketAddress, for id: ConnectionID) { balance.use(address, for: id) }
  func end(_ id: ConnectionID) { balance.end(id) }
  func fail(_ address: SocketAddress, now: Instant) { balance.fail(address, now: now) }

  func refresh(_ key: PoolKey, _ answer: [SocketAddress], until end: Instant?, now: Instant) -> [ConnectionID] {
    balance.refresh(key, answer, until: end, now: now)
  }

  func refreshFailed(_ key: PoolKey, now: Instant) { balance.refreshFailed(key, now: now) }
  func popExpired(now: Instant) -> (key: PoolKey, name: AddressBalance.Name)? { balance.popExpired(now: now) }
  func isWithdrawn(_ id: ConnectionID) -> Bool { balance.isWithdrawn(id) }
}

@Suite("AddressBalance")
struct AddressBalanceTests {
  private func make(_ order: AddressOrder = .leastConnections, seed: UInt64 = 1) throws -> Bench {
    var configuration = ResolverConfiguration()
    configuration.order = order
    return Bench(try #require(AddressBalance(configuration, random: SplitMix64(seed: seed))))
  }

  private func id(_ number: Int) -> ConnectionID { ConnectionID(serial: UInt32(number), slot: number) }

  @Test("the resolver's order needs no distribution")
  func system() {
    #expect(AddressBalance(ResolverConfiguration(), random: SplitMix64(seed: 1)) == nil)
  }

  @Test(
    "with the order of least connections, each address gets the same number of connections",
    arguments: 1...20 as ClosedRange<UInt64>)
  func least(seed: UInt64) throws {
    let balance = try make(seed: seed)
    var counts: [String: Int] = [:]
    for number in 1...12 {
      counts[balance.open(number), default: 0] += 1
      let (least, most) = (counts.count < 4 ? 0 : counts.values.min() ?? 0, counts.values.max() ?? 0)
      #expect(most - least <= 1, "after \(number) connections: \(counts)")
    }
  }

  @Test("an address whose connection was closed gets the next one")
  func closed() throws {
    let balance = try make()
    let hosts = (1...8).map { balance.open($0) }
    balance.end(id(3))
    #expect(balance.open(9) == hosts[2])
    #expect(balance.connectionCount == 8)
  }

  @Test("a connection counts for the address that it got in the end, not for those tried before")
  func moved() throws {
    let balance = try make()
    let first = balance.open(1)
    let second = try #require(Bench.four.first { $0 != first })
    balance.use(Bench.addresses([second])[0], for: id(1))
    let next = (2...4).map { balance.open($0) }
    #expect(Set(next) == Set(Bench.four).subtracting([second]))
  }

  @Test("connections of other origins at the same addresses don't count")
  func keys() throws {
    let balance = try make()
    let first = balance.open(1)
    let next = (2...5).map { balance.open($0, Bench.four, Bench.other) }
    #expect(Set(next) == Set(Bench.four), "\(first) counts for the other origin")
  }

  @Test("a random order begins with each address about equally often, and depends on nothing but the seed")
  func random() throws {
    let (one, same) = (try make(.randomized), try make(.randomized))
    var counts: [String: Int] = [:]
    for number in 1...400 {
      let host = one.open(number)
      counts[host, default: 0] += 1
      #expect(same.open(number) == host)
    }
    #expect(counts.count == 4 && counts.values.allSatisfy { 60...140 ~= $0 }, "\(counts)")
  }

  @Test(
    "the preferred address family stays first, and the families alternate", arguments: 1...10 as ClosedRange<UInt64>)
  func families(seed: UInt64) throws {
    let balance = try make(.randomized, seed: seed)
    let order = balance.ordered(
      Bench.addresses(["2001:db8::1", "10.0.0.1", "2001:db8::2", "10.0.0.2"]), for: Bench.key, now: Bench.start)
    #expect(order.map(\.isIPv6) == [true, false, true, false])
  }

  @Test("an address that has failed is last for 30 s", arguments: [AddressOrder.randomized, .leastConnections])
  func failure(order: AddressOrder) throws {
    let balance = try make(order)
    let all = Bench.addresses(["2001:db8::1", "10.0.0.1", "10.0.0.2"])
    balance.fail(all[0], now: Bench.start)
    for seconds in [0, 1, 29] {
      let order = balance.ordered(all, for: Bench.key, now: Bench.start + .seconds(seconds))
      #expect(order.last == all[0] && Set(order) == Set(all), "after \(seconds) s")
    }
    #expect(balance.ordered(all, for: Bench.key, now: Bench.start + AddressBalance.failureTime).first == all[0])
  }

  @Test("if all addresses have failed, all are tried")
  func allFailed() throws {
    let balance = try make()
    for address in Bench.addresses(Bench.four) { balance.fail(address, now: Bench.start) }
    #expect(
      Set(balance.ordered(Bench.addresses(Bench.four), for: Bench.key, now: Bench.start))
        == Set(Bench.addresses(Bench.four)))
  }

  @Test("beyond the limit of failed addresses, the one that failed first is forgotten")
  func manyFailures() throws {
    let balance = try make()
    let all = (0...AddressBalance.failuresMax).compactMap {
      SocketAddress(numeric: "10.1.\($0 / 256).\($0 % 256)", port: 80)
    }
    for (number, address) in all.enumerated() {
      balance.fail(address, now: Bench.start + .milliseconds(number))
    }
    let pair = [all[1], all[0]]
    #expect(balance.ordered(pair, for: Bench.key, now: Bench.start + .seconds(2)) == [all[0], all[1]])
  }

  @Test("connections whose addresses are missing in a later answer are withdrawn, also while they are being opened")
  func withdrawal() throws {
    let balance = try make()
    let hosts = (1...4).map { balance.open($0) }
    let kept = Bench.addresses([hosts[0], hosts[2], "10.0.0.9"])
    #expect(balance.refresh(Bench.key, kept, until: nil, now: Bench.start) == [id(2), id(4)])
    #expect((1...4).map { balance.isWithdrawn(id($0)) } == [false, true, false, true])
    balance.end(id(2))
    #expect(balance.refresh(Bench.key, kept, until: nil, now: Bench.start) == [id(4)])
    #expect(balance.refresh(Bench.key, Bench.addresses(hosts), until: nil, now: Bench.start).isEmpty)
  }

  @Test("an answer for one origin withdraws no connection of another")
  func otherAnswer() throws {
    let balance = try make()
    _ = balance.open(1, ["10.0.0.1"])
    #expect(balance.refresh(Bench.other, Bench.addresses(["10.0.0.2"]), until: nil, now: Bench.start).isEmpty)
    #expect(!balance.isWithdrawn(id(1)))
  }

  @Test("a name is looked up again when its answer expires, as long as there are connections")
  func refreshing() throws {
    let balance = try make()
    _ = balance.open(1)
    #expect(balance.nextRefresh == Bench.start + .seconds(60))
    let end = Bench.start + .seconds(7)
    _ = balance.refresh(Bench.key, Bench.addresses(Bench.four), until: end, now: Bench.start)
    #expect(balance.nextRefresh == end && balance.popExpired(now: Bench.start + .seconds(6)) == nil)
    let due = try #require(balance.popExpired(now: end))
    #expect(due.key == Bench.key && due.name == AddressBalance.Name(host: "pods", port: 80))
    #expect(balance.nextRefresh == nil)
    balance.refreshFailed(Bench.key, now: end)
    #expect(balance.nextRefresh == end + AddressBalance.retryTime && !balance.isWithdrawn(id(1)))
    // An answer that has already expired doesn't lead to lookups without pause.
    _ = balance.refresh(Bench.key, Bench.addresses(Bench.four), until: Bench.start, now: end)
    #expect(balance.nextRefresh == end + AddressBalance.refreshTimeMin)
    balance.end(id(1))
    #expect(balance.nextRefresh == nil && balance.connectionCount == 0)
    #expect(
      balance.refresh(Bench.key, Bench.addresses(Bench.four), until: nil, now: end).isEmpty
        && balance.nextRefresh == nil)
    balance.refreshFailed(Bench.key, now: end)
    #expect(balance.nextRefresh == nil)
  }
}
