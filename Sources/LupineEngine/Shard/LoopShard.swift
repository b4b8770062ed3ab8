// LoopShard: the actor that runs a shard on an event loop.

internal import LupineReactor
internal import LupineTLS

/// The actor that runs a shard in the iterations of an event loop. The loop is the actor's executor, so the shard is used only on
/// the loop's thread.
actor LoopShard: LoopHandler {
  nonisolated let loop: EventLoop
  /// The task executor that runs tasks on the loop's thread.
  nonisolated let taskExecutor: LoopTaskExecutor
  /// Resumes Swift tasks that wait for responses on other threads.
  nonisolated let resumptions: Resumptions
  nonisolated let inbox: Inbox
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// The event loop busy-polls before it sleeps only while the shard has at most 64 idle connections. With more, most events would
  /// be peers that close idle connections, and busy-polling for those isn't worthwhile.
  private static let busyPollIdleConnectionsMax = 64

  private let shard: Shard
  private let observer: (any IterationObserver)?

  init(
    _ configuration: EngineConfiguration, index: Int, environment: [String: String], loop: EventLoop,
    resolver: NameService, tlsContexts: TLSContexts, runBlocking: @escaping BlockingJobs,
    observer: (any IterationObserver)?
  ) {
    self.loop = loop
    self.observer = observer
    resumptions = Resumptions(of: loop)
    taskExecutor = LoopTaskExecutor(loop)
    inbox = Inbox { loop.wake() }
    shard = Shard(
      configuration, index: index, proxyRules: configuration.proxy.rules(environment: environment),
      environment: environment, network: loop, resolver: resolver, tlsContexts: tlsContexts, inbox: inbox,
      resumptions: resumptions, runBlocking: runBlocking)
  }

  func gather() -> Bool { shard.gather() }

  var mayBusyPoll: Bool { shard.idleConnectionCount <= Self.busyPollIdleConnectionsMax }

  func turn(_ events: [Poller.Event], fetched: Instant, now: Instant) -> Instant? {
    resumptions.beginCollecting()
    observer?.iterationBegan()
    defer {
      observer?.iterationEnded()
      resumptions.resumeCollected()
    }
    return shard.turn(events, fetched: fetched, now: now)
  }
}

/// An object that is notified before and after each iteration of an engine's event loops, on the loop's thread, so that it can do
/// work once for all sinks that the iteration calls. The iterations of several loops may overlap.
package protocol IterationObserver: AnyObject, Sendable {
  /// Called when an iteration of a loop begins.
  func iterationBegan()
  /// Called when an iteration of a loop has ended and calls no more sinks.
  func iterationEnded()
}
