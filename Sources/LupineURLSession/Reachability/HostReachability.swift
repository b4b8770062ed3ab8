// HostReachability: the path to a host, now and after each change of the network.

import Dispatch
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

  private struct State {
    var watch: NetworkWatch?
    /// The closure that is called with each path, on any thread. Nil while the network isn't being watched.
    var handler: (@Sendable (HostPath) -> Void)?
    /// The state of the network in the latest report. Nil if the state couldn't be read.
    var network: NetworkState?
    var addresses: [IPAddress] = []
    var lookup = Lookup.idle
  }

  private let target: Target
  private let resolver = SystemResolver()
  private let state = Mutex(State())

  /// Creates an object for the host with this name or numeric address. If `host` is nil, the object determines the path to any
  /// host. Returns nil if `host` is an empty string.
  package init?(host: String?) {
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
    guard let network = try? NetworkState.current() else { return .unknown }
    return path(in: network, knownAddresses())
  }

  private func knownAddresses() -> [IPAddress] {
    guard case .name(let name) = target else { return [] }
    let known = state.withLock { $0.addresses }
    guard known.isEmpty else { return known }
    let answer = Mutex<[IPAddress]>([])
    let done = DispatchSemaphore(value: 0)
    _ = resolver.start(name) { result in
      let addresses = (try? result.get())?.compactMap(\.ip) ?? []
      answer.withLock { $0 = addresses }
      done.signal()
    }
    done.wait()
    return answer.withLock { $0 }
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
    stop()
    state.withLock { $0.handler = handler }
    guard let watch = try? NetworkWatch({ [weak self] in self?.networkChanged($0) }) else {
      stop()
      return false
    }
    state.withLock { $0.watch = watch }
    return true
  }

  /// Stops watching the network and calling the handler.
  package func stop() {
    // The previous handler is released outside the lock.
    let earlier = state.withLock { state in
      defer { state = State() }
      return state.watch
    }
    _ = consume earlier
  }

  private func networkChanged(_ network: Result<NetworkState, SystemError>) {
    let needsLookup = state.withLock { state in
      state.network = try? network.get()
      guard case .name = target, state.handler != nil else { return false }
      defer { state.lookup = state.lookup == .idle ? .running : .outdated }
      return state.lookup == .idle
    }
    // A new lookup may take long. Meanwhile, the addresses of the previous lookup already show whether there is still a route.
    if needsLookup { lookUp(isFirst: state.withLock { $0.addresses.isEmpty }) } else { report() }
  }

  private func lookUp(isFirst: Bool) {
    guard case .name(let name) = target else { return }
    if !isFirst { report() }
    _ = resolver.start(name) { [weak self] result in self?.finishLookup(result) }
  }

  private func finishLookup(_ result: Result<[SocketAddress], ResolveError>) {
    let isOutdated = state.withLock { state in
      switch result {
      case .success(let addresses): state.addresses = addresses.compactMap(\.ip)
      case .failure(let error):
        // If no name server responds, the addresses of the previous lookup remain valid, and the path to them is reported.
        if error.kind == .unknownName { state.addresses = [] }
      }
      defer { state.lookup = state.lookup == .outdated ? .running : .idle }
      return state.lookup == .outdated
    }
    report()
    if isOutdated { lookUp(isFirst: false) }
  }

  private func report() {
    let (handler, present) = state.withLock { state in
      (state.handler, state.network.map { path(in: $0, state.addresses) } ?? HostPath.unknown)
    }
    handler?(present)
  }
}
