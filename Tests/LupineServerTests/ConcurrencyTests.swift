// ConcurrencyTests: many concurrent requests, to several servers, and ten thousand to one.

import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@Suite("Many concurrent requests", .timeLimit(.minutes(10)))
struct ConcurrencyTests {
  @Test("1,000 requests to four servers, 64 at a time, each receive the right response")
  func mixed() async throws {
    let engine = try Engine.forServers { $0.loopCount = 2 }
    let servers = [Server.nginx, .apache, .caddy, .httpbin]
    for server in servers { try server.require() }
    let workerCount = 64
    let metrics = try await withThrowingTaskGroup(of: [ExchangeMetrics].self) { group in
      for worker in 0..<workerCount {
        group.addTask {
          var metrics: [ExchangeMetrics] = []
          for number in stride(from: worker, to: 1000, by: workerCount) {
            // Each worker sends its requests to the servers in turn.
            let server = servers[(worker + number / workerCount) % servers.count]
            metrics.append(try await Self.ask(server, number, engine))
          }
          return metrics
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(metrics.count == 1000)
    for server in servers {
      let own = metrics.filter { $0.remoteAddress?.port == server.rawValue }
      #expect(own.count == 250)
      #expect(own.count { !$0.isReusedConnection } <= workerCount, "\(server)")
    }
  }

  /// Sends a request whose response depends on `number`, checks the response, and returns the metrics.
  private static func ask(_ server: Server, _ number: Int, _ engine: Engine) async throws -> ExchangeMetrics {
    let text = TextPage.bytes
    let response: CollectedResponse
    switch (server, number % 3) {
    case (.httpbin, _):
      response = try await engine.collect(
        server, "/anything/\(number)", method: "POST", fields: ["Content-Type": "text/plain"],
        body: RequestBody("body \(number)"))
      #expect(response.text.contains("\"data\": \"body \(number)\""))
      #expect(response.text.contains("/anything/\(number)\""))
    case (.apache, 0):
      response = try await engine.collect(
        server, "/count", method: "POST", body: RequestBody([UInt8](repeating: 1, count: number)))
      #expect(response.text == "POST \(number) length=\(number) coding=\n")
    case (_, 1):
      response = try await engine.collect(server, "/text.txt", fields: ["Accept-Encoding": "gzip"])
      #expect(response.body == text)
    default:
      response = try await engine.collect(
        server, "/text.txt", fields: ["Range": "bytes=\(number)-\(number * 2)"])
      #expect(response.body == Array(text[number...number * 2]))
    }
    return try response.metric
  }

  private static let crowd = 10_000
  /// The maximum memory for a connection with its exchange, request and sink, in bytes: 8 KiB. 5.3 KiB were measured in a debug
  /// build.
  private static let bytesPerConnectionMax = 8 * 1024 * ProcessStatus.memoryFactor

  // The client runs in a separate process, so that other tests don't affect its memory and descriptors.
  @Test("10,000 concurrent requests complete, and leave no open connection")
  func crowd() async throws {
    try ProcessStatus.allowDescriptors(UInt(Self.crowd + 1000))
    let server = try BarrierServer(connectionCount: Self.crowd)
    await #expect(processExitsWith: .success) { [port = server.port as UInt16] in
      let crowd = ConcurrencyTests.crowd
      try ProcessStatus.allowDescriptors(UInt(crowd + 1000))
      let (before, memoryBefore) = (ProcessStatus.engineDescriptors, try ProcessStatus.kibibytes("VmRSS"))
      try await ConcurrencyTests.ask(crowd, port)
      let perConnection = (try ProcessStatus.kibibytes("VmHWM") - memoryBefore) * 1024 / crowd
      #expect(
        perConnection < ConcurrencyTests.bytesPerConnectionMax, "\(perConnection) bytes per connection")
      let isClosed = await settles { ProcessStatus.engineDescriptors.count <= before.count }
      #expect(isClosed, "\(ProcessStatus.engineDescriptors.prefix(9)) are left; before there were \(before)")
    }
    #expect(await server.stop() == BarrierServer.Report(requestCount: Self.crowd, closedCount: Self.crowd))
  }

  private static func ask(_ crowd: Int, _ port: UInt16) async throws {
    let engine = try Engine.forServers {
      $0.pool.connectionsPerOriginMax = crowd
      $0.pool.connectionsMax = crowd
      $0.pool.idlePerOriginMax = crowd
      $0.pool.idleMax = crowd
    }
    var timeouts = Timeouts(everyPhase: .seconds(120), total: nil)
    timeouts.poolWait = nil
    let sinks = try (0..<crowd).map { number in
      let sink = ShortSink()
      let uri = try URI("http://127.0.0.1:\(port)/\(number)")
      engine.submit(EngineRequest(uri: uri, timeouts: timeouts), to: sink)
      return sink
    }
    var connections: Set<UInt64> = []
    for (number, sink) in sinks.enumerated() {
      await sink.finished.wait()
      let (text, error, id) = sink.outcome
      #expect(error == nil, "\(String(describing: error))")
      #expect(text == "/\(number)")
      connections.insert(try #require(id))
    }
    #expect(connections.count == crowd)
  }
}

/// A sink that needs little memory. It stores a short body, the error and the number of the connection.
private final class ShortSink: ResponseSink {
  let finished = Gate()
  private let state = Mutex<(body: [UInt8], error: EngineError?, connection: UInt64?)>(([], nil, nil))

  var outcome: (String, EngineError?, UInt64?) {
    state.withLock { (String(decoding: $0.body, as: UTF8.self), $0.error, $0.connection) }
  }

  func receive(head: ResponseHead) -> BodyDisposition { .deliver }
  func receive(body bytes: borrowing Span<UInt8>) {
    state.withLock { $0.body.append(copying: bytes, 0..<bytes.count) }
  }
  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    state.withLock { ($0.error, $0.connection) = (result.failure, metrics.connectionID) }
    finished.open()
  }
}
