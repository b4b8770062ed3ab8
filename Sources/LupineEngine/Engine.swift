// The public handle: it owns the loops, and hands requests to the one that the origin belongs to.

public import LupineReactor
public import LupineTLS
internal import Synchronization

/// An HTTP/1.1 client engine: event loops with their connection pools.
///
/// It may be used from any thread. When it is released, exchanges that are under way fail with `.shutDown`.
public final class Engine: Sendable {
  private let shards: [LoopShard]
  private let tlsContexts: TLSContexts
  private let isTLSPrepared = Atomic<Bool>(false)
  private let rotation = Atomic<UInt>(0)
  let configuration: EngineConfiguration
  /// The TLS sessions that servers have offered to resume.
  public let tlsSessions = TLSSessionStore()

  /// Starts the loops' threads. Throws what the system answered if it has no descriptors or threads left.
  ///
  /// The proxies of the environment are read here. A configuration with which nothing could ever be sent traps: no loop, no
  /// connection, no room to wait, an empty window.
  public init(configuration: EngineConfiguration = EngineConfiguration()) throws(SystemError) {
    precondition(configuration.loopCount >= 1, "an engine needs a loop")
    precondition(1...configuration.loopCount ~= configuration.loopsPerOrigin, "an origin has some of the loops")
    precondition(configuration.windowBytes >= 1, "a window holds a byte")
    let proxyRules = configuration.proxy.rules(environment: Environment.values(of: ProxySettings.variables))
    let resolver = NameService(configuration.resolver)
    let tlsContexts = TLSContexts(sessions: tlsSessions)
    var shards: [LoopShard] = []
    do {
      for index in 0..<configuration.loopCount {
        let shard = LoopShard(
          configuration, index: index, proxyRules: proxyRules, loop: try EventLoop(), resolver: resolver,
          tlsContexts: tlsContexts)
        try shard.loop.start(name: "lupine-loop-\(index)", handler: shard)
        shards.append(shard)
      }
    } catch {
      for shard in shards { shard.inbox.send(.shutDown(isGraceful: false, completion: nil)) }
      throw error
    }
    self.shards = shards
    self.tlsContexts = tlsContexts
    self.configuration = configuration
  }

  deinit {
    for shard in shards { shard.inbox.send(.shutDown(isGraceful: false, completion: nil)) }
  }

  /// Executes a request, and hands the response to `sink` on the loop's thread.
  ///
  /// `credit` is how many decoded body bytes the sink takes before it grants more; without a limit by default. A head is
  /// handed over without credit, too. The request is sent to its origin as it is: redirects are the caller's, by
  /// `RedirectRule`. Keep the engine until `finish`, since releasing it ends the exchange.
  @discardableResult
  public func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, credit: Int = .max
  ) -> ExchangeHandle {
    precondition(credit >= 0, "a credit counts bytes")
    let shard = shard(for: request.uri.origin)
    return submit(request, to: sink, credit: credit, on: shard)
  }

  /// The same on a loop that was chosen by `shard(for:)`.
  func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, credit: Int = .max, on shard: LoopShard
  ) -> ExchangeHandle {
    if request.uri.origin.scheme == .https, !isTLSPrepared.load(ordering: .relaxed) { prepareTLS() }
    let id = shard.inbox.nextExchangeID()
    shard.inbox.send(.submit(Submission(id, request, to: sink, credit: credit)))
    return ExchangeHandle(id: id, inbox: shard.inbox)
  }

  // Loading the system's trust roots takes milliseconds, in which a loop would serve nobody. An error comes up again
  // when a connection is opened.
  private func prepareTLS() {
    _ = try? tlsContexts.context(for: configuration.tls)
    isTLSPrepared.store(true, ordering: .relaxed)
  }

  /// The executor of the loop that serves an origin.
  ///
  /// A task that prefers it (`withTaskExecutorPreference`, `Task(executorPreference:)`) runs on the loop's thread, so that
  /// its requests to that origin need no hand-over between threads. It must not block, since the loop serves nobody else
  /// meanwhile.
  public func executor(for origin: Origin) -> any TaskExecutor { shards[index(of: origin)].taskExecutor }

  /// Ends the engine; returns when its connections are closed. Requests that come later fail with `.shutDown`.
  ///
  /// Gracefully, what has a connection is finished, however long that takes, and what waits for one fails with
  /// `.shutDown`. Otherwise everything fails with it at once.
  public func shutdown(isGraceful: Bool = true) async {
    await withTaskGroup { group in
      for shard in shards {
        group.addTask {
          await withCheckedContinuation { continuation in
            shard.inbox.send(.shutDown(isGraceful: isGraceful) { continuation.resume() })
          }
        }
      }
    }
  }

  /// How many connections there are, and what became of others, at this moment; by origin and in all.
  public func counters() async -> PoolCounters {
    var counters = PoolCounters()
    for shard in shards {
      let own = await withCheckedContinuation { continuation in
        shard.inbox.send(.count { continuation.resume(returning: $0) })
      }
      counters.add(own)
    }
    return counters
  }

  private func index(of origin: Origin) -> Int {
    shards.count == 1 ? 0 : Int(UInt(bitPattern: origin.hashValue) % UInt(shards.count))
  }

  /// The loop for a request to that origin.
  func shard(for origin: Origin) -> LoopShard {
    let first = index(of: origin)
    guard configuration.loopsPerOrigin > 1 else { return shards[first] }
    let candidates = (0..<configuration.loopsPerOrigin).map { shards[(first + $0) % shards.count] }
    // Whoever is on one of the loops stays there; others take turns.
    if let own = candidates.first(where: { $0.loop.isCurrent }) { return own }
    let turn = rotation.add(1, ordering: .relaxed).newValue
    return candidates[Int(turn % UInt(candidates.count))]
  }
}

/// A request under way. Every call is a message to the loop, and does nothing once the exchange has ended.
public struct ExchangeHandle: Sendable {
  fileprivate let id: ExchangeID
  fileprivate let inbox: Inbox

  /// Ends the exchange with `.cancelled`, at whatever it is.
  public func cancel() { inbox.send(.cancel(id)) }

  /// Stops handing over the body; the server is held back by TCP. The phases' timeouts stand
  /// still meanwhile, but for those of opening a connection.
  public func pause() { inbox.send(.setPaused(id, true)) }

  /// Goes on behind a `pause`.
  public func resume() { inbox.send(.setPaused(id, false)) }

  /// Takes no more of the body: the exchange ends well if the response's head has come, and with `.cancelled` otherwise.
  /// A short rest is read first, in at most a second, so that the connection is kept; with more left it is closed and the
  /// exchange ends at once, see `EngineConfiguration.drainedBytesMax`.
  public func discardBody() { inbox.send(.discardBody(id)) }

  /// Lets the sink take that many more decoded bytes.
  public func grant(_ byteCount: Int) {
    precondition(byteCount >= 0, "a credit counts bytes")
    inbox.send(.grant(id, byteCount))
  }
}
