// A shard on a loop's thread.

internal import LupineReactor
internal import LupineTLS

/// The actor that a loop drives; its executor is that loop, so that the shard is touched on the loop's thread alone.
actor LoopShard: LoopHandler {
  nonisolated let loop: EventLoop
  /// For tasks that prefer the loop's thread.
  nonisolated let taskExecutor: LoopTaskExecutor
  /// For tasks that wait elsewhere.
  nonisolated let resumptions = Resumptions()
  nonisolated let inbox: Inbox
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let shard: Shard

  init(
    _ configuration: EngineConfiguration, index: Int, proxyRules: ProxyRules, loop: EventLoop, resolver: NameService,
    tlsContexts: TLSContexts
  ) {
    self.loop = loop
    taskExecutor = LoopTaskExecutor(loop)
    inbox = Inbox { loop.wake() }
    shard = Shard(
      configuration, index: index, proxyRules: proxyRules, network: loop, resolver: resolver, tlsContexts: tlsContexts,
      inbox: inbox)
  }

  func gather() -> Bool { shard.gather() }

  func turn(_ events: [Poller.Event], fetched: Instant, now: Instant) -> Instant? {
    resumptions.open()
    defer { resumptions.close() }
    return shard.turn(events, fetched: fetched, now: now)
  }
}
