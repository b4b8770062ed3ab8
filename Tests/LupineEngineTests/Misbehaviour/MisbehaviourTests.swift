// MisbehaviourTests: runs every misbehavior of the tables against the engine over sockets. Each has its expected
// outcome, the exchange ends exactly once, its connection is kept or closed as expected, and the next request succeeds.

import Dispatch
import Glibc
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineReactor
import LupineTLS
import LupineTestSupport
import Synchronization
import Testing

@Suite("A peer that misbehaves", .timeLimit(.minutes(10)))
struct MisbehaviourTests {
  static let all =
    Misbehaviour.connecting + Misbehaviour.requests + Misbehaviour.heads + Misbehaviour.framings
    + Misbehaviour.chunks + Misbehaviour.codings + Misbehaviour.persistence + Misbehaviour.stalls
    + Misbehaviour.connectProxies + Misbehaviour.socksProxies
  static let alsoTLS = all.filter { $0.way == .clear && !$0.isForClearOnly }

  static let tried = all.filter { $0.name == testsArgument ?? $0.name }
  /// The misbehaviors that are tested over TLS: all of them, but only every n-th one under a sanitizer, where hundreds of
  /// handshakes take minutes.
  static let triedThroughTLS = stride(from: 0, to: alsoTLS.count, by: testsDivisor).map { alsoTLS[$0] }
    .filter { $0.name == testsArgument ?? $0.name }

  @Test("the test tables of server misbehaviors have at least 100 rows, whose names are unique")
  func tables() {
    #expect(Self.all.count >= 100)
    #expect(Self.alsoTLS.count >= 100)
    #expect(Set(Self.all.map(\.name)).count == Self.all.count)
  }

  @Test(
    "each server misbehavior causes its expected outcome exactly once, and the client's next request succeeds",
    arguments: tried
  )
  func direct(_ misbehaviour: Misbehaviour) async throws {
    try await Stage.inTurn { try await Stage(misbehaviour, through: misbehaviour.way).play() }
  }

  @Test("connecting to a server whose backlog is full times out")
  func fullBacklog() async throws {
    let listener = try Socket.listenOnLoopback(backlog: 0)
    let url = "http://\(try #require(listener.localAddress))"
    var configuration = EngineConfiguration()
    configuration.proxy = .none
    let engine = try Engine(configuration: configuration)
    // The kernel completes the first connection without accept, and keeps the next ones waiting.
    for phase in [Phase.firstByte, .connect, .connect] {
      var request = EngineRequest(uri: try URI("\(url)/"))
      request.timeouts.firstByte = .milliseconds(30)
      request.timeouts.connect = .milliseconds(30)
      let error = await engine.record(request).error
      #expect(error?.code == .timedOut)
      #expect(error?.phase == phase)
      #expect(error?.description.isOneLine(at: url) == true)
    }
    _ = try listener.accept()
    let next = RecordingSink()
    engine.submit(EngineRequest(uri: try URI("\(url)/next")), to: next)
    let peer = try listener.accept()
    var buffer = [UInt8](repeating: 0, count: 1000)
    _ = try peer.receive(into: &buffer, from: 0)
    _ = try peer.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8), from: 0)
    #expect(await next.outcome.text == "ok")
  }

  @Test("each server misbehavior over TLS causes the same outcome as without TLS", arguments: triedThroughTLS)
  func throughTLS(_ misbehaviour: Misbehaviour) async throws {
    try await Stage.inTurn { try await Stage(misbehaviour, through: .tls).play() }
  }
}

/// A server or proxy with one misbehavior, and the engine that sends requests to it.
private struct Stage {
  /// Limits the number of misbehaviors that are tested concurrently, because each needs four threads and ten descriptors.
  private static let places = Places(16)
  /// The time limit in seconds for operations that take almost no time on loopback.
  private static let patience = 30.0

  let misbehaviour: Misbehaviour
  let way: Misbehaviour.Way
  let origin: OriginServer
  let engine: Engine
  /// This gate opens when the client has closed the connection on which the peer misbehaved.
  let left: Gate
  /// This gate opens when the first request has ended, so that its connection is idle.
  let rested: Gate

