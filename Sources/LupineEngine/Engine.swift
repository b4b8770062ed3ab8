// The public handle: it owns the loops, and hands requests to the one that the origin belongs to.

public import LupineReactor
internal import Synchronization

/// An HTTP/1.1 client engine: event loops with their connection pools.
///
/// It may be used from any thread. When it is released, exchanges that are under way fail with `.shutDown`.
public final class Engine: Sendable {
  private let shards: [LoopShard]

  /// Starts the loops' threads. Throws what the system answered if it has no descriptors or threads left.
  public convenience init(configuration: EngineConfiguration = EngineConfiguration()) throws(SystemError) {
    try self.init(configuration: configuration, resolver: Resolver())
  }

  /// Starts an engine that looks hosts up in its own way.
  package init(configuration: EngineConfiguration, resolver: any HostResolver) throws(SystemError) {
    precondition(configuration.loopCount >= 1, "an engine needs a loop")
    precondition(configuration.connectionsPerOriginMax >= 1, "an origin needs a connection")
    var shards: [LoopShard] = []
    do {
      for index in 0..<configuration.loopCount {
        let shard = LoopShard(configuration, loop: try EventLoop(), resolver: resolver)
        try shard.loop.start(name: "lupine-loop-\(index)", handler: shard)
        shards.append(shard)
      }
    } catch {
      for shard in shards { shard.send(.shutDown) }
      throw error
    }
    self.shards = shards
  }

  deinit {
    for shard in shards { shard.send(.shutDown) }
  }

  /// Executes a request, and hands the response to `sink` on the loop's thread.
  ///
  /// `credit` is how many decoded body bytes the sink takes before it grants more; without a limit by default. The
  /// request is sent to its origin as it is: redirects are the caller's, by `RedirectRule`.
  @discardableResult
  public func submit(_ request: EngineRequest, to sink: any ResponseSink, credit: Int = .max) -> ExchangeHandle {
    precondition(credit >= 0, "a credit counts bytes")
    let shard =
      shards.count == 1 ? shards[0] : shards[Int(bitPattern: request.uri.origin.hashValue.magnitude) % shards.count]
    let id = shard.nextExchangeID()
    shard.send(.submit(id, request, sink, credit: credit))
    return ExchangeHandle(id: id, shard: shard)
  }
}

/// A request under way. Every call is a message to the loop, and does nothing once the exchange has ended.
public struct ExchangeHandle: Sendable {
  fileprivate let id: ExchangeID
  fileprivate let shard: LoopShard

  /// Ends the exchange with `.cancelled`, at whatever it is.
  public func cancel() { shard.send(.cancel(id)) }

  /// Stops handing over the body; the server is held back by TCP. The phases' timeouts stand
  /// still meanwhile, but for those of opening a connection.
  public func pause() { shard.send(.setPaused(id, true)) }

  /// Goes on behind a `pause`.
  public func resume() { shard.send(.setPaused(id, false)) }

  /// Lets the sink take that many more decoded bytes.
  public func grant(_ byteCount: Int) { shard.send(.grant(id, byteCount)) }
}
