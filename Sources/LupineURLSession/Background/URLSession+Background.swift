// Creates the tasks of background sessions: new tasks, and tasks that earlier processes have recorded.

import Foundation
import LupineTransferStore
import Synchronization

/// A session delegate that decides when its background session continues the tasks of earlier processes. The session doesn't
/// continue them until the delegate calls `restoreBackgroundTasks()`, for example after the delegate has configured how servers'
/// certificates are evaluated.
package protocol DeferredRestoration: URLSessionDelegate {}

extension URLSession {
  /// Returns the error for a task that the background session refuses for the given reason. If the session's folder couldn't be
  /// opened, returns the error of opening the folder instead.
  func backgroundError(of refusal: BackgroundRefusal) -> URLError {
    if case .failure(let error)? = background?.store { error } else { refusal.error }
  }

  func makeRefusedDataTask(_ request: URLRequest, _ error: URLError) -> URLSessionDataTask {
    add(RefusedDataTask(self, request, error, identifier: nextTaskIdentifier()))
  }

  func makeBackgroundDownload(_ background: BackgroundSession, _ request: URLRequest) -> URLSessionDownloadTask {
    addRecorded(.download, request, background) { job, identifier -> BackgroundDownloadTask in
      BackgroundDownloadTask(self, request, job, identifier: identifier)
    }
  }

  func makeBackgroundDownload(_ background: BackgroundSession, resuming data: Data) -> URLSessionDownloadTask {
    do throws(URLError) {
      let resumeData = try ResumeData(data)
      let request = resumeData.makeFreshRequest()
      return addRecorded(.download, request, background) { job, identifier -> BackgroundDownloadTask in
        job.adopt(resumeData)
        return BackgroundDownloadTask(self, request, job, identifier: identifier)
      }
    } catch {
      let job = BackgroundJob(background, failing: error)
      return add(BackgroundDownloadTask(self, nil, job, identifier: nextTaskIdentifier()))
    }
  }

  func makeBackgroundUpload(
    _ background: BackgroundSession, _ request: URLRequest, _ content: UploadContent
  ) -> URLSessionUploadTask {
    let refusal: BackgroundRefusal
    switch content {
    case .file(let url):
      return addRecorded(.upload(path: url.path), request, background) { job, identifier -> BackgroundUploadTask in
        BackgroundUploadTask(self, request, content, job, identifier: identifier)
      }
    case .data: refusal = .uploadFromMemory
    case .stream: refusal = .uploadFromStream
    }
    let job = BackgroundJob(background, failing: backgroundError(of: refusal))
    return add(BackgroundUploadTask(self, request, content, job, identifier: nextTaskIdentifier()))
  }

  /// Creates a task with `make`, after its record has been written to disk, and registers the task. If the session is invalid, the
  /// task isn't recorded, and fails when it is resumed.
  private func addRecorded<Task: BackgroundTask>(
    _ kind: TransferDescription.Kind, _ request: URLRequest, _ background: BackgroundSession,
    _ make: (BackgroundJob, _ identifier: Int) -> Task
  ) -> Task {
    let identifier = nextTaskIdentifier()
    return keepingRecords { isValid in
      let job: BackgroundJob
      if isValid || (try? background.store.get()) == nil {
        job = BackgroundJob.recording(kind, request, identifier: identifier, in: background)
      } else {
        let error = URLError.record(.closed, .cancelled, "Task \(identifier) can't be recorded")
        job = BackgroundJob(background, failing: error)
      }
      let task = add(make(job, identifier))
      // If the session has been invalidated meanwhile, the record is removed, so that no later process continues the task.
      if !owns(task) { job.record?.remove() }
      return task
    }
  }

  /// Makes a background session's task fail because it was created with a completion handler, which a later process couldn't call.
  /// Has no effect in other sessions.
  func refuseCompletionHandler(of task: URLSessionTask) {
    guard background != nil else { return }
    (task as? any BackgroundTask)?.job.refuse(.completionHandler)
  }

