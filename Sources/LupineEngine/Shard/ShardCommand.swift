// ShardCommand: the messages from other threads to a shard.

internal import LupineReactor
internal import LupineTLS

/// A message to a shard, sent through its inbox.
enum ShardCommand: Sendable {
  case submit(Submission)
  case cancel(ExchangeID)
  case setPaused(ExchangeID, Bool)
  case extendWindow(ExchangeID, Int)
  case discardBody(ExchangeID)
  /// The producer of the exchange's body has more bytes, after a pull returned none.
  case bodyReady(ExchangeID)
  case resolved(ConnectionID, Result<[SocketAddress], ResolveError>)
  /// The verifier of an opening's server has decided.
  case verified(ConnectionID, Verdict)
  case count(@Sendable (PoolCounters) -> Void)
  /// Stop at once or, if graceful, when the exchanges that have a connection have ended, but at the latest after `limit`.
  case shutDown(isGraceful: Bool, limit: Duration? = nil, completion: (@Sendable () -> Void)?)
  /// Reduce the exchange's window to at most this number of bytes.
  case limitWindow(ExchangeID, Int)
}
