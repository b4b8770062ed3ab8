// Engine: the public entry point. It owns the event loops, and assigns each request to one of its origin's loops.

public import LupineReactor
public import LupineTLS
internal import Synchronization

/// An HTTP/1.1 client engine: event loops with connection pools.
///
/// It is thread-safe. When the engine is released, exchanges in flight fail with `.shutDown`.
public final class Engine: Sendable {
  private let shards: [LoopShard]
  private let tlsContexts: TLSContexts
  private let isTLSPrepared = Atomic<Bool>(false)
  private let rotation = Atomic<UInt>(0)
  let configuration: EngineConfiguration
  /// The TLS sessions that servers have offered for resumption.
  public let tlsSessions = TLSSessionStore()

  /// Creates an engine and starts the loops' threads. Throws if the system has no descriptors or threads left.
  ///
  /// Reads the proxy variables of the environment. Traps if the configuration permits no request: without loops, connections or
  /// waiters, or with an empty window.
  public init(configuration: EngineConfiguration = EngineConfiguration()) throws(SystemError) {
    precondition(configuration.loopCount >= 1, "loopCount must be at least 1")
    precondition(
      1...configuration.loopCount ~= configuration.loopsPerOrigin, "loopsPerOrigin must be from 1 to loopCount")
    precondition(configuration.windowBytes >= 1, "windowBytes must be at least 1")
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

  /// Executes a request and delivers the response to `sink` on the loop's thread.
  ///
  /// `windowBytes` is the number of decoded body bytes that the sink accepts before `extendWindow` is called. It is unlimited by
  /// default, and doesn't apply to the head. Redirects aren't followed; callers can follow them with `RedirectRule`. Keep a
  /// reference to the engine until `finish` is called, because releasing the engine ends the exchange.
  @discardableResult
  public func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, windowBytes: Int = .max
  ) -> ExchangeHandle {
    precondition(windowBytes >= 0, "a window must not be negative")
    let shard = shard(for: request.uri.origin)
    return submit(request, to: sink, windowBytes: windowBytes, on: shard)
  }

  /// Executes a request on a loop chosen by `shard(for:)`.
  func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, windowBytes: Int = .max, on shard: LoopShard
  ) -> ExchangeHandle {
    if request.uri.origin.scheme == .https, !isTLSPrepared.load(ordering: .relaxed) { prepareTLS() }
    let id = shard.inbox.nextExchangeID()
    shard.inbox.send(.submit(Submission(id, request, to: sink, windowBytes: windowBytes)))
    return ExchangeHandle(id: id, inbox: shard.inbox)
  }

  // Loads the system's trust roots on the caller's thread, because this takes milliseconds during which a loop would be blocked.
  // An error is reported when a connection is opened, because it occurs again then.
  private func prepareTLS() {
    _ = try? tlsContexts.context(for: configuration.tls)
    isTLSPrepared.store(true, ordering: .relaxed)
  }

  /// Returns the executor of the loop that serves an origin.
  ///
  /// A task that prefers this executor (`withTaskExecutorPreference`, `Task(executorPreference:)`) runs on the loop's thread, so
  /// its requests to the origin aren't passed between threads. The task must not block, because it would block the loop.
  public func executor(for origin: Origin) -> any TaskExecutor { shards[index(of: origin)].taskExecutor }

  /// Shuts down the engine, and returns when its connections are closed. Later requests fail with `.shutDown`.
  ///
  /// A graceful shutdown waits for exchanges that have a connection, however long they take, and fails waiters with `.shutDown`.
  /// A shutdown that isn't graceful fails all exchanges with `.shutDown` immediately.
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

  /// Returns the current counts of connections and waiters, and the totals so far, by origin and for all origins.
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

  /// Returns the loop for a request to an origin.
  func shard(for origin: Origin) -> LoopShard {
    let first = index(of: origin)
    guard configuration.loopsPerOrigin > 1 else { return shards[first] }
    let candidates = (0..<configuration.loopsPerOrigin).map { shards[(first + $0) % shards.count] }
    // A caller on one of the loops stays on its loop. Other callers use the loops in rotation.
    if let own = candidates.first(where: { $0.loop.isCurrent }) { return own }
    let turn = rotation.add(1, ordering: .relaxed).newValue
    return candidates[Int(turn % UInt(candidates.count))]
  }
}

/// The handle of an exchange in flight. Each call sends a message to the loop, and has no effect once the exchange has ended.
public struct ExchangeHandle: Sendable {
  fileprivate let id: ExchangeID
  fileprivate let inbox: Inbox

  /// Ends the exchange with `.cancelled` in any phase.
  public func cancel() { inbox.send(.cancel(id)) }

  /// Pauses the delivery of the body, so that TCP's flow control stops the server. The time limits of phases are suspended too,
  /// except those for opening a connection.
  public func pause() { inbox.send(.setPaused(id, true)) }

  /// Resumes delivery after `pause`.
  public func resume() { inbox.send(.setPaused(id, false)) }

  /// Ends the exchange without the rest of the body: successfully if the response head
  /// has arrived, and with `.cancelled` otherwise.
  ///
  /// If the rest of the body is short, it is read first, for at most a second, so that the connection can be reused. Otherwise
  /// the connection is closed and the exchange ends immediately; see `EngineConfiguration.drainedBytesMax`.
  public func discardBody() { inbox.send(.discardBody(id)) }

  /// Permits the delivery of `byteCount` more decoded bytes to the sink.
  public func extendWindow(by byteCount: Int) {
    precondition(byteCount >= 0, "a window is never reduced")
    inbox.send(.extendWindow(id, byteCount))
  }
}

extension Engine {
  /// Another name for `submit(_:to:windowBytes:)`.
  @available(*, deprecated, renamed: "submit(_:to:windowBytes:)")
  @discardableResult
  public func submit(_ request: consuming EngineRequest, to sink: any ResponseSink, credit: Int) -> ExchangeHandle {
    submit(request, to: sink, windowBytes: credit)
  }
}

extension ExchangeHandle {
  /// Another name for `extendWindow(by:)`.
  @available(*, deprecated, renamed: "extendWindow(by:)")
  public func grant(_ byteCount: Int) { extendWindow(by: byteCount) }
}
