// HappyEyeballsTests: the order and the intervals of connection attempts (RFC 8305), in virtual time.

import LupineReactor
import Testing

@Suite("HappyEyeballs")
struct HappyEyeballsTests {
  private static let start = Instant(nanoseconds: 1_000)

  private func make(_ hosts: [String]) throws -> HappyEyeballs {
    HappyEyeballs(try hosts.map { try #require(SocketAddress(numeric: $0, port: 80)) }, now: Self.start)
  }

  private func after(_ milliseconds: Int) -> Instant { Self.start + .milliseconds(milliseconds) }

  /// Returns the next step as text: the host to try, "wait", "wait N" (until N milliseconds after the start) or "exhausted".
  private func step(_ order: inout HappyEyeballs, _ milliseconds: Int) -> String {
    switch order.step(now: after(milliseconds)) {
    case .attempt(let address): address.host
    case .wait(nil): "wait"
    case .wait(let until?): "wait \((until - Self.start) / .milliseconds(1))"
    case .exhausted: "exhausted"
    }
  }

  @Test(
    "Happy Eyeballs alternates between address families, starting with the family of the first address",
    arguments: [
      ([], []),
      (["1.1.1.1"], ["1.1.1.1"]),
      (["1.1.1.1", "1.1.1.2"], ["1.1.1.1", "1.1.1.2"]),
      (["::1", "::2", "1.1.1.1", "1.1.1.2"], ["::1", "1.1.1.1", "::2", "1.1.1.2"]),
      (["1.1.1.1", "1.1.1.2", "::1", "::2"], ["1.1.1.1", "::1", "1.1.1.2", "::2"]),
      (["::1", "1.1.1.1", "1.1.1.2", "1.1.1.3"], ["::1", "1.1.1.1", "1.1.1.2", "1.1.1.3"]),
      (["::1", "::2", "::3", "1.1.1.1"], ["::1", "1.1.1.1", "::2", "::3"]),
    ])
  func interleaving(_ answer: [String], _ expected: [String]) throws {
    var order = try make(answer)
    var tried: [String] = []
    for index in 0...answer.count {
      let now = after(250 * index)
      if case .attempt(let address) = order.step(now: now) { tried.append(address.host) }
    }
    #expect(tried == expected)
  }

  @Test("Happy Eyeballs starts the next connection attempt 250 ms after the previous one")
  func delay() throws {
    var order = try make(["::1", "1.1.1.1", "::2"])
    #expect(step(&order, 0) == "::1")
    #expect(step(&order, 0) == "wait 250.0")
    #expect(step(&order, 249) == "wait 250.0")
    #expect(step(&order, 251) == "1.1.1.1")
    // The interval starts at the previous attempt, which was one millisecond late.
    #expect(step(&order, 500) == "wait 501.0")
    #expect(step(&order, 501) == "::2")
    #expect(step(&order, 502) == "wait")
  }

  @Test("if a connection attempt fails, Happy Eyeballs starts the next attempt at once")
  func failure() throws {
    var order = try make(["::1", "1.1.1.1", "::2"])
    #expect(step(&order, 0) == "::1")
    order.attemptFailed(now: after(10))
    #expect(step(&order, 10) == "1.1.1.1")
    #expect(step(&order, 10) == "wait 260.0")
  }

  @Test(
    "if a connection attempt fails while a later one is in progress, the next attempt starts without a delay")
  func earlyFailure() throws {
    var order = try make(["::1", "1.1.1.1", "::2"])
    #expect(step(&order, 0) == "::1")
    #expect(step(&order, 250) == "1.1.1.1")
    order.attemptFailed(now: after(300))
    #expect(step(&order, 300) == "::2")
  }

  @Test(
    "Happy Eyeballs repeats a postponed connection attempt at its scheduled time, and starts no other attempt before")
  func postponed() throws {
    var order = try make(["::1", "1.1.1.1"])
    #expect(step(&order, 0) == "::1")
    order.attemptPostponed(try #require(SocketAddress(numeric: "::1", port: 80)), until: after(10))
    #expect(step(&order, 9) == "wait 10.0")
    #expect(step(&order, 10) == "::1")
    order.attemptFailed(now: after(11))
    #expect(step(&order, 11) == "1.1.1.1")
    order.attemptFailed(now: after(12))
    #expect(step(&order, 12) == "exhausted")
  }

  @Test("connecting to a host's addresses fails only after every attempt has failed")
  func exhaustion() throws {
    var order = try make(["::1", "1.1.1.1"])
    #expect(step(&order, 0) == "::1")
    #expect(step(&order, 250) == "1.1.1.1")
    #expect(step(&order, 1_000) == "wait")
    order.attemptFailed(now: after(1_000))
    #expect(step(&order, 1_000) == "wait")
    order.attemptFailed(now: after(2_000))
    #expect(step(&order, 2_000) == "exhausted")
    #expect(step(&order, 9_000) == "exhausted")
  }

  @Test("if there are no addresses to try, connecting to a host fails immediately")
  func nothing() throws {
    var order = try make([])
    #expect(step(&order, 0) == "exhausted")
  }

  @Test("of thousands of addresses of a host, Happy Eyeballs tries at most 64")
  func bounded() throws {
    var order = try make((0..<5_000).map { "2001:db8::\(String($0, radix: 16))" })
    var count = 0
    while case .attempt = order.step(now: after(250 * count)) { count += 1 }
    #expect(count == 64)
    #expect(step(&order, 1_000_000) == "wait")
  }

  @Test("addresses whose order was decided elsewhere are tried in that order, whatever their families")
  func inOrder() throws {
    let addresses = try ["::1", "::2", "1.1.1.1"].map { try #require(SocketAddress(numeric: $0, port: 80)) }
    var order = HappyEyeballs(inOrder: addresses, now: Self.start)
    for host in ["::1", "::2", "1.1.1.1"] {
      #expect(step(&order, 0) == host)
      order.attemptFailed(now: after(0))
    }
    #expect(step(&order, 0) == "exhausted")
  }

  @Test("if a connection attempt fails at once, the next attempt starts in the same iteration of the event loop")
  func immediateFailures() throws {
    var order = try make(["::1", "1.1.1.1", "::2"])
    for host in ["::1", "1.1.1.1", "::2"] {
      #expect(step(&order, 0) == host)
      order.attemptFailed(now: after(0))
    }
    #expect(step(&order, 0) == "exhausted")
  }
}
