// TraceTests: the events that a tracer receives, tasks on a loop's executor, and origins served by several loops.

import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@Suite("Tracing, and the use of event loops", .timeLimit(.minutes(10)))
struct TraceTests {
  /// Returns a trace event's name, followed by its most important value.
  private static func name(_ kind: TraceEvent.Kind) -> String {
    switch kind {
    case .exchangeStarted(_, let method, _): "exchangeStarted \(method)"
    case .exchangeWaits: "exchangeWaits"
    case .connectionStarted: "connectionStarted"
    case .hostResolved(_, let host, _): "hostResolved \(host)"
    case .addressTried: "addressTried"
    case .addressFailed: "addressFailed"
    case .tunnelOpened: "tunnelOpened"
    case .handshakeDone(_, let tls): "handshakeDone \(tls.applicationProtocol ?? "-")"
    case .connectionOpened: "connectionOpened"
    case .connectionFailed: "connectionFailed"
    case .requestStarted(_, _, let isReused): "requestStarted \(isReused)"
    case .requestSent: "requestSent"
    case .headReceived(_, let status): "headReceived \(status)"
    case .exchangeRestarted: "exchangeRestarted"
    case .exchangeEnded(_, let error): "exchangeEnded \(error?.code.rawValue ?? "well")"
    case .connectionClosed(_, let reason): "connectionClosed \(reason.rawValue)"
    }
  }

  @Test("the engine calls a tracer with each step of two requests on one connection, in order")
  func steps() async throws {
    let identity = try ServerIdentity.throwaway()
    let origin = try OriginServer(tls: identity) { peer in
      while let request = try peer.readRequest() {
        if request.path == "/hints" { try peer.send("HTTP/1.1 103 Early Hints\r\n\r\n") }
        let isLast = request.path == "/hints"
        try peer.respond(fields: isLast ? ["Connection": "close"] : [:])
      }
    }
    defer { origin.stop() }
    let events = Mutex<[String]>([])
    let closed = Gate()
    var configuration = EngineConfiguration()
    configuration.tls = TLSConfiguration(trustRoots: [.pem(identity.authorityPEM)])
    // On some machines, localhost also has the address ::1, which would add events.
    let address = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
    configuration.resolver.overrides = [HostOverride(host: "localhost", addresses: [address])]
    configuration.tracer = { event in
      let name = Self.name(event.kind)
      events.withLock { $0.append(name) }
      if name.hasPrefix("connectionClosed") { closed.open() }
    }
    let engine = try Engine(configuration: configuration)
    _ = await engine.record(EngineRequest(method: "HEAD", uri: try URI("\(origin.url)/")))
    _ = try await engine.record("\(origin.url)/hints")
    await closed.wait()
    let heard = events.withLock { $0 }
    #expect(
      heard == [
        "exchangeStarted HEAD", "connectionStarted", "hostResolved localhost", "addressTried",
        "handshakeDone http/1.1", "connectionOpened", "requestStarted false", "requestSent", "headReceived 200",
        "exchangeEnded well",
        "exchangeStarted GET", "requestStarted true", "requestSent", "headReceived 103", "headReceived 200",
        "connectionClosed serverAskedForClose", "exchangeEnded well",
      ])
  }

  @Test("a task on an event loop's executor stays on the loop's thread during its requests")
  func executor() async throws {
    let origin = try OriginServer.serving { _ in .text("x") }
    defer { origin.stop() }
    let engine = try Engine()
    let uri = try URI("\(origin.url)/")
    let threads = try await withTaskExecutorPreference(engine.executor(for: uri.origin)) {
      var threads: Set<UInt> = []
      for _ in 0..<10 {
        let response = try await engine.collect(EngineRequest(uri: uri))
        #expect(response.head.status == 200)
        threads.insert(currentThread())
      }
      return threads
    }
    #expect(threads.count == 1)
    #expect(threads.first != currentThread())
  }

  @Test("the requests to an origin may use several event loops, each with its own connections")
  func severalLoops() async throws {
    let origin = try OriginServer.serving { _ in .text("x") }
    defer { origin.stop() }
    let loops = Mutex<Set<Int>>([])
    var configuration = EngineConfiguration()
    configuration.loopCount = 3
    configuration.loopsPerOrigin = 2
    configuration.tracer = { event in loops.withLock { _ = $0.insert(event.loop) } }
    let engine = try Engine(configuration: configuration)
    for _ in 0..<10 { #expect(try await engine.record(origin.url).text == "x") }
    #expect(loops.withLock { $0.count } == 2)
    #expect(origin.connectionCount == 2)
  }
}
