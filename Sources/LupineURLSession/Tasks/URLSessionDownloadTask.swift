// URLSessionDownloadTask: a task that writes the response's body to a temporary file.

public import Foundation
import Synchronization

// Unchecked for the same reason as its superclass. All state is constant or protected by a Mutex.
/// A task that writes the response's body to a temporary file.
///
/// Create one with `downloadTask(with:)` of ``URLSession`` or ``URLSession/downloadTask(withResumeData:)``. The file is in the
/// directory that the environment variable `TMPDIR` names, or in `/tmp`. At its end, the task removes the file, unless the delegate
/// has moved the file in ``URLSessionDownloadDelegate/urlSession(_:downloadTask:didFinishDownloadingTo:)`` or the task has produced
/// resume data. If the task fails and can be resumed, the `userInfo` of its error contains the resume data under the key
/// ``NSURLSessionDownloadTaskResumeData``.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
  /// The part of the task's state that may be used on any queue. The rest is used only on the file queue.
  private struct MutableState: ~Copyable {
    /// The number of bytes in the file, including those of an earlier download that this task resumes.
    var writtenByteCount: Int64 = 0
    /// The number of bytes in the file that were reported to the delegate.
    var reportedByteCount: Int64 = 0
    var expectedByteCount: Int64?
    /// Whether a call that reports written bytes to the delegate has been scheduled but hasn't begun.
    var isReporting = false
    /// Whether the partial file is kept after the task was canceled. The first call of a `cancel` method determines this. Nil if
    /// the task wasn't canceled.
    var keepsFile: Bool?
    var hasEnded = false
    var resumeDataHandlers: [@Sendable (Data?) -> Void] = []
    /// The error of creating or writing the file, because of which the task has canceled its transfer. Nil if there is none.
    var failure: URLError?
    /// The error if the resume data can't be read. Nil if it can be read, or if the task was created without resume data.
    var resumeDataError: URLError?
    /// The resume data that the task has produced after it failed or was canceled. Nil if there is none.
    var resumeData: Data?
  }

  /// Whether the task resumes an earlier download. It then opens the partial file before it sends its request.
  private let isResuming: Bool
  /// Writes the body to files. Used only on the queue on which the task receives the body, which is usually the session's file
  /// queue.
  private let writer: Mutex<DownloadWriter>
  private let counts = Mutex(MutableState())

  /// Creates a task that downloads the response to `request`. In a background session, `recorder` records the response and the file
  /// on disk, so that a later process can continue the download; the subclass opens the file.
  init(_ session: URLSession, _ request: URLRequest?, recorder: (any DownloadRecorder)? = nil, identifier: Int) {
    isResuming = false
    writer = Mutex(DownloadWriter(recorder: recorder))
    super.init(session, request, identifier: identifier)
    windowBytes = session.client.windowBytes
  }

  /// Creates a task that resumes the earlier download described by `data`. If the data can't be read, the task fails when it is
  /// resumed.
  init(_ session: URLSession, resumeData data: Data, identifier: Int) {
    isResuming = true
    do throws(URLError) {
      let resumeData = try ResumeData(data)
      writer = Mutex(DownloadWriter(resuming: resumeData))
      super.init(session, resumeData.makeRequest(), identifier: identifier)
    } catch {
      writer = Mutex(DownloadWriter())
      super.init(session, nil, identifier: identifier)
      counts.withLock { $0.resumeDataError = error }
    }
    windowBytes = session.client.windowBytes
  }

  /// Creates a task without a session, for a subclass that replaces a real task in a test. The task never sends a request.
  public override init() {
    isResuming = false
    writer = Mutex(DownloadWriter())
    super.init()
  }

  // MARK: Control

  /// Cancels the task, which completes with `URLError.cancelled`, and removes the partial file.
  ///
  /// Has no effect if the task has already completed.
  open override func cancel() { cancel(keepingFile: false) }

  /// Cancels the task, and keeps the partial file if the download can be resumed.
  ///
  /// A download can be resumed if the server supports ranges and the response has an entity tag or a modification date, which shows
  /// later whether the resource has changed. The task completes with `URLError.cancelled` in either case.
  ///
  /// - Parameter completionHandler: The closure that receives the resume data for ``URLSession/downloadTask(withResumeData:)``, or
  ///   nil if the download can't be resumed. Called on the delegate queue before the task's completion is reported, or immediately
  ///   if the task has already completed.
  @preconcurrency
  open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
    let isOver = counts.withLock { state in
      if !state.hasEnded { state.resumeDataHandlers.append(completionHandler) }
      return state.hasEnded
    }
    if isOver { completionHandler(counts.withLock { $0.resumeData }) }
    cancel(keepingFile: true)
  }

  package func cancel(keepingFile: Bool) {
    counts.withLock { $0.keepsFile = $0.keepsFile ?? keepingFile }
    super.cancel()
  }

  // MARK: Properties

  /// The number of bytes in the file, including those of an earlier download that the task resumes.
  open override var countOfBytesReceived: Int64 { counts.withLock { $0.writtenByteCount } }

  /// The length of the entire file in bytes, or ``NSURLSessionTransferSizeUnknown`` if it is unknown.
  open override var countOfBytesExpectedToReceive: Int64 {
    counts.withLock { $0.expectedByteCount } ?? NSURLSessionTransferSizeUnknown
  }

  // MARK: The response, on the file queue

  /// Called on the file queue when the file has been written completely. A subclass can record the file on disk. If this method
  /// throws an error, the task fails.
  func fileIsComplete(_ file: URL) throws(URLError) {}
  /// Called on the delegate queue immediately before the delegate receives the complete file.
  func willDeliverFile() {}
  /// Called if a download is stopped while it writes no file. A subclass can return the resume data of an earlier attempt.
  func resumeDataBetweenAttempts() -> Data? { nil }
  /// Called with the resume data of a stopped download. A subclass can move the partial file to another place. Returns resume data
  /// with the file's new path, or nil if the file can't be moved.
  func moveFile(of resumeData: Data) -> Data? { resumeData }

  override var deliversOnDelegateQueue: Bool { false }

  override func start(with replacement: URLRequest?, in session: URLSession) {
    guard isResuming, replacement == nil else { return super.start(with: replacement, in: session) }
    if let error = counts.withLock({ $0.resumeDataError }) { return begin(session, .failure(error)) }
    delivery(of: session).perform {
      self.begin(
        session,
        Result { () throws(URLError) in
          try self.writer.withLock { writer throws(URLError) in try writer.open() } ?? self.firstRequest
        })
    }
  }

  override var decidesOnResponse: Bool { true }

  override func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) {
    do throws(URLError) {
      let (decision, byteCount) = try writer.withLock { writer throws(URLError) in
        (try writer.begin(response), Int64(clamping: writer.byteCount))
      }
      let expected: Int64
      switch decision {
      case .take: expected = response.expectedContentLength
      case .append(let offset, let total):
        expected = Int64(clamping: total)
        tellDownloadDelegate { session, delegate in
          delegate.urlSession(
            session, downloadTask: self, didResumeAtOffset: Int64(clamping: offset), expectedTotalBytes: expected)
        }
      case .discard:
        expected = byteCount
        discardBody()
      case .sendInstead(let request):
        try sendInstead(request)
        expected = NSURLSessionTransferSizeUnknown
      }
      counts.withLock { state in
        (state.writtenByteCount, state.reportedByteCount, state.expectedByteCount) = (byteCount, byteCount, expected)
      }
      answer(true)
    } catch {
      counts.withLock { $0.failure = error }
      answer(false)
    }
  }

  override func receive(_ body: Data) {
    do throws(URLError) {
      let byteCount = try writer.withLock { writer throws(URLError) in
        try writer.write(body)
        return Int64(clamping: writer.byteCount)
      }
      let isNew = counts.withLock { state in
        guard state.writtenByteCount != byteCount else { return false }
        state.writtenByteCount = byteCount
        return !exchange(&state.isReporting, with: true)
      }
      // A call of the delegate that is already scheduled will also report these bytes.
      if isNew { tellDownloadDelegate { self.report($0, $1) } }
    } catch {
      counts.withLock { $0.failure = $0.failure ?? error }
      cancel(keepingFile: false)
    }
    extendWindow(by: body.count)
  }

  override func transferDidEnd(_ error: URLError?) {
    guard let session else { return }
    // If the task had no transfer, this method is called on the delegate queue instead of the file queue.
    delivery(of: session).perform(.immediate) {
      let result = self.close(after: error)
      session.delivery.perform { self.complete(result, in: session) }
    }
  }

  /// Closes the file. Returns the file's URL if the download is complete. Otherwise, keeps or removes the partial file, and returns
  /// the error with which the task completes.
  private func close(after error: URLError?) -> Result<URL, URLError> {
    let (failure, keepsFile) = counts.withLock { ($0.failure, $0.keepsFile ?? true) }
    guard let error = failure ?? error else {
      return Result { () throws(URLError) in
        let file = try writer.withLock { writer throws(URLError) in try writer.finish() }
        try fileIsComplete(file)
        return file
      }
    }
    let isKept = failure == nil && keepsFile
    let stopped = writer.withLock { writer -> Data? in
      if isKept { return writer.stop(request: firstRequest, response: transfer?.httpResponse) }
      writer.abandon()
      return nil
    }
    let resumeData = (stopped ?? (isKept ? resumeDataBetweenAttempts() : nil)).flatMap(moveFile)
    counts.withLock { $0.resumeData = resumeData }
    return .failure(resumeData.map { error.adding(resumeData: $0) } ?? error)
  }

  /// Removes the partial file of a stopped download that won't be resumed. Has no effect if the resume data can't be read.
  package static func removeFile(ofResumeData resumeData: Data) {
    guard let resumeData = try? ResumeData(resumeData) else { return }
    (try? DownloadFile.reopen(resumeData))?.abandon()
  }

  // MARK: Notifications of the delegate, on its queue

  private func tellDownloadDelegate(
    _ call: @escaping @Sendable (URLSession, any URLSessionDownloadDelegate) -> Void
  ) {
    // As in Foundation, the delegates of a task with a completion handler get no progress.
    guard collector == nil, let session, let delegate = delegates?.download else { return }
    session.delivery.perform(.immediate) { call(session, delegate) }
  }

  private func report(_ session: URLSession, _ delegate: any URLSessionDownloadDelegate) {
    let (new, all, expected) = counts.withLock { state in
      let new = state.writtenByteCount - state.reportedByteCount
      state.reportedByteCount = state.writtenByteCount
      state.isReporting = false
      return (new, state.writtenByteCount, state.expectedByteCount ?? NSURLSessionTransferSizeUnknown)
    }
    guard new > 0 else { return }
    delegate.urlSession(
      session, downloadTask: self, didWriteData: new, totalBytesWritten: all, totalBytesExpectedToWrite: expected)
  }

  /// Passes the complete file, if any, to the delegate, calls the closures that wait for resume data, and completes the task.
  final func complete(_ result: Result<URL, URLError>, in session: URLSession) {
    var failure: URLError?
    switch result {
    case .success(let file):
      willDeliverFile()
      if let collector {
        collector.receive(file)
      } else {
        delegates?.download?.urlSession(session, downloadTask: self, didFinishDownloadingTo: file)
      }
      try? FileManager.default.removeItem(at: file)
    case .failure(let error): failure = error
    }
    let (handlers, data) = counts.withLock { state in
      state.hasEnded = true
      return (exchange(&state.resumeDataHandlers, with: []), state.resumeData)
    }
    for handler in handlers { handler(data) }
    complete(failure)
  }
}

