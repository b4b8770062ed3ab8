// BackgroundJob: the record, the request, the attempts and the time limit of a background session's download or upload.

import Foundation
import LupineEngine
import LupineTransferStore
import Synchronization

/// A download or upload task of a background session, which a later process can continue.
protocol BackgroundTask: URLSessionTask {
  var job: BackgroundJob { get }
  /// Sends the task's request. Called for the first attempt and for each retry.
  func send(_ request: URLRequest, in session: URLSession)
  /// Continues a task that an earlier process recorded. `recovery` is the step with which to continue, which depends on the record.
  func restore(_ recovery: TransferRecovery, in session: URLSession)
}

/// The state that a task has only in a background session: its record on disk, its request, and its attempts to send the request.
final class BackgroundJob: Sendable {
  private struct State: ~Copyable {
    /// The request to send, including changes that the delegate has made to it.
    var request: URLRequest?
    /// Whether to ask the delegate for credentials before the request is sent, because the task's record on disk omits them.
    var needsCredentials = false
    /// The number of attempts to send the request that have failed since the task last received a response.
    var failureCount = 0
    /// The error with which the task fails, in place of the error that the network reports. Nil if `fail(_:)` hasn't been called.
    var error: URLError?
    /// Whether this process has received a response to the upload. If true, the upload isn't sent again, even if the response
    /// couldn't be recorded on disk.
    var isAnswered = false
    /// The resume data for the part of the download that has been received so far. Nil if there is none.
    var resumeData: ResumeData?
    /// The path from which the partial file of the caller's resume data was moved into the session's folder. Nil if there is none.
    var adoptedPath: String?
    /// The response that an earlier process received and recorded, or that it derived from the caller's resume data. Nil if there
    /// is none.
    var response: HTTPURLResponse?
  }

  let background: BackgroundSession
  /// The task's record on disk. Nil if the task fails without being sent.
  let record: TransferRecord?
  private let state: Mutex<State>
  /// Whether the timer of the task's time limit has been started.
  private let hasTimer = Atomic(false)

  /// Creates the background state of a new task, whose record has been written to disk.
  init(_ background: BackgroundSession, _ record: TransferRecord, sending request: URLRequest) {
    self.background = background
    self.record = record
    state = Mutex(State(request: request))
  }

  /// Creates the background state of a task that an earlier process recorded on disk.
  init(_ background: BackgroundSession, restoring record: TransferRecord) {
    self.background = background
    self.record = record
    let description = record.description
    let needsCredentials = !description.omittedNames.isEmpty
    // Before the task has been resumed, a recorded response can only come from the caller's resume data.
    let response = record.progress.stage == .created ? nil : record.answer?.response
    state = Mutex(State(request: description.request, needsCredentials: needsCredentials, response: response))
  }

  /// Creates the background state of a task that has no record on disk, and that fails with `error` when it is resumed.
  init(_ background: BackgroundSession, failing error: URLError) {
    self.background = background
    record = nil
    state = Mutex(State(error: error))
  }

  /// Records a new task on disk, and returns the task's background state. If the record can't be written, the task fails when it is
  /// resumed.
  static func recording(
    _ kind: TransferDescription.Kind, _ request: URLRequest, identifier: Int, in background: BackgroundSession
  ) -> BackgroundJob {
    do throws(URLError) {
      let store = try background.store.get()
      guard let url = request.url else { throw URLError.missingURL }
      guard !LocalContent.serves(url) else { throw BackgroundRefusal.localURL.error }
      guard request.lupine.isRecordable else { throw BackgroundRefusal.connectionSettings.error }
      let isSecret = background.options.settings.recordsCredentials ? nil : background.redirectRule.isBoundToOrigin
      guard let description = TransferDescription(kind, request, isSecret: isSecret) else {
        throw BackgroundRefusal.bodyStream.error
      }
      do throws(TransferStoreError) {
        return BackgroundJob(background, try store.create(id: UInt64(identifier), description), sending: request)
      } catch {
        throw .record(error, .cannotCreateFile, "Task \(identifier) can't be recorded in \(store.folder)")
      }
    } catch {
      return BackgroundJob(background, failing: error)
    }
  }