  init(_ misbehaviour: Misbehaviour, through way: Misbehaviour.Way) throws {
    self.misbehaviour = misbehaviour
    self.way = way
    let identity = try TestAuthority.identity()
    let (left, rested) = (Gate(), Gate())
    (self.left, self.rested) = (left, rested)
    origin = try OriginServer { peer in
      if peer.connectionIndex >= misbehaviour.connectionCount {
        try peer.open(way, identity)
        return try peer.behave()
      }
      do {
        try peer.misbehave(misbehaviour, way, identity, whenIdle: rested)
      } catch OriginError.stopped {
        // The client kept its connection open until the end of the test.
      } catch {
        left.open()
      }
    }
    var configuration = EngineConfiguration()
    configuration.tls.trustRoots = [.pem(identity.authorityPEM)]
    configuration.proxy =
      switch way {
      case .clear, .tls: .none
      case .forward, .connect: .fixed(try Proxy(.http, host: "127.0.0.1", port: origin.port))
      case .socks: .fixed(try Proxy(.socks5h, host: "127.0.0.1", port: origin.port))
      }
    misbehaviour.configure(&configuration)
    engine = try Engine(configuration: configuration)
  }

  static func inTurn(_ body: () async throws -> Void) async throws {
    await places.enter()
    defer { Task { await places.leave() } }
    try await body()
  }

  func play() async throws {
    defer { origin.stop() }
    if [.used, .idle].contains(misbehaviour.stage) {
      #expect(await engine.record(try request("first")).text == "clean first")
    }
    rested.open()
    if misbehaviour.stage == .idle { await awaitLeft() }
    var main = try request("main")
    misbehaviour.prepare(&main)
    let sink = RecordingSink()
    engine.submit(main, to: sink)
    let record = await sink.outcome
    let fate = check(record)
    if fate == .closed, record.error == nil, record.head?.fields.list("Connection") == "close" {
      // Otherwise the client would keep the connection, and the test would wait for its end until the time limit.
      try #require(record.metrics?.closeReason != nil, "the client keeps the connection")
    }
    if fate == .closed { await awaitLeft() }
    try await checkNext(fate)
    #expect(await sink.outcome.finishCount == 1)
  }

  /// Waits until the client closes a connection that it must not reuse, although the peer keeps the connection open. Records an
  /// issue after 30 s.
  private func awaitLeft() async {
    guard misbehaviour.showsClosing else { return }
    let over = Gate()
    let waiting = Task { [left] in
      await left.wait()
      over.open()
    }
    // Without this limit, a client that doesn't close the connection would use up the time limit of all tests.
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { over.open() }
    await over.wait()
    waiting.cancel()
    #expect(left.isOpen, "the client didn't close its connection")
  }

