// Why a connection isn't used again.

/// The reason why a connection was, or has to be, closed.
public enum CloseReason: String, Sendable, Hashable, CaseIterable {
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
  /// It was idle for longer than the idle timeout.
  case idleTimeout
  /// The pool already keeps as many idle connections as it may.
  case idleLimit
  /// The exchange failed, was cancelled or timed out.
  case exchangeFailed
  /// The engine was shut down.
  case shutdown
}
