// DownloadRequest: a request that writes its response body to a file.

public import Foundation
public import LupineURLSession
import Synchronization

// Unchecked because the superclass is. The added state is constant or protected by the Mutex.
/// A request that writes its response body to a file.
///
/// Create one with a `download` method of ``Session``. If no destination is given, the file gets a new name in the directory for
/// temporary files.
public final class DownloadRequest: Request, @unchecked Sendable {
  /// A closure that accepts or rejects a response. Called on the request's underlying queue with the request, the response head and
  /// the file's URL, which is nil if there is no file.
  public typealias Validation = @Sendable (URLRequest?, HTTPURLResponse, URL?) -> ValidationResult

  /// The starting point of a download: a new request, or the resume data of an earlier download.
  public enum Downloadable {
    /// The download starts with a new request.
    case request(any URLRequestConvertible)
    /// The download continues from the resume data of an interrupted or cancelled download.
    case resumeData(Data)
  }

  /// Options for moving a downloaded file to its destination.
  public struct Options: OptionSet, Sendable {
    /// Creates missing directories in the path of the destination before the downloaded file is moved there.
    public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
    /// Replaces an existing file at the destination with the downloaded file, but never replaces a directory.
    public static let removePreviousFile = Options(rawValue: 1 << 1)

    /// The download options as a bit mask.
    public let rawValue: Int

    /// Creates download options from a bit mask.
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

  /// A closure that returns the destination of a downloaded file and the options for moving the file there. Called on the request's
  /// underlying queue with the file's temporary URL and the response.
  public typealias Destination =
    @Sendable (_ temporaryURL: URL, _ response: HTTPURLResponse) -> (destinationURL: URL, options: Options)

  /// The state of a download that other types of requests don't have.
  struct Downloaded {
    var fileURL: URL?
    var resumeData: Data?
    var validations: [Validation] = []
    /// What the cancellation does with the received part of the file. Nil if the caller hasn't cancelled the request.
    var leftover: Leftover?
    var resumeDataHandlers: [@Sendable (Data?) -> Void] = []
    /// The resume data from a failed attempt to resume the download, or nil. The next attempt starts from this data instead of the
    /// original resume data.
    var laterResumeData: Data?

    /// The fate of the received part of a cancelled download's file. It is kept if the caller has requested resume data.
    enum Leftover { case kept, deleted }
  }

  /// The starting point of this download: a new request, or the resume data of an earlier download.
  public let downloadable: Downloadable

  let destination: Destination?
  let downloaded = Mutex(Downloaded())

  init(
    _ downloadable: Downloadable, _ destination: Destination?, session: Session,
    shouldAutomaticallyResume: Bool?
  ) {
    self.downloadable = downloadable
    self.destination = destination
    super.init(session: session, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// The URL of the downloaded file at its destination, or nil if the file hasn't been moved there yet.
  public var fileURL: URL? { downloaded.withLock { $0.fileURL } }

  /// The data for resuming the download after an interruption or a cancellation, or nil if there is no such data.
  public var resumeData: Data? {
    let (data, leftover) = downloaded.withLock { ($0.resumeData, $0.leftover) }
    // The error of a failed attempt contains resume data even if the request was then cancelled without resume data.
    return leftover == .deleted ? nil : data ?? error?.downloadResumeData
  }

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

  /// Creates a download task that resumes an earlier download from its resume data, `data`.
  public func task(forResumeData data: Data, using session: URLSession) -> URLSessionTask {
    session.downloadTask(withResumeData: data)
  }

  override func reset() {
    super.reset()
    // Not `resumeData`, which is already nil if the request has just been cancelled without resume data.
    let (file, left) = downloaded.withLock { state in
      defer { (state.fileURL, state.resumeData) = (nil, nil) }
      return (state.fileURL, state.resumeData)
    }
    // The file of the failed attempt would prevent the next attempt from moving its file to the destination.
    if let file { try? FileManager.default.removeItem(at: file) }
    guard let left else { return }
    switch downloadable {
    case .resumeData: downloaded.withLock { $0.laterResumeData = left }
    // The next attempt creates a new `URLRequest`, whose URL may differ, so the part received so far is useless.
    case .request: URLSessionDownloadTask.removeFile(ofResumeData: left)
    }
  }

  // MARK: The destination

  /// Returns a closure that chooses a destination in `directory`, with the file name that the server suggests. If the system defines
  /// no such directory, the closure returns the default destination.
  ///
  /// A server's account often has no folder such as `~/Documents`. If the directory doesn't exist, it is created before the file is
  /// moved there, whether or not `options` contain `.createIntermediateDirectories`.
  ///
  /// - Parameters:
  ///   - directory: The directory. `.documentDirectory` by default.
  ///   - domain: The domain in which to search for the directory. `.userDomainMask` by default.
  ///   - options: The options for moving the file. None by default.
  public static func suggestedDownloadDestination(
    for directory: FileManager.SearchPathDirectory = .documentDirectory,
    in domain: FileManager.SearchPathDomainMask = .userDomainMask, options: Options = []
  ) -> Destination {
    { temporaryURL, response in
      guard let folder = FileManager.default.urls(for: directory, in: domain).first else {
        return (defaultDestinationURL(temporaryURL), options)
      }
      let url = folder.appending(path: response.suggestedFilename ?? temporaryURL.lastPathComponent)
      // Apple's systems create these folders for each user. On Linux, only a desktop does.
      let exists = FileManager.default.fileExists(atPath: folder.path)
      return (url, exists ? options : options.union(.createIntermediateDirectories))
    }
  }

  /// Returns the default destination of a downloaded file: a new name in the directory of `temporaryURL`.
  static func defaultDestinationURL(_ temporaryURL: URL) -> URL {
    temporaryURL.deletingLastPathComponent().appending(path: "Alamofire_\(temporaryURL.lastPathComponent)")
  }

  override func didFinishDownloading(using task: URLSessionTask, to location: URL, _ fileManager: FileManager) {
    // A request that was cancelled without resume data must leave no file.
    guard downloaded.withLock({ $0.leftover != .deleted }) else { return }
    let (url, options) =
      if let destination, let response { destination(location, response) } else {
        (Self.defaultDestinationURL(location), [] as Options)
      }
    monitors?.request(self, didCreateDestinationURL: url)
    let result = Result {
      try DownloadDestination(
        url: url, createsIntermediateDirectories: options.contains(.createIntermediateDirectories),
        removesPreviousFile: options.contains(.removePreviousFile)
      ).move(from: location, with: fileManager)
      return url
    }.mapError { AFError.downloadedFileMoveFailed(error: $0, source: location, destination: url) }
    switch result {
    case .success(let url): downloaded.withLock { $0.fileURL = url }
    case .failure(let error): mutableState.withLock { $0.error = $0.error ?? error }
    }
    monitors?.request(self, didFinishDownloadingUsing: task, with: result)
  }

  // MARK: Cancelling

  /// Cancels the download, and deletes the part of the file received so far, even if the download is waiting for a retry.
  @discardableResult
  public override func cancel() -> Self { cancel(producingResumeData: false) }

  /// Cancels the download. Does nothing if the download was already cancelled or has finished.
  ///
  /// - Parameter shouldProduceResumeData: Whether to keep the received part of the file and set ``resumeData``, if the server
  ///   supports resuming.
  @discardableResult
  public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
    cancel { isFirst, _ in
      if isFirst { downloaded.withLock { $0.leftover = shouldProduceResumeData ? .kept : .deleted } }
    }
    return self
  }

  /// Cancels the download. If the server supports resuming, the part of the file received so far isn't deleted, so that the
  /// download can be resumed.
  ///
  /// - Parameter completionHandler: Called with ``resumeData``, which may be nil, on the underlying queue, before the response
  ///   handlers are called.
  @preconcurrency
  @discardableResult
  public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (_ data: Data?) -> Void) -> Self {
    set(\.endIsQueued, to: true)
    cancel { isFirst, isRunning in
      downloaded.withLock { state in
        if isFirst { state.leftover = .kept }
        if isRunning { state.resumeDataHandlers.append(completionHandler) }
      }
      // Without a running task, the resume data no longer changes.
      if !isRunning { root.perform { completionHandler(self.resumeData) } }
    }
    return self
  }

