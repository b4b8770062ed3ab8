// NetworkReachabilityManager: reports whether a host is reachable, and calls a listener after changes.

public import Dispatch
import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is in the Mutex and in the listener's.
/// Reports whether a host, or the internet, is reachable, and calls a listener after each change.
open class NetworkReachabilityManager: @unchecked Sendable {
  /// The reachability of a host.
  public enum NetworkReachabilityStatus: Equatable, Sendable {
    /// The reachability isn't known, because the network's state can't be read.
    case unknown
    /// The host isn't reachable: there is no route to it.
    case notReachable
    /// The host is reachable: there is a route to it through a network of this type.
    case reachable(ConnectionType)
  }

  /// The kind of network through which the host is reached.
  public enum ConnectionType: Equatable, Sendable {
    /// Ethernet, Wi-Fi or a network of unknown type.
    case ethernetOrWiFi
    /// A mobile network.
    case wwan
  }

  /// A closure that is called with the host's new reachability.
  public typealias Listener = (NetworkReachabilityStatus) -> Void

  private struct State: ~Copyable {
    var queue = DispatchQueue.main
    var previousFlags: SCNetworkReachabilityFlags?
    /// A number that is incremented when listening stops. Changes that were detected before are then no longer reported.
    var generation = 0
  }

  private let reachability: HostReachability
  private let changes = DispatchQueue(label: "org.alamofire.reachability")
  private let state = Mutex(State())

  /// Whether the host is reachable.
  open var isReachable: Bool { isReachableOnWWAN || isReachableOnEthernetOrWiFi }

  /// Whether the host is reachable through a mobile network.
  open var isReachableOnWWAN: Bool { networkReachabilityStatus == .reachable(.wwan) }

  /// Whether the host is reachable through Ethernet, Wi-Fi or a network of unknown type.
  open var isReachableOnEthernetOrWiFi: Bool { networkReachabilityStatus == .reachable(.ethernetOrWiFi) }

  /// The host's current reachability.
  open var networkReachabilityStatus: NetworkReachabilityStatus { Self.status(flags) }

  /// The queue on which the listener is called. The main queue by default.
  open var listenerQueue: DispatchQueue {
    get { state.withLock { $0.queue } }
    set { state.withLock { $0.queue = newValue } }
  }

  /// The closure that is called with the host's reachability when listening starts, and after each change. Nil if there is none.
  @EventClosure open var listener: Listener?

  /// The host's current reachability as flags, or nil if the network's state can't be read.
  open var flags: SCNetworkReachabilityFlags? { SCNetworkReachabilityFlags(reachability.current()) }

  /// The flags that were reported last. An empty set if none have been reported since listening started.
  open var previousFlags: SCNetworkReachabilityFlags { state.withLock { $0.previousFlags ?? [] } }

  /// Creates a manager that reports whether `host`, a name or an address, is reachable. Returns nil if `host` is empty.
  public convenience init?(host: String) {
    guard let reachability = HostReachability(host: host) else { return nil }
    self.init(reachability)
  }

  /// Creates a manager that reports whether the internet is reachable through the default IPv4 or IPv6 route.
  public convenience init?() {
    guard let reachability = HostReachability(host: nil) else { return nil }
    self.init(reachability)
  }

  private init(_ reachability: HostReachability) {
    self.reachability = reachability
  }

  deinit {
    stopListening()
  }

  /// Starts to observe the network and to call the listener. Returns false if changes can't be observed.
  @discardableResult
  open func startListening() -> Bool {
    stopListening()
    let generation = state.withLock { $0.generation }
    let isWatched = reachability.watch { [weak self, changes] path in
      let flags = SCNetworkReachabilityFlags(path)
      changes.async { [weak self] in self?.notify(flags, generation) }
    }
    if !isWatched { stopListening() }
    return isWatched
  }

  /// Stops observing the network. The listener is no longer called.
  open func stopListening() {
    reachability.stop()
    state.withLock { state in
      state.generation += 1
      state.previousFlags = nil
    }
  }

  private func notify(_ flags: SCNetworkReachabilityFlags?, _ generation: Int) {
    let queue: DispatchQueue? = state.withLock { state in
      guard state.generation == generation, flags == nil || state.previousFlags != flags else { return nil }
      state.previousFlags = flags
      return state.queue
    }
    if let queue, let listener { queue.perform { listener(Self.status(flags)) } }
  }

  private static func status(_ flags: SCNetworkReachabilityFlags?) -> NetworkReachabilityStatus {
    guard let flags else { return .unknown }
    if !flags.contains(.reachable) { return .notReachable }
    return .reachable(flags.contains(.isWWAN) ? .wwan : .ethernetOrWiFi)
  }
}
