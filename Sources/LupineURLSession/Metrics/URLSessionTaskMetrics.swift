// URLSessionTaskMetrics: the duration of a task, and the metrics of each of its transactions.

public import Foundation
import Synchronization

/// The metrics of a task: its duration, its redirects, and the times and sizes of each request.
///
/// The metrics are computed from the engine's measurements when a property is first read, because most programs never read them.
public final class URLSessionTaskMetrics: NSObject, Sendable {
  /// The source of the response to a request.
  public enum ResourceFetchType: Int, Sendable {
    /// The source is unknown: either no response was received, or the response came from neither the network nor a cache.
    case unknown = 0
    /// The response came from the network.
    case networkLoad = 1
    /// The response came from a server push. Never reported, because HTTP/1.1 has no server push.
    @available(*, deprecated, message: "HTTP/1.1 has no server push.")
    case serverPush = 2
    /// The response came from the session's cache, so no connection was used.
    case localCache = 3
  }

  /// The DNS transport protocol with which a host name was looked up.
  public enum DomainResolutionProtocol: Int, Sendable {
    /// The protocol is unknown, because neither the system's resolver nor a custom resolver reports it.
    case unknown = 0
    /// The resolver used DNS over UDP.
    case udp = 1
    /// The resolver used DNS over TCP.
    case tcp = 2
    /// The resolver used DNS over TLS.
    case tls = 3
    /// The resolver used DNS over HTTPS.
    case https = 4
  }

  struct Values: Sendable {
    let transactionMetrics: [URLSessionTaskTransactionMetrics]
    let taskInterval: DateInterval
    let redirectCount: Int
  }

  private enum Source: Sendable {
    /// The metrics haven't been computed yet. The transfer contains the measurements. Retaining the transfer is cheaper than
    /// copying them.
    case deferred(any TaskTransfer)
    case converted(Values)
  }

  private let source: Mutex<Source>

  /// Creates the metrics of a task from its completed transfer.
  init(_ transfer: any TaskTransfer) { source = Mutex(.deferred(transfer)) }

  init(_ values: Values) { source = Mutex(.converted(values)) }

  /// The metrics of each request that the task sent, in the order in which the requests were sent.
  public var transactionMetrics: [URLSessionTaskTransactionMetrics] { values.transactionMetrics }
  /// The time from the task's start to its completion.
  public var taskInterval: DateInterval { values.taskInterval }
  /// The number of redirects that the task followed.
  public var redirectCount: Int { values.redirectCount }

  /// A textual description of the metrics: the task's duration, followed by a paragraph for each request that the task sent.
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
      case .deferred(let transfer):
        let values = transfer.measurements
        source = .converted(values)
        return values
      }
    }
  }
}

extension URLSessionTaskMetrics.Values {
  /// Combines the metrics of two transfers. The first one, with these values, ended with a redirect. The second one, with the
  /// values `next`, performed the redirected request.
  func redirected(to next: Self) -> Self {
    Self(
      transactionMetrics: transactionMetrics + next.transactionMetrics,
      taskInterval: DateInterval(start: taskInterval.start, end: max(taskInterval.end, next.taskInterval.end)),
      redirectCount: redirectCount + 1 + next.redirectCount)
  }
}
