// Shard+Prewarming: opens connections before requests need them.

extension Shard {
  /// Opens connections for requests like this one, until `count` are ready, as far as the pool's limits permit.
  func prewarm(_ request: EngineRequest, _ count: Int, _ completion: @escaping Prewarming.Completion) {
    guard let key = try? key(of: request, 0) else { return completion(0) }
    let prewarming = Prewarming(readyCount: min(pool.idleCount(key), count), completion)
    for action in pool.prewarm(key, count: count) {
      guard case .prewarm(let id, let key) = action else { preconditionFailure("prewarming led to \(action)") }
      // An earlier opening may have failed at once, and its failure may have made the pool abandon this one.
      if pool.isOpening(id) { open(Opening(id: id, key, request.timeouts, prewarming)) }
    }
  }

  /// Opens the connections that the exchange's origin lacks for `PoolLimits.readyPerOriginMin`.
  func keepReady(like exchange: Exchange) {
    guard exchange.key.exclusiveTo == nil else { return }
    perform(pool.prewarm(exchange.key, count: configuration.pool.readyPerOriginMin))
  }
}