  private func check(_ record: RecordingSink.Record) -> Misbehaviour.Fate {
    switch misbehaviour.outcome {
    case .response(let status, let body, let fate):
      #expect(record.error == nil)
      #expect(record.head?.status == status)
      #expect(record.text == body)
      #expect(record.trailers != nil)
      return fate
    case .error(let codes, let phases):
      guard let error = record.error else {
        Issue.record("a response in place of an error: \(record.head?.status ?? 0) \(record.text.prefix(100))")
        return .closed
      }
      #expect(codes.contains(error.code), "\(error.code): \(error)")
      #expect(phases.contains(error.phase), "\(error.phase): \(error)")
      #expect(error.wasReused == (misbehaviour.stage == .used))
      if [.connect, .proxy, .tls].contains(error.phase) { #expect(error.progress == .nothingSent) }
      if error.phase == .receive { #expect(error.progress == .responseBegan) }
      #expect(error.description.isOneLine(at: place), "\(error)")
      #expect(error.description.contains(misbehaviour.quote), "\(error)")
      #expect(record.trailers == nil)
      return .closed
    }
  }

  private func checkNext(_ fate: Misbehaviour.Fate) async throws {
    var next = try request("next")
    next.timeouts.total = .seconds(Self.patience)
    let record = await engine.record(next)
    #expect(record.error == nil)
    #expect(record.head?.status == 200)
    #expect(record.text == "clean next")
    #expect(record.informational.isEmpty)
    #expect(record.trailers?.isEmpty == true)
    #expect(record.finishCount == 1)
    #expect(record.metrics?.replayCount == 0)
    #expect(record.metrics?.isReusedConnection == (fate != .closed))
    #expect(origin.connectionCount == misbehaviour.connectionCount + (fate == .kept ? 0 : 1))
  }

  private func request(_ path: String) throws -> EngineRequest {
    EngineRequest(uri: try URI("\(originURL)/\(path)"))
  }

  /// The scheme, host and port of the requested URL. If the peer is a proxy, nothing listens there, and the proxy answers instead.
  private var originURL: String {
    switch way {
    case .clear: "http://127.0.0.1:\(origin.port)"
    case .tls: "https://127.0.0.1:\(origin.port)"
    case .forward, .socks: "http://127.0.0.1:9"
    case .connect: "https://127.0.0.1:9"
    }
  }

  /// The URL or proxy with which the error's description must begin.
  private var place: String {
    switch way {
    case .clear, .tls: originURL
    case .forward, .connect: "\(originURL) through http://127.0.0.1:\(origin.port)"
    case .socks: "\(originURL) through socks5h://127.0.0.1:\(origin.port)"
    }
  }
}

extension Peer {
  /// Performs the peer's side of the TLS or proxy handshake, before the first request.
  fileprivate func open(_ way: Misbehaviour.Way, _ identity: ServerIdentity) throws {
    switch way {
    case .clear, .forward: break
    case .tls: try startTLS(identity)
    case .connect:
      guard try readHead() != nil else { throw OriginError.truncatedRequest }
      try send("HTTP/1.1 200 Connection established\r\n\r\n")
      try startTLS(identity)
    case .socks:
      _ = try receive()
      try send([5, 0])
      _ = try receive()
      try send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    }
  }

  /// Answers all requests on the connection correctly.
  fileprivate func behave() throws {
    try serve { .text("clean \($0.target.split(separator: "/").last ?? "")") }
  }

  /// Runs the misbehavior on this connection. Returns when the client closes the connection, or when the peer can't detect that.
  fileprivate func misbehave(
    _ misbehaviour: Misbehaviour, _ way: Misbehaviour.Way, _ identity: ServerIdentity, whenIdle rested: Gate
  ) throws {
    if misbehaviour.stage != .connected { try open(way, identity) }
    if [.used, .idle].contains(misbehaviour.stage) {
      guard try readRequest() != nil else { throw OriginError.truncatedRequest }
      try respond(body: Array("clean first".utf8))
    }
    // Earlier, the script's bytes would arrive together with the first response.
    if misbehaviour.stage == .idle { try wait(for: rested) }
    try misbehaviour.script(self)
    switch misbehaviour.ending {
    case .serves:
      if misbehaviour.stage == .connected { try startInner(way, identity) }
      try behave()
    case .resets: reset()
    case .gone: break
    case .closes, .holds:
      if misbehaviour.ending == .closes { finishSending() }
      let ending = try awaitClose()
      // The caller treats this error as a close by the client.
      throw ending.cause == .stopped ? OriginError.stopped : OriginError.closed
    }
  }

  /// Starts TLS as the origin, in the tunnel that a script has opened as a proxy.
  private func startInner(_ way: Misbehaviour.Way, _ identity: ServerIdentity) throws {
    if way == .connect { try startTLS(identity) }
  }
}

/// A counting semaphore for tasks, which admits them in the order of their arrival.
private actor Places {
  private var freeCount: Int
  private var waiters: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { freeCount = count }

  func enter() async {
    if freeCount > 0 {
      freeCount -= 1
    } else {
      await withCheckedContinuation { waiters.append($0) }
    }
  }

  func leave() {
    if waiters.isEmpty { freeCount += 1 } else { waiters.removeFirst().resume() }
  }
}
