// ShardLimitTests: time limits and cancellation of a shard whose peers stall in each phase. The clock is virtual.

import LupineOrigin
import LupineReactor
import LupineWire
import Synchronization
import Testing

@testable import LupineEngine

@Suite("An event loop whose peer stalls", .timeLimit(.minutes(10)))
struct ShardLimitTests {
  private static let limit = Duration.seconds(5)

  /// The phase of a request in which its peer, or the resolver, stops responding.
  enum Stall: CaseIterable {
    case poolWait, resolve, resolveProxy, resolveForSOCKS, connect, connectProxy, connectTunnel, socks, tls, tlsInTunnel
    case send, firstByte, afterInterim, head, body

    var phase: Phase {
      switch self {
      case .poolWait: .poolWait
      case .resolve, .resolveProxy, .resolveForSOCKS: .resolve
      case .connect, .connectProxy: .connect
      case .connectTunnel, .socks: .proxy
      case .tls, .tlsInTunnel: .tls
      case .send: .send
      case .firstByte, .afterInterim: .firstByte
      case .head, .body: .receive
      }
    }

    fileprivate var uri: String {
      switch self {
      case .resolve, .resolveForSOCKS: "http://silent.example/"
      case .tls, .connectTunnel, .tlsInTunnel: "https://127.0.0.1/"
      default: "http://127.0.0.1/"
      }
    }

    fileprivate func proxy() throws -> ProxySettings {
      switch self {
      case .resolveProxy: .fixed(try Proxy("http://silent.example:3128"))
      case .connectProxy, .connectTunnel, .tlsInTunnel: .fixed(try Proxy("http://127.0.0.1:3128"))
      case .socks, .resolveForSOCKS: .fixed(try Proxy("socks5://127.0.0.1:1080"))
      default: .none
      }
    }

    /// The bytes that the peer sends, once it has received something, before it stalls.
    fileprivate var reply: String? {
      switch self {
      case .tlsInTunnel: "HTTP/1.1 200 Connection established\r\n\r\n"
      case .afterInterim: "HTTP/1.1 103 Early Hints\r\n\r\n"
      case .head: "HTTP/1.1 200 OK\r\nContent-Le"
      case .body: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirst"
      default: nil
      }
    }
  }

  private struct SilentResolver: HostResolver {
    func addresses(of host: String) async throws(ResolveError) -> [SocketAddress] {
      // Waits until the task is cancelled.
      for await _ in AsyncStream<Never>.makeStream().stream {}
      return []
    }
  }

  /// A request whose peer has just stalled. Sending the request and receiving the first part of the reply took 3 s each.
  private struct Stalled {
    let stage: ShardStage
    let id: ExchangeID
    let sink: RecordingSink

    init(_ stall: Stall, _ timeouts: Timeouts) throws {
      stage = try ShardStage(proxy: stall.proxy()) {
        $0.tls.verification = .none
        $0.pool.connectionsPerOriginMax = 1
        $0.resolver.resolver = SilentResolver()
      }
      var request = EngineRequest(uri: try URI(stall.uri))
      request.timeouts = Timeouts(everyPhase: nil, total: nil)
      if stall == .poolWait {
        _ = stage.submit(request)
        stage.turn()
      }
      request.timeouts = timeouts
      if stall == .send { (request.method, request.body) = ("POST", RequestBody([UInt8](repeating: 46, count: 1_000))) }
      (id, sink) = stage.submit(request)
      stage.turn()
      guard ![.poolWait, .resolve, .connect].contains(stall.phase) else { return }
      let socket = try #require(stage.network.sockets.last)
      if stall == .send { socket.roomBytes = 10 }
      stage.turn(after: .seconds(3), socket)
      try #require(!socket.sent.isEmpty)
      if let reply = stall.reply {
        socket.arrivals = [.bytes(Array(reply.utf8))]
        stage.turn(after: .seconds(3), socket)
        socket.arrivals = []
      }
    }
  }

  /// Returns timeouts with a limit of 5 s for one phase, and of 600 s for each other phase.
  private func timeouts(_ phase: Phase) -> Timeouts {
    var timeouts = Timeouts(everyPhase: .seconds(600), total: nil)
    switch phase {
    case .setup, .awaitContinue: break
    case .poolWait: timeouts.poolWait = Self.limit
    case .resolve: timeouts.resolve = Self.limit
    case .connect: timeouts.connect = Self.limit
    case .proxy: timeouts.proxy = Self.limit
    case .tls: timeouts.tls = Self.limit
    case .send: timeouts.send = Self.limit
    case .firstByte: timeouts.firstByte = Self.limit
    case .receive: timeouts.idle = Self.limit
    }
    return timeouts
  }

