// URLSessionConfiguration+Network: the networks that a session's requests may use, and waiting for a network.

import Synchronization

extension URLSessionConfiguration {
  /// The settings that determine which networks a session's requests may use, and whether tasks wait for a network.
  struct NetworkSettings: Sendable {
    var allowsCellularAccess = true
    var allowsExpensiveNetworkAccess = true
    var allowsConstrainedNetworkAccess = true
    var serviceType = URLRequest.NetworkServiceType.default
    var usesPipelining = false
    var sharedContainerIdentifier: String?
    var usesExtendedIdleMode = false
    var waitsForConnectivity = false
    /// The object with which the session's tasks wait for a network.
    var waiters = PathWaiters.shared
  }

  /// Whether a task waits for a network that its request can use, instead of failing immediately if there is none. False by
  /// default.
  ///
  /// A task waits if it can't open a connection for one of these reasons: there is no route to the host; the name servers don't
  /// answer and there is no default route; or the host can be reached only through a mobile network, which the request doesn't
  /// permit. The session calls its delegate's ``URLSessionTaskDelegate/urlSession(_:taskIsWaitingForConnectivity:)`` once. When the
  /// kernel reports a path to the host, the task sends the request. If this fails for one of these reasons, the task waits again.
  /// ``timeoutIntervalForResource`` limits the task's whole time, including the wait. ``timeoutIntervalForRequest`` doesn't limit
  /// the wait. A task that has sent any part of its request never waits.
  ///
  /// The property has no effect on background sessions, whose tasks always wait for a network and don't notify the delegate.
  public var waitsForConnectivity: Bool {
    get { snapshot.network.waitsForConnectivity }
    set { state.withLock { $0.network.waitsForConnectivity = newValue } }
  }

  /// The object with which the session's tasks wait for a network. Tests replace it to simulate a network.
  package var pathWaiters: PathWaiters {
    get { snapshot.network.waiters }
    set { state.withLock { $0.network.waiters = newValue } }
  }

  /// Whether requests may use a mobile network. True by default. A request uses a mobile network only if its
  /// ``URLRequest/allowsCellularAccess`` is true as well.
  public var allowsCellularAccess: Bool {
    get { snapshot.network.allowsCellularAccess }
    set { state.withLock { $0.network.allowsCellularAccess = newValue } }
  }

  /// Whether requests may use an expensive network. True by default. A request uses an expensive network only if its
  /// ``URLRequest/allowsExpensiveNetworkAccess`` is true as well.
  public var allowsExpensiveNetworkAccess: Bool {
    get { snapshot.network.allowsExpensiveNetworkAccess }
    set { state.withLock { $0.network.allowsExpensiveNetworkAccess = newValue } }
  }

  /// Whether requests may use a network in low data mode. True by default. The property has no effect, because Linux has no low
  /// data mode.
  public var allowsConstrainedNetworkAccess: Bool {
    get { snapshot.network.allowsConstrainedNetworkAccess }
    set { state.withLock { $0.network.allowsConstrainedNetworkAccess = newValue } }
  }

  /// The kind of traffic of requests that don't set one. `.default` by default. See ``URLRequest/NetworkServiceType``.
  public var networkServiceType: URLRequest.NetworkServiceType {
    get { snapshot.network.serviceType }
    set { state.withLock { $0.network.serviceType = newValue } }
  }

  /// The identifier of the container for background downloads. Nil by default. The property has no effect, because Linux has no
  /// containers of app groups.
  public var sharedContainerIdentifier: String? {
    get { snapshot.network.sharedContainerIdentifier }
    set { state.withLock { $0.network.sharedContainerIdentifier = newValue } }
  }

  /// Whether connections stay open when the app moves to the background. False by default. The property has no effect: on Linux,
  /// the connections of a process always stay open.
  public var shouldUseExtendedBackgroundIdleMode: Bool {
    get { snapshot.network.usesExtendedIdleMode }
    set { state.withLock { $0.network.usesExtendedIdleMode = newValue } }
  }

  /// Whether requests may be pipelined. False by default. The property has no effect; see
  /// ``URLRequest/httpShouldUsePipelining``.
  public var httpShouldUsePipelining: Bool {
    get { snapshot.network.usesPipelining }
    set { state.withLock { $0.network.usesPipelining = newValue } }
  }
}

extension URLSessionConfiguration.Snapshot {
  /// Whether a task waits for a network if its request can't be sent because there is no network.
  var waitsForNetwork: Bool { network.waitsForConnectivity || background.identifier != nil }
}