  var request: URLRequest? { state.withLock { $0.request } }
  /// The response that an earlier process has recorded, or nil if it recorded none.
  var response: HTTPURLResponse? { state.withLock { $0.response } }
  /// Whether the request may be sent again: the task has been resumed, its transfer isn't complete, and this process has received
  /// no response to the upload.
  private var isRunning: Bool {
    let isAnswered = state.withLock { $0.isAnswered }
    return record?.progress.stage == .running && !isAnswered
  }

  // MARK: Changes by the caller

  /// Makes the task fail for the given reason when it is resumed, and removes its record from disk. Moves the partial file of the
  /// caller's resume data back, so that the resume data remains usable.
  func refuse(_ refusal: BackgroundRefusal) {
    let adoptedPath = state.withLock { state -> String? in
      state.error = state.error ?? refusal.error
      state.resumeData = nil
      return state.adoptedPath.take()
    }
    if let adoptedPath, let record {
      try? DownloadDestination(url: URL(filePath: adoptedPath)).move(from: URL(filePath: record.bodyPath))
    }
    record?.remove()
  }

  /// Records on disk that the task has been resumed, and its `earliestBeginDate`. Called before the request is sent.
  func noteResumed(earliestStart: Date?) {
    guard let record, record.progress.stage == .created, state.withLock({ $0.error }) == nil else { return }
    do throws(TransferStoreError) {
      if let earliestStart { try record.describe { $0.earliestStart = earliestStart.timeIntervalSince1970 } }
      try record.mark { progress in
        progress.stage = .running
        progress.startedAt = Int64(Date().timeIntervalSince1970 * 1000)
      }
    } catch {
      fail(.record(error, .cannotWriteToFile, "The record of task \(record.id) can't be written"))
    }
  }

  /// Records that the download starts again from the beginning, for example because its file has been changed or deleted.
  func noteRestarted() {
    do throws(TransferStoreError) {
      try record?.mark { ($0.stage, $0.byteCount) = (.running, 0) }
    } catch {
      fail(.record(error, .cannotWriteToFile, "The record of a task can't be written"))
    }
  }

  /// Records the task's `taskDescription` on disk. If the record can't be written, for example because the disk is full, a later
  /// process gets the previous description.
  func describe(_ text: String?) { try? record?.describe { $0.taskDescription = text } }

  /// Sets the error with which the task will complete. Only the first error counts.
  func fail(_ error: URLError) { state.withLock { $0.error = $0.error ?? error } }

  /// Returns the error with which the task completes. If the transfer has failed with `error`, this is the error that `fail(_:)`
  /// has set, or else `error`. Returns nil if the transfer succeeded.
  func reason(for error: URLError?) -> URLError? { error.map { error in state.withLock { $0.error } ?? error } }

  // MARK: Attempts

  /// Sends the task's request, or the request that the delegate has returned in its place. If the task's record on disk omits
  /// credentials, first asks the delegate to add them.
  func start(_ task: any BackgroundTask, with replacement: URLRequest? = nil, in session: URLSession) {
    let (request, needsCredentials, error) = state.withLock { state in
      if let replacement { (state.request, state.needsCredentials) = (replacement, false) }
      return (state.request, exchange(&state.needsCredentials, with: false), state.error)
    }
    if let error { return task.begin(session, .failure(error)) }
    guard let request else { return task.begin(session, .success(nil)) }
    limitTime(of: task)
    guard needsCredentials else { return task.send(request, in: session) }
    session.delivery.perform {
      task.askDelegate(beforeSending: request, in: session) { new in
        if let new { self.start(task, with: new, in: session) } else { task.send(request, in: session) }
      }
    }
  }

