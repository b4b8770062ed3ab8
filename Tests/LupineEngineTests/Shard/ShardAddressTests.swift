// ShardAddressTests: a shard that connects to a name with many addresses, with a resolver that the test scripts.

import LupineReactor
import LupineWire
import Synchronization
import Testing

@testable import LupineEngine

/// A resolver that answers each lookup at once, with the addresses that the test has set.
private final class ScriptedResolver: Sendable {
  private struct State {
    var answer: NameService.Answer = .success([])
    var lookups: [String] = []
  }

  private let state = Mutex(State())

  var lookups: [String] { state.withLock { $0.lookups } }

  func set(_ hosts: [String]) {
    state.withLock { $0.answer = .success(hosts.compactMap { SocketAddress(numeric: $0, port: 0) }) }
  }

  func fail() {
    state.withLock { $0.answer = .failure(ResolveError(.temporary, "no name server")) }
  }

  func service(_ order: AddressOrder) -> NameService {
    var configuration = ResolverConfiguration()
    configuration.order = order
    return NameService(configuration) { [self] name, _, completion in
      let answer = state.withLock { state in
        state.lookups.append(name)
        return state.answer
      }
      completion(answer)
      return {}
    }
  }
}

@Suite("A name with many addresses", .timeLimit(.minutes(10)))
struct ShardAddressTests {
  private static let four = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]
  private static let ok = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
  private let resolver = ScriptedResolver()

  private func stage(_ order: AddressOrder, hosts: [String] = four) -> ShardStage {
    resolver.set(hosts)
    return ShardStage(resolver: resolver.service(order)) {
      $0.resolver.order = order
      $0.pool.idleTimeout = .seconds(600)
    }
  }

  private func request() throws -> EngineRequest {
    EngineRequest(uri: try URI("http://pods.example/"), timeouts: Timeouts(everyPhase: nil, total: nil))
  }

  /// Opens connections for `count` requests at once, and returns the addresses to which they were opened first.
  @discardableResult
  private func connect(_ count: Int, _ stage: ShardStage) throws -> [String] {
    let before = stage.network.sockets.count
    for _ in 0..<count { _ = stage.submit(try request()) }
    stage.turn()
    stage.turn()
    for socket in stage.network.sockets[before...] { stage.turn(socket) }
    return stage.network.addresses[before...].map(\.host)
  }

  private func answer(_ socket: ScriptedSocket, _ stage: ShardStage) {
    socket.arrivals = [.bytes(Self.ok)]
    stage.turn(socket)
    socket.arrivals = []
  }

  @Test("by default, all connections are opened to the first address, and the name isn't looked up again")
  func system() throws {
    let stage = stage(.system)
    #expect(try connect(4, stage) == Array(repeating: Self.four[0], count: 4))
    stage.turn(after: .seconds(59))
    stage.turn(after: .seconds(2))
    #expect(resolver.lookups.count == 1 && stage.shard.balance == nil)
  }

  @Test("with the order of least connections, eight requests at once use each of four addresses twice")
  func least() throws {
    let stage = stage(.leastConnections)
    let hosts = try connect(8, stage)
    #expect(hosts.sorted() == (Self.four + Self.four).sorted())
    #expect(stage.network.addresses.allSatisfy { $0.port == 80 })
  }

  @Test("with a random order, the connections use several addresses")
  func random() throws {
    #expect(Set(try connect(40, stage(.randomized))) == Set(Self.four))
  }

  @Test("an address that refuses a connection is tried last by the next connections")
  func refused() throws {
    let stage = stage(.leastConnections, hosts: Array(Self.four.prefix(2)))
    stage.network.failing = [Self.four[0]]
    let hosts = try connect(8, stage)
    #expect(hosts.count { $0 == Self.four[1] } == 8)
    // At most the first request tries the other address.
    #expect(hosts.count <= 9)
    stage.network.failing = []
    for socket in stage.network.sockets { answer(socket, stage) }
    stage.turn(after: .seconds(31))
    #expect(try connect(10, stage).contains(Self.four[0]))
  }

  @Test("when an answer has expired, idle connections to missing addresses close, and busy ones after their requests")
  func withdrawal() throws {
    let stage = stage(.leastConnections)
    let hosts = try connect(4, stage)
    let sockets = stage.network.sockets
    let (kept, idle, busy) = (hosts[0], hosts[1], hosts[2])
    for index in [0, 1] { answer(sockets[index], stage) }
    resolver.set([kept, hosts[3], "10.0.0.9"])
    stage.turn(after: .seconds(59))
    #expect(resolver.lookups.count == 1)
    stage.turn(after: .seconds(1))
    stage.turn()
    #expect(resolver.lookups == ["pods.example", "pods.example"])
    var total = stage.shard.pool.counters().total
    #expect(total.closed[.addressWithdrawn] == 1 && total.active == 2, "\(idle) is kept, or \(busy) isn't")
    answer(sockets[2], stage)
    total = stage.shard.pool.counters().total
    #expect(total.closed[.addressWithdrawn] == 2 && total.idle + total.active == 2)
    answer(sockets[3], stage)
    #expect(stage.shard.pool.counters().total.closed.values.reduce(0, +) == 2)
    #expect(try connect(3, stage) == ["10.0.0.9"], "the withdrawn addresses are no longer used")
  }

  @Test("a failed lookup closes no connection, and is repeated")
  func failedLookup() throws {
    let stage = stage(.leastConnections)
    try connect(2, stage)
    for socket in stage.network.sockets { answer(socket, stage) }
    resolver.fail()
    stage.turn(after: .seconds(30))
    for _ in 0..<2 { _ = stage.submit(try request()) }
    stage.turn(after: .seconds(30))
    stage.turn()
    #expect(resolver.lookups.count == 2 && stage.shard.pool.counters().total.closed.isEmpty)
    resolver.set(["10.0.0.9"])
    stage.turn(after: .seconds(5))
    stage.turn()
    #expect(resolver.lookups.count == 3)
    for socket in stage.network.sockets { answer(socket, stage) }
    #expect(stage.shard.pool.counters().total.closed == [.addressWithdrawn: 2])
  }

  @Test("without connections, a name isn't looked up again, and nothing is remembered about it")
  func forgotten() throws {
    let stage = stage(.leastConnections)
    try connect(2, stage)
    for socket in stage.network.sockets { answer(socket, stage) }
    for socket in stage.network.sockets {
      socket.arrivals = [.end]
      stage.turn(socket)
    }
    #expect(stage.shard.balance?.connectionCount == 0 && stage.shard.balance?.nextRefresh == nil)
    stage.turn(after: .seconds(120))
    #expect(resolver.lookups.count == 1)
  }

  @Test("a cancelled request leaves no connection that counts")
  func cancelled() throws {
    let stage = stage(.leastConnections)
    let (id, _) = stage.submit(EngineRequest(uri: try URI("http://pods.example/")))
    stage.turn()
    stage.turn()
    #expect(stage.shard.balance?.connectionCount == 1)
    stage.inbox.send(.cancel(id))
    stage.turn()
    #expect(stage.shard.balance?.connectionCount == 0)
  }

  @Test("a connection that opens after its address was withdrawn serves one request, and closes")
  func lateWithdrawal() throws {
    let stage = stage(.leastConnections, hosts: ["10.0.0.1"])
    _ = stage.submit(EngineRequest(uri: try URI("http://pods.example/")))
    stage.turn()
    stage.turn()
    resolver.set(["10.0.0.2"])
    stage.turn(after: .seconds(14))
    _ = stage.submit(EngineRequest(uri: try URI("https://pods.example/")))
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.shard.refreshed(
      try #require(stage.shard.openings.values.first?.key), "pods.example",
      .success(["10.0.0.2"].compactMap { SocketAddress(numeric: $0, port: 80) }))
    stage.turn(socket)
    #expect(stage.shard.pool.counters().total.active == 1)
    answer(socket, stage)
    #expect(stage.shard.pool.counters().total.closed == [.addressWithdrawn: 1])
  }

  @Test("a numeric host and a Unix socket need no distribution")
  func numeric() throws {
    let stage = stage(.leastConnections)
    for uri in ["http://10.0.0.7/", "http+unix://%2Frun%2Fa/"] { _ = stage.submit(EngineRequest(uri: try URI(uri))) }
    stage.turn()
    #expect(stage.network.sockets.count == 2 && stage.shard.balance?.connectionCount == 0)
  }
}
