// ShardVerificationTests: a shard whose handshakes wait for verifiers on other threads.

import LupineLoopback
import LupineReactor
import LupineTLS
import LupineWire
import Synchronization
import Testing

@testable import LupineEngine

@Suite("An event loop whose certificate verifiers may block", .timeLimit(.minutes(10)))
struct ShardVerificationTests {
  /// Collects the jobs that a shard would run on other threads. The test runs them when it wants to.
  private final class Jobs: Sendable {
    let waiting = Mutex<[@Sendable () -> Void]>([])
    let calls = Atomic(0)
    let failure = Mutex<SystemError?>(nil)

    func add(_ job: @escaping @Sendable () -> Void) throws(SystemError) {
      if let failure = failure.withLock({ $0 }) { throw failure }
      waiting.withLock { $0.append(job) }
    }

    /// Runs the collected jobs and releases them. They retain the verifier, which retains this object.
    func run() {
      let jobs = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      for job in jobs { job() }
    }

    var count: Int { waiting.withLock { $0.count } }
  }

  private let jobs = Jobs()
  private let authority: ThrowawayAuthority
  private let identity: ThrowawayAuthority.Identity

  init() throws {
    authority = try ThrowawayAuthority()
    identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
  }

  private func stage(_ decision: CertificateVerifier.Decision = .asFound) -> ShardStage {
    let verifier = CertificateVerifier { [jobs] _ in
      jobs.calls.add(1, ordering: .relaxed)
      return decision
    }
    return ShardStage(
      {
        $0.tls.trustRoots = [.pem(authority.certificatePEM)]
        $0.tls.verifier = verifier
      }, runBlocking: { [jobs] job throws(SystemError) in try jobs.add(job) })
  }

  private func server() throws -> TLSSession {
    try TLSSession(
      server: TLSContext(serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM))
  }

  private func request(_ timeouts: Timeouts = Timeouts()) throws -> EngineRequest {
    EngineRequest(uri: try URI("https://127.0.0.1/"), timeouts: timeouts)
  }

  /// Passes the client's bytes to the TLS server and the server's output back, once. Returns whether the server's handshake is
  /// done.
  private func exchange(_ stage: ShardStage, _ socket: ScriptedSocket, _ server: inout TLSSession) throws -> Bool {
    server.receive(socket.sent.span.bytes)
    socket.sent = []
    let isDone = try server.handshake() == .done
    var output: [UInt8] = []
    server.drainOutput(into: &output)
    if !output.isEmpty { socket.arrivals.append(.bytes(output)) }
    stage.turn(socket)
    return isDone
  }

  /// Opens a connection, and performs its TLS handshake up to the point at which the certificate verifier must be called.
  private func waiting(_ stage: ShardStage, _ server: inout TLSSession) throws -> ScriptedSocket {
    let socketCount = stage.network.sockets.count
    stage.turn()
    let socket = try #require(stage.network.sockets.dropFirst(socketCount).first)
    stage.turn(socket)
    _ = try exchange(stage, socket, &server)
    try #require(jobs.count == 1 && jobs.calls.load(ordering: .relaxed) == 0)
    return socket
  }

  @Test("while the certificate verifier decides, nothing is sent or read, and after approval the request completes")
  func waits() async throws {
    let stage = stage()
    let (_, sink) = stage.submit(try request())
    var server = try server()
    let socket = try waiting(stage, &server)
    #expect(socket.sent.isEmpty)
    // The poller reports no bytes meanwhile, so that the loop doesn't spin.
    socket.arrivals.append(.bytes([]))
    #expect(stage.network.event(of: socket).allSatisfy { !$0.isReadable && !$0.isWritable })
    socket.arrivals = []
    jobs.run()
    stage.turn()
    #expect(try exchange(stage, socket, &server))
    var output: [UInt8] = []
    let reply = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)
    try server.write(reply.span.bytes)
    server.drainOutput(into: &output)
    socket.arrivals = [.bytes(output)]
    stage.turn(socket)
    #expect(await sink.outcome.text == "ok")
  }

  @Test("if the caller's verifier refuses the certificate, the request fails")
  func refusal() async throws {
    let stage = stage(.refuse(reason: "no"))
    let (_, sink) = stage.submit(try request())
    var server = try server()
    let socket = try waiting(stage, &server)
    jobs.run()
    stage.turn()
    #expect(await sink.outcome.error?.code == .tlsFailed)
    // The client has sent the TLS alert for the refusal.
    #expect(!socket.sent.isEmpty)
  }

  @Test("the time limit of the TLS handshake includes the certificate verifier's time, and a late verdict is ignored")
  func timeLimit() async throws {
    let stage = stage()
    var timeouts = Timeouts()
    timeouts.tls = .seconds(3)
    let (_, sink) = stage.submit(try request(timeouts))
    var server = try server()
    _ = try waiting(stage, &server)
    stage.turn(after: .seconds(4))
    let error = await sink.outcome.error
    #expect(error?.code == .timedOut && error?.phase == .tls)
    jobs.run()
    stage.turn()
    #expect(stage.shard.pool.counters().total.idle == 0)
  }

  @Test("if a request is cancelled, its certificate verifier isn't called, or the verifier's decision is ignored")
  func canceled() async throws {
    let stage = stage()
    let (id, sink) = stage.submit(try request())
    var server = try server()
    _ = try waiting(stage, &server)
    stage.inbox.send(.cancel(id))
    stage.turn()
    #expect(await sink.outcome.error?.code == .cancelled)
    jobs.run()
    stage.turn()
    #expect(jobs.calls.load(ordering: .relaxed) == 0)
  }

  @Test("if the connection is lost while the certificate verifier decides, the request fails at once")
  func lost() async throws {
    let stage = stage()
    let (_, sink) = stage.submit(try request())
    var server = try server()
    let socket = try waiting(stage, &server)
    stage.turn(error: socket)
    let error = await sink.outcome.error
    #expect(error?.code == .connectionLost && error?.phase == .tls)
    jobs.run()
    stage.turn()
  }

  @Test("if no thread can be started for the certificate verifier, the request fails")
  func noThread() async throws {
    let stage = stage()
    jobs.failure.withLock { $0 = SystemError(call: "pthread_create", code: 11) }
    let (_, sink) = stage.submit(try request())
    var server = try server()
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    stage.turn(socket)
    _ = try exchange(stage, socket, &server)
    #expect(await sink.outcome.error?.code == .outOfResources)
  }
}
