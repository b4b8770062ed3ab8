// Peer: a client's connection, as the server's handler uses it. Peer+Requests.swift reads requests, and Peer+Responses.swift
// sends well-formed responses.

internal import LupineLoopback
internal import LupineReactor
package import LupineTLS

/// A client's connection, on which a server's handler reads requests and sends responses. It isn't Sendable; only the handler's
/// thread may use it.
package final class Peer {
  /// The index of the connection. The server counts the connections that it accepts from 0.
  package let connectionIndex: Int
  /// The method of the latest request. It determines whether a response has a body, because a response to HEAD has none (RFC 9110
  /// §9.3.2).
  var lastMethod = ""
  /// The bytes that were received from the client, but that the handler hasn't read yet.
  var unread: [UInt8] = []
  let registry: ConnectionRegistry
  private var line: (any Line)?

  /// Creates the peer of the connection with this index. Returns nil if the connection is no longer in the registry.
  init?(index: Int, registry: ConnectionRegistry) {
    guard let socket = registry.socket(index) else { return nil }
    connectionIndex = index
    self.registry = registry
    line = PlainLine(socket)
  }

  /// The negotiated TLS parameters of the connection, or nil if it has no TLS.
  package var tlsInfo: TLSInfo? { line?.tlsInfo }

  /// Performs a TLS handshake as the server. All later bytes are sent with TLS. Use this method if a connection starts without
  /// TLS, for example with a CONNECT request. Throws a `TLSError` if the handshake fails, and a `SystemError` if the connection is
  /// lost.
  package func startTLS(_ identity: ServerIdentity) throws {
    line = try TLSLine(openLine(), identity.context, received: exchange(&unread, with: []))
  }
}

extension Peer {
  /// Sends the text's UTF-8 bytes to the client without HTTP framing. Blocks until the kernel has accepted them. Throws a
  /// `SystemError` if the connection is lost.
  package func send(_ text: String) throws {
    try send(Array(text.utf8))
  }

  /// Sends bytes to the client without HTTP framing. Blocks until the kernel has accepted them. Throws a `SystemError` if the
  /// connection is lost.
  package func send(_ bytes: [UInt8]) throws {
    try openLine().write(bytes)
  }

  /// Sends bytes without TLS on a TLS connection, as if an attacker on the network had injected them. Blocks like `send`.
  package func sendUnencrypted(_ bytes: [UInt8]) throws {
    try openLine().socket.sendAll(bytes)
  }

  /// Blocks until bytes arrive from the client, and returns them. Returns an empty array if the client has closed its sending side.
  package func receive() throws -> [UInt8] {
    if unread.isEmpty { return try openLine().read() }
    return exchange(&unread, with: [])
  }

  /// Blocks the thread until the gate is open. Throws `OriginError.stopped` if the server stops first.
  package func wait(for gate: Gate) throws(OriginError) {
    Gate.waitBlocking(forAnyOf: [gate, registry.stopped])
    if !gate.isOpen { throw .stopped }
  }

  /// Blocks the thread for `duration`. Throws `OriginError.stopped` if the server stops first.
  package func pause(for duration: Duration) throws(OriginError) {
    if !registry.pause(for: duration) { throw .stopped }
  }

  private func openLine() throws(OriginError) -> any Line {
    guard let line else { throw .closed }
    return line
  }
}

extension Peer {
  /// How a client's connection ended, and how much the handler left unread.
  package struct Ending: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
      /// The client closed its sending side. With TLS, it had sent close_notify before.
      case closed
      /// The client closed its sending side of a TLS connection without close_notify.
      case truncated
      /// The client reset the TCP connection (RST).
      case reset
      /// The server stopped before the client ended the connection.
      case stopped
    }

    package let cause: Cause
    /// The number of bytes that the server had received when the connection ended, but that the handler didn't read.
    package let byteCount: Int
  }

  /// Closes both directions of the connection with a FIN. With TLS, sends close_notify first.
  ///
  /// If the client has sent bytes that the handler didn't read, the kernel also sends a reset. To avoid the reset, call
  /// `finishSending` and `awaitClose` instead.
  package func close() {
    finishSending()
    drop()
  }

  /// Closes both directions of the connection with a reset (RST). Data that the kernel hasn't sent yet is lost.
  package func reset() {
    line?.socket.resetOnClose()
    drop()
  }

  /// Closes the sending direction with a FIN. With TLS, sends close_notify first. The handler can still read the client's data.
  package func finishSending() {
    // Errors are ignored, because a client that has disconnected doesn't need close_notify.
    try? line?.sayGoodbye()
    finishSendingWithoutNotify()
  }

  /// Closes the sending direction without TLS's close_notify, as if the connection had been cut off during the response.
  package func finishSendingWithoutNotify() { line?.socket.shutdownSending() }

  /// Blocks until the client has closed its sending side or the server has stopped. Discards the bytes that still arrive.
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

  /// Releases the connection's socket. The socket is closed when no other reference to it exists.
  private func drop() {
    line = nil
    registry.remove(connectionIndex)
  }
}
