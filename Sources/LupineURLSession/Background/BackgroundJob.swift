// BackgroundJob: the record, the request, the attempts and the time limit of a background session's download or upload.

import Foundation
import LupineEngine
import LupineTransferStore
import Synchronization

/// A download or upload of a background session, which later processes can continue.
protocol BackgroundTask: URLSessionTask {
  var job: BackgroundJob { get }
  /// Sends the request. Called once for each attempt.
  func send(_ request: URLRequest, in session: URLSession)
  /// Continues a task that an earlier process recorded. `recovery` says from which state.
  func restore(_ recovery: TransferRecovery, in session: URLSession)
}

/// The additional state of a task in a background session: its record on disk, its request, and its attempts to send the request.
final class BackgroundJob: Sendable {
  private struct State {
    /// The request to send, including the changes that the delegate has made.
    var request: URLRequest?
    /// Whether to ask the delegate for the request's credentials before sending the request, because the task's record omits them.
    var needsCredentials = false
    var hasTimer = false
    /// The number of consecutive attempts that have failed since the task last received a response.
    var failureCount = 0
    /// The error with which the task fails instead of its transfer's error. Nil if none has been set.
    var error: URLError?
    /// Whether this process has received a response to the upload, even if it couldn't record the response.
    var isAnswered = false
    /// The resume data for the part of a download that this process has received so far. Nil if there is none.
    var resumeData: ResumeData?
    /// The response that an earlier process has received, or nil if it received none.
    var response: HTTPURLResponse?

    /// Returns true if this is the first call, so that the caller must set the timer. Returns false for all later calls.
    mutating func takeTimer() -> Bool {
      defer { hasTimer = true }
      return !hasTimer
    }
  }

  let background: BackgroundSession
  /// The record of the task on disk. Nil if the task fails without being sent.
  let record: TransferRecord?
  private let state: Mutex<State>

  /// Creates the job of a new task, which has been recorded.
  init(_ background: BackgroundSession, _ record: TransferRecord, sending request: URLRequest) {
    self.background = background
    self.record = record
    state = Mutex(State(request: request))
  }

  /// Creates the job of a task that an earlier process recorded.
  init(_ background: BackgroundSession, restoring record: TransferRecord) {
    self.background = background
    self.record = record
    let description = record.description
    let needsCredentials = !description.omittedNames.isEmpty
    state = Mutex(
      State(request: description.request, needsCredentials: needsCredentials, response: record.answer?.response))
  }

  /// Creates the job of a task that isn't recorded, and that fails with `error` when it is resumed.
  init(_ background: BackgroundSession, failing error: URLError) {
    self.background = background
    record = nil
    state = Mutex(State(error: error))
  }

