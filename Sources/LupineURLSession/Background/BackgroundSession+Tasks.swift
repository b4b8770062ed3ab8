// BackgroundSession+Tasks: creates the tasks of a background session: new tasks, and tasks that earlier processes have recorded.

import Foundation
import LupineTransferStore
import Synchronization

/// A session delegate that decides when its background session continues the tasks of earlier processes. The session doesn't
/// continue them until the delegate calls `restoreBackgroundTasks()`, for example after the delegate has configured how servers'
/// certificates are evaluated.
package protocol DeferredRestoration: URLSessionDelegate {}

extension BackgroundSession {
  /// Creates a data task that fails: with the error of opening the session's folder, or else for the given reason. Returns nil if the
  /// folder is open and there is no such reason.
  func makeRefusedDataTask(
    _ request: URLRequest, _ refusal: BackgroundRefusal? = nil, in session: URLSession
  ) -> URLSessionDataTask? {
    error(of: refusal).map {
      session.add(RefusedDataTask(session, request, $0, identifier: session.nextTaskIdentifier()))
    }
  }

  /// Returns the error for a task that the session refuses for the given reason. If the session's folder couldn't be opened, returns
  /// the error of opening the folder instead.
  private func error(of refusal: BackgroundRefusal?) -> URLError? {
    if case .failure(let error) = store { error } else { refusal?.error }
  }

  func makeDownload(_ request: URLRequest, in session: URLSession) -> URLSessionDownloadTask {
    addRecorded(.download, request, in: session) { job, identifier -> BackgroundDownloadTask in
      BackgroundDownloadTask(session, request, job, identifier: identifier)
    }
  }

  func makeDownload(resuming data: Data, in session: URLSession) -> URLSessionDownloadTask {
    do throws(URLError) {
      let resumeData = try ResumeData(data)
      let request = resumeData.makeFreshRequest()
      return addRecorded(.download, request, in: session) { job, identifier -> BackgroundDownloadTask in
        job.adopt(resumeData)
        return BackgroundDownloadTask(session, request, job, identifier: identifier)
      }
    } catch {
      let job = BackgroundJob(self, failing: error)
      return session.add(BackgroundDownloadTask(session, nil, job, identifier: session.nextTaskIdentifier()))
    }
  }

  func makeUpload(_ request: URLRequest, _ content: UploadContent, in session: URLSession) -> URLSessionUploadTask {
    let refusal: BackgroundRefusal
    switch content {
    case .file(let url):
      return addRecorded(.upload(path: url.path), request, in: session) { job, identifier -> BackgroundUploadTask in
        BackgroundUploadTask(session, request, content, job, identifier: identifier)
      }
    case .data: refusal = .uploadFromMemory
    case .stream: refusal = .uploadFromStream
    }
    let job = BackgroundJob(self, failing: error(of: refusal) ?? refusal.error)
    return session.add(
      BackgroundUploadTask(session, request, content, job, identifier: session.nextTaskIdentifier()))
  }

  /// Creates a task with `make`, after its record has been written to disk, and registers the task. If the session is invalid, the
  /// task isn't recorded, and fails when it is resumed.
  private func addRecorded<Task: BackgroundTask>(
    _ kind: TransferDescription.Kind, _ request: URLRequest, in session: URLSession,
    _ make: (BackgroundJob, _ identifier: Int) -> Task
  ) -> Task {
    let identifier = session.nextTaskIdentifier()
    return session.keepingRecords { isValid in
      let job: BackgroundJob
      if isValid || (try? store.get()) == nil {
        job = BackgroundJob.recording(kind, request, identifier: identifier, in: self)
      } else {
        let error = URLError.record(.closed, .cancelled, "Task \(identifier) can't be recorded")
        job = BackgroundJob(self, failing: error)
      }
      let task = session.add(make(job, identifier))
      // If the session has been invalidated meanwhile, the record is removed, so that no later process continues the task.
      if !session.owns(task) { job.record?.remove() }
      return task
    }
  }

  /// Makes a task fail because it was created with a completion handler, which a later process couldn't call.
  func refuseCompletionHandler(of task: URLSessionTask) {
    (task as? any BackgroundTask)?.job.refuse(.completionHandler)
  }

