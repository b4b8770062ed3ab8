// Peer: a client's connection, as the server's handler uses it. Peer+Requests.swift reads requests, and Peer+Responses.swift
// sends well-formed responses.

internal import LupineLoopback
internal import LupineReactor
package import LupineTLS

/// The connection of a client. It isn't Sendable; only its handler's thread may use it.
package final class Peer {
  /// The connection's zero-based index, in the order in which the server accepted its connections.
  package let connectionIndex: Int
  /// The method of the last request. It is kept because a response to HEAD has no body (RFC 9110 §9.3.2).
  var lastMethod = ""
  /// The bytes that were received, but not yet consumed.
  var unread: [UInt8] = []
  let registry: ConnectionRegistry
  private var line: (any Line)?

  /// Returns nil if the connection has already been removed from the registry.
  init?(index: Int, registry: ConnectionRegistry) {
    guard let socket = registry.socket(index) else { return nil }
    connectionIndex = index
    self.registry = registry
    line = PlainLine(socket)
  }

  /// The negotiated TLS parameters, or nil without TLS.
  package var tlsInfo: TLSInfo? { line?.tlsInfo }

  /// Performs a TLS handshake as the server. All later bytes are sent with TLS. Use this method if a connection starts without
  /// TLS, for example with a CONNECT request. Throws if the handshake fails.
  package func startTLS(_ identity: ServerIdentity) throws {
    let below = try openLine()
    let received = unread
    unread = []
    line = try TLSLine(below, identity.context, received: received)
  }
}

extension Peer {
  /// Sends text unchanged, as UTF-8. Blocks until the kernel has accepted it. Throws if the connection is lost.
  package func send(_ text: String) throws {
    try send(Array(text.utf8))
  }

  /// Sends bytes unchanged. Blocks until the kernel has accepted them. Throws if the connection is lost.
  package func send(_ bytes: [UInt8]) throws {
    try openLine().write(bytes)
  }

  /// Sends bytes without TLS on a TLS connection, as if an attacker on the network had injected them. Blocks like `send`.
  package func sendUnencrypted(_ bytes: [UInt8]) throws {
    try openLine().socket.sendAll(bytes)
  }

  /// Blocks until bytes arrive, and returns them. Returns an empty array if the client has closed its side of the connection.
  package func receive() throws -> [UInt8] {
    if unread.isEmpty { return try openLine().read() }
    let bytes = unread
    unread = []
    return bytes
  }

  /// Blocks until the gate is open. Throws `OriginError.stopped` if the server stops before.
  package func wait(for gate: Gate) throws(OriginError) {
    Gate.waitBlocking(forAnyOf: [gate, registry.stopped])
    if !gate.isOpen { throw .stopped }
  }

  /// Blocks for `duration`. Throws `OriginError.stopped` if the server stops before.
  package func pause(for duration: Duration) throws(OriginError) {
    if !registry.pause(for: duration) { throw .stopped }
  }

  private func openLine() throws(OriginError) -> any Line {
    guard let line else { throw .closed }
    return line
  }
}

extension Peer {
  /// The way in which a client's connection ended.
  package struct Ending: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
      /// The client closed its side of the connection. With TLS, the client sent close_notify before.
      case closed
      /// The client closed its side of a TLS connection without sending close_notify.
      case truncated
      /// The connection was reset.
      case reset
      /// The server stopped before the client ended the connection.
      case stopped
    }

    package let cause: Cause
    /// The number of bytes that were received before the end, but not read by the handler.
    package let byteCount: Int
  }

  /// Closes both directions with a FIN. With TLS, sends close_notify before. If the client has sent bytes that weren't read, the
  /// kernel also sends a reset. To avoid this, call `finishSending` and `awaitClose` instead.
  package func close() {
    finishSending()
    drop()
  }

  /// Closes both directions with a reset. Data that the kernel hasn't sent is lost.
  package func reset() {
    line?.socket.resetOnClose()
    drop()
  }

  /// Closes the sending direction with a FIN. With TLS, sends close_notify before. The client's data can still be read.
  package func finishSending() {
    // Errors are ignored, because a client that has disconnected doesn't need close_notify.
    try? line?.sayGoodbye()
    finishSendingWithoutNotify()
  }

  /// Closes the sending direction without close_notify, as if the response had been cut off.
  package func finishSendingWithoutNotify() { line?.socket.shutdownSending() }

  /// Blocks until the client has closed its side of the connection or the server has stopped. Discards the bytes that still
  /// arrive.
  package func awaitClose() throws(OriginError) -> Ending {
    let line = try openLine()
    var byteCount = unread.count
    unread = []
    var cause = Ending.Cause.closed
    do {
      while true {
        let count = try line.read().count
        if count == 0 { break }
        byteCount += count
      }
    } catch let error as TLSError where error.code == .truncated {
      cause = .truncated
    } catch {
      cause = .reset
    }
    return Ending(cause: registry.isStopped ? .stopped : cause, byteCount: byteCount)
  }

  /// Releases the socket, which closes when no other reference to it exists.
  private func drop() {
    line = nil
    registry.remove(connectionIndex)
  }
}
