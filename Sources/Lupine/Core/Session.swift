// A session: what its requests share. It makes them, keeps those that run, and owns the queues and the engine.

public import Foundation
import Synchronization

// Unchecked since the class is open: all state is constant or in the Mutex.
/// Makes requests. A session keeps its connections, so use one for many requests.
///
/// Requests that are under way when a session is released fail with `AFError.sessionDeinitialized`.
open class Session: @unchecked Sendable {
  /// When a request's `URLRequest` is made.
  public enum RequestSetup: Sendable {
    /// As soon as there is the request; its task isn't resumed before the request is.
    case eager
    /// When the request is first resumed.
    case lazy
  }

  /// Changes a request before it is sent, or throws to refuse it.
  public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

  /// The session that `AF` stands for.
  public static let `default` = Session()

  /// What makes the tasks.
  public let session: URLSession
  /// Who hears of the tasks.
  public let delegate: SessionDelegate
  /// The serial queue on which requests do their work.
  public let rootQueue: DispatchQueue
  /// Whether a request is resumed when it gets its first response handler.
  public let startRequestsImmediately: Bool
  /// When requests are made ready.
  public let requestSetup: RequestSetup
  /// The queue on which requests are built; the root queue unless another was given.
  public let requestQueue: DispatchQueue
  /// The queue on which responses are serialised; the root queue unless another was given.
  public let serializationQueue: DispatchQueue
  /// What adapts and retries every request, before the request's own interceptor.
  public let interceptor: (any RequestInterceptor)?
  /// What decides whether servers are to be trusted; the configuration alone does if nil.
  public let serverTrustManager: ServerTrustManager?
  /// What decides about redirects where a request has no handler of its own; without either they are followed.
  public let redirectHandler: (any RedirectHandler)?
  /// What decides about storing responses where a request has no handler of its own.
  public let cachedResponseHandler: (any CachedResponseHandler)?
  /// Who is told what becomes of requests.
  public let eventMonitor: CompositeEventMonitor

  /// ``eventMonitor``, unless nobody would hear.
  var activeEventMonitor: CompositeEventMonitor? { eventMonitor.monitors.isEmpty ? nil : eventMonitor }

  let activeRequests = Mutex<Set<Request>>([])

  /// Creates a session on a `URLSession`.
  ///
  /// - Parameters:
  ///   - session: with `delegate` as its delegate, and a delegate queue upon `rootQueue`. With a server trust manager, one
  ///     that has sent no request yet: its connections are this manager's.
  ///   - delegate: who hears of the tasks; works for this session alone.
  ///   - rootQueue: the serial queue on which internal work is done.
  ///   - startRequestsImmediately: whether a request is resumed when it gets its first response handler.
  ///   - requestSetup: when requests are made ready.
  ///   - requestQueue: where requests are built; the root queue if nil.
  ///   - serializationQueue: where responses are serialised; the root queue if nil.
  ///   - interceptor: adapts and retries every request.
  ///   - serverTrustManager: decides whether servers are to be trusted.
  ///   - redirectHandler: decides about redirects; they are followed if nil.
  ///   - cachedResponseHandler: decides about storing responses.
  ///   - eventMonitors: are told what becomes of requests, behind those of ``defaultEventMonitors``.
  public init(
    session: URLSession,
    delegate: SessionDelegate,
    rootQueue: DispatchQueue,
    startRequestsImmediately: Bool = true,
    requestSetup: RequestSetup = .lazy,
    requestQueue: DispatchQueue? = nil,
    serializationQueue: DispatchQueue? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    serverTrustManager: ServerTrustManager? = nil,
    redirectHandler: (any RedirectHandler)? = nil,
    cachedResponseHandler: (any CachedResponseHandler)? = nil,
    eventMonitors: [any EventMonitor] = [AlamofireNotifications()]
  ) {
    precondition(session.delegate === delegate, "the URLSession has another delegate than the Session")
    precondition(
      session.delegateQueue.underlyingQueue?.label == rootQueue.label,
      "the URLSession's delegate queue must stand upon the root queue: set its underlyingQueue")
    if let serverTrustManager {
      let isAsked = session.client.ask(serverTrustManager)
      precondition(
        isAsked, "the URLSession has sent requests before, or has another server trust manager: make a new one")
    }
    self.session = session
    self.delegate = delegate
    self.rootQueue = rootQueue
    self.startRequestsImmediately = startRequestsImmediately
    self.requestSetup = requestSetup
    self.requestQueue = requestQueue ?? rootQueue
    self.serializationQueue = serializationQueue ?? rootQueue
    self.interceptor = interceptor
    self.serverTrustManager = serverTrustManager
    self.redirectHandler = redirectHandler
    self.cachedResponseHandler = cachedResponseHandler
    eventMonitor = CompositeEventMonitor(queue: rootQueue, monitors: eventMonitors)
    delegate.attach(to: self)
  }

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - configuration: copied; Alamofire's default headers by default.
  ///   - delegate: who hears of the tasks; works for this session alone.
  ///   - rootQueue: where internal work is done. If it is concurrent, a serial queue in front of it is used.
  ///   - startRequestsImmediately: whether a request is resumed when it gets its first response handler.
  ///   - requestSetup: when requests are made ready.
  ///   - requestQueue: where requests are built; the root queue if nil.
  ///   - serializationQueue: where responses are serialised; the root queue if nil.
  ///   - interceptor: adapts and retries every request.
  ///   - serverTrustManager: decides whether servers are to be trusted.
  ///   - redirectHandler: decides about redirects; they are followed if nil.
  ///   - cachedResponseHandler: decides about storing responses.
  ///   - eventMonitors: are told what becomes of requests.
  public convenience init(
    configuration: URLSessionConfiguration = URLSessionConfiguration.af.default,
    delegate: SessionDelegate = SessionDelegate(),
    rootQueue: DispatchQueue = DispatchQueue(label: "org.alamofire.session.rootQueue"),
    startRequestsImmediately: Bool = true,
    requestSetup: RequestSetup = .lazy,
    requestQueue: DispatchQueue? = nil,
    serializationQueue: DispatchQueue? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    serverTrustManager: ServerTrustManager? = nil,
    redirectHandler: (any RedirectHandler)? = nil,
    cachedResponseHandler: (any CachedResponseHandler)? = nil,
    eventMonitors: [any EventMonitor] = [AlamofireNotifications()]
  ) {
    let rootQueue = rootQueue.serialized
    self.init(
      session: URLSession(
        configuration: configuration, delegate: delegate, delegateQueue: OperationQueue(serial: rootQueue)),
      delegate: delegate, rootQueue: rootQueue, startRequestsImmediately: startRequestsImmediately,
      requestSetup: requestSetup, requestQueue: requestQueue, serializationQueue: serializationQueue,
      interceptor: interceptor, serverTrustManager: serverTrustManager, redirectHandler: redirectHandler,
      cachedResponseHandler: cachedResponseHandler, eventMonitors: eventMonitors)
  }

