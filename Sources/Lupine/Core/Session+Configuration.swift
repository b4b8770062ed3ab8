// `Session`: the initializer that takes a configuration, and what sessions and their requests get by default.

public import Foundation

extension Session {
  /// Creates a session with a new `URLSession`. The parameters not listed here are those of the other initializer.
  ///
  /// - Parameters:
  ///   - configuration: The configuration, which is copied.
  ///   - rootQueue: The queue for internal work. If it is concurrent, the session uses a serial queue that targets it.
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

  /// The monitors of a session that is created without any.
  @available(*, deprecated, message: "Pass all monitors to the initializer: it has these by default, and adds none.")
  public var defaultEventMonitors: [any EventMonitor] { [AlamofireNotifications()] }

  /// ``eventMonitor``, or nil if it has no monitors.
  var activeEventMonitor: CompositeEventMonitor? { eventMonitor.monitors.isEmpty ? nil : eventMonitor }

  /// Starts to build `request` if the session is eager, and returns it.
  func made<Made: Request>(_ request: Made) -> Made {
    if requestSetup == .eager { request.prepareEagerly(in: self) }
    return request
  }
}