  @Test("a request whose server stalls fails exactly at the time limit of its phase", arguments: Stall.allCases)
  func limits(stall: Stall) async throws {
    let stalled = try Stalled(stall, timeouts(stall.phase))
    stalled.stage.turn(after: Self.limit - .milliseconds(1))
    #expect(!stalled.sink.finished.isOpen)
    stalled.stage.turn(after: .milliseconds(1))
    try #require(stalled.sink.finished.isOpen)
    let outcome = await stalled.sink.outcome
    #expect(outcome.error?.code == .timedOut && outcome.error?.phase == stall.phase && outcome.finishCount == 1)
    guard case .limit(Self.limit) = outcome.error?.cause else {
      Issue.record("The request ended with \(String(describing: outcome.error))")
      return
    }
  }

  @Test(
    "the lookup of a host ends after 60 s, even if the request permits more time or has no limit",
    arguments: [nil, .seconds(600)] as [Duration?])
  func lookup(limit: Duration?) async throws {
    let stalled = try Stalled(.resolve, Timeouts(everyPhase: limit, total: nil))
    stalled.stage.turn(after: Duration.seconds(60) - .milliseconds(1))
    #expect(!stalled.sink.finished.isOpen)
    stalled.stage.turn(after: .milliseconds(1))
    try #require(stalled.sink.finished.isOpen)
    let error = await stalled.sink.outcome.error
    #expect(error?.code == .timedOut && error?.phase == .resolve)
  }

  @Test("a request whose server stalls fails at the total time limit, whatever its phase", arguments: Stall.allCases)
  func total(stall: Stall) async throws {
    let stalled = try Stalled(stall, Timeouts(everyPhase: nil, total: .seconds(50)))
    let rest = Instant(nanoseconds: 50_000_000_000) - stalled.stage.network.now
    stalled.stage.turn(after: rest - .milliseconds(1))
    #expect(!stalled.sink.finished.isOpen)
    stalled.stage.turn(after: .milliseconds(1))
    try #require(stalled.sink.finished.isOpen)
    let error = await stalled.sink.outcome.error
    #expect(error?.code == .timedOut && error?.phase == stall.phase)
    guard case .totalLimit(.seconds(50)) = error?.cause else {
      Issue.record("The request ended with \(String(describing: error))")
      return
    }
  }

  @Test("a request without time left fails before anything is sent", arguments: [Duration.zero, .seconds(-1)])
  func noTimeLeft(total: Duration) async throws {
    let stage = ShardStage()
    let (_, sink) = stage.submit(
      EngineRequest(uri: try URI("http://127.0.0.1/"), timeouts: Timeouts(everyPhase: nil, total: total)))
    stage.turn()
    try #require(sink.finished.isOpen)
    let error = await sink.outcome.error
    #expect(error?.code == .timedOut && error?.phase == .setup && error?.progress == .nothingSent)
    #expect(error?.description.contains("no time was left for the request") == true)
    #expect(stage.network.sockets.isEmpty)
  }

  @Test("a cancelled request ends immediately, whatever its phase", arguments: Stall.allCases)
  func cancellation(stall: Stall) async throws {
    let stalled = try Stalled(stall, Timeouts(everyPhase: nil, total: nil))
    stalled.stage.inbox.send(.cancel(stalled.id))
    stalled.stage.turn()
    try #require(stalled.sink.finished.isOpen)
    let outcome = await stalled.sink.outcome
    #expect(outcome.error?.code == .cancelled && outcome.error?.phase == stall.phase && outcome.finishCount == 1)
    // In poolWait, the exchange that uses the only connection continues.
    #expect(stalled.stage.shard.exchanges.isEmpty == (stall != .poolWait))
    if stall != .poolWait {
      #expect(stalled.stage.shard.connections.pooled.isEmpty && stalled.stage.shard.openings.isEmpty)
    }
  }

  /// How a request stops waiting for the lookup of its host.
  enum Departure: CaseIterable {
    case cancellation, timeout, none
  }

