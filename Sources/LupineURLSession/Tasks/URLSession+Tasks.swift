// URLSession+Tasks: creates, registers and lists a session's tasks, and invalidates the session.

import Foundation
import Synchronization

extension URLSession {
  enum Life {
    case valid
    /// The session has been invalidated. New tasks fail, and the session becomes invalid when its last task has completed.
    case invalidating
    case invalid
  }

  struct MutableState {
    var life = Life.valid
    /// Whether the invalidated session cancels its tasks.
    var isCancelling = false
    /// Whether this is the shared session, which can't be invalidated.
    var isShared = false
    var delegates: Delegates?
    /// The session's tasks that haven't completed.
    var tasks = Registry<URLSessionTask>()
    /// The number of calls of `keepingRecords` in progress. The session becomes invalid only after they have ended.
    var creationCount = 0
    var sessionDescription: String?
    var fileTransfers: ReadyTransfers?
    var webSocketTransfers: ReadyTransfers?
    /// Called when the session has become invalid.
    var endHandlers: [@Sendable () -> Void] = []
  }

  // MARK: Creating tasks

  /// Creates a data task. A background session doesn't record it, so the task ends with this process.
  func makeDataTask(_ request: URLRequest) -> URLSessionDataTask {
    background?.makeRefusedDataTask(request, in: self)
      ?? add(URLSessionDataTask(self, request, identifier: nextTaskIdentifier()))
  }

  /// Creates a data task for a completion handler. Background sessions refuse it, like all tasks with completion handlers.
  func makeHandledDataTask(_ request: URLRequest) -> URLSessionDataTask {
    background?.makeRefusedDataTask(request, .completionHandler, in: self) ?? makeDataTask(request)
  }

  func makeUpload(_ request: URLRequest, _ content: UploadContent) -> URLSessionUploadTask {
    background?.makeUpload(request, content, in: self)
      ?? add(URLSessionUploadTask(self, request, content, identifier: nextTaskIdentifier()))
  }

  func makeDownload(_ request: URLRequest) -> URLSessionDownloadTask {
    background?.makeDownload(request, in: self)
      ?? add(URLSessionDownloadTask(self, request, identifier: nextTaskIdentifier()))
  }

  func makeDownload(resuming resumeData: Data) -> URLSessionDownloadTask {
    background?.makeDownload(resuming: resumeData, in: self)
      ?? add(URLSessionDownloadTask(self, resumeData: resumeData, identifier: nextTaskIdentifier()))
  }

  /// Makes `collector` receive the task's response, and call the completion handler. Returns the task.
  func collect<Task: URLSessionTask>(_ task: Task, by collector: any TaskCollector) -> Task {
    task.setCollector(collector)
    background?.refuseCompletionHandler(of: task)
    return task
  }

  /// The session's limit for bodies in memory, or nil if there is none.
  package var collectedBodyLimit: CollectedBodyLimit? {
    client.settings.bodyBytesMax.map { CollectedBodyLimit(bytesMax: $0) }
  }

  /// The transfers that deliver their data and events on the session's file queue. This queue writes the files of downloads, one at
  /// a time, so that a slow disk delays only downloads.
  var fileTransfers: ReadyTransfers {
    mutableState.withLock { $0.fileTransfers.created(onQueue: "lupine.session.files") }
  }

  /// The transfers of WebSocket tasks. A separate queue processes the opening handshake and the connection's end, so that a
  /// connection opens even if the delegate queue is busy. The loop processes the frames.
  var webSocketTransfers: ReadyTransfers {
    mutableState.withLock { $0.webSocketTransfers.created(onQueue: "lupine.session.websockets") }
  }

  /// Registers a new task and returns it. If the session is invalid, the task isn't registered, and the task fails when it is
  /// resumed. Notifies the delegate of a registered task, unless an earlier process had created it (`isRestored`).
  func add<Task: URLSessionTask>(_ task: Task, isRestored: Bool = false) -> Task {
    let (isAdded, delegate) = mutableState.withLock { state in
      guard state.life == .valid else { return (false, nil as (any URLSessionTaskDelegate)?) }
      state.tasks.insert(task)
      return (true, state.delegates?.task)
    }
    // The session doesn't wait for the task before it releases its delegate.
    if !isAdded { withExtendedLifetime(task.mutableState.withLock { $0.sessionDelegates.take() }) {} }
    if !isRestored { delegate?.urlSession(self, didCreateTask: task) }
    return task
  }

  /// Calls `create`, which may record a task on disk and register the task. Until `create` returns, a valid session doesn't close
  /// the store of its tasks' records, even if the session is invalidated in the meantime.
  func keepingRecords<Value>(_ create: (_ isValid: Bool) -> Value) -> Value {
    let isValid = mutableState.withLock { state in
      if state.life == .valid { state.creationCount += 1 }
      return state.life == .valid
    }
    defer { if isValid { endCreation() } }
    return create(isValid)
  }

