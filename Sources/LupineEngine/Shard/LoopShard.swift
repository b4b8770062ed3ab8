// LoopShard: the actor that runs a shard on an event loop.

internal import LupineReactor
internal import LupineTLS

/// The handler of an event loop. The loop is the actor's executor, so the shard is used only on the loop's thread.
actor LoopShard: LoopHandler {
  nonisolated let loop: EventLoop
  /// The executor for tasks that prefer the loop's thread.
  nonisolated let taskExecutor: LoopTaskExecutor
  /// Resumes tasks that wait on other threads.
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
    resumptions.beginIteration()
    defer { resumptions.endIteration() }
    return shard.turn(events, fetched: fetched, now: now)
  }
}
