// ShardTLSTests: a shard whose connections use TLS, which may buffer data that no socket event announces.

import LupineLoopback
import LupineOrigin
import LupineReactor
import LupineTLS
import LupineWire
import Testing

@testable import LupineEngine

@Suite("An event loop with TLS connections", .timeLimit(.minutes(10)))
struct ShardTLSTests {
  private let stage = makeStage()

  private static func makeStage() -> ShardStage {
    ShardStage {
      $0.tls.verification = .none
      $0.pool.connectionsPerOriginMax = 1
    }
  }

  @Test(
    "if an iteration's read limit is reached while TLS has buffered data, reading continues without a socket event")
  func endOfTurn() async throws {
    let (_, sink) = stage.submit(try request)
    var server = try server()
    let socket = try connect(&server)
    // An iteration serves a connection up to twice: for its event, and again after other events. The response exceeds these two
    // shares by two records, which the last read from the socket returns and TLS buffers.
    let head = "HTTP/1.1 200 OK\r\nContent-Length: "
    let bodyCount = 2 * Shard.bytesPerTurnMax + 2 * 16 * 1024 - head.utf8.count - 7 - 4
    let body = [UInt8](repeating: 7, count: bodyCount)
    try write(Array("\(head)\(bodyCount)\r\n\r\n".utf8) + body, &server, socket)
    stage.turn(socket)
    #expect(sink.receivedCount < bodyCount)
    try #require(socket.arrivals.isEmpty)
    stage.turn()
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.body == body)
  }

  @Test("a TLS connection doesn't delay others, even if each of its records contains a single byte")
  func smallRecords() async throws {
    let (_, sink) = stage.submit(try request)
    var server = try server()
    let socket = try connect(&server)
    let count = 5_000
    try write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8), &server, socket)
    let byte: [UInt8] = [7]
    for _ in 0..<count { try server.write(byte.span.bytes) }
    deliver(&server, socket)
    // An iteration serves a connection up to twice: for its event, and again after other events.
    let share = Shard.bytesPerTurnMax / 4_096
    stage.turn(socket)
    #expect(sink.receivedCount > 0 && sink.receivedCount <= 2 * share)
    var turnCount = 0
    while !sink.finished.isOpen, turnCount < count {
      stage.turn()
      turnCount += 1
    }
    #expect(await sink.outcome.body.count == count)
  }

  @Test("reading a TLS connection continues even if several reads return only records without application data")
  func ticketsWithoutData() async throws {
    // A server's session ticket contains the client's certificate, which here has 40,000 bytes of names.
    let authority = try ThrowawayAuthority()
    let client = try authority.issue(
      names: (0..<1_000).map { "\(String(repeating: "n", count: 36)).\($0)" }, addresses: [], purpose: .client)
    let own = try TLSIdentity(certificatePEM: client.certificatePEM, privateKeyPEM: client.privateKeyPEM)
    let stage = ShardStage {
      $0.tls.verification = .none
      $0.tls.identity = own
    }
    let (_, sink) = stage.submit(try request)
    let identity = try authority.issue(names: ["localhost"], addresses: [])
    var server = try TLSSession(
      server: TLSContext(
        serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM,
        clientAuthorityPEM: authority.certificatePEM))
    let socket = try connect(&server, stage, andSay: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    #expect(socket.reads.contains(Buffers.byteCount))
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.text == "ok")
  }

  @Test("before the client closes a TLS connection because of an error, the peer receives an alert with the reason")
  func alert() async throws {
    let (_, sink) = stage.submit(try request)
    var server = try server()
    let socket = try connect(&server)
    server.receive(socket.sent.span.bytes)
    socket.sent = []
    // A TLS record of application data that isn't encrypted.
    socket.arrivals = [.bytes([23, 3, 3, 0, 32] + [UInt8](repeating: 7, count: 32))]
    stage.turn(socket)
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.error?.code == .tlsFailed)
    try #require(!socket.sent.isEmpty)
    server.receive(socket.sent.span.bytes)
    var room = [UInt8](repeating: 0, count: 1_024)
    #expect(throws: TLSError.self) { while try server.read(into: &room) != .needMoreBytes {} }
  }

  @Test(
    "a TLS record after a response isn't part of the next response, and the next request gets another connection")
  func surplus() async throws {
    let sinks = try (0..<2).map { _ in stage.submit(try request).1 }
    var server = try server()
    let socket = try connect(&server)
    try write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8), &server, socket)
    try write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8), &server, socket)
    stage.turn(socket)
    let first = await sinks[0].outcome
    #expect(first.text == "ok")
    #expect(first.metrics?.closeReason == .unsolicitedBytes)
    #expect(sinks[1].receivedCount == 0)
    #expect(stage.network.sockets.count == 2)
  }

  @Test("a partial TLS record after a response doesn't become part of the next response")
  func surplusInPart() async throws {
    for count in [1, 4, 5, 6, 20, 60] {
      let stage = Self.makeStage()
      let sinks = try (0..<2).map { _ in stage.submit(try request).1 }
      var server = try server()
      let socket = try connect(&server, stage)
      try write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8), &server, socket)
      let firstCount = try lastArrival(socket).count
      try write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8), &server, socket)
      socket.arrivals = [.bytes(Array(try lastArrival(socket)[..<(firstCount + count)]))]
      stage.turn(socket)
      #expect(await sinks[0].outcome.metrics?.closeReason == .unsolicitedBytes, "\(count) bytes")
      #expect(stage.network.sockets.count == 2)
    }
  }

  @Test(
    "the client closes an idle connection if part of a TLS record arrives in a later iteration of the event loop",
    arguments: [1, 4, 5, 6, 20, 60])
  func partOnIdleConnection(count: Int) async throws {
    let (_, first) = stage.submit(try request)
    var server = try server()
    let socket = try connect(&server)
    try write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8), &server, socket)
    stage.turn(socket)
    try #require(first.finished.isOpen && socket.arrivals.isEmpty)
    #expect(stage.shard.pool.counters().total.idle == 1)
    try write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8), &server, socket)
    let record = try lastArrival(socket)
    socket.arrivals = [.bytes(Array(record[..<count]))]
    stage.turn(socket)
    #expect(stage.shard.pool.counters().total.closed == [.unsolicitedBytes: 1])
    let (_, second) = stage.submit(try request)
    stage.turn()
    socket.arrivals = [.bytes(Array(record[count...]))]
    stage.turn(socket)
    #expect(stage.network.sockets.count == 2 && second.receivedCount == 0)
  }

  @Test("the client detects bytes after a response even if the last read filled the buffer")
  func surplusInKernel() async throws {
    let sinks = try (0..<2).map { _ in stage.submit(try request).1 }
    var server = try server()
    let socket = try connect(&server)
    // The response takes four TLS records, each of which is 22 bytes longer than its content.
    let head = "HTTP/1.1 200 OK\r\nContent-Length: "
    let bodyCount = Buffers.byteCount - 4 * 22 - head.utf8.count - 5 - 4
    try write(
      Array("\(head)\(bodyCount)\r\n\r\n".utf8) + [UInt8](repeating: 7, count: bodyCount), &server, socket)
    try #require(try lastArrival(socket).count == Buffers.byteCount)
    try write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".utf8), &server, socket)
    stage.turn(socket)
    #expect(await sinks[0].outcome.metrics?.closeReason == .unsolicitedBytes)
    #expect(stage.network.sockets.count == 2)
  }

  @Test(
    "the client reads data that arrived with the last TLS handshake message, although no socket event follows")
  func behindHandshake() async throws {
    let stage = ShardStage {
      $0.tls.verification = .none
      $0.tls.maximumVersion = .v1_2
    }
    let (_, sink) = stage.submit(try request)
    var server = try server()
    _ = try connect(&server, stage, andSay: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    stage.turn()
    try #require(sink.finished.isOpen)
    #expect(await sink.outcome.text == "ok")
  }

  // MARK: TLS with a proxy

  /// The way in which a TLS proxy ends the connection right after a response.
  enum ProxyEnding: CaseIterable {
    case closeNotify, closeWithoutNotify
  }

  @Test(
    "if a proxy ends TLS right after a response, the client processes the end, although no socket event follows",
    arguments: ProxyEnding.allCases, [true, false])
  func proxyEnds(ending: ProxyEnding, hasLength: Bool) async throws {
    let stage = try stageWithProxy()
    let (_, sink) = stage.submit(try forwardedRequest)
    var server = try server()
    let socket = try connect(&server, stage)
    let length = hasLength ? "Content-Length: 2\r\n" : ""
    try write(Array("HTTP/1.1 200 OK\r\n\(length)\r\nok".utf8), &server, socket)
    switch ending {
    case .closeNotify:
      server.queueCloseNotify()
      deliver(&server, socket)
    case .closeWithoutNotify: socket.arrivals.append(.end)
    }
    stage.turn(socket)
    try #require(sink.finished.isOpen)
    let outcome = await sink.outcome
    #expect(outcome.text == "ok")
    // Without a length and without close_notify, an attacker may have truncated the body.
    #expect((outcome.error == nil) == (hasLength || ending == .closeNotify))
    let counters = stage.shard.pool.counters().total
    #expect(counters.idle == 0)
    if hasLength { #expect(counters.closed == [.closedByPeer: 1]) }
  }

  @Test("an idle TLS connection to a proxy keeps no buffers")
  func idleProxyConnection() async throws {
    let stage = try stageWithProxy()
    let (_, sink) = stage.submit(try forwardedRequest)
    var server = try server()
    let socket = try connect(&server, stage)
    try write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8), &server, socket)
    stage.turn(socket)
    #expect(await sink.outcome.text == "ok")
    let connection = try #require(stage.shard.connections.pooled.values.first)
    let encrypted = connection.transport.socket as? EncryptedSocket
    #expect(encrypted?.bufferedBytesCapacity == 0)
    #expect(stage.shard.pool.counters().total.idle == 1)
  }

  private func stageWithProxy() throws -> ShardStage {
    ShardStage(proxy: .fixed(try Proxy(.https, host: "127.0.0.1", port: 1))) { $0.proxyVerification = .none }
  }

  private var forwardedRequest: EngineRequest {
    get throws { EngineRequest(uri: try URI("http://h.example/")) }
  }

  private var request: EngineRequest {
    get throws { EngineRequest(uri: try URI("https://127.0.0.1/")) }
  }

  private func server() throws -> TLSSession {
    let identity = try ThrowawayAuthority().issue(names: ["localhost"], addresses: [])
    return try TLSSession(
      server: TLSContext(serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM))
  }

  /// Runs iterations of the loop until the TLS handshake is done and the client has sent its first request. The server sends
  /// `words` together with its last handshake message.
  private func connect(
    _ server: inout TLSSession, _ other: ShardStage? = nil, andSay words: String = ""
  ) throws -> ScriptedSocket {
    let stage = other ?? stage
    stage.turn()
    let socket = try #require(stage.network.sockets.first)
    var isDone = false
    while !isDone {
      stage.turn(socket)
      server.receive(socket.sent.span.bytes)
      socket.sent = []
      isDone = try server.handshake() == .done
      if isDone { try write(Array(words.utf8), &server, socket) } else { deliver(&server, socket) }
    }
    stage.turn(socket)
    return socket
  }

  private func write(_ bytes: [UInt8], _ server: inout TLSSession, _ socket: ScriptedSocket) throws {
    try server.write(bytes.span.bytes)
    deliver(&server, socket)
  }

  /// Returns the bytes that the socket is to receive last.
  private func lastArrival(_ socket: ScriptedSocket) throws -> [UInt8] {
    var bytes: [UInt8]?
    if case .bytes(let last) = socket.arrivals.last { bytes = last }
    return try #require(bytes)
  }

  /// Moves the server's TLS output to the socket, so that one read by the client returns all of it if the client's buffer has room.
  private func deliver(_ server: inout TLSSession, _ socket: ScriptedSocket) {
    var output: [UInt8] = []
    if case .bytes(let before) = socket.arrivals.last {
      output = before
      socket.arrivals.removeLast()
    }
    server.drainOutput(into: &output)
    if !output.isEmpty { socket.arrivals.append(.bytes(output)) }
  }
}