  private func endCreation() {
    let isLast = mutableState.withLock { state in
      state.creationCount -= 1
      return state.creationCount == 0 && state.life == .invalidating && state.tasks.members.isEmpty
    }
    if isLast { becomeInvalid() }
  }

  /// Returns a new task identifier, which is unique in the session. The first identifier is 1.
  func nextTaskIdentifier() -> Int { taskCount.add(1, ordering: .relaxed).newValue }

  /// Returns whether the task, which this session has created, is registered and may therefore run. Needs no lock, because no other
  /// session registers the task.
  package func owns(_ task: URLSessionTask) -> Bool { task.registrySlot.isOccupied }

  /// Unregisters `task`, and registers `other` in its place. Returns whether the session is cancelling its tasks, so that the caller
  /// must cancel `other`.
  func replace(_ task: URLSessionTask, by other: URLSessionTask) -> Bool {
    mutableState.withLock { state in
      state.tasks.insert(other)
      _ = state.tasks.remove(task)
      return state.isCancelling
    }
  }

  /// Unregisters a task. Called after the delegate has been notified of the task's completion.
  func remove(_ task: URLSessionTask) {
    background?.removeRecord(of: task)
    let isLast = mutableState.withLock { state in
      state.tasks.remove(task) && state.tasks.members.isEmpty && state.life == .invalidating && state.creationCount == 0
    }
    background?.taskCompleted(task, in: self)
    if isLast { becomeInvalid() }
  }

  /// The session's tasks that haven't completed, oldest first.
  var uncompletedTasks: [URLSessionTask] { mutableState.withLock { $0.tasks.members }.sorted { $0.number < $1.number } }

  /// The tasks that were resumed and haven't completed, oldest first. Empty if the session has been invalidated.
  var listedTasks: [URLSessionTask] { isValid ? uncompletedTasks.filter(\.isListed) : [] }

  // MARK: Challenges

  /// Passes a challenge to the session's delegate, if no task delegate has a method for it. As in Foundation, the session's method
  /// gets only the challenges that concern a connection.
  func ask(
    _ challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard challenge.protectionSpace.isOfConnection, let delegate else { return answer(.performDefaultHandling, nil) }
    delegate.urlSession(self, didReceive: challenge, completionHandler: answer)
  }

  // MARK: Invalidation

  /// Whether the session hasn't been invalidated, so that new tasks can run.
  package var isValid: Bool { !isInvalidated.load(ordering: .acquiring) }

  /// Invalidates the session, and cancels its tasks if `cancelling` is true. Has no effect on the shared session.
  func invalidate(cancelling: Bool) {
    let (tasks, isOver) = mutableState.withLock { state -> ([URLSessionTask], Bool) in
      guard !state.isShared else { return ([], false) }
      if cancelling { state.isCancelling = true }
      guard state.life == .valid else { return (cancelling ? state.tasks.members : [], false) }
      state.life = .invalidating
      isInvalidated.store(true, ordering: .releasing)
      return (cancelling ? state.tasks.members : [], state.tasks.members.isEmpty && state.creationCount == 0)
    }
    for task in tasks { task.cancel() }
    if isOver { becomeInvalid() }
  }

  /// Invalidates a session that has no tasks. `error` is the reason why the session can't be used.
  func invalidate(because error: URLError) {
    mutableState.withLock { $0.life = .invalid }
    isInvalidated.store(true, ordering: .releasing)
    becomeInvalid(error)
  }

  /// Calls the handler when the session has become invalid, or at once if it is invalid or can't become so because it is the shared
  /// session.
  package func whenInvalid(_ handler: @escaping @Sendable () -> Void) {
    let isOver = mutableState.withLock { state in
      if state.isShared || state.life == .invalid { return true }
      state.endHandlers.append(handler)
      return false
    }
    if isOver { handler() }
  }

  private func becomeInvalid(_ error: URLError? = nil) {
    background?.close()
    delivery.perform {
      let delegates = self.mutableState.withLock { state in
        state.life = .invalid
        return state.delegates
      }
      delegates?.session.urlSession(self, didBecomeInvalidWithError: error)
      let handlers = self.mutableState.withLock { state in
        state.delegates = nil
        return exchange(&state.endHandlers, with: [])
      }
      self.client.close()
      for handler in handlers { handler() }
    }
  }
}

extension ReadyTransfers? {
  /// Returns the transfers. The first call creates them, on a new queue with this label.
  fileprivate mutating func created(onQueue label: String) -> ReadyTransfers {
    if let self { return self }
    let transfers = ReadyTransfers(on: SerialQueue(DispatchQueue(label: label)))
    self = transfers
    return transfers
  }
}
