// Engine+Prewarming: opens connections before requests need them.

public import LupineWire

extension Engine {
  /// Opens connections to an origin in advance, so that the first requests needn't wait for lookups, TCP and TLS. Returns when they are
  /// open or have failed.
  ///
  /// Connections that are idle already count. The pool's limits apply: fewer connections are opened if `connectionsPerOriginMax`,
  /// `connectionsMax`, `idlePerOriginMax` or `idleMax` don't permit more, and none while requests wait for a place. A connection that
  /// no request uses is closed after `PoolLimits.idleTimeout`. A request that is sent before the connections are open opens its own.
  /// Cancelling the task doesn't end the call, which takes no longer than the time limits of the phases.
  ///
  /// - Parameters:
  ///   - origin: The origin to which to connect.
  ///   - count: The number of connections that should be ready, idle ones included. It is divided among the origin's loops, and rounded
  ///     up. At least 0.
  ///   - settings: The settings of the connections that differ from the engine's. Only requests with the same settings use them.
  ///   - timeouts: The time limits for opening a connection. By default, those of `Timeouts()`.
  /// - Returns: The number of connections that were idle or have been opened, at most the number ordered. If it is smaller than
  ///   `count`, a limit of the pool was reached, or connections couldn't be opened: a request then fails with the reason.
  @discardableResult
  public func prewarm(
    _ origin: Origin, count: Int, _ settings: ConnectionSettings? = nil, timeouts: Timeouts = Timeouts()
  ) async -> Int {
    precondition(count >= 0, "the number of connections must not be negative")
    var request = EngineRequest(uri: URI(origin), timeouts: timeouts)
    request.connection = settings
    prepareTLS(for: request)
    let shards = shards(for: origin)
    let share = count / shards.count + (count % shards.count > 0 ? 1 : 0)
    return await withTaskGroup { [request] group in
      for shard in shards {
        group.addTask {
          await withCheckedContinuation { continuation in
            shard.inbox.send(.prewarm(request, count: share) { continuation.resume(returning: $0) })
          }
        }
      }
      return await group.reduce(0, +)
    }
  }
}
