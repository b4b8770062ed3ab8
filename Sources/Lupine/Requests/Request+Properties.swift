// Request+Properties: the public properties of a request.

public import Foundation
public import LupineURLSession
import Synchronization

extension Request {
  /// A unique identifier of the request.
  public var id: UUID {
    mutableState.withLock { state in
      // The ID is created on first access, because few programs read it, and creating it costs as much as building the request.
      if let id = state.id { return id }
      let id = UUID()
      state.id = id
      return id
    }
  }

  /// The state of the request: `.initialized`, the state that `resume()`, `suspend()` or `cancel()` has set, or `.finished`.
  public var state: State { mutableState.withLock { $0.state } }
  /// The error of the request, or nil if there is none so far.
  public var error: AFError? { mutableState.withLock { $0.error } }
  /// The number of retries so far.
  public var retryCount: Int { mutableState.withLock { $0.retryCount } }
  /// The session that created the request, or nil if the session has been released.
  public var delegate: (any RequestDelegate)? { session }

  /// All `URLRequest`s created for this request, in order of creation, including those that adapters returned.
  public var requests: [URLRequest] { mutableState.withLock { Array($0.requests) } }
  /// The first `URLRequest` in ``requests``, or nil if there is none.
  public var firstRequest: URLRequest? { mutableState.withLock { $0.requests.first } }
  /// The last `URLRequest` in ``requests``, or nil if there is none.
  public var lastRequest: URLRequest? { mutableState.withLock { $0.requests.last } }
  /// The last `URLRequest` in ``requests``, or nil if there is none. It isn't changed by redirects.
  public var request: URLRequest? { lastRequest }
  /// For each task, the last `URLRequest` that the task sent. If a server redirected the task, this is the request after the last
  /// redirect.
  public var performedRequests: [URLRequest] { tasks.compactMap(\.currentRequest) }

  /// All tasks of the request, in order. Each retry adds a task.
  public var tasks: [URLSessionTask] { mutableState.withLock { Array($0.tasks) } }
  /// The first task in ``tasks``, or nil if there is none.
  public var firstTask: URLSessionTask? { mutableState.withLock { $0.tasks.first } }
  /// The last task in ``tasks``, or nil if there is none.
  public var lastTask: URLSessionTask? { mutableState.withLock { $0.tasks.last } }
  /// The last task in ``tasks``, or nil if there is none.
  public var task: URLSessionTask? { lastTask }
  /// The head of the last task's response, or nil before it has arrived.
  public var response: HTTPURLResponse? { lastTask?.httpResponse }

  /// The metrics of all completed tasks of the request, in order.
  public var allMetrics: [URLSessionTaskMetrics] { mutableState.withLock { Array($0.metrics) } }
  /// The first metrics in ``allMetrics``, or nil if there are none.
  public var firstMetrics: URLSessionTaskMetrics? { mutableState.withLock { $0.metrics.first } }
  /// The last metrics in ``allMetrics``, or nil if there are none.
  public var lastMetrics: URLSessionTaskMetrics? { mutableState.withLock { $0.metrics.last } }
  /// The last metrics in ``allMetrics``, or nil if there are none.
  public var metrics: URLSessionTaskMetrics? { lastMetrics }

  // MARK: Monitors

  /// The monitor of the request's own events, which notifies the session's monitors and then those added to the request. Nil if
  /// there are no monitors.
  public var eventMonitor: (any EventMonitor)? { mutableState.withLock { $0.eventMonitor } }
  /// The monitor to notify of events for which ``AlamofireNotifications`` posts no notification. Nil if ``AlamofireNotifications``
  /// is the only type of monitor.
  var monitors: CompositeEventMonitor? { mutableState.withLock { $0.listeningMonitors } }
}

extension Request.MutableState {
  /// The monitor to notify of events for which ``AlamofireNotifications`` posts no notification. Nil if ``AlamofireNotifications``
  /// is the only type of monitor.
  var listeningMonitors: CompositeEventMonitor? { eventMonitor.flatMap { $0.hasListeners ? $0 : nil } }
}
