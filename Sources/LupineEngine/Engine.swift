// Engine: the public entry point. It owns the event loops, and assigns each request to one of its origin's loops.

public import LupineReactor
public import LupineTLS
internal import Synchronization

/// An HTTP/1.1 client engine, which consists of event loops, each with a connection pool.
///
/// The engine is thread-safe. When it is released, exchanges in flight fail with `.shutDown`.
public final class Engine: Sendable {
  private let shards: [LoopShard]
  private let tlsContexts: TLSContexts
  private let proxyRules: ProxyRules
  private let proxiesUseTLS: Bool
  /// The values of the environment variables that specify proxies, by variable name.
  private let environment: [String: String]
  private let isTLSPrepared = Atomic<Bool>(false)
  /// Whether `retire` was called.
  private let isRetired = Atomic<Bool>(false)
  private let rotation = Atomic<UInt>(0)
  let configuration: EngineConfiguration
  /// The observer in `configuration`, stored again because reading the large configuration is slower.
  let observer: (any EngineObserver)?
  /// The TLS sessions that servers have offered for resumption, for use by later connections.
  public let tlsSessions = TLSSessionStore()

  /// Creates an engine and starts the threads of its event loops. Throws a `SystemError` if the system has no descriptors or
  /// threads left.
  ///
  /// Reads the proxy variables of the environment. Traps if the configuration would permit no request: if the number of loops, the
  /// window, or the maximum number of connections or waiters is 0.
  public convenience init(configuration: EngineConfiguration = EngineConfiguration()) throws(SystemError) {
    try self.init(configuration: configuration, observer: nil)
  }

  /// Creates an engine that notifies `observer` of the iterations of its event loops.
  package init(configuration: EngineConfiguration, observer: (any IterationObserver)?) throws(SystemError) {
    precondition(configuration.loopCount >= 1, "loopCount must be at least 1")
    precondition(
      1...configuration.loopCount ~= configuration.loopsPerOrigin, "loopsPerOrigin must be from 1 to loopCount")
    precondition(configuration.windowBytes >= 1, "windowBytes must be at least 1")
    let environment = Environment.values(of: ProxySettings.variables)
    let resolver = NameService(configuration.resolver)
    let tlsContexts = TLSContexts(sessions: tlsSessions)
    let verifiers = WorkerThreads(name: "lupine-verifier", threadsMax: Shard.verifiersMax)
    var shards: [LoopShard] = []
    do {
      for index in 0..<configuration.loopCount {
        let shard = LoopShard(
          configuration, index: index, environment: environment,
          loop: try EventLoop(busyPoll: configuration.busyPoll), resolver: resolver, tlsContexts: tlsContexts,
          runBlocking: { job throws(SystemError) in try verifiers.run(job) }, observer: observer)
        try shard.loop.start(name: "lupine-loop-\(index)", handler: shard)
        shards.append(shard)
      }
    } catch {
      for shard in shards { shard.inbox.send(.shutDown(isGraceful: false, completion: nil)) }
      throw error
    }
    self.shards = shards
    self.tlsContexts = tlsContexts
    proxyRules = configuration.proxy.rules(environment: environment)
    proxiesUseTLS = proxyRules.usesTLS
    self.environment = environment
    self.configuration = configuration
    self.observer = configuration.observer
  }

  deinit { close() }

  /// Begins a shutdown that isn't graceful, without waiting for its end.
  package func close() {
    for shard in shards { shard.inbox.send(.shutDown(isGraceful: false, completion: nil)) }
  }

  /// Keeps the engine until its exchanges have ended, so that the caller can release it without failing them. They include those that
  /// are submitted later by another thread that still has a reference.
  package func retire() {
    isRetired.store(true, ordering: .sequentiallyConsistent)
    for shard in shards { shard.inbox.send(.retain(self)) }
  }

