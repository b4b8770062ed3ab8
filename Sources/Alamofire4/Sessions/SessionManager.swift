// SessionManager: creates requests that share a URLSession.

public import Dispatch
public import Foundation
import Lupine
public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is constant or in a Mutex.
/// Creates requests that share a `URLSession`, an adapter and a retrier.
///
/// When the manager is released, its requests are cancelled. A subclass may override the methods that create requests. The
/// methods that take a URL call those that take a `URLRequest`.
open class SessionManager: @unchecked Sendable {
  /// The outcome of encoding a multipart form.
  public enum MultipartFormDataEncodingResult: Sendable {
    /// The form was encoded and the upload was created. If `streamingFromDisk` is true, the form was written to `streamFileURL`.
    case success(request: UploadRequest, streamingFromDisk: Bool, streamFileURL: URL?)
    /// The multipart form couldn't be encoded.
    case failure(any Error)
  }

  // Unchecked because adapters and retriers of Alamofire 4's programs aren't Sendable.
  private struct Settings: @unchecked Sendable {
    var startRequestsImmediately = true
    var adapter: (any RequestAdapter)?
    var retrier: (any RequestRetrier)?
  }

  /// The default manager, which the module's functions such as `request(_:)` use.
  public static let `default`: SessionManager = {
    let configuration = URLSessionConfiguration.default
    configuration.httpAdditionalHeaders = defaultHTTPHeaders
    return SessionManager(configuration: configuration)
  }()

  /// The default `Accept-Encoding`, `Accept-Language` and `User-Agent` fields.
  public static let defaultHTTPHeaders: HTTPHeaders = Lupine.HTTPHeaders.default.dictionary

  /// The default size, in bytes, from which a multipart form is encoded to a file instead of in memory: 10 MB.
  public static let multipartFormDataEncodingMemoryThreshold: UInt64 = 10_000_000

  /// The `URLSession` that creates the requests' tasks.
  public let session: URLSession

  /// The delegate of ``session``, which passes the events of tasks to the requests.
  public let delegate: SessionDelegate

  private let settings = Mutex(Settings())

  /// The queue on which requests are sent again, one after the other. It is serial, so that the requests start in the order in which
  /// a retrier calls its completions.
  let retryQueue = DispatchQueue(label: "lupine.alamofire4.retries", qos: .utility)

  /// Whether a request is resumed when it is created. True by default.
  open var startRequestsImmediately: Bool {
    get { current.startRequestsImmediately }
    set { update { $0.startRequestsImmediately = newValue } }
  }

  /// The adapter that changes each `URLRequest` before it is sent, or nil if there is none.
  open var adapter: (any RequestAdapter)? {
    get { current.adapter }
    set { update { $0.adapter = newValue } }
  }

  /// The retrier that decides for each failed request whether it is sent again, or nil if requests aren't retried.
  open var retrier: (any RequestRetrier)? {
    get { current.retrier }
    set { update { $0.retrier = newValue } }
  }

  /// The closure that is called on the main queue when all events of a background session have been delivered.
  @EventClosure open var backgroundCompletionHandler: (() -> Void)?

  /// Creates a manager with a new `URLSession`.
  ///
  /// If the session is a background session with tasks of an earlier process, the events of these tasks are delivered when the main
  /// queue has finished its work in progress, or after 5 seconds if the program doesn't run the main queue. If you call the
  /// initializer on another queue, set the closures of `delegate` first.
  ///
  /// - Parameters:
  ///   - configuration: The session's settings.
  ///   - delegate: The session's delegate.
  ///   - serverTrustPolicyManager: The trust policies of the servers, or nil to verify every server with the trust roots.
  public init(
    configuration: URLSessionConfiguration = .default, delegate: SessionDelegate = SessionDelegate(),
    serverTrustPolicyManager: ServerTrustPolicyManager? = nil
  ) {
    self.delegate = delegate
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    if let serverTrustPolicyManager { _ = session.client.evaluateTrust(by: serverTrustPolicyManager.evaluation) }
    awaitClosures()
    connect()
  }

