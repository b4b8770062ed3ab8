// What happens in an engine, as it happens: for logs, traces and people who wonder.

public import LupineReactor
public import LupineTLS
public import LupineWire

/// Something that has happened on one of an engine's loops.
///
/// Exchanges and connections are named by numbers that are unique on their loop.
public struct TraceEvent: Sendable {
  /// What happened.
  public enum Kind: Sendable {
    /// A request was handed to the engine.
    case exchangeStarted(exchange: UInt64, method: String, uri: URI)
    /// The request waits for a connection, and none is being opened on its behalf.
    case exchangeWaits(exchange: UInt64)
    /// A connection is being opened on behalf of a request.
    case connectionStarted(connection: UInt64, origin: Origin, exchange: UInt64)
    /// A host was looked up; it has so many addresses.
    case hostResolved(connection: UInt64, host: String, addresses: [SocketAddress])
    /// An address is tried.
    case addressTried(connection: UInt64, address: SocketAddress)
    /// An address couldn't be connected to; others may follow.
    case addressFailed(connection: UInt64, error: SystemError)
    /// The proxy has opened a tunnel.
    case tunnelOpened(connection: UInt64, proxy: Proxy)
    /// The TLS handshake is done.
    case handshakeDone(connection: UInt64, tls: TLSInfo)
    /// The connection can be used.
    case connectionOpened(connection: UInt64)
    /// A connection couldn't be opened.
    case connectionFailed(connection: UInt64, error: EngineError)
    /// The request's first byte is about to be sent.
    case requestStarted(exchange: UInt64, connection: UInt64, isReused: Bool)
    /// The request's last byte was handed to the system.
    case requestSent(exchange: UInt64)
    /// A response's head came, also an interim one.
    case headReceived(exchange: UInt64, status: Int)
    /// The request is sent again: its connection turned out to be closed, or the server can't meet its expectation.
    case exchangeRestarted(exchange: UInt64)
    /// The exchange has ended; nil is a complete response.
    case exchangeEnded(exchange: UInt64, error: EngineError?)
    /// A connection was closed.
    case connectionClosed(connection: UInt64, reason: CloseReason)
  }

  /// When it happened.
  public let time: Instant
  /// On which of the engine's loops, from 0.
  public let loop: Int
  /// What happened.
  public let kind: Kind
}