  /// Writes the record of a new task to disk, and returns the task's job. If the record can't be written, the task fails when it is
  /// resumed.
  static func recording(
    _ kind: TransferDescription.Kind, _ request: URLRequest, identifier: Int, in background: BackgroundSession
  ) -> BackgroundJob {
    do throws(URLError) {
      let store = try background.store.get()
      guard request.url != nil else { throw noURL }
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

  private static var noURL: URLError {
    URLError(.unsupportedURL, userInfo: [NSLocalizedDescriptionKey: "The request has no URL. Set one."])
  }

  var request: URLRequest? { state.withLock { $0.request } }
  /// The response that an earlier process has received and recorded, or nil if it received none.
  var response: HTTPURLResponse? { state.withLock { $0.response } }
  /// Whether the request may be sent again: the task has been resumed, its transfer isn't complete, and this process has received
  /// no response to its upload.
  private var isRunning: Bool {
    let isAnswered = state.withLock { $0.isAnswered }
    return record?.progress.stage == .running && !isAnswered
  }

  // MARK: Changes by the caller

  /// Makes the task fail when it is resumed, and removes its record.
  func refuse(_ refusal: BackgroundRefusal) {
    state.withLock { $0.error = $0.error ?? refusal.error }
    record?.remove()
  }

  /// Records that the task has been resumed. Called before the request is sent.
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

  /// Records that a download starts again from the beginning, for example because its file is no longer complete.
  func noteRestarted() {
    do throws(TransferStoreError) {
      try record?.mark { ($0.stage, $0.byteCount) = (.running, 0) }
    } catch {
      fail(.record(error, .cannotWriteToFile, "The record of a task can't be written"))
    }
  }

  /// Records the task's `taskDescription`. If the record can't be written, for example because the disk is full, a later process
  /// gets the previous description.
  func describe(_ text: String?) { try? record?.describe { $0.taskDescription = text } }

  /// Sets the error with which the task will complete. Only the first call has an effect.
  func fail(_ error: URLError) { state.withLock { $0.error = $0.error ?? error } }

  /// Returns the error with which the task completes: the error that `fail` has set, or else the transfer's `error`. Returns nil if
  /// the transfer succeeded.
  func reason(for error: URLError?) -> URLError? { error.map { error in state.withLock { $0.error } ?? error } }

  // MARK: Attempts

  /// Sends the task's request. If the task's record omits the request's credentials, the delegate can add them first.
  func start(_ task: any BackgroundTask, in session: URLSession) {
    let (request, needsCredentials, error) = state.withLock { state in
      defer { state.needsCredentials = false }
      return (state.request, state.needsCredentials, state.error)
    }
    if let error { return task.begin(session, .failure(error)) }
    guard let request else { return task.begin(session, .success(nil)) }
    limitTime(of: task)
    guard needsCredentials else { return task.send(request, in: session) }
    session.delivery.perform {
      guard let delegate = task.delegates?.task else { return task.send(request, in: session) }
      delegate.urlSession(session, task: task, willBeginDelayedRequest: request) { disposition, new in
        switch disposition {
        case .continueLoading: task.send(request, in: session)
        case .useNewRequest: self.start(task, with: new ?? request, in: session)
        case .cancel: task.cancel()
        }
      }
    }
  }

  /// Sends a request that the delegate has chosen in place of the task's request.
  func start(_ task: any BackgroundTask, with request: URLRequest, in session: URLSession) {
    state.withLock { ($0.request, $0.needsCredentials) = (request, false) }
    start(task, in: session)
  }

  /// Returns the delay before the next attempt, after an attempt has failed with `error`. Returns nil if the task must not try
  /// again.
  func retryDelay(after error: URLError) -> Duration? {
    guard BackgroundRetryRule.isTransient(error), isRunning else { return nil }
    return state.withLock { state in
      guard state.error == nil else { return nil }
      state.failureCount += 1
      return background.retryRule.delay(afterFailure: state.failureCount, jitter: .random(in: 0...1))
    }
  }

  /// Starts the next attempt after a delay, unless the task completes before then.
  func restart(_ task: any BackgroundTask, after delay: Duration, in session: URLSession) {
    DispatchQueue.global().asyncAfter(deadline: .now() + delay.seconds) { [weak task] in
      guard let task, task.isListed else { return }
      self.start(task, in: session)
    }
  }

  /// Returns the head of a response in the form in which it is recorded: without fields that may contain credentials, unless the
  /// session's settings permit recording them.
  func recordable(_ response: HTTPURLResponse) -> TransferAnswer {
    TransferAnswer(response, recordsCredentials: background.options.settings.recordsCredentials)
  }

  /// Prevents this process from sending the upload's file again. Called when a response to the upload arrives, whether or not it
  /// can be recorded.
  func stopSending() { state.withLock { $0.isAnswered = true } }

  func noteResponse() { state.withLock { $0.failureCount = 0 } }

  /// Sets a timer that makes the task fail when `timeoutIntervalForResource` has passed since the task was first resumed, in this
  /// process or an earlier one. Only the first call sets the timer.
  private func limitTime(of task: any BackgroundTask) {
    let limit = background.timeoutIntervalForResource
    guard limit > 0, limit.isFinite, let record, state.withLock({ $0.takeTimer() }) else { return }
    let elapsed = Date().timeIntervalSince1970 - Double(record.progress.startedAt) / 1000
    // A clock that was set back must not extend the limit.
    let rest = min(max(0, limit - elapsed), limit, Self.timerSecondsMax)
    DispatchQueue.global().asyncAfter(deadline: .now() + rest) { [weak task] in
      guard let task, task.isListed else { return }
      task.job.fail(.expired(limit, url: task.originalRequest?.url))
      task.cancel()
    }
  }

  /// The maximum time in seconds for which a timer is set: 100 years. The clock can represent such a time.
  private static let timerSecondsMax: TimeInterval = 100 * 365 * 24 * 60 * 60

  // MARK: Resume data of downloads

  /// Sets the resume data, which comes from an earlier attempt in this process or from the caller.
  func setResumeData(_ data: ResumeData?) { state.withLock { $0.resumeData = data } }

  /// Returns the data with which the next attempt of `request` resumes the download. Returns nil if the download must start from
  /// the beginning.
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
  /// Resets the task to the stage before its transfer, so that the request can be sent again. Returns false, without effect, if the
  /// task has been cancelled or has no transfer.
  func returnToStart() -> Bool {
    mutableState.withLock { state in
      guard state.state != .canceling, case .transferring = state.stage else { return false }
      state.stage = .starting
      state.reportedSentByteCount = 0
      return true
    }
  }

  /// Marks a restored task as running and about to complete. Called if no request is sent for the task: either its response has
  /// already been recorded completely, or the task fails.
  func beginRestoredEnd() {
    mutableState.withLock { state in
      state.state = .running
      state.stage = .ending
    }
  }
}