  /// Creates a manager that uses an existing `URLSession`, whose delegate must be `delegate`. Returns nil if the session has
  /// another delegate.
  ///
  /// Also returns nil if `serverTrustPolicyManager` is given, but the session has already sent a request or already has trust
  /// policies.
  ///
  /// - Parameters:
  ///   - session: The session, which the manager invalidates when it is deallocated.
  ///   - delegate: The session's delegate.
  ///   - serverTrustPolicyManager: The trust policies of the servers, or nil to verify every server with the trust roots.
  public init?(
    session: URLSession, delegate: SessionDelegate, serverTrustPolicyManager: ServerTrustPolicyManager? = nil
  ) {
    guard session.delegate === delegate else { return nil }
    // Checked before the properties are set, because the deinitializer would invalidate the caller's session.
    if let serverTrustPolicyManager, !session.client.evaluateTrust(by: serverTrustPolicyManager.evaluation) {
      return nil
    }
    self.delegate = delegate
    self.session = session
    connect()
  }

  deinit {
    session.invalidateAndCancel()
  }

  /// The maximum time, in seconds, for which events of an earlier process's tasks wait for the main queue: 5. Afterward, the events
  /// are delivered even if the program never runs its main queue.
  private static let mainQueueSecondsMax = 5

  /// Delays the events of an earlier process's tasks until the main queue has finished its work in progress. A program that creates
  /// the manager on the main queue can therefore set the delegate's closures before it gets events. Without these closures, a
  /// downloaded file would be lost.
  private func awaitClosures() {
    guard session.hasRecordedTasks else { return }
    let isMainQueueFree = DispatchSemaphore(value: 0)
    let timeMax = DispatchTimeInterval.seconds(Self.mainQueueSecondsMax)
    session.delivery.perform { _ = isMainQueueFree.wait(timeout: .now() + timeMax) }
    DispatchQueue.main.async { isMainQueueFree.signal() }
  }

  private func connect() {
    delegate.attach(to: self)
    delegate.sessionDidFinishEventsForBackgroundURLSession = { [weak self] _ in
      DispatchQueue.main.async { self?.backgroundCompletionHandler?() }
    }
    session.restoreBackgroundTasks()
  }

  private var current: Settings { settings.withLock { $0 } }

  private func update(_ change: (inout Settings) -> Void) {
    let earlier = settings.withLock { settings in
      let earlier = settings
      change(&settings)
      return earlier
    }
    // A replaced object is released outside the lock, because its deinitializer may use the manager.
    withExtendedLifetime(earlier) {}
  }

  // MARK: Data requests

  /// Creates a data request from a URL, a method, parameters and header fields. Passes the encoded `URLRequest` to
  /// `request(_:)`, which a subclass may override.
  @discardableResult
  open func request(
    _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil
  ) -> DataRequest {
    switch encoded(url, method, parameters, encoding, headers) {
    case .success(let urlRequest): request(urlRequest)
    case .failure(let failure): startData(failure.urlRequest.map(TaskSource.data)) { throw failure.cause }
    }
  }

  /// Creates a data request from a `URLRequest`.
  @discardableResult
  open func request(_ urlRequest: any URLRequestConvertible) -> DataRequest {
    startData { .data(try urlRequest.asURLRequest()) }
  }

  // MARK: Downloads

  /// Creates a download from a URL, a method, parameters and header fields. Passes the encoded `URLRequest` to
  /// `download(_:to:)`, which a subclass may override.
  @discardableResult
  open func download(
    _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
    to destination: DownloadRequest.DownloadFileDestination? = nil
  ) -> DownloadRequest {
    switch encoded(url, method, parameters, encoding, headers) {
    case .success(let urlRequest): download(urlRequest, to: destination)
    case .failure(let failure):
      startDownload(failure.urlRequest.map(TaskSource.download), to: destination) { throw failure.cause }
    }
  }

  /// Creates a download from a `URLRequest`.
  @discardableResult
  open func download(
    _ urlRequest: any URLRequestConvertible, to destination: DownloadRequest.DownloadFileDestination? = nil
  ) -> DownloadRequest {
    startDownload(to: destination) { .download(try urlRequest.asURLRequest()) }
  }

  /// Creates a download that resumes a cancelled or failed download. The adapter isn't called.
  @discardableResult
  open func download(
    resumingWith resumeData: Data, to destination: DownloadRequest.DownloadFileDestination? = nil
  ) -> DownloadRequest {
    startDownload(to: destination) { .resumedDownload(resumeData) }
  }

  // MARK: Streams

  /// Creates a request that opens a TCP connection. Its task is a `URLSessionStreamTask`. The adapter isn't called.
  @discardableResult
  open func stream(withHostName hostName: String, port: Int) -> StreamRequest { startStream(hostName, port) }

