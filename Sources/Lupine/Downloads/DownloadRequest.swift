// A request whose response's body is written into a file.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked since the superclass is: the added state is constant or in the Mutex.
/// A request that writes its body into a file.
public final class DownloadRequest: Request, @unchecked Sendable {
  /// Looks at a response, and accepts or refuses it; the URL is that of the file, or nil if there is none.
  public typealias Validation = @Sendable (URLRequest?, HTTPURLResponse, URL?) -> ValidationResult

  /// What a download is made of.
  public enum Downloadable {
    /// A request of its own.
    case request(any URLRequestConvertible)
    /// What an earlier download has left behind.
    case resumeData(Data)
  }

  /// What the file is, apart from where it came from.
  struct Downloaded {
    var fileURL: URL?
    var resumeData: Data?
    var validations: [Validation] = []
    /// Whether the request was cancelled with the wish to go on with it later.
    var keepsFile = false
    var resumeDataHandlers: [@Sendable (Data?) -> Void] = []
    /// What a failed round has left behind of a download that is gone on with, for the next round.
    var laterResumeData: Data?
  }

  /// What the request is made of.
  public let downloadable: Downloadable

  let destination: Destination?
  let downloaded = Mutex(Downloaded())

  init(
    _ downloadable: Downloadable, _ destination: Destination?, session: any RequestSession,
    shouldAutomaticallyResume: Bool?
  ) {
    self.downloadable = downloadable
    self.destination = destination
    super.init(session: session, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// The file with the body, where the destination put it; nil while there is none.
  public var fileURL: URL? { downloaded.withLock { $0.fileURL } }

  /// What the download can be gone on with, once it was cancelled for that, or failed on the way; otherwise nil.
  public var resumeData: Data? { downloaded.withLock { $0.resumeData } ?? error?.downloadResumeData }

  // MARK: Tasks

  override func makeURLRequest() throws -> URLRequest {
    guard case .request(let convertible) = downloadable else { throw URLError(.unknown) }
    return try convertible.asURLRequest()
  }

  override func makeTask(_ request: URLRequest, in session: URLSession) -> URLSessionTask {
    session.downloadTask(with: request)
  }

  override func makeReadyTask(in session: URLSession) -> URLSessionTask? {
    guard case .resumeData(let data) = downloadable else { return nil }
    return task(forResumeData: downloaded.withLock { $0.laterResumeData } ?? data, using: session)
  }

  /// Makes a task that goes on where the download that has left `data` was stopped.
  public func task(forResumeData data: Data, using session: URLSession) -> URLSessionTask {
    session.downloadTask(withResumeData: data)
  }

  override func reset() {
    let left = resumeData
    super.reset()
    let file = downloaded.withLock { state in
      defer { (state.fileURL, state.resumeData) = (nil, nil) }
      return state.fileURL
    }
    // What a failed round has brought would be in the way of the next.
    if let file { try? FileManager.default.removeItem(at: file) }
    guard let left else { return }
    switch downloadable {
    case .resumeData: downloaded.withLock { $0.laterResumeData = left }
    // The request is made anew, and may ask for something else.
    case .request: URLSessionDownloadTask.removeFile(ofResumeData: left)
    }
  }

  // MARK: Cancelling

  /// Ends the request, and removes what was received.
  @discardableResult
  public override func cancel() -> Self { cancel(producingResumeData: false) }

  /// Ends the request; what was received is kept, and named in ``resumeData``, if that is wanted and possible. Does
  /// nothing if it was cancelled or has finished.
  @discardableResult
  public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
    cancel { isFirst, _ in
      if isFirst, shouldProduceResumeData { downloaded.withLock { $0.keepsFile = true } }
    }
    return self
  }

  /// Ends the request and keeps what was received, if it can be gone on with. `completionHandler` is called on the
  /// underlying queue, before the response handlers, with what is then ``resumeData``, also if that is nil.
  @preconcurrency
  @discardableResult
  public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (_ data: Data?) -> Void) -> Self {
    set(\.endsInLine, to: true)
    cancel { isFirst, isRunning in
      downloaded.withLock { state in
        if isFirst { state.keepsFile = true }
        if isRunning { state.resumeDataHandlers.append(completionHandler) }
      }
      // There is nothing to wait for.
      if !isRunning { root.perform { completionHandler(self.resumeData) } }
    }
    return self
  }

  override func cancelTask(_ task: URLSessionTask) {
    guard let task = task as? URLSessionDownloadTask else { return task.cancel() }
    task.cancel(keepingFile: downloaded.withLock { $0.keepsFile })
  }

  override func taskDidEnd(with error: AFError?) {
    let isCancelled = isCancelled
    let left = error?.downloadResumeData
    let (handlers, isUnwanted) = downloaded.withLock { state in
      defer { state.resumeDataHandlers = [] }
      // Cut in the moment in which it was cancelled.
      let isUnwanted = isCancelled && !state.keepsFile
      state.resumeData = isUnwanted ? nil : left
      return (state.resumeDataHandlers, isUnwanted)
    }
    if isUnwanted, let left { URLSessionDownloadTask.removeFile(ofResumeData: left) }
    for handler in handlers { handler(isUnwanted ? nil : left) }
  }

  // MARK: Validation

  /// Adds a validation. They run in order when the response is complete, until one refuses it.
  @preconcurrency
  @discardableResult
  public func validate(_ validation: @escaping Validation) -> Self {
    downloaded.withLock { $0.validations.append(validation) }
    return self
  }

  override func validate(_ response: HTTPURLResponse) -> AFError? {
    let (validations, fileURL) = downloaded.withLock { ($0.validations, $0.fileURL) }
    guard !validations.isEmpty else { return nil }
    let (request, monitors) = (request, downloadMonitors)
    return refusal(of: validations) { validation in
      let result = validation(request, response, fileURL)
      monitors?.request(
        self, didValidateRequest: request, response: response, fileURL: fileURL, withResult: result)
      return result
    }
  }
}

/// Receives the events of downloads alone.
protocol DownloadRequestMonitor: RequestMonitor {
  func request(
    _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>)
  func request(_ request: DownloadRequest, didCreateDestinationURL url: URL)
  func request(
    _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, fileURL: URL?,
    withResult result: Request.ValidationResult)
  func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>)
  func request<Value: Sendable>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
}

extension DownloadRequest {
  var downloadMonitors: (any DownloadRequestMonitor)? { monitors.flatMap { $0 as? any DownloadRequestMonitor } }
}
