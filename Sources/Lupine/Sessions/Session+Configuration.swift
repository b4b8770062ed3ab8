// Session+Configuration: Session's initializer from a configuration, and its defaults.

public import Foundation
public import LupineURLSession

extension Session {
  /// Creates a session with a new `URLSession`.
  ///
  /// - Parameters:
  ///   - configuration: The configuration, which is copied.
  ///   - delegate: The delegate of the new `URLSession`. A delegate can serve only one `Session`.
  ///   - rootQueue: The queue for internal work. If it is concurrent, the session uses a serial queue that targets it.
  ///   - startRequestsImmediately: Whether a request is resumed when its first response handler is added.
  ///   - requestSetup: When `URLRequest`s are created.
  ///   - requestQueue: The queue on which `URLRequest`s are created, or nil for the root queue.
  ///   - serializationQueue: The queue on which responses are serialized, or nil for the root queue.
  ///   - interceptor: Adapts and retries every request.
  ///   - serverTrustManager: Evaluates the servers' certificates.
  ///   - redirectHandler: Handles redirects. If it is nil, redirects are followed.
  ///   - cachedResponseHandler: Decides how responses are cached.
  ///   - eventMonitors: The monitors of all requests' events. By default, a monitor that posts notifications.
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

  /// The event monitors that a session has if none are passed to its initializer.
  @available(*, deprecated, message: "Pass all monitors to the initializer. It uses these by default, and no others.")
  public var defaultEventMonitors: [any EventMonitor] { [AlamofireNotifications()] }
}
