// What a session is made with: timeouts, header fields for every request, and connections for each host.

public import Foundation
public import LupineEngine
import Synchronization

// Unchecked since the class is open: all state is in the Mutex.
/// The settings of a session, which takes a copy when it is made, so that later changes do not reach it.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
  /// The values at one moment, which a session and its engine work with.
  struct Snapshot: Sendable {
    /// Seconds to wait for the peer where a request sets no timeout of its own; 60 as in Foundation.
    var timeoutIntervalForRequest: TimeInterval = URLRequest.timeoutIntervalDefault
    /// Seconds for a whole transfer; 7 days as in Foundation.
    var timeoutIntervalForResource: TimeInterval = 7 * 24 * 60 * 60
    /// Fields for every request that does not set them itself; nil if none were ever set.
    var additionalHeaders: HTTPHeaders?
    /// The engine's own settings.
    var engine: EngineConfiguration

    init() {
      engine = EngineConfiguration()
      // As in Foundation on Apple's systems.
      engine.connectionsPerOriginMax = 6
    }
  }

  private let state: Mutex<Snapshot>

  /// A configuration with the default values, the same as ``default``.
  public override init() {
    state = Mutex(Snapshot())
    super.init()
  }

  private init(_ snapshot: Snapshot) {
    state = Mutex(snapshot)
    super.init()
  }

  /// A new configuration with the default values.
  public class var `default`: URLSessionConfiguration {
    URLSessionConfiguration()
  }

  /// A new configuration for a session that keeps nothing on disk, which no session does: the same as ``default``.
  public class var ephemeral: URLSessionConfiguration {
    URLSessionConfiguration()
  }

  var snapshot: Snapshot {
    state.withLock { $0 }
  }

  /// Seconds to wait for the peer, unless the request sets a timeout of its own; 60 by default.
  open var timeoutIntervalForRequest: TimeInterval {
    get { snapshot.timeoutIntervalForRequest }
    set { state.withLock { $0.timeoutIntervalForRequest = newValue } }
  }

  /// Seconds for a whole transfer from its start to its last byte; 604800, or 7 days, by default.
  open var timeoutIntervalForResource: TimeInterval {
    get { snapshot.timeoutIntervalForResource }
    set { state.withLock { $0.timeoutIntervalForResource = newValue } }
  }

  /// Connections at once to one host; 6 by default, and less than 1 is taken as 1.
  open var httpMaximumConnectionsPerHost: Int {
    get { snapshot.engine.connectionsPerOriginMax }
    set { state.withLock { $0.engine.connectionsPerOriginMax = max(1, newValue) } }
  }

  /// The engine's settings, which Foundation has no names for: trust in certificates, limits, idle connections, threads.
  ///
  /// `configuration.engine.tls.trustRoots = .file("ca.pem")` trusts that authority in place of the system's.
  open var engine: EngineConfiguration {
    get { snapshot.engine }
    set { state.withLock { $0.engine = newValue } }
  }

  /// Header fields for every request that does not set them itself; names and values are kept as strings.
  ///
  /// A dictionary has no order, so the fields are sent sorted by name; ``headers`` keeps the order given.
  open var httpAdditionalHeaders: [AnyHashable: Any]? {
    get { snapshot.additionalHeaders.map(\.dictionary) }
    set {
      let named = newValue?.map { (String(describing: $0.key.base), String(describing: $0.value)) }
      let headers = named.map { HTTPHeaders(Dictionary($0, uniquingKeysWith: { first, _ in first })) }
      state.withLock { $0.additionalHeaders = headers }
    }
  }

  /// ``httpAdditionalHeaders`` in their order; empty if there are none.
  public var headers: HTTPHeaders {
    get { snapshot.additionalHeaders ?? HTTPHeaders() }
    set { state.withLock { $0.additionalHeaders = newValue } }
  }

  /// A configuration of its own with the same values.
  open func copy(with zone: NSZone? = nil) -> Any {
    URLSessionConfiguration(snapshot)
  }
}
