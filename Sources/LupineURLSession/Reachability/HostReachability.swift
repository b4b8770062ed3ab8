// HostReachability: the path to a host, now and after each change of the network.

import LupineEngine
import Synchronization

/// The path to a host according to the current state of the network.
package enum HostPath: Sendable, Hashable {
  /// The path is unknown, because the state of the network can't be read.
  case unknown
  /// No path exists: the host has no address, or there is no route to any of its addresses.
  case missing
  case route(isCellular: Bool, isLocal: Bool, isDirect: Bool)

  fileprivate init(_ path: NetworkPath?) {
    guard let path else {
      self = .missing
      return
    }
    self = .route(isCellular: path.medium == .cellular, isLocal: path.isLocal, isDirect: path.isDirect)
  }
}

/// Determines the path to one host, or to any host, on request and whenever the network changes.
package final class HostReachability: Sendable {
  /// A closure that looks up the addresses of a name, and passes the result to `completion` once, on any thread.
  typealias LookUp =
    @Sendable (
      _ name: String, _ completion: @escaping @Sendable (Result<[SocketAddress], ResolveError>) -> Void
    ) -> Void

  private enum Target: Sendable {
    /// Any host. It counts as reachable if the network has a default route.
    case anyHost
    case address(IPAddress)
    case name(String)
  }

  /// The state of the lookup of the host's addresses.
  private enum Lookup {
    case idle
    case running
    /// A lookup is running, but the network has changed since the lookup started, so another lookup will follow.
    case outdated
  }

  private struct State: ~Copyable {
    var watch: (any AnyObject & Sendable)?
    /// The closure that is called with each path, on any thread. Nil while the network isn't being watched.
    var handler: (@Sendable (HostPath) -> Void)?
    /// The state of the network in the latest report. Nil if the state couldn't be read.
    var network: NetworkState?
    var addresses: [IPAddress] = []
    var lookup = Lookup.idle
    /// The number of times that the handler has been set or removed. Late reports and lookups of earlier handlers have lower
    /// numbers and are ignored.
    var generation = 0
  }

  private let target: Target
  private let source: NetworkSource
  private let startLookup: LookUp
  private let state = Mutex(State())

  /// Creates an object for the host with this name or numeric address. If `host` is nil, the object determines the path to any
  /// host. Returns nil if `host` is an empty string.
  package convenience init?(host: String?) {
    let resolver = SystemResolver()
    self.init(host: host, source: .system) { name, completion in
      _ = resolver.start(name, completion: completion)
    }
  }

  /// Creates an object that gets the state of the network from `source`, and addresses from `startLookup`.
  init?(host: String?, source: NetworkSource, startLookup: @escaping LookUp) {
    self.source = source
    self.startLookup = startLookup
    guard let host else {
      target = .anyHost
      return
    }
    guard !host.isEmpty else { return nil }
    target = IPAddress(host).map { .address($0) } ?? .name(host)
  }

  /// Reads the state of the network and returns the path to the host. Blocks the thread while the host's name is looked up. No
  /// lookup is necessary if the network is being watched and the addresses are already known.
  package func current() -> HostPath {
    guard let network = source.current() else { return .unknown }
    return path(in: network, knownAddresses())
  }

  private func knownAddresses() -> [IPAddress] {
    guard case .name(let name) = target else { return [] }
    let known = state.withLock { $0.addresses }
    guard known.isEmpty else { return known }
    return blocking { done in startLookup(name) { done((try? $0.get())?.compactMap(\.ip) ?? []) } }
  }

  private func path(in network: NetworkState, _ addresses: [IPAddress]) -> HostPath {
    switch target {
    case .anyHost: HostPath(network.path(to: nil))
    case .address(let address): HostPath(network.path(to: address))
    case .name: HostPath(addresses.lazy.compactMap { network.path(to: $0) }.first)
    }
  }

  /// Starts to call `handler` with the path to the host, for the first time soon after this call, and then whenever the network
  /// changes. The handler replaces an earlier one.
  ///
  /// Returns false if the process may not use netlink, or has no descriptors or threads left.
  package func watch(_ handler: @escaping @Sendable (HostPath) -> Void) -> Bool {
    // Releases the earlier handler before the new one is set, because the release may call `stop`.
    stop()
    let generation = use(handler)
    let watch = source.watch { [weak self] network in self?.networkChanged(network, generation) }
    guard let watch else {
      stop()
      return false
    }
    // If there is another handler or none in the meantime, the new watch of the network is released, outside the lock.
    let unneeded = state.withLock { state -> (any AnyObject & Sendable)? in
      guard state.generation == generation else { return watch }
      state.watch = watch
      return nil
    }
    withExtendedLifetime(unneeded) {}
    return true
  }

  /// Stops watching the network and calling the handler.
  package func stop() { _ = use(nil) }

  /// Sets or removes the handler, and forgets the state of the network and the addresses. Returns the handler's generation.
  private func use(_ handler: (@Sendable (HostPath) -> Void)?) -> Int {
    // The previous handler and watch are released outside the lock.
    let earlier = state.withLock { exchange(&$0, with: State(handler: handler, generation: $0.generation + 1)) }
    withExtendedLifetime(earlier) {}
    return earlier.generation + 1
  }

  private func networkChanged(_ network: NetworkState?, _ generation: Int) {
    let (needsLookup, isFirst) = state.withLock { state -> (Bool, Bool) in
      guard state.generation == generation else { return (false, false) }
      state.network = network
      guard case .name = target else { return (false, false) }
      defer { state.lookup = state.lookup == .idle ? .running : .outdated }
      return (state.lookup == .idle, state.addresses.isEmpty)
    }
    // A new lookup may take long. Meanwhile, the addresses of the previous lookup already show whether there is still a route.
    // During the first lookup, nothing is reported, because a host without addresses would count as missing.
    if needsLookup { lookUp(isFirst: isFirst, generation) } else if !isFirst { report(generation) }
  }

  private func lookUp(isFirst: Bool, _ generation: Int) {
    guard case .name(let name) = target else { return }
    if !isFirst { report(generation) }
    startLookup(name) { [weak self] result in self?.finishLookup(result, generation) }
  }

  private func finishLookup(_ result: Result<[SocketAddress], ResolveError>, _ generation: Int) {
    let isOutdated = state.withLock { state -> Bool? in
      guard state.generation == generation else { return nil }
      switch result {
      case .success(let addresses): state.addresses = addresses.compactMap(\.ip)
      case .failure(let error):
        // If no name server responds, the addresses of the previous lookup remain valid, and the path to them is reported.
        if error.kind == .unknownName { state.addresses = [] }
      }
      defer { state.lookup = state.lookup == .outdated ? .running : .idle }
      return state.lookup == .outdated
    }
    guard let isOutdated else { return }
    report(generation)
    if isOutdated { lookUp(isFirst: false, generation) }
  }

  private func report(_ generation: Int) {
    let (handler, present) = state.withLock { state in
      (
        state.generation == generation ? state.handler : nil,
        state.network.map { path(in: $0, state.addresses) } ?? HostPath.unknown
      )
    }
    handler?(present)
  }
}
