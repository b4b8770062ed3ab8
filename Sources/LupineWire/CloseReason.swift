// CloseReason: why a connection isn't reused.

/// The reason why a connection was closed or must be closed.
public enum CloseReason: String, Sendable, Hashable, CaseIterable {
  // Reasons in the messages on the connection.

  /// The end of the connection marks the end of the response body.
  case bodyEndsWithClose
  /// The server sent `Connection: close`.
  case serverAskedForClose
  /// The request had `Connection: close`.
  case clientAskedForClose
  /// The response was HTTP/1.0 without `Connection: keep-alive`.
  case http10WithoutKeepAlive
  /// The response had both Content-Length and Transfer-Encoding (RFC 9112 §6.3).
  case ambiguousFraming
  /// The server sent bytes after a complete response or on an idle connection.
  case unsolicitedBytes
  /// The response ended before the request was completely sent.
  case requestUnfinished
  /// The server closed the connection while it was idle.
  case closedByPeer

  // Outcomes of the exchange on the connection.

  /// The exchange failed: the connection was lost, or the response was malformed.
  case exchangeFailed
  /// The exchange was cancelled.
  case cancelled
  /// The caller didn't read the rest of the response body, and the rest was too long to read and discard.
  case bodyUnwanted
  /// The exchange exceeded one of its timeouts.
  case timedOut

  // Decisions of the pool.

  /// The connection was idle for longer than the idle timeout.
  case idleTimeout
  /// The pool already had its maximum number of idle connections.
  case idleLimit
  /// The connection exceeded the maximum age.
  case ageLimit
  /// The connection served its maximum number of requests.
  case usesLimit
  /// The pool was at its limit of connections and closed this one to connect to another origin.
  case totalLimit
  /// The system had no descriptors left, so the pool closed this connection to open another one.
  case descriptorsNeeded
  /// The connection switched to another protocol and was handed over to the caller that requested the switch.
  case upgraded
  /// The engine was shut down.
  case shutdown
}

extension CloseReason: CustomStringConvertible {
  /// A sentence that explains the reason.
  public var description: String {
    switch self {
    case .bodyEndsWithClose: "The response's body had no length, and so ended with the connection (RFC 9112 §6.3)."
    case .serverAskedForClose: "The server sent \"Connection: close\" (RFC 9112 §9.6)."
    case .clientAskedForClose: "The request said \"Connection: close\" (RFC 9112 §9.6)."
    case .http10WithoutKeepAlive:
      "The server speaks HTTP/1.0 and didn't send \"Connection: keep-alive\" (RFC 9112 §9.3)."
    case .ambiguousFraming:
      "The response had both Content-Length and Transfer-Encoding, which may be an attack (RFC 9112 §6.3)."
    case .unsolicitedBytes: "The server sent bytes that belong to no request."
    case .requestUnfinished: "The response was complete before the request was, so what follows can't be told apart."
    case .closedByPeer: "The server closed it while it was idle."
    case .exchangeFailed: "The exchange on it failed, so what follows can't be told apart."
    case .cancelled: "The exchange on it was cancelled before the response was complete."
    case .bodyUnwanted: "Nobody wanted the rest of the response, which was too long to be read for nothing."
    case .timedOut: "The exchange on it took longer than its timeout."
    case .idleTimeout: "It was idle for longer than the idle timeout."
    case .idleLimit: "More connections were idle than the pool keeps."
    case .ageLimit: "It was older than the pool lets connections become."
    case .usesLimit: "It had served as many requests as the pool lets a connection serve."
    case .totalLimit: "It made room for another origin, as the pool had as many connections as it may have in all."
    case .descriptorsNeeded: "It freed its descriptor for another connection, as the system had none left (ulimit -n)."
    case .upgraded: "It was handed over to another protocol (RFC 9110 §7.8)."
    case .shutdown: "The engine was shut down."
    }
  }
}
