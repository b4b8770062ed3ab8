// A connection's bytes, in clear or through TLS, read and written by one blocking thread.

internal import LupineReactor
internal import LupineTLS

/// Bytes read at once, 64 KiB: what a segment on loopback holds at most.
private let readBytesMax = 64 * 1024

extension Socket {
  func sendAll(_ bytes: [UInt8]) throws(SystemError) {
    var sent = 0
    while sent < bytes.count {
      guard let count = try send(bytes, from: sent) else { preconditionFailure("an accepted socket blocks") }
      sent += count
    }
  }

  /// Returns no bytes at the end.
  func receive() throws(SystemError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: readBytesMax)
    guard let count = try receive(into: &buffer) else { preconditionFailure("an accepted socket blocks") }
    buffer.removeLast(buffer.count - count)
    return buffer
  }
}

/// Bytes as the handler sees them. Not Sendable: its connection's thread only.
protocol Line: AnyObject {
  var socket: Socket { get }
  /// What was agreed on, or nil without TLS.
  var tlsInfo: TLSInfo? { get }
  /// Blocks until bytes come; none: the client has closed its side, with TLS properly so.
  func read() throws -> [UInt8]
  /// Blocks until the kernel has taken all of it.
  func write(_ bytes: [UInt8]) throws
  /// Tells the peer, in TLS's words, that no more comes; the socket stays as it is.
  func sayGoodbye() throws
}

/// A line in clear.
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

/// A line through TLS.
final class TLSLine: Line {
  let socket: Socket
  private var session: TLSSession
  private var plaintext = [UInt8](repeating: 0, count: readBytesMax)

  /// Bytes encrypted before they are sent, so that a large body isn't in memory twice.
  private static let writeBytesMax = 256 * 1024

  /// Shakes hands; `received` is what had been read of the client before.
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
        // Reading may have made an answer, to a key update for one.
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
    session.close()
    try flush()
  }

  private func handshake() throws -> TLSSession.HandshakeStep {
    do {
      let step = try session.handshake()
      try flush()
      return step
    } catch {
      // The alert that tells the client why.
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
