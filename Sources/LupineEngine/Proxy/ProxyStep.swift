// ProxyStep: the next step of a handshake with a proxy, as its handshakes return it.

/// The next step of a handshake with a proxy.
enum ProxyStep: Sendable, Equatable {
  /// All given bytes were used, and the reply is incomplete.
  case needMoreBytes
  /// Send these bytes, then continue to receive.
  case send([UInt8])
  /// The tunnel is open. Bytes after the cursor come from the destination.
  case done
}
