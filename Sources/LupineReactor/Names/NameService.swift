// NameService: resolves host names for the event loops with overrides, a cache and shared lookups.

internal import Synchronization

/// Resolves host names for all event loops of an engine: immediately if the addresses are known, or later by a lookup.
///
/// The resolver may be slow, silent or faulty. The service abandons a lookup that takes too long, and ignores its late answer. When
/// the service is released, it abandons its lookups and no longer calls their completions.
package final class NameService: Sendable {
  /// The result of resolving a host name: at least one address, or an error.
  package typealias Answer = Result<[SocketAddress], ResolveError>
  /// Called with the answer of a lookup, on any thread.
  package typealias Completion = @Sendable (Answer) -> Void
  /// Called when a queued lookup is about to start, on any thread. If it returns false, no request waits for the lookup any more,
  /// and the lookup must be dropped.
  package typealias Start = @Sendable () -> Bool
  /// Starts or queues the lookup of a name without waiting for the answer. Returns a closure that abandons the lookup.
  ///
  /// A source that queues lookups calls `start` when it takes the lookup from its queue. A source without a queue never calls it.
  package typealias Source =
    @Sendable (_ name: String, _ start: @escaping Start, _ completion: @escaping Completion) -> @Sendable () -> Void

  /// The maximum number of requests that wait for the lookup of the same name: 10,000, including requests that have timed out.
  /// Further requests fail with a temporary error.
  package static let waitersMax = 10_000

  private struct Lookup {
    let id: UInt64
    let start: Instant
    var waiters: [Waiter]
    var giveUp: (@Sendable () -> Void)?
  }

  private struct Waiter {
    let port: UInt16
    /// Tells whether the request still waits. Nil if it waits until the lookup ends.
    let liveness: Liveness?
    let completion: Completion

    var isWaiting: Bool { liveness?.isAlive ?? true }

    func resume(with answer: Answer) { completion(answer.withPort(port)) }
  }

  private struct State: ~Copyable {
    var cache: AddressCache
    var lookups: [String: Lookup] = [:]
    /// The deadlines of the lookups in flight, by name.
    var deadlines = DeadlineQueue<String>()
    var lookupCount: UInt64 = 0
  }

  private enum Step {
    case answer(Answer)
    case wait
    case start(id: UInt64)
  }

  private let overrides: [HostOverride]
  private let source: Source
  private let state: Mutex<State>

  /// Creates a service that uses the configuration's resolver, or the system's resolver if the configuration has none.
  package convenience init(_ configuration: ResolverConfiguration = ResolverConfiguration()) {
    if let resolver = configuration.resolver {
      self.init(configuration, source: Self.source(resolver))
    } else {
      let system = SystemResolver()
      self.init(configuration, source: { system.start($0, if: $1, completion: $2) })
    }
  }

  /// Creates a service that looks up names by calling `source`, such as a simulated resolver, instead of the configuration's
  /// resolver.
  package init(_ configuration: ResolverConfiguration, source: @escaping Source) {
    overrides = configuration.overrides
    self.source = source
    state = Mutex(State(cache: AddressCache(configuration)))
  }

  deinit {
    let lookups = state.withLock { Array($0.lookups.values) }
    for lookup in lookups { lookup.giveUp?() }
  }

  /// Returns the addresses of a host with the port if they are known. Otherwise, returns nil and calls `completion` later: at most
  /// once, on any thread, possibly before this method returns.
  ///
  /// If an override in `first` matches the host, the first such override applies, or else the first matching override of the
  /// configuration.
  ///
  /// `liveness` ends when the request stops waiting; if nil, the request waits until the lookup ends. A lookup that is still queued
  /// when all its requests have stopped waiting is dropped without an answer. A lookup that has started continues, so that later
  /// requests share it instead of repeating it.
  package func lookUp(
    _ host: String, port: UInt16, _ first: [HostOverride] = [], while liveness: Liveness? = nil, now: Instant,
    completion: @escaping Completion
  ) -> Answer? {
    let name = host.lowercased()
    let isMatching = { (override: HostOverride) in override.matches(name, port: port) }
    if let override = first.first(where: isMatching) ?? overrides.first(where: isMatching) {
      return Answer.success(override.addresses).checked.withPort(port)
    }
    let (step, overdue) = state.withLock { state in
      let overdue = Self.removeOverdue(&state, now)
      let waiter = Waiter(port: port, liveness: liveness, completion: completion)
      return (Self.step(&state, name, waiter, now), overdue)
    }
    for lookup in overdue { fail(lookup) }
    switch step {
    case .answer(let answer): return answer.withPort(port)
    case .wait: return nil
    case .start(let id): start(name, id)
    }
    return nil
  }

  /// Returns the time when the cached answer for a host expires, or nil if none is cached. It may have passed.
  package func end(of host: String) -> Instant? {
    state.withLock { $0.cache.end(of: host.lowercased()) }
  }

  /// Removes a host's addresses from the cache, because connecting to all of them failed.
  package func forget(_ host: String) {
    state.withLock { $0.cache.remove(host.lowercased()) }
  }

  private static func step(_ state: inout State, _ name: String, _ waiter: Waiter, _ now: Instant) -> Step {
    if let answer = state.cache.answer(for: name, now: now) { return .answer(answer) }
    if let waiting = state.lookups[name]?.waiters.count {
      guard waiting < waitersMax else {
        return .answer(.failure(ResolveError(.temporary, "\(waiting) lookups of this name are already waiting")))
      }
      state.lookups[name]?.waiters.append(waiter)
      return .wait
    }
    state.lookupCount += 1
    state.lookups[name] = Lookup(id: state.lookupCount, start: now, waiters: [waiter])
    state.deadlines.set(name, to: now + ResolverConfiguration.lookupTimeMax)
    return .start(id: state.lookupCount)
  }

  private func start(_ name: String, _ id: UInt64) {
    let giveUp = source(name, { [weak self] in self?.mayStart(name, id) ?? false }) { [weak self] in
      self?.store(name, id, $0.checked)
    }
    state.withLock { state in
      if state.lookups[name]?.id == id { state.lookups[name]?.giveUp = giveUp }
    }
  }

  /// Returns whether a request waits for a lookup that is about to leave the source's queue. If not, removes the lookup, so that
  /// the next request for the name starts another one.
  private func mayStart(_ name: String, _ id: UInt64) -> Bool {
    // The removed lookup is returned too, so that its waiters are released outside the lock.
    let (mayStart, _) = state.withLock { state -> (Bool, Lookup?) in
      // The lookup was already abandoned.
      guard let lookup = state.lookups[name], lookup.id == id else { return (false, nil) }
      if lookup.waiters.contains(where: \.isWaiting) { return (true, nil) }
      state.lookups[name] = nil
      state.deadlines.remove(name)
      return (false, lookup)
    }
    return mayStart
  }

  private func store(_ name: String, _ id: UInt64, _ answer: Answer) {
    let waiters: [Waiter] = state.withLock { state in
      // The lookup was already answered or abandoned.
      guard let lookup = state.lookups[name], lookup.id == id else { return [] }
      state.lookups[name] = nil
      state.deadlines.remove(name)
      state.cache.store(answer, for: name, askedAt: lookup.start)
      return lookup.waiters
    }
    for waiter in waiters { waiter.resume(with: answer) }
  }

  private static func removeOverdue(_ state: inout State, _ now: Instant) -> [Lookup] {
    var overdue: [Lookup] = []
    while let name = state.deadlines.popExpired(now: now) {
      if let lookup = state.lookups.removeValue(forKey: name) { overdue.append(lookup) }
    }
    return overdue
  }

  private func fail(_ lookup: Lookup) {
    lookup.giveUp?()
    let seconds = ResolverConfiguration.lookupTimeMax.components.seconds
    let error = ResolveError(.temporary, "the resolver didn't respond within \(seconds) s")
    for waiter in lookup.waiters { waiter.resume(with: .failure(error)) }
  }

  private static func source(_ resolver: any HostResolver) -> Source {
    { name, _, completion in
      // High priority, because requests of any priority wait for the lookup.
      let task = Task.detached(priority: .high) {
        do throws(ResolveError) {
          completion(.success(try await resolver.addresses(of: name)))
        } catch {
          completion(.failure(error))
        }
      }
      return { task.cancel() }
    }
  }
}

extension NameService.Answer {
  /// The resolver's answer with its addresses in the order in which to try them, limited to `ResolverConfiguration.addressesMax`.
  /// An empty array becomes an `unknownName` error.
  fileprivate var checked: Self {
    flatMap { addresses in
      let addresses = HappyEyeballs.order(addresses)
      return addresses.isEmpty ? .failure(ResolveError(.unknownName, "the name has no address")) : .success(addresses)
    }
  }

  fileprivate func withPort(_ port: UInt16) -> Self { map { $0.map { $0.withPort(port) } } }
}
