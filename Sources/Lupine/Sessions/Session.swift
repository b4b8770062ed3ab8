// `Session`: creates requests, keeps track of the active ones, and owns their queues and their engine.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is constant or protected by the Mutex.
/// Creates requests and holds the resources that they share: connections, queues, interceptor, monitors and trust settings.
///
/// Use one session for many requests, so that they reuse its connections:
///
/// ```swift
/// let session = Session(interceptor: RetryPolicy(), eventMonitors: [ClosureEventMonitor()])
/// let response = await session.request("https://example.org/").serializingString().response
/// ```
///
/// Keep a reference to the session while its requests run. When the session is released, its unfinished requests fail with
/// `AFError.sessionDeinitialized`. A request retains the session while its task is being created, except while an adapter runs.
open class Session: @unchecked Sendable {
  /// The time at which a session creates a request's `URLRequest`: immediately, or when the request is first resumed.
  public enum RequestSetup: Sendable {
    /// The `URLRequest` is created as soon as the ``Request`` is created. The task still starts only when the request is resumed.
    case eager
    /// The `URLRequest` is created only when the ``Request`` is first resumed.
    case lazy
  }

  /// A closure that changes a `URLRequest` before the parameters are encoded. If the closure throws an error, the request fails
  /// with that error.
  public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

  /// The default session, to which ``AF`` refers.
  public static let `default` = Session()

  /// The `URLSession` that creates the requests' tasks.
  public let session: URLSession
  /// The delegate of ``session``, which passes each task's events to its request.
  public let delegate: SessionDelegate
  /// The serial queue on which requests do their internal work.
  public let rootQueue: DispatchQueue
  /// Whether a request is resumed when its first response handler is added. True by default.
  public let startRequestsImmediately: Bool
  /// When the session creates a request's `URLRequest`: immediately, or when the request is first resumed (the default).
  public let requestSetup: RequestSetup
  /// The queue on which the session creates `URLRequest`s. The root queue by default.
  public let requestQueue: DispatchQueue
  /// The queue on which the session serializes responses. The root queue by default.
  public var serializationQueue: DispatchQueue { queues.serialization }
  /// The interceptor that adapts and retries every request of the session, before the request's own interceptor. Nil by default.
  public let interceptor: (any RequestInterceptor)?
  /// The manager that evaluates the servers' certificates. If it is nil (the default), the configuration's TLS settings decide.
  public let serverTrustManager: ServerTrustManager?
  /// The handler that decides about the redirects of requests without their own handler, or nil (the default) to follow them.
  public let redirectHandler: (any RedirectHandler)?
  /// The handler that decides how to cache the responses to requests without their own handler. By default, they aren't changed.
  public let cachedResponseHandler: (any CachedResponseHandler)?
  /// The monitor that passes each request's events to the session's monitors. It is called on the root queue.
  public let eventMonitor: CompositeEventMonitor

  let queues: RequestQueues
  /// Whether `interceptor` isn't nil. Stored, because comparing the interceptor with nil would copy it for each request.
  let hasInterceptor: Bool
  let activeRequests = Mutex(Registry<Request>())