extension URLSessionDownloadTask {
  /// Opens the partial file of an earlier attempt. If `data` is nil, a new file will be created instead. Returns the request to
  /// send, or nil to send the task's own request.
  func reopenFile(_ data: ResumeData?, recorder: any DownloadRecorder) throws(URLError) -> URLRequest? {
    try writer.withLock { writer throws(URLError) in
      writer = DownloadWriter(resuming: data, recorder: recorder)
      return try writer.open()
    }
  }

  /// Closes the partial file after a failed attempt. Returns the resume data, or nil if the download can't be resumed.
  func stopFile(request: URLRequest?) -> Data? {
    // A background task's own `httpResponse` may be a response that an earlier process recorded. Since then, the file may have been
    // overwritten with another representation, to which that response's validator doesn't belong.
    let response = transfer?.httpResponse
    return writer.withLock { $0.stop(request: request, response: response) }
  }

  /// Whether the task has failed because its file couldn't be created or written.
  var hasFileFailed: Bool { counts.withLock { $0.failure != nil } }

  /// Sets the number of bytes in the file, and the expected number of bytes, to the numbers that an earlier process recorded.
  func setCounts(written: Int64, expected: Int64?) {
    counts.withLock { ($0.writtenByteCount, $0.reportedByteCount, $0.expectedByteCount) = (written, written, expected) }
  }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key for the resume data, a `Data`, in the `userInfo` of the `URLError` with which a download has failed.
///
/// If the download can't be resumed, the `userInfo` doesn't contain this key.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The same key as ``NSURLSessionDownloadTaskResumeData``, under the name that Foundation uses on Linux.
public let URLSessionDownloadTaskResumeData = NSURLSessionDownloadTaskResumeData

extension URLError {
  /// Returns a copy of this error whose `userInfo` also contains the resume data.
  fileprivate func adding(resumeData: Data) -> URLError {
    var info = userInfo
    info[NSURLSessionDownloadTaskResumeData] = resumeData
    return URLError(code, userInfo: info)
  }
}
