// ProxyStep: the next step of a handshake with a proxy.

/// The next step that a handshake with a proxy requires from its caller.
enum ProxyStep: Sendable, Equatable {
  /// Receive more bytes. All bytes so far were consumed, and the reply is incomplete.
  case needMoreBytes
  /// Send these bytes, then continue to receive.
  case send([UInt8])
  /// Use the tunnel, which is now open. The bytes after the cursor come from the destination of the tunnel.
  case done
}
