// Line: blocking reads and writes on a connection, with or without TLS.

internal import LupineLoopback
internal import LupineReactor
internal import LupineTLS

/// The maximum number of bytes that one read from a client returns: 64 KiB, the size of the largest segment on loopback.
private let readBytesMax = 64 * 1024

/// A byte stream between a client and the server, with or without TLS. It isn't Sendable: only the connection's thread may use it.
protocol Line: AnyObject {
  var socket: Socket { get }
  /// The negotiated TLS parameters of the connection, or nil if it has no TLS.
  var tlsInfo: TLSInfo? { get }
  /// Blocks until bytes arrive from the client, and returns them. Returns an empty array once the client has closed its sending
  /// side (with TLS: once the client has sent close_notify).
  func read() throws -> [UInt8]
  /// Sends bytes to the client. Blocks until the kernel has accepted all of them.
  func write(_ bytes: [UInt8]) throws
  /// With TLS, sends close_notify, which announces the end of the server's data. Without TLS, does nothing. The socket stays open.
  func sayGoodbye() throws
}

/// A client's connection without TLS.
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

/// A client's connection with TLS. The encrypted records are sent on another `Line`: a socket, or the TLS connection to a proxy.
final class TLSLine: Line {
  private let below: any Line
  private var session: TLSSession
  private var plaintext = [UInt8](repeating: 0, count: readBytesMax)

  /// The maximum number of bytes that are encrypted before they are sent: 256 KiB. The limit prevents a large body from being in
  /// memory twice.
  private static let writeBytesMax = 256 * 1024

  /// Performs the TLS handshake on the line `below`. `received` contains the bytes that were already read from the client.
  init(_ below: any Line, _ context: TLSContext, received: [UInt8]) throws {
    self.below = below
    session = try TLSSession(server: context)
    if !received.isEmpty { session.receive(received.span.bytes) }
    while try handshake() == .needMoreBytes { try receive() }
  }

  var socket: Socket { below.socket }
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
        // Reading may have queued an answer that must be sent, for example to a KeyUpdate message.
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
      // Sends the client the TLS alert that states the reason.
      try? flush()
      throw error
    }
  }

  private func receive() throws {
    let ciphertext = try below.read()
    if ciphertext.isEmpty { session.receiveEnd() } else { session.receive(ciphertext.span.bytes) }
  }

  private func flush() throws {
    var output: [UInt8] = []
    session.drainOutput(into: &output)
    try below.write(output)
  }
}