  /// Reserves the identifiers of the tasks that earlier processes recorded, so that new tasks get different ones. Then continues
  /// the recorded tasks, unless the delegate is a `DeferredRestoration`, which continues them later.
  func prepareBackgroundTasks(_ background: BackgroundSession) {
    if case .success(let store) = background.store {
      let greatest = max(store.recovered.last?.id ?? 0, store.damagedIDs.last ?? 0)
      reserveTaskIdentifiers(upTo: Int(greatest))
    }
    if !(delegate is any DeferredRestoration) { restoreBackgroundTasks() }
  }

  /// Whether records of earlier processes' tasks exist on disk, including damaged records. False if the session isn't a background
  /// session.
  package var hasRecordedTasks: Bool {
    guard case .success(let store)? = background?.store else { return false }
    return !store.recovered.isEmpty || !store.damagedIDs.isEmpty
  }

  /// Creates and continues the tasks that earlier processes recorded. If the records can't be opened, the session becomes invalid.
  /// Only the first call has an effect, and only in a background session.
  package func restoreBackgroundTasks() {
    guard let background, background.takeRestoration() else { return }
    let store: TransferStore
    switch background.store {
    case .failure(let error): return invalidate(because: error)
    case .success(let opened): store = opened
    }
    // A request for a local URL would deliver a file that this session hasn't created.
    let unusable = store.recovered.filter(\.description.isLocal)
    for record in unusable { record.remove() }
    let tasks = store.recovered.filter { !$0.description.isLocal }.map {
      record -> (task: any BackgroundTask, record: TransferRecord) in
      (add(makeTask(of: record, background), isRestored: true), record)
    }
    let damaged = (store.damagedIDs + unusable.map(\.id)).map { id -> BackgroundDownloadTask in
      let error = URLError.damagedRecord(Int(id), in: store.folder)
      let job = BackgroundJob(background, failing: error)
      return add(BackgroundDownloadTask(self, nil, job, identifier: Int(id)), isRestored: true)
    }
    let resumed = tasks.filter { $0.record.progress.stage != .created }
    background.addRestored(resumed.map(\.task.taskIdentifier) + damaged.map(\.taskIdentifier))
    for task in damaged {
      task.restore(failing: .damagedRecord(task.taskIdentifier, in: store.folder), in: self)
    }
    for (task, record) in tasks { task.restore(record.recovery(), in: self) }
  }

  private func makeTask(of record: TransferRecord, _ background: BackgroundSession) -> any BackgroundTask
    & URLSessionTask
  {
    let description = record.description
    let job = BackgroundJob(background, restoring: record)
    let request = description.request
    let task: any BackgroundTask
    switch description.kind {
    case .upload(let path):
      let content = UploadContent.file(URL(filePath: path))
      // If the URL can't be parsed, it was invalid in the earlier process too. The task then fails as it would have failed there.
      task = BackgroundUploadTask(
        self, request ?? URLRequest(url: URL(filePath: path)), content, job, identifier: Int(record.id))
    case .download: task = BackgroundDownloadTask(self, request, job, identifier: Int(record.id))
    }
    task.restoreProperties(description)
    return task
  }

  /// Removes the background task's record from the disk. Must be called while the completed task is still registered, because a
  /// session without registered tasks may become invalid and close its records.
  func removeBackgroundRecord(of task: URLSessionTask) { (task as? any BackgroundTask)?.job.record?.remove() }

  /// Records that a task of the background session has completed. If no other task that earlier processes resumed is left, notifies
  /// the session's delegate.
  func backgroundTaskCompleted(_ task: URLSessionTask, _ background: BackgroundSession) {
    guard background.completed(task.taskIdentifier) else { return }
    delivery.perform { self.delegate?.urlSessionDidFinishEvents(forBackgroundURLSession: self) }
  }
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