  override func cancelTask(_ task: URLSessionTask) {
    guard let task = task as? URLSessionDownloadTask else { return task.cancel() }
    task.cancel(keepingFile: downloaded.withLock { $0.leftover == .kept })
  }

  override func discardLeftovers() {
    let left = downloaded.withLock { state -> Data? in
      guard state.leftover == .deleted else { return nil }
      return state.resumeData.take() ?? state.laterResumeData.take()
    }
    if let left { URLSessionDownloadTask.removeFile(ofResumeData: left) }
  }

  override func taskDidEnd(with error: AFError?) {
    let left = error?.downloadResumeData
    let (handlers, isUnwanted) = downloaded.withLock { state in
      defer { state.resumeDataHandlers = [] }
      // If the task had been interrupted before the request was cancelled, there is resume data that the caller may not want.
      let isUnwanted = state.leftover == .deleted
      state.resumeData = isUnwanted ? nil : left
      return (state.resumeDataHandlers, isUnwanted)
    }
    if isUnwanted, let left { URLSessionDownloadTask.removeFile(ofResumeData: left) }
    for handler in handlers { handler(isUnwanted ? nil : left) }
  }

  // MARK: Validation

  /// Adds a closure that accepts or rejects the response. After the end of the body, the closures added to this request run in
  /// order on the underlying queue, until one of them rejects the response.
  @preconcurrency
  @discardableResult
  public func validate(_ validation: @escaping Validation) -> Self {
    downloaded.withLock { $0.validations.append(validation) }
    didAdd(.validations)
    return self
  }

  override func validateResponse(_ response: HTTPURLResponse) -> AFError? {
    let (validations, fileURL) = downloaded.withLock { ($0.validations, $0.fileURL) }
    let (request, monitors) = (request, monitors)
    return refusal(of: validations) { validation in
      let result = validation(request, response, fileURL)
      monitors?.request(
        self, didValidateRequest: request, response: response, fileURL: fileURL, withResult: result)
      return result
    }
  }
}

extension DownloadDestination {
  /// Moves the file at `source` to this destination. Calls the methods of `fileManager` only if it is an instance of a subclass,
  /// which may override them.
  fileprivate func move(from source: URL, with fileManager: FileManager) throws {
    guard type(of: fileManager) != FileManager.self else { return try move(from: source) }
    if createsIntermediateDirectories {
      try fileManager.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    if removesPreviousFile, fileManager.fileExists(atPath: url.path) { try fileManager.removeItem(at: url) }
    try fileManager.moveItem(at: source, to: url)
  }
}