  /// Executes a request and delivers the response to `sink` on the thread of one of the engine's event loops. If the engine has
  /// been shut down, it calls `sink.finish` with an error before this method returns.
  ///
  /// `windowBytes` is the number of decoded body bytes that the sink accepts before `extendWindow` is called. It is unlimited by
  /// default, and doesn't apply to the head. Redirects aren't followed; callers can follow them with `RedirectRule`. Keep a
  /// reference to the engine until the engine calls `sink.finish`, because releasing the engine ends the exchange.
  @discardableResult
  public func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, windowBytes: Int = .max
  ) -> ExchangeHandle {
    precondition(windowBytes >= 0, "a window must not be negative")
    let shard = shard(for: request)
    return submit(request, to: sink, windowBytes: windowBytes, on: shard)
  }

  /// Executes a request on the event loop `shard`, which the caller has chosen with `shard(for:)`.
  func submit(
    _ request: consuming EngineRequest, to sink: any ResponseSink, windowBytes: Int = .max, on shard: LoopShard
  ) -> ExchangeHandle {
    observe(&request)
    prepareTLS(for: request)
    let id = shard.inbox.nextExchangeID()
    shard.inbox.send(.submit(Submission(id, request, to: sink, windowBytes: windowBytes)))
    // Checked after the submission. If the engine is retired only now, the shard finds the exchange before it would release the engine.
    if isRetired.load(ordering: .sequentiallyConsistent) { shard.inbox.send(.retain(self)) }
    return ExchangeHandle(id: id, inbox: shard.inbox)
  }

  /// Loads the TLS contexts of a request, if it needs any that aren't loaded yet.
  @inline(__always)
  func prepareTLS(for request: borrowing EngineRequest) {
    if request.uri.origin.scheme == .https || proxiesUseTLS, !isTLSPrepared.load(ordering: .relaxed) {
      prepareTLS()
    }
    if let extras = request.extras { prepareOwnTLS(extras.value, of: request) }
  }

  // Loads the system's trust roots on the caller's thread, because loading would block a loop for milliseconds. An error is
  // ignored here: it occurs again, and is reported, when a connection is opened.
  private func prepareTLS() {
    _ = try? tlsContexts.context(for: configuration.tls)
    if proxiesUseTLS { _ = try? tlsContexts.context(for: configuration.proxyTLS) }
    isTLSPrepared.store(true, ordering: .relaxed)
  }

  /// Loads the TLS context of a request whose TLS settings differ from the engine's. This happens on the caller's thread, because
  /// loading would block a loop.
  private func prepareOwnTLS(_ extras: EngineRequest.Extras.Value, of request: EngineRequest) {
    let origin = request.uri.origin
    if extras.streamSink != nil {
      _ = try? tlsContexts.context(for: request.streamTLS(or: configuration.tls))
      return
    }
    let (own, choice) = (extras.connection?.tls, extras.identityChoice)
    guard own != nil || choice != nil, origin.scheme == .https else { return }
    let tls = own ?? configuration.tls
    _ = try? tlsContexts.context(for: choice.map(tls.presenting) ?? tls)
  }

  /// Returns the proxy for a request, or nil if the request is sent directly or the proxy's settings are malformed.
  package func proxy(for request: EngineRequest) -> Proxy? {
    let origin = request.uri.origin
    guard origin.socketPath == nil, configuration.socketPath == nil else { return nil }
    let rules = proxyRules.replaced(by: request.connection?.proxy, environment: environment)
    return (try? rules.proxy(for: origin)) ?? nil
  }

  /// Returns a task executor that runs tasks on the thread of the event loop that serves an origin.
  ///
  /// A task that prefers this executor (`withTaskExecutorPreference`, `Task(executorPreference:)`) runs on the loop's thread, so
  /// its requests to the origin aren't passed between threads. The task must not block, because it would block the loop.
  public func executor(for origin: Origin) -> any TaskExecutor { shards[index(of: origin)].taskExecutor }

  /// The task executor of the engine's first event loop.
  package var executor: any TaskExecutor { shards[0].taskExecutor }

  /// Shuts down the engine, and returns when all of its connections are closed. Later requests fail with `.shutDown`.
  ///
  /// A graceful shutdown waits for the exchanges that have a connection. Exchanges that wait for a connection fail with
  /// `.shutDown`, and so do those still in flight when `limit` has passed. A shutdown that isn't graceful fails all exchanges
  /// at once.
  ///
  /// - Parameters:
  ///   - isGraceful: Whether exchanges that have a connection may still complete. True by default.
  ///   - limit: The maximum time for these exchanges to complete. No limit if nil (the default). If `shutdown` is called
  ///     several times, the earliest limit applies.
  public func shutdown(isGraceful: Bool = true, limit: Duration? = nil) async {
    await withTaskGroup { group in
      for shard in shards {
        group.addTask {
          await withCheckedContinuation { continuation in
            shard.inbox.send(.shutDown(isGraceful: isGraceful, limit: limit) { continuation.resume() })
          }
        }
      }
    }
  }

  /// Returns the counters of the connection pools, for each origin and for all origins together: the current numbers of connections
  /// and of waiting exchanges, and totals since the engine was created.
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
    Int(UInt(bitPattern: origin.hashValue) % UInt(shards.count))
  }

  /// Returns the event loops that serve an origin.
  func shards(for origin: Origin) -> [LoopShard] {
    let first = index(of: origin)
    return (0..<configuration.loopsPerOrigin).map { shards[(first + $0) % shards.count] }
  }

  /// Returns the event loop that executes a request.
  func shard(for request: EngineRequest) -> LoopShard {
    if shards.count == 1 { return shards[0] }
    guard configuration.loopsPerOrigin > 1 else { return shards[index(of: request.uri.origin)] }
    let candidates = shards(for: request.uri.origin)
    // A caller on one of the loops stays on its loop. Other callers use the loops in rotation.
    if let own = candidates.first(where: { $0.loop.isCurrent }) { return own }
    let turn = rotation.add(1, ordering: .relaxed).newValue
    return candidates[Int(turn % UInt(candidates.count))]
  }
}

/// A handle with which a caller controls an exchange in flight. Each call sends a message to the exchange's event loop, and has no
/// effect once the exchange has ended.
public struct ExchangeHandle: Sendable {
  fileprivate let id: ExchangeID
  fileprivate let inbox: Inbox

  /// Ends the exchange, in any phase, with the error `.cancelled`.
  public func cancel() { inbox.send(.cancel(id)) }

  /// Pauses the delivery of the response body, so that TCP's flow control stops the server. The time limits of phases are suspended
  /// too, except those for opening a connection.
  public func pause() { inbox.send(.setPaused(id, true)) }

  /// Resumes the delivery of the response body after `pause`.
  public func resume() { inbox.send(.setPaused(id, false)) }

  /// Ends the exchange without the rest of the response body: successfully if the response head has arrived, and with `.cancelled`
  /// otherwise.
  ///
  /// If the rest of the body is short, the engine reads it first, for at most a second, so that the connection can be reused.
  /// Otherwise the engine closes the connection and ends the exchange immediately; see `EngineConfiguration.drainedBytesMax`.
  public func discardBody() { inbox.send(.discardBody(id)) }

  /// Starts TLS on the connection of a raw stream.
  func startTLS() { inbox.send(.startTLS(id)) }

  /// Permits the engine to deliver `byteCount` more decoded body bytes to the sink.
  public func extendWindow(by byteCount: Int) {
    precondition(byteCount >= 0, "a window is never reduced")
    inbox.send(.extendWindow(id, byteCount))
  }
}