  @Test("a queued host lookup is dropped after its request was cancelled or timed out", arguments: Departure.allCases)
  func queuedLookup(departure: Departure) throws {
    let queue = Mutex<[NameService.Start]>([])
    let resolver = NameService(ResolverConfiguration()) { _, start, _ in
      queue.withLock { $0.append(start) }
      return {}
    }
    let stage = ShardStage(resolver: resolver)
    var request = EngineRequest(uri: try URI("http://silent.example/"))
    request.timeouts = timeouts(.resolve)
    let (id, sink) = stage.submit(request)
    stage.turn()
    switch departure {
    case .cancellation: stage.inbox.send(.cancel(id))
    case .timeout: stage.turn(after: Self.limit)
    case .none: break
    }
    stage.turn()
    #expect(sink.finished.isOpen == (departure != .none))
    let first = queue.withLock { $0.first }
    let start = try #require(first)
    #expect(start() == (departure == .none))
    withExtendedLifetime(stage) {}
  }

  /// Expects that the request fails when the 5 s limit of the phase has passed from now, and not a millisecond earlier.
  private func expectTimeout(of stalled: Stalled, in phase: Phase) async throws {
    stalled.stage.turn(after: Self.limit - .milliseconds(1))
    #expect(!stalled.sink.finished.isOpen)
    stalled.stage.turn(after: .milliseconds(1))
    try #require(stalled.sink.finished.isOpen)
    #expect(await stalled.sink.outcome.error?.phase == phase)
  }

  @Test("the idle time limit is measured from the last byte received from the peer")
  func latestByte() async throws {
    let stalled = try Stalled(.body, timeouts(.receive))
    let socket = try #require(stalled.stage.network.sockets.last)
    for _ in 0..<3 {
      socket.arrivals = [.bytes([46])]
      stalled.stage.turn(after: .seconds(4), socket)
    }
    try await expectTimeout(of: stalled, in: .receive)
  }

  @Test("the send time limit is measured from the last byte accepted by the peer")
  func latestSentByte() async throws {
    let stalled = try Stalled(.send, timeouts(.send))
    let socket = try #require(stalled.stage.network.sockets.last)
    for _ in 0..<3 {
      socket.roomBytes = 10
      stalled.stage.turn(after: .seconds(4), socket)
    }
    try await expectTimeout(of: stalled, in: .send)
  }

  @Test("a request waits if its host lookup fails because no descriptor is free, and is sent after a later lookup")
  func lookupWithoutDescriptors() async throws {
    let answers = Mutex<[NameService.Answer]>([
      .failure(ResolveError(.outOfResources, "Too many open files")),
      .success([SocketAddress(numeric: "10.0.0.1", port: 0)].compactMap(\.self)),
    ])
    let resolver = NameService(ResolverConfiguration()) { _, _, completion in
      completion(answers.withLock { $0.removeFirst() })
      return {}
    }
    let stage = ShardStage(resolver: resolver)
    let (_, sink) = stage.submit(EngineRequest(uri: try URI("http://name.example/")))
    for _ in 0..<2 { stage.turn() }
    #expect(!sink.finished.isOpen && stage.network.sockets.isEmpty)
    stage.turn(after: PoolLimits.descriptorRetryMin)
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    socket.arrivals = [.bytes(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))]
    stage.turn(socket)
    #expect(await sink.outcome.head?.status == 204)
  }

  @Test(
    "each phase of a request has its own time limit, and one value can set all limits except that for 100 (Continue)"
  )
  func timeouts() {
    var timeouts = Timeouts()
    (timeouts.poolWait, timeouts.resolve, timeouts.connect) = (.seconds(1), .seconds(2), .seconds(3))
    (timeouts.proxy, timeouts.tls, timeouts.send) = (.seconds(4), .seconds(5), .seconds(6))
    (timeouts.awaitContinue, timeouts.firstByte, timeouts.idle) = (.seconds(7), .seconds(8), .seconds(9))
    let limits = Phase.allCases.map { timeouts.limit(of: $0) }
    #expect(limits == [nil] + (1...9).map { .seconds($0) })
    let equal = Timeouts(everyPhase: .seconds(20), total: .seconds(30))
    for phase in Phase.allCases where phase != .setup {
      #expect(equal.limit(of: phase) == (phase == .awaitContinue ? .seconds(1) : .seconds(20)), "\(phase)")
    }
    #expect(equal.total == .seconds(30))
  }
}