  /// Makes new tasks get greater identifiers than the tasks that earlier processes recorded. Then continues the recorded tasks,
  /// unless the delegate is a `DeferredRestoration`, which continues them later.
  func prepare(_ session: URLSession) {
    if case .success(let store) = store {
      let greatest = max(store.recovered.last?.id ?? 0, store.damagedIDs.last ?? 0)
      session.taskCount.max(Int(greatest), ordering: .relaxed)
    }
    if !(session.delegate is any DeferredRestoration) { restoreTasks(in: session) }
  }

  /// Creates and continues the tasks that earlier processes recorded. If the records can't be opened, the session becomes invalid.
  /// Only the first call has an effect.
  fileprivate func restoreTasks(in session: URLSession) {
    guard !isRestored.exchange(true, ordering: .relaxed) else { return }
    let store: TransferStore
    switch self.store {
    case .failure(let error): return session.invalidate(because: error)
    case .success(let opened): store = opened
    }
    // A request for a local URL would deliver a file that this session hasn't created.
    let unusable = store.recovered.filter(\.description.isLocal)
    for record in unusable { record.remove() }
    let tasks = store.recovered.filter { !$0.description.isLocal }.map {
      record -> (task: any BackgroundTask, record: TransferRecord) in
      (session.add(makeTask(of: record, in: session), isRestored: true), record)
    }
    let damaged = (store.damagedIDs + unusable.map(\.id)).map { id -> BackgroundDownloadTask in
      let error = URLError.damagedRecord(Int(id), in: store.folder)
      let job = BackgroundJob(self, failing: error)
      return session.add(BackgroundDownloadTask(session, nil, job, identifier: Int(id)), isRestored: true)
    }
    let resumed = tasks.filter { $0.record.progress.stage != .created }
    let identifiers = resumed.map(\.task.taskIdentifier) + damaged.map(\.taskIdentifier)
    restored.withLock { $0.formUnion(identifiers) }
    for task in damaged {
      let error = URLError.damagedRecord(task.taskIdentifier, in: store.folder)
      task.endRestored(in: session) { task.complete(error) }
    }
    for (task, record) in tasks { task.restore(record.recovery(), in: session) }
  }

  private func makeTask(of record: TransferRecord, in session: URLSession) -> any BackgroundTask & URLSessionTask {
    let description = record.description
    let job = BackgroundJob(self, restoring: record)
    let request = description.request
    let task: any BackgroundTask
    switch description.kind {
    case .upload(let path):
      let content = UploadContent.file(URL(filePath: path))
      // If the URL can't be parsed, it was invalid in the earlier process too. The task then fails as it would have failed there.
      task = BackgroundUploadTask(
        session, request ?? URLRequest(url: URL(filePath: path)), content, job, identifier: Int(record.id))
    case .download: task = BackgroundDownloadTask(session, request, job, identifier: Int(record.id))
    }
    task.restoreProperties(description)
    return task
  }

  /// Removes a task's record from the disk. Must be called while the completed task is still registered, because a session without
  /// registered tasks may become invalid and close its records.
  func removeRecord(of task: URLSessionTask) { (task as? any BackgroundTask)?.job.record?.remove() }

  /// Records that a task has completed. If no other task that earlier processes resumed is left, notifies the session's delegate,
  /// unless `sessionSendsLaunchEvents` is false.
  func taskCompleted(_ task: URLSessionTask, in session: URLSession) {
    let isLast = restored.withLock { $0.remove(task.taskIdentifier) != nil && $0.isEmpty }
    guard isLast, options.sendsLaunchEvents else { return }
    session.delivery.perform { session.delegate?.urlSessionDidFinishEvents(forBackgroundURLSession: session) }
  }
}

extension URLSession {
  /// Whether records of earlier processes' tasks exist on disk, including damaged records. False if the session isn't a background
  /// session.
  package var hasRecordedTasks: Bool {
    guard case .success(let store)? = background?.store else { return false }
    return !store.recovered.isEmpty || !store.damagedIDs.isEmpty
  }

  /// Creates and continues the tasks that earlier processes recorded. If the records can't be opened, the session becomes invalid.
  /// Only the first call has an effect, and only in a background session.
  package func restoreBackgroundTasks() { background?.restoreTasks(in: self) }
}

extension URLSessionTask {
  fileprivate func restoreProperties(_ description: TransferDescription) {
    mutableState.withLock { state in
      state.isRestored = true
      state.taskDescription = description.taskDescription
    }
    if let start = description.earliestStart { earliestBeginDate = Date(timeIntervalSince1970: start) }
  }
}
