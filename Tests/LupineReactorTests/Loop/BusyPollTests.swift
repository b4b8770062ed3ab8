// BusyPollTests: when a loop polls before it sleeps, and that a loop that polls misses nothing.

import Synchronization
import Testing

@testable @_spi(Loop) import LupineReactor

@Suite("BusyPoll", .timeLimit(.minutes(10)))
struct BusyPollTests {
  private let start = Instant(nanoseconds: 1_000_000)

  @Test("an event loop without a limit for busy polling never busy-polls")
  func disabled() {
    var rule = BusyPoll(limit: .zero)
    rule.waited(.zero, hasPolled: false)
    #expect(!rule.isEnabled && rule.end(from: start) == nil)
  }

  @Test(
    "an event loop busy-polls, up to its limit, only if its previous wait was short",
    arguments: [
      (10, true, true), (50, true, true), (51, true, false), (51, false, true), (100, false, true), (101, false, false),
    ])
  func worthwhile(microseconds: Int, hasPolled: Bool, polls: Bool) {
    var rule = BusyPoll(limit: .microseconds(50))
    #expect(rule.end(from: start) == nil)
    rule.waited(.microseconds(microseconds), hasPolled: hasPolled)
    #expect(rule.end(from: start) == (polls ? start + .microseconds(50) : nil))
    rule.waited(.seconds(1), hasPolled: polls)
    #expect(rule.end(from: start) == nil)
  }

  @Test("an event loop that may busy-poll runs every job and reports every event, whether it is polling or sleeping")
  func loop() async throws {
    // The limit is so long that the loop polls in nearly all waits.
    let loop = try EventLoop(busyPoll: .milliseconds(20))
    let pair = try SocketPair()
    let (tokens, continuation) = AsyncStream.makeStream(of: UInt64.self)
    let probe = Probe(loop) { events, _ in
      for event in events {
        pair.drain()
        continuation.yield(event.token)
      }
      return nil
    }
    try loop.start(name: "lupine-test", handler: probe)
    try await probe.watch(pair.first, .readable, token: 7)
    var iterator = tokens.makeAsyncIterator()
    for number in 1...500 {
      #expect(await probe.add(1).sum == number)
      pair.write()
      #expect(await iterator.next() == 7)
    }
    loop.stop()
  }
}