  // MARK: Uploads

  /// Creates an upload of a file to a URL. Passes a `URLRequest` to `upload(_:with:)`, which a subclass may override.
  @discardableResult
  open func upload(
    _ fileURL: URL, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
  ) -> UploadRequest {
    startUpload(to: url, method, headers) { upload(fileURL, with: $0) }
  }

  /// Creates an upload of a file with a `URLRequest`.
  @discardableResult
  open func upload(_ fileURL: URL, with urlRequest: any URLRequestConvertible) -> UploadRequest {
    startUpload { .upload(.file(fileURL), try urlRequest.asURLRequest()) }
  }

  /// Creates an upload of data to a URL. Passes a `URLRequest` to `upload(_:with:)`, which a subclass may override.
  @discardableResult
  open func upload(
    _ data: Data, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
  ) -> UploadRequest {
    startUpload(to: url, method, headers) { upload(data, with: $0) }
  }

  /// Creates an upload of data with a `URLRequest`.
  @discardableResult
  open func upload(_ data: Data, with urlRequest: any URLRequestConvertible) -> UploadRequest {
    startUpload { .upload(.data(data), try urlRequest.asURLRequest()) }
  }

  /// Creates an upload of a stream to a URL. Passes a `URLRequest` to `upload(_:with:)`, which a subclass may override. The stream
  /// can be read only once.
  @discardableResult
  open func upload(
    _ stream: InputStream, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil
  ) -> UploadRequest {
    startUpload(to: url, method, headers) { upload(stream, with: $0) }
  }

  /// Creates an upload of a stream with a `URLRequest`. The stream can be read only once.
  @discardableResult
  open func upload(_ stream: InputStream, with urlRequest: any URLRequestConvertible) -> UploadRequest {
    startUpload { .upload(.stream(stream), try urlRequest.asURLRequest()) }
  }

  // MARK: Multipart forms

  /// Encodes a multipart form in the background, and uploads it to a URL. Passes a `URLRequest` to the method that has
  /// one as a parameter, which a subclass may override.
  ///
  /// - Parameters:
  ///   - multipartFormData: A closure that appends the parts to the form.
  ///   - encodingMemoryThreshold: The size in bytes from which the form is encoded to a file instead of in memory. 10 MB by
  ///     default. A background session always uses a file. The file is removed when the upload has completed.
  ///   - url: The URL to which the form is uploaded.
  ///   - method: The request's method.
  ///   - headers: The request's header fields.
  ///   - queue: The queue on which `encodingCompletion` is called; the main queue by default.
  ///   - encodingCompletion: Called with the upload, or with the error if the form can't be encoded.
  open func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    usingThreshold encodingMemoryThreshold: UInt64 = SessionManager.multipartFormDataEncodingMemoryThreshold,
    to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil, queue: DispatchQueue? = nil,
    encodingCompletion: ((MultipartFormDataEncodingResult) -> Void)?
  ) {
    do {
      let urlRequest = try URLRequest(url: url, method: method, headers: headers)
      upload(
        multipartFormData: multipartFormData, usingThreshold: encodingMemoryThreshold, with: urlRequest, queue: queue,
        encodingCompletion: encodingCompletion)
    } catch {
      (queue ?? .main).perform { encodingCompletion?(.failure(error)) }
    }
  }

  /// Encodes a multipart form in the background, and uploads it with a `URLRequest`.
  ///
  /// - Parameters:
  ///   - multipartFormData: A closure that appends the parts to the form.
  ///   - encodingMemoryThreshold: The size in bytes from which the form is encoded to a file instead of in memory. 10 MB by
  ///     default. A background session always uses a file. The file is removed when the upload has completed.
  ///   - urlRequest: The request, whose Content-Type is replaced.
  ///   - queue: The queue on which `encodingCompletion` is called; the main queue by default.
  ///   - encodingCompletion: Called with the upload, or with the error if the form can't be encoded.
  open func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    usingThreshold encodingMemoryThreshold: UInt64 = SessionManager.multipartFormDataEncodingMemoryThreshold,
    with urlRequest: any URLRequestConvertible, queue: DispatchQueue? = nil,
    encodingCompletion: ((MultipartFormDataEncodingResult) -> Void)?
  ) {
    encode(multipartFormData, encodingMemoryThreshold, queue, encodingCompletion) { try urlRequest.asURLRequest() }
  }
}
