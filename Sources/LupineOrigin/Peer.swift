// One connection as a handler scripts it, step by step. What is read is in Peer+Requests.swift, well-formed responses are
// in Peer+Responses.swift.

internal import LupineReactor
package import LupineTLS

/// A client's connection. Not Sendable: it belongs to the thread of its handler.
package final class Peer {
  /// 0 for the first connection that the server accepted.
  package let connectionIndex: Int
  /// Method of the request that was read last; a response to HEAD has no body (RFC 9110 §9.3.2).
  var lastMethod = ""
  /// Received, but not used yet.
  var unread: [UInt8] = []
  let registry: ConnectionRegistry
  private var line: (any Line)?

  /// Nil if the connection has been removed.
  init?(index: Int, registry: ConnectionRegistry) {
    guard let socket = registry.socket(index) else { return nil }
    connectionIndex = index
    self.registry = registry
    line = PlainLine(socket)
  }

  /// What TLS agreed on, or nil without it.
  package var tlsInfo: TLSInfo? { line?.tlsInfo }

  /// Shakes hands as the server; what follows goes through TLS. For a connection that begins in clear, with a CONNECT.
  /// Throws why it failed.
  package func startTLS(_ identity: ServerIdentity) throws {
    let socket = try openLine().socket
    let received = unread
    unread = []
    line = try TLSLine(socket, identity.context, received: received)
  }
}

extension Peer {
  /// Sends text as UTF-8, as it is. Blocks until the kernel has taken it; throws if the client is gone.
  package func send(_ text: String) throws {
    try send(Array(text.utf8))
  }

  /// Sends bytes as they are. Blocks until the kernel has taken them; throws if the client is gone.
  package func send(_ bytes: [UInt8]) throws {
    try openLine().write(bytes)
  }

  /// Sends bytes past TLS, as if somebody on the way had put them in. Blocks as `send` does.
  package func sendUnencrypted(_ bytes: [UInt8]) throws {
    try openLine().socket.sendAll(bytes)
  }

  /// Blocks until the client sends something, and returns it; empty if it has closed its side.
  package func receive() throws -> [UInt8] {
    if unread.isEmpty { return try openLine().read() }
    let bytes = unread
    unread = []
    return bytes
  }

  /// Blocks until the gate is open. Throws `OriginError.stopped` if the server is stopped before.
  package func wait(for gate: Gate) throws(OriginError) {
    Gate.waitBlocking(forAnyOf: [gate, registry.stopped])
    if !gate.isOpen { throw .stopped }
  }

  /// Blocks for that long. Throws `OriginError.stopped` if the server is stopped before.
  package func pause(for duration: Duration) throws(OriginError) {
    if !registry.pause(for: duration) { throw .stopped }
  }

  private func openLine() throws(OriginError) -> any Line {
    guard let line else { throw .closed }
    return line
  }
}

extension Peer {
  /// How a client left.
  package struct Ending: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
      /// It closed its side, with TLS after close_notify.
      case closed
      /// With TLS: it closed without close_notify.
      case truncated
      /// It cut the connection.
      case reset
      /// The server was stopped before.
      case stopped
    }

    package let cause: Cause
    /// Bytes that came before and that the handler hadn't read.
    package let byteCount: Int
  }

  /// Ends both directions: a FIN, with TLS after close_notify. The kernel lets a reset follow if the client has sent
  /// what nobody read; `finishSending` and `awaitClose` avoid that.
  package func close() {
    finishSending()
    drop()
  }

  /// Ends both directions with a reset; what the kernel hasn't sent yet is lost.
  package func reset() {
    line?.socket.resetOnClose()
    drop()
  }

  /// Ends the sending direction only: a FIN, with TLS after close_notify. The client can still be read.
  package func finishSending() {
    // Who is gone needs no goodbye.
    try? line?.sayGoodbye()
    finishSendingWithoutNotify()
  }

  /// The same without close_notify, as if the response had been cut.
  package func finishSendingWithoutNotify() { line?.socket.shutdownSending() }

  /// Blocks until the client has closed its side or the server is stopped; reads and drops what still comes.
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

  /// The socket closes with the last reference to it.
  private func drop() {
    line = nil
    registry.remove(connectionIndex)
  }
}
