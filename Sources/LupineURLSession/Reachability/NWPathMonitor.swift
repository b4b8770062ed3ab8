// NWPathMonitor: reports the path to other machines and its changes.

public import Dispatch
package import LupineEngine
import Synchronization

/// Reports the path from this machine to other machines, after the start and whenever the network changes.
///
/// ```swift
/// let monitor = NWPathMonitor()
/// monitor.pathUpdateHandler = { path in print(path.status == .satisfied ? "online" : "offline") }
/// monitor.start(queue: .main)
/// ```
///
/// The monitor determines the path from the kernel's routes. Netlink reports changes of the routes, so the monitor doesn't poll. A
/// path doesn't guarantee that any server can be reached.
public final class NWPathMonitor: Sendable {
  private enum Watching {
    case never
    case watching(DispatchQueue, (any AnyObject & Sendable)?)
    /// The monitor was canceled and can't be started again.
    case canceled
  }

  private struct State: ~Copyable {
    var watching = Watching.never
    var handler: (@Sendable (NWPath) -> Void)?
    var latest: NWPath?
  }

  private let filter: PathFilter
  private let source: NetworkSource
  private let state = Mutex(State())

  /// Creates a monitor of paths through any interface.
  public convenience init() { self.init(.prohibited([]), source: .system) }

  /// Creates a monitor of paths through interfaces of one type.
  public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
    self.init(.required(requiredInterfaceType), source: .system)
  }

  /// Creates a monitor of paths through interfaces of all types except those given.
  public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
    self.init(.prohibited(prohibitedInterfaceTypes), source: .system)
  }

  package init(_ filter: PathFilter, source: NetworkSource) {
    (self.filter, self.source) = (filter, source)
  }

  deinit { cancel() }

  /// The closure that is called with the path, soon after the start and after each change, on the queue passed to
  /// ``start(queue:)``. Nil by default. Set it before calling ``start(queue:)``.
  public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
    get { state.withLock { $0.handler } }
    set {
      // The previous handler is released outside the lock, because the deinitializer of an object that it owns may cancel the monitor.
      withExtendedLifetime(state.withLock { exchange(&$0.handler, with: newValue) }) {}
    }
  }

  /// The path in the monitor's latest report. Before the first report, the path according to the kernel's current routes.
  public var currentPath: NWPath {
    state.withLock { $0.latest } ?? NWPath(source.current(), filter)
  }

  /// Starts to report paths to ``pathUpdateHandler`` on a queue. Has no effect if the monitor was already started or canceled.
  ///
  /// In a sandbox without netlink, the monitor reports a single path, with the status `requiresConnection`.
  public func start(queue: DispatchQueue) {
    let isFirst = state.withLock { state in
      guard case .never = state.watching else { return false }
      state.watching = .watching(queue, nil)
      return true
    }
    guard isFirst else { return }
    let watch = source.watch { [weak self] network in self?.networkChanged(network) }
    guard let watch else { return networkChanged(nil) }
    // If the monitor was canceled in the meantime, the watch of the network is released, outside the lock.
    let unneeded = state.withLock { state -> (any AnyObject & Sendable)? in
      guard case .watching(let queue, nil) = state.watching else { return watch }
      state.watching = .watching(queue, watch)
      return nil
    }
    withExtendedLifetime(unneeded) {}
  }

  /// Stops the monitor permanently: it reports no more paths and can't be started again.
  public func cancel() {
    withExtendedLifetime(state.withLock { exchange(&$0.watching, with: .canceled) }) {}
  }

  private func networkChanged(_ network: NetworkState?) {
    let path = NWPath(network, filter)
    let queue = state.withLock { state -> DispatchQueue? in
      guard case .watching(let queue, _) = state.watching, state.latest != path else { return nil }
      state.latest = path
      return queue
    }
    queue?.async { [weak self] in
      guard let self else { return }
      let handler = state.withLock { state -> (@Sendable (NWPath) -> Void)? in
        if case .watching = state.watching { state.handler } else { nil }
      }
      handler?(path)
    }
  }

  /// Returns whether the given state of the network contains a path that this monitor permits. Also returns true if `network` is
  /// nil because the network's state can't be read.
  package func isSatisfied(by network: NetworkState?) -> Bool { NWPath(network, filter).status != .unsatisfied }

  /// Creates an object with which callers wait until the network that this monitor observes has a path.
  package func makeWaiters() -> PathWaiters { PathWaiters(source: source) }
}
