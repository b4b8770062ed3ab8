// HostileTLSTests: a transport whose TLS peer sends messages that are cheap for the peer and costly for the client.

import LupineLoopback
import LupineReactor
import LupineTLS
import Testing

@testable import LupineEngine

@Suite("A transport through TLS")
struct HostileTLSTests {
  private let socket = ScriptedSocket(number: 3)

  private func transport() throws -> Transport {
    var configuration = TLSConfiguration()
    configuration.verification = .none
    let context = try TLSContext(client: configuration)
    return Transport(socket, tls: try TLSSession(client: context, host: "localhost", port: 443))
  }

  @Test("a TLS server that endlessly sends handshake messages doesn't block the client's event loop")
  func endlessHandshake() throws {
    var transport = try transport()
    var buffer = [UInt8](repeating: 0, count: Buffers.byteCount)
    // HelloRequests (RFC 5246 §7.4.1.1), which a client must ignore during its handshake.
    let ignored: [UInt8] = [22, 3, 3, 0, 4, 0, 0, 0, 0]
    let byteCount = 1024 * 1024
    socket.arrivals = [.bytes(Array(repeatElement(ignored, count: byteCount / ignored.count).joined()))]
    let isDone = try isComplete(transport.handshake(ciphertext: &buffer))
    #expect(!isDone)
    #expect(!socket.arrivals.isEmpty)
  }

  private func isComplete(_ progress: Transport.HandshakeProgress) -> Bool {
    if case .complete = progress { true } else { false }
  }

  @Test("a TLS connection fails if the server sends messages that require answers but doesn't read the answers")
  func unreadAnswers() throws {
    let authority = try ThrowawayAuthority()
    let identity = try authority.issue(names: ["localhost"], addresses: [])
    var server = try TLSSession(
      server: TLSContext(serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM))
    var transport = try transport()
    var (ciphertext, plaintext) = (
      [UInt8](repeating: 0, count: Buffers.byteCount), [UInt8](repeating: 0, count: Buffers.byteCount)
    )
    while try !isComplete(transport.handshake(ciphertext: &ciphertext)) { try exchange(&server) }
    try transport.flush()
    try exchange(&server)

    // The answers that the server reads aren't limited: these have 17,280 bytes.
    for _ in 0..<20 {
      try requestKeyUpdates(&server)
      while try transport.receive(into: &plaintext, ciphertext: &ciphertext) != .nothing {}
      let unsentCount = try transport.flush()
      #expect(unsentCount == 0)
    }

    socket.roomBytes = 0
    var failure: Failure?
    for _ in 0..<1000 where failure == nil {
      try requestKeyUpdates(&server)
      do throws(Failure) {
        while try transport.receive(into: &plaintext, ciphertext: &ciphertext) != .nothing {}
      } catch {
        failure = error
      }
    }
    #expect(failure?.code == .tlsFailed)
    let unsentCount = transport.unsentCount
    #expect(unsentCount < 64 * 1024)
  }

  /// Makes the server send 32 requests for a key update, and then a byte of data.
  private func requestKeyUpdates(_ server: inout TLSSession) throws {
    for _ in 0..<32 {
      let isQueued = server.requestKeyUpdate()
      #expect(isQueued)
    }
    let data: [UInt8] = [1]
    try server.write(data.span.bytes)
    var output: [UInt8] = []
    server.drainOutput(into: &output)
    socket.arrivals.append(.bytes(output))
  }

  /// Passes the bytes that the client has sent to the server, and the server's output back to the client.
  private func exchange(_ server: inout TLSSession) throws {
    let sent = socket.sent
    socket.sent = []
    server.receive(sent.span.bytes)
    _ = try server.handshake()
    var output: [UInt8] = []
    server.drainOutput(into: &output)
    if !output.isEmpty { socket.arrivals.append(.bytes(output)) }
  }
}
