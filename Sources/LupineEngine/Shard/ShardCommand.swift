// ShardCommand: the messages from other threads to a shard.

internal import LupineReactor
internal import LupineTLS

/// A message from any thread to a shard, sent through the shard's inbox.
enum ShardCommand: Sendable {
  case submit(Submission)
  case cancel(ExchangeID)
  case setPaused(ExchangeID, Bool)
  case extendWindow(ExchangeID, Int)
  case discardBody(ExchangeID)
  /// Starts TLS on the connection of a raw stream.
  case startTLS(ExchangeID)
  /// The producer of the exchange's request body has written bytes for which the exchange was waiting.
  case bodyReady(ExchangeID)
  case resolved(ConnectionID, Result<[SocketAddress], ResolveError>)
  /// The certificate verifier of the connection being opened has decided.
  case verified(ConnectionID, Verdict)
  /// The addresses of a name were looked up again, because its earlier ones have expired.
  case refreshed(PoolKey, host: String, Result<[SocketAddress], ResolveError>)
  /// Open up to `count` connections for requests like this one in advance.
  case prewarm(EngineRequest, count: Int, completion: Prewarming.Completion)
  case count(@Sendable (PoolCounters) -> Void)
  /// Retain the shard's owner until the shard has no exchange.
  case retain(any AnyObject & Sendable)
  /// Shut the shard down: at once or, if `isGraceful` is true, when the exchanges that have a connection have ended, but at the
  /// latest after `limit`.
  case shutDown(isGraceful: Bool, limit: Duration? = nil, completion: (@Sendable () -> Void)?)
}
