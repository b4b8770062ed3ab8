// What is known of a request.

public import Foundation
public import LupineURLSession
import Synchronization

extension Request {
  /// Tells this request from all others.
  public var id: UUID {
    mutableState.withLock { state in
      // Made when it is asked for: few programs do, and it costs as much as building the request.
      if let id = state.id { return id }
      let id = UUID()
      state.id = id
      return id
    }
  }

  /// Where the request stands.
  public var state: State { mutableState.withLock { $0.state } }
  /// Why it failed, or nil.
  public var error: AFError? { mutableState.withLock { $0.error } }
  /// How many times it was sent again on a retrier's word.
  public var retryCount: Int { mutableState.withLock { $0.retryCount } }
  /// The session that has made it, while there is one.
  public var delegate: (any RequestDelegate)? { session }

  /// Every request that was built, in order, the adapted ones included.
  public var requests: [URLRequest] { mutableState.withLock { Array($0.requests) } }
  /// The first of `requests`.
  public var firstRequest: URLRequest? { mutableState.withLock { $0.requests.first } }
  /// The last of `requests`.
  public var lastRequest: URLRequest? { mutableState.withLock { $0.requests.last } }
  /// The last of `requests`, before redirects.
  public var request: URLRequest? { lastRequest }
  /// What each task sent in the end, redirects applied.
  public var performedRequests: [URLRequest] { tasks.compactMap(\.currentRequest) }

  /// Every task, in order.
  public var tasks: [URLSessionTask] { mutableState.withLock { Array($0.tasks) } }
  /// The first of `tasks`.
  public var firstTask: URLSessionTask? { mutableState.withLock { $0.tasks.first } }
  /// The last of `tasks`.
  public var lastTask: URLSessionTask? { mutableState.withLock { $0.tasks.last } }
  /// The last of `tasks`.
  public var task: URLSessionTask? { lastTask }
  /// The response's head, once it came.
  public var response: HTTPURLResponse? { lastTask?.httpResponse }

  /// The measurements of every task that has completed.
  public var allMetrics: [URLSessionTaskMetrics] { mutableState.withLock { Array($0.metrics) } }
  /// The first of `allMetrics`.
  public var firstMetrics: URLSessionTaskMetrics? { mutableState.withLock { $0.metrics.first } }
  /// The last of `allMetrics`.
  public var lastMetrics: URLSessionTaskMetrics? { mutableState.withLock { $0.metrics.last } }
  /// The last of `allMetrics`.
  public var metrics: URLSessionTaskMetrics? { lastMetrics }

  var session: (any RequestSession)? { mutableState.withLock { $0.session } }

  // MARK: What it was given

  /// What adapts and retries this request, apart from the session's interceptor.
  public var interceptor: (any RequestInterceptor)? {
    let interceptors = interceptors
    return interceptors.count > 1 ? Interceptor(interceptors: interceptors) : interceptors.first
  }
  /// The monitors of the request's own events: the session's, then those added to the request; nil if there are none.
  public var eventMonitor: (any EventMonitor)? {
    mutableState.withLock { $0.eventMonitor } as? CompositeEventMonitor
  }
  /// What decides about this request's redirects, before the session's handler.
  public var redirectHandler: (any RedirectHandler)? { mutableState.withLock { $0.redirectHandler } }
  /// What decides about storing this request's response, before the session's handler.
  public var cachedResponseHandler: (any CachedResponseHandler)? {
    mutableState.withLock { $0.cachedResponseHandler }
  }
  /// What is offered to a server that asks for a credential.
  public var credential: URLCredential? { mutableState.withLock { $0.credential } }

  /// Who decides about a response whose head came.
  var responseDecision: ResponseDecision? { mutableState.withLock { $0.responseDecision } }

  /// Who is told of every event; nil if there are no monitors, or none but those that post notifications.
  var monitors: (any RequestMonitor)? { mutableState.withLock { $0.listeningMonitors } }
  /// Who is told of the events that notifications are posted of.
  var notifiedMonitors: (any RequestMonitor)? { mutableState.withLock { $0.eventMonitor } }
}

extension Request.MutableState {
  /// See `Request.monitors`.
  var listeningMonitors: (any RequestMonitor)? { eventMonitor.flatMap { $0.hasListeners ? $0 : nil } }
}