  /// Creates a session that uses an existing `URLSession`.
  ///
  /// - Parameters:
  ///   - session: The existing `URLSession`. Its delegate must be `delegate`, and the underlying queue of its delegate queue must
  ///     be `rootQueue`. If `serverTrustManager` isn't nil, the `URLSession` must not have sent a request yet.
  ///   - delegate: The delegate of `session`. A delegate can serve only one `Session`.
  ///   - rootQueue: The serial queue for internal work.
  ///   - startRequestsImmediately: Whether a request is resumed when its first response handler is added.
  ///   - requestSetup: The time at which a request's `URLRequest` is created.
  ///   - requestQueue: The queue on which `URLRequest`s are created, or nil for the root queue.
  ///   - serializationQueue: The queue on which responses are serialized, or nil for the root queue.
  ///   - interceptor: Adapts and retries every request.
  ///   - serverTrustManager: Evaluates the servers' certificates.
  ///   - redirectHandler: Handles redirects. If it is nil, redirects are followed.
  ///   - cachedResponseHandler: Decides how responses are cached.
  ///   - eventMonitors: The monitors of all requests' events. By default, a monitor that posts notifications.
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
    precondition(session.delegate === delegate, "The URLSession has another delegate. Pass that one to the Session.")
    precondition(
      session.delegateQueue.underlyingQueue?.label == rootQueue.label,
      "The URLSession's delegate queue doesn't run on the root queue. Set its underlyingQueue to the root queue.")
    if let serverTrustManager {
      let isAsked = session.client.evaluateTrust(by: serverTrustManager.evaluation)
      precondition(
        isAsked, "The URLSession has sent a request or has another server trust manager. Pass a new URLSession.")
    }
    self.session = session
    self.delegate = delegate
    self.rootQueue = rootQueue
    self.startRequestsImmediately = startRequestsImmediately
    self.requestSetup = requestSetup
    self.requestQueue = requestQueue ?? rootQueue
    queues = RequestQueues(rootQueue, serialization: serializationQueue ?? rootQueue, delivery: session.delivery)
    (self.interceptor, hasInterceptor) = (interceptor, interceptor != nil)
    self.serverTrustManager = serverTrustManager
    self.redirectHandler = redirectHandler
    self.cachedResponseHandler = cachedResponseHandler
    eventMonitor = CompositeEventMonitor(queue: rootQueue, monitors: eventMonitors)
    delegate.attach(to: self)
  }

  deinit {
    // The error is set before the tasks are cancelled, so that the requests don't fail with the error of the cancellation.
    for request in activeRequests.withLock({ $0.members }) {
      request.expectEnd(with: .sessionDeinitialized)
      request.root.perform { request.end(with: .sessionDeinitialized) }
    }
    session.invalidateAndCancel()
  }

  /// Prepares a new request, and returns it. Adds the interceptor to the request, and begins to create the request's task
  /// immediately if `requestSetup` is `.eager`.
  final func made<Made: Request>(_ request: consuming Made, _ interceptor: (any RequestInterceptor)? = nil) -> Made {
    // Compared with nil first, because `if let` alone copies the optional even if it is nil.
    if interceptor != nil, let interceptor { request.interceptor(interceptor) }
    if requestSetup == .eager { request.prepareEagerly(in: self) }
    return request
  }

  // MARK: Data requests

  /// Creates a request from a URL, a method, header fields and a dictionary of parameters.
  ///
  /// ```swift
  /// AF.request("https://example.org/search", parameters: ["q": "lupine"])
  ///   .validate()
  ///   .responseString { print($0.result) }
  /// ```
  ///
  /// - Parameters:
  ///   - convertible: The URL.
  ///   - method: The method.
  ///   - parameters: The parameters, or nil for none.
  ///   - encoding: Encodes the parameters into the query or the body.
  ///   - headers: Header fields, which replace the configuration's fields with the same names.
  ///   - interceptor: Adapts and retries this request, after the session's interceptor.
  ///   - shouldAutomaticallyResume: Whether the first response handler resumes the request, or nil to use
  ///     ``startRequestsImmediately``.
  ///   - requestModifier: Changes the `URLRequest` before the parameters are encoded.
  /// - Returns: The request. It is sent when it is resumed.
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

  /// Creates a request with `Encodable` parameters, which `encoder` encodes into the URL's query or the request body.
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

  /// Creates a request from a `URLRequest`, or from a type that can be converted to one.
  open func request(
    _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
  ) -> DataRequest {
    made(
      DataRequest(convertible, session: self, shouldAutomaticallyResume: shouldAutomaticallyResume), interceptor)
  }

  // MARK: Uploads

  /// Creates a request that uploads `data`. The method is `POST` by default.
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

  /// Creates a request that uploads `data`. A body in `convertible` is ignored.
  open func upload(
    _ data: Data, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil, fileManager: FileManager = .default
  ) -> UploadRequest {
    let body = UploadRequest.Uploadable.data(data)
    return made(UploadRequest(convertible, body, self, shouldAutomaticallyResume, fileManager), interceptor)
  }

  /// Creates a request that uploads a file. The file's length is read when the upload starts.
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

  /// Creates a request that uploads a file. A body in `convertible` is ignored.
  open func upload(
    _ fileURL: URL, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil, fileManager: FileManager = .default
  ) -> UploadRequest {
    let body = UploadRequest.Uploadable.file(fileURL, shouldRemove: false)
    return made(UploadRequest(convertible, body, self, shouldAutomaticallyResume, fileManager), interceptor)
  }

  /// Creates a request that uploads a stream. Don't use the stream after this call.
  @preconcurrency open func upload(
    _ stream: InputStream, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, fileManager: FileManager = .default,
    requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(
      stream, with: BuiltRequest(convertible, method, headers, requestModifier), interceptor: interceptor,
      fileManager: fileManager)
  }

  /// Creates a request that uploads a stream. A body in `convertible` is ignored. Don't use the stream after this call.
  open func upload(
    _ stream: InputStream, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil, fileManager: FileManager = .default
  ) -> UploadRequest {
    let body = UploadRequest.Uploadable.stream(stream)
    return made(UploadRequest(convertible, body, self, shouldAutomaticallyResume, fileManager), interceptor)
  }

  /// Creates a request that uploads a multipart form.
  ///
  /// ```swift
  /// AF.upload(multipartFormData: { $0.append(photo, withName: "photo", mimeType: "image/png") }, to: url)
  ///   .responseString { print($0.result) }
  /// ```
  ///
  /// `multipartFormData` fills the form. It is called once, before this method returns.
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

  /// Creates a request that uploads a multipart form. Calls `multipartFormData` to fill the form before this method returns.
  open func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void, with request: any URLRequestConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    interceptor: (any RequestInterceptor)? = nil, fileManager: FileManager = .default
  ) -> UploadRequest {
    upload(
      multipartFormData: MultipartFormData(fileManager, filledBy: multipartFormData), with: request,
      usingThreshold: encodingMemoryThreshold, interceptor: interceptor, fileManager: fileManager)
  }

  /// Creates a request that uploads a multipart form. Don't change the form before the request has finished.
  ///
  /// The form is encoded once, on the request queue. A form with fewer bytes than `encodingMemoryThreshold` is encoded
  /// in memory, and a larger one in a temporary file, which is deleted after the request. The form's media type
  /// replaces a Content-Type field of the request.
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

  /// Creates a request that uploads a multipart form. Don't change the form before the request has finished.
  open func upload(
    multipartFormData: MultipartFormData, with request: any URLRequestConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default
  ) -> UploadRequest {
    let form = MultipartUpload(
      multipartFormData, with: request, memoryThreshold: encodingMemoryThreshold,
      isInBackgroundSession: session.configuration.identifier != nil, fileManager: fileManager)
    return made(UploadRequest(form, form, self, shouldAutomaticallyResume, fileManager), interceptor)
  }

  // MARK: Downloads

  /// Creates a request that downloads its response body to a file.
  ///
  /// ```swift
  /// let file = try await AF.download("https://example.org/lupine.pdf", to: { _, _ in (target, []) })
  ///   .serializingDownloadedFileURL().value
  /// ```
  ///
  /// `destination` returns the file's destination. If it is nil, the file gets a new name in the directory for temporary files.
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

  /// Creates a request that downloads its response body to a file, with `Encodable` parameters.
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

  /// Creates a request that downloads its response body to a file, from a `URLRequest` or a type that can be converted to one.
  @preconcurrency open func download(
    _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil, to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    made(
      DownloadRequest(
        .request(convertible), destination, session: self, shouldAutomaticallyResume: shouldAutomaticallyResume),
      interceptor)
  }

  /// Creates a request that resumes an interrupted or cancelled download from its ``DownloadRequest/resumeData``.
  ///
  /// Sends the `URLRequest` of that download without adapting it again. If the server can't resume the download, it starts over.
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

  /// Creates a request whose response body is delivered in pieces, with `Encodable` parameters.
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

  /// Creates a request whose response body is delivered in pieces while it arrives.
  ///
  /// ```swift
  /// AF.streamRequest("https://example.org/events").responseStreamString { stream in
  ///   if let text = stream.value { print(text) }
  /// }
  /// ```
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

  /// Creates a request whose response body is delivered in pieces, from a `URLRequest` or a type that provides one.
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
