// PollerTests: events of epoll for real descriptors.

import Glibc
import LupineReactor
import Testing

@Suite("Poller")
struct PollerTests {
  /// Returns the sockets that the poller reports as ready, as their tokens with flags: "7r" (readable), "7w" (writable) or "7rw".
  private func ready(_ poller: inout Poller) throws -> Set<String> {
    var events: [Poller.Event] = []
    try poller.wait(until: .now, now: .now, into: &events)
    return Set(events.map { "\($0.token)\($0.isReadable ? "r" : "")\($0.isWritable ? "w" : "")" })
  }

  @Test("the poller reports a descriptor as readable exactly when it has received bytes")
  func readable() throws {
    var poller = try Poller()
    let pair = try SocketPair()
    try poller.add(pair.first, .readable, token: 7)
    #expect(try ready(&poller).isEmpty)
    pair.write()
    #expect(try ready(&poller) == ["7r"])
    #expect(try ready(&poller) == ["7r"], "events are level-triggered: reported again while bytes are left")
    pair.drain()
    #expect(try ready(&poller).isEmpty)
  }

  @Test("the poller reports a descriptor as writable unless the descriptor's send buffer is full")
  func writable() throws {
    var poller = try Poller()
    let pair = try SocketPair()
    try poller.add(pair.second, .writable, token: 8)
    #expect(try ready(&poller) == ["8w"])
    let bytes = [UInt8](repeating: 1, count: 65_536)
    while write(pair.second, bytes, bytes.count) > 0 {}
    #expect(try ready(&poller).isEmpty)
    pair.drain()
    #expect(try ready(&poller) == ["8w"])
  }

  @Test("a single wait of the poller reports every ready descriptor exactly once")
  func many() throws {
    var poller = try Poller(batchMax: 2)
    let pairs = try (0..<20).map { _ in try SocketPair() }
    // Keeps the sockets open. An optimized build would close them after their last use.
    defer { withExtendedLifetime(pairs) {} }
    for (index, pair) in pairs.enumerated() {
      pair.write()
      try poller.add(pair.first, .readable, token: UInt64(index))
    }
    for _ in 0..<2 {
      var events: [Poller.Event] = []
      try poller.wait(until: .now, now: .now, into: &events)
      #expect(events.map(\.token).sorted() == Array(0..<20))
    }
  }

  @Test("the events that the poller watches a descriptor for can be changed, even to none")
  func modify() throws {
    var poller = try Poller()
    let pair = try SocketPair()
    pair.write()
    try poller.add(pair.first, .readable, token: 1)
    try poller.modify(pair.first, .writable, token: 2)
    #expect(try ready(&poller) == ["2w"])
    try poller.modify(pair.first, [.readable, .writable], token: 3)
    #expect(try ready(&poller) == ["3rw"])
    try poller.modify(pair.first, [], token: 4)
    #expect(try ready(&poller).isEmpty)
  }

  @Test("the poller reports a peer's disconnection, whatever events the descriptor is watched for")
  func hangUp() throws {
    var poller = try Poller()
    let pair = try SocketPair()
    try poller.add(pair.first, [], token: 5)
    #expect(try ready(&poller).isEmpty)
    shutdown(pair.second, CInt(SHUT_RDWR))
    #expect(try ready(&poller) == ["5rw"])
  }

  @Test("after a descriptor is closed, the poller reports only the token of a new descriptor with the same number")
  func staleTokens() throws {
    // Descriptor numbers this high aren't reused by other tests in the meantime. Some of these tests have thousands of connections.
    var limit = rlimit()
    try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    let lowest = CInt(clamping: limit.rlim_cur) - 64
    var poller = try Poller()
    var number: CInt = -1
    for token in [1, 2, 3] as [UInt64] {
      do {
        let pair = try SocketPair()
        // Close-on-exec, because a process started by another test would keep the descriptor open.
        let own = fcntl(pair.first, F_DUPFD_CLOEXEC, lowest)
        try #require(own >= lowest && (number < 0 || own == number))
        number = own
        pair.write()
      }
      try poller.add(number, .readable, token: token)
      #expect(try ready(&poller).filter { $0.hasPrefix("\(token)") }.count == 1)
      close(number)
      // A process that another test starts has a copy of the descriptor until it executes its program.
      let deadline = Instant.now + .seconds(60)
      var isQuiet = try ready(&poller).isEmpty
      while !isQuiet, Instant.now < deadline {
        sched_yield()
        isQuiet = try ready(&poller).isEmpty
      }
      #expect(isQuiet)
    }
  }

  @Test("waiting for the poller's events appends the events to the given array")
  func appends() throws {
    var poller = try Poller()
    let pair = try SocketPair()
    pair.write()
    try poller.add(pair.first, .readable, token: 9)
    var events: [Poller.Event] = []
    try poller.wait(until: nil, now: .now, into: &events)
    try poller.wait(until: nil, now: .now, into: &events)
    #expect(events.map(\.token) == [9, 9])
  }

  @Test(
    "the poller's wait for events ends no earlier than the deadline if there are no events",
    arguments: [1, 300, 1_001, 2_500])
  func deadline(microseconds: Int) throws {
    var poller = try Poller()
    let now = Instant.now
    let deadline = now + .microseconds(microseconds)
    var events: [Poller.Event] = []
    try poller.wait(until: deadline, now: now, into: &events)
    // A signal may end a wait early, but no test sends one.
    #expect(Instant.now >= deadline)
    #expect(events.isEmpty)
  }

  @Test("the largest possible instant is a valid deadline for the poller")
  func farDeadline() throws {
    var poller = try Poller()
    let pair = try SocketPair()
    pair.write()
    try poller.add(pair.first, .readable, token: 3)
    var events: [Poller.Event] = []
    try poller.wait(until: Instant(nanoseconds: .max), now: Instant(nanoseconds: 0), into: &events)
    #expect(events.map(\.token) == [3])
  }

  @Test("if the poller can't watch a descriptor, the error contains the name of the system call")
  func errors() throws {
    let poller = try Poller()
    let pair = try SocketPair()
    try poller.add(pair.first, .readable, token: 1)
    // The macro's closure can't capture a noncopyable poller.
    var codes: [SystemError] = []
    do { try poller.add(pair.first, .readable, token: 2) } catch { codes.append(error) }
    do { try poller.modify(pair.second, .readable, token: 2) } catch { codes.append(error) }
    #expect(codes == [SystemError(call: "epoll_ctl", code: EEXIST), SystemError(call: "epoll_ctl", code: ENOENT)])
  }
}