  deinit {
    for request in activeRequests.withLock({ $0 }) {
      request.underlyingQueue.async { request.end(with: .sessionDeinitialized) }
    }
    session.invalidateAndCancel()
  }

  // MARK: Data requests

  /// Makes a request from a URL, a method, header fields, and a dictionary of parameters, if any, that `encoding` puts
  /// into the query or the body.
  open func request(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    requestModifier: RequestModifier? = nil
  ) -> DataRequest {
    request(
      BuiltRequest(convertible, method, headers, requestModifier) { try encoding.encode($0, with: parameters) },
      interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Makes a request with parameters that `encoder` puts into the query or the body.
  open func request<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    requestModifier: RequestModifier? = nil
  ) -> DataRequest {
    request(
      BuiltRequest(convertible, method, headers, requestModifier, parameters, encoder), interceptor: interceptor,
      shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Makes a request from whatever can be made one.
  open func request(
    _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
  ) -> DataRequest {
    made(
      DataRequest(
        convertible, session: self, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume))
  }

  /// A request of this session, made ready if the session is eager.
  func made<Made: Request>(_ request: Made) -> Made {
    if requestSetup == .eager { request.prepareEagerly() }
    return request
  }

  // MARK: All requests

  /// Calls `action` on the root queue with every request that is under way.
  public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
    rootQueue.async { action(self.activeRequests.withLock { $0 }) }
  }

  /// Cancels every request that is under way, then calls `completion` on `queue`.
  public func cancelAllRequests(
    completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
  ) {
    withAllRequests { requests in
      for request in requests { request.cancel() }
      if let completion { queue.async(execute: completion) }
    }
  }

  /// Ends every request that is under way; on the root queue.
  func endRequests(with error: AFError) {
    for request in activeRequests.withLock({ $0 }) { request.end(with: error) }
  }

  /// A request is made ready from now on: it lives until it has finished.
  func keep(_ request: Request) {
    _ = activeRequests.withLock { $0.insert(request) }
  }
}

extension DispatchQueue {
  /// The queue itself if it is the main queue, otherwise a serial one in front of it.
  fileprivate var serialized: DispatchQueue {
    // Not compared by ===: on Linux the main queue is another object at each access.
    label == DispatchQueue.main.label ? self : DispatchQueue(label: label, target: self)
  }
}
