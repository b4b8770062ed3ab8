// Endpoint: the two ends of a TLS connection without a network; tests pass the output of one to the other.

import LupineLoopback
import LupineTLS
import Synchronization

/// One end of a TLS connection in a test: a TLS session, and the decrypted bytes that it has received.
final class Endpoint {
  private(set) var session: TLSSession
  private(set) var received: [UInt8] = []
  private(set) var isClosedByPeer = false

  init(client configuration: TLSConfiguration, host: String = "localhost") throws {
    session = try TLSSession(client: TLSContext(client: configuration), host: host, port: 443)
  }

  init(client context: TLSContext, host: String = "localhost", port: UInt16 = 443, isProxy: Bool = false) throws {
    session = try TLSSession(client: context, host: host, port: port, isProxy: isProxy)
  }

  init(server context: TLSContext) throws {
    session = try TLSSession(server: context)
  }

  var info: TLSInfo { session.info }

  /// Continues the handshake. If the certificate verifier has to decide, calls it at once.
  func handshake() throws(TLSError) -> TLSSession.HandshakeStep {
    let step = try session.handshake()
    guard step == .needsVerdict, let verdict = session.pendingVerification?.verdict else { return step }
    session.resolve(verdict)
    return try session.handshake()
  }

  /// Continues the handshake, but stops before the certificate verifier has to decide.
  func handshakeUpToVerdict() throws(TLSError) -> TLSSession.HandshakeStep { try session.handshake() }
  var pendingVerification: PendingVerification? { session.pendingVerification }
  var requestedAuthorities: [[UInt8]]? { session.requestedAuthorities }
  func resolve(_ verdict: Verdict) { session.resolve(verdict) }

  /// Returns the encrypted bytes to send to the peer.
  func output() -> [UInt8] {
    var bytes: [UInt8] = []
    session.drainOutput(into: &bytes)
    return bytes
  }

  func drain(into bytes: inout [UInt8]) {
    session.drainOutput(into: &bytes)
  }

  func receive(_ bytes: some Collection<UInt8>) {
    session.receive(Array(bytes).span.bytes)
  }

  func receiveEnd() {
    session.receiveEnd()
  }

  func write(_ bytes: [UInt8]) throws(TLSError) {
    try session.write(bytes.span.bytes)
  }

  func close() {
    session.queueCloseNotify()
  }

  func releaseIdleMemory() { session.releaseIdleMemory() }
  func requestKeyUpdate() -> Bool { session.requestKeyUpdate() }
  func sendTicket() -> Bool { session.sendTicket() }
  func requestRenegotiation() -> Bool { session.requestRenegotiation() }

  /// Decrypts all bytes that have arrived, at most `room` bytes at a time, and appends them to `received`.
  func read(room: Int = 4096) throws(TLSError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
    defer { buffer.deallocate() }
    while true {
      switch try session.read(into: buffer) {
      case .bytes(let count): received.append(contentsOf: buffer.prefix(count))
      case .needMoreBytes: return
      case .closed:
        isClosedByPeer = true
        return
      }
    }
  }
}

extension PendingVerification {
  /// The verifier's decision, or nil if the verifier waits for another party's answer.
  var verdict: Verdict? {
    let made = Mutex<Verdict?>(nil)
    decide { verdict in made.withLock { $0 = verdict } }
    return made.withLock { $0 }
  }
}

/// The errors with which the handshake failed at the client and at the server. Each is nil if that end succeeded.
struct Outcome {
  var client: TLSError?
  var server: TLSError?
}

/// Performs a handshake: passes bytes between both ends, at most `piece` at a time, until both are done or have failed.
func shakeHands(_ client: Endpoint, _ server: Endpoint, piece: Int = .max) throws -> Outcome {
  var outcome = Outcome()
  // A handshake takes two round trips. After ten, the ends are stuck.
  for _ in 0..<10 {
    let clientIsDone = step(client, feeding: server.output(), piece: piece, failure: &outcome.client)
    let serverIsDone = step(server, feeding: client.output(), piece: piece, failure: &outcome.server)
    if clientIsDone && serverIsDone { return outcome }
  }
  throw Stuck()
}

struct Stuck: Error {}

/// Passes the peer's bytes to this end, and continues its handshake. Returns whether the handshake is done or has failed.
private func step(_ end: Endpoint, feeding bytes: [UInt8], piece: Int, failure: inout TLSError?) -> Bool {
  var rest = bytes[...]
  do {
    repeat {
      end.receive(rest.prefix(piece))
      rest = rest.dropFirst(piece)
      _ = try end.handshake()
    } while !rest.isEmpty
    return try end.handshake() == .done
  } catch {
    failure = error
    return true
  }
}

/// A certificate authority for tests, and the TLS context of a server whose certificate for localhost it has issued.
struct Fixture {
  let authority: ThrowawayAuthority
  let server: TLSContext

  init(
    protocols: [String] = ["http/1.1"], versions: ClosedRange<TLSVersion> = .v1_2 ... .v1_3,
    clientAuthorityPEM: [UInt8]? = nil, requiresClientCertificate: Bool = true,
    validity: ThrowawayAuthority.Validity = .valid
  ) throws {
    authority = try ThrowawayAuthority()
    let identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1", "::1"], validity: validity)
    server = try TLSContext(
      serverCertificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM,
      applicationProtocols: protocols, versions: versions, clientAuthorityPEM: clientAuthorityPEM,
      requiresClientCertificate: requiresClientCertificate)
  }

  var trusting: TLSConfiguration { TLSConfiguration(trustRoots: [.pem(authority.certificatePEM)]) }

  /// Performs a handshake between a client and the server, and returns both ends. Throws if the handshake fails.
  func connected(_ context: TLSContext? = nil) throws -> (client: Endpoint, server: Endpoint) {
    let client = try Endpoint(client: context ?? TLSContext(client: trusting))
    let served = try Endpoint(server: server)
    let outcome = try shakeHands(client, served)
    if let error = outcome.client ?? outcome.server { throw error }
    return (client, served)
  }

  /// Performs a handshake between a client and the server, and returns both ends. The client has also read the messages that the
  /// server sends after the handshake, such as session tickets.
  func visited(_ context: TLSContext, host: String = "localhost", port: UInt16 = 443, isProxy: Bool = false) throws -> (
    client: Endpoint, server: Endpoint
  ) {
    let client = try Endpoint(client: context, host: host, port: port, isProxy: isProxy)
    let served = try Endpoint(server: server)
    let outcome = try shakeHands(client, served)
    if let error = outcome.client ?? outcome.server { throw error }
    try served.write([1])
    client.receive(served.output())
    try client.read()
    return (client, served)
  }
}
