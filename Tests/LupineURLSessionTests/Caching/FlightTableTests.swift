// FlightTableTests: which requests wait for another request's response, without any I/O.

import LupineCache
import LupineEngine
import Testing

@testable import LupineURLSession

@Suite struct FlightTableTests {
  private struct Member: Identifiable, Equatable { let id: Int }

  private func table(_ count: Int) -> FlightTable<Member> {
    var table = FlightTable<Member>()
    for id in 0..<count { _ = table.join("a", Member(id: id)) }
    return table
  }

  @Test("the cache sends the first request for a URI, and lets later requests for the URI wait for its response")
  func joining() {
    var table = FlightTable<Member>()
    let members: [(CacheKey, Int)] = [("a", 0), ("a", 1), ("b", 2), ("a", 3)]
    let roles = members.map { table.join($0.0, Member(id: $0.1)) }
    #expect(roles == [.leads, .waits, .leads, .waits] && table.waiterCount == 2)
    #expect(!table.begin("a", 4) && table.begin("c", 4))
  }

  @Test(
    "the end of a URI's first request releases all requests waiting for it, and the next request for the URI is sent",
    arguments: [true, false])
  func ending(isStored: Bool) {
    var table = table(3)
    let changes = table.end("a", of: 0, isStored ? .stored : .failed)
    #expect(changes.released.map(\.id) == [1, 2] && changes.promoted == nil)
    #expect(table.join("a", Member(id: 3)) == .leads)
  }

  @Test(
    "if a URI's first request is cancelled, the request that has waited for its response the longest is sent instead")
  func cancellation() {
    var table = table(3)
    #expect(table.end("a", of: 0, .canceled).promoted?.id == 1)
    #expect(table.end("a", of: 0, .stored).released.isEmpty, "the canceled one no longer leads")
    #expect(table.end("a", of: 1, .canceled).promoted?.id == 2)
    let last = table.end("a", of: 2, .canceled)
    #expect(last.promoted == nil && last.released.isEmpty && table.begin("a", 9))
  }

  @Test(
    "a response head releases the waiting requests that the response can't serve, and later such requests don't wait")
  func announcing() {
    var table = table(4)
    #expect(table.announce("a", of: 0) { $0.id == 2 || $0.id == 5 }.map(\.id) == [1, 3])
    #expect(table.announce("a", of: 7) { _ in false }.isEmpty, "only the leader announces")
    #expect(table.join("a", Member(id: 4)) == .goesAlone && table.join("a", Member(id: 5)) == .waits)
    #expect(table.end("a", of: 0, .canceled).promoted?.id == 2)
    #expect(table.join("a", Member(id: 6)) == .waits, "the next response hasn't begun")
    #expect(table.end("a", of: 2, .stored).released.map(\.id) == [5, 6])
  }

  @Test("after a response that couldn't be shared, requests for its URI no longer wait for each other")
  func unshared() {
    var table = FlightTable<Member>()
    table.note("a", isShared: false)
    #expect((0..<2).map { table.join("a", Member(id: $0)) } == [.goesAlone, .goesAlone])
    let beganInBackground = table.begin("a", 2)
    #expect(beganInBackground, "a validation in the background has no waiters")
    _ = table.end("a", of: 2, .stored)
    table.note("a", isShared: true)
    #expect((3..<5).map { table.join("a", Member(id: $0)) } == [.leads, .waits])
    table.note("b", isShared: false)
    for number in 0..<FlightTable<Member>.unsharedURIsMax { table.note("c\(number)", isShared: false) }
    #expect(table.join("b", Member(id: 5)) == .leads && table.join("c0", Member(id: 6)) == .goesAlone)
  }

  @Test("removing a request from a URI's waiting requests returns true only if the request was waiting")
  func leaving() {
    var table = table(3)
    #expect(table.leave("a", 1) && !table.leave("a", 1) && !table.leave("a", 0) && !table.leave("b", 2))
    #expect(table.end("a", of: 0, .failed).released.map(\.id) == [2])
  }
}
