// CloseReason: the reasons why a connection isn't reused.

/// The reason why a connection was closed or must be closed.
public enum CloseReason: String, Sendable, Hashable, CaseIterable {
  // Reasons in the messages on the connection.

  /// The server marks the end of the response body by closing the connection.
  case bodyEndsWithClose
  /// The server's response had `Connection: close`.
  case serverAskedForClose
  /// The request had `Connection: close`.
  case clientAskedForClose
  /// The response was HTTP/1.0, and had no `Connection: keep-alive` or had a Transfer-Encoding field.
  case http10WithoutKeepAlive
  /// The response had both Content-Length and Transfer-Encoding (RFC 9112 §6.3), or it was a 204 that announced content with one of
  /// these fields (RFC 9110 §8.6, RFC 9112 §6.1).
  case ambiguousFraming
  /// The response's Keep-Alive field permitted no further request (`timeout=0` or `max=0`), or the connection was idle until
  /// shortly before the time in this field ended (RFC 2068 §19.7.1.1).
  case keepAliveLimit
  /// The server sent bytes after a complete response or on an idle connection.
  case unsolicitedBytes
  /// The response was complete before the request had been completely sent.
  case requestUnfinished
  /// The server closed the connection, or the connection was lost, when no exchange used it: after a complete response, while the
  /// client discarded the rest of a response, or while the connection was idle.
  case closedByPeer

  // Outcomes of the exchange on the connection.

  /// The exchange failed, for example because the connection was lost or the response was malformed.
  case exchangeFailed
  /// The caller cancelled the exchange.
  case cancelled
  /// The caller didn't read the rest of the response body, and the rest was too long to read and discard.
  case bodyUnwanted
  /// The exchange exceeded one of its time limits.
  case timedOut

  // Decisions of the pool.

  /// The connection was idle for longer than the idle timeout.
  case idleTimeout
  /// The pool had more idle connections than permitted, in total or to the same origin, and this connection had been idle longest.
  case idleLimit
  /// The connection exceeded its maximum age.
  case ageLimit
  /// The connection served the maximum number of requests per connection.
  case usesLimit
  /// The name of the origin, or of its proxy, no longer has the address of the connection.
  case addressWithdrawn
  /// The pool had its maximum number of connections, and closed this connection to open one to another origin.
  case totalLimit
  /// The process had no file descriptors left, so the pool closed this connection to open another one.
  case descriptorsNeeded
  /// The connection switched to another protocol and was handed over to the caller that requested the switch.
  case upgraded
  /// The engine was shut down while the connection was open.
  case shutdown
}

extension CloseReason: CustomStringConvertible {
  /// A sentence that explains the reason.
  public var description: String {
    switch self {
    case .bodyEndsWithClose:
      "The response body had no length, so the end of the connection marked its end (RFC 9112 §6.3)."
    case .serverAskedForClose: "The server sent \"Connection: close\" (RFC 9112 §9.6)."
    case .clientAskedForClose: "The request contained \"Connection: close\" (RFC 9112 §9.6)."
    case .http10WithoutKeepAlive:
      "The server uses HTTP/1.0 and didn't send \"Connection: keep-alive\" (RFC 9112 §9.3)."
    case .ambiguousFraming:
      "The response had both Content-Length and Transfer-Encoding, or announced content with the status 204, which may be an "
        + "attack (RFC 9112 §6.1, §6.3)."
    case .keepAliveLimit:
      "The server's Keep-Alive field permitted no further request, or the idle connection was about to reach its time limit."
    case .unsolicitedBytes: "The server sent bytes that don't answer any request."
    case .requestUnfinished:
      "The response ended before the request was sent completely, so the connection's state is undefined."
    case .closedByPeer: "The server closed the connection after a response, or while the connection was idle."
    case .exchangeFailed: "The connection's exchange failed, so the end of its response is unknown."
    case .cancelled: "The connection's exchange was cancelled before the response was complete."
    case .bodyUnwanted: "The rest of the response wasn't needed and was too long to be read and discarded."
    case .timedOut: "The connection's exchange exceeded its time limit."
    case .idleTimeout: "The connection was idle for longer than the idle timeout."
    case .idleLimit: "The pool had more idle connections than it may keep."
    case .ageLimit: "The connection exceeded the pool's maximum age."
    case .usesLimit: "The connection had served the pool's maximum number of requests per connection."
    case .addressWithdrawn: "The connection's address is no longer among the addresses of the name."
    case .totalLimit: "The pool had reached its maximum number of connections and needed one for another origin."
    case .descriptorsNeeded:
      "The file descriptors had run out (ulimit -n), so the pool closed this connection to open another one."
    case .upgraded: "The connection was handed over to another protocol (RFC 9110 §7.8)."
    case .shutdown: "The engine was shut down."
    }
  }
}
