// TraceEvent: the events of an engine, for logs and traces.

public import LupineReactor
public import LupineTLS
public import LupineWire

/// An event on one of an engine's event loops, for logs and traces.
///
/// The numbers of exchanges and connections are unique within their loop.
public struct TraceEvent: Sendable {
  /// The kind of event, with its data.
  public enum Kind: Sendable {
    /// The event loop received a request.
    case exchangeStarted(exchange: UInt64, method: String, uri: URI)
    /// The exchange waits for a connection, and no connection is being opened on its behalf.
    case exchangeWaits(exchange: UInt64)
    /// The event loop began to open a connection for an exchange, or in advance if `exchange` is nil.
    case connectionStarted(connection: UInt64, origin: Origin, exchange: UInt64?)
    /// The lookup of a host returned the associated addresses.
    case hostResolved(connection: UInt64, host: String, addresses: [SocketAddress])
    /// The event loop began to connect to an address.
    case addressTried(connection: UInt64, address: SocketAddress)
    /// Connecting to an address failed. The event loop may try other addresses.
    case addressFailed(connection: UInt64, error: SystemError)
    /// The proxy opened a tunnel to the server.
    case tunnelOpened(connection: UInt64, proxy: Proxy)
    /// The TLS handshake with the server is complete.
    case handshakeDone(connection: UInt64, tls: TLSInfo)
    /// The connection is open and ready for requests.
    case connectionOpened(connection: UInt64)
    /// A connection couldn't be opened.
    case connectionFailed(connection: UInt64, error: EngineError)
    /// The first byte of the request is about to be sent.
    case requestStarted(exchange: UInt64, connection: UInt64, isReused: Bool)
    /// The last byte of the request was passed to the system.
    case requestSent(exchange: UInt64)
    /// The head of a response arrived, possibly of an interim response.
    case headReceived(exchange: UInt64, status: Int)
    /// The request is sent again, because its connection turned out to be closed or the server couldn't meet the request's
    /// expectation (417).
    case exchangeRestarted(exchange: UInt64)
    /// The exchange ended. `error` is nil after a complete response.
    case exchangeEnded(exchange: UInt64, error: EngineError?)
    /// A connection was closed.
    case connectionClosed(connection: UInt64, reason: CloseReason)
  }

  /// The time of the event.
  public let time: Instant
  /// The index of the event loop, counted from 0.
  public let loop: Int
  /// The kind of event, with its data.
  public let kind: Kind
}
