// URLSession+CompletionHandlers: connects tasks with their completion handlers.

import Foundation

extension URLSession {
  /// Makes the session call `handler` with the task's response and whole body. Returns `task`.
  func collect<Task: URLSessionTask>(_ task: Task, _ handler: @escaping DataCollector.Handler) -> Task {
    let collector = DataCollector(limit: collectedBodyLimit, handler)
    task.setCollector(collector, session: self)
    refuseCompletionHandler(of: task)
    return task
  }

  /// Makes the session call `handler` with the downloaded file. Returns the task. If `keepsFile` is false, the session removes the
  /// file when the handler returns.
  func collect(
    _ task: URLSessionDownloadTask, keepsFile: Bool, _ handler: @escaping DownloadCollector.Handler
  ) -> URLSessionDownloadTask {
    task.setCollector(DownloadCollector(keepsFile: keepsFile, handler), session: self)
    refuseCompletionHandler(of: task)
    return task
  }
}
