// ObservingTests: which attempts an engine's observer is notified of, and the fields that it adds.

import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct ObservingTests {
  /// An observer that records attempts and the present numbers of connections.
  private final class TestObserver: EngineObserver, CallObserver {
    struct State {
      var calls = 0
      var attempts: [String] = []
      var numbers = ConnectionNumbers()
      var closed = 0
    }

    final class Attempt: AttemptObserver {
      let fields: Fields
      private let method: String
      private let observer: TestObserver

      init(_ method: String, _ number: Int, _ observer: TestObserver) {
        (self.method, self.observer) = (method, observer)
        fields = ["Attempt": "\(number)", "Content-Length": "9", "Bad\r\nName": "x", "Bad-Value": "x\r\nInjected: y"]
      }

      func attemptEnded(_ outcome: AttemptOutcome) {
        let end = outcome.error.map { "\($0.code)" } ?? outcome.status.map { "\($0)" } ?? "-"
        observer.state.withLock { $0.attempts.append("\(method) \(end)") }
      }
    }

    let state = Mutex(State())
    let observesConnections = true

    func callBegan() -> any CallObserver {
      state.withLock { $0.calls += 1 }
      return self
    }

    func attemptBegan(_ request: EngineRequest, at start: Instant) -> any AttemptObserver {
      Attempt(request.method, state.withLock { $0.attempts.count }, self)
    }

    func redirectFailed(_ error: EngineError) { state.withLock { $0.attempts.append("\(error.code)") } }

    func connectionsChanged(to origin: Origin, by change: ConnectionNumbers) {
      state.withLock { state in
        state.numbers.idle += change.idle
        state.numbers.active += change.active
        state.numbers.opening += change.opening
        state.numbers.waiting += change.waiting
        let numbers = [state.numbers.idle, state.numbers.active, state.numbers.opening, state.numbers.waiting]
        #expect(numbers.allSatisfy { $0 >= 0 })
      }
    }

    func connectionClosed(to origin: Origin, peer: SocketAddress?, after duration: Duration) {
      state.withLock { $0.closed += 1 }
    }
  }

  private let observer = TestObserver()

  private func engine() throws -> Engine {
    var configuration = EngineConfiguration()
    configuration.observer = observer
    configuration.pool.connectionsPerOriginMax = 3
    return try Engine(configuration: configuration)
  }

  @Test("each request on the wire is an attempt, also a replay and a redirect, and belongs to its caller's call")
  func attempts() async throws {
    let heads = Mutex<[Fields]>([])
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        let count = heads.withLock { heads in
          heads.append(request.fields)
          return heads.count
        }
        if count == 2 { return }
        try peer.respond(status: count == 3 ? 302 : 200, fields: ["Location": "/"])
      }
    }
    defer { origin.stop() }
    let engine = try engine()
    let request = EngineRequest(uri: try URI("\(origin.url)/"))
    for _ in 0..<2 { _ = try await engine.collect(request, redirects: RedirectRule()) }
    #expect(observer.state.withLock { $0.attempts } == ["GET 200", "GET connectionLost", "GET 302", "GET 200"])
    #expect(observer.state.withLock { $0.calls } == 2)
    #expect(heads.withLock { $0 }.map { $0.all("Attempt") } == [["0"], ["1"], ["2"], ["3"]])
    for fields in heads.withLock({ $0 }) {
      #expect(!fields.contains("Content-Length") && !fields.contains("Bad-Value") && !fields.contains("Injected"))
    }
  }

  @Test("the changes of the numbers of connections and waiting requests add up to zero when the engine has stopped")
  func connections() async throws {
    let origin = try OriginServer.serving { _ in .text("x") }
    defer { origin.stop() }
    let engine = try engine()
    let request = EngineRequest(uri: try URI("\(origin.url)/"))
    try await withThrowingTaskGroup { group in
      for _ in 0..<repetitions(of: 50) { group.addTask { _ = try await engine.collect(request) } }
      try await group.waitForAll()
    }
    #expect(await settles { observer.state.withLock { $0.numbers.active == 0 && $0.numbers.waiting == 0 } })
    #expect(observer.state.withLock { $0.numbers.idle } > 0)
    await engine.shutdown()
    #expect(observer.state.withLock { $0.numbers } == ConnectionNumbers())
    #expect(1...3 ~= observer.state.withLock { $0.closed })
  }

  @Test("a refused request is one attempt, and a raw request gets no fields")
  func unusual() async throws {
    let head = Mutex("")
    let origin = try OriginServer { peer in
      guard let request = try peer.readRequest() else { return }
      head.withLock { $0 = String(decoding: request.rawHead, as: UTF8.self) }
      try peer.respond()
    }
    defer { origin.stop() }
    let engine = try engine()
    let uri = try URI("\(origin.url)/")
    _ = try await engine.send(RawRequest(to: uri.origin, Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)))
    #expect(head.withLock { $0 } == "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    await #expect(throws: EngineError.self) { try await engine.collect(EngineRequest(method: "G T", uri: uri)) }
    await engine.shutdown()
    await #expect(throws: EngineError.self) { try await engine.collect(EngineRequest(uri: uri)) }
    #expect(observer.state.withLock { $0.attempts } == ["GET 200", "G T invalidRequest", "GET shutDown"])
  }
}
