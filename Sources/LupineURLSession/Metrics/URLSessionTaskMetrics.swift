// How long a task took, over all the transactions that redirects made of it.

public import Foundation
import Synchronization

/// What was measured of one task.
///
/// The values are converted from the engine's when they are first asked for, since most programs never do.
public final class URLSessionTaskMetrics: NSObject, Sendable {
  /// Where a response came from.
  public enum ResourceFetchType: Int, Sendable {
    /// Not known, as no response came, or neither the network nor a cache had a part in it.
    case unknown = 0
    /// The network.
    case networkLoad = 1
    /// A server that sent it before it was asked for. None says so: HTTP/1.1 has no pushes.
    @available(*, deprecated, message: "HTTP/1.1 has no server push.")
    case serverPush = 2
    /// A cache of this machine. None says so as long as sessions have no cache.
    case localCache = 3
  }

  /// How a host's name was looked up.
  public enum DomainResolutionProtocol: Int, Sendable {
    /// Not known: the system's resolver, and a resolver of the program's own, don't say how they asked, nor whether they
    /// asked anybody.
    case unknown = 0
    /// DNS over UDP.
    case udp = 1
    /// DNS over TCP.
    case tcp = 2
    /// DNS over TLS.
    case tls = 3
    /// DNS over HTTPS.
    case https = 4
  }

  struct Values: Sendable {
    let transactionMetrics: [URLSessionTaskTransactionMetrics]
    let taskInterval: DateInterval
    let redirectCount: Int
  }

  private enum Source: Sendable {
    case deferred(@Sendable () -> Values)
    case converted(Values)
  }

  private let source: Mutex<Source>

  init(_ values: @escaping @Sendable () -> Values) {
    source = Mutex(.deferred(values))
  }

  /// One entry for each request that was sent, in their order.
  public var transactionMetrics: [URLSessionTaskTransactionMetrics] { values.transactionMetrics }
  /// From the task's start to its completion.
  public var taskInterval: DateInterval { values.taskInterval }
  /// Redirects that were followed.
  public var redirectCount: Int { values.redirectCount }

  /// The task's duration, then a paragraph for each request that was sent.
  public override var description: String {
    let (requests, redirects) = (ReadableText.count(transactionMetrics.count, "request"), redirectCount)
    let summary = "URLSessionTaskMetrics: \(requests), \(ReadableText.count(redirects, "redirect")), "
    return ([summary + ReadableText.duration(taskInterval.duration)] + transactionMetrics.map(\.description))
      .joined(separator: "\n")
  }

  private var values: Values {
    source.withLock { source in
      switch source {
      case .converted(let values): return values
      case .deferred(let convert):
        let values = convert()
        source = .converted(values)
        return values
      }
    }
  }
}
