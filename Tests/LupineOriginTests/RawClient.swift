// RawClient: a client that sends given bytes over a socket, in clear or through TLS.

import LupineLoopback
import LupineReactor
import LupineTLS

@testable import LupineOrigin

/// A blocking client over a socket, with or without TLS. Its calls throw if they wait longer than `patience`.
final class RawClient {
  struct TimedOut: Error {}

  private let socket: Socket
  private var poller: Poller
  private var session: TLSSession?
  private var sessionIsUp = false

  /// The longest time that a call waits. It is far longer than any step takes over loopback, so only a broken server exceeds it.
  private static let patience = Duration.seconds(20)

  init(port: UInt16, address: String = "127.0.0.1") throws {
    guard let address = SocketAddress(numeric: address, port: port) else { throw OriginError.notAnAddress(address) }
    poller = try Poller(batchMax: 1)
    socket = try Socket.connect(to: address)
    try poller.add(socket.number, .writable, token: 1)
    try wait(for: .writable)
    try socket.finishConnecting()
  }

  convenience init(_ server: OriginServer) throws {
    try self.init(port: server.port)
  }

  /// Performs a TLS handshake that verifies the server's certificate with the authority in `authorityPEM`.
  func startTLS(trusting authorityPEM: [UInt8], host: String = "localhost") throws {
    let context = try TLSContext(client: TLSConfiguration(trustRoots: [.pem(authorityPEM)]))
    session = try TLSSession(client: context, host: host, port: 443)
    while try session?.handshake() == .needMoreBytes {
      try flush()
      feed(try receiveFromSocket())
    }
    sessionIsUp = true
    try flush()
  }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    guard sessionIsUp else { return try sendToSocket(bytes) }
    try session?.write(bytes.span.bytes)
    try flush()
  }

  /// Waits for bytes, and returns those received since the last call. Returns an empty array at the end of the connection.
  func receive() throws -> [UInt8] {
    guard sessionIsUp else { return try receiveFromSocket() }
    var buffer = [UInt8](repeating: 0, count: 32 * 1024)
    while true {
      switch try session?.read(into: &buffer) {
      case .bytes(let count): return Array(buffer[..<count])
      case .closed, nil: return []
      case .needMoreBytes: feed(try receiveFromSocket())
      }
    }
  }

  /// Receives until the connection ends, and returns the bytes as text.
  func receiveAll() throws -> String {
    var bytes: [UInt8] = []
    while true {
      let more = try receive()
      if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
      bytes += more
    }
  }

  /// Receives until `end` has arrived, and returns the text up to and including `end`.
  func receive(through end: String) throws -> String {
    var text = ""
    while !text.hasSuffix(end) {
      let more = try receive()
      if more.isEmpty { return text }
      text += String(decoding: more, as: UTF8.self)
    }
    return text
  }

  /// Shuts down the sending direction of the connection. With TLS, sends close_notify first unless `notifying` is false.
  func finishSending(notifying: Bool = true) throws {
    if notifying, sessionIsUp {
      session?.queueCloseNotify()
      try flush()
    }
    socket.shutdownSending()
  }

  /// Makes the deallocation of this client reset the connection with RST, instead of closing it.
  func resetAtEnd() { socket.resetOnClose() }

  private func feed(_ ciphertext: [UInt8]) {
    if ciphertext.isEmpty { session?.receiveEnd() } else { session?.receive(ciphertext.span.bytes) }
  }

  private func flush() throws {
    var output: [UInt8] = []
    session?.drainOutput(into: &output)
    try sendToSocket(output)
  }

  private func sendToSocket(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      if let count = try socket.send(bytes, from: sent) { sent += count } else { try wait(for: .writable) }
    }
  }

  private func receiveFromSocket() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 32 * 1024)
    while true {
      if let count = try socket.receive(into: &buffer) { return Array(buffer[..<count]) }
      try wait(for: .readable)
    }
  }

  private func wait(for interest: Poller.Interest) throws {
    try poller.modify(socket.number, interest, token: 1)
    let deadline = Instant.now + Self.patience
    var events: [Poller.Event] = []
    while events.isEmpty {
      guard Instant.now < deadline else { throw TimedOut() }
      try poller.wait(until: deadline, now: .now, into: &events)
    }
  }
}
