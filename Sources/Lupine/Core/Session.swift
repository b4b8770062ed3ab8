// A session: what its requests share. It makes them, keeps those that run, and owns the queues and the engine.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked since the class is open: all state is constant or in the Mutex.
/// Makes requests. A session keeps its connections, so use one for many requests.
///
/// Requests that are under way when a session is released fail with `AFError.sessionDeinitialized`. Requests that it has
/// begun to set up get their tasks first, unless an adapter takes longer.
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

  /// The monitors that a session has unless it is given others.
  @available(*, deprecated, message: "Pass all monitors to the initializer: it has these by default, and adds none.")
  public var defaultEventMonitors: [any EventMonitor] { [AlamofireNotifications()] }

  /// The one way onto the root queue: its `perform` says in which order work runs there.
  let root: SerialQueue
  let activeRequests = Mutex(Registry<Request>())

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
  ///   - eventMonitors: are told what becomes of requests; notifications are posted by default.
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
      let isAsked = session.client.evaluateTrust(by: serverTrustManager.evaluation)
      precondition(
        isAsked, "the URLSession has sent requests before, or has another server trust manager: make a new one")
    }
    self.session = session
    self.delegate = delegate
    self.rootQueue = rootQueue
    root = session.delivery.isBased(on: rootQueue) ? session.delivery : SerialQueue(rootQueue)
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

  /// Creates a session on a `URLSession` of its own. The parameters are those of the other initialiser, but for the
  /// configuration, which is copied, and the root queue: if it is concurrent, a serial queue in front of it is used.
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
    abandonRequests()
    session.invalidateAndCancel()
  }

  // MARK: Data requests

  /// Makes a request from a URL, a method, header fields, and a dictionary of parameters, if any, that `encoding` puts
  /// into the query or the body.
  @preconcurrency open func request(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    requestModifier: RequestModifier? = nil
  ) -> DataRequest {
    request(
      BuiltRequest(convertible, method, headers, requestModifier, parameters, encoding),
      interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Makes a request with parameters that `encoder` puts into the query or the body.
  @preconcurrency open func request<Parameters: Encodable & Sendable>(
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
      DataRequest(convertible, session: self, shouldAutomaticallyResume: shouldAutomaticallyResume), interceptor)
  }

  // MARK: Uploads

  /// Makes an upload of bytes.
  @preconcurrency open func upload(
    _ data: Data, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default,
    requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(
      data, with: BuiltRequest(convertible, method, headers, requestModifier), interceptor: interceptor,
      shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
  }

  /// Makes an upload of bytes, with a request whose own body isn't sent.
  open func upload(
    _ data: Data, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil, fileManager: FileManager = .default
  ) -> UploadRequest {
    made(
      UploadRequest(
        convertible, UploadRequest.Uploadable.data(data), self, shouldAutomaticallyResume, fileManager),
      interceptor)
  }

  /// Makes an upload of a file, whose length is what it is when the upload starts.
  @preconcurrency open func upload(
    _ fileURL: URL, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default,
    requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(
      fileURL, with: BuiltRequest(convertible, method, headers, requestModifier), interceptor: interceptor,
      shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
  }

  /// Makes an upload of a file, with a request whose own body isn't sent.
  open func upload(
    _ fileURL: URL, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil, fileManager: FileManager = .default
  ) -> UploadRequest {
    made(
      UploadRequest(
        convertible, UploadRequest.Uploadable.file(fileURL, shouldRemove: false), self, shouldAutomaticallyResume,
        fileManager),
      interceptor)
  }

  /// Makes an upload of a stream, which is to be left alone from now on.
  @preconcurrency open func upload(
    _ stream: InputStream, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, fileManager: FileManager = .default,
    requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(
      stream, with: BuiltRequest(convertible, method, headers, requestModifier), interceptor: interceptor,
      fileManager: fileManager)
  }

  /// Makes an upload of a stream, with a request whose own body isn't sent.
  open func upload(
    _ stream: InputStream, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil, fileManager: FileManager = .default
  ) -> UploadRequest {
    made(
      UploadRequest(
        convertible, UploadRequest.Uploadable.stream(stream), self, shouldAutomaticallyResume, fileManager),
      interceptor)
  }

  /// Makes an upload of a form, which `multipartFormData` fills at once; see the one of a `MultipartFormData`.
  @preconcurrency open func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void, to url: any URLConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    method: HTTPMethod = .post, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
    fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(
      multipartFormData: MultipartFormData(fileManager, filledBy: multipartFormData), to: url,
      usingThreshold: encodingMemoryThreshold, method: method, headers: headers, interceptor: interceptor,
      fileManager: fileManager, requestModifier: requestModifier)
  }

  /// Makes an upload of a form, which `multipartFormData` fills at once; see the one of a `MultipartFormData`.
  open func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void, with request: any URLRequestConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    interceptor: (any RequestInterceptor)? = nil, fileManager: FileManager = .default
  ) -> UploadRequest {
    upload(
      multipartFormData: MultipartFormData(fileManager, filledBy: multipartFormData), with: request,
      usingThreshold: encodingMemoryThreshold, interceptor: interceptor, fileManager: fileManager)
  }

  /// Makes an upload of a form, which is to be left alone until the request has finished.
  ///
  /// It is encoded once, on the request queue: in memory if its content has fewer bytes than the threshold, otherwise in a
  /// temporary file, which is removed in the end. Its media type takes the place of any Content-Type.
  @preconcurrency open func upload(
    multipartFormData: MultipartFormData, to url: any URLConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    method: HTTPMethod = .post, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil, fileManager: FileManager = .default,
    requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(
      multipartFormData: multipartFormData, with: BuiltRequest(url, method, headers, requestModifier),
      usingThreshold: encodingMemoryThreshold, interceptor: interceptor,
      shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
  }

  /// Makes an upload of a form, which is to be left alone until the request has finished; see above.
  open func upload(
    multipartFormData: MultipartFormData, with request: any URLRequestConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default
  ) -> UploadRequest {
    let form = MultipartUpload(
      multipartFormData, with: request, memoryThreshold: encodingMemoryThreshold, fileManager: fileManager)
    return made(UploadRequest(form, form, self, shouldAutomaticallyResume, fileManager), interceptor)
  }

  // MARK: Downloads

  /// Makes a download from a URL, a method, header fields, and a dictionary of parameters, if any, that `encoding` puts
  /// into the query or the body. `destination` says where the file goes; see ``DownloadRequest/Destination``.
  @preconcurrency open func download(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    requestModifier: RequestModifier? = nil, to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    download(
      BuiltRequest(convertible, method, headers, requestModifier, parameters, encoding),
      interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
  }

  /// Makes a download with parameters that `encoder` puts into the query or the body.
  @preconcurrency open func download<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    requestModifier: RequestModifier? = nil, to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    download(
      BuiltRequest(convertible, method, headers, requestModifier, parameters, encoder), interceptor: interceptor,
      shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
  }

  /// Makes a download from whatever can be made a request.
  @preconcurrency open func download(
    _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil, to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    made(
      DownloadRequest(
        .request(convertible), destination, session: self, shouldAutomaticallyResume: shouldAutomaticallyResume),
      interceptor)
  }

  /// Makes a download that goes on where an earlier one was stopped, with the earlier one's request, which isn't adapted
  /// again. If that can't be gone on with, everything is asked for anew.
  @preconcurrency open func download(
    resumingWith data: Data, interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    made(
      DownloadRequest(
        .resumeData(data), destination, session: self, shouldAutomaticallyResume: shouldAutomaticallyResume),
      interceptor)
  }

  // MARK: Stream requests

  /// Makes a request whose body is handed over piece by piece, with parameters that `encoder` puts into the query or the
  /// body.
  @preconcurrency open func streamRequest<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
    automaticallyCancelOnStreamError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil, requestModifier: RequestModifier? = nil
  ) -> DataStreamRequest {
    streamRequest(
      BuiltRequest(convertible, method, headers, requestModifier, parameters, encoder),
      automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
      shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Makes a request whose body is handed over piece by piece.
  @preconcurrency open func streamRequest(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil,
    automaticallyCancelOnStreamError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil, requestModifier: RequestModifier? = nil
  ) -> DataStreamRequest {
    streamRequest(
      BuiltRequest(convertible, method, headers, requestModifier),
      automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
      shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Makes a request whose body is handed over piece by piece, from whatever can be made one.
  open func streamRequest(
    _ convertible: any URLRequestConvertible, automaticallyCancelOnStreamError: Bool = false,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
  ) -> DataStreamRequest {
    made(
      DataStreamRequest(
        convertible, automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, session: self,
        shouldAutomaticallyResume: shouldAutomaticallyResume),
      interceptor)
  }
}
