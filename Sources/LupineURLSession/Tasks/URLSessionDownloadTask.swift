// Tasks whose body is written into a file.

public import Foundation
import Synchronization

// Unchecked for the same reason as its superclass: all state is constant or in a Mutex.
/// A task whose response's body is written into a file.
///
/// The file is in the temporary directory, that of the environment variable `TMPDIR` or `/tmp`. It is removed when the
/// task ends, unless the delegate has moved it away, or there is resume data.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
  typealias ResumeDataHandler = @Sendable (Data?) -> Void

  /// What is known on other threads than that of the files.
  private struct MutableState {
    /// Bytes in the file, those of an earlier download included.
    var writtenByteCount: Int64 = 0
    /// How many of them the delegate knows of.
    var reportedByteCount: Int64 = 0
    var expectedByteCount: Int64?
    /// Whether a report is on its way to the delegate.
    var isReporting = false
    /// Whether the file stays if the task is cancelled; the first wish counts. Nil before it is cancelled.
    var keepsFile: Bool?
    var hasEnded = false
    var resumeDataHandlers: [ResumeDataHandler] = []
    /// Why the task was cancelled from within.
    var failure: URLError?
    /// Why resume data can't be read.
    var resumeDataError: URLError?
    /// What this task or an earlier one has left behind.
    var resumeData: Data?
  }

  /// Whether there is a file to be opened before anything is sent.
  private let isResuming: Bool
  /// Used on the session's file queue alone.
  private let writer: Mutex<DownloadWriter>
  private let progress = Mutex(MutableState())

  /// A task that begins at the start.
  init(_ session: URLSession, request: URLRequest, identifier: Int) {
    isResuming = false
    writer = Mutex(DownloadWriter())
    super.init(session, request, identifier: identifier)
    windowBytes = session.client.windowBytes
  }

  /// A task that goes on where an earlier one was stopped; it fails when it is resumed if the data can't be read.
  init(_ session: URLSession, resumeData data: Data, identifier: Int) {
    isResuming = true
    do throws(URLError) {
      let resumeData = try ResumeData(data)
      writer = Mutex(DownloadWriter(resuming: resumeData))
      super.init(session, resumeData.makeRequest(), identifier: identifier)
    } catch {
      writer = Mutex(DownloadWriter())
      super.init(session, nil, identifier: identifier)
      progress.withLock { $0.resumeDataError = error }
    }
    windowBytes = session.client.windowBytes
  }

  // MARK: Control

  /// Ends the task; it completes with `URLError.cancelled`, and what was received is removed.
  open override func cancel() { cancel(keepingFile: false) }

  /// Ends the task and keeps what was received, if it can be gone on with: if the server serves ranges and said how to
  /// tell that the resource is still the same. `completionHandler` is called on the delegate queue, before the delegate
  /// hears of the end, with what `URLSession.downloadTask(withResumeData:)` takes, or with nil; at once if the task has
  /// ended.
  @preconcurrency
  open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
    let isOver = progress.withLock { state in
      if !state.hasEnded { state.resumeDataHandlers.append(completionHandler) }
      return state.hasEnded
    }
    if isOver { completionHandler(progress.withLock { $0.resumeData }) }
    cancel(keepingFile: true)
  }

  package func cancel(keepingFile: Bool) {
    progress.withLock { $0.keepsFile = $0.keepsFile ?? keepingFile }
    super.cancel()
  }

  // MARK: What is known of it

  /// Bytes in the file, those of an earlier download that is gone on with included.
  open override var countOfBytesReceived: Int64 { progress.withLock { $0.writtenByteCount } }

  /// The length of the whole file as far as it is known, otherwise `NSURLSessionTransferSizeUnknown`.
  open override var countOfBytesExpectedToReceive: Int64 {
    progress.withLock { $0.expectedByteCount } ?? NSURLSessionTransferSizeUnknown
  }

  // MARK: What comes, on the file queue

  override func readyTransfers(of session: URLSession) -> ReadyTransfers { session.fileTransfers }

  override func start(in session: URLSession) {
    guard isResuming else { return super.start(in: session) }
    if let error = progress.withLock({ $0.resumeDataError }) { return begin(session, .failure(error)) }
    delivery(of: session).perform {
      self.begin(
        session,
        Result { () throws(URLError) in
          try self.writer.withLock { writer throws(URLError) in try writer.open() } ?? self.originalRequest
        })
    }
  }

  override var decidesOnResponse: Bool { true }

  override func receive(_ response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) {
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
      progress.withLock { state in
        (state.writtenByteCount, state.reportedByteCount, state.expectedByteCount) = (byteCount, byteCount, expected)
      }
      answer(true)
    } catch {
      progress.withLock { $0.failure = error }
      answer(false)
    }
  }

  override func receive(_ body: Data) {
    do throws(URLError) {
      let byteCount = try writer.withLock { writer throws(URLError) in
        try writer.write(body)
        return Int64(clamping: writer.byteCount)
      }
      let isNew = progress.withLock { state in
        guard state.writtenByteCount != byteCount else { return false }
        state.writtenByteCount = byteCount
        defer { state.isReporting = true }
        return !state.isReporting
      }
      // What is written until the delegate's turn comes is reported at once.
      if isNew { tellDownloadDelegate { self.report($0, $1) } }
    } catch {
      progress.withLock { $0.failure = $0.failure ?? error }
      cancel(keepingFile: false)
    }
    grant(body.count)
  }

  override func conclude(_ error: URLError?, finish: @escaping @Sendable ((any Error)?) -> Void) {
    guard let session else { return finish(error) }
    // It was the delegate queue if nothing was sent.
    delivery(of: session).perform(.atOnce) {
      switch self.close(after: error) {
      case .success(let file): session.delivery.perform { self.didFinish(file, session, finish) }
      case .failure(let error): session.delivery.perform { self.didFail(error, finish) }
      }
    }
  }

  /// Ends the writer: with the complete file, or with the error that the task completes with.
  private func close(after error: URLError?) -> Result<URL, URLError> {
    let (failure, keepsFile) = progress.withLock { ($0.failure, $0.keepsFile ?? true) }
    guard let error = failure ?? error else {
      return Result { () throws(URLError) in try writer.withLock { writer throws(URLError) in try writer.finish() } }
    }
    let resumeData = writer.withLock { writer -> Data? in
      if failure == nil, keepsFile { return writer.stop(request: originalRequest, response: httpResponse) }
      writer.abandon()
      return nil
    }
    progress.withLock { $0.resumeData = resumeData }
    return .failure(resumeData.map { error.adding(resumeData: $0) } ?? error)
  }

  /// Removes the file of a stopped download that won't be resumed. Does nothing if `resumeData` can't be read.
  package static func removeFile(ofResumeData resumeData: Data) {
    guard let resumeData = try? ResumeData(resumeData) else { return }
    (try? DownloadFile.reopen(resumeData))?.abandon()
  }

  // MARK: What the delegate hears, on its queue

  private func tellDownloadDelegate(
    _ call: @escaping @Sendable (URLSession, any URLSessionDownloadDelegate) -> Void
  ) {
    guard let session, let delegate = session.delegates?.download else { return }
    session.delivery.perform(.atOnce) { call(session, delegate) }
  }

  private func report(_ session: URLSession, _ delegate: any URLSessionDownloadDelegate) {
    let (new, all, expected) = progress.withLock { state in
      let new = state.writtenByteCount - state.reportedByteCount
      state.reportedByteCount = state.writtenByteCount
      state.isReporting = false
      return (new, state.writtenByteCount, state.expectedByteCount ?? NSURLSessionTransferSizeUnknown)
    }
    guard new > 0 else { return }
    delegate.urlSession(
      session, downloadTask: self, didWriteData: new, totalBytesWritten: all, totalBytesExpectedToWrite: expected)
  }

  private func didFinish(
    _ file: URL, _ session: URLSession, _ finish: @escaping @Sendable ((any Error)?) -> Void
  ) {
    if let delegate = session.delegates?.download {
      delegate.urlSession(session, downloadTask: self, didFinishDownloadingTo: file)
    }
    try? FileManager.default.removeItem(at: file)
    callResumeDataHandlers()
    finish(nil)
  }

  private func didFail(_ error: URLError, _ finish: @escaping @Sendable ((any Error)?) -> Void) {
    callResumeDataHandlers()
    finish(error)
  }

  private func callResumeDataHandlers() {
    let (handlers, data) = progress.withLock { state in
      defer { (state.hasEnded, state.resumeDataHandlers) = (true, []) }
      return (state.resumeDataHandlers, state.resumeData)
    }
    for handler in handlers { handler(data) }
  }
}

extension URLError {
  /// The same error with what the download can be gone on with.
  fileprivate func adding(resumeData: Data) -> URLError {
    var info = userInfo
    info[NSURLSessionDownloadTaskResumeData] = resumeData
    return URLError(code, userInfo: info)
  }
}