  /// Returns the delay before the task's next attempt, after an attempt has failed with `error`. Returns nil if the task must not
  /// try again.
  func retryDelay(after error: URLError) -> Duration? {
    guard BackgroundRetryRule.isTransient(error), isRunning else { return nil }
    return state.withLock { state in
      guard state.error == nil else { return nil }
      state.failureCount += 1
      return background.retryRule.delay(afterFailure: state.failureCount, jitter: .random(in: 0...1))
    }
  }

  /// Sends the task's request again after a delay, unless the task completes before then.
  func restart(_ task: any BackgroundTask, after delay: Duration, in session: URLSession) {
    DispatchQueue.global().asyncAfter(deadline: .after(delay / .seconds(1))) { [weak task] in
      guard let task, task.isListed else { return }
      self.start(task, in: session)
    }
  }

  /// Converts a response's head to the form that is recorded on disk. Fields that may contain credentials are omitted, unless the
  /// session's settings permit recording credentials.
  func recordable(_ response: HTTPURLResponse) -> TransferAnswer {
    TransferAnswer(response, recordsCredentials: background.options.settings.recordsCredentials)
  }

  /// Prevents this process from sending the uploaded file again. Called when a response to the upload arrives, whether or not the
  /// response can be recorded on disk.
  func stopSending() { state.withLock { $0.isAnswered = true } }

  func noteResponse() { state.withLock { $0.failureCount = 0 } }

  /// Starts a timer, which makes the task fail when `timeoutIntervalForResource` has passed since the task was first resumed, in
  /// this process or an earlier one. Only the first call starts the timer.
  private func limitTime(of task: any BackgroundTask) {
    let limit = background.timeoutIntervalForResource
    guard limit > 0, limit.isFinite, let record, !hasTimer.exchange(true, ordering: .relaxed) else { return }
    let elapsed = Date().timeIntervalSince1970 - Double(record.progress.startedAt) / 1000
    // If the system clock was set back, the elapsed time is negative, but the limit must not become longer.
    let rest = min(max(0, limit - elapsed), limit)
    DispatchQueue.global().asyncAfter(deadline: .after(rest)) { [weak task] in
      guard let task, task.isListed else { return }
      task.job.fail(.expired(limit, url: task.originalRequest?.url))
      task.cancel()
    }
  }

  // MARK: Resume data of downloads

  /// Sets the resume data for the next attempt. It comes from an earlier attempt in this process, or from the caller.
  func setResumeData(_ data: ResumeData?) { state.withLock { $0.resumeData = data } }

  /// Records the path of the caller's partial file, which has been moved into the session's folder.
  func noteAdopted(from path: String) { state.withLock { $0.adoptedPath = path } }

  /// Returns the resume data for the next attempt to send `request`. Returns nil if the download must start from the beginning.
  func resumeData(for request: URLRequest) -> ResumeData? {
    if var data = state.withLock({ $0.resumeData.take() }) {
      data.fields = request.fields
      return data
    }
    guard let record, let answer = record.answer?.response,
      let byteCount = try? record.bodyByteCount(), byteCount > 0
    else { return nil }
    return ResumeData.make(
      request: request, response: answer, file: URL(filePath: record.bodyPath), receivedByteCount: byteCount)
  }
}

extension URLSessionTask {
  /// Resets the task to its state before the request was sent, so that the request can be sent again. Returns false, without
  /// effect, if the task has been canceled or hasn't sent a request.
  func returnToStart() -> Bool {
    mutableState.withLock { state in
      guard state.state != .canceling, case .transferring = state.stage else { return false }
      state.stage = .starting
      state.reportedSentByteCount = 0
      return true
    }
  }

  /// Completes a restored task with `complete`, on the delegate queue. Called if no request is sent for the task, because its
  /// response has already been recorded completely or because the task fails.
  func endRestored(in session: URLSession, _ complete: @escaping @Sendable () -> Void) {
    mutableState.withLock { state in
      state.state = .running
      state.stage = .ending
    }
    session.delivery.perform(.queued, complete)
  }
}
