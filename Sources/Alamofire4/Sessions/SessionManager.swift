// SessionManager: creates requests that share a URLSession.

public import Foundation
import Lupine
public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is constant or in the Mutex.
/// Creates requests that share a `URLSession`, an adapter and a retrier.
///
/// When the manager is released, its requests are cancelled.
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
    var backgroundCompletionHandler: (() -> Void)?
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
  open var backgroundCompletionHandler: (() -> Void)? {
    get { current.backgroundCompletionHandler }
    set { update { $0.backgroundCompletionHandler = newValue } }
  }

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
    // A replaced closure or object is released outside the lock, because its deinitializer may use the manager.
    withExtendedLifetime(earlier) {}
  }

  // MARK: Attempts

  private func adapt(_ request: URLRequest) throws -> URLRequest { try adapter?.adapt(request) ?? request }

  /// Creates a request from the source that `make` returns, and starts the request.
  ///
  /// - Parameters:
  ///   - make: Returns the source. If it throws an error, the request fails with it.
  ///   - create: Creates the request from its source and its first task. If one of them couldn't be created, it is nil, and the
  ///     error is passed too.
  func start<R: Request>(
    _ make: () throws -> TaskSource, _ create: (TaskSource?, URLSessionTask?, (any Error)?) -> R
  ) -> R {
    var source: TaskSource?
    let request: R
    do {
      let made = try make()
      source = made
      let task = try made.makeTask(in: session, adapting: adapt)
      request = create(made, task, nil)
      delegate[task] = request
    } catch let error as AdaptationError {
      request = create(source, nil, error.cause)
      if let retrier {
        allow(retrier, toRetry: request, after: error.cause)
        return request
      }
    } catch {
      request = create(nil, nil, error)
    }
    if startRequestsImmediately { request.resume() }
    return request
  }

  /// Lets the retrier decide whether to retry a request after its adapter has thrown an error.
  private func allow(_ retrier: any RequestRetrier, toRetry request: Request, after error: any Error) {
    DispatchQueue.global(qos: .utility).perform { [self] in
      retrier.should(self, retry: request, with: error) { [weak self] shouldRetry, delay in
        DispatchQueue.global(qos: .utility).perform(after: shouldRetry ? delay : 0) {
          if shouldRetry, self?.retry(request) == true { return }
          if self?.startRequestsImmediately != false { request.resume() }
        }
      }
    }
  }

  /// Sends a request again with a new task. Returns false if the request was cancelled or can no longer be adapted.
  func retry(_ request: Request) -> Bool {
    guard let source = request.source, !request.isCancelled else { return false }
    let task: URLSessionTask
    do {
      task = try source.makeTask(in: session, adapting: adapt)
    } catch {
      request.taskDelegate.error = error.cause
      return false
    }
    let previous = request.task
    guard request.restart(with: task) else {
      task.cancel()
      return false
    }
    if let previous { delegate[previous] = nil }
    delegate[task] = request
    task.resume()
    return true
  }
}
