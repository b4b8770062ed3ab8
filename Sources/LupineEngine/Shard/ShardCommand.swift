// ShardCommand: the messages from other threads to a shard.

internal import LupineReactor

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
  case count(@Sendable (PoolCounters) -> Void)
  case shutDown(isGraceful: Bool, completion: (@Sendable () -> Void)?)
}
