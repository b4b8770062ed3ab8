// Line: blocking reads and writes on a connection, with or without TLS.

internal import LupineLoopback
internal import LupineReactor
internal import LupineTLS

/// The maximum number of bytes per read: 64 KiB, the largest segment on loopback.
private let readBytesMax = 64 * 1024

/// The byte stream of a connection, as its handler reads and writes it. It isn't
/// Sendable; only the connection's thread may use it.
protocol Line: AnyObject {
  var socket: Socket { get }
  /// The negotiated TLS parameters, or nil without TLS.
  var tlsInfo: TLSInfo? { get }
  /// Blocks until bytes arrive, and returns them. Returns an empty array when the client has closed its side, with TLS
  /// after close_notify.
  func read() throws -> [UInt8]
  /// Blocks until the kernel has accepted all bytes.
  func write(_ bytes: [UInt8]) throws
  /// Sends close_notify with TLS, and does nothing without TLS. The socket stays open.
  func sayGoodbye() throws
}

/// A connection without TLS.
final class PlainLine: Line {
  let socket: Socket

  init(_ socket: Socket) {
    self.socket = socket
  }

  var tlsInfo: TLSInfo? { nil }

  func read() throws -> [UInt8] { try socket.receive() }

  func write(_ bytes: [UInt8]) throws {
    try socket.sendAll(bytes)
  }

  func sayGoodbye() {}
}

/// A connection with TLS.
final class TLSLine: Line {
  let socket: Socket
  private var session: TLSSession
  private var plaintext = [UInt8](repeating: 0, count: readBytesMax)

  /// The number of bytes encrypted before they are sent, so that a large body isn't in memory twice.
  private static let writeBytesMax = 256 * 1024

  /// Performs the handshake. `received` has the bytes already read from the client.
  init(_ socket: Socket, _ context: TLSContext, received: [UInt8]) throws {
    self.socket = socket
    session = try TLSSession(server: context)
    if !received.isEmpty { session.receive(received.span.bytes) }
    while try handshake() == .needMoreBytes { try receive() }
  }

  var tlsInfo: TLSInfo? { session.info }

  func read() throws -> [UInt8] {
    while true {
      let step: TLSSession.ReadStep
      do {
        step = try session.read(into: &plaintext)
      } catch {
        try? flush()
        throw error
      }
      switch step {
      case .bytes(let count): return Array(plaintext[..<count])
      case .closed: return []
      case .needMoreBytes:
        // Reading may have queued an answer, for example to a key update.
        try flush()
        try receive()
      }
    }
  }

  func write(_ bytes: [UInt8]) throws {
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + Self.writeBytesMax)
      try session.write(bytes.span.bytes.extracting(start..<end))
      try flush()
      start = end
    }
  }

  func sayGoodbye() throws {
    session.queueCloseNotify()
    try flush()
  }

  private func handshake() throws -> TLSSession.HandshakeStep {
    do {
      let step = try session.handshake()
      try flush()
      return step
    } catch {
      // Sends the alert with the reason to the client.
      try? flush()
      throw error
    }
  }

  private func receive() throws(SystemError) {
    let ciphertext = try socket.receive()
    if ciphertext.isEmpty { session.receiveEnd() } else { session.receive(ciphertext.span.bytes) }
  }

  private func flush() throws(SystemError) {
    var output: [UInt8] = []
    session.drainOutput(into: &output)
    try socket.sendAll(output)
  }
}
