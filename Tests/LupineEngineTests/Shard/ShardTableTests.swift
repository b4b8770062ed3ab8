// ShardTableTests: a shard's tables, compared with dictionaries, and commands for an exchange that they no longer contain.

import LupineOrigin
import LupineTestSupport
import LupineWire
import Testing

@testable import LupineEngine

@Suite("Tables of an event loop")
struct ShardTableTests {
  @Test(
    "the event loop's table with serial numbers as keys behaves like a dictionary under random changes",
    arguments: 1...20 as ClosedRange<UInt64>)
  func serials(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var table = SerialTable<Int>()
    var model: [UInt64: Int] = [:]
    for step in 0..<2_000 {
      // Few distinct numbers, so that many collide; also large ones that are congruent to small ones.
      let serial = (random.next() % 64) << (random.next() % 3 * 29)
      let value = random.next() % 3 == 0 ? nil : step
      table[serial] = value
      model[serial] = value
      #expect(table.count == model.count)
    }
    #expect(table.serials.sorted() == model.keys.sorted())
    #expect(table.values.sorted() == model.values.sorted())
    #expect(model.allSatisfy { table[$0] == $1 })
    #expect((0..<64).allSatisfy { table[$0] == model[$0] })
    for serial in model.keys { table[serial] = nil }
    #expect(table.isEmpty && table.values.isEmpty)
  }

  @Test("the event loop's table with increasing serial numbers keeps its oldest entry while 100,000 others are added")
  func oldest() {
    var table = SerialTable<UInt64>()
    table[0] = 7
    for serial in 1...100_000 as ClosedRange<UInt64> {
      table[serial] = serial
      if serial > 50 { table[serial - 50] = nil }
    }
    #expect(table.count == 51)
    #expect(table[0] == 7)
    #expect(table[50_000] == nil)
    #expect(table[99_999] == 99_999)
  }

  @Test(
    "looking up a removed connection in the event loop's table returns nil, even if its slot contains another connection"
  )
  func staleName() {
    var table = ConnectionTable<String>()
    let first = ConnectionID(serial: 1, slot: 3)
    let second = ConnectionID(serial: 2, slot: 3)
    table[first] = "first"
    #expect(table[second] == nil)
    table[first] = nil
    table[second] = "second"
    #expect(table[first] == nil)
    table[first] = nil
    #expect(table[second] == "second")
    #expect(table.count == 1)
    #expect(table[ConnectionID(serial: 1, slot: 9)] == nil)
    table.removeAll()
    #expect(table.isEmpty && table[second] == nil)
  }

  @Test("the event loop stores the keys of a limited number of origins, but of at least as many as the pool has")
  func originKeys() throws {
    var configuration = EngineConfiguration()
    configuration.pool.originsRememberedMax = 3
    var keys = OriginKeys(ProxySettings.none.rules(environment: [:]), configuration)
    for (originCount, countMax) in [(0, 4), (5, 6)] {
      var most = 0
      for number in 0..<20 {
        let origin = Origin(scheme: .http, host: "h\(number).for\(originCount).example", port: 80)
        let key = try keys.key(for: origin, originCount: originCount)
        #expect(key.origin == origin)
        most = max(most, keys.count)
      }
      #expect(most == countMax)
    }
  }

  @Test("commands for a request that has ended don't affect the next request on the same connection")
  func lateCommands() async throws {
    let stage = ShardStage()
    let (id, socket) = try stage.completeFirstRequest()
    let (_, second) = stage.submit(EngineRequest(uri: try URI("http://127.0.0.1:80/")))
    stage.turn()
    let commands: [ShardCommand] = [
      .setPaused(id, true), .extendWindow(id, 1), .bodyReady(id), .discardBody(id), .cancel(id),
    ]
    for command in commands { stage.inbox.send(command) }
    stage.turn()
    socket.arrivals = [.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond".utf8))]
    stage.turn(socket)
    try #require(second.finished.isOpen)
    let outcome = await second.outcome
    #expect(outcome.error == nil && outcome.text == "second" && outcome.metrics?.isReusedConnection == true)
    #expect(stage.network.sockets.count == 1)
  }
}
