// Why a connection isn't used again.

/// The reason why a connection was, or has to be, closed.
public enum CloseReason: String, Sendable, Hashable, CaseIterable {
  // What the messages on it said or left open.

  /// The response's body ends with the connection.
  case bodyEndsWithClose
  /// The server sent `Connection: close`.
  case serverAskedForClose
  /// The request said `Connection: close`.
  case clientAskedForClose
  /// HTTP/1.0 without `Connection: keep-alive`.
  case http10WithoutKeepAlive
  /// Content-Length and Transfer-Encoding stood together (RFC 9112 §6.3).
  case ambiguousFraming
  /// Bytes came behind a complete response, or on an idle connection.
  case unsolicitedBytes
  /// The response ended before the request was sent completely.
  case requestUnfinished
  /// The server closed the connection while it was idle.
  case closedByPeer

  // How the exchange on it ended.

  /// The exchange failed: the connection was lost, or the response is malformed.
  case exchangeFailed
  /// The exchange was cancelled.
  case cancelled
  /// Nobody wanted the rest of the response's body, and it was too long to be read for nothing.
  case bodyUnwanted
  /// The exchange took longer than one of its limits.
  case timedOut

  // What the pool decided.

  /// It was idle for longer than the idle timeout.
  case idleTimeout
  /// The pool already keeps as many idle connections as it may.
  case idleLimit
  /// It is older than connections may become.
  case ageLimit
  /// It has served as many requests as a connection may.
  case usesLimit
  /// It made room for a connection to another origin, as there may be no more in all.
  case totalLimit
  /// It freed its descriptor for another connection, as the system had none left.
  case descriptorsNeeded
  /// It speaks another protocol by now, and was handed over to whoever asked for that.
  case upgraded
  /// The engine was shut down.
  case shutdown
}

extension CloseReason: CustomStringConvertible {
  /// A sentence that explains it.
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
