// NetworkReachabilityManager: reports whether a host is reachable, and notifies a listener of changes.

public import Dispatch
public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is protected by the Mutex.
/// Reports whether a host, or the internet, is reachable, and notifies a listener of changes.
///
/// A host is reachable if the kernel has a usable route to one of its addresses. That doesn't mean that the host responds. Use
/// reachability to explain failures or to choose a time for a retry, but not to prevent a request.
///
/// ```swift
/// let manager = NetworkReachabilityManager(host: "example.org")
/// manager?.startListening { status in print("The network is \(status)") }
/// ```
///
/// The state comes from the kernel's netlink interface, which reports changes of links, addresses and routes without polling. In
/// a sandbox that doesn't permit netlink, ``status`` is ``NetworkReachabilityStatus/unknown``, and
/// ``startListening(onQueue:onUpdatePerforming:)`` returns false.
open class NetworkReachabilityManager: @unchecked Sendable {
  /// The reachability of a host.
  public enum NetworkReachabilityStatus: Equatable, Sendable {
    /// The reachability isn't known, because the network's state can't be read.
    case unknown
    /// The host isn't reachable: there is no route to it, or its name can't be resolved.
    case notReachable
    /// The host is reachable: there is a route to it through a network of this type.
    case reachable(ConnectionType)

    /// The kind of network through which the host is reached.
    public enum ConnectionType: Equatable, Hashable, Sendable {
      /// Ethernet, Wi-Fi or a network of unknown type.
      case ethernetOrWiFi
      /// A mobile network (WWAN).
      case cellular
    }

    init(_ flags: SCNetworkReachabilityFlags?) {
      guard let flags else {
        self = .unknown
        return
      }
      self =
        !flags.contains(.reachable) ? .notReachable : .reachable(flags.contains(.isWWAN) ? .cellular : .ethernetOrWiFi)
    }
  }

  /// A closure that receives the host's new reachability.
  public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

  /// A manager that reports whether the internet is reachable, through a default route of IPv4 or IPv6.
  public static let `default` = NetworkReachabilityManager()

  /// Whether the host is reachable now. Like ``status``, this property blocks while it looks up a host's name, unless the manager
  /// is listening.
  open var isReachable: Bool { if case .reachable = status { true } else { false } }

  /// Whether the host is reachable through a mobile network.
  open var isReachableOnCellular: Bool { status == .reachable(.cellular) }

  /// Whether the host is reachable through Ethernet, Wi-Fi or a network of unknown type.
  open var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

  /// The queue on which changes of the network are processed before the listener is called on its own queue.
  public let reachabilityQueue = DispatchQueue(label: "org.alamofire.reachabilityQueue")

  /// The host's current reachability as flags, or nil if the network's state can't be read.
  ///
  /// Blocks while it looks up a host's name, unless the manager is listening. Don't use it on a queue that must not block.
  open var flags: SCNetworkReachabilityFlags? { SCNetworkReachabilityFlags(reachability.current()) }

  /// The host's current reachability.
  ///
  /// Blocks while it looks up a host's name, unless the manager is listening. Don't use it on a queue that must not block.
  open var status: NetworkReachabilityStatus { NetworkReachabilityStatus(flags) }

  private struct State: ~Copyable {
    /// The listener and the queue on which it is called, or nil if there is none.
    var call: (listener: Listener, queue: DispatchQueue)?
    var previousStatus: NetworkReachabilityStatus?
    /// A number that changes when listening starts or stops, so that a late report for an earlier listener isn't passed to the
    /// current one.
    var generation = 0
  }

  private let reachability: HostReachability
  private let state = Mutex(State())

  /// Creates a manager that reports whether `host`, a name or a numeric address, is reachable. Returns nil if `host` is empty.
  public convenience init?(host: String) {
    guard let reachability = HostReachability(host: host) else { return nil }
    self.init(reachability)
  }

  /// Creates a manager that reports whether the internet is reachable, through a default route of IPv4 or IPv6. Never returns
  /// nil.
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

  /// Starts to call `listener`: once with the current reachability, and again after each change. Replaces an earlier listener.
  ///
  /// - Parameters:
  ///   - queue: The queue on which the listener is called. The main queue by default.
  ///   - listener: Called each time that the status differs from the previously reported one.
  /// - Returns: False if changes can't be observed, because the system permits no netlink or has no descriptors or threads left.
  ///   In that case, the listener isn't called.
  @discardableResult
  open func startListening(onQueue queue: DispatchQueue = .main, onUpdatePerforming listener: @escaping Listener)
    -> Bool
  {
    stopListening()
    let generation = state.withLock { state in
      state.call = (listener, queue)
      return state.generation
    }
    let isWatched = reachability.watch { [weak self, reachabilityQueue] path in
      let status = NetworkReachabilityStatus(SCNetworkReachabilityFlags(path))
      reachabilityQueue.async { [weak self] in self?.notify(status, generation) }
    }
    if !isWatched { stopListening() }
    return isWatched
  }

  /// Stops observing the network. The listener is no longer called.
  open func stopListening() {
    reachability.stop()
    // The listener is released outside the lock, because the deinitializer of an object that it owns may stop listening.
    let old = state.withLock { state in
      exchange(&state, with: State(generation: state.generation + 1)).call
    }
    withExtendedLifetime(old) {}
  }

  private func notify(_ status: NetworkReachabilityStatus, _ generation: Int) {
    let call: (listener: Listener, queue: DispatchQueue)? = state.withLock { state in
      guard state.generation == generation, state.previousStatus != status else { return nil }
      state.previousStatus = status
      return state.call
    }
    if let call { call.queue.async { call.listener(status) } }
  }
}
